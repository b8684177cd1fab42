"""SE7-8.5 to SE7-8.9: armies."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import ARMIES, BORDERS, LAND, REGIONS, UNITS, Unit
from domain.games.seven_empires.facts.movement import ArmyMoved, FleetsDone
from domain.games.seven_empires.moves import AnswerPassage, MoveLand
from domain.games.seven_empires.rules import neutral, transport
from domain.games.seven_empires.rules.checks import known_regions, known_units
from domain.games.seven_empires.rules.fights import check_last_city, check_target, fight
from domain.games.seven_empires.rules.movement import need_mover
from domain.games.seven_empires.rules.passage import answer, ask_passage, check_refused
from domain.games.seven_empires.state import D, Seven
from domain.games.seven_empires.value_objects import Step
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, or_none
from domain.types import Seat


def check_army(s: Seven, seat: Seat, move: MoveLand) -> None:
    """SE7-15.10: the errors of `move_land`, in this order."""
    target = or_none(move.target)
    known_regions(move.from_, *(region for step in move.steps for region in (step.to, *(step.seas or ()))))
    known_units([move.unit, *([target] if target is not None else [])])
    check_departure(s, move.from_, move.unit)
    check_steps(s, move.from_, move.unit, move.steps)
    regions = [step.to for step in move.steps]
    neutral.check_march(s, regions)
    check_end(s, move.from_, move.unit, regions[-1], target)
    if len(regions) == 2:
        check_refused(s, regions[0])


def check_departure(s: Seven, region: str, unit: str) -> None:
    """SE7-8.5: an army able to move."""
    require(unit in ARMIES, "not_an_army", "SE7-8.5", unit=unit)
    need_mover(s, region, unit)


def check_end(s: Seven, start: str, unit: str, end: str, target: str | None) -> None:
    """SE7-8.8, SE7-8.12: the units met at the end of the move."""
    check_target(s, end, target)
    check_last_city(s, start, unit, end, target)


def check_steps(s: Seven, start: str, unit: str, steps: Sequence[Step]) -> None:
    """SE7-8.5, SE7-8.6: one or two steps, not in a circle."""
    require(bool(steps), "path_invalid", "SE7-8.5", cause="empty")
    require(len(steps) <= BORDERS[unit], "too_far", "SE7-8.5", most=BORDERS[unit])
    here, used = start, list(s.moving.used)
    for step in steps:
        check_step(s, here, step, used)
        here, used = step.to, [*used, *transport.two_masters(s, step.seas or ())]
    require(here != start, "path_invalid", "SE7-8.5", cause="circle")


def check_step(s: Seven, here: str, step: Step, used: Sequence[str]) -> None:
    """SE7-8.5, SE7-8.6: a land border, or a transport."""
    goes = REGIONS[step.to] != "sea" and step.to != here
    require(goes, "path_invalid", "SE7-8.5", cause="no_land", to=step.to)
    crosses = step.seas is None or transport.well_formed(step.seas)
    require(crosses, "path_invalid", "SE7-8.5", cause="no_crossing", to=step.to)
    if step.seas is None:
        require(step.to in LAND[here], "not_adjacent", "SE7-8.5", region=here, to=step.to)
    else:
        transport.check_seas(here, step.to, step.seas)
        transport.check_carriers(s, step.seas, used)


def do_army(d: D, frame: Frame, seat: Seat, move: MoveLand) -> None:
    """SE7-8.5, SE7-8.7: the move is carried out, unless a monarch must first let the army pass."""
    check_army(d.state, seat, move)
    if not d.state.moving.armies:
        d.add(FleetsDone(d.state.acting))
    if len(move.steps) == 1 or not ask_passage(d, move):
        march(d, move.from_, move.unit, move.steps, or_none(move.target))


def march(d: D, start: str, kind: str, steps: Sequence[Step], target: str | None) -> None:
    """SE7-8.6 to SE7-8.10: the unit arrives, its two-masters have carried it, and it fights."""
    unit: Unit = UNITS[UNITS.index(kind)]
    used = [sea for step in steps for sea in transport.two_masters(d.state, step.seas or ())]
    end = steps[-1].to
    d.add(ArmyMoved(d.state.acting, unit, start, steps, end, used or UNSET))
    fight(d, unit, end, target)


def do_answer(d: D, frame: Frame, seat: Seat, move: AnswerPassage) -> None:
    """SE7-8.7: if granted, the announced move is carried out."""
    about = frame.context(frames.Passage)
    answer(d, about, seat, move)
    if move.grant:
        march(d, about.from_, about.unit, about.steps, about.target)
