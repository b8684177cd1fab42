"""Letters and treaties are told once for each table, without a word of them, until something there is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.accounts.accounts import Account
from domain.notifications.unread_messages import DELAY, INTERVAL, MESSAGE
from domain.talk.talk_store import TABLE, MailboxReader, Post, conversation_of
from domain.types import Seat
from tests.notifications.conftest import Office
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text

__all__ = ["anne", "desk", "server"]

WORDS = "Peace in the north, said Bob."


class Letters:
    """A table of Anne, Bob and a guest, whose mail tells Anne of letters."""

    def __init__(self, desk: Desk, anne: Account) -> None:
        self.desk, self.anne, self.office = desk, anne, desk.office
        self.bob = self.office.person("Bob")
        desk.confirmed(anne, ADDRESS, MESSAGE)
        self.game = self.office.table(anne, self.bob, talk="free")
        self.players = {0: anne.player, 1: self.bob.player, 2: "guest2"}
        self.office.owing.produce()

    def write(self, seat: Seat, *to: Seat, **more: Any) -> None:
        """Write a letter, or without seats to the table."""
        seats = sorted({seat, *to}) if to else range(3)
        holders = {each: self.players[each] for each in seats}
        conversation = conversation_of(seats) if to else TABLE
        post = Post(self.game, seat, holders[seat], conversation, holders, 3, 1, (1, "00"), WORDS, **more)
        self.office.context.talk.post(post)

    def wait(self, ms: int = DELAY + INTERVAL) -> int:
        """Let time pass, and send what is due; return the number of mails so far."""
        self.office.time[0] += ms
        self.desk.send()
        return len(self.desk.server.mails)

    @property
    def reader(self) -> MailboxReader:
        return MailboxReader(self.game, 0, (self.anne.player,))

    def read(self, entry: int, conversation: str = "0-1") -> None:
        self.office.context.talk.mark_read(self.reader, conversation, entry)


@pytest.fixture
def letters(desk: Desk, anne: Account) -> Letters:
    return Letters(desk, anne)


def treaty(letters: Letters, lasts: int = 10 * DELAY) -> dict[str, Any]:
    return {"treaty": {"kind": "peace", "values": {}, "ends": letters.office.time[0] + lasts}}


def test_letters_are_told_after_a_while_once_until_one_is_read(letters: Letters) -> None:
    letters.write(1, 0)
    assert letters.wait(DELAY - 1) == 0
    letters.write(2, 0)
    assert letters.wait(INTERVAL) == 1
    assert letters.wait() == 1
    letters.office.again()
    letters.read(1)  # who reads one has seen that there is another
    assert letters.wait() == 1
    letters.write(1, 0)
    assert [letters.wait() for _ in range(2)] == [2, 2]


def test_nothing_of_the_letters_leaves_the_service(letters: Letters) -> None:
    letters.office.access.texts.set_card(letters.game, letters.anne.player, "Sunday", "")
    letters.write(1, 0)
    letters.wait()
    (mail,) = letters.desk.server.mails
    body = text(mail)
    assert mail["Subject"] == "Letters: Sunday"
    assert body.startswith("You have letters at Sunday.\n\nLetters: https://play.example/games/")
    assert not any(word in body for word in ("Bob", "Peace", "north"))


def test_who_reads_in_time_is_not_disturbed(letters: Letters) -> None:
    letters.write(1, 0)
    letters.read(1)
    assert letters.wait() == 0


def test_mail_that_waited_is_not_sent_after_reading(letters: Letters) -> None:
    letters.write(1, 0)
    letters.office.time[0] += DELAY + INTERVAL
    letters.office.owing.produce()
    letters.read(1)
    letters.desk.send()
    assert [each.state for each in letters.desk.deliveries(letters.anne)] == ["expired"]


@pytest.mark.parametrize("how", ["muted", "blocked", "own", "left", "erased", "table", "answered", "old"])
def test_what_waits_for_nobody_is_not_told(letters: Letters, how: str) -> None:
    talk = letters.office.context.talk
    quiet: dict[str, Callable[[], object]] = {
        "muted": lambda: talk.mute(letters.reader, "0-1", muted=True),
        "blocked": lambda: letters.office.people.social_graph.block(letters.anne.id, letters.bob.player),
        "left": lambda: letters.office.context.ledger.execute(
            "UPDATE tokens SET revoked = 1 WHERE player = ?", (letters.anne.player,)
        ),
        "erased": lambda: talk.erase_message(letters.game, 0, 1, "report"),
        "answered": lambda: letters.write(0, answer=(1, "accept")),
    }
    more = treaty(letters) if how == "answered" else {}
    letters.write(0 if how == "own" else 1, *(() if how in ("table", "answered") else (0, 1)), **more)
    quiet.get(how, lambda: None)()
    assert letters.wait(3 * 86_400_000 if how == "old" else DELAY + INTERVAL) == 0


def test_a_treaty_at_the_table_passes_a_mute_while_it_is_open(letters: Letters) -> None:
    letters.office.context.talk.mute(letters.reader, TABLE, muted=True)
    letters.write(1, **treaty(letters, DELAY // 2))
    assert letters.wait() == 0
    letters.write(1, **treaty(letters))
    assert letters.wait() == 1


def test_programs_get_the_table_and_the_seat_alone(office: Office, anne: Account) -> None:
    hook = office.hook(anne, "http://127.0.0.1:9/x", "mine", "", MESSAGE)
    game = office.table(anne, talk="free")
    office.owing.produce()
    post = Post(game, 1, "guest1", "0-1", {0: anne.player, 1: "guest1"}, 3, 1, (1, "00"), WORDS)
    office.context.talk.post(post)
    office.time[0] += DELAY + INTERVAL
    office.owing.produce()
    claimed = office.notices.outbox.claim()
    assert claimed is not None
    assert (claimed.webhook.id, claimed.type) == (hook.id, MESSAGE)
    assert b'"data":{"game":"%s","ruleset":"orders@1","seat":0}}' % game.encode() in claimed.body
