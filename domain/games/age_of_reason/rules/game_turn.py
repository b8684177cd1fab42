"""AOR-4: the sequence of a game turn. The frame `game_turn` lies under all others and goes on when they have ended."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import CONSTANTS, ROUNDS
from domain.games.age_of_reason.facts.sequence import GameTurnStarted, RoundStarted
from domain.games.age_of_reason.rules import coalitions, end_of_turn, income, region_markers, scoring, turns
from domain.games.age_of_reason.state import D
from domain.kernel.rules.flow import Frame


def start_game_turn(d: D) -> None:
    """AOR-4.5, AOR-13.5: phase 1, then the coalitions."""
    d.add(GameTurnStarted(d.state.game_turn + 1))
    region_markers.lay(d)
    d.ask(frames.GameTurn([]))


def go_game_turn(d: D, frame: Frame) -> None:
    """AOR-4.1: start the next auction, turn or round, or the phases at the end of the game turn."""
    s, to_play = d.state, frame.context(frames.GameTurn).to_play
    if s.unaligned():
        coalitions.align(d)
    elif not s.turn_order:
        coalitions.set_turn_order(d)
        _start_round(d, 1)
    elif s.turn:
        turns.go_on(d)
    elif to_play:
        d.note(to_play=to_play[1:])
        turns.start_turn(d, to_play[0])
    elif s.round < ROUNDS[s.seats]:
        _start_round(d, s.round + 1)
    else:
        _end_game_turn(d)


def _start_round(d: D, number: int) -> None:
    """AOR-7.1.1: in each round every seat takes one turn, in turn order."""
    d.add(RoundStarted(number))
    d.note(to_play=list(d.state.turn_order))


def _end_game_turn(d: D) -> None:
    """AOR-4.1: phases 4 to 6, then the next game turn or the end of the game."""
    income.pay_incomes(d)
    scoring.score_regions(d)
    scoring.roll_unrest(d)
    end_of_turn.end_game_turn(d)
    d.end()
    if d.state.game_turn < CONSTANTS["turns"]:
        start_game_turn(d)
    else:
        d.finish()
