"""SOE-9.6, SOE-9.7: Pirates and Slave Revolt, sent against a seat when they are bought."""

from __future__ import annotations

from domain.games.struggle_of_empires.facts.tiles import RaidSent
from domain.games.struggle_of_empires.rules.combat.steps import LAND_ATTACK, NAVAL_ATTACK, begin
from domain.games.struggle_of_empires.state import D
from domain.types import Seat


def send(d: D, buyer: Seat, tile: str, region: str, target: Seat) -> None:
    """SOE-9.6.3, SOE-9.7.2: a battle at once, at sea or on land, without allies on either side."""
    d.add(RaidSent(buyer, tile, region, target))
    begin(d, *(NAVAL_ATTACK if tile == "pirates" else LAND_ATTACK))
