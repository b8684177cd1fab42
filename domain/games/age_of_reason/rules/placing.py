"""AOR-7.4, AOR-11: tokens on the action board, and their immediate effects."""

from __future__ import annotations

from collections.abc import Callable

from domain.games.age_of_reason.data import CARDS, CONSTANTS, FINANCE_GOLD, REFORM, SPACES, Card
from domain.games.age_of_reason.facts.cards import CardTakenBack, DiscardCounted
from domain.games.age_of_reason.facts.economy import UnrestRemoved
from domain.games.age_of_reason.facts.pieces import SpacePlaced
from domain.games.age_of_reason.moves import Place
from domain.games.age_of_reason.rules import money, turns
from domain.games.age_of_reason.rules.checks import need_funds, need_reserve, require
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, or_none
from domain.types import Seat

TAKES_BACK: dict[str, Callable[[Card], bool]] = {
    "militia": lambda card: card.soldiers_alone,
    "pressgangs": lambda card: card.ships > 0,
}
"""AOR-11.1.4: space -> test for the cards it takes back from the discard."""


def eligible(s: AgeOfReason, seat: Seat, space: str) -> list[str]:
    """AOR-11.1.4: cards of the own discard eligible for a space."""
    fits = TAKES_BACK[space]
    return [card for card in s.discards[seat] if fits(CARDS[card])]


def check_space(s: AgeOfReason, seat: Seat, space: str) -> None:
    """AOR-7.4.6: the errors of `place` common to all spaces, in this order."""
    fresh = not s.acting.placed and not s.acting.attacks_made
    require(fresh, "already_placed", "AOR-7.4.6")
    require(s.exists(space), "unknown_space", "AOR-7.4.6", space=space)
    free = len(s.spaces.get(space, ())) < s.places(space)
    require(free, "space_occupied", "AOR-7.4.6", space=space)
    need_reserve(s, seat)
    need_funds(s, seat, SPACES[space].cost)


def check_place(s: AgeOfReason, seat: Seat, move: Place) -> None:
    """AOR-7.4.6: the errors of `place`, in this order."""
    check_space(s, seat, move.space)
    if move.space in TAKES_BACK:
        _check_card(s, seat, move.space, or_none(move.card))
    if SPACES[move.space].names_region:
        region = or_none(move.region)
        require(
            region in SPACES[move.space].regions,
            "invalid_region",
            "AOR-7.4.6",
            cause="space",
            region=region,
            space=move.space,
        )


def _check_card(s: AgeOfReason, seat: Seat, space: str, card: str | None) -> None:
    fitting = eligible(s, seat, space)
    if card is None:
        return require(not fitting, "card_required", "AOR-7.4.6", cause="space", space=space)
    require(card in s.discards[seat], "card_not_in_discard", "AOR-7.4.6", card=card)
    return require(card in fitting, "card_not_eligible", "AOR-7.4.6", card=card)


def do_place(d: D, frame: Frame, seat: Seat, move: Place) -> None:
    """AOR-7.4.3: pay the cost, place the token, apply its immediate effect."""
    check_place(d.state, seat, move)
    money.pay(d, seat, SPACES[move.space].cost, move.space)
    _place_token(d, seat, move)
    if apply := AT_ONCE.get(SPACES[move.space].effect):
        apply(d, seat, move)
    turns.act(d, frame, seat)


def _place_token(d: D, seat: Seat, move: Place) -> None:
    extended = move.space == "ministry_of_war" or d.state.on_board(seat, "ministry_of_war")
    more: int = CONSTANTS["attacks_per_phase_with_ministry"]
    attacks = more if extended else d.state.acting.attacks_allowed
    d.add(SpacePlaced(seat, move.space, attacks, move.region or UNSET))


def _finance(d: D, seat: Seat, move: Place) -> None:
    """AOR-11.1.1: five gold."""
    money.receive(d, seat, FINANCE_GOLD, move.space)


def _reform(d: D, seat: Seat, move: Place) -> None:
    """AOR-11.1.6: two points of unrest less, not below 0."""
    before = d.state.empires[seat].unrest
    total = max(0, before - REFORM)
    if total < before:
        d.add(UnrestRemoved(seat, before - total, total))


def _take_back(d: D, seat: Seat, move: Place) -> None:
    """AOR-11.1.4: the card named by its owner goes to the hand unseen; others see the count."""
    d.barrier()
    if card := or_none(move.card):
        d.add(CardTakenBack(seat, card), (seat,))
        d.add(DiscardCounted(seat, d.state.empires[seat].discard_size - 1))


def _trade(d: D, seat: Seat, move: Place) -> None:
    """AOR-11.5: two gold for each own token in the region."""
    region = or_none(move.region) or SPACES[move.space].regions[0]
    tokens = d.state.tokens_of(seat).get(region, 0)
    money.receive(d, seat, CONSTANTS["trade_gold_per_token"] * tokens, move.space)


AT_ONCE: dict[str, Callable[[D, Seat, Place], None]] = {
    "immediate_gold": _finance,
    "unrest_reduction": _reform,
    "recover_soldier_card": _take_back,
    "recover_ship_card": _take_back,
    "trade": _trade,
}
"""Effect of a space -> function for its immediate part."""
