"""The order sheet of a seat on the page of its table: its orders, and the forms to change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.pages.common.form_keys import new_form_key
from api.pages.common.labels import Labels
from api.pages.common.presentation import SheetForm, load_form, load_sheet
from api.pages.decision.move_choices import Pick, Picks
from domain.types import Doc, Json


@dataclass(frozen=True)
class OrderShown:
    """An order in words, and the answers with which the builder asks for one in its place."""

    number: int
    label: str
    picks: Picks


@dataclass(frozen=True)
class SheetShown:
    """A sheet: `filed` if it is submitted and may be taken back, `open` if it may be changed."""

    orders: Sequence[OrderShown]
    balance: Sequence[tuple[str, str]]
    filed: bool
    open: bool
    decision: str
    key: str
    submit: str
    """Type of the move to submit it, or an empty text."""


def show_sheet(labels: Labels, own: Doc, decision: Doc, seat: int, key: str) -> SheetShown | None:
    """Return the sheet of a seat, or None if the game has none or none is open."""
    form = load_sheet(labels.rules.package)
    if form is None or (seat not in decision["must"] and seat not in decision["may"]):
        return None
    orders = [_show_order(labels, form, each, decision, key) for each in form.list_orders(own)]
    figures = [(labels.member(name), labels.value(name, value)) for name, value in form.find_balance(own).items()]
    is_open = seat in decision["must"]
    if not orders and not figures:
        return None
    return SheetShown(orders, figures, not is_open, is_open, decision["id"], new_form_key(), form.submit)


def _show_order(labels: Labels, form: SheetForm, order: Doc, decision: Doc, key: str) -> OrderShown:
    number, move = int(order[form.number]), form.order_move(order)
    label = labels.move(move)
    if derived := [labels.value(name, order[name]) for name in form.derived if name in order]:
        label = labels.sentence(f"{label} ({', '.join(derived)})")
    picks = Picks(decision["id"], key, (Pick("type", move["type"]),), number)
    return OrderShown(number, label, picks)


def list_moves(labels: Labels, picks: Picks, move: Json) -> list[Json]:
    """Return the moves that make `move`: before it the end of the order in whose place it comes, after it what ends it.

    A form may end the decision with its move (`then`).
    """
    form = load_sheet(labels.rules.package)
    before = [form.cancel_move(picks.replaces)] if form and picks.replaces is not None else []
    declared = load_form(labels.rules.package, str(move.get("type"))) if isinstance(move, dict) else {}
    return [*before, move, *([declared["then"]] if "then" in declared else [])]


def cancel_moves(labels: Labels, own: Doc, number: int, *, again: bool) -> list[Json]:
    """Return the moves that cancel an order, and with `again` file it anew as the last one."""
    form = load_sheet(labels.rules.package)
    found = [each for each in form.list_orders(own) if each[form.number] == number] if form else []
    if form is None or not found:
        return []
    return [form.cancel_move(number), *([form.order_move(found[0])] if again else [])]
