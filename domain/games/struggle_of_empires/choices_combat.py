"""Move builder for combats: the declaration of an attack, and the answers to it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import SCORING
from domain.games.struggle_of_empires.moves import (
    AssignAllianceTiles,
    ChooseLoss,
    FightingWithdrawal,
    NavalChoice,
    RequestSupport,
    Reserve,
    Support,
    UseBlockade,
)
from domain.games.struggle_of_empires.rules.checks import is_legal
from domain.games.struggle_of_empires.rules.combat import declare, losses, support
from domain.games.struggle_of_empires.rules.combat.steps import side_of
from domain.games.struggle_of_empires.rules.money import after_paying
from domain.games.struggle_of_empires.state import Struggle
from domain.games.struggle_of_empires.value_objects import Declaration, LossChoice, OfferMade, Target
from domain.kernel.rules.choices import Builder, Choice, one, some, span
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET, Maybe, doc
from domain.types import Json, Seat

T = TypeVar("T")

Asks = Generator[Choice, Json, T]
"""Asks for a part of a move and returns it."""


# --- attacks and requests -------------------------------------------------------------------------------------


def targets(s: Struggle, seat: Seat) -> dict[str, list[Target]]:
    """Return region -> targets of the seat there."""

    def fit(region: str) -> Iterator[Target]:
        players = [Target("player", seat=x) for x in s.everybody]
        neutral = [Target("neutral", marker=m) for m in s.markers.get(region, ())]
        tiles_there = [Target(tile) for tile, held in s.captives() if held.region == region]
        for target in (*players, *neutral, *tiles_there):
            if is_legal(declare.check_target, s, seat, region, target):
                yield target

    def find() -> dict[str, list[Target]]:
        found = {r: list(fit(r)) for r in s.empires[seat].units if r in SCORING}
        return {region: fitting for region, fitting in found.items() if fitting}

    return memo(s, f"targets {seat}", find)


def declaration(s: Struggle, seat: Seat) -> Asks[Declaration]:
    """SOE-8.1.1: an attack, by an action or by War Office."""
    known = targets(s, seat)
    region = yield one("region", known)
    shown = [doc(t) for t in known[region]]
    target = known[region][shown.index((yield one("target", shown)))]
    surprise: Maybe[bool] = UNSET
    if target.kind == "player" and s.empires[seat].owned("surprise_attack"):
        surprise = yield one("surprise", [False, True])
    eligible = support.eligible_allies(s, seat, region, target.kind)
    gold = after_paying(s.empires[seat], declare.COST)
    ask, offers = yield from _request(s, eligible, gold, region, target.kind)
    return Declaration(region, target, surprise, ask, offers)


Request = tuple[Maybe[list[Seat]], Maybe[list[OfferMade]]]
"""Allies asked for support, and the offers to them."""


def _request(s: Struggle, eligible: Sequence[Seat], gold: int, region: str, kind: str) -> Asks[Request]:
    """SOE-8.3: ask for the allies, and for offers item by item until null."""
    if not eligible:
        return UNSET, UNSET
    asked = yield some("ask", eligible, 0, len(eligible))
    offers: list[OfferMade] = []
    left = [x for x in eligible if x in asked]
    while left and gold:
        ally = yield one("offers", [None, *left])
        if ally is None:
            break
        offer = yield from _offer(s, ally, gold, region, kind)
        offers.append(offer)
        gold -= offer.gold
        left.remove(ally)
    return asked, offers or UNSET


def _offer(s: Struggle, ally: Seat, gold: int, region: str, kind: str) -> Asks[OfferMade]:
    armies, navies = support.can_commit(s, ally, region, kind)
    return OfferMade(
        ally,
        (yield span("gold", 1, gold)),
        (yield span("min_armies", 0, armies)),
        (yield span("min_navies", 0, navies)),
    )


# --- answers in combat --------------------------------------------------------------------------------------


def _support(s: Struggle, seat: Seat) -> Builder:
    most = s.top.context(frames.Support)
    armies = yield span("armies", 0, most.armies)
    return Support(armies, (yield span("navies", 0, most.navies)))


def _request_support(s: Struggle, seat: Seat) -> Builder:
    eligible, gold = s.top.context(frames.RequestSupport).eligible, s.empires[seat].gold
    ask, offers = yield from _request(s, eligible, gold, s.battle.region, "player")
    return RequestSupport(ask, offers)


def _naval_choice(s: Struggle, seat: Seat) -> Builder:
    return NavalChoice((yield one("fight", [False, True])))


def _assign(s: Struggle, seat: Seat) -> Builder:
    shown = s.top.context(frames.AssignAllianceTiles).tiles
    return AssignAllianceTiles((yield some("naval", shown, 0, len(shown))))


def _use_blockade(s: Struggle, seat: Seat) -> Builder:
    return UseBlockade((yield one("use", [False, True])))


def _reserve(s: Struggle, seat: Seat) -> Builder:
    return Reserve((yield one("use", [False, True])))


def _choose_loss(s: Struggle, seat: Seat) -> Builder:
    choices: losses.Options = []
    for loss in losses.open_items(s, side_of(s, seat)):
        pick = yield one("choices", map(doc, losses.options(s, loss, choices)))
        choices.append(LossChoice(pick["seat"], pick["unit"]))
    return ChooseLoss(choices)


def _fighting_withdrawal(s: Struggle, seat: Seat) -> Builder:
    if not (yield one("use", [False, True])):
        return FightingWithdrawal(False)
    return FightingWithdrawal(True, (yield one("save", s.top.context(frames.FightingWithdrawal).saves)))


BUILDERS: dict[str, Callable[[Struggle, Seat], Builder]] = {
    "support": _support,
    "request_support": _request_support,
    "naval_choice": _naval_choice,
    "assign_alliance_tiles": _assign,
    "use_blockade": _use_blockade,
    "reserve": _reserve,
    "choose_loss": _choose_loss,
    "fighting_withdrawal": _fighting_withdrawal,
}
