"""SOE-8.3: support by allies."""

from __future__ import annotations

from collections.abc import Sequence

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import REGIONS
from domain.games.struggle_of_empires.facts.combat import SupportAnswered, SupportRequested
from domain.games.struggle_of_empires.facts.economy import GoldGiven
from domain.games.struggle_of_empires.moves import RequestSupport, Support
from domain.games.struggle_of_empires.rules.checks import require
from domain.games.struggle_of_empires.rules.combat.steps import NOTHING, Next, Question, answer
from domain.games.struggle_of_empires.state import D, Offer, Side, Struggle
from domain.games.struggle_of_empires.value_objects import OfferMade
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, Maybe
from domain.types import Seat


def can_commit(s: Struggle, ally: Seat, region: str, kind: str) -> tuple[int, int]:
    """SOE-8.3.2: the numbers of armies and navies an ally could commit to a combat with this kind of target."""
    empire = s.empires[ally]
    armies = 0 if kind == "pirates" else empire.units_in(region, "army")
    at_sea = kind in ("player", "pirates")
    return armies, empire.units_in(REGIONS[region].zone, "navy") if at_sea else 0


def eligible_allies(s: Struggle, principal: Seat, region: str, kind: str) -> list[Seat]:
    """SOE-8.3.1: allies with a unit able to take part, in turn order after the principal."""
    return [x for x in s.after(principal) if s.allied(x, principal) and any(can_commit(s, x, region, kind))]


def check_ask(asked: Sequence[Seat], offers: Sequence[OfferMade], eligible: Sequence[Seat], rule: str) -> None:
    """SOE-8.1.2, point 8: the asked allies, and those offered gold."""
    offered = [o.seat for o in offers]
    figures = [n or 0 for o in offers for n in (o.gold, o.min_armies, o.min_navies)]
    known = set(asked) <= set(eligible) and set(offered) <= set(asked)
    once = len(set(asked)) == len(asked) and len(set(offered)) == len(offered)
    require(known and once and all(n >= 0 for n in figures), "invalid_ask", rule, eligible=list(eligible))


def check_offers(offers: Sequence[OfferMade], gold: int, rule: str) -> None:
    """SOE-8.3.3: no more is offered than is in hand."""
    offered = sum(o.gold for o in offers)
    require(offered <= gold, "offer_exceeds_gold", rule, gold=gold, offered=offered)


def asked_allies(s: Struggle, principal: Seat, ask: Maybe[Sequence[Seat]]) -> list[Seat]:
    """SOE-8.1.1, SOE-8.3.2: the asked allies, in turn order after the principal; all unless named."""
    kind = s.battle.defender.kind
    eligible = eligible_allies(s, principal, s.battle.region, kind)
    return [x for x in eligible if ask is UNSET or x in ask]


def step_support(d: D, side: Side, ally: Seat) -> Next:
    """SOE-8.3.2: ask an ally."""
    combat = d.state.battle
    armies, navies = can_commit(d.state, ally, combat.region, combat.defender.kind)
    offer = offer_for(d.state, side, ally)
    shown = frames.OfferShown(offer.gold, offer.min_armies, offer.min_navies) if offer else UNSET
    return Question(frames.Support(side, armies, navies, shown), ally)


def offer_for(s: Struggle, side: str, ally: Seat) -> Offer | None:
    """Return the gold offered to an ally by a principal."""
    return next((o for o in s.battle.party(side).offers if o.seat == ally), None)


def check_support(s: Struggle, seat: Seat, move: Support) -> None:
    """SOE-8.3.2: no more than can take part."""
    most = s.top.context(frames.Support)
    fits = move.armies <= most.armies and move.navies <= most.navies
    require(fits, "exceeds_available", "SOE-8.3.2", armies=most.armies, navies=most.navies)


def do_support(d: D, frame: Frame, seat: Seat, move: Support) -> None:
    """SOE-8.3.2, SOE-8.3.3: units for this combat, and the gold offered for them."""
    check_support(d.state, seat, move)
    side, armies, navies = frame.context(frames.Support).side, move.armies, move.navies
    d.add(SupportAnswered(seat, side, armies, navies))
    offer = offer_for(d.state, side, seat)
    if offer and armies + navies and armies >= offer.min_armies and navies >= offer.min_navies:
        _give(d, side, offer)
    answer(d, seat)


def _give(d: D, side: Side, offer: Offer) -> None:
    """SOE-8.3.3: the only transfer of gold from seat to seat."""
    giver = d.state.battle.party(side).principal
    left = d.state.empires[giver].gold - offer.gold
    have = d.state.empires[offer.seat].gold + offer.gold
    d.add(GoldGiven(side, giver, offer.seat, offer.gold, left=left, to_left=have))


def step_request(d: D) -> Next:
    """SOE-8.3.4: then the defender may ask his allies, unless he is surprised."""
    combat = d.state.battle
    if combat.surprise or combat.defender.seat is None:
        return NOTHING
    eligible = eligible_allies(d.state, combat.defender.seat, combat.region, "player")
    return Question(frames.RequestSupport(eligible), combat.defender.seat) if eligible else NOTHING


def check_request_support(s: Struggle, seat: Seat, move: RequestSupport) -> None:
    """SOE-8.3.4: the errors of `request_support`, in this order."""
    eligible, offers = s.top.context(frames.RequestSupport).eligible, move.offers or ()
    check_ask(eligible if move.ask is UNSET else move.ask, offers, eligible, "SOE-8.3.4")
    check_offers(offers, s.empires[seat].gold, "SOE-8.3.4")


def do_request_support(d: D, frame: Frame, seat: Seat, move: RequestSupport) -> None:
    """SOE-8.3.4: ask the defender's allies."""
    check_request_support(d.state, seat, move)
    asked = asked_allies(d.state, seat, move.ask)
    d.add(SupportRequested(seat, asked, move.offers or UNSET))
    answer(d, seat, *[["support", "defender", ally] for ally in asked])
