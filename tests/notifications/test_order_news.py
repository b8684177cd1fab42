"""The owner of a standing order is told of each move and of its end, once, and of nothing that it says."""

from __future__ import annotations

from domain.accounts.accounts import Account
from domain.notifications.order_news import LAG, ORDER_TYPES
from domain.standing_orders.order_rules import Act
from tests.notifications.desk import ADDRESS, Desk, anne, desk, server
from tests.notifications.mailserver import text

__all__ = ["anne", "desk", "server"]

CONTENT = {"kind": "hold_ground", "values": {}, "times": 3, "turn": 1, "chance": False, "stops": []}


def test_moves_and_ends_are_told_once_with_the_reason(desk: Desk, anne: Account) -> None:
    office = desk.office
    desk.confirmed(anne, ADDRESS, *ORDER_TYPES)
    bob = office.person("Bob")
    game = office.table(anne, bob)
    office.access.texts.set_card(game, anne.player, "Sunday", "")
    desk.send()
    store = office.context.orders
    order, other = (store.add(game, 0, player, 1, CONTENT) for player in (anne.player, bob.player))

    def wait() -> list[str]:
        office.time[0] += 2 * LAG
        desk.send()
        return [str(mail["Subject"]) for mail in desk.server.mails]

    assert wait() == []
    for each in (order, other):
        office.context.ledger.execute(*store.record_act(each, Act(6, "0-1", office.time[0])))
    assert wait() == wait() == ["Standing order: Sunday"]
    store.end(order, "attacked")
    assert wait() == wait() == ["Standing order: Sunday", "Standing order ended: Sunday"]
    body = text(desk.server.mails[-1])
    assert body.startswith("A standing order of yours has ended at Sunday. Your seat was attacked.")
    assert "hold_ground" not in body
    revoked = store.add(game, 0, anne.player, 1, CONTENT)
    store.end(revoked, "revoked")
    assert len(wait()) == 2
