"""Commands that players agree on, in place of a director, and the guard against directors who play."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.errors import RuleError, VerificationError
from domain.kernel.game.command import Command
from domain.kernel.game.director_commands import Extend, Hold, SetPace
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.record_builder import Agreement, voting_seats
from domain.kernel.game.table_commands import Close, Leave, Start
from domain.kernel.proof.record_schema import check_record
from domain.kernel.proof.verify import audit
from domain.kernel.records.record import Record
from tests.template import RULESET

SEED = b"agreements, a fixed seed of these"
TAKE = {"type": "take", "count": 1}


@pytest.fixture
def game() -> InMemoryGame[Any]:
    return InMemoryGame(RULESET, 3, SEED, pace={"seconds": {"move": 60}}, terms={"hold": 0, "officers": "neutral"})


def agree(game: InMemoryGame[Any], command: Command, agreement: Agreement) -> None:
    game.now = game.game.time + 1000
    context = replace(game.context, agreement=agreement)
    transition = command.execute(RULESET, game.game, context)
    game.records.append(transition.record)
    game.games.append(transition.game)


COMMANDS: list[Command] = [
    Extend("0-1", 60_000),
    Hold(1, 60),
    SetPace({"seconds": {"move": 90}}),
    Leave(2),
    Close("agreed"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: str(c.verb))
def test_with_the_consent_of_all_it_is_done_and_proves_itself(game: InMemoryGame[Any], command: Command) -> None:
    agree(game, command, Agreement(0, (1, 2)))
    record = game.records[-1]
    assert record.public["by"] == "seat"
    assert record.body["agreed"] == {"seat": 0, "consent": [1, 2]}
    check_record(record, record.version)
    assert audit(RULESET, game.records, SEED)[1] == len(game.records)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: str(c.verb))
def test_without_the_consent_of_somebody_it_is_refused(game: InMemoryGame[Any], command: Command) -> None:
    with pytest.raises(RuleError, match="consent_missing"):
        agree(game, command, Agreement(0, (1,)))


def test_silence_counts_where_the_record_says_so(game: InMemoryGame[Any]) -> None:
    agree(game, Close("agreed"), Agreement(0, (1,), (2,)))
    assert game.records[-1].body["agreed"] == {"seat": 0, "consent": [1], "silent": [2]}


def test_bots_and_seats_without_a_player_have_no_vote(game: InMemoryGame[Any]) -> None:
    game.leave(1)
    game.join(1, "bot-builder-1")
    game.leave(2)
    assert voting_seats(game.game, 0) == []


def test_a_record_by_a_seat_without_an_agreement_is_malformed(game: InMemoryGame[Any]) -> None:
    record = game.extend(1000)
    forged = Record({**record.public, "by": "seat"}, record.packs)
    with pytest.raises(VerificationError, match="malformed"):
        check_record(forged, forged.version)


def test_no_command_is_open_to_playing_director_by_default() -> None:
    """A command that is added is guarded by default."""
    opened = {kind.verb for kind in Command.__subclasses__() if kind.open_to_players}
    assert opened == {Start.verb}


class TestPace:
    def test_every_clock_starts_again(self, game: InMemoryGame[Any]) -> None:
        game.now = game.game.time + 50_000
        agree(game, SetPace({"seconds": {"move": 90}, "grace": 5}), Agreement(0, (1, 2)))
        assert game.game.deadline == game.game.time + 90_000
        assert game.game.due_times([0]) == {0: game.game.time + 95_000}

    def test_a_table_without_deadlines_gets_them(self) -> None:
        """So that a table whose director is gone does not wait for ever."""
        game = InMemoryGame(RULESET, 2, SEED, pace="none", terms={"misses": {"row": 1, "all": 1}})
        assert game.game.deadline is None
        agree(game, SetPace({"seconds": {"move": 60}}), Agreement(0, (), (1,)))
        game.lapse()
        assert game.state.vacant == (0,)

    def test_used_time_stays_used(self) -> None:
        game = InMemoryGame(RULESET, 2, SEED, pace={"seconds": {"move": 60}, "bank": 100, "vacation": 3})
        game.now = game.game.time + 90_000
        game.play(0, TAKE)
        agree(game, SetPace({"seconds": {"move": 60}, "bank": 50, "vacation": 3}), Agreement(0, (1,)))
        assert [bank.bank for bank in game.game.timing.banks] == [20_000, 50_000]

    def test_a_rewind_keeps_it(self, game: InMemoryGame[Any]) -> None:
        version = game.game.version
        agree(game, SetPace({"seconds": {"move": 90}}), Agreement(0, (1, 2)))
        game.rewind(version)
        assert game.game.timing.control.seconds == {"move": 90}
        assert game.game.deadline == game.game.time + 90_000
