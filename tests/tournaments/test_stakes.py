"""An officer with a place in a stage decides nothing that can move a place there; each command says what can."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.errors import RuleError
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CheckInOther,
    CloseCheckIn,
    CloseTournament,
    Draw,
    Enter,
    EventOfficerCommand,
    NameSubstitute,
    OpenCheckIn,
    TournamentCommand,
    Withdraw,
)
from domain.tournaments.aggregate.change_commands import AmendTerms, PauseEvent, ResumeEvent
from domain.tournaments.aggregate.clock_commands import SetTimetable
from domain.tournaments.aggregate.division_commands import AddDivision
from domain.tournaments.aggregate.elsewhere_commands import EnterOfficerScores, MoveElsewhere, SettleScores
from domain.tournaments.aggregate.entry_commands import EnterOthers
from domain.tournaments.aggregate.queue_commands import CloseQueue, OpenQueue
from domain.tournaments.aggregate.result_commands import Rank
from domain.tournaments.aggregate.schedule_commands import Schedule, Unschedule
from domain.tournaments.aggregate.seat_commands import OpenBids
from domain.tournaments.aggregate.tournament_appeal_commands import AnswerAppeal, ContestRuling
from domain.tournaments.aggregate.tournament_fold import fold_tournament
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import (
    AnnulTable,
    DeputeOfficer,
    Exclude,
    Penalise,
    PlaceTable,
    RecuseOfficer,
    Restore,
    RulingEffect,
)
from tests.tournaments.aggregates import EventInMemory
from tests.tournaments.test_queues import ladder, play_all, wait

BY: tuple[str, tuple[str, ...], tuple[str, ...], str] = ("p1", (), (), "")

MECHANICAL = {
    AddDivision,
    CheckInOther,
    EnterOfficerScores,
    EnterOthers,
    MoveElsewhere,
    OpenBids,
    OpenCheckIn,
    Schedule,
    Unschedule,
}
"""Commands that follow from the rules alone: whoever gives them can move no place."""


def list_kinds(base: type[TournamentCommand] = TournamentCommand) -> Iterator[type[TournamentCommand]]:
    for kind in base.__subclasses__():
        yield kind
        yield from list_kinds(kind)


def refusal(event: EventInMemory, command: TournamentCommand, *people: str) -> str:
    """The code that the person gets, or an empty text."""
    try:
        command.check_person(event.t, people, event.t.time)
    except RuleError as error:
        return error.code
    return ""


def test_every_command_of_an_officer_says_what_it_can_move() -> None:
    kinds = {kind for kind in list_kinds() if "verb" in vars(kind)}
    officers = {kind for kind in kinds if issubclass(kind, EventOfficerCommand)}
    assert {kind for kind in kinds if kind.by == "director"} == officers
    assert {kind for kind in officers if kind.__abstractmethods__} == set()
    decisive = {
        AnnulTable,
        AnswerAppeal,
        CloseCheckIn,
        CloseQueue,
        CloseTournament,
        DeputeOfficer,
        Draw,
        Exclude,
        OpenQueue,
        Penalise,
    }
    changes = {AmendTerms, PauseEvent, ResumeEvent, SetTimetable}
    assert officers == MECHANICAL | decisive | changes | {
        Penalise,
        PlaceTable,
        Rank,
        RecuseOfficer,
        Restore,
        SettleScores,
    }


def test_acts_that_can_move_a_place_are_for_who_does_not_play() -> None:
    event = EventInMemory()
    event.draw_first(9)
    event.play_round(1, 1, random.Random(1))
    penalty = Penalise("judge", (), (), "", 1, 3, 5)
    event.act(DeputeOfficer("judge", "deputy"), DeputeOfficer("p1", "deputy"))
    event.act(replace(penalty, preview=RulingEffect(event.t, penalty).digest))
    ruling = event.t.rulings[0].version
    event.act(ContestRuling(("p3",), ruling))
    acts: tuple[EventOfficerCommand, ...] = (
        AmendTerms("p1", {}),
        AnnulTable(*BY, 1, 1, 2, "void"),
        AnswerAppeal("p1", (), (), ruling, "upheld"),
        CloseTournament("cancelled"),
        DeputeOfficer("p2", "arbiter"),
        Draw(1, 1, has_reason=True),
        Exclude(*BY, 1, 4, "void"),
        PauseEvent("p1"),
        Penalise(*BY, 1, 8, 5),
        PlaceTable(*BY, 1, 1, 2, (1, 2, 3)),
        RecuseOfficer("judge"),
        Restore(*BY, ruling),
        ResumeEvent("p1"),
        SetTimetable("p1", 1, (1,)),
        SettleScores(1, 1, 1, "p1", 1),
    )
    for act in acts:
        assert refusal(event, act, "p1") == "conflict_of_interest", act
        assert refusal(event, act, "organiser", "p1") == "conflict_of_interest", act  # a related person plays
        assert refusal(event, act, "judge") == "", act
    free: tuple[EventOfficerCommand, ...] = (
        Rank(1, 2),
        OpenCheckIn(),
        DeputeOfficer("friend", "arbiter"),
        RecuseOfficer("p1"),
        Unschedule(),
    )
    for act in free:
        assert refusal(event, act, "p1") == "", act
    event.act(Withdraw(("p1",)))
    assert refusal(event, acts[0], "p1") == "conflict_of_interest"  # the place stays
    event.act(NameSubstitute(("p3",), "second"))
    assert refusal(event, acts[0], "second") == "conflict_of_interest"


def test_refusal_names_officers_to_ask_or_says_how_to_name_one() -> None:
    event = EventInMemory()
    event.draw_first(6)
    with pytest.raises(RuleError) as told:
        Penalise(*BY, 1, 0, 5).check_person(event.t, ["organiser", "p1"], 0)
    assert told.value.detail == {"cause": "name", "officers": []}
    event.act(DeputeOfficer("judge", "arbiter"), DeputeOfficer("p2", "arbiter"))
    with pytest.raises(RuleError) as told:
        Penalise(*BY, 1, 0, 5).check_person(event.t, ["organiser", "p1"], 0)
    assert told.value.detail == {"cause": "ask", "officers": ["judge"]}


def test_before_first_draw_organiser_who_enters_does_everything() -> None:
    event = EventInMemory()
    event.act(Enter("organiser"), Enter("p1"), DeputeOfficer("judge", "arbiter"))
    for act in (OpenCheckIn(), Draw(1, 1), CloseTournament(), DeputeOfficer("p1", "arbiter"), RecuseOfficer("judge")):
        assert refusal(event, act, "organiser") == "", act


def test_a_queue_ends_when_others_say_so() -> None:
    event = ladder(4, preferred=3)
    acts: tuple[EventOfficerCommand, ...] = (CloseQueue(), OpenQueue(), Rank(1, 1))
    assert {refusal(event, act, "p0") for act in acts[:2]} == {""}
    wait(event, 0, 1, 2)
    play_all(event)
    for act in acts:
        assert refusal(event, act, "p0") == "conflict_of_interest"
        assert refusal(event, act, "organiser") == ""


def test_who_has_ruled_does_not_enter_any_more() -> None:
    event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
    event.draw_first(9)
    event.act(DeputeOfficer("judge", "arbiter"))
    assert refusal(event, Enter("judge"), "judge") == ""
    penalty = Penalise("judge", (), (), "", 1, 0, 5)
    event.act(replace(penalty, preview=RulingEffect(event.t, penalty).digest))
    assert refusal(event, Enter("judge"), "judge") == "conflict_of_interest"
    assert refusal(event, Enter("another", ("judge",)), "another", "judge") == "conflict_of_interest"


def test_records_of_officers_who_played_verify_as_before() -> None:
    """The question who acts is no part of the fold: events of earlier versions hold such acts."""
    event = EventInMemory()
    event.act(Enter("organiser"), *(Enter(f"p{n}") for n in range(2)), OpenCheckIn())
    event.act(*(CheckIn((each.player,)) for each in event.t.entrants))
    event.act(CloseCheckIn(), Draw(1, 1), Draw(1, 1, has_reason=True))
    event.make_tables(1, 1)
    event.act(CloseTournament("cancelled"))
    assert verify_tournament(parse_export(event.export())) == event.t == fold_tournament(event.records)
