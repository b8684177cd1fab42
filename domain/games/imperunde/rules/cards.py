"""IMP-9.1 to IMP-9.3, IMP-11.4: playing a card, and the chain of counters."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import replace

from domain.errors import RuleError
from domain.games.common.checks import require
from domain.games.imperunde import frames
from domain.games.imperunde.data import CARDS
from domain.games.imperunde.facts.cards import CardCountered, CardPlayed, CardResolved, Terms
from domain.games.imperunde.moves import SAFE, PlayCard
from domain.games.imperunde.rules import diplomacy
from domain.games.imperunde.rules.card_checks import CHECKS
from domain.games.imperunde.rules.card_effects import EFFECTS
from domain.games.imperunde.rules.sinking import sink_for_active
from domain.games.imperunde.rules.windows import kind_of, open_window, seats_to_ask
from domain.games.imperunde.state import D, ImpeRunde
from domain.kernel.rules.flow import Frame
from domain.kernel.schema.declarations import UNSET, doc, unwrap
from domain.types import Seat

RULE = "IMP-9.3"


def combat_cards(s: ImpeRunde) -> tuple[str, ...]:
    """IMP-11.5: cards admitted by the combat window."""
    c = s.fight
    if c.sea:
        return "capture", "armistice", "unmask_spies"
    if c.defender == "natives":
        return "surprise_attack", "coup_de_main"
    if c.attacker == "insurgents":
        return "treason", "ambush", "coup_de_main", "unmask_spies"
    return "treason", "ambush", "surprise_attack", "coup_de_main", "armistice", "unmask_spies"


def admitted(s: ImpeRunde, seat: Seat, card: str) -> bool:
    """IMP-9.3, IMP-11.2, IMP-11.3: the state or window admits this card, from this seat."""
    frame, when = s.top, CARDS[card].when
    owes = seat in frame.owing
    if frame.kind in SAFE:
        special = {
            "diplomacy": "diplomacy" in when,
            "open_window": "revenue_window" in when and s.phase == 3,
            "investment": "own_investment" in when and owes,
        }
        return "safe" in when or special.get(frame.kind, False)
    if frame.kind == "counter_window":
        return "counter" in when and (owes or frame.context(frames.CounterWindow).chain[-1][0] == seat)
    if frame.kind == "combat_window":
        return owes and card in combat_cards(s)
    return frame.kind == "round_window" and owes and "round" in when


def check_play(s: ImpeRunde, seat: Seat, move: PlayCard) -> None:
    """IMP-9.3: the errors of `play_card`, in this order."""
    if s.phase == 0:
        raise RuleError("wrong_phase", RULE, {"deciding": s.top.kind})
    card = move.card
    require(card in CARDS, "unknown_card", RULE, card=card)
    require(card in s.hands[seat], "card_not_in_hand", RULE, card=card)
    require(admitted(s, seat, card), "card_not_playable_now", RULE, card=card, deciding=s.top.kind)
    CHECKS[card](s, seat, move)


def do_play_card(d: D, frame: Frame, seat: Seat, move: PlayCard) -> None:
    """IMP-9.1: face up to the discard pile; the interrupted window is asked again after the card."""
    check_play(d.state, seat, move)
    if frame.kind == "counter_window":
        d.end()
        _show(d, seat, move)
        chain = [list(link) for link in d.state.top.context(frames.Card).chain]
        return d.note(chain=[*chain, [seat, move.card]], stage="counter")
    card = frames.Card(move, seat, [(seat, move.card)], "counter")
    if kind_of(frame):
        d.end()
        card = replace(card, again=frame.kind, context=_interrupted(frame))
    _show(d, seat, move)
    return d.ask(card)


def _interrupted(frame: Frame) -> frames.Interrupted:
    """IMP-11.3: the context of a window."""
    return convert(doc(frame.context(frames.WINDOWS[frame.kind])), frames.Interrupted)


def _show(d: D, seat: Seat, move: PlayCard) -> None:
    terms = Terms(
        move.target_seat,
        move.from_,
        move.to,
        move.zone,
        move.unit,
        move.units,
        move.country,
        move.purchases,
        move.seats,
        move.reveal,
    )
    d.add(CardPlayed(seat, move.card, d.state.nations[seat].cards - 1, UNSET if terms == Terms() else terms))
    d.barrier()


def go_card(d: D, frame: Frame) -> None:
    """IMP-11.4: counters, then the effect, then the interrupted frame."""
    card = frame.context(frames.Card)
    if card.stage == "counter":
        others = [x for x in d.state.everybody if x != card.chain[-1][0]]
        if seats_to_ask(d.state, others):
            d.note(stage="effect")
            open_window(d, frames.CounterWindow(others, card.chain))
            return None
    if card.stage != "settled":
        return _settle(d, card)
    d.end()
    sink_for_active(d)
    return _resume(d, card)


def _settle(d: D, played: frames.Card) -> None:
    """IMP-11.4: an odd number of counters, and the first card has no effect."""
    move, seat = played.move, played.seat
    stands = len(played.chain) % 2 == 1
    d.note(stage="settled")
    d.add(CardResolved(seat, move.card) if stands else CardCountered(seat, move.card))
    if stands:
        EFFECTS[move.card](d, seat, move)


def _resume(d: D, played: frames.Card) -> None:
    """IMP-11.3: a window starts again for all of them; talks lose their ready flags (IMP-6.2.5)."""
    if d.state.top.kind == "diplomacy":
        return diplomacy.ask_again(d)
    if played.again and not (d.state.combat and d.state.combat.called_off):
        window = convert(doc(unwrap(played.context)), frames.WINDOWS[played.again])
        open_window(d, replace(window, entitled=_entitled(d.state, window)))
    return None


def _entitled(s: ImpeRunde, window: frames.Window) -> list[Seat]:
    """IMP-11.6: in a round window, without the seats with a `coup_de_main` in effect."""
    return [x for x in window.entitled if not isinstance(window, frames.RoundWindow) or x not in s.fight.coup]
