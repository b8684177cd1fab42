"""Texts end some time after their game, on both stores."""

from __future__ import annotations

from dataclasses import replace

from domain.accounts.account_tables import DAY
from domain.command_handler import new_game_id
from domain.kernel.game.table_commands import Close, Join
from domain.talk.talk_store import TABLE, MailboxReader, Post
from tests.workers.conftest import Harness
from workers.maintenance.talk_retention import TalkRetention


def test_texts_of_long_closed_games_alone_are_erased(harness: Harness) -> None:
    context = replace(harness.context, clock=lambda: harness.time[0])
    context.talk.migrate()
    games = [new_game_id() for _ in range(2)]
    for game in games:
        context.commands.open(game, "orders@1", 2, body={"talk": "free"})
        context.commands.handle(game, Join(0, "p0"))
        head = context.ledger.read(game)[-1]
        context.talk.post(Post(game, 0, "p0", TABLE, {0: "p0", 1: ""}, 2, 2, (2, head.hash), "Hello."))
    context.commands.handle(games[0], Close("abandoned"))
    assert TalkRetention(context, 365).step() == 0
    harness.time[0] += 366 * DAY
    retention = TalkRetention(context, 365)
    assert retention.step() == 1
    assert retention.step() == 0  # it rests
    found = [context.talk.list_entries(MailboxReader(game, 0, ("p0",)))[0] for game in games]
    assert [each.erased for each in found] == ["retention", ""]
    assert [bool(each.message) for each in found] == [False, True]
