"""The base class of commands: values with their arguments that make the next record and game.

The command handler (over the ledger), `in_memory_game` and `verify` (of a log) all execute commands. Commands of the
table raise RuleError with the codes of TABLE_CODES, moves with those of the kernel and the ruleset; a refusal changes
nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from domain.errors import RuleError
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.record_builder import Moment, Step
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Json, Seat

TABLE_CODES: Mapping[str, str] = {
    "not_open": "the game has started: seats are taken or given back by other acts",
    "not_running": "the game has not started, or is closed",
    "seat_taken": "the seat has a player",
    "no_free_seat": "every seat has a player",
    "seat_empty": "the seat has no player",
    "unknown_seat": "the table has no such seat",
    "nonce_mismatch": "the nonce is not the one that was committed to",
    "seats_missing": "not every seat has a player",
    "undo_forbidden": "the rules, or the table, do not let a seat undo this",
    "consent_missing": "seats that have learnt or done something since must agree",
    "still_running": "the game is not over",
    "no_vacation_left": "the seat has not that many days of vacation",
    "not_due": "the seat has a player, and time left",
    "deadline_too_soon": "a deadline is brought forward to a minute from now at the soonest",
    "already_seated": "whoever has a seat takes no other one, unless the table lets one person have several",
}
"""Refusals of acts of the table, the same in every game."""

LATER = MappingProxyType({"later": True})
"""Of a field that an act has got since: at its default it is no part of what a command's id stands for."""

UNSAID = MappingProxyType({"unsaid": True})
"""Of one that is no part of that whatever it holds: who asks has ids of their own."""


class Act(ABC):
    """Something that can be done to a game that is open. Its fields are its arguments, values of JSON."""

    verb: ClassVar[str]
    """The name in the hash that is stored with a command; neither it nor the names of the fields may change."""

    @abstractmethod
    def step(self, rules: Ruleset[S], game: Game[S], moment: Moment) -> Step[S]:
        """The next record and game; raises RuleError or DecisionClosed."""

    @classmethod
    @abstractmethod
    def of(cls, record: Record, game: AnyGame) -> Act:
        """What was done, by the record of it, to the game as it was before."""

    @property
    def lasting(self) -> bool:
        """Whether it means the same after a lost race, and is then decided anew."""
        return True


def refuse_unless(ok: bool, code: str, **detail: Json) -> None:
    """Raises RuleError."""
    if not ok:
        raise RuleError(code, "", detail)


def require_running(game: AnyGame) -> None:
    refuse_unless(game.status not in ("over", "closed"), "game_over")
    refuse_unless(game.status == "running", "not_running", status=game.status)


def seat_of_record(record: Record) -> Seat:
    return int(record.public.get("seat", -1))
