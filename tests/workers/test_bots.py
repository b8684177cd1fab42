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
from tests.workers.conftest import CATALOGUE, Harness
from workers.job_calls import BATCH, SHORT_PERIOD, TURNS
from workers.jobs import bot_moves


def seated(harness: Harness, ruleset: str, players: list[str], **options: object) -> str:
    game = new_game_id()
    harness.context.commands.open(game, ruleset, len(players), options, body={"undo": "consent"})
    for seat, player in enumerate(players):
        harness.context.commands.handle(game, Join(seat, player))
    harness.context.commands.handle(game, Start())
    return game


def bot(seat: int, kind: str = "builder") -> str:
    return f"bot-{kind}-{seat}"


def test_a_game_of_bots_alone_comes_to_its_end(harness: Harness) -> None:
    game = seated(harness, "windows@1", [bot(0), bot(1), bot(2)], turns=1)
    for _ in range(200):
        harness.passed()
        harness.worked()
        harness.time[0] += SHORT_PERIOD
        if harness.context.commands.game(game).status != "running":
            break
    assert harness.context.commands.game(game).status in ("over", "closed")
    records = harness.context.ledger.read(game)
    verify(CATALOGUE.get("windows@1"), Export(game, "windows@1", DIRECTOR, tuple(records)))


def test_a_bot_answers_and_waits_for_the_others(harness: Harness) -> None:
    game = seated(harness, "orders@1", [bot(0), "anne", bot(2)])
    harness.passed()
    harness.worked()
    state = harness.context.commands.game(game).state
    assert state.top.owing == (1,)
    before = harness.context.commands.game(game).version
    assert bot_moves.play_bots(game, harness.decision(game)) == "gone"
    assert harness.context.commands.game(game).version == before
    harness.context.commands.handle(game, Play(1, [{"type": "submit"}], decision=harness.decision(game)))


def test_nobody_else_is_a_bot(harness: Harness) -> None:
    game = seated(harness, "orders@1", ["bot-builder-0x", "bot", "bot-builder-"])
    harness.passed()
    harness.worked()
    assert harness.context.commands.game(game).state.top.owing == (0, 1, 2)


def test_who_was_put_out_in_between_moves_no_more(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    game = seated(harness, "orders@1", [bot(0), "anne", "bert"])

    def slow(now: bot_moves.BotView, seat: int, rng: object) -> dict[str, object]:
        harness.context.commands.handle(game, Leave(seat, 3600))
        harness.context.commands.handle(game, Join(seat, "carl"))
        return {"type": "submit"}

    monkeypatch.setattr(bot_moves, "BOTS", {**BOTS, "builder": slow})
    assert bot_moves.play_bots(game, harness.decision(game)) == "gone"
    assert 0 in harness.context.commands.game(game).state.top.owing


def test_a_job_that_is_done_twice_does_no_harm(harness: Harness) -> None:
    game = seated(harness, "orders@1", [bot(0), "anne", "bert"])
    decision = harness.decision(game)
    assert bot_moves.play_bots(game, decision) == "done"
    assert bot_moves.play_bots(game, decision) == "gone"
    assert bot_moves.play_bots(game, "0-999") == "gone"


def test_it_goes_on_where_a_job_was_cut_off(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_moves, "MAX_MOVES", 1)
    monkeypatch.setattr("domain.rollouts.ENDING_PROBABILITY", 0.0)
    game = seated(harness, "orders@1", [bot(0), "anne", "bert"])
    for _ in range(300):
        harness.passed()
        harness.worked()
        harness.time[0] += SHORT_PERIOD
        if 0 not in harness.context.commands.game(game).state.top.owing:
            return
    pytest.fail("the bot never came to an end")


def test_a_bot_that_looks_ahead_keeps_no_turn_waiting(harness: Harness) -> None:
    """Its moves are made by the worker of long jobs; the others' at once."""
    game = seated(harness, "orders@1", [bot(0, "strong"), "anne", bot(2)])
    harness.passed()
    harness.worked(TURNS)
    assert harness.context.commands.game(game).state.top.owing == (0, 1)
    harness.worked(BATCH)
    assert harness.context.commands.game(game).state.top.owing == (1,)


def test_a_rewind_that_waits_goes_before_the_move_of_a_bot(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes a move back at once would always lose the race."""
    game = seated(harness, "orders@1", [bot(0), "anne", "bert"])
    harness.context.commands.handle(game, Play(1, [{"type": "submit"}], decision=harness.decision(game)))
    version = harness.context.commands.game(game).version
    args = {"to": version - 1, "seat": 1, "reason": "", "fresh": False}
    rewind = JobRequest(new_id("rewind"), "rewind", game, version, args, at=harness.context.clock())

    def slow(now: bot_moves.BotView, seat: int, rng: object) -> dict[str, object]:
        harness.context.job_requests.submit(rewind)
        return {"type": "submit"}

    monkeypatch.setattr(bot_moves, "BOTS", {**BOTS, "builder": slow})
    assert bot_moves.play_bots(game, harness.decision(game)) == "gone"
    outcome = harness.context.job_requests.find(rewind.id)
    assert outcome
    assert outcome.outcome
    assert outcome.outcome["version"] == version + 1
    assert harness.context.commands.game(game).state.top.owing == (0, 1, 2)


def test_a_rewind_that_is_refused_holds_no_bot(harness: Harness) -> None:
    game = seated(harness, "orders@1", [bot(0), "anne", "bert"])
    version = harness.context.commands.game(game).version
    args = {"to": version + 9, "seat": 1, "reason": "", "fresh": False}
    rewind = JobRequest(new_id("rewind"), "rewind", game, version, args, at=harness.context.clock())
    harness.context.job_requests.submit(rewind)
    assert bot_moves.play_bots(game, harness.decision(game)) == "done"
