"""The rules: handlers of moves, continuations of frames, and seats able to interrupt.

Where to look:
- storms: events.py _storm
- trade: events.py _trade
- famine, epidemics, unrest: events.py _famine _epidemic _unrest
- peace treaties: card_effects.py peace_treaty
- ships lost in a storm: sinking.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from domain.games.imperunde.defaults import default_move
from domain.games.imperunde.moves import (
    SAFE,
    WINDOW_FRAMES,
    Attack,
    BuildCanal,
    Buy,
    BuyCards,
    ChooseStolenCard,
    ChooseUnits,
    Embark,
    EndEmbarkation,
    EndFairWind,
    EndInvestments,
    EndMovement,
    EquipColony,
    MoveUnits,
    Pass,
    PlaceHomeFleet,
    PlayCard,
    ProposeGoal,
    Ready,
    Reinforce,
    SetAutoPass,
    SetBudget,
    SetStance,
    Unready,
    VoteGoal,
)
from domain.games.imperunde.rules import (
    attack,
    budget,
    cards,
    cleanup,
    combat,
    diplomacy,
    embarkation,
    end,
    events,
    investment,
    movement,
    pirates,
    reinforcements,
    rounds,
    setup,
    theft,
    turn,
    windows,
)
from domain.games.imperunde.state import D, ImpeRunde
from domain.kernel.rules.flow import Frame
from domain.kernel.rules.ruleset import Handler, on
from domain.kernel.schema.declarations import type_name
from domain.types import Seat

_HANDLERS: Mapping[str, Handler[ImpeRunde]] = dict(
    (
        on(PlaceHomeFleet, setup.do_place_home_fleet),
        on(EquipColony, setup.do_equip_colony),
        on(SetStance, diplomacy.do_set_stance),
        on(ProposeGoal, diplomacy.do_propose_goal),
        on(VoteGoal, diplomacy.do_vote_goal),
        on(Ready, diplomacy.do_ready),
        on(Unready, diplomacy.do_unready),
        on(SetBudget, budget.do_set_budget),
        on(Buy, investment.do_buy),
        on(BuildCanal, investment.do_build_canal),
        on(BuyCards, investment.do_buy_cards),
        on(EndInvestments, turn.do_end),
        on(MoveUnits, movement.do_move),
        on(Attack, attack.do_attack),
        on(ChooseUnits, rounds.do_choose_units),
        on(Reinforce, reinforcements.do_reinforce),
        on(EndMovement, turn.do_end),
        on(Embark, embarkation.do_embark),
        on(EndEmbarkation, turn.do_end),
        on(EndFairWind, turn.do_end),
        on(PlayCard, cards.do_play_card),
        on(ChooseStolenCard, theft.do_choose_stolen_card),
        on(Pass, windows.do_pass),
        on(SetAutoPass, windows.do_set_auto_pass),
    )
)

_CONTINUATIONS: Mapping[str, Callable[[D, Frame], None]] = {
    "game": turn.go_game,
    "diplomacy": diplomacy.go_talks,
    "goal_vote": diplomacy.go_vote,
    "budget": budget.go_budget,
    "cleanup": cleanup.go_cleanup,
    "combat": combat.go_combat,
    "card": cards.go_card,
    "pirates": pirates.go_pirates,
    "events": events.go_events,
    "winds": events.go_winds,
    **dict.fromkeys(WINDOW_FRAMES, windows.go_window),
}


def _answer(d: D, seat: Seat) -> None:
    """IMP-11.10: a vacant seat is answered with the default."""
    move = default_move(d.state, d.state.top, seat)
    _HANDLERS[type_name(type(move))](d, d.state.top, seat, move)


HANDLERS: dict[str, Handler[ImpeRunde]] = {t: end.until_the_end(act, _answer) for t, act in _HANDLERS.items()}
CONTINUATIONS: dict[str, Callable[[D, Frame], None]] = {
    kind: end.until_the_end(go, _answer) for kind, go in _CONTINUATIONS.items()
}
vacated: Callable[[D, Seat], None] = end.until_the_end(end.vacated, _answer)


def may(s: ImpeRunde) -> tuple[Seat, ...]:
    """IMP-11.2: seats with cards at a safe point; and seats free to change an answer (IMP-6.2.5, IMP-6.3.3)."""
    kind = s.top.kind
    able = {seat for seat in s.present if s.nations[seat].cards} if kind in SAFE else set()
    if kind in ("diplomacy", "budget"):
        able |= set(s.top.done)
    return tuple(sorted(able))
