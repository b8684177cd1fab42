"""AOR-8.1: converting an Aktion marker."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS, CONSTANTS, MARKERS
from domain.games.age_of_reason.facts.cards import CardDiscarded, DiscardCounted
from domain.games.age_of_reason.facts.pieces import MarkerConverted, TokenPlaced
from domain.games.age_of_reason.moves import Convert
from domain.games.age_of_reason.rules import money, turns
from domain.games.age_of_reason.rules.checks import check_ship, need_attack, need_funds, need_reserve, require
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.kernel.rules.flow import Frame
from domain.types import Seat

COST: int = CONSTANTS["convert_cost_gold"]


def check_marker(s: AgeOfReason, seat: Seat, marker: str) -> None:
    """AOR-8.1.5: the errors of `convert` before those of the card, in this order."""
    need_attack(s)
    require(s.lies(marker), "unknown_marker", "AOR-8.1.5", cause="map", marker=marker)
    require(MARKERS[marker].kind == "aktion", "wrong_marker_kind", "AOR-8.1.5", marker=marker)
    need_reserve(s, seat)


def check_convert(s: AgeOfReason, seat: Seat, move: Convert) -> None:
    """AOR-8.1.5: the errors of `convert`, in this order."""
    check_marker(s, seat, move.marker)
    check_ship(s, seat, move.card)
    need_funds(s, seat, COST)


def do_convert(d: D, frame: Frame, seat: Seat, move: Convert) -> None:
    """AOR-8.1.3, AOR-8.1.4: two gold, an own token for the marker; a ship card is discarded and not shown."""
    check_convert(d.state, seat, move)
    d.barrier()
    region = MARKERS[move.marker].region
    d.add(MarkerConverted(seat, move.marker, region, d.state.acting.attacks_made + 1))
    money.pay(d, seat, COST, "convert")
    d.add(TokenPlaced(seat, region))
    if CARDS[move.card].kind == "force":
        d.add(CardDiscarded(seat, move.card), (seat,))
        d.add(DiscardCounted(seat, d.state.empires[seat].discard_size + 1))
    turns.act(d, frame, seat)
