"""The line at a question: how far the game is, and the means left to the seat.

`status_line` in `presentation.json` of a game lists its figures. Each has a pointer `at` into the board, with `{seat}`
for the visitor. `from` and `to` are ends as those of a track; a figure below `from` says nothing. With `of`, a pointer
to a seat, it belongs to that seat alone. `name` replaces the name of the member.
"""

from __future__ import annotations

from collections.abc import Iterator

from api.pages.common.labels import Labels, capital
from api.pages.common.owners import find_end, find_values
from api.pages.common.presentation import load_status_line
from domain.types import Doc, Seat


def list_status(labels: Labels, board: Doc, seat: Seat | None) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each figure, as far as the visitor may know them."""
    for declared in load_status_line(labels.rules.package) if board else ():
        value = _find_number(board, declared["at"], seat)
        is_own = "of" not in declared or _find_number(board, declared["of"], seat) == seat
        if value is None or not is_own or value < declared.get("from", 0):
            continue
        name = declared["name"][labels.texts.lang] if "name" in declared else labels.member(_name_of(declared["at"]))
        yield capital(name), _tell(labels, value, find_end(labels.rules.package, board, declared.get("to")))


def _tell(labels: Labels, value: int, most: int | None) -> str:
    shown = labels.texts.grammar.number(value)
    if most is None:
        return shown
    return f"{shown}/{labels.texts.grammar.number(most)}"  # a line of a phone holds five figures


def _find_number(board: Doc, pointer: str, seat: Seat | None) -> int | None:
    found = next((value for _, value in find_values(board, pointer.replace("{seat}", str(seat)))), None)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _name_of(pointer: str) -> str:
    return pointer.rpartition("/")[2]
