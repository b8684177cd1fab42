"""IMP-8: the frame of a combat, from its beginning to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import CANALS, COUNTRIES, VALUE, ZONES
from domain.games.imperunde.facts.combat import (
    AttackersEntered,
    CombatEnded,
    CombatStarted,
    CountryConquered,
    NextEnemy,
    Outcome,
    Waiting,
)
from domain.games.imperunde.facts.movement import CountryFreed
from domain.games.imperunde.rules import reinforcements, rounds
from domain.games.imperunde.rules.approach import call_off, charge
from domain.games.imperunde.rules.end import check_win
from domain.games.imperunde.rules.sides import side_units
from domain.games.imperunde.rules.sinking import sink_for_active
from domain.games.imperunde.rules.windows import open_window
from domain.games.imperunde.state import D, ImpeRunde, Party, Staged
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET
from domain.types import Seat

# --- beginnings ----------------------------------------------------------------------------------------------


def start_by_seat(d: D, seat: Seat, target: str, staged: Sequence[Staged], pass_window: bool) -> None:
    """IMP-8.1.2: a seat attacks a region; several enemies in a zone are fought one after the other."""
    waiting = [Waiting(x.region, x.start, unit_stacks.to_facts((x.lot,))[0]) for x in staged]
    if target in ZONES:
        first, *others = d.state.enemies_at(seat, target)
        d.add(CombatStarted(target, seat, first, supported=True, staged=waiting, enemies=others))
    elif (owner := d.state.country(target).owner) is None:
        d.add(CombatStarted(target, seat, "natives", supported=True, staged=waiting, horde=VALUE[target]))
    else:
        d.add(CombatStarted(target, seat, owner, supported=True, staged=waiting))
    d.ask(frames.Combat("window", pass_window or UNSET))


def start_at_sea(d: D, zone: str, attacker: Party, defender: Party) -> None:
    """IMP-6.5.1, IMP-10.6: a sea combat without window and reinforcements."""
    d.add(CombatStarted(zone, attacker, defender))
    d.ask(frames.Combat("engage"))


def start_by_insurgents(d: D, country: str, count: int) -> None:
    """IMP-8.6.4: insurgents attack a colony; without army and fort it is lost at once."""
    d.add(CombatStarted(country, "insurgents", d.state.country(country).holder, horde=count))
    d.ask(frames.Combat("window" if d.state.country(country).defended else "engage"))


# --- stages --------------------------------------------------------------------------------------------------


def go_combat(d: D, frame: Frame) -> None:
    """IMP-8.1.2: the next stage."""
    STAGES[frame.context(frames.Combat).stage](d)


def entitled(s: ImpeRunde, pass_window: bool) -> list[Seat]:
    """IMP-11.5: the seats asked before the first dice."""
    c = s.fight
    if c.sea:
        sides = [x for x in (c.attacker, c.defender, *c.enemies) if isinstance(x, int)]
        seats = sides if len(sides) > 1 else []
    else:
        seats = [c.attacker] if c.defender == "natives" else list(s.everybody)
    return [x for x in seats if not (pass_window and x == c.attacker)]


def _window(d: D) -> None:
    """IMP-11.5."""
    seats = entitled(d.state, d.state.top.context(frames.Combat).pass_window is True)
    d.note(stage="charge")
    open_window(d, frames.CombatWindow(sorted(seats)))


def _charge(d: D) -> None:
    """IMP-8.1.2.3, IMP-8.1.3: the last step, unless the attack has been called off."""
    c = d.state.fight
    if c.called_off:
        call_off(d, c.attacker, c.staged)
        return end(d, "called_off")
    if c.staged:
        charge(d, c.attacker, c.region, c.staged)
        d.add(AttackersEntered())
    if not side_units(d.state, "attacker"):
        return end(d, "lost_in_storm")
    return d.note(stage="engage")


def _engage(d: D) -> None:
    """IMP-8.1.4: a target without defender falls without dice."""
    if side_units(d.state, "defender"):
        d.note(stage="fight")
    else:
        _attacker_wins(d)


def _fight(d: D) -> None:
    """IMP-8.2: fighters are chosen, the round window, the dice."""
    if rounds.ask_fighters(d):
        return
    d.note(stage="roll")
    if rounds.has_round_window(d.state):
        open_window(d, frames.RoundWindow(sorted(rounds.riders(d.state))))


def _roll(d: D) -> None:
    """IMP-8.2.6: the round, and how it goes on."""
    rounds.fight_round(d)
    if not side_units(d.state, "defender"):
        return _attacker_wins(d)
    if reinforcements.possible(d.state):
        d.note(stage="reinforced")
        return d.ask(frames.Reinforce(d.state.fight.region), d.state.fight.attacker)
    return _reinforced(d)


def _reinforced(d: D) -> None:
    """IMP-8.2.6: the attacker without unit has lost."""
    if side_units(d.state, "attacker"):
        d.note(stage="fight")
    else:
        end(d, "held")


STAGES: dict[frames.Stage, Callable[[D], None]] = {
    "window": _window,
    "charge": _charge,
    "engage": _engage,
    "fight": _fight,
    "roll": _roll,
    "reinforced": _reinforced,
}


# --- outcomes (IMP-8.6) --------------------------------------------------------------------------------------


def _attacker_wins(d: D) -> None:
    c = d.state.fight
    if c.sea and c.enemies:
        d.add(NextEnemy(c.enemies[0], c.enemies[1:]))
        return d.note(stage="engage")
    if c.sea:
        return end(d, "won")
    if c.attacker == "insurgents":
        d.add(CountryFreed(c.region, c.defender))
    else:
        _conquer(d, c.attacker, c.region)
    return end(d, "won")


def _conquer(d: D, seat: Seat, region: str) -> None:
    """IMP-8.6.1: posts change hands as far as the supply goes; a free canal country gives posts."""
    former, canal = d.state.country(region), COUNTRIES[region].canal
    posts = former.posts
    if former.owner is None and canal in d.state.canals:
        posts = CANALS[canal].posts
    posts = min(posts, d.state.supply(seat, "trading_post"))
    d.add(CountryConquered(region, seat, former.owner, posts))


def end(d: D, outcome: Outcome) -> None:
    """IMP-8.6: the combat is over: `won` or `held` by dice, `called_off`, or `lost_in_storm` before it began."""
    c = d.state.fight
    d.add(CombatEnded(c.region, c.attacker, c.defender, outcome))
    check_win(d)
    d.end()
    sink_for_active(d)
