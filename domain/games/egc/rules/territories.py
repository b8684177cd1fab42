"""EGC-14.9, P10: drops, gifts of territory, annexations, protectorates, protections. EGC-11.6, P11: elimination."""

from __future__ import annotations

from domain.games.egc.data import SEAT
from domain.games.egc.facts.realm import (
    ArmiesLost,
    EmpireEliminated,
    ProtectionEnded,
    ProtectorateEnded,
    ProtectorateGiven,
    ProtectorateInstalled,
    TerritoryAnnexed,
    TerritoryGiven,
    TerritoryProtected,
)
from domain.games.egc.moves import Annex, Drop, GiveTerritory, InstallProtectorate, Protect
from domain.games.egc.rules.victory import count, finish
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import ACTIVE, ELIMINATED, Land, numbered
from domain.types import Seat


def _conquered(w: Resolution, territory: str) -> bool:
    """EGC-14.9: orders on a territory conquered this turn are void."""
    return w.s.lands[territory].conquered_turn == w.turn


def _holds(land: Land, seat: Seat) -> bool:
    return land.protectorate is not None and land.protectorate.seat == seat


def drops(w: Resolution) -> None:
    """EGC-14.9.1."""
    for seat, order in w.orders_of(Drop):
        territory = order.territory
        land = w.s.lands[territory]
        if _holds(land, seat):
            w.tell(ProtectorateEnded(w.step, seat, territory, "dropped"))
        elif str(seat) in land.protections:
            w.tell(ProtectionEnded(w.step, seat, territory, "dropped"))


def gifts(w: Resolution) -> None:
    """EGC-14.9.2: armies standing in a given territory are destroyed."""
    for seat, order in w.orders_of(GiveTerritory):
        territory, to = order.territory, SEAT[order.to]
        land = w.s.lands[territory]
        if _conquered(w, territory) or w.s.status[to] == ELIMINATED:
            continue
        if land.owner == seat:
            lost = [army for army, a in numbered(w.s.armies[seat]) if a.territory == territory]
            if lost:
                w.tell_seat(ArmiesLost(w.step, seat, territory, lost))
            w.tell(TerritoryGiven(w.step, seat, to, territory))
        elif _holds(land, seat):
            w.tell(ProtectorateGiven(w.step, seat, to, territory, w.turn))
        else:
            continue
        w.learn(to, territory)


def annexations(w: Resolution) -> None:
    """EGC-14.9.3: the neutral army disappears."""
    for seat, order in w.orders_of(Annex):
        territory = order.territory
        if _conquered(w, territory) or not _holds(w.s.lands[territory], seat):
            continue
        w.tell(TerritoryAnnexed(w.step, seat, territory))
        if territory in w.s.garrisons:
            w.set_neutrals({territory: None})


def installations(w: Resolution) -> None:
    """EGC-14.9.4: of several claimants the best diplomacy rank."""
    claims: dict[str, list[Seat]] = {}
    for seat, order in w.orders_of(InstallProtectorate):
        claims.setdefault(order.territory, []).append(seat)
    for territory in sorted(claims):
        land = w.s.lands[territory]
        free = land.owner is None and land.protectorate is None
        able = [x for x in claims[territory] if free and str(x) in land.protections]
        if able:
            seat = min(able, key=lambda x: w.s.rank(x, "diplomacy"))
            w.tell(ProtectorateInstalled(w.step, seat, territory, w.turn))
            w.learn(seat, territory)


def protections(w: Resolution) -> None:
    """EGC-14.9.5."""
    for seat, order in w.orders_of(Protect):
        territory = order.territory
        land = w.s.lands[territory]
        if land.owner is None and land.protectorate is None:
            w.tell(TerritoryProtected(w.step, seat, territory, w.turn))


def eliminate(w: Resolution) -> None:
    """EGC-11.6, EGC-11.7: an empire without territory is out; with one left, or no players, the game ends."""
    for seat in w.s.in_play():
        if not w.s.owned(seat):
            w.tell(EmpireEliminated(w.step, seat))
    if len(w.s.in_play()) <= 1 or ACTIVE not in w.s.status:
        count(w, last=True)
        finish(w, "nobody_left")
