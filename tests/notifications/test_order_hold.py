"""A turn is not told to its player while a standing order may answer it, and everybody else reads it at once."""

from __future__ import annotations

from domain.accounts.accounts import Account
from domain.standing_orders.order_rules import Act, StandingOrder
from tests.notifications.conftest import Receiver, receiver
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.test_chats import join_chat
from tests.notifications.test_order_news import CONTENT
from tests.notifications.test_owing import URL, decision, submit
from workers.notifications.order_hold import LATE, PAUSE

__all__ = ["anne", "desk", "receiver", "server"]

WAKE = 3_600_000


def open_with_order(desk: Desk, anne: Account) -> tuple[str, StandingOrder]:
    """A started game whose first decision an order of Anne is going to answer: mail and webhook wait for it."""
    office = desk.office
    desk.confirmed(anne, ADDRESS, "turn.due")
    office.hook(anne, URL, "mine", "", "turn.due")
    game = office.table(anne, start=False)
    order = office.context.orders.add(game, 0, anne.player, 4, CONTENT)
    office.begin(game)
    return game, order


def states(desk: Desk, after: int = 0) -> set[str]:
    """The states of the notices of turns, some time later."""
    desk.office.time[0] += after
    desk.pump()
    desk.send()
    return {row[3] for row in desk.office.rows() if row[2] == "turn.due"}


def plan(desk: Desk, game: str, order: StandingOrder) -> None:
    desk.office.context.orders.plan(order, decision(desk.office, game), desk.office.time[0] + WAKE, 5)


def test_it_waits_for_the_order_and_is_told_when_the_order_ends(desk: Desk, anne: Account) -> None:
    game, order = open_with_order(desk, anne)
    assert states(desk) == {"waiting"}  # not judged yet
    plan(desk, game, order)
    assert states(desk, PAUSE) == states(desk, WAKE - PAUSE) == {"waiting"}
    assert desk.server.mails == []
    desk.office.context.orders.end(order, "revoked")
    states(desk, 2 * PAUSE)
    assert len(desk.server.mails) == 1


def test_what_an_order_has_answered_is_never_told(desk: Desk, anne: Account) -> None:
    game, order = open_with_order(desk, anne)
    plan(desk, game, order)
    assert states(desk) == {"waiting"}
    act = Act(6, decision(desk.office, game), desk.office.time[0])
    submit(desk.office, game, 0)
    desk.office.context.ledger.execute(*desk.office.context.orders.record_act(order, act))
    desk.office.context.orders.plan(order, "", 0, 6)
    assert states(desk, WAKE + 2 * PAUSE) == {"expired"}
    assert desk.server.mails == []


def test_order_that_leaves_decision_to_its_player_holds_nothing(desk: Desk, anne: Account) -> None:
    _, order = open_with_order(desk, anne)
    desk.office.context.orders.plan(order, "", 0, 5)
    states(desk)
    assert len(desk.server.mails) == 1


def test_it_is_told_late_if_no_worker_judges_the_order(desk: Desk, anne: Account) -> None:
    open_with_order(desk, anne)
    assert states(desk) == {"waiting"}
    states(desk, LATE)
    assert len(desk.server.mails) == 1


def test_chat_of_the_table_and_other_players_are_told_at_once(desk: Desk, anne: Account, receiver: Receiver) -> None:
    office, bob = desk.office, desk.office.person("Bob")
    desk.confirmed(bob, ADDRESS, "turn.due")
    game = office.table(anne, bob, start=False)
    join_chat(desk, anne, game, receiver)
    office.context.orders.add(game, 0, anne.player, 4, CONTENT)
    office.begin(game)
    assert states(desk) == {"delivered"}
    assert ["To play: seat 1" in str(doc["text"]) for doc in receiver.docs] == [True]
    assert len(desk.server.mails) == 1
