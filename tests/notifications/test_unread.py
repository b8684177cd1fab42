"""One mail per table until the person has looked there."""

from __future__ import annotations

import pytest

from domain.accounts.accounts import Account
from domain.kernel.game.play_commands import Lapse, Resolve
from domain.notifications.outbox import BACKOFF
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.test_owing import PACE, decision, submit

__all__ = ["anne", "desk", "server"]

LONG = PACE | {"options": {"turns": 5}}
TURN = PACE["pace"]["seconds"]["turn"] * 1000


def miss(desk: Desk, *games: str) -> None:
    """All seats let the deadline pass."""
    desk.office.time[0] += TURN
    for game in games:
        desk.office.context.commands.handle(game, Lapse(decision(desk.office, game)))
        resolve(desk, game)


def resolve(desk: Desk, game: str) -> None:
    """The engine ends the turn."""
    desk.office.context.commands.handle(game, Resolve(decision(desk.office, game)))


def look(desk: Desk, who: Account, game: str) -> None:
    desk.office.notices.unread_mail.mark_seen(game, who.player)


class TestTurns:
    def test_no_second_turn_mail_comes_while_the_first_is_unread(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "turn.due")
        game = desk.office.table(anne, **LONG)
        assert desk.send() == 1
        for _ in range(2):
            miss(desk, game)
            desk.pump()
            desk.send()
        assert len(desk.server.mails) == 1
        assert [each.state for each in desk.deliveries(anne)] == ["delivered", "expired", "expired"]
        look(desk, anne, game)
        miss(desk, game)
        desk.send()
        assert len(desk.server.mails) == 2

    def test_each_table_and_each_person_counts_alone(self, desk: Desk, anne: Account) -> None:
        bob = desk.office.person("Bob")
        desk.confirmed(anne, ADDRESS, "turn.due")
        desk.confirmed(bob, "bob@example.org", "turn.due")
        first, second = desk.office.table(anne, bob, **LONG), desk.office.table(anne, **LONG)
        desk.send()
        desk.server.got.clear()
        look(desk, bob, first)
        look(desk, anne, second)
        miss(desk, first, second)
        desk.send()
        assert sorted(to for _, to, _ in desk.server.got) == [ADDRESS, "bob@example.org"]

    def test_a_mail_that_was_not_sent_is_none_to_read(self, desk: Desk, anne: Account) -> None:
        desk.confirmed(anne, ADDRESS, "turn.due")
        game = desk.office.table(anne)
        desk.server.answer = lambda word, _: "450 later" if word == "RCPT" else ""
        desk.send()
        submit(desk.office, game, 0, 1, 2)
        resolve(desk, game)
        desk.pump()
        desk.server.answer = lambda *_: ""
        desk.office.time[0] += 2 * BACKOFF[0]
        desk.send()
        assert [each.state for each in desk.deliveries(anne)] == ["expired", "delivered"]

    def test_programs_hear_of_every_turn(self, desk: Desk, anne: Account) -> None:
        desk.office.hook(anne, "http://127.0.0.1:9/x", "mine", "", "turn.due")
        game = desk.office.table(anne, **LONG)
        for _ in range(2):
            miss(desk, game)
        desk.office.owing.produce()
        assert desk.office.types() == ["turn.due"] * 3


def test_one_warning_of_a_deadline_comes_meanwhile(desk: Desk, anne: Account) -> None:
    desk.confirmed(anne)
    game = desk.office.table(anne, **LONG)
    desk.send()
    for _ in range(2):
        desk.office.time[0] += TURN - 1_000_000
        desk.office.deliver()
        desk.office.time[0] -= TURN - 1_000_000
        miss(desk, game)
        desk.send()
    assert [subject.partition(":")[0] for subject in desk.server.subjects] == ["Your turn", "Deadline near"]


@pytest.mark.parametrize("end", ["removed", "erased"])
def test_with_the_address_nothing_is_kept(desk: Desk, anne: Account, end: str) -> None:
    desk.confirmed(anne)
    desk.office.table(anne)
    desk.send()
    execute = desk.office.context.ledger.execute
    assert execute("SELECT count(*) FROM mail_unread") == [(1,)]
    if end == "removed":
        desk.office.notices.email_subscriptions.remove(anne.id)
    else:
        desk.office.people.accounts.erase(anne.id, lambda _: desk.office.notices.erase(anne.id))
    assert execute("SELECT count(*) FROM mail_unread") == [(0,)]
