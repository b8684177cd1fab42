"""Rounds by a timetable: the service does what is due, at its time and not before, and the proof decides it again."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.errors import FormError, RuleError, TournamentError, VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import CheckIn, Enter, ShowNonce, Withdraw
from domain.tournaments.aggregate.change_commands import LONGEST_PAUSE, AmendTerms, PauseEvent, ResumeEvent
from domain.tournaments.aggregate.clock_commands import ServeClock, SetTimetable, find_clock_act, find_round_end
from domain.tournaments.aggregate.result_commands import Rank
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.draw import commit_nonce
from domain.tournaments.terms import terms_to_json
from tests.tournaments.aggregates import EventInMemory

MINUTE = 60_000
HOUR = 60 * MINUTE
STARTS = (10 * HOUR, 13 * HOUR, 16 * HOUR)
SWISS: dict[str, Any] = {"stages": [{"format": "swiss", "rounds": 3}]}


class TimedEvent(EventInMemory):
    """An event with a timetable, and a clock that goes to the next act."""

    def __init__(self, people: int = 6, *, limit: int = 0, **terms: Any) -> None:
        table = {"pace": None, "undo": "free", "listing": "public"} | ({"time_limit": limit} if limit else {})
        super().__init__(table=table, **(SWISS | terms))
        self.act(*(Enter(f"p{n}") for n in range(people)))

    def serve(self) -> str:
        """Go to the time of the next act, and do it; return its name."""
        due = find_clock_act(self.t)
        assert due is not None
        self.now = max(self.now, due.at - 2)
        if due.at > self.now + 1:
            self.refused(ServeClock(), "not_due")  # a millisecond too early
        if due.act == "make_tables":
            self.now = max(self.now, due.at)
            self.make_tables(due.stage, due.round)
        else:
            self.now = max(self.now, due.at - 1)
            self.act(ServeClock())
        return f"{due.act} {due.round}"

    def refused(self, command: Any, code: str) -> RuleError:
        with pytest.raises(RuleError) as caught:
            self.act(command)
        assert caught.value.code == code
        return caught.value

    def check_in(self, *people: int) -> None:
        self.act(*(CheckIn((f"p{n}",)) for n in people))

    def finish_round(self, round_: int) -> None:
        for place, table in sorted(self.t.play.tables.items()):
            if place[0] == round_ and table.result is None:
                self.report(1, place, [7, 5, 3])


def test_event_runs_by_its_timetable_from_check_in_to_standings() -> None:
    event = TimedEvent()
    event.act(SetTimetable("organiser", 1, STARTS, opens=1800, closes=300))
    done = []
    for round_ in (1, 2, 3):
        done.append(event.serve())
        event.check_in(*range(6))
        done += [event.serve() for _ in range(3)]
        assert event.now - STARTS[round_ - 1] < 1000
        event.finish_round(round_)
        done.append(event.serve())
        event.now += HOUR
    acts = ("open_checkin", "close_checkin", "draw", "make_tables", "rank")
    assert done == [f"{act} {round_}" for round_ in (1, 2, 3) for act in acts]
    assert event.t.is_whole
    assert find_clock_act(event.t) is None
    authors = {record.kind.rpartition(".")[2]: record.public["by"] for record in event.records}
    assert {authors[kind] for kind in ("checkin_opened", "checkin_closed", "drawn", "paired", "ranked")} == {"service"}
    assert verify_tournament(parse_export(event.export())) == event.t


def test_a_proof_refuses_what_the_service_does_before_its_time() -> None:
    event = TimedEvent()
    event.act(SetTimetable("organiser", 1, STARTS))
    event.serve()
    early = dict(event.records[-1].public, at=STARTS[0] - 1801_000)
    with pytest.raises(VerificationError, match="not_due"):
        verify_tournament([*event.records[:-1], Record(early, {})])
    other = dict(event.records[-1].public, kind="tournament.queue_closed")
    with pytest.raises(VerificationError):
        verify_tournament([*event.records[:-1], Record(other, {})])


def test_nonces_are_shown_before_the_start_and_draw_goes_on() -> None:
    event = TimedEvent(reveal=43_200)
    event.act(SetTimetable("organiser", 1, STARTS, closes=300))
    event.serve()
    event.act(CheckIn(("p0",), commit_nonce("wind of the west")), CheckIn(("p1",), commit_nonce("wind of the north")))
    event.check_in(2, 3, 4, 5)
    assert event.serve() == "close_checkin 1"
    event.act(ShowNonce(("p0",), "wind of the west"))
    assert event.serve() == "draw 1"
    assert 0 < event.now - STARTS[0] < 1000
    assert event.records[-2].body["silent"] == [1]


def test_a_check_in_that_opens_late_is_open_as_long_as_promised() -> None:
    event = TimedEvent()
    event.act(SetTimetable("organiser", 1, STARTS, opens=1800, closes=300))
    event.now = STARTS[0] + MINUTE
    event.act(ServeClock())
    opened = event.now
    event.check_in(*range(6))
    event.serve()
    assert event.now - opened == pytest.approx(25 * MINUTE, abs=5)


def test_too_few_for_a_table_wait_for_an_officer() -> None:
    event = TimedEvent(2)
    event.act(SetTimetable("organiser", 1, STARTS))
    event.serve()
    event.check_in(0, 1)
    event.serve()
    assert event.t.status == "drawing"
    assert find_clock_act(event.t) is None


def test_a_round_is_warned_of_its_end_once_and_goes_on_once() -> None:
    event = TimedEvent(limit=3600)
    event.act(SetTimetable("organiser", 1, STARTS, warning=600, extension=900))
    event.serve()
    event.check_in(*range(6))
    for _ in range(3):
        event.serve()
    made = max(table.made_at for table in event.t.play.tables.values())
    assert find_round_end(event.t, 1, 1) == made + HOUR
    for end in (50 * MINUTE, HOUR):
        assert event.serve() == "warn 1"
        assert event.now - made == pytest.approx(end, abs=5)
    assert find_round_end(event.t, 1, 1) == made + HOUR + 15 * MINUTE
    assert find_clock_act(event.t) is None
    event.finish_round(1)
    assert event.serve() == "rank 1"
    assert verify_tournament(parse_export(event.export())) == event.t


@pytest.mark.parametrize(
    ("cause", "changes"),
    [
        ("order", {"starts": (STARTS[1], STARTS[0])}),
        ("past", {"starts": (5,)}),
        ("rounds", {"starts": (*STARTS, 19 * HOUR)}),
        ("check_in", {"opens": 300, "closes": 300}),
        ("end", {"warning": -1}),
        ("limit", {"extension": 60}),
    ],
)
def test_a_timetable_that_cannot_be_is_refused_with_its_cause(cause: str, changes: dict[str, Any]) -> None:
    event = TimedEvent()
    wanted: dict[str, Any] = {"officer": "o", "stage": 1, "starts": STARTS}
    refusal = event.refused(SetTimetable(**(wanted | changes)), "timetable_invalid")
    assert refusal.detail["cause"] == cause


def test_starts_of_rounds_with_tables_and_the_extension_stay() -> None:
    event = TimedEvent(limit=3600)
    event.act(SetTimetable("organiser", 1, STARTS, extension=600))
    event.serve()
    event.check_in(*range(6))
    for _ in range(3):
        event.serve()
    later = tuple(start + HOUR for start in STARTS)
    causes = [
        event.refused(SetTimetable("o", 1, *rest), "timetable_invalid").detail["cause"]
        for rest in ((later,), (STARTS,))
    ]
    assert causes == ["begun", "extension"]
    event.act(SetTimetable("organiser", 1, (STARTS[0], *later[1:]), extension=600))
    assert event.t.timetables[1].starts == (STARTS[0], *later[1:])
    event.act(SetTimetable("organiser", 1, (), extension=600))
    assert find_clock_act(event.t) is None


def test_a_timetable_may_begin_in_the_middle_of_an_event() -> None:
    event = EventInMemory(**SWISS)
    event.draw_first(6)
    event.play_round(1, 1, random.Random(4))
    event.act(SetTimetable("organiser", 1, (event.now - 5, STARTS[0])))
    due = find_clock_act(event.t)
    assert due is not None
    assert (due.act, due.round) == ("open_checkin", 2)


def test_known_timetable_is_not_changed_by_playing_officer() -> None:
    event = TimedEvent()
    timetable = SetTimetable("p0", 1, STARTS)
    timetable.check_person(event.t, ["p0"], event.now)
    event.act(timetable)
    with pytest.raises(RuleError, match="conflict_of_interest"):
        timetable.check_person(event.t, ["p0"], event.now)
    timetable.check_person(event.t, ["organiser"], event.now)


@pytest.mark.parametrize("terms", [SWISS, {"stages": [{"format": "ladder", "total": "best:8"}]}])
def test_a_pause_whose_officers_are_gone_ends_by_itself(terms: dict[str, Any]) -> None:
    event = TimedEvent(**terms)
    event.act(PauseEvent("organiser"))
    since = event.t.paused_at
    due = find_clock_act(event.t)
    assert due is not None
    assert due.at == since + LONGEST_PAUSE
    assert event.serve() == "resume 0"
    assert not event.t.paused_at
    assert event.records[-1].public["by"] == "service"
    assert verify_tournament(parse_export(event.export())) == event.t
    early = Record({**event.records[-1].public, "at": due.at - 1}, {})
    with pytest.raises(VerificationError, match="not_due"):
        verify_tournament([*event.records[:-1], early])


class TestPause:
    def test_nothing_is_due_and_spans_end_later(self) -> None:
        event = TimedEvent()
        event.act(SetTimetable("organiser", 1, STARTS))
        event.serve()
        event.check_in(*range(6))
        before = find_clock_act(event.t)
        assert before is not None
        event.act(PauseEvent("organiser"))
        event.refused(PauseEvent("organiser"), "event_paused")
        event.refused(ServeClock(), "not_due")
        assert [due.act for due in [find_clock_act(event.t)] if due] == ["resume"]
        event.now += 40 * MINUTE
        event.act(ResumeEvent("organiser"))
        event.refused(ResumeEvent("organiser"), "event_runs")
        after = find_clock_act(event.t)
        assert after is not None
        assert after.at > before.at
        event.serve()
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_no_table_is_made_and_results_come(self) -> None:
        event = EventInMemory(**SWISS)
        event.draw_first(6)
        event.make_tables(1, 1)
        event.act(PauseEvent("organiser"))
        for place in sorted(event.t.play.tables):
            event.report(1, place, [7, 5, 3])
        event.act(Rank(1, 1), ResumeEvent("organiser"))
        assert verify_tournament(parse_export(event.export())) == event.t


class TestAmendment:
    def amended(self, event: EventInMemory, **changes: Any) -> AmendTerms:
        return AmendTerms("organiser", terms_to_json(event.t.terms) | changes)

    def test_sizes_times_and_later_stages_change_between_rounds(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 2}, {"format": "knockout", "entrants": 3}])
        event.draw_first(8)
        chance = random.Random(4)
        with pytest.raises(RuleError, match="rounds_open"):
            event.act(self.amended(event, most=4))
        event.play_round(1, 1, chance)
        before = event.t.terms
        stages = [*terms_to_json(before)["stages"]]
        stages[1] = {**stages[1], "entrants": 4, "scoring": "share"}
        event.act(self.amended(event, most=4, reveal=30, stages=stages))
        assert (event.t.terms.most, event.t.terms.reveal, event.t.terms.stages[1].entrants) == (4, 30, 4)
        (made,) = event.t.amendments
        assert made.before == before
        assert verify_tournament(parse_export(event.export())) == event.t

    @pytest.mark.parametrize("name", ["scoring", "total", "ties", "rounds", "seeds", "wanted_bye"])
    def test_a_stage_that_has_begun_keeps_what_people_play_by(self, name: str) -> None:
        other = {"scoring": "share", "total": "mean", "ties": ["points", "draw"], "rounds": 5, "seeds": "ratings"}
        event = EventInMemory(**SWISS)
        first = {**terms_to_json(event.t.terms)["stages"][0], name: other.get(name, "half")}
        event.act(self.amended(event, stages=[first]))
        event.draw_first(6)
        event.play_round(1, 1, random.Random(4))
        stage = dict(terms_to_json(event.t.terms)["stages"][0])
        stage[name] = {"rounds": 4, "scoring": "normal", "total": "sum", "seeds": "draw", "wanted_bye": "mean"}.get(
            name, ["points", "wins"]
        )
        with pytest.raises(RuleError) as caught:
            event.act(self.amended(event, stages=[stage]))
        assert (caught.value.code, caught.value.detail) == (
            "terms_fixed",
            {"at": f"/stages/0/{name}", "cause": "begun"},
        )

    def test_options_and_draws_never_change_and_capacity_holds_all(self) -> None:
        event = EventInMemory(**SWISS)
        event.act(*(Enter(f"p{n}") for n in range(6)), Withdraw(("p5",)))
        for changes, at in (({"options": {"x": 1}}, "/options"), ({"chain": 70}, "/chain")):
            with pytest.raises(RuleError) as caught:
                event.act(self.amended(event, **changes))
            assert caught.value.detail == {"at": at, "cause": "never"}
        with pytest.raises(RuleError) as caught:
            event.act(self.amended(event, capacity=4))
        assert caught.value.detail == {"at": "/capacity", "cause": "entrants"}
        event.act(self.amended(event, capacity=5))
        with pytest.raises(RuleError, match="terms_same"):
            event.act(self.amended(event))
        for terms in ({"least": 9}, {"chain": "x"}):
            with pytest.raises((FormError, TournamentError)):
                event.act(self.amended(event, **terms))

    def test_no_officer_with_place_changes_terms_or_stops_the_event(self) -> None:
        event = EventInMemory(**SWISS)
        event.draw_first(6)
        for command in (self.amended(event, reveal=5), PauseEvent("p0"), ResumeEvent("p0")):
            with pytest.raises(RuleError, match="conflict_of_interest"):
                command.check_person(event.t, ["p0"], event.now)
            command.check_person(event.t, ["organiser"], event.now)
