"""Keeps a turn's notice back while a standing order of the seat may answer the decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from domain.notifications.deliveries import ClaimedDelivery
from domain.notifications.webhooks import CHAT
from domain.standing_orders.order_rules import StandingOrder
from domain.standing_orders.order_store import OrderStore
from domain.types import Doc
from projections.reader import Reader
from projections.table_describer import list_owed

PAUSE = 5_000
"""ms until a notice that waits for an order is judged anew."""

LATE = 600_000
"""ms after which a notice waits no longer: no worker judges the orders, or shows what one has made."""


@dataclass(frozen=True)
class OrderHold:
    """Compares own notices of turns with the orders of their reader.

    Chats tell a turn at once: everybody would learn of an order by their silence.
    """

    orders: OrderStore
    reader: Reader

    def find_end(self, delivery: ClaimedDelivery, now: int) -> int | None:
        """Return until when (ms) a notice waits, 0 if it does not; None if an order has answered the decision."""
        if delivery.type != "turn.due" or delivery.webhook.about == CHAT:
            return 0
        data: Doc = json.loads(delivery.body)["data"]
        orders = self.orders.list_by_account(data["game"], data["seat"], delivery.webhook.account)
        for order in orders:
            if order.state == "stands" and (end := _find_wait(order, data, delivery.made)) > now:
                return min(end, max(order.wake, now) + PAUSE)
        return self._find_end_after_acts(orders, data, now)

    def _find_end_after_acts(self, orders: Sequence[StandingOrder], data: Doc, now: int) -> int | None:
        acts = [act for order in orders for act in order.acts if act.decision == data["decision"]]
        if not acts:
            return 0
        last = max(acts)
        summary = self.reader.find_summary(data["game"], inside=True)
        if summary is None or summary["version"] < last.version:
            return now + PAUSE if now < last.at + LATE else 0
        owed = [decision["id"] for decision in list_owed(self.reader, summary, data["seat"])]
        return 0 if data["decision"] in owed else None


def _find_wait(order: StandingOrder, data: Doc, made: int) -> int:
    """Return the time (ms) by which an order has answered or given up, if it works; 0: it does not answer."""
    if order.seen < data["version"]:
        return made + LATE
    return order.wake + LATE if order.decision == data["decision"] else 0
