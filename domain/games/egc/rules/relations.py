"""EGC-14.2 to EGC-14.8, P12: relations, proposals, wars, casus belli, straits and ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from domain.games.egc.data import DIPLOMACY, LADDER, PAIRS, SEAT, SEATS, STRAITS
from domain.games.egc.facts.relations import (
    ActionCancelled,
    CasusBelliGained,
    Cause,
    PortsSet,
    ProposalAnswered,
    ProposalMade,
    RelationChanged,
    StraitSet,
    WarDeclared,
    WarJoined,
)
from domain.games.egc.moves import AnswerProposal, RelationAction, SetPorts, SetStraits
from domain.games.egc.rules.orders_diplomacy import action_cost, answer_cost
from domain.games.egc.rules.work import Resolution
from domain.games.egc.state import ELIMINATED, ENEMIES, HOSTILE, PAIR_KEYS, Proposal
from domain.types import Seat

IMPROVING = ("propose", "incite")
DEGRADED = {"alliance": "nap", "mpa": "nap", "nap": "peace", "peace": "rupture", "war": "total_war"}
"""EGC-14.5 (d): level -> level after a degradation; a rupture becomes a war by declaration."""


@dataclass
class Action:
    """A relation action of the turn, with its cost."""

    seat: Seat
    target: Seat
    action: str
    stake: int
    paid: int


@dataclass
class Talks:
    """Interim results of P12."""

    retained: list[Action] = field(default_factory=list)
    mutual: list[tuple[Seat, Seat]] = field(default_factory=list)
    declared: list[tuple[Seat, Seat]] = field(default_factory=list)


def relations(w: Resolution) -> None:
    """Resolve P12 in its order, (a) to (i)."""
    w.alliances = [pair for pair in PAIRS if w.s.allied(*pair)]
    started = [pair for pair in PAIRS if w.s.relation(*pair) == "imminent_war"]
    talks = Talks()
    actions = list(_actions(w))
    for a, b in started:
        w.tell(RelationChanged(w.step, a, b, "war", "war_begins"))
    _retain(w, talks, actions)
    _improve(w, talks)
    _degrade(w, talks)
    _declare(w, talks)
    _incidents(w)
    _permissions(w)
    _propose(w, talks)


# --- (b) priority --------------------------------------------------------------------------------------------


def _actions(w: Resolution) -> Iterator[Action]:
    """Return the actions of the turn; the price is the one paid, of the start of the turn."""
    for seat, order in w.orders_of(RelationAction):
        target, stake = SEAT[order.target], order.stake or 0
        paid = action_cost(w.s.relation(seat, target), order.action) + stake
        yield Action(seat, target, order.action, stake, paid)


def _void(w: Resolution, *seats: Seat) -> bool:
    """EGC-14.4: whether one of them was eliminated."""
    return any(w.s.status[seat] == ELIMINATED for seat in seats)


def _retain(w: Resolution, talks: Talks, actions: list[Action]) -> None:
    """EGC-14.4 (b), pair by pair."""
    by_pair = {(a.seat, a.target): a for a in actions}
    for x, y in PAIRS:
        both = [by_pair[pair] for pair in ((x, y), (y, x)) if pair in by_pair]
        if _void(w, x, y):
            for action in both:
                _refund(w, action)
        elif len(both) == 2 and all(a.action in IMPROVING for a in both):
            talks.mutual.append((x, y))
        elif both:
            kept = _stronger(w, both)
            talks.retained.append(kept)
            for action in both:
                if action is not kept:
                    _refund(w, action)


def _stronger(w: Resolution, both: list[Action]) -> Action:
    """EGC-14.4: a declaration, then the larger stake, then the better diplomacy rank."""

    def weight(a: Action) -> tuple[bool, int, int]:
        declares = a.action == "declare_war_cb"
        return declares, 0 if declares else a.stake, -w.s.rank(a.seat, "diplomacy")

    return max(both, key=weight)


def _refund(w: Resolution, action: Action) -> None:
    _pay_back(w, action.seat, action.target, action.action, action.paid)


def _pay_back(w: Resolution, seat: Seat, target: Seat, what: str, paid: int) -> None:
    if w.s.status[seat] != ELIMINATED:
        points = w.s.empires[seat].diplomacy + paid
        w.tell_seat(ActionCancelled(w.step, seat, target, what, refund=paid, diplomacy=points))


# --- (c) improvements ----------------------------------------------------------------------------------------


def _improve(w: Resolution, talks: Talks) -> None:
    """EGC-14.5 (c): answers, mutual improvements, separate peaces."""
    before = {pair: w.s.relation(*pair) for pair in PAIRS}
    made: set[str] = set()
    for name, proposal in _awaiting(w):
        if _answer(w, name, proposal):
            _raise(w, proposal.sender, proposal.target, made)
    _void_answers(w)
    for a, b in talks.mutual:
        _raise(w, a, b, made)
    for a, b in PAIRS:
        if before[a, b] == "alliance" and w.s.allied(a, b):
            _separate_peace(w, a, b, before, made)


def _awaiting(w: Resolution) -> list[tuple[str, Proposal]]:
    return sorted(w.s.proposals.items(), key=lambda item: tuple(sorted((item[1].sender, item[1].target))))


def _answer(w: Resolution, name: str, proposal: Proposal) -> bool:
    """EGC-4.2, EGC-7.13: the filed answer, or the free one."""
    given = {o.proposal: o.accept for seat, o in w.orders_of(AnswerProposal) if seat == proposal.target}
    accepted = given.get(name, proposal.action == "incite")
    a, b = proposal.sender, proposal.target
    for reader in sorted((a, b)):
        w.tell_seat(ProposalAnswered(w.step, reader, name, a, b, proposal.action, accepted))
    return accepted


def _void_answers(w: Resolution) -> None:
    """EGC-14.4: answers to an eliminated empire are refunded."""
    for seat, order in w.orders_of(AnswerProposal):
        proposal = w.begun.proposals[order.proposal]
        if _void(w, proposal.sender):
            paid = answer_cost(proposal.action, order.accept)
            _pay_back(w, seat, proposal.sender, "answer_proposal", paid)


def better_level(level: str) -> str | None:
    """Return the next better level of a relation, or None if it cannot be improved now."""
    if level in ("alliance", "imminent_war"):
        return None
    return "peace" if level in HOSTILE else LADDER[LADDER.index(level) + 1]


def _raise(w: Resolution, a: Seat, b: Seat, made: set[str]) -> None:
    better = better_level(w.s.relation(a, b))
    if better is None:
        return
    if w.s.hostile(a, b):
        made.add(PAIR_KEYS[a, b])
        w.tell(RelationChanged(w.step, a, b, better, "improved", w.turn + 1))
    else:
        w.tell(RelationChanged(w.step, a, b, better, "improved"))


def _separate_peace(w: Resolution, x: Seat, y: Seat, before: dict[tuple[Seat, Seat], str], made: set[str]) -> None:
    """EGC-14.5: an ally with a peace of its own has broken the alliance."""

    def both_fought(z: Seat) -> bool:
        return all(before[min(e, z), max(e, z)] in HOSTILE for e in (x, y))

    common = [z for z in SEATS if z not in (x, y) and both_fought(z)]
    for breaker, other in ((x, y), (y, x)):
        if any(PAIR_KEYS[breaker, z] in made and PAIR_KEYS[other, z] not in made for z in common):
            break_alliance(w, breaker, other, "separate_peace")
            return


def break_alliance(w: Resolution, breaker: Seat, other: Seat, why: Cause) -> None:
    """Set the relation to a non-aggression pact; the former ally gets a casus belli."""
    w.tell(RelationChanged(w.step, breaker, other, "nap", why))
    casus_belli(w, other, breaker, "alliance_broken")


# --- (d) degradations, (e) declarations ---------------------------------------------------------------------


def _degrade(w: Resolution, talks: Talks) -> None:
    """EGC-14.5 (d)."""
    for action in talks.retained:
        a, b = action.seat, action.target
        if action.action == "declare_war_cb":
            talks.declared.append((a, b))
        elif action.action == "degrade":
            level = w.s.relation(a, b)
            if level == "rupture":
                talks.declared.append((a, b))
            elif level == "alliance":
                break_alliance(w, a, b, "degraded")
            elif level in DEGRADED:
                w.tell(RelationChanged(w.step, a, b, DEGRADED[level], "degraded"))


def _declare(w: Resolution, talks: Talks) -> None:
    """EGC-14.6 (e): by the diplomacy ranks of declarer and target."""

    def turn(pair: tuple[Seat, Seat]) -> tuple[int, int]:
        return w.s.rank(pair[0], "diplomacy"), w.s.rank(pair[1], "diplomacy")

    for a, b in sorted(talks.declared, key=turn):
        if w.s.relation(a, b) not in ENEMIES:
            _war(w, a, b)


def _war(w: Resolution, a: Seat, b: Seat) -> None:
    """EGC-14.6.1 to EGC-14.6.5."""
    w.tell(WarDeclared(w.step, a, b))
    drawn_in = [c for c in SEATS if c not in (a, b) and w.s.allied(c, b) and w.s.relation(c, a) not in ENEMIES]
    for c in drawn_in:
        w.tell(WarJoined(w.step, c, a, ally=b))
    for x in SEATS:
        if x not in (a, b) and w.s.relation(x, b) == "mpa":
            casus_belli(w, x, a, "mpa_attacked")
    for x, y in [(a, b), *((c, a) for c in drawn_in)]:
        for mine, other in ((x, y), (y, x)):
            for z in SEATS:
                if z not in (x, y) and w.s.allied(z, mine):
                    casus_belli(w, z, other, "ally_at_war")


def casus_belli(w: Resolution, holder: Seat, against: Seat, kind: str) -> None:
    """EGC-14.7: known to the two; none between enemies, or for an eliminated empire."""
    if w.s.relation(holder, against) in ENEMIES or _void(w, holder, against):
        return
    expires = w.turn + DIPLOMACY["casus_belli_turns"]
    for reader in sorted((holder, against)):
        w.tell_seat(CasusBelliGained(w.step, reader, holder, against, kind, expires))


# --- (f) to (i) ----------------------------------------------------------------------------------------------


def _incidents(w: Resolution) -> None:
    """EGC-14.8 (f)."""
    for territory in sorted(w.attackers):
        owner, old = w.s.lands[territory].owner, w.begun.lands[territory].owner
        taken = w.s.lands[territory].conquered_turn == w.turn
        for holder in sorted(w.attackers[territory]):
            if taken and owner is not None and holder not in (owner, old):
                casus_belli(w, holder, owner, "colonial_incident")
    for territory in sorted(w.attackers):
        for holder in _guardians(w, territory):
            for culprit in sorted(w.attackers[territory]):
                if culprit != holder:
                    casus_belli(w, holder, culprit, "protected_attacked")


def _guardians(w: Resolution, territory: str) -> list[Seat]:
    """Return the seats with a protection or protectorate in force at the start of the turn."""
    land = w.begun.lands[territory]
    found = {int(seat) for seat, since in land.protections.items() if w.s.in_force(since)}
    if land.protectorate and w.s.in_force(land.protectorate.since):
        found.add(land.protectorate.seat)
    return sorted(found)


def _permissions(w: Resolution) -> None:
    """EGC-14.8 (g)."""
    for strait in STRAITS.values():
        owner = w.s.lands[strait.controller].owner
        for key in sorted(k for k in w.s.closed if k.split(":")[0] == strait.id):
            if w.s.closed[key] != owner:
                by, target = w.s.closed[key], int(key.split(":")[1])
                w.tell(StraitSet(w.step, strait.id, by, target, closed=False))
    for seat, order in w.orders_of(SetStraits):
        target, strait = SEAT[order.target], STRAITS[order.strait]
        if not _void(w, seat, target) and w.s.lands[strait.controller].owner == seat:
            w.tell(StraitSet(w.step, strait.id, seat, target, order.closed))
    for seat, ports in w.orders_of(SetPorts):
        target = SEAT[ports.target]
        if not _void(w, seat, target):
            w.tell(PortsSet(w.step, seat, target, ports.open))


def _propose(w: Resolution, talks: Talks) -> None:
    """EGC-14.8 (i): an improvement wanted by one side alone awaits an answer."""
    for action in talks.retained:
        a, b = action.seat, action.target
        if action.action in IMPROVING and w.s.relation(a, b) not in ("imminent_war", "alliance"):
            name = f"{w.turn}:{a}:{b}"
            for reader in sorted((a, b)):
                w.tell_seat(ProposalMade(w.step, reader, name, a, b, action.action))
