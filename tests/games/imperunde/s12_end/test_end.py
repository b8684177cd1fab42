"""IMP-12: end and ranking."""

from __future__ import annotations

from typing import Any

from domain.games.imperunde import RULESET
from domain.kernel.schema.declarations import doc
from tests.games.imperunde.board import attack, buy, colony, deciding, group, named, position
from tests.spec import Given

FIVE = {"france": colony(0, posts=3), "egypt": colony(0, posts=2)}


def close_to(goal: int, step: str = "investment", **more: Any) -> Given:
    nations = {0: {"available": 20, **more.pop("nation", {})}, 1: more.pop("other", {})}
    return position(step=step, goal=goal, countries={**FIVE, **more.pop("countries", {})}, nations=nations, **more)


def test_a_purchase_wins() -> None:
    """IMP-12.1: posts on the board >= goal and no debt, at once; fresh posts count."""
    game = close_to(6, countries={"china": colony(0, infantry=1)})
    facts = game.when(0, buy("trading_post", 1, "china"))
    assert named(facts, "game_won")[0] == {"t": "game_won", "seat": 0, "reason": "goal"}
    assert game.state.over
    game.refused(0, {"type": "end_investments"}, "game_over")


def test_a_debt_keeps_from_winning() -> None:
    """IMP-12.1: until it is repaid."""
    game = close_to(6, nation={"debt": 5}, countries={"china": colony(0, infantry=1)})
    game.when(0, buy("trading_post", 1, "china"))
    assert not game.state.over


def test_a_canal_and_a_conquest_win() -> None:
    """IMP-12.1: whatever changes posts."""
    game = close_to(7)
    game.when(0, {"type": "build_canal", "canal": "suez"})
    assert game.state.winner == 0
    game = close_to(
        6, "movement", wars=[(0, 1)], countries={"france": colony(0, 3, infantry=1), "spain": colony(1, posts=1)}
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    assert game.state.winner == 0


def test_several_qualify() -> None:
    """IMP-12.2: more posts, then more surplus, then earlier in turn order."""
    top = {"n": 2, "kind": "diplomacy", "asked": [0, 1, 2], "owing": [0, 1, 2], "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "revenue"}}, top]
    for posts, surplus, order, winner in ((6, 1, [0, 1, 2], 1), (7, 0, [1, 0, 2], 0), (6, 0, [1, 0, 2], 1)):
        countries = {"china": colony(0, posts=3), "spain": colony(0, posts=3), "west_india": colony(1, posts=3)}
        countries |= {"prussia": colony(1, posts=3)} | ({"egypt": colony(0, posts=1)} if posts == 7 else {})
        game = position(
            step="revenue", frames=frames, opened=2, countries=countries, nations={1: {"surplus": surplus}}, order=order
        )
        game.when(2, {"type": "propose_goal", "goal": 6})
        game.when(0, {"type": "vote_goal", "approve": True})
        game.when(1, {"type": "vote_goal", "approve": True})
        assert game.state.winner == winner


def test_the_turn_limit() -> None:
    """IMP-12.3: after phase 8 of that turn the first of the ranking wins."""
    game = position(step="turn_end", options={"turn_limit": 4}, turn=4, countries=FIVE, vacant=[])
    assert (game.state.over, game.state.winner) == (True, 0)
    assert game.match.game.status == "over"


def test_the_ranking() -> None:
    """IMP-12.4: posts, debt, surplus, cost of units, turn order."""
    countries = {**FIVE, "spain": colony(1, posts=3), "portugal": colony(1, posts=2), "china": colony(2, posts=3)}
    countries |= {"siam": colony(2, posts=2), "japan": colony(2, infantry=1), "tibet": colony(3, posts=1)}
    nations = {1: {"debt": 5, "surplus": 30}}
    game = position(5, countries=countries, nations=nations, order=[4, 3, 2, 1, 0])
    table = RULESET.scores(game.state)
    assert [s.seat for s in table] == [2, 0, 1, 3, 4]
    figures = {"winner": False, "posts": 5, "debt": 0, "surplus": 0, "worth": 1, "turn_order": 3}
    assert list(doc(table[0].detail).items()) == list(figures.items())
    assert deciding(game) == ("movement", [4])
