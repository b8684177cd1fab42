"""Base class of commands: values with their arguments, able to make the next record and game.

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
from domain.kernel.game.last_turn import is_last_turn_over
from domain.kernel.game.officers import Office, Officer, includes_office
from domain.kernel.game.record_builder import CommandContext, Transition
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import S
from domain.kernel.rules.ruleset import AnyRuleset, Ruleset
from domain.types import Json, Seat

TABLE_CODES: Mapping[str, str] = {
    "not_open": "the game has started: take over or leave seats instead",
    "not_running": "the game has not started, or is closed",
    "seat_taken": "the seat has a player",
    "no_free_seat": "every seat has a player",
    "seat_empty": "the seat has no player",
    "unknown_seat": "the table has no such seat",
    "nonce_mismatch": "the nonce does not match its hash",
    "seats_missing": "not every seat has a player",
    "nonces_open": "seats may still reveal their nonces (`seats`, `until`)",
    "undo_forbidden": "the rules or the table do not allow seats to undo this",
    "consent_missing": "seats that have seen or done something since then must agree",
    "director_has_stake": "the director has a seat in this game, so the other players must agree",
    "director_in_event": "the director has a place in the tournament of this table, so another officer must act",
    "office_ended": "the officer no longer has this role at the table",
    "office_insufficient": "the officer's role does not include this",
    "has_office": "the person has this role already, or a higher one",
    "no_office": "the person has no role here that you could give or end",
    "conceded": "whoever has conceded this game takes no seat in it any more",
    "deadline_passed": "your deadline has passed",
    "no_time_left": "you have used up the time of the decision that you want back",
    "still_running": "the game is not over",
    "no_vacation_left": "the seat does not have that many vacation days left",
    "not_due": "the seat has a player, and time left",
    "deadline_too_soon": "the new deadline must be at least one minute from now",
    "already_until": "it already lasts until then",
    "no_deadline": "the open decision has no deadline",
    "time_passed": "this time has passed",
    "already_seated": "you already have a seat, and the table does not allow several",
    "game_paused": "the game is paused",
    "not_paused": "the game is not paused",
    "paused_by_others": "another officer or the players have ordered this pause: name the table to end it",
    "ruling_invalid": "the ruling does not fit the seats of the table",
    "ruling_pending": "a ruling has ended the game, and can be withdrawn",
    "no_ruling": "the game has no such ruling, or its time for a withdrawal is over",
    "appeals_off": "the table has no appeals",
    "not_appealable": "no officer has decided anything in this version",
    "act_undone": "a rewind has undone this decision",
    "own_act": "this is your own decision",
    "appeal_late": "the time to appeal is over",
    "already_appealed": "your seat has appealed against this decision before",
    "appeal_answered": "an officer has answered about this decision",
    "no_appeal": "nobody has appealed against this version",
    "answer_late": "the time to answer is over, and the decision stands",
    "talk_is_off": "the players of this table do not write to each other here, or not in private (`talk`)",
    "not_now": "this is not the time for such a message (`when`)",
    "unknown_reference": "the message names a version that does not exist (`at`)",
    "unknown_treaty": "the ruleset has no treaty of this kind (`kinds`)",
    "no_treaty": "the message proposes nothing that you could answer",
    "treaty_answered": "your seat has answered this treaty before",
    "treaty_expired": "the time to answer is over (`ended`)",
    "orders_refused": "the terms of this table allow no standing orders",
    "unknown_standing_order": "the ruleset has no standing order of this kind (`kinds`)",
    "too_many_orders": "the seat has as many standing orders as possible (`most`)",
    "silenced": "you may write no words for a time (`until`), for a `reason`",
}
"""Refusals of table commands, the same in every game."""

HASHED_UNLESS_DEFAULT = MappingProxyType({"hashed_unless_default": True})
"""Metadata of a field introduced later: at its default it is no part of the hash of an idempotent request."""

NOT_HASHED = MappingProxyType({"not_hashed": True})
"""Metadata of a field outside this hash at any value: its callers have command ids of their own."""


class Command(ABC):
    """Command on an open game. Its fields are its arguments, JSON values."""

    open_to_players: ClassVar[bool] = False
    """True if an officer with a seat in the game may execute it alone; no command is unless it says so."""

    least_office: ClassVar[Office] = "director"
    """The lowest role of an officer with the right to execute it."""

    forbids_stake: ClassVar[bool] = False
    """True if no officer with a seat in the game may execute it, at any table."""

    verb: ClassVar[str]
    """Name of the command in the stored hash; neither it nor the names of the fields may change."""

    @abstractmethod
    def execute(self, rules: Ruleset[S], game: Game[S], context: CommandContext) -> Transition[S]:
        """Return the next record and game; raise RuleError or DecisionClosed."""

    @classmethod
    @abstractmethod
    def from_record(cls, record: Record, game: AnyGame) -> Command:
        """Rebuild the command from its record and the game before it."""

    @property
    def is_retryable(self) -> bool:
        """Return whether it means the same after a lost race, and is then decided again."""
        return True


def check_office(game: AnyGame, officer: Officer | None, command: Command) -> None:
    """Raise RuleError unless the officer behind a command has the role, and the role allows it."""
    if officer is not None:
        refuse_unless(game.lasting.staff.has(officer), "office_ended")
        refuse_unless(includes_office(officer.office, command.least_office), "office_insufficient")


def refuse_unless(ok: bool, code: str, **detail: Json) -> None:
    """Raise RuleError unless `ok`."""
    if not ok:
        raise RuleError(code, "", detail)


def require_running(game: AnyGame) -> None:
    refuse_unless(game.status not in ("over", "closed"), "game_over")
    refuse_unless(game.status == "running", "not_running", status=game.status)


def require_play(game: AnyGame, at: int) -> None:
    """Raise RuleError unless the game runs and a pause at this time, if any, allows moves."""
    require_running(game)
    pause = game.pause_at(at)
    refuse_unless(pause is None or pause.moves, "game_paused", until=pause and pause.until)


def refuse_after_last_turn(rules: AnyRuleset, game: AnyGame) -> None:
    """Raise RuleError `game_over` in the moment between the end of the last turn and the ruling of the clock."""
    refuse_unless(not is_last_turn_over(rules, game), "game_over")


def seat_of_record(record: Record) -> Seat:
    return int(record.public.get("seat", -1))
