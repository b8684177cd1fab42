"""The tables of talk: who reads what after any sequence of messages, erasures, take-overs and records."""

from __future__ import annotations

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from domain.command_handler import CommandHandler
from domain.errors import CommandReused, RuleError
from domain.kernel.game.director_commands import Hold
from domain.ledger import Ledger
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.seed_store import SeedStore
from domain.talk.talk_store import BURST, SPECTATORS, TABLE, MailboxReader, TalkStore
from tests.talk.conftest import REGISTRY, TalkingTable
from tests.talk.test_mailboxes import prove

SEATS = st.integers(0, 2)


class Talks(RuleBasedStateMachine):
    """Three seats that write to each other, change hands, are erased, and play."""

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        ledger = Ledger.open(f"sqlite:///{Path(self.folder.name) / 'ledger'}", bytes(32))
        ledger.migrate()
        ticks = itertools.count(1_000, 1_000)
        handler = CommandHandler(ledger, REGISTRY, SeedStore(ledger, ledger.keys), lambda: next(ticks))
        store = TalkStore(ledger, lambda: ledger.keys, handler.anchors, lambda: table.now)
        table = TalkingTable(ledger, handler, store)
        table.store.migrate()
        table.open(talk="free")
        self.table = table
        self.players = {seat: f"p{seat}" for seat in range(3)}
        self.sent: list[tuple[str, str, frozenset[str], frozenset[int]]] = []
        """Text, writer, players who may read it, seats."""
        self.erased: set[str] = set()
        self.numbers = itertools.count()

    @rule(seat=SEATS, to=st.sets(SEATS, max_size=2))
    def write(self, seat: int, to: set[int]) -> None:
        text, others = f"<{next(self.numbers)}>", to - {seat}
        self.table.say(seat, text, *others, players=self.players)
        seats = frozenset({seat, *others} if others else range(3))
        readers = frozenset(self.players[each] for each in seats) if others else frozenset()
        self.sent.append((text, self.players[seat], readers, seats))

    @rule(seat=SEATS)
    def change_hands(self, seat: int) -> None:
        self.players[seat] = f"q{next(self.numbers)}"

    @rule(seat=SEATS)
    def erase(self, seat: int) -> None:
        player = self.players[seat]
        for statement, params in self.table.store.erase([player]):
            self.table.ledger.execute(statement, params)
        self.erased |= {text for text, writer, *_ in self.sent if writer == player}
        self.players[seat] = f"q{next(self.numbers)}"

    @rule()
    def make_a_record(self) -> None:
        self.table.handler.handle(self.table.game, Hold(1, 60))

    @rule()
    def restart(self) -> None:
        self.table.handler.anchors._reset()

    @invariant()
    def nobody_reads_what_is_not_theirs(self) -> None:
        people = {player for _, _, readers, _ in self.sent for player in readers} | {*self.players.values()}
        for player, seat in itertools.product(sorted(people), range(3)):
            found = self.table.store.list_entries(self.table.reader(seat, player), limit=500)
            seen = [each.message["text"] for each in found if each.message]
            wanted = [
                text
                for text, _, readers, seats in self.sent
                if seat in seats and text not in self.erased and (not readers or (seat, player) in self._held(text))
            ]
            assert seen == wanted
            assert all(each.conversation == TABLE or each.holder == player for each in found), "nor with whom"
        spectator = self.table.store.list_entries(MailboxReader(self.table.game, SPECTATORS), limit=500)
        public = [text for text, _, readers, _ in self.sent if not readers and text not in self.erased]
        assert [each.message["text"] for each in spectator if each.message] == public

    def _held(self, wanted: str) -> set[tuple[int, str]]:
        """The seats with their players when a letter was written."""
        query = """SELECT e.mailbox, e.player FROM talk_entries e JOIN talk_messages m
          ON m.game = e.game AND m.number = e.number WHERE m.number = ?"""
        number = next(n for n, (text, *_) in enumerate(self.sent, 1) if text == wanted)
        return {(mailbox, player) for mailbox, player in self.table.ledger.execute(query, (number,))}

    @invariant()
    def the_chains_verify(self) -> None:
        for seat in range(3):
            report = prove(self.table, seat)
            assert report["entries"] == sum(seat in seats for *_, seats in self.sent)

    def teardown(self) -> None:
        if hasattr(self, "table"):
            self.table.ledger.close()
            self.folder.cleanup()


Talks.TestCase.settings = settings(
    max_examples=25, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTalks = Talks.TestCase


class TestRepeatedRequests:
    def test_one_key_stands_for_one_message_and_keeps_no_hash_of_it(self, table: TalkingTable) -> None:
        key = IdempotencyKey("key-1", "fingerprint of the text", table.game)
        first = table.say(0, "Peace?", 1, key=key)
        assert table.say(0, "Peace?", 1, key=key) == first
        with pytest.raises(CommandReused):
            table.say(0, "War!", 1, key=IdempotencyKey("key-1", "another fingerprint", table.game))
        rows: list[Any] = table.ledger.execute("SELECT * FROM talk_messages")
        rows += table.ledger.execute("SELECT body_hash FROM commands WHERE id = 'key-1'")
        assert "fingerprint" not in str(rows)
        assert "Peace" not in str(rows)

    def test_a_repetition_after_the_erasure_confirms_no_guess(self, table: TalkingTable) -> None:
        first = table.say(0, "Peace?", 1, key=IdempotencyKey("key-1", "right", table.game))
        table.store.erase_message(table.game, 0, first, "report")
        for guess in ("right", "wrong"):
            assert table.say(0, guess, 1, key=IdempotencyKey("key-1", guess, table.game)) == first


class TestAllowance:
    def test_it_is_counted_for_the_seat_and_filled_by_time(self, table: TalkingTable) -> None:
        at = table.now = 10_000_000

        def say(seat: int) -> None:
            table.now = at - 60_000
            table.say(seat, "x", 2)

        for _ in range(BURST):
            say(0)
        with pytest.raises(RuleError, match="too_many"):
            say(0)
        say(1)
        at += 2_000
        say(0)
        at -= 5_000_000  # the clock jumps back: nothing is won by it
        with pytest.raises(RuleError, match="too_many"):
            say(0)


class TestErasure:
    @pytest.mark.parametrize("reason", ["report", "retention"])
    def test_a_text_goes_and_its_reason_stays(self, table: TalkingTable, reason: str) -> None:
        entry = table.say(0, "Peace?", 1)
        if reason == "report":
            table.store.erase_message(table.game, 0, entry, reason)
        else:
            assert table.store.erase_expired([table.game]) == 1
        for seat in (0, 1):
            (found,) = table.store.list_entries(table.reader(seat))
            assert (found.message, found.erased) == (None, reason)
        assert table.ledger.execute("SELECT count(*) FROM talk_keys") == [(0,)]
