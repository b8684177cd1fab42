"""An event of 28 by its own clock, with everything that goes wrong; each figure of its standings has its parts."""

from __future__ import annotations

import functools
import random
from dataclasses import replace

from domain.tournaments.aggregate.basic_commands import CheckIn, CheckInOther, WantBye, Withdraw
from domain.tournaments.aggregate.change_commands import AmendTerms, PauseEvent, ResumeEvent
from domain.tournaments.aggregate.clock_commands import SetTimetable, find_clock_act
from domain.tournaments.aggregate.elsewhere_commands import ConfirmScores, EnterScores, MoveElsewhere
from domain.tournaments.aggregate.point_parts import PartsReader
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import Penalise, PlaceTable, RulingEffect
from domain.tournaments.results import HALF, Tally
from domain.tournaments.terms import terms_to_json
from tests.tournaments.test_point_parts import add_up
from tests.tournaments.test_timetable import HOUR, MINUTE, TimedEvent

PEOPLE = 28
STARTS = tuple(start * HOUR for start in (10, 12, 14, 16))
MISSING = (3, 7)
"""They miss the check-in of the second round."""


ELSEWHERE = (1, 3, 1)
"""Stage, round and pod of the table played elsewhere."""


def confirm_all(event: TimedEvent, place: tuple[int, int]) -> None:
    """One seat enters the scores of a table elsewhere, and the others confirm them."""
    first, *others = event.t.play.tables[place].entrants
    event.act(EnterScores(1, *place, (f"p{first}",), (9, 7, 7, 2, 1, 0)[: len(others) + 1]))
    scores = event.t.version
    event.act(*(ConfirmScores(1, *place, (f"p{entrant}",), scores) for entrant in others))


def end_tables(event: TimedEvent, round_: int, late: tuple[int, int], chance: random.Random) -> None:
    """All tables of a round but the last one get a result."""
    for place, table in sorted(event.t.play.tables.items()):
        if place[0] == round_ and table.elsewhere:
            confirm_all(event, place)
        elif place[0] == round_ and place != late and not table.annulled:
            event.report(1, place, chance.sample(range(9), len(table.entrants)))


def present(round_: int) -> list[int]:
    gone = {*MISSING} if round_ == 2 else {11} if round_ > 2 else set[int]()
    return [entrant for entrant in range(PEOPLE) if entrant not in gone]


@functools.cache
def play_event() -> tuple[TimedEvent, list[str]]:
    """Play the event to its end, with two rulings; return it with the acts of its clock."""
    chance = random.Random(63)
    stage = {"format": "swiss", "rounds": 4, "wanted_bye": HALF}
    event = TimedEvent(PEOPLE, limit=3600, elsewhere="some", least=4, most=5, preferred=5, stages=[stage])
    event.act(SetTimetable("organiser", 1, STARTS, extension=600))
    acts = list[str]()
    for round_ in range(1, 5):
        acts.append(event.serve())
        event.check_in(*present(round_))
        if round_ == 1:
            event.act(WantBye(("p5",), 3), PauseEvent("organiser"))
            event.now += 3 * MINUTE
            event.act(ResumeEvent("organiser"))
        acts += [event.serve() for _ in range(2)]
        if round_ == 3:
            event.act(MoveElsewhere("organiser", *ELSEWHERE))
        acts.append(event.serve())
        if round_ == 2:
            event.act(CheckIn(("p3",)), CheckInOther(7, "organiser"), Withdraw(("p11",)))
        late = max(event.t.play.tables)
        end_tables(event, round_, late, chance)
        acts += [event.serve(), event.serve()]  # the last table plays on: warning, extension
        event.report(1, late, chance.sample(range(9), len(event.t.play.tables[late].entrants)))
        acts.append(event.serve())
        if round_ == 2:
            terms = terms_to_json(event.t.terms)
            event.act(AmendTerms("organiser", {**terms, "most": 6, "table": {**terms["table"], "time_limit": 2700}}))
    by = ("organiser", (), (), "")
    places = tuple(range(len(event.t.play.tables[1, 1].entrants), 0, -1))
    for command in (Penalise(*by, 1, 4, 777), PlaceTable(*by, 1, 1, 1, places)):
        event.act(replace(command, preview=RulingEffect(event.t, command).digest))
    return event, acts


def test_event_runs_by_own_clock_and_each_place_is_explained() -> None:
    event, acts = play_event()
    steps = ("open_checkin", "close_checkin", "draw", "make_tables", "warn", "warn", "rank")
    assert acts == [f"{step} {round_}" for round_ in (1, 2, 3, 4) for step in steps]
    assert find_clock_act(event.t) is None
    assert event.t.is_whole
    t = verify_tournament(parse_export(event.export()))
    assert t == event.t
    assert [change.before.most for change in t.amendments] == [5]
    tally = Tally(t.stage(1))
    reader = PartsReader(t, 1, tally)
    for entrant in range(PEOPLE):
        assert add_up(reader.list_parts(entrant), "sum") == tally.totals[entrant], entrant
    seated = t.play.tables[ELSEWHERE[1:]].entrants
    assert all(any("elsewhere" in part for part in reader.list_parts(entrant)) for entrant in seated)
    kinds = {part["kind"]: part["cause"] for entrant in MISSING for part in reader.list_parts(entrant)}
    assert kinds["missed"] == "unchecked"
