"""A sight as panels of lists and tables: everything in the document is shown, whatever the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.pages.labels import Labels
from domain.types import Json

MOST_COLUMNS = 12
"""Widest table. Wider rows become lists."""

MOST_TURNED = 7
"""Most objects that become columns, if they have more members than there are objects."""

LONG = 24
"""Lines from which a panel begins closed."""


@dataclass(frozen=True)
class Node:
    """A part of a document: a single `text`, or an entry list, or a table."""

    text: str = ""
    entries: Sequence[tuple[str, Node]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[tuple[str, Sequence[Node]]] = field(default=())
    empty: bool = False
    named: bool = False
    """True if the names of the rows are values: the seats."""
    turned: bool = False
    """True if rows and columns have changed places."""

    @property
    def kind(self) -> str:
        """Return `table`, `list` or `text`."""
        return "table" if self.rows else "list" if self.entries else "text"

    @property
    def lines(self) -> int:
        """Return the height, roughly."""
        if self.rows:
            return sum(max((node.lines for node in cells), default=1) for _, cells in self.rows) + 1
        return sum(node.lines for _, node in self.entries) if self.entries else 1

    @property
    def is_broad(self) -> bool:
        """Return True for tables, and for lists of parts that are no single values."""
        return bool(self.rows) or any(node.entries or node.rows for _, node in self.entries) or len(self.entries) > LONG


@dataclass(frozen=True)
class Panel:
    """A headed part of a sight."""

    title: str
    node: Node

    @property
    def is_long(self) -> bool:
        """Return True if the panel begins closed."""
        return self.node.lines > LONG

    @property
    def is_broad(self) -> bool:
        """Return True if the panel needs the whole width."""
        return self.node.is_broad


def build_panels(labels: Labels, part: Mapping[str, Json]) -> list[Panel]:
    """Return the panels of a part of a sight: first one for all single values, then one for each other member."""
    single = {name: value for name, value in part.items() if not _is_container(value)}
    single = dict(sorted(single.items(), key=lambda item: item[1] is None))
    panels = [Panel("", _list(labels, single))] if single else []
    return panels + [Panel(labels.member(n), build_node(labels, n, v)) for n, v in part.items() if n not in single]


def count_leaves(value: Json) -> int:
    """Return the number of single values in a document."""
    if isinstance(value, dict):
        return sum(map(count_leaves, value.values()))
    return sum(map(count_leaves, value)) if isinstance(value, list) else 1


def build_node(labels: Labels, member: str, value: Json) -> Node:
    """Return the form of a value of a member."""
    if not _is_container(value):
        return Node(labels.value(member, value))
    if not value:
        return Node(labels.texts.word("none"), empty=True)
    if isinstance(value, dict):
        return _table(labels, member, list(value.items())) or _list(labels, value, member)
    if not any(map(_is_container, value)):
        return Node(entries=[("", Node(labels.value(member, each))) for each in value])
    named = [(str(each["seat"]) if _has_seat(each) else str(n), each) for n, each in enumerate(value)]
    return _table(labels, member, named, value) or Node(
        entries=[(_row_name(labels, member, n, each, value), build_node(labels, member, each)) for n, each in named]
    )


def _table(
    labels: Labels, member: str, items: Sequence[tuple[str, Json]], rows: Sequence[Json] | None = None
) -> Node | None:
    """Return objects of one shape as a table, or None for others."""
    if len(items) < 2 or not all(isinstance(each, dict) and each for _, each in items):
        return None
    columns = list(dict.fromkeys(name for _, each in items for name in each))
    is_named = rows is not None and all(map(_has_seat, rows))
    if is_named:
        columns.remove("seat")
    if len(columns) > MOST_COLUMNS:
        return None
    cells = [
        (
            _row_name(labels, member, key, each, rows),
            [build_node(labels, name, each[name]) if name in each else Node("", empty=True) for name in columns],
        )
        for key, each in items
    ]
    names = [labels.key_name(member, name) for name in columns]
    if len(items) < len(names) and len(items) <= MOST_TURNED:
        turned = [(name, [row[n] for _, row in cells]) for n, name in enumerate(names)]
        return Node(columns=[name for name, _ in cells], rows=turned, named=is_named, turned=True)
    return Node(columns=names, rows=cells, named=is_named)


def _row_name(labels: Labels, member: str, key: str, value: Json, rows: Sequence[Json] | None) -> str:
    if rows is None:
        return labels.key(member, key)
    return labels.short_seat(value["seat"]) if _has_seat(value) else labels.place(member, int(key))


def _list(labels: Labels, value: Mapping[str, Json], member: str = "") -> Node:
    """Return a list of members; numbers in a mapping to lists of seats, such as alliances, are seats."""
    return Node(
        entries=[(labels.key_name(member, k), build_node(labels, labels.child(member, k), v)) for k, v in value.items()]
    )


def _has_seat(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("seat"), int)


def _is_container(value: Json) -> bool:
    return isinstance(value, dict | list)
