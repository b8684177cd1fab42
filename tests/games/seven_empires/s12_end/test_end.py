"""SE7-12: the end of the game."""

from __future__ import annotations

from typing import Any

from domain.types import Doc
from tests.games.seven_empires.board import end_decade, kinds_of, last_turn, of_kind, position, power, shares
from tests.spec import Given


def over(**more: Any) -> tuple[Given, list[Doc]]:
    """The last turn of a game of eight decades is played."""
    game = last_turn(8, **more)
    return game, end_decade(game)


def test_the_laurel_ends_the_game() -> None:
    """SE7-12.1: no pawn, no cards, no markers, no monarchs."""
    game, facts = over()
    assert game.state.over
    assert game.state.revealed[-1] == "laurel"
    assert not {"pawn_passed", "markers_shifted", "monarchs_assigned"} & set(kinds_of(facts))


def test_every_empire_adds_flags_and_crowns() -> None:
    """SE7-12.2: neutral ones too; crowns of occupied cities do not count."""
    game, facts = over(
        flags={"ireland": "spain", "sicily": "spain"},
        units={"vienna": "prussia infantry"},
        power={"spain": 10},
        monarchs={"spain": None},
    )
    assert power(game, "spain") == 10 + 2 + 2
    assert power(game, "habsburg") == 0
    assert power(game, "great_britain") == 3 + 3
    assert len(of_kind(facts, "power_scored")) == 1 + 14


def test_ranks_and_factors() -> None:
    """SE7-12.3: ties go to the empire higher in flag order; factor 8 - rank."""
    game = position(power={"russia": 5, "spain": 5, "france": 9})
    found = shares(game, 0)
    assert [share["empire"] for share in found] == [
        "france",
        "spain",
        "russia",
        "prussia",
        "ottomans",
        "habsburg",
        "great_britain",
    ]
    assert [share["factor"] for share in found] == [7, 6, 5, 4, 3, 2, 1]


def test_points_are_influence_times_factor() -> None:
    """SE7-12.4: workers count."""
    hands = {0: ["france.nobility", "france.worker", "spain.clergy"], 1: [], 2: []}
    game = position(power={"france": 9, "spain": 5}, hands=hands)
    assert [score.points for score in game.match.rules.scores(game.state)] == [8 * 7 + 6 * 6, 0, 0]


def test_ties_go_to_influence_in_the_best_empires() -> None:
    """SE7-12.5: in rank 1, then rank 2, and so on; all equal, the win is shared."""
    ranked = {"france": 9, "spain": 8, "russia": 7}
    hands = {0: ["spain.nobility"], 1: ["france.clergy"], 2: []}
    game = position(power=ranked, hands=hands)
    scores = game.match.rules.scores(game.state)
    assert [s.points for s in scores] == [42, 42, 0]
    assert [s.place for s in scores] == [2, 1, 3]
    shared = position(power=ranked, hands={0: [], 1: [], 2: ["russia.nobility"]})
    assert [s.place for s in shared.match.rules.scores(shared.state)] == [2, 2, 1]
    _, facts = over(hands={0: [], 1: [], 2: []})
    (scored,) = of_kind(facts, "game_scored")
    assert scored["winners"] == [0, 1, 2]
