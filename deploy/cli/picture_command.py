"""The map of an export's board as a picture."""

from __future__ import annotations

from pathlib import Path

from deploy.simulation import replay
from domain.kernel.game.game_fold import state_known_to
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.export import Export
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import load_texts
from domain.types import PUBLIC


def write_picture(game_export: Export, rules: AnyRuleset, lang: str, version: int | None, path: Path) -> None:
    """Write the map of the public board after a version as an SVG file; by default after the last one.

    Raises NotInFile, VerificationError, OSError.
    """
    from api.pages.common.labels import Labels  # noqa: PLC0415
    from api.pages.map.board_picture import draw_picture  # noqa: PLC0415 - no other command needs templates

    number = len(game_export.records) if version is None else version
    board = replay.build_board(rules, game_export, number, PUBLIC)
    state = state_known_to(rules, game_export.records[:number], PUBLIC)
    texts = load_texts(rules.package, lang)
    labels = Labels(rules, texts, SeatNames(texts, rules.powers(state), {}))
    picture = draw_picture(labels, board, labels.title())
    if picture is None:
        raise replay.NotInFile("the game has no map")
    path.write_text(picture, "utf-8")
