"""People of a game: who sits where, who has left, who has a stake in it. No rewind takes anything of it back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from domain.kernel.records.record import Record
from domain.types import Seat


@dataclass(frozen=True)
class Player:
    """Player of a seat: an opaque id, and the seat's contribution to the seed."""

    id: str
    nonce_hash: str = ""
    nonce: str = ""
    """Hex; empty until revealed. A seat without a revealed nonce plays without one."""


BOT = re.compile(r"bot-(?P<bot>[a-z]{1,20})-[0-9]{1,2}")
"""Ids of players run by the service: name of the bot, number of the seat. No person has such an id."""


def bot_of(player: Player) -> str:
    """Return the bot's name; empty for a person."""
    match = BOT.fullmatch(player.id)
    return match["bot"] if match else ""


def is_bot(player_id: str | None) -> bool:
    """Return whether the service runs the player with this id."""
    return bool(player_id and BOT.fullmatch(player_id))


SEATING_KINDS = ("joined", "left", "revealed", "started")
"""Kinds of records that change the seating."""


@dataclass(frozen=True)
class Seating:
    """Players of the seats, now and before."""

    players: Mapping[Seat, Player] = field(default_factory=dict)
    stakeholders: frozenset[str] = frozenset()
    """All players who have had a seat since the start, also those who have left it."""
    changes: tuple[tuple[int, Seat, str], ...] = ()
    """Version, seat and new player (empty: none) of each change of players, in order."""
    former_players: Mapping[Seat, str] = field(default_factory=dict)
    """Seat -> player who left it last, in the running game."""
    concessions: tuple[tuple[Seat, str], ...] = ()
    """Seat and player of each concession."""

    @property
    def nonces(self) -> dict[Seat, str]:
        """Return the revealed nonces by seat."""
        return {seat: player.nonce for seat, player in self.players.items() if player.nonce}

    @property
    def unrevealed_seats(self) -> list[Seat]:
        """Return the seats that have committed to a nonce and not revealed it."""
        return sorted(seat for seat, player in self.players.items() if player.nonce_hash and not player.nonce)

    def has_stakeholder(self, player_ids: Iterable[str]) -> bool:
        """Return whether one of these players has, or had, a seat since the start."""
        return not self.stakeholders.isdisjoint(player_ids)

    def after(self, record: Record, status: str) -> Seating:
        """Return the seating after a record of `SEATING_KINDS`; `status` is the game's before it."""
        kind, seat = record.head.kind, record.head.seat
        if kind == "started":
            return replace(self, stakeholders=frozenset(player.id for player in self.players.values()))
        if seat is None:
            return self
        if kind == "revealed":
            player = replace(self.players[seat], nonce=record.body["nonce"])
            return replace(self, players={**self.players, seat: player})
        return (
            self._after_joining(record, seat, status) if kind == "joined" else self._after_leaving(record, seat, status)
        )

    def _after_joining(self, record: Record, seat: Seat, status: str) -> Seating:
        player_id = record.body["player"]
        nonce = self.players[seat].nonce if seat in self.players else ""
        player = Player(player_id, record.body.get("nonce_hash", ""), nonce)
        return replace(
            self,
            players={**self.players, seat: player},
            stakeholders=self.stakeholders | {player_id} if status == "running" else self.stakeholders,
            changes=(*self.changes, (record.version, seat, player_id)),
        )

    def _after_leaving(self, record: Record, seat: Seat, status: str) -> Seating:
        player = self.players[seat]
        others = {s: other for s, other in self.players.items() if s != seat}
        is_concession = bool(record.body.get("conceded"))
        return replace(
            self,
            players=others if status == "open" else {**self.players, seat: replace(player, id="")},
            changes=(*self.changes, (record.version, seat, "")),
            former_players={**self.former_players, seat: player.id},
            concessions=(*self.concessions, (seat, player.id)) if is_concession else self.concessions,
        )
