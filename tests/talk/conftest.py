"""A table with talk, over every store."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from domain.command_handler import CommandHandler, new_game_id
from domain.kernel.game.table_commands import Close, Join, Start
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.service.seed_store import SeedStore
from domain.talk.anchors import MailboxAnchors
from domain.talk.talk_store import TABLE, MailboxReader, Post, TalkStore, conversation_of
from domain.types import Seat
from tests.contracts.conftest import far_url, line, postgres_server, postgres_url, url
from tests.rulesets import FLOWS

__all__ = ["far_url", "line", "postgres_server", "postgres_url", "url"]

REGISTRY = RulesetRegistry([entry.rules for entry in FLOWS])


@dataclass
class TalkingTable:
    """A table of three with talk, its handler and its store."""

    ledger: Ledger
    handler: CommandHandler
    store: TalkStore
    now: int = 1_000
    game: str = ""
    terms: dict[str, Any] | None = None

    def open(self, **terms: str) -> str:
        """Open and start a table of three."""
        self.game = new_game_id()
        self.handler.open(self.game, "orders@1", 3, body={"undo": "free", **terms})
        for seat in range(3):
            self.handler.handle(self.game, Join(seat, f"p{seat}"))
        self.handler.handle(self.game, Start())
        return self.game

    def say(self, seat: Seat, text: str, *to: Seat, players: dict[Seat, str] | None = None, **more: Any) -> int:
        """Write a letter, or without seats to the table; return its place in the writer's mailbox."""
        self.now += 60_000
        seats = sorted({seat, *to}) if to else range(3)
        holders = {s: (players or {}).get(s, f"p{s}") for s in seats}
        head = self.ledger.read(self.game)[-1]
        conversation = conversation_of(seats) if to else TABLE
        post = Post(
            self.game, seat, holders[seat], conversation, holders, 3, head.version, (head.version, head.hash), text
        )
        return self.store.post(post, **more)[0]

    def reader(self, seat: Seat, *players: str, **more: Any) -> MailboxReader:
        """The reader of a seat's mailbox."""
        return MailboxReader(self.game, seat, players or (f"p{seat}",), **more)

    def close(self) -> None:
        """Close the game."""
        self.handler.handle(self.game, Close("abandoned"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger, ready to use."""
    ledger = Ledger.open(url, bytes(32))
    ledger.migrate()
    yield ledger
    ledger.close()


@pytest.fixture
def table(ledger: Ledger) -> TalkingTable:
    """A table with the term `talk: free`."""
    ticks = itertools.count(1_000, 1_000)
    handler = CommandHandler(ledger, REGISTRY, SeedStore(ledger, ledger.keys), lambda: next(ticks))
    made = TalkingTable(ledger, handler, TalkStore(ledger, lambda: ledger.keys, handler.anchors, lambda: made.now))
    made.store.migrate()
    made.open(talk="free")
    return made


def other_process(table: TalkingTable) -> MailboxAnchors:
    """The anchors of a process that has stored no message itself."""
    return MailboxAnchors(table.ledger, lambda: table.ledger.keys)
