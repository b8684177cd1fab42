"""A sight as panels of lists and tables: everything in the document is shown, whatever the game.

Parts with a widget in the game's presentation have a form of their own: the same texts, drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from api.pages.common.labels import Labels, capital
from api.pages.common.owners import Owner
from api.pages.common.presentation import load_members
from api.pages.player_view.widgets import Form, Matrix, Widgets, build_matrix, find_window
from domain.types import Doc, Json

MOST_COLUMNS = 12
"""Widest table. Wider rows become lists."""

MOST_TURNED = 7
"""Most objects that become columns, if they have more members than there are objects."""

ABREAST = 3
"""Cards or places in a line, roughly."""

BAR = 60
"""Length of the longest bar beside a figure."""

SIDES = 6
"""Greatest result that is drawn as a face of a die."""

LONG = 24
"""Lines from which a panel begins closed."""


class Node(Struct, frozen=True):
    """A part of a document: a single `text`, or an entry list, or a table. A board has hundreds, so it is a struct."""

    text: str = ""
    entries: Sequence[tuple[str, Node]] = ()
    columns: Sequence[str] = ()
    rows: Sequence[tuple[str, Sequence[Node]]] = ()
    empty: bool = False
    named: bool = False
    """True if the names of the rows are values: the seats."""
    turned: bool = False
    """True if rows and columns have changed places."""
    form: str = ""
    """Name of the widget."""
    owner: Owner | None = None
    """Owner in a single value."""
    note: str = ""
    """Cost of a card or tile; group of a place; sum of lines."""
    matrix: Matrix | None = None
    bar: int | None = None
    """Length of the bar beside a figure, in `BAR`."""
    asks: Mapping[str, str] = {}
    """Texts and names in the node with a button for the reason -> the missing value as a form sends it."""

    @property
    def kind(self) -> str:
        """Return the name of the widget, or `table`, `list` or `text`."""
        return self.form or ("table" if self.rows else "list" if self.entries else "text")

    @property
    def lines(self) -> int:
        """Return the height, roughly."""
        if self.matrix:
            return len(self.matrix.rows) + sum(node.lines for _, node in self.entries)
        if self.rows:
            return sum(max((node.lines for node in cells), default=1) for _, cells in self.rows) + 1
        lines = sum(node.lines for _, node in self.entries) if self.entries else 1
        return -(-lines // ABREAST) if self.form in ("cards", "display", "sheets") else lines

    @property
    def is_broad(self) -> bool:
        """Return True for tables, and for lists of parts that are no single values."""
        return (
            bool(self.rows or self.matrix)
            or self.form in ("display", "cards", "sheets")
            or any(node.entries or node.rows for _, node in self.entries)
            or len(self.entries) > LONG
        )


Path = tuple[str, ...]
"""Members and keys from the board to a value, or to a key: then an empty part follows it."""


@dataclass(frozen=True)
class Panel:
    """A headed part of a sight, or the single values of a part: these have no title and no member."""

    part: str
    member: str
    title: str
    node: Node
    is_always_open: bool = False

    @property
    def is_long(self) -> bool:
        """Return True if the panel begins closed."""
        return self.node.lines > LONG and not self.is_always_open

    @property
    def is_broad(self) -> bool:
        """Return True if the panel needs the whole width."""
        return self.node.is_broad


@dataclass(frozen=True)
class Window:
    """The object of an answer, with the panels about it."""

    text: str
    """A sentence of the game, or empty."""
    node: Node
    """The members of the decision, for one without a sentence."""
    links: Sequence[tuple[str, str]]
    """Members and titles of panels with more about it."""


def show_window(labels: Labels, decision: Doc | None, titles: Mapping[str, str]) -> Window | None:
    """Return what a decision answers, or None for a decision on one's own turn.

    `titles`: the public panels with something to show, by member.
    """
    found = find_window(labels, decision["kind"]) if decision else None
    if decision is None or found is None:
        return None
    links = [(member, title) for member, title in titles.items() if member in found.get("shows", ())]
    told = labels.texts.render(f"situation.{decision['kind']}", decision["context"], labels.names)
    return Window(told or "", build_node(labels, "", decision["context"]), links)


def split_part(part: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the values of the panels of a part by member: first all single values, then each other member."""
    single = {member: value for member, value in part.items() if not _is_container(value)}
    if single:
        yield "", dict(sorted(single.items(), key=lambda item: item[1] is None))
    yield from ((member, value) for member, value in part.items() if member not in single)


def build_panel(widgets: Widgets, part: str, member: str, value: Json, places: Mapping[Path, str]) -> Panel:
    """Return the panel of a value from `split_part`. It depends on nothing else of a board but the owners.

    `places`: those of missing things, as `find_places` returns them.
    """
    builder = _NodeBuilder(widgets.labels, widgets, places)
    if not member:
        return Panel(part, "", "", builder.list_members(value, "", (part,)))
    is_open = bool(load_members(widgets.labels.rules.package).get(member, {}).get("open"))
    return Panel(part, member, widgets.labels.member(member), builder.build(member, value, (part, member)), is_open)


