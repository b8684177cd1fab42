"""Treaties between players: what a ruleset lets them propose, and whether public facts kept or broke a promise.

A treaty binds nobody, and no rule of a game knows it. A ruleset declares a closed list of kinds with their fields,
and reads its public facts as deeds. The judge of a kind decides over deeds alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from domain.types import Doc, Json, Seat

FieldKind = Literal["seat", "region", "card", "amount", "turn"]

PromiseState = Literal["holds", "kept", "broken", "not_decidable"]
"""`holds`: kept so far. `not_decidable`: public facts do not tell."""

END = "end"
"""Deed of nobody: the game is closed."""

TURN = "turn"
"""Deed of nobody: the turn named by `amount` begins."""


@dataclass(frozen=True)
class TreatyField:
    """A field of a treaty."""

    kind: FieldKind
    among: Literal["", "parties", "others"] = ""
    """Seats of the conversation, or all but the writer and, for a letter, its other seats."""


class Deed(NamedTuple):
    """A deed of a seat, told by public facts."""

    kind: str
    by: Seat | None = None
    whom: Seat | None = None
    place: str = ""
    """Region, card or side."""
    amount: int = 0


class DatedDeed(NamedTuple):
    """A deed with the version of its record, and the turn in which it was done."""

    version: int
    turn: int
    deed: Deed


@dataclass(frozen=True)
class Promise:
    """A treaty agreed on by two seats."""

    by: Seat
    to: Seat
    values: Mapping[str, Json]

    @property
    def parties(self) -> tuple[Seat, Seat]:
        """Both seats."""
        return self.by, self.to

    def is_over(self, done: DatedDeed) -> bool:
        """Return whether the promise's time had passed at a deed."""
        return done.deed.kind == END or done.turn > int(self.values.get("turn", done.turn))


class Verdict(NamedTuple):
    """State of a promise, and the version of the record behind it."""

    state: PromiseState
    version: int | None = None


Judge = Callable[[Promise, Iterable[DatedDeed]], Verdict]
"""(promise, deeds since it was made) -> verdict."""

UNDECIDED = Verdict("not_decidable")


@dataclass(frozen=True)
class TreatyKind:
    """One kind of treaty; its sentence is the text `treaty.<name>`."""

    name: str
    fields: Mapping[str, TreatyField] = field(default_factory=dict)
    judge: Judge | None = None
    """None: no public fact decides it."""


DeedReader = Callable[[Doc, dict[str, Json]], Deed | None]
"""(public fact, memory of the game so far, and it may be changed) -> deed, or None."""


def tells(kind: str, by: str = "", whom: str = "", place: str = "", amount: str = "", **condition: Json) -> DeedReader:
    """Return a reader of facts with a deed in their members; None without the condition or a seat in `by`."""

    def tell_deed(fact: Doc, memory: dict[str, Json]) -> Deed | None:
        doer, target = fact.get(by), fact.get(whom)
        if any(fact.get(name) != value for name, value in condition.items()) or (by and not isinstance(doer, int)):
            return None
        seat = target if isinstance(target, int) else None
        return Deed(kind, doer, seat, fact.get(place, ""), fact.get(amount, 0))

    return tell_deed


@dataclass(frozen=True)
class TreatyRules:
    """Treaties at the tables of a ruleset."""

    kinds: Sequence[TreatyKind] = ()
    regions: Sequence[str] = ()
    cards: Sequence[str] = ()
    most: int = 99
    """Greatest amount."""
    turns: int = 0
    """Number of the last turn of the game; 0: unknown."""
    deeds: Mapping[str, DeedReader] = field(default_factory=dict)
    """Public fact -> its reader."""

    def find(self, name: str) -> TreatyKind | None:
        """Return a kind by its name, or None."""
        return next((kind for kind in self.kinds if kind.name == name), None)


NO_TREATIES = TreatyRules()


def date_deeds(
    rules: TreatyRules, facts: Iterable[tuple[int, Doc]], memory: dict[str, Json], turn: int = 0
) -> Iterator[DatedDeed]:
    """Yield the deeds told by public facts of these versions."""
    for version, fact in facts:
        reader = rules.deeds.get(fact["t"])
        if deed := reader and reader(fact, memory):
            turn = deed.amount if deed.kind == TURN else turn
            yield DatedDeed(version, turn, deed)


# --- judges --------------------------------------------------------------------------------------------------------


def refrain(is_breach: Callable[[Promise, Deed], bool]) -> Judge:
    """Return the judge of a promise to leave something undone: kept once its time has passed."""

    def judge(promise: Promise, deeds: Iterable[DatedDeed]) -> Verdict:
        for done in deeds:
            if promise.is_over(done):
                return Verdict("kept", done.version)
            if is_breach(promise, done.deed):
                return Verdict("broken", done.version)
        return Verdict("holds")

    return judge


