"""Presence: a missed check-in costs one round, nobody waits for who has left, and appeals are each one's own."""

from __future__ import annotations

import random

import pytest

from domain.errors import RuleError
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CheckInOther,
    CloseCheckIn,
    Draw,
    Enter,
    OpenCheckIn,
    TournamentCommand,
    Withdraw,
)
from domain.tournaments.aggregate.point_parts import PartsReader
from domain.tournaments.aggregate.queue_commands import JoinQueue, build_queue_pairing
from domain.tournaments.aggregate.result_commands import preview_drafts
from domain.tournaments.aggregate.tournament_appeal_commands import AnswerAppeal, ContestRuling
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import DeputeOfficer, Penalise
from domain.tournaments.draw import commit_nonce
from domain.tournaments.results import Tally
from projections.tournament_views import build_rulings, build_tournament
from tests.tournaments.aggregates import EventInMemory
from tests.tournaments.test_rulings import ranked_event, rule


def code_of(event: EventInMemory, command: TournamentCommand) -> str:
    with pytest.raises(RuleError) as caught:
        event.act(command)
    return caught.value.code


def swiss(people: int = 7) -> EventInMemory:
    """Seven people, of whom the last misses the check-in of the first of three rounds."""
    event = EventInMemory(stages=[{"format": "swiss", "rounds": 3}])
    event.act(*(Enter(f"p{n}") for n in range(people)), OpenCheckIn())
    event.act(*(CheckIn((f"p{n}",)) for n in range(people - 1)), CloseCheckIn(), Draw(1, 1))
    return event


class TestMissedCheckIn:
    def test_it_costs_one_round_and_one_press_brings_back(self) -> None:
        event = swiss()
        people = build_tournament(event.t, {})["people"]
        assert [each["entrant"] for each in people if each["left_out"]] == [6]
        event.act(CheckIn(("p6",)))
        assert code_of(event, CheckIn(("p6",))) == "already_checked_in"
        event.play_round(1, 1, random.Random(1))
        event.act(Draw(1, 2))
        drawn = event.t.play.rounds[1]
        assert 6 in {*drawn.byes}.union(*drawn.pods)
        event.make_tables(1, 2)
        (missed,) = (
            part for part in PartsReader(event.t, 1, Tally(event.t.stage(1))).list_parts(6) if part["kind"] == "missed"
        )
        assert (missed["round"], missed["cause"]) == (1, "unchecked")
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_an_officer_checks_in_others_by_name(self) -> None:
        event = swiss()
        event.act(CheckInOther(6, "organiser"))
        assert event.records[-1].body == {"entrant": 6, "officer": "organiser"}
        assert 6 in event.t.participants
        assert code_of(event, CheckInOther(9, "organiser")) == "unknown_entrant"
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_who_has_withdrawn_or_asks_with_a_nonce_is_refused(self) -> None:
        event = swiss()
        assert code_of(event, CheckIn(("p6",), commit_nonce("late"))) == "nonces_closed"
        event.act(Withdraw(("p6",)))
        assert code_of(event, CheckInOther(6, "organiser")) == "not_entered"

    def test_a_full_event_takes_nobody_back(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 3}], capacity=3)
        event.act(*(Enter(f"p{n}") for n in range(4)), OpenCheckIn(), *(CheckIn((f"p{n}",)) for n in (1, 2, 3)))
        event.act(CloseCheckIn(), Draw(1, 1))
        assert code_of(event, CheckIn(("p0",))) == "not_eligible"


def test_a_nonce_is_added_after_an_officer_has_checked_in() -> None:
    """Or an officer who checks everybody in could draw without any contribution of theirs."""
    event = EventInMemory()
    event.act(Enter("p0"), OpenCheckIn(), CheckInOther(0, "organiser"))
    event.act(CheckIn(("p0",), commit_nonce("a nonce of p0")))
    assert event.t.commitments == {0: commit_nonce("a nonce of p0")}
    assert code_of(event, CheckIn(("p0",), commit_nonce("another one"))) == "already_checked_in"
    assert code_of(event, CheckIn(("p0",))) == "already_checked_in"


def test_a_draw_waits_for_no_nonce_of_who_has_left() -> None:
    event = EventInMemory()
    event.act(*(Enter(f"p{n}") for n in range(4)), OpenCheckIn())
    event.act(*(CheckIn((f"p{n}",), "" if n else commit_nonce("wind")) for n in range(4)), CloseCheckIn())
    assert code_of(event, Draw(1, 1)) == "nonces_missing"
    event.act(Withdraw(("p0",)), Draw(1, 1))
    assert event.t.status == "running"
    assert verify_tournament(parse_export(event.export())) == event.t


def test_nobody_computes_a_seat_of_a_ladder_before_joining() -> None:
    """The key of the day is public after its first table, but the time of the next one is not known."""
    event = EventInMemory(stages=[{"format": "ladder", "total": "best:8", "patience": 60, "concurrent": 9}])
    event.act(*(Enter(f"p{n}") for n in range(6)), *(JoinQueue((f"p{n}",)) for n in range(5)))
    queued = JoinQueue(("p5",)).draft(event.t, event.now)
    waiting, key = preview_drafts(event.t, [queued]), bytes.fromhex(event.t.play.key)
    seats = {tuple(build_queue_pairing(waiting, key, event.now + n)["entrants"]) for n in range(40)}
    assert len(seats) == 6
    event.act(JoinQueue(("p5",)))
    assert event.records[-1].body["plan"] == event.t.play.plan == "queue@2"
    assert verify_tournament(parse_export(event.export())) == event.t


class TestAppeals:
    def test_each_entrant_appeals_once_and_gets_an_answer(self) -> None:
        event = ranked_event()
        event.act(DeputeOfficer("judge", "arbiter"))
        rule(event, Penalise("organiser", (), (), "", 1, 4, 500))
        number = event.t.rulings[-1].version
        event.act(ContestRuling(("p0",), number), ContestRuling(("p4",), number))
        assert code_of(event, ContestRuling(("p4",), number)) == "appeal_made"
        event.act(AnswerAppeal("judge", (), (), number, "upheld", 4))
        event.act(AnswerAppeal("judge", (), (), number, "overturned"))
        assert code_of(event, AnswerAppeal("judge", (), (), number, "upheld", 4)) == "appeal_answered"
        assert code_of(event, AnswerAppeal("judge", (), (), number, "upheld", 5)) == "no_appeal"
        (ruling,) = build_rulings(event.t, {})
        assert [(each["entrant"], each["outcome"]) for each in ruling["appeals"]] == [(0, "overturned"), (4, "upheld")]
        assert verify_tournament(parse_export(event.export())) == event.t
