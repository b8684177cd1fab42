"""Deadlines: the defaults of all who still owe a decision when its time is over."""

from __future__ import annotations

from collections.abc import Sequence

from domain.catalogue import Catalogue
from domain.errors import DecisionClosed, RuleError, UnknownGame
from domain.kernel.record import Record
from projections import known
from workers.crew import crew
from workers.turns import GONE, gone, stored

EARLY = "early"
"""What the job says when there is time left: a clock stood still meanwhile, or this worker's clock is behind."""


def lapse(game: str, decision: str) -> str:
    """A missed deadline, if the log says that it has been missed."""
    hands = crew()
    records = hands.ledger.read(game)
    if not records:
        raise UnknownGame(game)
    due = due_at(hands.catalogue, records, decision)
    if due is None:
        return GONE
    if due > hands.clock():
        return EARLY
    try:
        return stored(hands, hands.commands.lapse(game, decision))
    except (DecisionClosed, RuleError) as error:
        return gone(error)


def due_at(catalogue: Catalogue, records: Sequence[Record], decision: str) -> int | None:
    """When the default of that decision is played (ms), grace included; None if it is not open or has no clock."""
    game = known.begin(catalogue, records[0])
    for record in records[1:]:
        game = known.follow(game, record, lambda upto: records[:upto])
    is_open = any(d.id == decision and d.must for d in game.open("director"))
    return game.due if is_open else None