def perform(is_done: Callable[[Promise, Sequence[Deed]], bool]) -> Judge:
    """Return the judge of a promise to do something: broken once its time has passed; undecided if the game ends."""

    def judge(promise: Promise, deeds: Iterable[DatedDeed]) -> Verdict:
        so_far: list[Deed] = []
        for done in deeds:
            if done.deed.kind == END:
                return UNDECIDED
            if promise.is_over(done):
                return Verdict("broken", done.version)
            so_far.append(done.deed)
            if is_done(promise, so_far):
                return Verdict("kept", done.version)
        return Verdict("holds")

    return judge


def _attacks_the_other(promise: Promise, deed: Deed) -> bool:
    return deed.kind == "attacked" and {deed.by, deed.whom} == {*promise.parties}


def _comes_in(promise: Promise, deed: Deed) -> bool:
    who = promise.values.get("who", promise.to)
    return deed.kind in ("entered", "attacked") and deed.by == who and deed.place == promise.values["region"]


def _bids_more(promise: Promise, deed: Deed) -> bool:
    return deed.kind == "bid" and deed.by in promise.parties and deed.amount > promise.values["amount"]


def _plays_card(promise: Promise, deed: Deed) -> bool:
    return deed.kind == "played" and deed.by == promise.values["who"] and deed.place == promise.values["card"]


def _both_attacked(promise: Promise, deeds: Sequence[Deed]) -> bool:
    target = promise.values["target"]
    attackers = {deed.by for deed in deeds if deed.kind == "attacked" and deed.whom == target}
    return {*promise.parties} <= attackers


def _has_given(promise: Promise, deeds: Sequence[Deed]) -> bool:
    hands = promise.values["who"], promise.values["to"]
    given = sum(deed.amount for deed in deeds if deed.kind == "gave" and (deed.by, deed.whom) == hands)
    return given >= int(promise.values["amount"])


def same_side(promise: Promise, deeds: Iterable[DatedDeed]) -> Verdict:
    """Judge a promise to be on one side in a turn, by the sides taken in it."""
    sides: dict[Seat | None, str] = {}
    for done in deeds:
        if promise.is_over(done):
            break
        if done.deed.kind == "sided" and done.deed.by in promise.parties and done.turn == promise.values["turn"]:
            sides[done.deed.by] = done.deed.place
            if len(sides) == len(promise.parties):
                return Verdict("kept" if len({*sides.values()}) == 1 else "broken", done.version)
    else:
        return Verdict("holds")
    return UNDECIDED


def give_to_other(promise: Promise, deeds: Sequence[Deed]) -> bool:
    """Return whether the region of a promise was given."""
    hands = promise.values["who"], promise.values["to"], promise.values["region"]
    return any(deed.kind == "handed" and (deed.by, deed.whom, deed.place) == hands for deed in deeds)


# --- general kinds -------------------------------------------------------------------------------------------------

PARTY = TreatyField("seat", "parties")
OTHER = TreatyField("seat", "others")
REGION, CARD, AMOUNT, UNTIL = TreatyField("region"), TreatyField("card"), TreatyField("amount"), TreatyField("turn")

PEACE = TreatyKind("peace", judge=refrain(_attacks_the_other))
TRUCE = TreatyKind("truce_until", {"turn": UNTIL}, refrain(_attacks_the_other))
KEEP_OUT = TreatyKind("keep_out_of", {"who": PARTY, "region": REGION, "turn": UNTIL}, refrain(_comes_in))
ATTACK = TreatyKind("attack_together", {"target": OTHER, "turn": UNTIL}, perform(_both_attacked))
LEAVE = TreatyKind("leave_me", {"region": REGION, "turn": UNTIL}, refrain(_comes_in))
GIVE = TreatyKind("give", {"who": PARTY, "to": PARTY, "amount": AMOUNT, "turn": UNTIL}, perform(_has_given))
GIVE_UNSEEN = TreatyKind("give", {"who": PARTY, "to": PARTY, "amount": AMOUNT, "turn": UNTIL})
"""In games with secret gifts."""
BID_LIMIT = TreatyKind("bid_limit", {"amount": AMOUNT, "turn": UNTIL}, refrain(_bids_more))
SHARE = TreatyKind("share_information", {"turn": UNTIL})
HOLD_CARD = TreatyKind("hold_card", {"who": PARTY, "card": CARD, "turn": UNTIL}, refrain(_plays_card))