def count_leaves(value: Json) -> int:
    """Return the number of single values in a document."""
    if isinstance(value, dict):
        return sum(map(count_leaves, value.values()))
    return sum(map(count_leaves, value)) if isinstance(value, list) else 1


def build_node(labels: Labels, member: str, value: Json) -> Node:
    """Return the form of a value of a member, without widgets."""
    return _NodeBuilder(labels, None, {}).build(member, value, ())


@dataclass(frozen=True)
class _NodeBuilder:
    """Builds nodes for a board."""

    labels: Labels
    widgets: Widgets | None
    places: Mapping[Path, str]

    def build(self, member: str, value: Json, path: Path) -> Node:
        """Return the form of a value of a member, with buttons at the places of missing things."""
        node = self._build(member, value, path)
        asks = self._find_asks(member, value, path) if self.places else None
        return replace(node, asks=asks) if asks else node

    def _find_asks(self, member: str, value: Json, path: Path) -> dict[str, str]:
        """Return the texts and names of a value at the places of missing things."""
        labels = self.labels
        if isinstance(value, str):
            return {labels.value(member, value): self.places[path]} if path in self.places else {}
        if isinstance(value, dict):
            found = {key: sent for key in value if (sent := self.places.get((*path, key, "")))}
            names = (labels.key_name, labels.key, self._name_item)
            return {name(member, key): sent for key, sent in found.items() for name in names}
        words = enumerate(value) if isinstance(value, list) else ()
        places = {labels.value(member, each): self.places.get((*path, str(n)), "") for n, each in words}
        return {text: sent for text, sent in places.items() if sent}

    def _build(self, member: str, value: Json, path: Path) -> Node:
        form = self.widgets.find_form(path) if self.widgets and _is_container(value) and value else None
        if form and (node := self._draw(form, member, value, path)):
            return node
        if not _is_container(value):
            return self._leaf(member, value)
        if not value:
            return Node(self.labels.texts.word("none"), empty=True)
        if isinstance(value, dict):
            table = self._table(member, list(value.items()), path)
            return table or self.list_members(value, member, path)
        if not any(map(_is_container, value)):
            return Node(entries=[("", self._leaf(member, each)) for each in value])
        named = [(str(each["seat"]) if _has_seat(each) else str(n), each) for n, each in enumerate(value)]
        return self._table(member, named, path, value) or Node(
            entries=[
                (self._row_name(member, key, each, value), self.build(member, each, (*path, str(n))))
                for n, (key, each) in enumerate(named)
            ]
        )

    def list_members(self, value: Mapping[str, Json], member: str, path: Path) -> Node:
        """Return a list of members; numbers in a mapping to lists of seats, such as alliances, are seats."""
        labels = self.labels
        return Node(
            entries=[
                (labels.key_name(member, key), self.build(labels.child(member, key), each, (*path, key)))
                for key, each in value.items()
            ]
        )

    def _leaf(self, member: str, value: Json, note: str = "") -> Node:
        is_owner = isinstance(value, str) or self.labels.is_seat(member)
        owner = self.widgets.owners.find(value) if self.widgets and is_owner else None
        return Node(self.labels.value(member, value), owner=owner, note=note)

    def _table(
        self, member: str, items: Sequence[tuple[str, Json]], path: Path, rows: Sequence[Json] | None = None
    ) -> Node | None:
        """Return objects of one shape as a table, or None for others."""
        if len(items) < 2 or not all(isinstance(each, dict) and each for _, each in items):
            return None
        if rows is None and self.widgets and any(self.widgets.find_form((*path, key)) for key, _ in items):
            return None
        columns = list(dict.fromkeys(name for _, each in items for name in each))
        is_named = rows is not None and all(map(_has_seat, rows))
        if is_named:
            columns.remove("seat")
        if len(columns) > MOST_COLUMNS:
            return None
        cells = [
            (
                self._row_name(member, key, each, rows),
                [
                    self.build(name, each[name], (*path, key if rows is None else str(n), name))
                    if name in each
                    else Node("", empty=True)
                    for name in columns
                ],
            )
            for n, (key, each) in enumerate(items)
        ]
        names = [self.labels.key_name(member, name) for name in columns]
        if len(items) < len(names) and len(items) <= MOST_TURNED:
            turned = [(name, [row[n] for _, row in cells]) for n, name in enumerate(names)]
            return Node(columns=[name for name, _ in cells], rows=turned, named=is_named, turned=True)
        return Node(columns=names, rows=cells, named=is_named)

    def _row_name(self, member: str, key: str, value: Json, rows: Sequence[Json] | None) -> str:
        if rows is None:
            return self.labels.key(member, key)
        return self.labels.short_seat(value["seat"]) if _has_seat(value) else self.labels.place(member, int(key))

    # --- widgets -----------------------------------------------------------------------------------------------

    def _draw(self, form: Form, member: str, value: Json, path: Path) -> Node | None:
        """Return a value in the form of its widget, or None if it does not fit."""
        is_flat = not any(map(_is_container, value.values() if isinstance(value, dict) else value))
        match form.kind:
            case "hand" | "row" if is_flat:
                return Node(entries=self._list_cards(form, member, value), form="cards")
            case "display":
                return self._draw_display(form, member, value, path)
            case "sheets" if self.widgets and not is_flat:
                return self._draw_sheets(self.widgets, member, value, path)
            case "dice":
                return self._draw_dice(member, value, path)
            case "matrix" if isinstance(value, dict) and self.widgets:
                return self._draw_matrix(self.widgets, form, member, value, path)
            case "auction" if isinstance(value, dict):
                bid = form.doc["bid"]
                ordered = dict(sorted(value.items(), key=lambda item: item[0] != bid))
                return replace(self.list_members(ordered, member, path), form="auction")
            case "report" if isinstance(value, list):
                return self._draw_rounds(form, member, value)
            case "report" if is_flat and all(isinstance(each, int) for each in value.values()):
                total = self.labels.texts.word(sum(value.values()))
                return replace(self.list_members(value, member, path), form="lines", note=total)
        return None

    def _list_cards(self, form: Form, member: str, value: Json) -> list[tuple[str, Node]]:
        if isinstance(value, dict):
            items = [(key, self._leaf(key, each, form.find_cost(key))) for key, each in value.items()]
            return [(self._name_item(member, key), node) for key, node in items]
        found = []
        for each in value:
            node = self._leaf(member, each, form.find_cost(each))
            owner = self.widgets.owners.find(form.find_owner(each)) if self.widgets else None
            found.append(("", replace(node, owner=owner or node.owner)))
        return found

    def _name_item(self, member: str, key: str) -> str:
        """Return the name of a thing: a member may have the same id, such as a tile and the tokens in reserve."""
        return capital(self.labels.key(member, key))

    def _draw_display(self, form: Form, member: str, value: Json, path: Path) -> Node:
        if isinstance(value, list):
            names = [self.labels.texts.grammar.number(n + 1) for n in range(len(value))]
            built = [self.build(member, each, (*path, str(n))) for n, each in enumerate(value)]
            return Node(entries=list(zip(names, built, strict=True)), form="display")
        entries = self.list_members(value, member, path).entries
        groups = [form.find_group(key) for key in value]
        placed = [(name, replace(node, note=group)) for (name, node), group in zip(entries, groups, strict=True)]
        order = list(dict.fromkeys(groups))
        return Node(entries=sorted(placed, key=lambda each: order.index(each[1].note)), form="display")

    def _draw_sheets(self, widgets: Widgets, member: str, value: Json, path: Path) -> Node | None:
        """Return a sheet for each owner, or None if one of them is no owner."""
        items = value.items() if isinstance(value, dict) else enumerate(value)
        entries = []
        for key, each in items:
            owner = widgets.owners.find(each["seat"] if _has_seat(each) else key)
            if owner is None or not isinstance(each, dict):
                return None
            held = {name: part for name, part in each.items() if name != "seat"}
            node = self.list_members(held, "" if isinstance(value, list) else str(key), (*path, str(key)))
            entries.append((owner.name, replace(node, owner=owner, named=_has_seat(each))))
        return Node(entries=entries, form="sheets")

    def _draw_dice(self, member: str, value: Json, path: Path) -> Node | None:
        if isinstance(value, dict):
            sides = {key: self._draw_dice(member, each, path) for key, each in value.items() if isinstance(each, list)}
            entries = [(self.labels.key_name(member, key), node) for key, node in sides.items() if node]
            return Node(entries=entries) if len(entries) == len(value) else None
        if not value:
            return self.build(member, value, ())
        is_rolled = all(isinstance(each, int) and 1 <= each <= SIDES for each in value)
        return Node(entries=[("", self._leaf(member, each)) for each in value], form="dice") if is_rolled else None

    def _draw_matrix(self, widgets: Widgets, form: Form, member: str, value: Doc, path: Path) -> Node | None:
        matrix = build_matrix(widgets, form, value)
        if matrix is None or not any(map(_is_container, value.values())):
            return Node(form="matrix", matrix=matrix) if matrix else None
        table = self._table(member, list(value.items()), path) or self.list_members(value, member, path)
        return replace(table, matrix=matrix)

    def _draw_rounds(self, form: Form, member: str, value: Sequence[Json]) -> Node | None:
        columns = form.list_columns()
        if not all(isinstance(each, list) and len(each) == len(columns) for each in value):
            return None
        most = max([1, *(each[n] for each in value for n in form.bars)])
        rows = []
        for n, each in enumerate(value):
            cells = [self.build(member, cell, ()) for cell in each]
            for bar in form.bars:
                cells[bar] = replace(cells[bar], bar=BAR * each[bar] // most)
            rows.append((self.labels.texts.grammar.number(n + 1), cells))
        return Node(columns=columns, rows=rows)


def _has_seat(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("seat"), int)


def _is_container(value: Json) -> bool:
    return isinstance(value, dict | list)
