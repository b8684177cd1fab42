"""Owners of things on a board: seats, and powers without a seat. Each has a letter and a tint of its own."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from api.pages.common.labels import Labels
from api.pages.common.presentation import load_map
from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat

TINTS = 12
"""Colours and patterns of owners in the style sheet; the last one is for those who are neutral."""


@dataclass(frozen=True)
class Owner:
    """An owner on the map: a seat, or a power without a seat."""

    name: str
    letter: str
    tint: int


class Owners:
    """The owners of a board. `pointers` lead to the mappings or lists of them; else they are the seats with names."""

    def __init__(self, labels: Labels, board: Doc, pointers: Sequence[str]) -> None:
        self._labels = labels
        self._seats = {power: seat for seat, power in labels.names.powers.items()}
        self._owners: dict[Seat | str, Owner] = {}
        self._used: set[str] = set()
        for pointer in pointers:
            named = [taken["owner"] for taken, _ in find_values(board, f"{pointer}/{{owner}}")]
            for each in sorted(named, key=lambda owner: (isinstance(owner, str), owner)):  # in any order of the members
                self.add(each)
        for seat in () if self._owners else sorted({*labels.names.powers, *labels.names.people}):
            self.add(seat)

    def list_all(self) -> list[Owner]:
        """Return the owners, seats first."""
        return list(self._owners.values())

    def add(self, value: Json) -> Owner | None:
        """Return an owner: a seat, the power of a seat, or a power. A new one gets a letter and a tint."""
        if value is None:
            return None
        key: Seat | str = int(value) if str(value).isdecimal() else self._seats.get(str(value), str(value))
        if key not in self._owners:
            name = self._labels.short_seat(key) if isinstance(key, int) else self._capital(self._labels.value("", key))
            self._owners[key] = Owner(name, self._letter(name), self._tint(key))
        return self._owners[key]

    def _tint(self, key: Seat | str) -> int:
        """Return the colour of a power in every game, or the first free one."""
        own = load_map(self._labels.rules.package).get("tints", {})
        power = self._labels.names.powers.get(key, "") if isinstance(key, int) else key
        if power == "neutral":
            return TINTS - 1
        used = {owner.tint for owner in self._owners.values()} | set(own.values())
        free = next((tint for tint in range(TINTS - 1) if tint not in used), TINTS - 1)
        return int(own.get(power, free))

    def find(self, value: Json) -> Owner | None:
        """Return the owner with this seat or power, or None."""
        if isinstance(value, bool) or not isinstance(value, int | str):
            return None
        return self._owners.get(int(value) if str(value).isdecimal() else self._seats.get(str(value), value))

    def _letter(self, name: str) -> str:
        """Return the first letter of a name without another owner."""
        plain = unicodedata.normalize("NFD", name.upper())
        letters = [sign for sign in plain if "A" <= sign <= "Z"] + [chr(n) for n in range(ord("A"), ord("Z") + 1)]
        letter = next((each for each in letters if each not in self._used), "*")
        self._used.add(letter)
        return letter

    @staticmethod
    def _capital(name: str) -> str:
        return name[:1].upper() + name[1:]


def find_values(board: Doc, pointer: str) -> Iterator[tuple[dict[str, Json], Json]]:
    """Return the parts of a board at a pointer, each with its keys for `{name}`. `*` takes any key."""
    waiting: list[tuple[dict[str, Json], Json]] = [({}, board)]
    for part in pointer.split("/")[1:]:
        after: list[tuple[dict[str, Json], Json]] = []
        for taken, value in waiting:
            entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            if part[:1] == "{":
                after += [({**taken, part[1:-1]: key}, each) for key, each in entries]
            else:
                after += [(taken, each) for key, each in entries if part in ("*", str(key))]
        waiting = after
    yield from waiting


def find_end(package: str, board: Doc, end: Json) -> int | None:
    """Return an end of figures: a number, that at a pointer, or one of the game's data at a path; else None."""
    if isinstance(end, str):
        end = next((value for _, value in find_values(board, end)), None)
    elif isinstance(end, list):
        path = [str(find_end(package, board, part)) if part[:1] == "/" else part for part in end]
        end = follow_path(load(package, "data.json"), path)
    return end if isinstance(end, int) else None


def follow_path(data: Json, path: Sequence[str]) -> Json:
    """Return the part of a game's data at a path, or None."""
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data
