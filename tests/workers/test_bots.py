"""Bots of the service: they play what they owe, and nothing else."""

from __future__ import annotations

import pytest

from domain.bots import BOTS
from domain.command_handler import new_game_id
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Join, Leave, Start
from domain.kernel.proof.verify import verify
from domain.kernel.records.export import Export
from domain.service.job_requests import JobRequest, new_id
from domain.types import DIRECTOR
from tests.workers.conftest import CATALOGUE, House
from workers.job_calls import BATCH, SHORT_PERIOD, TURNS
from workers.jobs import bot_moves


def seated(house: House, ruleset: str, players: list[str], **options: object) -> str:
    game = new_game_id()
    house.crew.commands.open(game, ruleset, len(players), options, body={"undo": "consent"})
    for seat, player in enumerate(players):
        house.crew.commands.handle(game, Join(seat, player))
    house.crew.commands.handle(game, Start())
    return game


def bot(seat: int, kind: str = "builder") -> str:
    return f"bot-{kind}-{seat}"


def test_a_game_of_bots_alone_comes_to_its_end(house: House) -> None:
    game = seated(house, "windows@1", [bot(0), bot(1), bot(2)], turns=1)
    for _ in range(200):
        house.passed()
        house.worked()
        house.time[0] += SHORT_PERIOD
        if house.crew.commands.game(game).status != "running":
            break
    assert house.crew.commands.game(game).status in ("over", "closed")
    records = house.crew.ledger.read(game)
    verify(CATALOGUE.get("windows@1"), Export(game, "windows@1", DIRECTOR, tuple(records)))


def test_a_bot_answers_and_waits_for_the_others(house: House) -> None:
    game = seated(house, "orders@1", [bot(0), "anne", bot(2)])
    house.passed()
    house.worked()
    state = house.crew.commands.game(game).state
    assert state.top.owing == (1,)
    before = house.crew.commands.game(game).version
    assert bot_moves.play_bots(game, house.decision(game)) == "gone"
    assert house.crew.commands.game(game).version == before
    house.crew.commands.handle(game, Play(1, [{"type": "submit"}], decision=house.decision(game)))


def test_nobody_else_is_a_bot(house: House) -> None:
    game = seated(house, "orders@1", ["bot-builder-0x", "bot", "bot-builder-"])
    house.passed()
    house.worked()
    assert house.crew.commands.game(game).state.top.owing == (0, 1, 2)


def test_who_was_put_out_in_between_moves_no_more(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    game = seated(house, "orders@1", [bot(0), "anne", "bert"])

    def slow(now: bot_moves.BotView, seat: int, rng: object) -> dict[str, object]:
        house.crew.commands.handle(game, Leave(seat, 3600))
        house.crew.commands.handle(game, Join(seat, "carl"))
        return {"type": "submit"}

    monkeypatch.setattr(bot_moves, "BOTS", {**BOTS, "builder": slow})
    assert bot_moves.play_bots(game, house.decision(game)) == "gone"
    assert 0 in house.crew.commands.game(game).state.top.owing


def test_a_job_that_is_done_twice_does_no_harm(house: House) -> None:
    game = seated(house, "orders@1", [bot(0), "anne", "bert"])
    decision = house.decision(game)
    assert bot_moves.play_bots(game, decision) == "done"
    assert bot_moves.play_bots(game, decision) == "gone"
    assert bot_moves.play_bots(game, "0-999") == "gone"


def test_it_goes_on_where_a_job_was_cut_off(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_moves, "MAX_MOVES", 1)
    monkeypatch.setattr("domain.rollouts.ENDING_PROBABILITY", 0.0)
    game = seated(house, "orders@1", [bot(0), "anne", "bert"])
    for _ in range(300):
        house.passed()
        house.worked()
        house.time[0] += SHORT_PERIOD
        if 0 not in house.crew.commands.game(game).state.top.owing:
            return
    pytest.fail("the bot never came to an end")


def test_a_bot_that_looks_ahead_keeps_no_turn_waiting(house: House) -> None:
    """Its moves are made by the worker of long jobs; the others' at once."""
    game = seated(house, "orders@1", [bot(0, "strong"), "anne", bot(2)])
    house.passed()
    house.worked(TURNS)
    assert house.crew.commands.game(game).state.top.owing == (0, 1)
    house.worked(BATCH)
    assert house.crew.commands.game(game).state.top.owing == (1,)


def test_a_rewind_that_waits_goes_before_the_move_of_a_bot(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes a move back at once would always lose the race."""
    game = seated(house, "orders@1", [bot(0), "anne", "bert"])
    house.crew.commands.handle(game, Play(1, [{"type": "submit"}], decision=house.decision(game)))
    version = house.crew.commands.game(game).version
    args = {"to": version - 1, "seat": 1, "reason": "", "fresh": False}
    rewind = JobRequest(new_id("rewind"), "rewind", game, version, args, at=house.crew.clock())

    def slow(now: bot_moves.BotView, seat: int, rng: object) -> dict[str, object]:
        house.crew.job_requests.submit(rewind)
        return {"type": "submit"}

    monkeypatch.setattr(bot_moves, "BOTS", {**BOTS, "builder": slow})
    assert bot_moves.play_bots(game, house.decision(game)) == "gone"
    outcome = house.crew.job_requests.find(rewind.id)
    assert outcome
    assert outcome.outcome
    assert outcome.outcome["version"] == version + 1
    assert house.crew.commands.game(game).state.top.owing == (0, 1, 2)


def test_a_rewind_that_is_refused_holds_no_bot(house: House) -> None:
    game = seated(house, "orders@1", [bot(0), "anne", "bert"])
    version = house.crew.commands.game(game).version
    args = {"to": version + 9, "seat": 1, "reason": "", "fresh": False}
    rewind = JobRequest(new_id("rewind"), "rewind", game, version, args, at=house.crew.clock())
    house.crew.job_requests.submit(rewind)
    assert bot_moves.play_bots(game, house.decision(game)) == "done"
