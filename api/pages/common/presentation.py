"""Data for the pages in `presentation.json` of a game: names of members, groups of options, the order sheet, the map.

`forms` declares forms with several numbers (`decision/number_forms.py`). `groups` lists named groups of the values of
a field. `kinds` names lists of the game's data, and the member by which their items are grouped. `map` says what stands
where on the map, `news` which facts are bookkeeping, and `widgets` how panels are drawn. `players` names the figures of
players. `sheet` says where the orders of a seat are, and which move cancels one. `status_line` lists the figures at the
question (`table/status_line.py`). Each may be missing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from api.documents.presentations import load_presentation
from domain.kernel.text.package_data import load
from domain.types import Doc, Json


def load_map(package: str) -> Doc:
    """Return the layers of a game's map, or an empty document."""
    layers: Doc = load_presentation(package).get("map", {})
    return layers


def load_widgets(package: str) -> list[Doc]:
    """Return the graphic forms of a game, in their order."""
    return list(load_presentation(package).get("widgets", ()))


def load_form(package: str, kind: str) -> Doc:
    """Return the form with several numbers for a type of move, or an empty document."""
    return next((each for each in load_presentation(package).get("forms", ()) if each["type"] == kind), {})


def load_usual(package: str) -> Mapping[str, Json]:
    """Return field -> its usual answer in a move begun on the map."""
    usual: Mapping[str, Json] = load_presentation(package).get("usual", {})
    return usual


def load_players(package: str) -> Doc:
    """Return the figures of each player in a game, and the `panel` about players; or an empty document."""
    players: Doc = load_presentation(package).get("players", {})
    return players


def load_status_line(package: str) -> Sequence[Doc]:
    """Return the figures of a game for the line at its questions."""
    figures: Sequence[Doc] = load_presentation(package).get("status_line", ())
    return figures


def is_bookkeeping(package: str, fact: Doc, record: Sequence[Doc]) -> bool:
    """Return True for a fact that keeps the books of a deed, such as its price: the news tell deeds first.

    `record`: all facts of its record; with some of them it tells the deed itself.
    """
    declared = load_presentation(package).get("news", {})
    besides = declared.get("unless", {}).get(fact["t"])
    return fact["t"] in declared.get("bookkeeping", ()) and all(each["t"] != besides for each in record)


def is_loss(package: str, fact: Doc) -> bool:
    """Return True for a fact that tells a loss of its seat: the member named in the presentation says what it lost."""
    lost = load_presentation(package).get("news", {}).get("losses", {}).get(fact["t"])
    return lost is not None and bool(fact.get(lost))


def tell_loss(package: str, fact: Doc, lang: str) -> tuple[str, int] | None:
    """Return the short sentence for a loss with its reason, which lacks its `value`, and the value; None without."""
    declared = load_presentation(package).get("news", {})
    reason = declared.get("reasons", {}).get(fact["t"])
    return (reason[lang], int(fact[declared["losses"][fact["t"]]])) if reason and is_loss(package, fact) else None


def load_members(package: str) -> Mapping[str, Doc]:
    """Return the presentation of the members of a game's documents."""
    members: Mapping[str, Doc] = load_presentation(package)["members"]
    return members


@dataclass(frozen=True)
class Group:
    """A named group of options."""

    names: Mapping[str, str]
    """Language -> name; empty if `member` has it."""
    member: str = ""
    is_closed: bool = False
    """True for rare kinds of moves: the page does not list their next answers."""


@functools.cache
def load_groups(package: str, field: str) -> Mapping[str, Group]:
    """Return value -> group for a field of the move builder, in the order of the groups."""
    presentation = load_presentation(package)
    found: dict[str, Group] = {}
    for each in presentation.get("groups", ()):
        if each["field"] == field:
            found |= dict.fromkeys(each["values"], Group(each["name"], is_closed=each.get("closed", False)))
    if found:
        return found
    for kind in presentation.get("kinds", ()):
        for item in load(package, "data.json")[kind["list"]]["items"]:
            found[item["id"]] = Group({}, item[kind["by"]])
    return found


@functools.cache
def load_lists(package: str) -> Sequence[tuple[str, ...]]:
    """Return the lists of a game's data: the ids of their items."""
    found: list[tuple[str, ...]] = []
    with suppress(FileNotFoundError):
        _add_lists(load(package, "data.json") if package else None, found)
    return found


def _add_lists(value: Json, found: list[tuple[str, ...]]) -> None:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ids = tuple(each["id"] for each in parts if isinstance(each, dict) and isinstance(each.get("id"), str))
    found += [ids] if ids else []
    for each in parts:
        _add_lists(each, found)


@functools.cache
def load_item_members(package: str) -> frozenset[str]:
    """Return the members whose keys are ids of items: those drawn as cards or tiles of a list of the game's data."""
    widgets = load_presentation(package).get("widgets", ())
    return frozenset(each["at"].rpartition("/")[2] for each in widgets if each["widget"] in ("row", "hand"))


@dataclass(frozen=True)
class SheetForm:
    """The members of a seat's own view with its orders, and the move that cancels one."""

    path: tuple[str, ...]
    balance: tuple[str, ...]
    number: str
    """Member with the number of an order."""
    derived: tuple[str, ...]
    """Members that are no part of the order's move."""
    cancel: str
    field: str
    submit: str
    """Type of the move to submit the sheet, or an empty text."""

    def list_orders(self, own: Mapping[str, Json]) -> list[Doc]:
        """Return the orders of a seat."""
        return list(_find(own, self.path) or ())

    def find_balance(self, own: Mapping[str, Json]) -> dict[str, Json]:
        """Return the single figures of the balance."""
        found = _find(own, self.balance) or {}
        return {name: value for name, value in found.items() if isinstance(value, int)}

    def order_move(self, order: Doc) -> Doc:
        """Return the move that files an order."""
        return {name: value for name, value in order.items() if name not in (self.number, *self.derived)}

    def cancel_move(self, number: int) -> Doc:
        """Return the move that cancels an order."""
        return {"type": self.cancel, self.field: number}


def _find(doc: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        doc = doc.get(name) if isinstance(doc, dict) else None
    return doc


@functools.cache
def load_sheet(package: str) -> SheetForm | None:
    """Return the order sheet of a game, or None."""
    found = load_presentation(package).get("sheet")
    if not found:
        return None
    return SheetForm(
        tuple(found["orders"].split("/")[1:]),
        tuple(found["balance"].split("/")[1:]),
        found["number"],
        tuple(found["derived"]),
        found["cancel"]["type"],
        found["cancel"]["field"],
        found.get("submit", ""),
    )
