"""The parts of a game, and their sides at a rewind."""

from dataclasses import MISSING, fields

from domain.kernel.game.game import Game, Lasting, Reversible
from domain.kernel.game.in_memory_game import InMemoryGame
from tests.template import RULESET

TAKE = {"type": "take", "count": 1}


def test_parts_of_a_game_have_no_defaults() -> None:
    """A new part must be named where a game is made, or the type checker refuses it: above all in `rewind_to`."""
    assert [field.name for field in fields(Game)] == ["tip", "reversible", "lasting"]
    assert all(field.default is MISSING and field.default_factory is MISSING for field in fields(Game))


def test_a_rewind_takes_back_one_side_alone() -> None:
    """Lasting members are the newest, the others those of the target; no name stands on both sides."""
    match = InMemoryGame(RULESET, 2, b"s" * 32, pace={"seconds": {"move": 3600}, "bank": 60})
    target = match.game
    match.now += 1_800_000
    match.play(0, TAKE)
    match.leave(0)
    back = match.game.rewind_to(target, match.game.lasting.rewinds)
    assert back.tip == match.game.tip
    assert back.reversible is target.reversible
    assert back.lasting == match.game.lasting != target.lasting
    assert back.timing.thinking[0] > target.timing.thinking[0]
    assert not {f.name for f in fields(Lasting)} & {f.name for f in fields(Reversible)}
