"""AOR-9.9, AOR-9.10: the gains and losses of a battle, and the return of the cards."""

from __future__ import annotations

from domain.games.age_of_reason.data import CARDS, CONSTANTS, MARKERS
from domain.games.age_of_reason.facts.battle import BattleEnded, BattleResolved, Winner
from domain.games.age_of_reason.facts.cards import CardDiscarded, DiscardCounted
from domain.games.age_of_reason.facts.pieces import MarkerTaken, TokenPlaced, TokenRemoved
from domain.games.age_of_reason.rules import money
from domain.games.age_of_reason.rules.battle.dice import supporters
from domain.games.age_of_reason.rules.battle.steps import Next
from domain.games.age_of_reason.state import SIDES, Battle, D
from domain.types import Seat

DECISIVE: int = CONSTANTS["decisive_margin"]


def step_result(d: D) -> Next:
    """AOR-9.9: the token or marker, unrest, the cards; then the battle is over."""
    total = d.state.fight.strength or {}
    difference = total["attacker"] - total["defender"]
    winner: Winner = "attacker" if difference > 0 else "defender" if difference < 0 else "tie"
    d.add(BattleResolved(winner, difference))
    if winner == "attacker":
        _take(d, d.state.fight)
    _unrest(d, difference)
    _put_away(d, d.state.fight)
    d.add(BattleEnded())
    return None


def _take(d: D, battle: Battle) -> None:
    """AOR-9.9.2, AOR-9.9.3, AOR-1.4: the loser's token or the marker goes, an own token comes if there is one."""
    seat = battle.attacker
    if battle.power is not None:
        d.add(TokenRemoved(battle.power, battle.region, seat))
    if battle.marker is not None:
        d.add(MarkerTaken(seat, battle.marker, battle.region))
    if d.state.reserve(seat) > 0:
        d.add(TokenPlaced(seat, battle.region))
    if battle.marker is not None:
        money.receive(d, seat, MARKERS[battle.marker].gold, battle.marker)
        money.gain_vp(d, seat, MARKERS[battle.marker].vp)


def shares(difference: int) -> tuple[int, int, int]:
    """AOR-9.9: unrest of the attacker, of the defender, and of each supporting ally."""
    failed, loser, tie = (CONSTANTS[f"unrest_{x}"] for x in ("failed_attack", "loser", "tie"))
    decisive, minor = CONSTANTS["unrest_decisive_loser"], CONSTANTS["unrest_minor_winner"]
    if difference == 0:
        return failed + tie, tie, tie
    heavy = abs(difference) >= DECISIVE
    lost, won = loser + decisive * heavy, 0 if heavy else minor
    return (won, lost, 0) if difference > 0 else (failed + lost, won, 0)


def _unrest(d: D, difference: int) -> None:
    """AOR-9.9.1: principals, and in a tie their supporters; never a power without seat."""
    battle = d.state.fight
    attacker, defender, ally = shares(difference)
    money.add_unrest(d, battle.attacker, attacker)
    if battle.defender is not None:
        money.add_unrest(d, battle.defender, defender)
    if ally:
        for side in SIDES:
            for seat in supporters(d.state, side):
                money.add_unrest(d, seat, ally)


def _put_away(d: D, battle: Battle) -> None:
    """AOR-9.10.1: force cards go to the discards; Bluff and Alliance cards go back to the hands."""
    for seat in [battle.attacker, battle.defender]:
        card = battle.card_of(seat)
        if seat is not None and card and CARDS[card].kind == "force":
            _discard(d, seat, card)


def _discard(d: D, seat: Seat, card: str) -> None:
    d.add(CardDiscarded(seat, card))
    d.add(DiscardCounted(seat, d.state.empires[seat].discard_size + 1))
