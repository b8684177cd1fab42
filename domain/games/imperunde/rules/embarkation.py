"""IMP-6.7: embarkation."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import COUNTRIES, is_army
from domain.games.imperunde.facts.movement import ArmiesEmbarked
from domain.games.imperunde.moves import Embark
from domain.games.imperunde.rules.checks import need_country, need_known, need_some, need_zone
from domain.games.imperunde.rules.movement import free_if_empty, need_units, take, weather
from domain.games.imperunde.state import D, ImpeRunde
from domain.games.imperunde.unit_stacks import Lots
from domain.kernel.rules.flow import Frame
from domain.types import Seat

RULE = "IMP-6.7.1"


def need_embarkation_zone(s: ImpeRunde, seat: Seat, country: str, zone: str) -> None:
    """IMP-6.7.1: next to the country and without enemy warships or pirates."""
    require(zone in COUNTRIES[country].coasts, "zone_not_adjacent", RULE, zone=zone)
    require(not s.hostile(zone, seat), "enemy_warships_present", RULE, zone=zone)


def check_embark(s: ImpeRunde, seat: Seat, move: Embark) -> Lots:
    """IMP-6.7.1: the errors of `embark`, in this order; return the armies going aboard."""
    country, wants = move.from_, move.units
    need_country(country, RULE)
    need_zone(move.zone, RULE)
    need_known(wants, RULE)
    require(s.is_own(seat, country), "not_your_country", RULE, country=country)
    require(all(is_army(w.unit) for w in wants), "wrong_unit_for_target", RULE, cause="armies")
    need_some(wants, RULE)
    have = s.lots_in(seat, country)
    need_units(have, wants, RULE)
    need_embarkation_zone(s, seat, country, move.zone)
    return take(have, wants, lambda _: 0, RULE)


def do_embark(d: D, frame: Frame, seat: Seat, move: Embark) -> None:
    """IMP-6.7.2: aboard transports; each army rolls in a storm."""
    aboard = check_embark(d.state, seat, move)
    country, zone = move.from_, move.zone
    d.add(ArmiesEmbarked(seat, country, zone, unit_stacks.to_facts(aboard), [x.moves_left for x in aboard]))
    weather(d, seat, zone, aboard)
    free_if_empty(d, country)
