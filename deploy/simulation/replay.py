"""Reads export files: the visible part for a viewer, and the board at any version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from deploy.runtime.given_files import read_export
from domain.errors import VerificationError
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.records.record import Record, visible_packs
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import DIRECTOR, PUBLIC, Json, Viewer


class NotInFile(Exception):
    """The requested part is not in the file."""


def load_export(path: Path) -> Export:
    """Read an export file and check its chain. Raises OSError, VerificationError."""
    game_export = export.parse(read_export(path))
    verify.check_chain(game_export.records)
    return game_export


def parse_viewer(text: str) -> Viewer:
    """Parse `public`, `director` or the number of a seat. Raises ValueError."""
    return text if text in (PUBLIC, DIRECTOR) else int(text)


def check_viewer(game_export: Export, viewer: Viewer) -> None:
    """Raise NotInFile if the file lacks the viewer's packs."""
    seats = game_export.records[0].body.get("seats", 0)
    if isinstance(viewer, int) and not 0 <= viewer < seats:
        raise NotInFile(f"the seats of this game are 0 to {seats - 1}")
    if not game_export.is_complete and viewer not in (PUBLIC, game_export.viewer):
        raise NotInFile(
            f"the file is the export for {_describe_viewer(game_export.viewer)} of a game that is not closed: "
            f"it does not hold what {_describe_viewer(viewer)} may see"
        )


def _describe_viewer(viewer: Viewer) -> str:
    return f"seat {viewer}" if isinstance(viewer, int) else f"the {viewer}"


def build_board(rules: AnyRuleset, game_export: Export, version: int, viewer: Viewer) -> dict[str, Json]:
    """Return board and decisions at a version, as the viewer saw them; after `closed` everyone sees all.

    Raises NotInFile, and VerificationError for facts that cannot be applied.
    """
    check_viewer(game_export, viewer)
    if not 1 <= version <= len(game_export.records):
        raise NotInFile(f"the file holds the versions 1 to {len(game_export.records)}")
    records = game_export.records[:version]
    reader: Viewer = DIRECTOR if records[-1].kind == "closed" else viewer
    try:
        state = state_known_to(rules, records, reader)
    except Exception as error:  # a forged fact can make `evolve` raise anything
        raise VerificationError("unfoldable", version, type(error).__name__) from error
    rewinds = sum(r.kind == "rewound" for r in records)
    return {
        "game": game_export.game,
        "ruleset": game_export.ruleset,
        "version": version,
        "kind": records[-1].kind,
        "viewer": str(viewer),
        "public": rules.player_view(state, PUBLIC),
        "own": None if reader == PUBLIC else rules.player_view(state, reader),
        "decisions": [d.to_json() for d in decisions(rules, state, rewinds, reader)],
    }


def list_draws(record: Record, viewer: Viewer) -> list[Sequence[Json]]:
    """Return the draws of a record visible to the viewer, public ones first."""
    packs = visible_packs(record, viewer).values()
    return [*record.public.get("draws", ()), *(d for p in packs for d in p.get("draws", ()))]
