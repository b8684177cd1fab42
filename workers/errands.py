"""Errands as jobs: each is done from its row, and what came of it is written there."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.beside.errands import Doc, Errand
from domain.errors import GameDamaged, RuleError, StaleVersion, StoreUnavailable, UnknownGame
from workers.crew import Crew, crew
from workers.damaged import suspected

log = logging.getLogger("annals.errands")

SETTLED, WAITS = "settled", "waits"
"""What a job says: the row tells what came of it; seats must still agree."""

Do = Callable[[Crew, Errand], Doc]


def settle(id_: str, do: Do) -> str:
    """Do the errand unless that was done, and write down what came of it. What is refused is an outcome as well.

    While the store is away nothing can be written: the row stands, and so the errand is tried again.
    """
    hands = crew()
    errand = hands.errands.find(id_)
    if errand is None or errand.outcome is not None:
        return SETTLED
    try:
        outcome = do(hands, errand)
    except StaleVersion as error:
        outcome = {"refused": "stale_version", "version": error.version}
    except RuleError as error:
        outcome = {"refused": error.code}
    except UnknownGame:
        outcome = {"refused": "unknown_game"}
    except StoreUnavailable:
        raise
    except GameDamaged:
        outcome = {"refused": "record_damaged"}
    except Exception:
        if errand.game and suspected(hands, errand.game):
            hands.errands.settle(id_, {"refused": "record_damaged"})
            return SETTLED
        hands.errands.settle(id_, {"refused": "internal_error"})
        raise
    if not outcome:
        return WAITS
    hands.errands.settle(id_, outcome)
    return SETTLED
