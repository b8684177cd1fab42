"""A list of entrants as CSV, line by line: columns `name` and `account`, as a spreadsheet saves it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from marshmallow import ValidationError

from api.http.text_checks import check_visible_text
from domain.kernel.text.message_catalog import Message

COLUMNS = ("name", "account")
MOST_LINES, MOST_NAME = 1_000, 40


class ListedEntrant(NamedTuple):
    """A line of the list: the name to show, or the name of an account. `fault` says why it is refused."""

    line: int
    """From 1; the line of the columns counts."""
    name: str
    account: str
    fault: Message | None = None


class ListRefused(Exception):
    """The list as a whole cannot be read."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


def read_entrant_list(text: str) -> list[ListedEntrant]:
    """Return the lines of a list, empty ones left out. Raise ListRefused for other columns, no line or too many."""
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    first = lines.partition("\n")[0]
    separator = next((sign for sign in ";\t" if sign in first), ",")
    rows = csv.reader(io.StringIO(lines, newline=""), delimiter=separator)
    try:
        columns = [name.strip().lower() for name in next(rows, [])]
        if not {"name", "account"} & {*columns} or not {*columns} <= {*COLUMNS} or len({*columns}) < len(columns):
            raise ListRefused(Message("The first line names the columns: `name`, `account`, or both."))
        found = list(_read_rows(rows, columns))
    except csv.Error as error:
        raise ListRefused(Message("This is no CSV.")) from error
    if not found:
        raise ListRefused(Message("The list has no entrants."))
    if len(found) > MOST_LINES:
        raise ListRefused(Message("A list has {most} entrants at most.", most=MOST_LINES))
    return found


def _read_rows(rows: Iterator[list[str]], columns: list[str]) -> Iterator[ListedEntrant]:
    seen = set[tuple[str, str]]()
    for number, row in enumerate(rows, 2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        named = dict(zip(columns, cells, strict=False))
        name, account = named.get("name", ""), named.get("account", "")
        key = ("account", account.casefold()) if account else ("name", name.casefold())
        yield ListedEntrant(number, name, account, _find_fault(cells, columns, name, account) or _check_new(key, seen))
        seen.add(key)


def _find_fault(cells: list[str], columns: list[str], name: str, account: str) -> Message | None:
    if len(cells) > len(columns):
        return Message("The line has more cells than columns.")
    if not name and not account:
        return Message("The line has no name.")
    if len(account) > MOST_NAME or len(name) > MOST_NAME:
        return Message("Longer than {max} characters.", max=MOST_NAME)
    try:
        check_visible_text(name or account, MOST_NAME)
    except ValidationError:
        return Message("The name begins with a space, or has an invisible character.")
    return None


def _check_new(key: tuple[str, str], seen: set[tuple[str, str]]) -> Message | None:
    return Message("The list has this name already.") if key in seen else None
