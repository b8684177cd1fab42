"""Comparison of two versions of the rules: the moves of a stored game, decided again under the other version.

The seed and all commands stay the same. Facts, draws and moves of each record are compared for each of its readers;
states, boards and hashes are not, since another version may have other fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.errors import AnnalsError, DecisionClosed, InvalidTable, RuleError
from domain.kernel.game.command_of_record import command_of
from domain.kernel.game.game import AnyGame
from domain.kernel.game.officers import Officer
from domain.kernel.game.record_builder import Agreement, AnyTransition, CommandContext
from domain.kernel.game.table_commands import Open
from domain.kernel.records.audience import TABLE_KEY
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.types import Json

_PARTS = ("acts", "draws", "facts", "order")


@dataclass(frozen=True)
class RulesDifference:
    """The first record decided otherwise by another version of the rules."""

    version: int
    kind: str
    """Kind of the record."""
    code: str
    """`differs`, `table_refused`, `fails`, or the code of the refusal."""
    part: str = ""
    """The differing part, as `facts 2`; or the error of failing rules. It shows nothing hidden."""

    def to_json(self) -> dict[str, Json]:
        """Return the difference as printed by the command line."""
        return dict(self.__dict__)


def compare_rules(rules: AnyRuleset, records: Sequence[Record], seed: bytes) -> RulesDifference | None:
    """Return the first difference of a game under other rules, or None if there is none.

    `records` are all of the game with all packs. Nothing after a difference is decided: the game would be another.
    """
    game: AnyGame | None = None
    games: dict[int, AnyGame] = {}
    for record in records:
        try:
            step = _decide_under(rules, game, record, seed, games)
        except InvalidTable:
            return RulesDifference(record.version, record.kind, "table_refused")
        except RuleError as error:
            return RulesDifference(record.version, record.kind, error.code)
        except DecisionClosed:
            return RulesDifference(record.version, record.kind, "decision_closed")
        except AnnalsError:
            raise
        except Exception as error:  # noqa: BLE001 - rules under test fail in any way
            return RulesDifference(record.version, record.kind, "fails", type(error).__name__)
        if part := _first_difference(step.record, record):
            return RulesDifference(record.version, record.kind, "differs", part)
        game = games[record.version] = step.game
    return None


def _decide_under(
    rules: AnyRuleset, game: AnyGame | None, record: Record, seed: bytes, games: dict[int, AnyGame]
) -> AnyTransition:
    def game_at(version: int) -> AnyGame:
        return games[version]

    command_id = record.packs.get(TABLE_KEY, {}).get("command", "")
    agreement, officer = Agreement.from_record(record), Officer.from_record(record)
    context = CommandContext(seed, record.time, command_id, None, game_at, agreement, officer, replaying=True)
    context = replace(context, talk_root=lambda _: record.public.get("talk", ""))
    if game is not None:
        return command_of(record, game).execute(rules, game, context)
    opening = Open.from_record(record)
    table = rules.make_table(opening.table.seats, opening.table.options)
    return Open(opening.game, table, opening.body).execute(rules, context)


def _first_difference(rebuilt: Record, stored: Record) -> str:
    """Return the first differing part and the place in it, or an empty string."""
    if stored.kind == "opened" and rebuilt.body["options"] != stored.body["options"]:
        return "options"
    if rebuilt.packs.keys() != stored.packs.keys():
        return "readers"
    pairs = [(rebuilt.public, stored.public)]
    pairs += [(rebuilt.packs[key], stored.packs[key]) for key in sorted(stored.packs)]
    for part in _PARTS:
        for new, old in pairs:
            if (place := _first_unequal(new.get(part, []), old.get(part, []))) is not None:
                return f"{part} {place}"
    return ""


def _first_unequal(new: Sequence[Json], old: Sequence[Json]) -> int | None:
    shorter = min(len(new), len(old))
    unequal = (i for i in range(shorter) if new[i] != old[i])
    return next(unequal, None if len(new) == len(old) else shorter)
