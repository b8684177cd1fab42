"""SE7-2.9, SE7-2.10: the draft of the first influence cards."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import CARDS, LETTERED, ROUNDS
from domain.games.seven_empires.facts.influence import CardDrafted
from domain.games.seven_empires.moves import DraftInfluence
from domain.games.seven_empires.rules.checks import known_empire
from domain.games.seven_empires.state import D, Seven
from domain.types import Seat


def start(d: D) -> None:
    """SE7-2.9: the first round."""
    ask_round(d, 1)


def ask_round(d: D, number: int) -> None:
    """SE7-2.9: odd rounds from P1 to PN, even rounds back."""
    order = d.state.by_position if number % 2 else d.state.by_position[::-1]
    ask(d, number, order)


def ask(d: D, number: int, remaining: list[Seat]) -> None:
    """Ask for the next pick of a round."""
    letter = ROUNDS[d.state.seats][number - 1] if d.state.terms.setup == "draft" else None
    d.ask(frames.Draft(letter, remaining, number), remaining[0])


def offered_card(s: Seven, empire: str, letter: str | None) -> str | None:
    """SE7-2.9: the card with the letter of the round; SE7-2.10: the top card of the pile."""
    pile = s.pile(empire)
    card = LETTERED[empire, letter] if letter else next(iter(pile), None)
    return card if card in pile else None


def check_draft(s: Seven, seat: Seat, move: DraftInfluence) -> None:
    """SE7-15.2: the errors of `draft_influence`, in this order."""
    known_empire(move.empire)
    holds = any(CARDS[card].empire == move.empire for card in s.hands[seat])
    require(not holds, "draft_same_empire", "SE7-2.9", empire=move.empire)
    letter = s.top.context(frames.Draft).letter
    found = offered_card(s, move.empire, letter) is not None
    if letter:
        require(found, "draft_card_gone", "SE7-2.9", empire=move.empire, letter=letter)
    require(found, "pile_empty", "SE7-2.10", empire=move.empire)


def take(d: D, seat: Seat, move: DraftInfluence) -> bool:
    """SE7-2.9: the card goes to the hand; return whether it was the last pick of the draft."""
    about = d.state.top.context(frames.Draft)
    card = offered_card(d.state, move.empire, about.letter)
    d.add(CardDrafted(seat, str(card)))
    d.mark_answered(seat, end=True)
    rest = list(about.remaining[1:])
    if rest:
        ask(d, about.round, rest)
    elif about.round < len(ROUNDS[d.state.seats]):
        ask_round(d, about.round + 1)
    return not d.state.frames
