"""The group chat of a table: whose turn it is, by when, as everybody may know it."""

from __future__ import annotations

import pytest

from domain.accounts.accounts import Account
from domain.kernel.game.director_commands import Extend
from domain.kernel.game.pause_commands import PauseGame
from domain.kernel.game.table_commands import Close
from domain.notifications.chats import ChatRequest
from domain.notifications.outbox import BACKOFF, GIVEN_UP
from tests.notifications.conftest import Receiver, receiver
from tests.notifications.desk import Desk, anne, desk, server
from tests.notifications.test_mail_changes import leave
from tests.notifications.test_owing import PACE, decision, submit
from tests.notifications.test_unread import LONG, miss, resolve

__all__ = ["anne", "desk", "receiver", "server"]


def join_chat(desk: Desk, who: Account, game: str, receiver: Receiver, language: str = "en") -> None:
    """Name the receiver as the table's chat, and take its first message."""
    wish = ChatRequest(game, "orders@1", f"{receiver.url}/hook", language)
    desk.office.notices.chats.save(who.id, wish, "loopback", desk.office.head(), [])
    desk.send()
    receiver.got.clear()


def told(desk: Desk, receiver: Receiver) -> list[str]:
    """The messages that came since."""
    desk.pump()
    desk.send()
    messages = [str(doc["text"]) for doc in receiver.docs]
    receiver.got.clear()
    return messages


class TestMessages:
    @pytest.mark.parametrize(
        ("language", "said"),
        [
            (
                "en",
                "To play: seat 1 (Anne), seat 2 and seat 3\nUntil: Thursday 28 September 1972, 00:00",
            ),
            (
                "fr",
                "À jouer : joueur 1 (Anne), joueur 2 et joueur 3\nAvant : jeudi 28 septembre 1972 à 00:00",
            ),
        ],
    )
    def test_it_is_told_whose_turn_it_is_and_by_when(
        self, desk: Desk, anne: Account, receiver: Receiver, language: str, said: str
    ) -> None:
        game = desk.office.table(anne, start=False, **PACE)
        desk.office.access.texts.set_card(game, anne.player, "Sunday", "")
        for statement in desk.office.access.texts.set_name(anne.player, "Anne"):
            desk.office.context.ledger.execute(*statement)
        join_chat(desk, anne, game, receiver, language)
        desk.office.begin(game)
        assert told(desk, receiver) == [f"Sunday (Orders)\n{said} (UTC)\nhttps://play.example/games/{game}"]

    def test_its_form_is_one_that_chat_programs_take(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne)
        wish = ChatRequest(game, "orders@1", receiver.url, "en")
        desk.office.notices.chats.save(anne.id, wish, "loopback", desk.office.head(), [])
        desk.send()
        ((headers, _),), (doc,) = receiver.got, receiver.docs
        assert headers["content-type"] == "application/json"
        assert not [name for name in headers if name.startswith("webhook-")]
        assert doc == {"text": doc["text"], "content": doc["text"], "allowed_mentions": {"parse": []}}
        assert "Messages here will tell whose turn it is." in doc["text"]

    def test_a_title_calls_nobody_and_is_no_link(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, start=False)
        desk.office.access.texts.set_card(game, anne.player, "<!channel> @everyone <http://x|y>", "")
        join_chat(desk, anne, game, receiver)
        desk.office.begin(game)
        (message,) = told(desk, receiver)
        assert not set("<>@") & set(message)

    def test_an_answer_in_secret_is_told_nobody(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        """A turn is told when it begins; who has answered since is not."""
        game = desk.office.table(anne)
        join_chat(desk, anne, game, receiver)
        submit(desk.office, game, 0, 1)
        assert told(desk, receiver) == []
        submit(desk.office, game, 2)
        resolve(desk, game)
        assert len(told(desk, receiver)) == 1

    def test_the_end_is_told(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne)
        join_chat(desk, anne, game, receiver)
        desk.office.context.commands.handle(game, Close("abandoned", "director"))
        (message,) = told(desk, receiver)
        assert "The game is over." in message


class TestSilence:
    def test_of_a_table_with_a_delay_nothing_is_told(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, start=False, delay=3600)
        join_chat(desk, anne, game, receiver)
        desk.office.begin(game)
        desk.send()
        assert receiver.got == []

    def test_with_the_person_who_named_it_it_ends(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, **LONG)
        join_chat(desk, anne, game, receiver)
        leave(desk, game, 0)
        miss(desk, game)
        assert told(desk, receiver) == []

    def test_a_turn_that_is_over_by_now_is_not_told(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, **LONG)
        join_chat(desk, anne, game, receiver)
        receiver.answer = lambda _: 503
        miss(desk, game)
        assert len(told(desk, receiver)) == 1
        miss(desk, game)
        receiver.answer = lambda _: 204
        desk.office.time[0] += 2 * BACKOFF[0]
        assert len(told(desk, receiver)) == 1

    def test_a_deadline_that_was_moved_is_told_as_it_is(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, start=False, **PACE)
        join_chat(desk, anne, game, receiver)
        desk.office.begin(game)
        desk.office.owing.produce()
        desk.office.context.commands.handle(game, Extend(decision(desk.office, game), 7_200_000, "director"))
        (message,) = told(desk, receiver)
        assert "02:00 (UTC)" in message

    def test_during_a_pause_it_says_so(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, start=False, **PACE)
        join_chat(desk, anne, game, receiver)
        desk.office.begin(game)
        desk.office.owing.produce()
        desk.office.context.commands.handle(game, PauseGame())
        (message,) = told(desk, receiver)
        assert "The game is paused: no time runs." in message
        assert "Until" not in message

    def test_one_that_fails_for_days_is_switched_off(self, desk: Desk, anne: Account, receiver: Receiver) -> None:
        game = desk.office.table(anne, **LONG)
        join_chat(desk, anne, game, receiver)
        receiver.answer = lambda _: 500
        miss(desk, game)
        told(desk, receiver)
        desk.office.time[0] += GIVEN_UP
        told(desk, receiver)
        found = desk.office.notices.chats.find(game)
        assert found
        assert found.state == "off"


def test_chat_is_no_webhook_and_its_address_is_kept_encrypted(desk: Desk, anne: Account, receiver: Receiver) -> None:
    game = desk.office.table(anne)
    join_chat(desk, anne, game, receiver)
    chat, execute = desk.office.notices.chats.find(game), desk.office.context.ledger.execute
    assert chat
    assert desk.office.notices.webhooks.list_by_account(anne.id) == []
    assert desk.office.notices.webhooks.find(anne.id, chat.webhook) is None
    assert not desk.office.notices.webhooks.remove(anne.id, chat.webhook)
    kept = "".join(repr(execute(f"SELECT * FROM {table}")) for table in ("webhooks", "chats", "deliveries"))  # noqa: S608
    assert "/hook" not in kept
    desk.office.people.accounts.erase(anne.id, lambda _: desk.office.notices.erase(anne.id))
    assert [execute(f"SELECT * FROM {table}") for table in ("webhooks", "chats", "deliveries")] == [[], [], []]  # noqa: S608
