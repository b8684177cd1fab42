"""SOE-4: the sequence of a War. The frame `war` lies under all others and goes on when they have ended."""

from __future__ import annotations

from domain.games.struggle_of_empires import frames
from domain.games.struggle_of_empires.data import CONSTANTS, ROUNDS
from domain.games.struggle_of_empires.facts.sequence import RoundStarted, WarStarted
from domain.games.struggle_of_empires.rules import actions, alliances, end_of_war, income, region_markers, scoring
from domain.games.struggle_of_empires.state import D
from domain.kernel.rules.flow import Frame


def start_war(d: D) -> None:
    """SOE-4.5, SOE-3.7: phase 1 (not in the first War), then the auctions."""
    d.add(WarStarted(d.state.war + 1))
    if d.state.war > 1:
        region_markers.lay(d)
    d.ask(frames.War([]))


def go_war(d: D, frame: Frame) -> None:
    """SOE-4.1: start the next auction, turn or round, or the phases at the end of the War."""
    s, to_play = d.state, frame.context(frames.War).to_play
    if s.unaligned():
        alliances.open_auction(d)
    elif not s.turn_order:
        alliances.set_turn_order(d)
        _start_round(d, 1)
    elif to_play:
        d.note(to_play=to_play[1:])
        actions.start_turn(d, to_play[0])
    elif s.round < ROUNDS[s.seats]:
        actions.end_round(d)
        _start_round(d, s.round + 1)
    else:
        _end_war(d)


def _start_round(d: D, number: int) -> None:
    """SOE-7.1.1: in each round every seat takes one turn, in turn order."""
    d.add(RoundStarted(number))
    d.note(to_play=list(d.state.turn_order))


def _end_war(d: D) -> None:
    """SOE-4.1: phases 4 to 6, then the next War or the end of the game."""
    actions.end_round(d)
    income.pay_incomes(d)
    scoring.score_regions(d)
    end_of_war.end_war(d)
    d.end()
    if d.state.war < CONSTANTS["wars"]:
        start_war(d)
    else:
        end_of_war.end_game(d)
