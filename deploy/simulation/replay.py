"""Export files read back: what a viewer may see of them, and the board at any version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from domain.errors import VerificationError
from domain.kernel.game.game import state_known_to
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import DIRECTOR, PUBLIC, Json, Viewer


class NotInFile(Exception):
    """The file does not hold what is asked for."""


def load(path: Path) -> Export:
    """The export in a file, its chain checked; raises OSError, VerificationError."""
    found = export.parse(path.read_bytes())
    verify.check_chain(found.records)
    return found


def viewer_of(text: str) -> Viewer:
    """`public`, `director`, or the number of a seat; raises ValueError."""
    return text if text in (PUBLIC, DIRECTOR) else int(text)


def check_viewer(found: Export, viewer: Viewer) -> None:
    """Raises NotInFile for a viewer whose packs are not in the file."""
    seats = found.records[0].body.get("seats", 0)
    if isinstance(viewer, int) and not 0 <= viewer < seats:
        raise NotInFile(f"the seats of this game are 0 to {seats - 1}")
    if not found.is_complete and viewer not in (PUBLIC, found.viewer):
        raise NotInFile(
            f"the file is the export for {_said(found.viewer)} of a game that is not closed: "
            f"it does not hold what {_said(viewer)} may see"
        )


def _said(viewer: Viewer) -> str:
    return f"seat {viewer}" if isinstance(viewer, int) else f"the {viewer}"


def board(rules: AnyRuleset, found: Export, version: int, viewer: Viewer) -> dict[str, Json]:
    """The board and the decisions as that viewer saw them; after `closed` everybody sees all.

    Raises NotInFile, and VerificationError for facts that cannot be applied.
    """
    check_viewer(found, viewer)
    if not 1 <= version <= len(found.records):
        raise NotInFile(f"the file holds the versions 1 to {len(found.records)}")
    records = found.records[:version]
    reader: Viewer = DIRECTOR if records[-1].kind == "closed" else viewer
    try:
        state = state_known_to(rules, records, reader)
    except Exception as error:  # a forged fact can break evolve in any way
        raise VerificationError("unfoldable", version, type(error).__name__) from error
    rewinds = sum(r.kind == "rewound" for r in records)
    return {
        "game": found.game,
        "ruleset": found.ruleset,
        "version": version,
        "kind": records[-1].kind,
        "viewer": str(viewer),
        "public": rules.player_view(state, PUBLIC),
        "own": None if reader == PUBLIC else rules.player_view(state, reader),
        "decisions": [d.to_json() for d in decisions(rules, state, rewinds, reader)],
    }


def draws_for(record: Record, viewer: Viewer) -> list[Sequence[Json]]:
    """The draws of a record that a viewer may read, the public ones first."""
    packs = visible_packs(record, viewer).values()
    return [*record.public.get("draws", ()), *(d for p in packs for d in p.get("draws", ()))]
