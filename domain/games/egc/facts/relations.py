"""P12 to P15: relations, wars, straits and ports, technology, diplomacy points, public presence of armies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from domain.games.common.seats import replace_at
from domain.games.egc.facts.base import Invested, News, Reported, Step
from domain.games.egc.state import PAIR_KEYS, Egc, Investment, Proposal
from domain.kernel.rules.flow import assign
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, declared_classes
from domain.types import Seat

Cause = Literal["war_begins", "improved", "separate_peace", "degraded", "upkeep_failed"]


class RelationChanged(News, frozen=True):
    """EGC-14.5, EGC-14.6: a new level between two empires; `peace_turn` if a war has ended."""

    seat: Seat
    target: Seat
    level: str
    why: Cause
    peace_turn: Maybe[Count] = UNSET

    def change(self, s: Egc) -> Egc:
        pair = PAIR_KEYS[self.seat, self.target]
        peace_turn = s.peace_turn if self.peace_turn is UNSET else {**s.peace_turn, pair: self.peace_turn}
        return assign(s, relations={**s.relations, pair: self.level}, peace_turn=peace_turn)


def _at_war(s: Egc, a: Seat, b: Seat) -> Egc:
    """EGC-14.6: war is imminent; casus belli between the new enemies vanish."""
    gone = (f"{a}:{b}:", f"{b}:{a}:")
    casus_belli = {k: v for k, v in s.casus_belli.items() if not k.startswith(gone)}
    return assign(s, relations={**s.relations, PAIR_KEYS[a, b]: "imminent_war"}, casus_belli=casus_belli)


class WarDeclared(News, frozen=True):
    """EGC-14.6: an empire declares war on another."""

    seat: Seat
    target: Seat

    def change(self, s: Egc) -> Egc:
        return _at_war(s, self.seat, self.target)


class WarJoined(News, frozen=True):
    """EGC-14.6: an empire is drawn into the war of its ally, attacked by the target."""

    seat: Seat
    target: Seat
    ally: Seat

    def change(self, s: Egc) -> Egc:
        return _at_war(s, self.seat, self.target)


class ActionCancelled(Reported, frozen=True):
    """EGC-14.4: an action, or an answer, counts for nothing; its price is back."""

    target: Seat
    action: str
    refund: Count
    diplomacy: Count

    def evolve(self, s: Egc) -> Egc:
        empire = assign(s.empires[self.seat], diplomacy=self.diplomacy)
        return assign(s, empires=replace_at(s.empires, self.seat, empire), reports=self.extended_reports(s))


class ProposalMade(Reported, frozen=True):
    """EGC-14.8: an improvement awaits an answer; for each of the two."""

    proposal: str
    sender: Seat
    target: Seat
    action: str

    def evolve(self, s: Egc) -> Egc:
        new = Proposal(self.sender, self.target, self.action)
        return assign(s, proposals={**s.proposals, self.proposal: new}, reports=self.extended_reports(s))


class ProposalAnswered(Reported, frozen=True):
    """EGC-14.5: an improvement is accepted or refused; for each of the two."""

    proposal: str
    sender: Seat
    target: Seat
    action: str
    accepted: bool

    def evolve(self, s: Egc) -> Egc:
        proposals = {k: p for k, p in s.proposals.items() if k != self.proposal}
        return assign(s, proposals=proposals, reports=self.extended_reports(s))


class CasusBelliGained(Reported, frozen=True):
    """EGC-14.7: `holder` may use it up to turn `expires`; for each of the two."""

    holder: Seat
    against: Seat
    kind: str
    expires: Count

    def evolve(self, s: Egc) -> Egc:
        key = f"{self.holder}:{self.against}:{self.kind}"
        return assign(s, casus_belli={**s.casus_belli, key: self.expires}, reports=self.extended_reports(s))


class StraitSet(News, frozen=True):
    """EGC-14.8: a strait is closed to an empire, or open again."""

    strait: str
    seat: Seat
    target: Seat
    closed: bool

    def change(self, s: Egc) -> Egc:
        key = f"{self.strait}:{self.target}"
        kept = {k: by for k, by in s.closed.items() if k != key}
        return assign(s, closed={**kept, key: self.seat} if self.closed else kept)


class PortsSet(News, frozen=True):
    """EGC-14.8: ports are open to an empire, or closed again."""

    seat: Seat
    target: Seat
    open: bool

    def change(self, s: Egc) -> Egc:
        key = f"{self.seat}:{self.target}"
        kept = {k: v for k, v in s.open_ports.items() if k != key}
        return assign(s, open_ports={**kept, key: True} if self.open else kept)


class TechnologySettled(Reported, frozen=True):
    """EGC-13.2: points after decay and research, ranks, research still under way, matured points."""

    points: Mapping[str, Count]
    ranks: Mapping[str, Count]
    investments: Sequence[Invested]
    matured: Mapping[str, Count]

    def evolve(self, s: Egc) -> Egc:
        left = tuple(Investment(*i) for i in self.investments)
        empire = assign(s.empires[self.seat], points=self.points, ranks=self.ranks, investments=left)
        return assign(s, empires=replace_at(s.empires, self.seat, empire), reports=self.extended_reports(s))


class DiplomacySettled(Reported, frozen=True):
    """EGC-14.10: points before, earned, for territories lost and taken, kept up, and left."""

    diplomacy: Count
    before: Count
    income: Count
    lost: Count
    taken: Count
    upkeep: Count

    def evolve(self, s: Egc) -> Egc:
        empire = assign(s.empires[self.seat], diplomacy=self.diplomacy)
        return assign(s, empires=replace_at(s.empires, self.seat, empire), reports=self.extended_reports(s))


class MannedSet(Fact[Egc], frozen=True):
    """EGC-6.1: territory -> empire of the armies there, only if changed; null: none."""

    manned: Mapping[str, str | None]
    step: Maybe[Step] = UNSET

    def evolve(self, s: Egc) -> Egc:
        return assign(s, manned={t: who for t, who in {**s.manned, **self.manned}.items() if who is not None})


FACTS = declared_classes(__name__, Fact)
