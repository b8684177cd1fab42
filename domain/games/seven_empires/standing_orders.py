"""Standing orders of players: passage, defenders, and movements."""

from __future__ import annotations

from domain.games.seven_empires import frames
from domain.games.seven_empires.data import EMPIRES, UNITS
from domain.games.seven_empires.moves import AnswerPassage, ChooseDefender, EndMovement
from domain.games.seven_empires.state import Seven
from domain.kernel.rules.order_kinds import ANSWER, OrderField, OrderKind, Values, values_of
from domain.kernel.schema.declarations import Move
from domain.types import Seat


def _is_passage_of(s: Seven, seat: Seat, values: Values) -> bool:
    """Return whether an army of the named empire asks to pass (SE7-8.7)."""
    return bool(s.top.context(frames.Passage).empire == values["empire"])


def _name_defender(s: Seven, seat: Seat, values: Values) -> Move | None:
    """SE7-8.11: the named unit, if it is there."""
    unit = str(values["unit"])
    return ChooseDefender(unit) if unit in s.top.context(frames.Counterfight).units else None


STANDING_ORDERS = (
    OrderKind(
        "answer_passage",
        ("passage",),
        lambda s, seat, values: AnswerPassage(values["answer"] == "accept"),
        {"empire": OrderField("id", values_of(*EMPIRES)), "answer": ANSWER},
        _is_passage_of,
    ),
    OrderKind(
        "name_defender", ("counterfight",), _name_defender, {"unit": OrderField("id", values_of(*UNITS))}, stops=()
    ),
    OrderKind("end_movement", ("movement",), lambda s, seat, values: EndMovement()),
)
"""What may be ordered, in the order in which it is offered."""
