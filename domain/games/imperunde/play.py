"""Who does what: handlers by type of move, frames that go on by themselves, seats that may interrupt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from domain.games.imperunde.defaults import default_move
from domain.games.imperunde.moves import SAFE, WINDOW_FRAMES
from domain.games.imperunde.rules import (
    attack,
    budget,
    cards,
    cleanup,
    combat,
    diplomacy,
    embarkation,
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
from domain.games.imperunde.rules.end import until_the_end
from domain.games.imperunde.rules.end import vacated as nobody_left
from domain.games.imperunde.state import D, ImpeRunde
from domain.ids import Seat
from domain.kernel.choices import Move
from domain.kernel.flow import Frame

_DO: Mapping[str, Callable[[D, Frame, Seat, Move], None]] = {
    "place_home_fleet": setup.do_place_home_fleet,
    "equip_colony": setup.do_equip_colony,
    "set_stance": diplomacy.do_set_stance,
    "propose_goal": diplomacy.do_propose_goal,
    "vote_goal": diplomacy.do_vote_goal,
    "ready": diplomacy.do_ready,
    "unready": diplomacy.do_unready,
    "set_budget": budget.do_set_budget,
    "buy": investment.do_buy,
    "build_canal": investment.do_build_canal,
    "buy_cards": investment.do_buy_cards,
    "end_investments": turn.do_end,
    "move": movement.do_move,
    "attack": attack.do_attack,
    "choose_units": rounds.do_choose_units,
    "reinforce": reinforcements.do_reinforce,
    "end_movement": turn.do_end,
    "embark": embarkation.do_embark,
    "end_embarkation": turn.do_end,
    "end_fair_wind": turn.do_end,
    "play_card": cards.do_play_card,
    "choose_stolen_card": theft.do_choose_stolen_card,
    "pass": windows.do_pass,
    "set_auto_pass": windows.do_set_auto_pass,
}

_GO: Mapping[str, Callable[[D, Frame], None]] = {
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
    _DO[move["type"]](d, d.state.top, seat, move)


DO: dict[str, Callable[[D, Frame, Any, Move], None]] = {t: until_the_end(act, _answer) for t, act in _DO.items()}
GO: dict[str, Callable[[D, Frame], None]] = {kind: until_the_end(go, _answer) for kind, go in _GO.items()}
vacated: Callable[[D, Seat], None] = until_the_end(nobody_left, _answer)


def may(s: ImpeRunde) -> tuple[Seat, ...]:
    """IMP-11.2: seats that hold cards at a safe point; and those that may change an answer (IMP-6.2.5, IMP-6.3.3)."""
    kind = s.top.kind
    able = {seat for seat in s.present if s.nations[seat].cards} if kind in SAFE else set()
    if kind in ("diplomacy", "budget"):
        able |= set(s.top.done)
    return tuple(sorted(able))
