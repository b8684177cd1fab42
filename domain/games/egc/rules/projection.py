"""EGC-7.0.2: a seat's private copy of the start of the turn, changed by its sheet. Other seats stay unchanged."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, TypeVar

from domain.compat import cached_property
from domain.errors import RuleError
from domain.games.egc.data import (
    ECONOMY,
    HOMES,
    INFRASTRUCTURES,
    LINKS,
    MAX_ARMIES,
    SEAT,
    STRAITS,
    TECHNOLOGIES,
    TERRITORIES,
    by_rank,
)
from domain.games.egc.moves import OrderArmy
from domain.games.egc.order import Order
from domain.games.egc.rules.seas import accessible, controlled, ports_of
from domain.games.egc.state import Army, Egc, Filed
from domain.types import Json, Seat

K = TypeVar("K", bound=Order)


class Copy:
    """Copy of the seat's possessions, changed by the orders of the sheet one after the other."""

    def __init__(self, s: Egc, seat: Seat, controls: tuple[str, ...] | None = None) -> None:
        """`controls`: the seas controlled by the empire, if already known."""
        self.s, self.seat = s, seat
        self.empire = s.empires[seat]
        self.funds = self.empire.treasury - s.sheets[seat].spent
        self.points = self.empire.diplomacy
        self.armies: dict[str, Army] = dict(s.armies[seat])
        self.levels: dict[str, dict[str, int]] = {}
        self.built: set[str] = set()
        self.demolished: set[str] = set()
        self.changed: set[tuple[str, str]] = set()
        self.raised: dict[str, int] = {}
        self.ordered: dict[str, int] = {}
        """Army -> number of its order."""
        self.orders: dict[str, OrderArmy] = {}
        """Army -> its order."""
        self.expeditions = 0
        self.sailed = 0
        """Naval moves so far."""
        self.explored = 0
        """Expeditions that they use."""
        self.faults: dict[int, RuleError] = {}
        self._controls = controls

    def owns(self, territory: str) -> bool:
        """Return whether the seat owns a territory; no order changes this before the turn resolves."""
        return self.s.lands[territory].owner == self.seat

    def level(self, territory: str, infrastructure: str) -> int:
        """Return the level of an infrastructure in the copy."""
        if infrastructure == "port":
            if territory in self.built or territory in self.demolished:
                return int(territory in self.built)
            return int(self.s.lands[territory].port)
        levels = self.levels.get(territory)
        return self.s.level(territory, infrastructure) if levels is None else levels.get(infrastructure, 0)

    def put_level(self, territory: str, infrastructure: str, level: int) -> None:
        """Assign a level in the copy."""
        self.changed.add((territory, infrastructure))
        if infrastructure == "port":
            (self.built if level else self.demolished).add(territory)
            return
        levels = dict(self.levels.get(territory) or self.s.levels.get(territory, {}))
        levels[infrastructure] = level
        self.levels[territory] = {k: v for k, v in sorted(levels.items()) if v}

    def capacity(self, territory: str) -> int:
        """EGC-7.5: divisions the territory can still raise this turn."""
        full: int = ECONOMY["recruitment_per_level"] * self.level(territory, "recruitment_centre")
        if territory != HOMES[self.seat]:
            full = full * by_rank("colony_recruitment_percent", self.rank("administration")) // 100
        return full - self.raised.get(territory, 0)

    def rank(self, technology: str) -> int:
        """EGC-0.7: the seat's own rank."""
        return self.empire.ranks[technology]

    def by_rank(self, table: str, technology: str) -> int:
        """Return the value of a table for the seat's own rank."""
        return by_rank(table, self.rank(technology))

    # --- the seas, once all management orders are carried out

    @cached_property
    def ports(self) -> list[str]:
        """EGC-8.1: own ports and those of protectorates."""
        kept = [t for t in ports_of(self.s, self.seat) if t not in self.demolished]
        return [*kept, *sorted(self.built)]

    @cached_property
    def seas(self) -> set[str]:
        """EGC-8.1: accessible seas."""
        return accessible(self.s, self.seat, self.ports)

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """EGC-8.2, EGC-6.3: seas controlled by the empire with its sheet applied."""
        return tuple(controlled(self.s, self.seat, self.ports)) if self._controls is None else self._controls


Check = Callable[[Copy, Any, Filed], None]
"""One order against the copy: raises RuleError, or carries it out."""


def on(kind: type[K], check: Callable[[Copy, K, Filed], None]) -> tuple[type[Order], Check]:
    """Return the check of an order type, as an item of a table."""
    return kind, check


# --- unknown ids (EGC-7.0.6) ---------------------------------------------------------------------------------


def _id_check(code: str, field: str, table: Container[str]) -> Callable[[str], None]:
    def check(name: str) -> None:
        if name not in table:
            raise RuleError(code, "EGC-7.0.6", {field: name})

    return check


known_territory = _id_check("unknown_territory", "territory", TERRITORIES)
known_infrastructure = _id_check("unknown_infrastructure", "infrastructure", INFRASTRUCTURES)
known_technology = _id_check("unknown_technology", "technology", TECHNOLOGIES)
known_target = _id_check("unknown_empire", "target", SEAT)
known_recipient = _id_check("unknown_empire", "to", SEAT)
known_empire = _id_check("unknown_empire", "empire", SEAT)
known_strait = _id_check("unknown_strait", "strait", STRAITS)


def known_links(links: Sequence[str]) -> None:
    """EGC-7.22."""
    if unknown := [link for link in links if link not in LINKS]:
        raise RuleError("unknown_link", "EGC-7.0.6", {"link": unknown[0]})


def foreign(c: Copy, army: str) -> bool:
    """EGC-7.0.9: return whether the id has the form of another seat's or a neutral army's."""
    name = army.rpartition("-")[0]
    return name == "N" or (name in SEAT and SEAT[name] != c.seat)


def known_army(c: Copy, army: str) -> None:
    """EGC-7.0.9: refuse an id of no army of the seat in the copy, unless it has the form of another's."""
    if army not in c.armies and not foreign(c, army):
        raise RuleError("unknown_army", "EGC-7.0.9", {"army": army})


def own_army(c: Copy, army: str) -> None:
    """EGC-7.0.9."""
    if foreign(c, army):
        raise RuleError("not_your_army", "EGC-7.0.9", {"army": army})


# --- checks shared by several orders ----------------------------------------------------------------------------


def need(ok: bool, code: str, rule: str, **detail: Json) -> None:
    """Raise RuleError with this code and rule unless `ok`."""
    if not ok:
        raise RuleError(code, rule, detail)


def need_room(c: Copy, rule: str) -> None:
    """EGC-1.8: the limit of armies."""
    need(len(c.armies) < MAX_ARMIES, "army_limit", rule, armies=len(c.armies))


def need_other(c: Copy, other: Seat, rule: str) -> None:
    """Raise RuleError unless the target is another empire in play."""
    need(other != c.seat, "self_target", rule)
    need(c.s.status[other] != "eliminated", "empire_eliminated", rule)


def need_calm(c: Copy, other: Seat, rule: str) -> None:
    """EGC-14.2: no diplomatic order between two empires with an imminent war."""
    need(c.s.relation(c.seat, other) != "imminent_war", "war_imminent", rule)
