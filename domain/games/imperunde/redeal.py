"""Deal anew the parts unknown to some viewers: the deck, other hands, private answers."""

from __future__ import annotations

from collections import Counter

from domain.games.imperunde.data import DECK
from domain.games.imperunde.facts.cards import AutoPassSet, DeckOrdered, HandDealt
from domain.games.imperunde.facts.money import BudgetSent
from domain.games.imperunde.player_view import sees_hand, theft_of
from domain.games.imperunde.state import WINDOWS, D, ImpeRunde
from domain.kernel.records.audience import TABLE
from domain.types import DIRECTOR, Seat, Viewer


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """Deal anew the deck, other hands, sealed budgets and standing passes unknown to these viewers."""
    if DIRECTOR in keep:
        return
    others = [seat for seat in d.state.everybody if seat not in keep]
    hidden = [seat for seat in others if not _is_shown(d.state, seat, keep)]
    for seat in sorted(set(others) - set(hidden)):
        d.add(HandDealt(seat, d.state.seen), (seat,))
    pool = d.draws.shuffle("redeal", _unknown_cards(d.state, hidden), TABLE)
    for seat in hidden:
        size = d.state.nations[seat].cards
        hand, pool = pool[:size], pool[size:]
        d.add(HandDealt(seat, hand), (seat,))
    d.add(DeckOrdered(pool), TABLE)
    for seat in others:
        _forget(d, seat)


def _unknown_cards(s: ImpeRunde, hidden: list[Seat]) -> list[str]:
    """Return the deck and hidden hands, of a state folded from fewer facts in the order of the data."""
    cards = [*s.deck, *(card for seat in hidden for card in s.hands[seat])]
    if len(cards) == s.pile + sum(s.nations[seat].cards for seat in hidden):
        return cards
    shown = [card for seat in s.everybody if seat not in hidden for card in s.hands[seat]]
    return list((Counter(DECK) - Counter([*s.discard, *shown])).elements())


def _is_shown(s: ImpeRunde, seat: Seat, keep: tuple[Viewer, ...]) -> bool:
    """Return whether one of the viewers is being shown this hand."""
    theft = theft_of(s)
    if theft is None or theft.target != seat:
        return False
    return theft.reveal or any(isinstance(v, int) and sees_hand(s, v) for v in keep)


def _forget(d: D, seat: Seat) -> None:
    """Reset the private answers of a seat."""
    if d.state.auto[seat]:
        d.add(AutoPassSet(seat, WINDOWS, "off"), (seat,))
    if str(seat) in d.state.budgets:
        d.add(BudgetSent(seat, 0, 0), (seat,))
    if d.state.frames and d.state.top.secret and seat in d.state.top.done:
        d.reopen(seat)
