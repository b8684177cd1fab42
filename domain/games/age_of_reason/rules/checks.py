"""Checks shared by several moves. Each raises RuleError with the caller's rule number."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS
from domain.games.age_of_reason.rules.money import loan_for
from domain.games.age_of_reason.state import AgeOfReason
from domain.games.common.checks import is_legal, require
from domain.types import Seat

__all__ = [
    "check_hand",
    "check_ship",
    "is_legal",
    "need_attack",
    "need_funds",
    "need_principals_card",
    "need_reserve",
    "require",
]


def need_funds(s: AgeOfReason, seat: Seat, gold: int) -> None:
    """AOR-15.3: the payment is within the seat's means."""
    means = s.empires[seat].means
    require(gold <= means, "insufficient_funds", "AOR-15.3", means=means, needed=gold, loan=loan_for(s, seat, gold)[1])


def need_reserve(s: AgeOfReason, seat: Seat) -> None:
    """AOR-1.4: a token is in the seat's reserve."""
    require(s.reserve(seat) > 0, "no_control_token", "AOR-1.4")


def need_attack(s: AgeOfReason) -> None:
    """AOR-8.2.6: an attack is left."""
    require(s.acting.attacks_made < s.acting.attacks_allowed, "no_attack_left", "AOR-8.2.6")


# --- cards (AOR-8.3) -------------------------------------------------------------------------------------------


def check_hand(s: AgeOfReason, seat: Seat, card: str) -> None:
    """AOR-8.3.5: the card is in the own hand."""
    require(card in s.hand(seat), "card_not_in_hand", "AOR-8.3.5", card=card)


def need_principals_card(card: str) -> None:
    """AOR-8.3.4: a principal never plays the Alliance card."""
    require(CARDS[card].kind != "alliance", "card_not_allowed", "AOR-8.3.5", cause="principal", card=card)


def check_ship(s: AgeOfReason, seat: Seat, card: str) -> None:
    """AOR-8.3.5: the card errors where a ship is needed: a ship card, or the Bluff with no ship card in hand."""
    check_hand(s, seat, card)
    need_principals_card(card)
    force = CARDS[card].kind == "force"
    require(not force or CARDS[card].ships > 0, "ship_card_required", "AOR-8.3.5", card=card)
    ships = any(CARDS[held].ships for held in s.hand(seat))
    require(force or not ships, "bluff_not_allowed", "AOR-8.3.5", card=card)
