"""Deadlines: the defaults of all who still owe a decision when its time is over."""

from __future__ import annotations

from collections.abc import Sequence

from domain.catalogue import Catalogue
from domain.errors import DecisionClosed, RuleError, StaleVersion, UnknownGame
from domain.ids import Seat
from domain.kernel.record import Record
from projections import known
from workers.crew import crew
from workers.turns import GONE, gone, stored

EARLY = "early"
"""What the job says when there is time left: a clock stood still meanwhile, this worker's clock is behind, or nobody
who asked after the deadline has been answered yet."""


RACES = 50
"""How often a lapse is judged anew: each lost race is somebody's record."""


def lapse(game: str, decision: str) -> str:
    """Missed deadlines, if the log says that they have been missed; who has time left goes on thinking."""
    hands = crew()
    for _ in range(RACES):
        records = hands.ledger.read(game)
        if not records:
            raise UnknownGame(game)
        dues = dues_of(hands.catalogue, records, decision)
        until = min(hands.clock(), hands.outages.answered())
        late = [seat for seat, due in dues.items() if due <= until]
        if not late:  # a lapse that names no seats is one of all seats
            return EARLY if dues else GONE
        try:
            return stored(hands, hands.commands.lapse(game, decision, late, expected=records[-1].version))
        except StaleVersion:  # what came in between may have given them time
            continue
        except (DecisionClosed, RuleError) as error:
            return gone(error)
    return EARLY


def dues_of(catalogue: Catalogue, records: Sequence[Record], decision: str) -> dict[Seat, int]:
    """When the default of each seat that owes that decision is played (ms); empty if it is not open or has no clock."""
    game = known.begin(catalogue, records[0])
    for record in records[1:]:
        game = known.follow(game, record, lambda upto: records[:upto])
    owing = [seat for d in game.open("director") if d.id == decision for seat in d.must]
    return game.dues(owing)
