"""Deal anew the parts unknown to some viewers: discards, and with them hands, and sealed answers."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS, DECKS
from domain.games.age_of_reason.facts.battle import CardSealed, HireSealed
from domain.games.age_of_reason.facts.cards import CardDiscarded, CardTakenBack
from domain.games.age_of_reason.rules import attacking
from domain.games.age_of_reason.rules.battle import commit
from domain.games.age_of_reason.rules.battle.allies import hirable
from domain.games.age_of_reason.rules.checks import is_legal
from domain.games.age_of_reason.state import AgeOfReason, D, Sealed
from domain.games.common.seats import replace_at
from domain.kernel.rules.flow import assign
from domain.types import DIRECTOR, Seat, Viewer


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """AOR-16.2: deal every other seat another discard of the same size, and other possible answers."""
    if DIRECTOR in keep or not d.state.game_turn:
        return
    for seat in d.state.everybody:
        if seat not in keep:
            _discard(d, seat)
            _answer(d, seat)


def _discard(d: D, seat: Seat) -> None:
    """Draw as many force cards as before, without those face up in a battle or sealed."""
    old = d.state.discards[seat]
    held = [card for card in d.state.hand(seat) if CARDS[card].kind == "force"]
    in_order = [card for card in DECKS[d.state.power(seat)] if card in {*old, *held}]
    new = d.draws.shuffle("redeal", in_order, (seat,))[: d.state.empires[seat].discard_size]
    for card in old:
        d.add(CardTakenBack(seat, card), (seat,))
    for card in new:
        d.add(CardDiscarded(seat, card), (seat,))


def _answer(d: D, seat: Seat) -> None:
    """Replace sealed cards and powers of a seat's secret answer, before the reveal."""
    sealed = d.state.sealed[seat]
    if sealed is None and not _has_sealed(d.state, seat):
        return
    sealed = sealed or Sealed()
    card = d.draws.pick("redeal", _cards(d.state, seat) or [sealed.card], (seat,))
    d.add(CardSealed(seat, card), (seat,))
    if sealed.powers is not None or _is_done(d.state, "hire", seat):
        _hire(d, seat)


def _has_sealed(s: AgeOfReason, seat: Seat) -> bool:
    """Return whether a seat has answered before the reveal, by public facts."""
    battle = s.battle
    if battle is None or battle.cards is not None:
        return False
    return seat == battle.attacker or (
        seat in battle.asked and (battle.laid is not None or _is_done(s, "commit", seat))
    )


def _is_done(s: AgeOfReason, kind: str, seat: Seat) -> bool:
    return bool(s.frames) and s.top.kind == kind and seat in s.top.done


def _hire(d: D, seat: Seat) -> None:
    """Draw some of the powers hirable by the seat, as far as its means go."""
    free = hirable(d.state, d.state.fight, seat)
    hired = [power for power in free if d.draws.roll("redeal", 0, 1, (seat,))]
    most = (d.state.empires[seat].means - commit.spent(d.state, seat)) // commit.HIRE_COST
    d.add(HireSealed(seat, hired[:most]), (seat,))


def _cards(s: AgeOfReason, seat: Seat) -> list[str | None]:
    """Return the cards the seat could have sealed; after `commit` is closed, the laying of an ally's card is public."""
    battle = s.fight
    free = assign(s, sealed=replace_at(s.sealed, seat, None))
    deck: list[str | None] = [*DECKS[s.power(seat)]]
    if seat == battle.attacker:
        return [card for card in deck if card and is_legal(attacking.check_card, free, seat, battle.region, card)]
    answers = [card for card in [None, *deck] if is_legal(commit.check_commit, free, seat, card)]
    if battle.laid is None or seat == battle.defender:
        return answers
    return [card for card in answers if (card is not None) == (seat in battle.laid)]
