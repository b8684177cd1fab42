"""Rows of the people around an event, before they are in its records: offers, claim codes, and the code of its hall.

An offer binds nobody: the answer yes is a record. A claim code makes an account the owner of an imported entrant, once.
The code of an event lifts the limits of an address for its people.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from domain.errors import AccountError
from domain.kernel.text.message_catalog import Message
from domain.service.database import Database, Execute, Statement, placeholders
from domain.service.idempotency_keys import IdempotencyKey, bind_key
from domain.service.token_text import hash_secret

TABLES = (
    # `part` is `entrant`, or an office.
    """CREATE TABLE IF NOT EXISTS event_offers (
  tournament TEXT NOT NULL, player TEXT NOT NULL, part TEXT NOT NULL, by TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, player, part))""",
    "CREATE INDEX IF NOT EXISTS event_offers_player ON event_offers (player)",
    # An imported entrant without an account; the row goes with the claim.
    """CREATE TABLE IF NOT EXISTS event_claims (
  tournament TEXT NOT NULL, player TEXT NOT NULL, hash TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tournament, player))""",
    "CREATE UNIQUE INDEX IF NOT EXISTS event_claims_hash ON event_claims (hash)",
    """CREATE TABLE IF NOT EXISTS event_codes (
  tournament TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, people BIGINT NOT NULL, until BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS event_guests (
  account TEXT NOT NULL, tournament TEXT NOT NULL, until BIGINT NOT NULL, PRIMARY KEY (account, tournament))""",
)

MOST_OFFERS = 2_000
"""Most open offers of an event."""

GUEST_LASTS = 12 * 3_600_000
"""Time for which the limits of an address do not apply to the owner of a claim code, ms."""

ENTRANT = "entrant"
"""The part of an invited person."""

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters of a code, without those that look alike."""

_CODE = 15
"""Letters of a code: 74 bits."""

_OFFER = """
INSERT INTO event_offers VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tournament, player, part) DO UPDATE SET by = excluded.by, at = excluded.at"""
_USE = (
    "UPDATE event_codes SET people = people - 1 WHERE hash = ? AND people > 0 AND until > ? RETURNING tournament, until"
)
_GUEST = """
INSERT INTO event_guests VALUES (?, ?, ?)
ON CONFLICT (account, tournament) DO UPDATE SET until = excluded.until"""


class EventOffer(NamedTuple):
    """The question to a person to take part in an event, or to be an officer there."""

    tournament: str
    player: str
    part: str
    by: str
    """Player id of the officer."""
    at: int
    """Time, ms."""


class EventCode(NamedTuple):
    """The rest of the code of an event."""

    people: int
    until: int
    """End, ms."""


def make_event_code() -> str:
    """Return a new code as people read and type it."""
    text = "".join(secrets.choice(_LETTERS) for _ in range(_CODE))
    return "-".join(text[i : i + 5] for i in range(0, _CODE, 5))


def _hash_code(code: str) -> str:
    return hash_secret("".join(sign for sign in code.lower() if sign.isalnum()))


class EventPeople:
    """Tables of offers, claims, codes and guests of events. Every method may raise StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- offers

    def offer(self, offer: EventOffer, key: IdempotencyKey | None = None) -> None:
        """Store an offer, once for a key. Raise AccountError above the limit."""

        def work(execute: Execute) -> None:
            if not bind_key(execute, key):
                return
            rows = execute("SELECT COUNT(*) FROM event_offers WHERE tournament = ?", (offer.tournament,))
            if any(count >= MOST_OFFERS for (count,) in rows):
                raise AccountError("too_many", Message("An event has {most} open offers at most.", most=MOST_OFFERS))
            execute(_OFFER, offer)

        self._database.run_in_append_order(work)

    def find_offer(self, offer: EventOffer) -> EventOffer | None:
        """Return the stored offer of the same part to the same person, or None."""
        query = "SELECT * FROM event_offers WHERE tournament = ? AND player = ? AND part = ?"
        return next((EventOffer(*row) for row in self._database.execute(query, offer[:3])), None)

    @staticmethod
    def add_offer(offer: EventOffer) -> Statement:
        """Return the statement to store an offer."""
        return _OFFER, offer

    def store(self, statements: Sequence[Statement], key: IdempotencyKey | None = None) -> None:
        """Run statements, all or none, once for a key."""

        def work(execute: Execute) -> None:
            if not bind_key(execute, key):
                return
            for statement, params in statements:
                execute(statement, params)

        self._database.run_in_append_order(work)

    def list_offers(self, players: Sequence[str]) -> list[EventOffer]:
        """Return the offers to a person with these ids, oldest first."""
        some = placeholders(players)
        query = f"SELECT * FROM event_offers WHERE player IN ({some}) ORDER BY at, tournament"  # noqa: S608 - question marks only
        return [EventOffer(*row) for row in self._database.execute(query, players)]

    def list_offers_in(self, tournament: str) -> list[EventOffer]:
        """Return the offers in an event, oldest first."""
        query = "SELECT * FROM event_offers WHERE tournament = ? ORDER BY at, player"
        return [EventOffer(*row) for row in self._database.execute(query, (tournament,))]

    @staticmethod
    def end_offer(tournament: str, player: str, part: str = "") -> Statement:
        """Return the statement to delete an offer; without a part all offers to the person in the event."""
        statement = "DELETE FROM event_offers WHERE tournament = ? AND player = ?"
        return (f"{statement} AND part = ?", (tournament, player, part)) if part else (statement, (tournament, player))

    def withdraw_offer(self, tournament: str, player: str, part: str = "") -> bool:
        """Delete an offer; return whether there was one."""
        statement, params = self.end_offer(tournament, player, part)
        return bool(self._database.execute(f"{statement} RETURNING player", params))

    # --- claims

    @staticmethod
    def add_claim(tournament: str, player: str, code: str, at: int) -> Statement:
        """Return the statement to store the claim code of an imported entrant, in place of an earlier one."""
        statement = """
INSERT INTO event_claims VALUES (?, ?, ?, ?)
ON CONFLICT (tournament, player) DO UPDATE SET hash = excluded.hash, at = excluded.at"""
        return statement, (tournament, player, _hash_code(code), at)

    def find_claim(self, code: str) -> tuple[str, str] | None:
        """Return event and player id of the entrant behind a claim code, or None."""
        query = "SELECT tournament, player FROM event_claims WHERE hash = ?"
        return next(((str(t), str(player)) for t, player in self._database.execute(query, (_hash_code(code),))), None)

    @staticmethod
    def end_claim(tournament: str, player: str) -> Statement:
        """Return the statement to end a claim: its code works no more."""
        return "DELETE FROM event_claims WHERE tournament = ? AND player = ?", (tournament, player)

    def list_unclaimed(self, tournament: str) -> list[str]:
        """Return the player ids of the imported entrants without an account."""
        query = "SELECT player FROM event_claims WHERE tournament = ? ORDER BY at, player"
        return [str(player) for (player,) in self._database.execute(query, (tournament,))]

    # --- the code of a hall

    def set_code(self, tournament: str, code: str, people: int, until: int) -> None:
        """Store the code of an event in place of an earlier one; `until` in ms."""
        statement = """
INSERT INTO event_codes VALUES (?, ?, ?, ?)
ON CONFLICT (tournament) DO UPDATE SET hash = excluded.hash, people = excluded.people, until = excluded.until"""
        self._database.execute(statement, (tournament, _hash_code(code), people, until))

    def find_code(self, tournament: str, now: int) -> EventCode | None:
        """Return the rest of an event's code, or None without one in force."""
        query = "SELECT people, until FROM event_codes WHERE tournament = ? AND until > ?"
        return next((EventCode(*row) for row in self._database.execute(query, (tournament, now))), None)

    def end_code(self, tournament: str) -> bool:
        """Delete the code of an event, and the marks of its people; return whether there was one."""
        self._database.execute("DELETE FROM event_guests WHERE tournament = ?", (tournament,))
        return bool(
            self._database.execute("DELETE FROM event_codes WHERE tournament = ? RETURNING people", (tournament,))
        )

    def use_code(self, code: str, now: int) -> tuple[str, int] | None:
        """Count one person for a code; return its event and end, or None for a wrong, used or ended code."""
        rows = self._database.execute(_USE, (_hash_code(code), now))
        return next(((str(tournament), int(until)) for tournament, until in rows), None)

    def give_back(self, tournament: str) -> None:
        """Count one person less for the code of an event, after a registration without an account."""
        self._database.execute("UPDATE event_codes SET people = people + 1 WHERE tournament = ?", (tournament,))

    @staticmethod
    def add_guest(account: str, tournament: str, until: int) -> Statement:
        """Return the statement to mark an account as one of an event's people; `until` in ms."""
        return _GUEST, (account, tournament, until)

    def is_guest(self, account: str, now: int) -> bool:
        """Return whether an account is one of the people of an event's code in force."""
        query = "SELECT 1 FROM event_guests WHERE account = ? AND until > ?"
        return bool(self._database.execute(query, (account, now)))

    # --- erasure

    @staticmethod
    def erase(players: Sequence[str]) -> list[Statement]:
        """Return statements to delete all offers to and by a person."""
        return [("DELETE FROM event_offers WHERE player = ? OR by = ?", (player, player)) for player in players]
