"""Facts of combat (SOE-8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from domain.games.struggle_of_empires import state_updates
from domain.games.struggle_of_empires.data import Unit
from domain.games.struggle_of_empires.state import Cause, Combat, Loss, Offer, Party, Side, Stage, Struggle, Winner
from domain.games.struggle_of_empires.value_objects import LossChoice, OfferMade
from domain.kernel.rules import flow
from domain.kernel.schema.declarations import UNSET, Count, Fact, Maybe, Meta, Part, declared_classes, or_none
from domain.types import Seat

Die = Annotated[int, Meta(ge=1, le=6)]


class AttackDeclared(Fact[Struggle], frozen=True):
    """SOE-8.1.3: an attack on a seat, a marker or a tile."""

    seat: Seat
    region: str
    kind: str
    target: Maybe[Seat] = UNSET
    marker: Maybe[str] = UNSET
    tile: Maybe[str] = UNSET
    surprise: Maybe[bool] = UNSET
    offers: Maybe[Sequence[OfferMade]] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        attacker = Party("player", self.seat, offers=_offers(self.offers or ()))
        defender = Party(self.kind, or_none(self.target), or_none(self.marker))
        return flow.assign(s, combat=Combat(self.region, attacker, defender, self.surprise is True))


def _offers(offers: Sequence[OfferMade]) -> tuple[Offer, ...]:
    return tuple(Offer(o.seat, o.gold, o.min_armies or 0, o.min_navies or 0) for o in offers)


class SupportAnswered(Fact[Struggle], frozen=True):
    """SOE-8.3.2: an ally's units are committed to a side."""

    seat: Seat
    side: Side
    armies: Count
    navies: Count

    def evolve(self, s: Struggle) -> Struggle:
        committed = {unit: n for unit, n in (("army", self.armies), ("navy", self.navies)) if n}
        if not committed:
            return s
        support = {**s.battle.party(self.side).support, str(self.seat): committed}
        return state_updates.party(s, self.side, support=support)


class SupportRequested(Fact[Struggle], frozen=True):
    """SOE-8.3.4: the defender asks allies."""

    seat: Seat
    ask: Sequence[Seat]
    offers: Maybe[Sequence[OfferMade]] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.party(s, "defender", offers=_offers(self.offers or ()))


class NavalChoiceMade(Fact[Struggle], frozen=True):
    """SOE-8.4.2: a principal fights for naval support, or does not."""

    seat: Seat
    fight: bool


class NavalSupportGained(Fact[Struggle], frozen=True):
    """SOE-8.4, SOE-8.5.4: a side has naval support in the land battle."""

    side: Side
    seat: Seat

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.combat(s, naval_support=self.side)


class AllianceTilesAssigned(Fact[Struggle], frozen=True):
    """SOE-8.5.1: these tiles count at sea."""

    seat: Seat
    side: Side
    tiles: Sequence[str]

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.party(s, self.side, at_sea=tuple(self.tiles))


class BlockadeUsed(Fact[Struggle], frozen=True):
    """SOE-8.6.1: naval support is worth 2; the Blockade goes back to the stock."""

    seat: Seat
    tile: str
    banned: bool

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.combat(state_updates.return_tile(s, self.seat, self.tile, self.banned), blockade=True)


class BattleRolled(Fact[Struggle], frozen=True):
    """SOE-8.5.2, SOE-8.6.2: two dice each, and the strengths with them."""

    stage: Stage
    attacker: Sequence[Die]
    defender: Sequence[Die]
    totals: Sequence[int]

    def evolve(self, s: Struggle) -> Struggle:
        dice = (*self.attacker, *self.defender)
        return state_updates.combat(s, stage=self.stage, dice=dice, totals=tuple(self.totals))


class ReserveAnswered(Fact[Struggle], frozen=True):
    """SOE-8.7.1, SOE-8.7.2: used, a Reserve is turned."""

    seat: Seat
    tile: str
    use: bool

    def evolve(self, s: Struggle) -> Struggle:
        return state_updates.turn_tile(s, self.seat, self.tile) if self.use else s


class LossDue(Part, frozen=True):
    """SOE-8.9.1: a unit lost by a side in battle; seat and unit once there is one option."""

    side: Side
    cause: Cause
    ally: Maybe[bool] = UNSET
    seat: Maybe[Seat] = UNSET
    unit: Maybe[Unit] = UNSET


class BattleResolved(Fact[Struggle], frozen=True):
    """SOE-8.5.4, SOE-8.8: the winner, and the losses."""

    winner: Winner
    losses: Sequence[LossDue]

    def evolve(self, s: Struggle) -> Struggle:
        losses = tuple(Loss(x.side, x.cause, x.ally is True, or_none(x.seat), or_none(x.unit)) for x in self.losses)
        return state_updates.combat(s, winner=self.winner, losses=losses)


class LossesChosen(Fact[Struggle], frozen=True):
    """SOE-8.9.2: the open losses of a side are filled in."""

    seat: Seat
    side: Side
    choices: Sequence[LossChoice]

    def evolve(self, s: Struggle) -> Struggle:
        chosen = iter(self.choices)
        return state_updates.combat(s, losses=tuple(self._filled(loss, chosen) for loss in s.battle.losses))

    def _filled(self, loss: Loss, chosen: Iterator[LossChoice]) -> Loss:
        if loss.side != self.side or loss.seat is not None:
            return loss
        choice = next(chosen)
        return flow.assign(loss, seat=choice.seat, unit=choice.unit)


class WithdrawalAnswered(Fact[Struggle], frozen=True):
    """SOE-8.10.1, SOE-8.10.2: used, the loss `item` is cancelled and Fighting Withdrawal goes back to the stock."""

    seat: Seat
    tile: str
    use: bool
    save: Maybe[Seat] = UNSET
    item: Maybe[Count] = UNSET
    banned: Maybe[bool] = UNSET

    def evolve(self, s: Struggle) -> Struggle:
        if self.item is UNSET:
            return s
        losses = s.battle.losses
        s = state_updates.return_tile(s, self.seat, self.tile, self.banned is True)
        return state_updates.combat(s, losses=(*losses[: self.item], *losses[self.item + 1 :]))


class CombatEnded(Fact[Struggle], frozen=True):
    """SOE-4.3: the combat is over."""

    def evolve(self, s: Struggle) -> Struggle:
        return flow.assign(s, combat=None)


FACTS = declared_classes(__name__, Fact)
