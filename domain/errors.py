"""Errors raised on purpose by Annals, as one tree.

AnnalsError
├── RuleError            a move is refused: nothing drawn, nothing stored
├── DecisionClosed       the decision named by a move is not open (any more)
├── NotSeated            the seat does not belong (any more) to the caller
├── StaleVersion         the version expected by a command is not the game's
├── CommandReused        the same command id with another body
├── NeedsChance          a dry run came to a draw
├── ScoresHidden         standings need something that the viewer may not know
├── UnknownGame          no such game in the ledger
├── UnknownTournament    no such tournament in the ledger
├── UnknownRuleset       no such ruleset in the registry
├── InvalidTable         seats or options not allowed by the ruleset
├── FormError            a document does not fit the JSON form of a state
├── TournamentError      the sums of a tournament do not allow a plan, a result or a bid
├── ScenarioError        a scenario is ill-formed, or one of its expectations failed
├── VerificationError    a log does not prove its claims
├── NoteError            a signed note, checkpoint, key or proof is malformed or not signed
├── UnknownKind          a stored record has a kind unknown to this version
├── AccountError         a request about an account is refused
├── Busy                 too many costly operations are running
├── GameDamaged          a record or the seed of a game is corrupt: the game takes no further record
├── WrongKey             the master key does not open a stored seed
└── StoreUnavailable     the store cannot take the record now (disk full, server gone)
    ├── ServerReplaced   the database holds another log than the one read before
    ├── StoreDamaged     the database cannot read its own pages
    └── ViewsDamaged     pages of the views cannot be read: the next start rebuilds them from the log
"""

from __future__ import annotations

from typing import Any


class AnnalsError(Exception):
    """Root of all errors for callers to catch; never raised itself."""


class RuleError(AnnalsError):
    """Refusal by the rules.

    `code` is stable and documented; `rule` is its number on the rules page; `detail` holds the refused seat's own
    figures, never another seat's secret; `also` lists further failed checks as (code, rule) pairs.
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
    """The decision named by the move is no longer open."""

    def __init__(self, decision: str) -> None:
        super().__init__(f"decision {decision} is not open")
        self.decision = decision


class NotSeated(AnnalsError):
    """The seat does not belong, or no longer belongs, to the caller."""

    def __init__(self, seat: int) -> None:
        super().__init__(f"seat {seat} is not theirs")
        self.seat = seat


class StaleVersion(AnnalsError):
    """The expected version differs from the game's version."""

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(f"version {expected} expected, the game is at {version}")
        self.expected, self.version = expected, version


class CommandReused(AnnalsError):
    """The id of an accepted command came back with another body."""


class NeedsChance(AnnalsError):
    """A dry run came to a draw with this label: the move is legal, but its result must stay unknown."""

    def __init__(self, label: str = "") -> None:
        super().__init__(label)
        self.label = label


class ScoresHidden(AnnalsError):
    """Standings need something that the viewer may not know. A ruleset raises it in its `scores`."""


class UnknownGame(AnnalsError):
    """No such game."""


class UnknownTournament(AnnalsError):
    """No such tournament."""


class UnknownRuleset(AnnalsError):
    """No such ruleset."""


class InvalidTable(AnnalsError):
    """Seats or options not allowed by the ruleset; `pointer` names the place (RFC 6901)."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {reason}" if pointer else reason)
        self.reason, self.pointer = reason, pointer


class FormError(AnnalsError):
    """A document does not fit the JSON form; `pointer` names the place (RFC 6901)."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer or '/'}: {reason}")
        self.reason, self.pointer = reason, pointer


class TournamentError(AnnalsError):
    """A plan, a result or a bid does not add up; `code` is stable, `pointer` names the place (RFC 6901)."""

    def __init__(self, code: str, reason: str, pointer: str = "") -> None:
        super().__init__(f"{pointer}: {reason} ({code})" if pointer else f"{reason} ({code})")
        self.code, self.reason, self.pointer = code, reason, pointer


class ScenarioError(AnnalsError):
    """A scenario is ill-formed, or one of its expectations failed."""


class VerificationError(AnnalsError):
    """A log does not prove its claims; `code` is stable, `version` the faulty record (0: the head)."""

    def __init__(self, code: str, version: int = 0, detail: str = "") -> None:
        super().__init__(f"{code} at version {version}" + (f": {detail}" if detail else ""))
        self.code, self.version, self.detail = code, version, detail


class NoteError(AnnalsError):
    """A signed note, checkpoint, verifier key or proof does not hold; `code` is stable."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail = code, detail


class UnknownKind(AnnalsError):
    """A stored record has a kind unknown to this version."""


class GameDamaged(AnnalsError):
    """The game takes no record because one of its own is corrupt; `version` is the first such, 0 for its seed."""

    def __init__(self, game: str, version: int) -> None:
        super().__init__(f"{game} is damaged at version {version}" if version else f"the seed of {game} is damaged")
        self.game, self.version = game, version


class AccountError(AnnalsError):
    """A request about an account is refused; `code` is stable, `detail` a sentence for the caller."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code, self.detail = code, detail


class Busy(AnnalsError):
    """Too many costly operations are running; the caller may try again."""


class WrongKey(AnnalsError):
    """The master key does not open a stored seed: another key, or altered ciphertext."""


class StoreUnavailable(AnnalsError):
    """The store cannot take the record now; nothing is half stored.

    After a connection broke during an append, only the command id tells whether all of it was stored or nothing.
    """


class ServerReplaced(StoreUnavailable):
    """The decision rests on another log than the database's present one, and may rest on lost records."""


class StoreDamaged(StoreUnavailable):
    """The database cannot read the pages of the requested rows."""


class ViewsDamaged(StoreUnavailable):
    """Pages of the views cannot be read. Nothing is lost: the next start rebuilds them from the log."""
