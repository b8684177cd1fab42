"""Players who vanish: missed deadlines make a seat vacant, and whoever takes it over has time to look."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import RuleError
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.play_commands import Rest
from domain.kernel.game.table_commands import Leave
from domain.kernel.proof.verify import audit
from tests.template import RULESET

SEED = b"players who vanish, a fixed seed"
TAKE = {"type": "take", "count": 1}
LIMITS = {"row": 3, "all": 5}


def play(limits: Any = LIMITS, **pace: Any) -> InMemoryGame[Any]:
    """A game of two with 30 s for each move, at a table with limits of misses."""
    terms = {"misses": limits, "hold": 0} if limits else {}
    return InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": 30}, **pace}, terms=terms, options={"sticks": 99})


def rounds(game: InMemoryGame[Any], misses: int) -> None:
    """Seat 0 misses its turns; seat 1 plays."""
    for _ in range(misses):
        game.lapse()
        game.play(1, TAKE)


class TestMisses:
    def test_three_on_end_make_a_seat_vacant(self) -> None:
        game = play()
        rounds(game, 2)
        assert game.state.vacant == ()
        game.lapse()
        assert game.state.vacant == (0,)
        assert game.game.absent_seats == (0,)
        assert game.game.players[0].id == "p0", "it is still the player's"

    def test_five_altogether_make_a_seat_vacant(self) -> None:
        game = play()
        for _ in range(2):
            rounds(game, 2)
            game.play(0, TAKE)
            game.play(1, TAKE)
        assert game.game.timing.misses[0] == (0, 4)
        game.lapse()
        assert game.state.vacant == (0,)

    def test_its_defaults_are_played_at_once(self) -> None:
        game = play()
        rounds(game, 3)
        before = game.now
        game.lapse()
        assert game.now <= before + 1000

    def test_a_table_without_the_term_waits_for_ever(self) -> None:
        game = play(None)
        rounds(game, 9)
        assert (game.state.vacant, game.game.timing.misses) == ((), ())

    def test_bots_are_never_absent(self) -> None:
        game = play()
        game.leave(0)
        game.join(0, "bot-builder-0")
        rounds(game, 6)
        assert game.state.vacant == ()

    def test_a_rewind_does_not_bring_an_absent_player_back(self) -> None:
        game = play()
        version = game.game.version
        rounds(game, 3)
        game.rewind(version)
        assert game.state.vacant == (0,)
        assert fold(RULESET, game.records).state.vacant == (0,)


class TestComingBack:
    def test_the_player_joins_the_seat_again(self) -> None:
        game = play()
        rounds(game, 3)
        game.join(0, "p0")
        assert game.state.vacant == ()
        assert game.game.timing.misses[0] == (0, 0)

    def test_leaving_and_coming_back_ends_no_misses(self) -> None:
        """Only a player who has taken the seat between does. Older records, without the member, fold as before."""
        game = play()
        rounds(game, 2)
        for player, misses in (("p0", (2, 2)), ("substitute", (0, 0)), ("p0", (0, 0))):
            game.leave(0)
            game.join(0, player)
            assert game.game.timing.misses[0] == misses
            assert fold(RULESET, game.records) == game.game
        assert [r.body.get("misses") for r in game.records if r.kind == "joined"][2:] == ["kept", None, None]

    def test_somebody_else_may_take_it(self) -> None:
        game = play()
        rounds(game, 3)
        game.join(0, "substitute")
        assert game.game.players[0].id == "substitute"
        with pytest.raises(RuleError, match="seat_taken"):
            game.join(0, "p0")

    def test_a_present_player_keeps_the_seat(self) -> None:
        game = play()
        rounds(game, 2)
        with pytest.raises(RuleError, match="seat_taken"):
            game.join(0, "substitute")

    def test_a_rewind_leaves_the_player_who_has_come_back(self) -> None:
        game = play()
        rounds(game, 3)
        version = game.game.version
        game.join(0, "p0")
        game.rewind(version)
        assert game.state.vacant == ()


class TestTakingOver:
    def test_a_substitute_has_the_full_time(self) -> None:
        """As it was found: 4 s of 40."""
        game = play()
        game.now = game.game.time + 26_000
        game.leave(0, hold=60)
        game.now += 5_000
        game.join(0, "substitute")
        assert game.game.deadline == game.game.time + 30_000

    def test_once_for_each_decision(self) -> None:
        game = play()
        for n in range(4):
            game.now = game.game.time + 9_000
            game.leave(0, hold=60)
            game.join(0, f"substitute {n}")
        first = next(r.time for r in game.records if r.kind == "joined" and r.body["player"] == "substitute 0")
        assert game.game.due_times([0])[0] <= first + 30_000 + 4 * 1_000, "held for a second each time"

    def test_not_for_the_player_who_has_just_left(self) -> None:
        game = play()
        game.now = game.game.time + 26_000
        game.leave(0, hold=60)
        game.join(0, "p0")
        assert game.game.due_times([0])[0] - game.game.time < 5_000

    def test_a_hold_of_an_older_record_gives_what_it_gave(self) -> None:
        """The grace begins anew after it, a vacation is accepted, and the log is proved."""
        game = play(grace=10, vacation=3)
        game.now = game.game.due_times([0])[0] - 2_000
        game.execute(Leave(0, 60, clocks="restarted"))
        game.join(0, "p0")
        back = game.game.time
        assert game.game.due_times([0]) == {0: back + 10_000}
        assert "clocks" not in game.records[-2].body
        game.now = back
        game.execute(Rest(0, 1))
        audit(game.rules, game.records, SEED)

    @pytest.mark.parametrize("pace", [{"grace": 10}, {"bank": 40}, {"grace": 10, "bank": 40}])
    def test_leaving_after_the_deadline_gives_no_new_grace_or_bank(self, pace: dict[str, int]) -> None:
        """As it was found: each second away gave the whole grace again, for ever. A vacation is refused as before."""
        game = play(**pace, vacation=3)
        due = game.game.due_times([0])[0]
        for _ in range(5):
            game.now = game.game.due_times([0])[0] - 2_000
            game.leave(0, hold=60)
            assert game.game.due_times([0])[0] >= game.game.timing.banks[0].hold_end
            game.join(0, "p0")
        assert game.game.due_times([0]) == {0: due + 5 * 1_000}
        with pytest.raises(RuleError, match="deadline_passed"):
            game.execute(Rest(0, 1))
        assert fold(game.rules, game.records) == game.game

    def test_nobody_gains_whose_turn_it_is_not(self) -> None:
        game = play()
        before = game.game.deadline
        game.leave(1, hold=60)
        game.join(1, "substitute")
        assert game.game.deadline == before


def test_a_vacation_comes_before_the_deadline() -> None:
    game = play(grace=60, vacation=3)
    game.now = game.game.time + 31_000
    with pytest.raises(RuleError, match="deadline_passed"):
        game.execute(Rest(0, 1))
    game.execute(Rest(1, 1))
