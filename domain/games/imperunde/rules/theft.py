"""IMP-9.4.16: the continuation of `unmask_spies`."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.imperunde import frames
from domain.games.imperunde.facts.cards import CardStolen, HandShown, TheftDone
from domain.games.imperunde.moves import ChooseStolenCard
from domain.games.imperunde.rules.diplomacy import shuffle
from domain.games.imperunde.state import D, ImpeRunde
from domain.kernel.records.audience import ALL, Audience
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def show_hand(d: D, seat: Seat, target: Seat, reveal: bool) -> None:
    """IMP-9.4.16: the player, or with `reveal` everybody, sees the hand."""
    to: Audience = ALL if reveal else (seat,)
    d.add(HandShown(seat, target, d.state.hands[target]), to)
    d.ask(frames.Theft(target, reveal), seat)


def check_choose_stolen_card(s: ImpeRunde, move: ChooseStolenCard, target: Seat) -> None:
    """IMP-9.4.16: a card of the shown hand."""
    card = move.card
    require(card is None or card in s.hands[target], "card_not_in_hand", "IMP-9.4.16", card=card)


def do_choose_stolen_card(d: D, frame: Frame, seat: Seat, move: ChooseStolenCard) -> None:
    """IMP-9.4.16: it goes into the draw pile; `null` leaves the choice to chance (IMP-11.9)."""
    theft = frame.context(frames.Theft)
    target, card = theft.target, move.card
    check_choose_stolen_card(d.state, move, target)
    to: Audience = ALL if theft.reveal else (seat, target)
    if card is None:
        card = d.draws.pick("pick.card", list(d.state.hands[target]), to, always=True)
    d.add(CardStolen(seat, target, card), to)
    d.add(TheftDone(seat, target, d.state.nations[target].cards - 1))
    shuffle(d, [*d.state.deck, card])
    d.mark_answered(seat, end=True)
