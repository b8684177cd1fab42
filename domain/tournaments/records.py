"""Records of a tournament: the second family of the log, in the form of those of games.

Members: `v`, `kind`, `at` ms since 1970 UTC, `by` (entrant, director or service), `reason` (salted hash of an erasable
text), `prev` and `body`. Kinds begin with `tournament.`. All is public but the pack of a `bid`, sealed by `seals`: a
`seated` record opens it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from domain.kernel.records.record import Record
from domain.kernel.schema.canonical_json import digest
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
        "bidding_opened",
        "bid",
        "seated",
        "queued",
        "left",
        "scheduled",
        "unscheduled",
        "succeeded",
        "queue_closed",
        "queue_opened",
        "unsubstituted",
        "timetabled",
        "warned",
        "paused",
        "resumed",
        "amended",
        "elsewhere",
        "scored",
        "confirmed",
        "settled",
        "divided",
    )
)
"""Kinds of records; `<kind>@1` in the ledger."""

FINAL_KINDS = frozenset({"tournament.closed", "tournament.cancelled"})
"""Kinds of last records."""

By = Literal["entrant", "director", "service"]


class RecordDraft(NamedTuple):
    """Kind without its family, and body of a record to be made; `sealed` is the pack of its entrant.

    `by` is the author, if another one than the command's.
    """

    kind: str
    body: Doc
    sealed: Doc | None = None
    by: By | None = None


def build_record(draft: RecordDraft, version: int, at: int, prev: str, by: By, reason: str = "") -> Record:
    """Return the record of a draft; `prev` is the hash of the one before, empty for the first."""
    public: Doc = {"v": version, "kind": FAMILY + draft.kind, "at": at, "by": draft.by or by, "prev": prev}
    public |= {"body": draft.body} if draft.body else {}
    public |= {"reason": reason} if reason else {}
    if draft.sealed is None:
        return Record(public, {})
    return Record({**public, "seals": [digest(draft.sealed)]}, {str(draft.body["entrant"]): draft.sealed})
