"""Standing orders on the page of a table: those in force, their moves and ends, and the forms for new ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from flask import request

from api.http.problems import Problem
from api.pages.common.in_process import ask
from api.pages.common.numbers import parse_number
from api.pages.table.table_page import TablePage
from domain.standing_orders.order_rules import MOST_TIMES
from domain.types import MAX_INT, Doc

NEWEST_ENDED = 5
"""Ended orders on the page."""


@dataclass(frozen=True)
class OrdersShown:
    """The standing orders of a seat, as its page shows them."""

    kinds: Sequence[Doc]
    """Those that answer the open decision first."""
    standing: Sequence[Doc]
    ended: Sequence[Doc]
    """The newest ones first."""
    turn: int
    turns: Sequence[int]
    """The turns that an order may name."""
    shown: bool
    """Whether everybody reads which moves were made by orders."""
    never_draw: Collection[str] = ()
    """Kinds that need no consent to draws."""
    most_times: int = MOST_TIMES

    @property
    def acts(self) -> int:
        """Number of moves made by the standing ones."""
        return sum(len(each["acts"]) for each in self.standing)

    @staticmethod
    def name_field(found: Doc) -> str:
        """Return the name of a field in a form: a letter tells numbers from words."""
        return f"{'n' if found['kind'] in ('seat', 'amount') else 'w'}.{found['field']}"


def show_orders(page: TablePage) -> OrdersShown | None:
    """Return the standing orders of the visitor's seat in a running game; None where there are none to give."""
    if page.summary["status"] != "running" or page.seat is None or not page.labels.rules.standing_orders:
        return None
    answer = ask("GET", f"/games/{page.game}/standing-orders", role=page.role)
    if answer.status >= 400 or answer.doc["seat"] is None or answer.doc["standing_orders"] == "refused":
        return None
    doc, decision = answer.doc, page.decision["kind"] if page.decision and page.must_decide else ""
    ended = sorted((each for each in doc["items"] if each["state"] == "ended"), key=lambda each: -each["ended"])
    return OrdersShown(
        sorted(doc["kinds"], key=lambda kind: decision not in kind["decisions"]),
        [each for each in doc["items"] if each["state"] == "stands"],
        ended[:NEWEST_ENDED],
        doc["turn"],
        range(doc["turn"], doc["last_turn"] + 1),
        doc["standing_orders"] == "shown",
        [kind.name for kind in page.labels.rules.standing_orders if not kind.draws],
    )


def read_order() -> Doc:
    """Return the new order of a sent form. Raise Problem."""
    form, values = request.form, Doc()
    for name, value in form.items():
        sort, _, member = name.partition(".")
        if sort in ("n", "w") and member:
            number = parse_number(value, MAX_INT) if sort == "n" else None
            values[member] = value[:60] if number is None else number
    times, turn = (parse_number(form.get(name, ""), 1_000) for name in ("times", "turn"))
    return {
        "kind": form.get("kind", "")[:40],
        "values": values,
        "times": times or 1,
        "turn": turn,
        "chance": form.get("chance") == "yes",
        "stops": ["attacked"] if form.get("attacked") == "yes" else [],
    }


def read_order_id() -> str:
    """Return the order of a sent form. Raise Problem."""
    id_ = request.form.get("order", "")
    if not (id_.isascii() and id_.isalnum() and len(id_) <= 24):
        raise Problem("form_stale")
    return id_
