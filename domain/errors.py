"""Every error that Annals raises on purpose, as one tree.

AnnalsError
├── RuleError            a move is refused: nothing drawn, nothing stored
├── DecisionClosed       the decision that a move names is not open (any more)
├── NotSeated            the seat is not (any more) that of the person who asks
├── StaleVersion         the version that a command expects is not the game's
├── CommandReused        the same command id with another body
├── NeedsChance          a dry run came to a draw
├── UnknownGame          no such game in the ledger
├── UnknownRuleset       no such ruleset in the catalogue
├── InvalidTable         seats or options that the ruleset does not allow
├── FormError            a document does not fit the JSON form of a state
├── ScenarioError        a scenario is ill-formed, or one of its expectations failed
├── VerificationError    a log does not prove what it claims
├── UnknownKind          a stored record is of a kind that this version does not know
├── AccountError         an account does not allow what was asked for
├── Busy                 so much of what is costly is done that no more is begun
├── GameDamaged          a record or the seed of a game is not what was written: it takes no further record
├── WrongKey             the master key does not open a stored seed
└── StoreUnavailable     the store cannot take the record now (disk full, server gone)
    ├── ServerReplaced   another log is there than the one that was read, which may know less
    ├── StoreDamaged     the store's own pages cannot be read
    └── ViewsDamaged     pages of the views cannot be read: a start makes them anew from the log
"""

from __future__ import annotations

from typing import Any


class AnnalsError(Exception):
    """Root of all errors that callers may want to catch; never raised itself."""


class RuleError(AnnalsError):
    """A refusal by the rules.

    `code` is stable and documented, `rule` the number that the rules page gives it, `detail` the refused
    seat's own figures (never another seat's secret), `also` further checks that failed: (code, rule) pairs.
    """

    def __init__(
        self,
        code: str,
        rule: str = "",
        detail: dict[str, Any] | None = None,
        also: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(code)
        self.code, self.rule, self.detail, self.also = code, rule, detail or {}, also


class DecisionClosed(AnnalsError):
    """The decision named by the move is not open any more, whoever was faster."""

    def __init__(self, decision: str) -> None:
        super().__init__(f"decision {decision} is not open")
        self.decision = decision


class NotSeated(AnnalsError):
    """The seat is not, or not any more, that of the person who asks."""

    def __init__(self, seat: int) -> None:
        super().__init__(f"seat {seat} is not theirs")
        self.seat = seat


class StaleVersion(AnnalsError):
    """The expected version is not that of the game."""

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(f"version {expected} expected, the game is at {version}")
        self.expected, self.version = expected, version


class CommandReused(AnnalsError):
    """A command id that was accepted before came back with another body."""


class NeedsChance(AnnalsError):
    """A dry run came to a draw: the move is legal, its result is nobody's business yet."""


class UnknownGame(AnnalsError):
    """No such game."""


class UnknownRuleset(AnnalsError):
    """No such ruleset."""


class InvalidTable(AnnalsError):
    """Seats or options that the ruleset does not allow; `pointer` names the place (RFC 6901)."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {reason}" if pointer else reason)
        self.reason, self.pointer = reason, pointer


class FormError(AnnalsError):
    """A document does not fit the JSON form; `pointer` names the place (RFC 6901)."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or '/'}: {reason}")
        self.reason, self.pointer = reason, pointer


class ScenarioError(AnnalsError):
    """A scenario is ill-formed, or one of its expectations failed."""


class VerificationError(AnnalsError):
    """A log does not prove what it claims; `code` is stable, `version` the record where it shows (0: the head)."""

    def __init__(self, code: str, version: int = 0, detail: str = "") -> None:
        super().__init__(f"{code} at version {version}" + (f": {detail}" if detail else ""))
        self.code, self.version, self.detail = code, version, detail


class UnknownKind(AnnalsError):
    """A stored record is of a kind that this version does not know."""


class GameDamaged(AnnalsError):
    """A game takes no record while one of its own is damaged; `version` is the first such, 0 for its seed."""

    def __init__(self, game: str, version: int) -> None:
        super().__init__(f"{game} is damaged at version {version}" if version else f"the seed of {game} is damaged")
        self.game, self.version = game, version


class AccountError(AnnalsError):
    """What was asked of an account is refused; `code` is stable, `detail` a sentence for whoever asked."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code, self.detail = code, detail


class Busy(AnnalsError):
    """So much of what is costly is being done that no more is begun; it may be asked for again."""


class WrongKey(AnnalsError):
    """The master key does not open a stored seed: another key, or a box that was altered."""


class StoreUnavailable(AnnalsError):
    """The store cannot take the record now; nothing is half stored.

    Where a connection broke in mid-append, only the command id tells whether all of it was stored or nothing.
    """


class ServerReplaced(StoreUnavailable):
    """What was decided rests on what another log has told than the one that is there, which may have known more."""


class StoreDamaged(StoreUnavailable):
    """What is asked for stands on pages that the database itself cannot read."""


class ViewsDamaged(StoreUnavailable):
    """Pages of the views cannot be read. Nothing is lost: the next start makes them anew from the log."""
