"""IMP-6.2: secret service and diplomacy."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.imperunde import frames
from domain.games.imperunde.data import GOAL_MAX, OPTION_DATA, PROPOSAL_LIMIT, STANCE_LIMIT
from domain.games.imperunde.facts.cards import CardDealt, CardDrawn, DeckOrdered, DeckShuffled
from domain.games.imperunde.facts.diplomacy import (
    GoalChanged,
    GoalProposed,
    GoalVoted,
    OverridesEnded,
    RelationsFixed,
    StanceSet,
)
from domain.games.imperunde.moves import ProposeGoal, Ready, SetStance, Unready, VoteGoal
from domain.games.imperunde.rules.checks import need_other_seat
from domain.games.imperunde.rules.end import check_win
from domain.games.imperunde.state import D, ImpeRunde, key
from domain.kernel.records.audience import TABLE
from domain.kernel.rules.flow import Frame
from domain.types import Seat


def start(d: D) -> None:
    """IMP-6.2.1: overrides end, the discards are shuffled in, each seat is dealt a card."""
    d.add(OverridesEnded())
    shuffle(d, [*d.state.deck, *d.state.discard], discards=True)
    for seat in d.state.order:
        if d.state.pile:
            deal(d, seat)


def shuffle(d: D, cards: list[str], discards: bool = False) -> None:
    """IMP-6.2.1, IMP-9.4.16: the cards become the draw pile; its order is hidden from all."""
    order = d.draws.shuffle("shuffle.deck", cards, TABLE)
    pile = d.state.pile + (len(d.state.discard) if discards else 1)
    d.add(DeckShuffled(pile, discards))
    d.add(DeckOrdered(order), TABLE)


def deal(d: D, seat: Seat) -> None:
    """IMP-6.2.1, IMP-6.4.5: the top card, face down."""
    card = d.state.deck[0]
    d.add(CardDealt(seat, d.state.nations[seat].cards + 1, d.state.pile - 1))
    d.add(CardDrawn(seat, card), (seat,))


def ask_talks(d: D) -> None:
    """IMP-6.2.5: no seat is ready at first; vacant seats count as ready."""
    d.ask(frames.Diplomacy(), *d.state.present)


def ask_again(d: D) -> None:
    """IMP-6.2.5, IMP-11.9: a change in the talks clears all ready flags, and keeps the remaining time."""
    timer = d.state.top.timer
    d.end()
    d.ask(frames.Diplomacy(), *d.state.present, timed_as=timer)


def go_talks(d: D, frame: Frame) -> None:
    """IMP-6.2.5: all are ready; each pair's base relation follows from its stances."""
    wars = [name for name, pair in d.state.pairs.items() if pair.agreed == "war"]
    d.add(RelationsFixed(wars))
    d.end()


# --- stances -------------------------------------------------------------------------------------------------


def check_set_stance(s: ImpeRunde, seat: Seat, move: SetStance) -> None:
    """IMP-6.2.2: the errors of `set_stance`, in this order."""
    rule, target = "IMP-6.2.2", move.target
    need_other_seat(s, seat, target, rule)
    require(s.stance(seat, target) != move.stance, "no_change", rule)
    require(s.pair(seat, target).changes[seat > target] < STANCE_LIMIT, "stance_limit", rule, limit=STANCE_LIMIT)


def do_set_stance(d: D, frame: Frame, seat: Seat, move: SetStance) -> None:
    """IMP-6.2.3: public at once."""
    check_set_stance(d.state, seat, move)
    target = move.target
    change = d.state.pair(seat, target).changes[seat > target] + 1
    d.add(StanceSet(seat, target, key(seat, target), move.stance, change))
    ask_again(d)


# --- the goal ------------------------------------------------------------------------------------------------


def goal_bounds(s: ImpeRunde) -> tuple[int, int]:
    """IMP-2.1: least and greatest goal."""
    return OPTION_DATA["goal_min"], GOAL_MAX[s.seats]


def check_propose_goal(s: ImpeRunde, seat: Seat, move: ProposeGoal) -> None:
    """IMP-6.2.4: the errors of `propose_goal`, in this order."""
    rule, (lo, hi) = "IMP-6.2.4", goal_bounds(s)
    require(lo <= move.goal <= hi, "goal_out_of_range", rule, lowest=lo, highest=hi)
    require(move.goal != s.goal, "no_change", rule)
    require(s.nations[seat].proposals < PROPOSAL_LIMIT, "proposal_limit", rule, limit=PROPOSAL_LIMIT)


def do_propose_goal(d: D, frame: Frame, seat: Seat, move: ProposeGoal) -> None:
    """IMP-6.2.4: the other seats vote at once; if there are none, the goal changes."""
    check_propose_goal(d.state, seat, move)
    d.add(GoalProposed(seat, move.goal))
    voters = [x for x in d.state.present if x != seat]
    if voters:
        return d.ask(frames.GoalVote(move.goal, seat), *voters)
    return _change_goal(d, move.goal)


def do_vote_goal(d: D, frame: Frame, seat: Seat, move: VoteGoal) -> None:
    """IMP-6.2.4: one `false` ends the vote."""
    d.add(GoalVoted(seat, move.approve))
    d.mark_answered(seat)
    if not move.approve:
        d.end()
        ask_again(d)


def go_vote(d: D, frame: Frame) -> None:
    """IMP-6.2.4: all have approved."""
    d.end()
    _change_goal(d, frame.context(frames.GoalVote).goal)


def _change_goal(d: D, goal: int) -> None:
    d.add(GoalChanged(goal))
    check_win(d)
    ask_again(d)


# --- ready ---------------------------------------------------------------------------------------------------


def check_ready(frame: Frame, seat: Seat, ready: bool) -> None:
    """IMP-6.2.5: the flag is not so already."""
    require((seat in frame.owing) == ready, "no_change", "IMP-6.2.5")


def do_ready(d: D, frame: Frame, seat: Seat, move: Ready) -> None:
    """IMP-6.2.5."""
    check_ready(frame, seat, ready=True)
    d.mark_answered(seat)


def do_unready(d: D, frame: Frame, seat: Seat, move: Unready) -> None:
    """IMP-6.2.5."""
    check_ready(frame, seat, ready=False)
    d.reopen(seat)
