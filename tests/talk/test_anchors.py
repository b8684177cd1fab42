"""Heads in the memory of a process: its own messages at once, those of other processes within a second."""

from __future__ import annotations

import time

from domain.errors import StoreUnavailable
from domain.service.database import Row
from domain.talk.anchors import MailboxAnchors
from domain.talk.mailboxes import EMPTY, root_of
from tests.talk.conftest import TalkingTable, other_process


def test_a_process_knows_its_own_messages_at_once(table: TalkingTable) -> None:
    empty = table.handler.anchors.root(table.game, 3, 6)
    table.say(0, "Peace?", 1)
    assert table.handler.anchors.root(table.game, 3, 6) != empty


def test_it_learns_those_of_others_by_a_refresh_alone(table: TalkingTable) -> None:
    other = other_process(table)
    empty = other.root(table.game, 3, 6)
    assert empty == root_of(other.leaves(table.game, 6, [EMPTY] * 3))
    table.say(0, "Peace?", 1)
    assert other.root(table.game, 3, 6) == empty
    other.refresh()
    assert other.root(table.game, 3, 6) == table.handler.anchors.root(table.game, 3, 6) != empty


def test_a_thread_refreshes_once_somebody_asked(table: TalkingTable) -> None:
    other = other_process(table)
    other.follow()
    table.say(0, "Peace?", 1)
    until, wanted = time.monotonic() + 20, table.handler.anchors.root(table.game, 3, 6)
    while other.root(table.game, 3, 6) != wanted:
        assert time.monotonic() < until
        time.sleep(0.05)
    other.stop()


def test_older_heads_are_ignored(table: TalkingTable) -> None:
    table.say(0, "Peace?", 1)
    root = table.handler.anchors.root(table.game, 3, 6)
    table.handler.anchors.note(table.game, 0, [EMPTY] * 3)
    assert table.handler.anchors.root(table.game, 3, 6) == root


def test_blinds_differ_by_game_version_seat_and_follow_the_ring(table: TalkingTable) -> None:
    one, other = table.handler.anchors, other_process(table)
    blinds = [one.blind(game, version, seat) for game in ("a", "b") for version in (1, 2) for seat in (0, 1)]
    assert len({*blinds}) == 8
    assert blinds[0] == other.blind("a", 1, 0)


def test_a_root_reads_nothing_from_the_store(table: TalkingTable) -> None:
    """A store that does not answer any more stops no move."""

    class Gone:
        log_id = "gone"

        def execute(self, *_: object) -> list[Row]:
            raise StoreUnavailable("gone")

    keys = table.ledger.keys
    anchors = MailboxAnchors(Gone(), lambda: keys)  # type: ignore[arg-type] # it has what is asked for
    assert len(anchors.root(table.game, 3, 6)) == 64
