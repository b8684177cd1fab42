"""Documents of standing orders, for their owner alone."""

from __future__ import annotations

from collections.abc import Mapping

from api.documents.table_teller import TableTeller
from api.schemas.standing_order_schemas import OrderFieldDoc, OrderKindDoc, StandingOrderDoc
from api.services import ApiServices
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.order_kinds import OrderField, OrderKind
from domain.standing_orders.order_rules import StandingOrder, list_options
from domain.types import Json, Seat


class OrderTeller(TableTeller):
    """Tells the standing orders of a seat in a language."""

    def __init__(self, s: ApiServices, now: AnyGame, seat: Seat, lang: str) -> None:
        super().__init__(s, now, lang)
        self._seat = seat

    def to_json(self, order: StandingOrder) -> StandingOrderDoc:
        """Return an order with its moves and its end."""
        return {
            "order": order.id,
            "kind": order.kind,
            "values": {**order.values},
            "text": self.tell(order.kind, order.values),
            "times": order.times,
            "turn": order.turn,
            "chance": order.chance,
            "stops": [*order.stops],
            "at": order.at,
            "state": order.state,
            "reason": order.reason,
            "told": (self._texts.label(f"ended_order.{order.reason}") or order.reason) if order.reason else "",
            "ended": order.ended or None,
            "acts": [act._asdict() for act in order.acts],  # type: ignore[misc] # the members of OrderActDoc
        }

    def tell(self, kind: str, values: Mapping[str, Json]) -> str:
        """Return the sentence of an order."""
        return self._texts.render(f"standing_order.{kind}", dict(values), self._names) or kind

    def list_kinds(self) -> list[OrderKindDoc]:
        """Return the kinds of the ruleset, with the values of their fields."""
        return [self._kind_to_json(kind) for kind in self._rules.standing_orders]

    def _kind_to_json(self, kind: OrderKind) -> OrderKindDoc:
        return {
            "kind": kind.name,
            "text": self._texts.label(f"standing_order.{kind.name}.name") or kind.name,
            "decisions": [*kind.decisions],
            "fields": [self._field_to_json(name, each) for name, each in kind.fields.items()],
            "stops": [*kind.stops],
        }

    def _field_to_json(self, name: str, found: OrderField) -> OrderFieldDoc:
        values = list_options(found, self._now, self._seat)
        is_number = found.kind == "amount"
        return {
            "field": name,
            "kind": found.kind,
            "text": self._texts.label(f"ask.standing_order.{name}") or name,
            "options": []
            if is_number
            else [{"value": each, "text": self._name_option(found.kind, each)} for each in values],
            "lo": values[0] if is_number else None,
            "hi": values[-1] if is_number else None,
        }

    def _name_option(self, kind: str, value: Json) -> str:
        return (self._texts.label(f"answering.{value}") or str(value)) if kind == "word" else self._word(kind, value)
