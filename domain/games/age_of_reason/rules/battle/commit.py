"""AOR-9.2, AOR-9.4, AOR-4.6: secret and simultaneous answers, with the right to take them back."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import CARDS, CONSTANTS
from domain.games.age_of_reason.facts.battle import CardSealed, CardTakenUp, CommitClosed, HireSealed, HireTakenBack
from domain.games.age_of_reason.moves import Commit, Hire, TakeBack
from domain.games.age_of_reason.rules.battle.allies import hirable, hirers
from domain.games.age_of_reason.rules.battle.steps import Next, Question
from domain.games.age_of_reason.rules.checks import check_hand, need_funds, need_principals_card, require
from domain.games.age_of_reason.state import AgeOfReason, D
from domain.kernel.rules.flow import Frame
from domain.types import Seat

HIRE_COST: int = CONSTANTS["neutral_support_cost"]
"""AOR-9.4.2: gold for each power."""


# --- cards -----------------------------------------------------------------------------------------------------


def step_commit(d: D) -> Next:
    """AOR-9.2.1: ask the defender and all eligible allies at once, with any hand (AOR-4.4)."""
    battle = d.state.fight
    return Question(frames.Commit(battle.defender), battle.asked) if battle.asked else None


def check_commit(s: AgeOfReason, seat: Seat, card: str | None) -> None:
    """AOR-9.2.3: the errors of `commit`, in this order."""
    defends = seat == s.fight.defender
    if card is None:
        return require(not defends, "card_required", "AOR-9.2.3", cause="defender")
    check_hand(s, seat, card)
    if defends:
        need_principals_card(card)
    else:
        require(CARDS[card].kind != "force", "card_not_allowed", "AOR-8.3.5", cause="ally", card=card)
    return need_funds(s, seat, CARDS[card].cost)


def do_commit(d: D, frame: Frame, seat: Seat, move: Commit) -> None:
    """AOR-9.2.2, AOR-4.6.2: seal the card; only the fact of an answer is public."""
    check_commit(d.state, seat, move.card)
    d.add(CardSealed(seat, move.card), (seat,), seal="card")
    d.mark_answered(seat)


def go_commit(d: D, frame: Frame) -> None:
    """AOR-9.2.4: all have answered; the allies with a laid card become public."""
    battle = d.state.fight
    d.end()
    d.barrier()
    laid = [seat for seat in battle.asked if seat != battle.defender and laid_card(d.state, seat)]
    d.add(CommitClosed(laid))


def laid_card(s: AgeOfReason, seat: Seat) -> str | None:
    """Return the card sealed by a seat."""
    sealed = s.sealed[seat]
    return sealed.card if sealed else None


# --- non-player allies -----------------------------------------------------------------------------------------


def step_hire(d: D) -> Next:
    """AOR-9.4.1: principals with non-player allies in the region are asked at once."""
    asked = hirers(d.state, d.state.fight)
    return Question(frames.Hire(), asked) if asked else None


def spent(s: AgeOfReason, seat: Seat) -> int:
    """AOR-9.4.3: the cost due for the own sealed card."""
    card = laid_card(s, seat)
    return CARDS[card].cost if card else 0


def check_hire(s: AgeOfReason, seat: Seat, move: Hire) -> None:
    """AOR-9.4.3: the errors of `hire`, in this order."""
    free = hirable(s, s.fight, seat)
    once = len(set(move.powers)) == len(move.powers)
    require(once and set(move.powers) <= set(free), "invalid_hire", "AOR-9.4.3", hirable=free)
    need_funds(s, seat, spent(s, seat) + HIRE_COST * len(move.powers))


def do_hire(d: D, frame: Frame, seat: Seat, move: Hire) -> None:
    """AOR-9.4.2, AOR-9.4.4: sealed."""
    check_hire(d.state, seat, move)
    d.add(HireSealed(seat, move.powers), (seat,), seal="powers")
    d.mark_answered(seat)


def go_hire(d: D, frame: Frame) -> None:
    """AOR-4.6.4: all have answered; the reveal follows."""
    d.end()
    d.barrier()


# --- second thoughts -------------------------------------------------------------------------------------------


def may(s: AgeOfReason) -> tuple[Seat, ...]:
    """AOR-4.6.3: seats with an answer to a decision still open."""
    return s.top.done if s.top.kind in ("commit", "hire") else ()


def do_take_back(d: D, frame: Frame, seat: Seat, move: TakeBack) -> None:
    """AOR-4.6.3: the answer is forgotten, and owed again."""
    d.add(CardTakenUp(seat) if frame.kind == "commit" else HireTakenBack(seat), (seat,))
    d.reopen(seat)
