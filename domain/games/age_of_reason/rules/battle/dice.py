"""AOR-9.5 to AOR-9.8: the reveal and the payments, the dice, the second rolls, the strengths."""

from __future__ import annotations

from domain.games.age_of_reason import frames
from domain.games.age_of_reason.data import BONUSES, CARDS, CONSTANTS, MARKERS, REGIONS, Space
from domain.games.age_of_reason.facts.battle import (
    BattleRevealed,
    BattleRolled,
    DiceRerolled,
    ReservesAnswered,
)
from domain.games.age_of_reason.moves import Reserves
from domain.games.age_of_reason.rules import money
from domain.games.age_of_reason.rules.battle.allies import side_of
from domain.games.age_of_reason.rules.battle.commit import HIRE_COST, laid_card
from domain.games.age_of_reason.rules.battle.steps import Next, Question, key
from domain.games.age_of_reason.state import SIDES, AgeOfReason, Battle, D, Side
from domain.games.common.dice import spread
from domain.kernel.rules.flow import Frame
from domain.types import Seat

SUPPORT: int = CONSTANTS["ally_bonus"]
SOLDIER: int = CONSTANTS["soldier_bonus"]
SHIP: int = CONSTANTS["ship_bonus_in_naval_regions"]

# --- the reveal (AOR-9.5) --------------------------------------------------------------------------------------


def step_reveal(d: D) -> Next:
    """AOR-9.5.1: all cards and hirings become public at once, with their seals; then they are paid for."""
    s, battle = d.state, d.state.fight
    seats = sorted({battle.attacker, *battle.asked})
    hiring = [seat for seat in seats if (sealed := s.sealed[seat]) and sealed.powers is not None]
    d.unseal(*(key(seat, "card") for seat in seats), *(key(seat, "powers") for seat in hiring))
    cards = {str(seat): card for seat in seats if (card := laid_card(s, seat))}
    d.add(BattleRevealed(cards, {side: _sealed_powers(s, battle.principal(side)) for side in SIDES}))
    _pay(d)
    return None


def _sealed_powers(s: AgeOfReason, seat: Seat | None) -> tuple[str, ...]:
    sealed = None if seat is None else s.sealed[seat]
    return (sealed.powers if sealed else None) or ()


def _pay(d: D) -> None:
    """AOR-9.5.1: attacker, defender, then supporting allies in turn order; each one sum."""
    battle = d.state.fight
    for side in SIDES:
        if (seat := battle.principal(side)) is not None:
            hired = (battle.hired or {})[side]
            money.pay(d, seat, CARDS[battle.card_of(seat) or ""].cost + HIRE_COST * len(hired), "battle")
    for seat in d.state.turn_order:
        if _supports(battle, seat):
            money.pay(d, seat, CARDS[battle.card_of(seat) or ""].cost, "support")


def _supports(battle: Battle, seat: Seat) -> bool:
    card = battle.card_of(seat)
    return card is not None and CARDS[card].kind == "alliance"


def supporters(s: AgeOfReason, side: Side) -> list[Seat]:
    """AOR-9.5.2: allies of a side with the Alliance card played, in turn order."""
    battle = s.fight
    return [seat for seat in s.turn_order if _supports(battle, seat) and side_of(s, battle, seat) == side]


# --- strength (AOR-9.8) ----------------------------------------------------------------------------------------


def strength(s: AgeOfReason, side: Side, dice: tuple[int, ...]) -> int:
    """AOR-9.8: the difference of the dice, plus the fixed strength."""
    return spread(dice) + sum(strength_parts(s, side).values())


def strength_parts(s: AgeOfReason, side: Side) -> dict[str, int]:
    """AOR-9.8: a side's strength without dice: a fixed number, or the card and the action board; and its allies."""
    battle = s.fight
    seat = battle.principal(side)
    helpers = len(supporters(s, side)) + len((battle.hired or {}).get(side, ()))
    if seat is None:
        own = {"fixed": _neutral(battle)}
    else:
        own = {"card": _card(battle, seat), "board": bonus(s, seat, battle.region)}
    return {**own, "allied": SUPPORT * helpers}


def _neutral(battle: Battle) -> int:
    """AOR-9.8: of a non-player power, or of a marker."""
    power: int = CONSTANTS["nonplayer_token_defence"]
    return MARKERS[battle.marker].defence if battle.marker else power


def _card(battle: Battle, seat: Seat) -> int:
    """AOR-9.8, AOR-1.2: soldiers, and ships in a naval region."""
    card = CARDS[battle.card_of(seat) or ""]
    ships = SHIP * card.ships if REGIONS[battle.region].naval else 0
    return SOLDIER * card.soldiers + ships


def bonus(s: AgeOfReason, seat: Seat, region: str) -> int:
    """AOR-9.8, AOR-11: the bonus of own tokens on the action board in battles for a region."""
    return sum(space.bonus * s.on_board(seat, space.id) for space in BONUSES if region in scope(s, space))


def scope(s: AgeOfReason, space: Space) -> tuple[str, ...]:
    """AOR-11.4: where a bonus counts."""
    return space.wide if s.terms.support_scope == "examples" else space.regions


# --- dice (AOR-9.6, AOR-9.7) -----------------------------------------------------------------------------------


def step_roll(d: D) -> Next:
    """AOR-9.6.1: two dice of the attacker, then two of the defender."""
    attacker, defender = _roll(d, "attacker"), _roll(d, "defender")
    total = [strength(d.state, "attacker", attacker), strength(d.state, "defender", defender)]
    d.add(BattleRolled(attacker, defender, total))
    return None


def _roll(d: D, side: Side) -> tuple[int, ...]:
    return tuple(d.draws.roll(f"battle.{side}", 1, 6) for _ in range(CONSTANTS["dice_per_side"]))


def step_reserves(d: D, side: Side) -> Next:
    """AOR-9.7.1: a principal with a token on Reserves may roll again."""
    seat = d.state.fight.principal(side)
    if seat is None or not d.state.on_board(seat, "reserves"):
        return None
    return Question(frames.Reserves(side), [seat])


def do_reserves(d: D, frame: Frame, seat: Seat, move: Reserves) -> None:
    """AOR-9.7.2: used, the own dice are rolled again, and the window starts again with the attacker."""
    side = frame.context(frames.Reserves).side
    d.barrier()
    d.add(ReservesAnswered(seat, move.use))
    d.mark_answered(seat, end=True)
    if move.use:
        _roll_again(d, seat, side)
        d.note(todo=[["reserves", "attacker"], ["reserves", "defender"], ["result"]])


def _roll_again(d: D, seat: Seat, side: Side) -> None:
    rolled = {**(d.state.fight.dice or {}), side: _roll(d, side)}
    total = [strength(d.state, each, rolled[each]) for each in SIDES]
    d.add(DiceRerolled(seat, side, rolled[side], total))
