"""Records of a tournament: the second family of the log, in the form of those of games.

Every member is public, so a record has no packs and no seals: `v`, `kind`, `at` ms since 1970 UTC, `by` (entrant,
director or service), `reason` (salted hash of an erasable text), `prev` and `body`. Kinds begin with `tournament.`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from domain.kernel.records.record import Record
from domain.types import Doc

FAMILY = "tournament."

KINDS = tuple(
    FAMILY + name
    for name in (
        "opened",
        "entered",
        "withdrew",
        "checkin_opened",
        "checked",
        "checkin_closed",
        "revealed",
        "drawn",
        "paired",
        "tabled",
        "annulled",
        "reported",
        "ranked",
        "closed",
        "cancelled",
        "readmitted",
        "advanced",
        "placed",
        "penalised",
        "excluded",
        "restored",
        "deputed",
        "recused",
        "substituted",
        "volunteered",
        "appealed",
        "answered",
    )
)
"""Kinds of records; `<kind>@1` in the ledger."""

FINAL_KINDS = frozenset({"tournament.closed", "tournament.cancelled"})
"""Kinds of last records."""

By = Literal["entrant", "director", "service"]


class RecordDraft(NamedTuple):
    """Kind without its family, and body of a record to be made."""

    kind: str
    body: Doc


def build_record(draft: RecordDraft, version: int, at: int, prev: str, by: By, reason: str = "") -> Record:
    """Return the record of a draft; `prev` is the hash of the one before, empty for the first."""
    public: Doc = {"v": version, "kind": FAMILY + draft.kind, "at": at, "by": by, "prev": prev}
    public |= {"body": draft.body} if draft.body else {}
    public |= {"reason": reason} if reason else {}
    return Record(public, {})
