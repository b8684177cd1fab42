"""SOE-8.11, SOE-8.12, SOE-9.6.4, SOE-9.7.3: the gains of a won battle."""

from __future__ import annotations

from domain.games.struggle_of_empires.data import MARKERS, RAIDERS
from domain.games.struggle_of_empires.facts.pieces import MarkerRemoved, TokenPlaced, TokenRemoved
from domain.games.struggle_of_empires.facts.tiles import RaidBeaten, TokenCaptured, TokenFreed
from domain.games.struggle_of_empires.rules import money
from domain.games.struggle_of_empires.rules.combat.steps import NOTHING, Next
from domain.games.struggle_of_empires.state import Combat, D
from domain.types import Seat


def step_outcome(d: D) -> Next:
    """SOE-8.11.1: only a winning attacker takes something."""
    combat = d.state.battle
    if combat.attacker.kind in RAIDERS:
        _end_raid(d, combat)
    elif combat.winner == "attacker" and combat.attacker.seat is not None:
        _take(d, combat, combat.attacker.seat)
    return NOTHING


def _end_raid(d: D, combat: Combat) -> None:
    """SOE-9.6.4, SOE-9.7.3: the tile holds a token, or goes back to the stock."""
    tile = combat.attacker.kind
    if combat.winner == "attacker":
        d.add(TokenCaptured(tile, combat.defender.principal, combat.region))
    else:
        d.add(RaidBeaten(tile, combat.region))


def _take(d: D, combat: Combat, seat: Seat) -> None:
    """SOE-8.11.2 to SOE-8.11.4: the token, the marker, or the captured token, and a token in its place."""
    taken = {"player": _from_player, "neutral": _from_marker}.get(combat.defender.kind, _from_tile)
    if taken(d, combat, seat) and d.state.reserve(seat):
        d.add(TokenPlaced(seat, combat.region))


def _from_player(d: D, combat: Combat, seat: Seat) -> bool:
    """SOE-8.11.2: at most one token, if the defender has one there."""
    loser = combat.defender.seat
    if loser is None or combat.region not in d.state.empires[loser].tokens:
        return False
    d.add(TokenRemoved(loser, combat.region, by=seat))
    return True


def _from_marker(d: D, combat: Combat, seat: Seat) -> bool:
    """SOE-8.11.3: the marker leaves the game; its gold and victory points at once."""
    marker = MARKERS[combat.defender.marker or ""]
    d.add(MarkerRemoved(seat, marker.id, combat.region))
    money.receive(d, seat, marker.gold, marker.id)
    money.gain_vp(d, seat, marker.vp, marker.id)
    return True


def _from_tile(d: D, combat: Combat, seat: Seat) -> bool:
    """SOE-8.11.4, SOE-8.12.2: the captured token goes back to its owner, the tile to the stock."""
    tile = combat.defender.kind
    held = d.state.captive(tile)
    if held is None:
        return False
    d.add(TokenFreed(tile, held.token_of, held.region, by=seat))
    return True
