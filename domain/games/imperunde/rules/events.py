"""IMP-10: events."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.imperunde import frames, unit_stacks
from domain.games.imperunde.data import COUNTRIES, EVENTS, LAND_EVENTS, SEA_EVENTS, VALUE, ZONES
from domain.games.imperunde.facts.combat import PiratesLost
from domain.games.imperunde.facts.events import FamineMarked, LandEvent, MarkersRemoved, SeaEvent, WeatherMarked
from domain.games.imperunde.facts.money import TradeProfit
from domain.games.imperunde.facts.movement import UnitsLost, WindRisen
from domain.games.imperunde.rules import combat, pirates
from domain.games.imperunde.rules.dice import losses
from domain.games.imperunde.rules.movement import free_if_empty
from domain.games.imperunde.rules.setup import place
from domain.games.imperunde.rules.sides import black_ships
from domain.games.imperunde.rules.sinking import sink_for_active
from domain.games.imperunde.state import D
from domain.kernel.rules.flow import Frame

ON_LAND: int = EVENTS["land_events_per_turn"]
AT_SEA: int = EVENTS["sea_events_per_turn"]


def start(d: D) -> None:
    """IMP-10.1: all markers are removed, then nine events."""
    d.add(MarkersRemoved())
    d.ask(frames.Events(0))


def go_events(d: D, frame: Frame) -> None:
    """IMP-10.2, IMP-10.3: each event is applied before the next."""
    done = frame.context(frames.Events).done
    if done == ON_LAND + AT_SEA:
        return d.end()
    d.note(done=done + 1)
    return _land(d) if done < ON_LAND else _sea(d)


def _spin(d: D, wheel: str, regions: list[str], barred: set[str]) -> str:
    while (region := d.draws.pick(wheel, regions)) in barred:
        pass
    return str(region)


def _land(d: D) -> None:
    """IMP-10.2: in a free country the event counts but does nothing."""
    country = _spin(d, "wheel.country", list(COUNTRIES), {*d.state.homes(), *d.state.struck})
    event = d.draws.pick("wheel.land_event", list(LAND_EVENTS))
    d.add(LandEvent(event, country))
    if d.state.country(country).owner is not None:
        LAND[event](d, country)


def _sea(d: D) -> None:
    """IMP-10.3."""
    zone = _spin(d, "wheel.sea", list(ZONES), set(d.state.struck))
    event = d.draws.pick("wheel.sea_event", list(SEA_EVENTS))
    d.add(SeaEvent(event, zone))
    SEA[event](d, zone)


# --- land (IMP-10.4) -----------------------------------------------------------------------------------------


def _volunteers(d: D, country: str) -> None:
    seat = d.state.country(country).holder
    count = min(VALUE[country], d.state.supply(seat, "infantry"))
    if count:
        place(d, seat, country, {"infantry": count})


def _trade(d: D, country: str) -> None:
    seat, doubloons = d.state.country(country).holder, VALUE[country]
    d.add(TradeProfit(seat, country, doubloons, d.state.nations[seat].surplus + doubloons))


def _famine(d: D, country: str) -> None:
    d.add(FamineMarked(country))


def _epidemic(d: D, country: str) -> None:
    """Roll one die for each infantry, then cavalry, then artillery."""
    seat, units = d.state.country(country).holder, d.state.country(country).units
    order = [x for kind in EVENTS["land"]["epidemic"]["units"] for x in units if x.unit == kind]
    lost = losses(d, order)
    if lost:
        d.add(UnitsLost(seat, country, unit_stacks.to_facts(lost), "epidemic"))
        free_if_empty(d, country)


def _unrest(d: D, country: str) -> None:
    combat.start_by_insurgents(d, country, VALUE[country])


def _uprising(d: D, country: str) -> None:
    combat.start_by_insurgents(d, country, 2 * VALUE[country])


LAND: dict[str, Callable[[D, str], None]] = {
    "volunteers": _volunteers,
    "trade": _trade,
    "famine": _famine,
    "epidemic": _epidemic,
    "unrest": _unrest,
    "uprising": _uprising,
}


# --- sea (IMP-10.5) ------------------------------------------------------------------------------------------


def _storm(d: D, zone: str) -> None:
    """Roll for every ship: seats in turn order, pirates last."""
    d.add(WeatherMarked(zone, "storm"))
    for seat in d.state.order:
        if lost := losses(d, d.state.zone(zone).fleet(seat)):
            d.add(UnitsLost(seat, zone, unit_stacks.to_facts(lost), "storm"))
    if sunk := losses(d, black_ships(d.state.zone(zone).pirates)):
        d.add(PiratesLost(zone, unit_stacks.count_by_unit(sunk), "storm"))


def _calm(d: D, zone: str) -> None:
    d.add(WeatherMarked(zone, "calm"))


def _fair_wind(d: D, zone: str) -> None:
    """IMP-10.7: each seat with ships there, in turn order."""
    d.ask(frames.Winds(zone, [x for x in d.state.order if d.state.zone(zone).fleet(x)]))


def go_winds(d: D, frame: Frame) -> None:
    """IMP-10.7: the next seat still with ships there."""
    winds = frame.context(frames.Winds)
    zone, seats = winds.zone, winds.seats
    if not seats:
        return d.end()
    d.note(seats=seats[1:])
    if d.state.zone(zone).fleet(seats[0]):
        d.add(WindRisen(seats[0], zone, EVENTS["sea"]["fair_wind"]["extra_moves"]))
        sink_for_active(d)
        d.ask(frames.FairWind(zone), seats[0])
    return None


def _pirates(d: D, zone: str) -> None:
    pirates.appear(d, zone, VALUE[zone])


SEA: dict[str, Callable[[D, str], None]] = {
    "storm": _storm,
    "calm": _calm,
    "fair_wind": _fair_wind,
    "pirates": _pirates,
}
