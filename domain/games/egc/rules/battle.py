"""EGC-9: battles. One army against those it finds, combat by combat, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.games.egc.data import COMBAT, TERRITORIES
from domain.games.egc.facts.armies import CombatFought, Round
from domain.games.egc.rules.work import NOBODY, Resolution, Unit
from domain.games.egc.state import NEUTRAL, NeutralRanks, empire_of
from domain.kernel.records.audience import TABLE

WORST = 10
"""EGC-9.3: the rank of a neutral army without ranks."""


def battle(w: Resolution, attacker: Unit, there: list[Unit], territory: str, landed: bool) -> None:
    """EGC-9.1: the attacker fights on as long as it wins; without a defender left it holds the place."""
    order = [u.id for u in sorted(there, key=lambda u: u.number)]
    for army in w.d.draws.shuffle("defender_order", order, TABLE):
        combat = Combat(w, attacker, w.units[str(army)], territory, int(landed))
        combat.fight()
        if combat.winner is not attacker:
            return
    w.place_unit(attacker, territory)


@dataclass
class Combat:
    """One pair of armies, with the content of its report (EGC-9.12)."""

    w: Resolution
    attacker: Unit
    defender: Unit
    territory: str
    landing: int
    winner: Unit | None = None
    rounds: list[Round] = field(default_factory=list)
    supported: dict[str, Unit] = field(default_factory=dict)
    """All armies in it as supporters at any time."""

    def fight(self) -> None:
        """EGC-9.8 to EGC-9.11."""
        a, d = self.attacker, self.defender
        for seat in (a.seat, d.seat):
            fought = self.w.battles.setdefault(self.territory, [])
            if seat not in fought:
                fought.append(seat)
        self.fort = self._fort()
        for unit in (a, d):
            unit.start = unit.start or unit.divisions
        before = a.divisions, d.divisions
        while self._round():
            pass
        significant = _significant(*before)
        goes = self._end(significant)
        self._report(before, significant, goes)

    def _fort(self) -> int:
        """EGC-9.2: the fortification helps the owner's army, and the neutral army of a neutral territory."""
        owner = self.w.s.lands[self.territory].owner
        holds = owner == self.defender.seat or (owner is None and self.defender.seat == NOBODY)
        return self.w.s.level(self.territory, "fortification") if holds else 0

    def quality(self, unit: Unit) -> int:
        """EGC-9.3."""
        siege, naval = self._ranks(unit)
        total = 10 * unit.training + self.fort * 10 * (11 - siege) + self.landing * 10 * (11 - naval)
        return total // (1 + self.fort + self.landing)

    def _ranks(self, unit: Unit) -> tuple[int, int]:
        if unit.seat == NOBODY:
            ranks = self.w.s.neutral_ranks.get(self.territory, NeutralRanks())
            return ranks.siege or WORST, ranks.naval or WORST
        return self.w.s.rank(unit.seat, "siegecraft"), self.w.s.rank(unit.seat, "naval")

    def protection(self) -> int:
        """EGC-9.4."""
        m = 100 + COMBAT["natural_protection"] * TERRITORIES[self.territory].defence
        m += COMBAT["fort_protection"] * self.fort + COMBAT["landing_protection"] * self.landing
        prepared = not self.rounds and self.defender.order == "prepare_defence" and not self.defender.retreated
        return m + COMBAT["prepared_protection"] * prepared

    def supporters(self) -> list[Unit]:
        """EGC-9.6: the attacker's own empire first, then its allies."""
        w, a = self.w, self.attacker
        found = [u for u in w.supports.get(self.territory, ()) if self._helps(u)]
        return sorted(found, key=lambda u: (u.seat != a.seat, u.seat, u.number))

    def _helps(self, u: Unit) -> bool:
        if not u.divisions or u.retreated or u.withdrawn:
            return False
        if u.seat != self.attacker.seat and not self.w.s.allied(u.seat, self.attacker.seat):
            return False
        near = self.w.near(u.seat, u.territory, self.territory)
        return near and self.w.may_fight(u.seat, self.defender.seat, self.territory)

    def _round(self) -> bool:
        """EGC-9.8, EGC-9.9: one round; False when the combat is over."""
        a, d, helpers = self.attacker, self.defender, self.supporters()
        for u in helpers:
            u.start = u.start or u.divisions
            self.supported[u.id] = u
        base: int = COMBAT["quality_base"]
        q_att, q_def, m = self.quality(a), self.quality(d), self.protection()
        enc = encirclement(len({u.territory for u in helpers}))
        power = 2 * a.divisions * (base + q_att) + sum(u.divisions * (base + self.quality(u)) for u in helpers)
        loss_def = min(d.divisions, max(1, power * (100 + enc) // (COMBAT["attack_divisor"] * m)))
        side = [a, *helpers]
        hit = max(1, d.divisions * (base + q_def) // COMBAT["defence_divisor"])
        loss_att = min(sum(u.divisions for u in side), hit)
        shares = share(loss_att, [2 * a.divisions, *(u.divisions for u in helpers)], [u.divisions for u in side])
        for unit, loss in zip([*side, d], [*shares, loss_def], strict=True):
            unit.divisions -= loss
            unit.lost += loss
        helped = {u.id: loss for u, loss in zip(helpers, shares[1:], strict=True)}
        self.rounds.append((q_att, q_def, m, enc, shares[0], loss_def, helped))
        for u in helpers:
            u.withdrawn = u.is_broken
            if not u.divisions:
                self.w.place_unit(u, "")
        return self._undecided()

    def _undecided(self) -> bool:
        """EGC-9.9."""
        a, d = self.attacker, self.defender
        if not a.divisions or not d.divisions:
            self.winner = a if a.divisions else d if d.divisions else None
            return False
        if a.is_broken or d.is_broken:
            self.winner = d if a.is_broken else a
            return False
        return True

    def _end(self, significant: bool) -> dict[str, str | None]:
        """EGC-9.10: morale, and the goal of the loser's retreat; None for a destroyed army."""
        a, d = self.attacker, self.defender
        losers = [u for u in (a, d) if u is not self.winner]
        if significant:
            if self.winner:
                self.winner.morale = min(COMBAT["morale_max"], self.winner.morale + 1)
            for u in losers:
                u.morale = max(COMBAT["morale_min"], u.morale - 1)
        goes: dict[str, str | None] = {}
        for u in losers:
            goes[u.id] = self._retreat(u) if u.divisions else None
            u.retreated = True
            if goes[u.id] is None:
                u.divisions = 0
            self.w.place_unit(u, goes[u.id] or "")
        return goes

    def _retreat(self, u: Unit) -> str | None:
        if u is self.attacker:
            return self._way_back(u)
        if u.seat == NOBODY:
            return None
        lands = [t for t in self.w.s.owned(u.seat) if t != self.territory and not self.w.foreign(u.seat, t)]
        near = [t for t in lands if self.w.near(u.seat, self.territory, t)]
        return str(self.w.d.draws.pick("retreat", list(near), TABLE)) if near else None

    def _way_back(self, u: Unit) -> str | None:
        """EGC-9.10: over no sea, or over one controlled by the empire."""
        over = not u.crossed or (len(u.crossed) == 1 and u.crossed[0] in self.w.controls(u.seat))
        return u.home if over and not self.w.foreign(u.seat, u.home) else None

    def _report(self, before: tuple[int, int], significant: bool, goes: dict[str, str | None]) -> None:
        """EGC-9.12: to each empire in it, and to nobody else."""
        a, d = self.attacker, self.defender
        readers = {a.seat, d.seat, *(u.seat for u in self.supported.values())} - {NOBODY}
        for seat in sorted(readers):
            fact = CombatFought(
                self.w.step,
                seat,
                territory=self.territory,
                attacker=a.id,
                defender=d.id,
                attacking=empire_of(a.seat),
                defending=NEUTRAL if d.seat == NOBODY else empire_of(d.seat),
                before=before,
                losses=(sum(r[4] for r in self.rounds), sum(r[5] for r in self.rounds)),
                supporters=[(u.id, u.divisions, u.withdrawn) for u in self.supported.values()],
                fort=self.fort,
                landing=bool(self.landing),
                significant=significant,
                winner=self.winner.id if self.winner else None,
                winning=self._winning(),
                goes=list(goes.items()),
                morale=(a.morale, d.morale),
                rounds=self.rounds,
            )
            self.w.tell_seat(fact)

    def _winning(self) -> str | None:
        if self.winner is None:
            return None
        return NEUTRAL if self.winner.seat == NOBODY else empire_of(self.winner.seat)


def encirclement(places: int) -> int:
    """EGC-9.7: percent for supporters in this number of territories."""
    return min(COMBAT["encirclement_max"], COMBAT["encirclement_step"] * max(0, places - 1))


def _significant(a: int, d: int) -> bool:
    """EGC-9.10."""
    return min(a, d) >= COMBAT["significant_min"] and COMBAT["significant_ratio"] * min(a, d) >= max(a, d)


def share(loss: int, weights: list[int], divisions: list[int]) -> list[int]:
    """EGC-9.8: losses by weight, and the remainder one by one, going round."""
    total = sum(weights)
    shares = [min(n, loss * weight // total) for n, weight in zip(divisions, weights, strict=True)]
    at = 0
    while sum(shares) < loss:
        if shares[at] < divisions[at]:
            shares[at] += 1
        at = (at + 1) % len(shares)
    return shares
