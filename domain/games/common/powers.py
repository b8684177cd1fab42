"""Powers chosen, drawn or given to seats: options `power_assignment`, `powers` and `first_player` of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from domain.errors import InvalidTable
from domain.games.common.checks import require
from domain.kernel.rules.meta import Table
from domain.kernel.schema.validators import expected_message
from domain.kernel.text.message_catalog import Message


def free_powers(powers: Iterable[str], taken: Sequence[str | None]) -> list[str]:
    """Return the powers without a seat, in their order."""
    return [power for power in powers if power not in taken]


def check_choice(rule: str, power: str, powers: Sequence[str], taken: Sequence[str | None]) -> None:
    """Raise RuleError `unknown_power`, `power_taken`, in this order."""
    require(power in powers, "unknown_power", rule, power=power)
    require(power not in taken, "power_taken", rule, power=power)


def check_table(table: Table) -> None:
    """Check the combination of these options; raise InvalidTable."""
    first, powers = table.options["first_player"], table.options["powers"]
    if first != "random" and first >= table.seats:
        raise InvalidTable(
            expected_message(Message("a seat from 0 to {last}", last=table.seats - 1)), "/options/first_player"
        )
    if table.options["power_assignment"] != "fixed":
        if powers:
            raise InvalidTable(
                Message("only for {option} {value}", option="power_assignment", value="fixed"), "/options/powers"
            )
    elif len(powers) != table.seats or len(set(powers)) != table.seats:
        raise InvalidTable(Message("{count} different powers are expected", count=table.seats), "/options/powers")
