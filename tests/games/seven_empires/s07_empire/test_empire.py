"""SE7-7: the action Empire."""

from __future__ import annotations

from tests.games.seven_empires.board import acting, asked, power


def test_power_for_flags() -> None:
    """SE7-7.1: as many as flags on the board; no decision."""
    flags = {"ireland": "spain", "atlantic": "spain", "portugal": "france"}
    game = acting("spain", "empire", flags=flags, power={"spain": 3})
    assert power(game, "spain") == 5
    assert asked(game)[0] == "choose_empire"
