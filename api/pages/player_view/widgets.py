"""Graphic forms of the parts of a sight: `widgets` in `presentation.json` of the game names them.

Each has a `widget` and a pointer `at` into the board. In a pointer `*` takes any key, and `{owner}` a seat or power.

- `track`, `wheel`: a line or a circle of fields `from` .. `to`, with the positions of the owners. `from` and `to` are
  numbers, pointers, or paths into the game's data. A path may contain a pointer, for a key from the board.
- `hand`, `row`: cards or tiles. `items` is the path to their list in the game's data. `cost` names the member with the
  cost of each; `unit` is the thing to pay with, for a cost without one. `owner` names the member with a power.
- `display`: ordered places with things in them. With `items` they come in groups, by the member `by`.
- `matrix`: values of pairs, such as relations. For pairs of objects, `value` names the member for the matrix.
- `sheets`: a sheet for each owner.
- `dice`: results as faces.
- `auction`: the member `bid` first.
- `report`: rows of figures with names for their `columns`, or lines with their sum. `bars`: columns with bars.
- `window`: a decision that answers something. It has `kinds` of decisions in place of `at`. `shows` names members of
  the public part with more about it.

Forms show the same texts as a plain list or table. Pictures stand beside them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.pages.common.labels import Labels
from api.pages.common.owners import Owner, Owners, find_end, find_values, follow_path
from api.pages.common.presentation import load_map, load_widgets
from domain.kernel.text.package_data import load
from domain.types import Doc, Json

MOST_FIELDS, MOST_TICKS = 12, 8
"""Fields of a track; a longer one is a scale with ticks."""

MOST_ABOVE = 4
"""Most marks at one place."""

WIDTH, EDGE, ROW, APART = 340, 14, 20, 19
"""Size of a track in its own units: width, margin, height of a row of marks, least distance of marks in a row."""

RADIUS = 46
"""Radius of a wheel."""

_PICTURES = ("track", "wheel")


@dataclass(frozen=True)
class Mark:
    """A position on a track or a wheel."""

    x: int
    y: int
    owner: Owner | None


@dataclass(frozen=True)
class Picture:
    """A track or a wheel: the text beside it says the same."""

    kind: str
    title: str
    fields: Sequence[tuple[int, int, str, bool]]
    """Fields or ticks: position, text, and True for the current one."""
    marks: Sequence[Mark]
    width: int
    height: int
    is_scale: bool = False

    @property
    def base(self) -> int:
        """Return the height of the line."""
        return self.height - 2 * EDGE


@dataclass(frozen=True)
class Form:
    """The form of a part of a sight."""

    labels: Labels
    doc: Doc
    items: Mapping[str, Doc] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the name of the widget."""
        kind: str = self.doc["widget"]
        return kind

    @property
    def bars(self) -> Sequence[int]:
        """Return the columns with bars."""
        found: Sequence[int] = self.doc.get("bars", ())
        return found

    def list_columns(self) -> list[str]:
        """Return the names of the columns of a report."""
        names = [each[self.labels.texts.lang] for each in self.doc.get("columns", ())]
        return [name[:1].upper() + name[1:] for name in names]

    def find_cost(self, item: Json) -> str:
        """Return the cost of a card or tile in words, or an empty text."""
        cost = self._item(item).get(self.doc.get("cost", ""))
        if isinstance(cost, int):
            cost = {self.doc["unit"]: cost}
        paid = {what: amount for what, amount in cost.items() if amount} if isinstance(cost, dict) else {}
        return self.labels.cost(paid)

    def find_owner(self, item: Json) -> str | None:
        """Return the owner in the data of a card or tile, or None."""
        owner: str | None = self._item(item).get(self.doc.get("owner", ""))
        return owner

    def find_group(self, item: Json) -> str:
        """Return the name of the group of a place, or an empty text."""
        kind = self._item(item).get(self.doc.get("by", ""))
        return self.labels.member(kind) if kind else ""

    def _item(self, item: Json) -> Doc:
        return self.items.get(item, {}) if isinstance(item, str) else {}


class Widgets:
    """The graphic forms for one board."""

    def __init__(self, labels: Labels, board: Doc) -> None:
        package = labels.rules.package
        self.labels, self.board = labels, board
        self.owners = Owners(labels, board, load_map(package).get("owners", ()))
        self._docs = [doc for doc in load_widgets(package) if "at" in doc]
        self._forms = [(doc["at"].split("/")[1:], doc) for doc in self._docs if doc["widget"] not in _PICTURES]

    def find_form(self, path: Sequence[str]) -> Form | None:
        """Return the form of the part at a path, or None."""
        if [*path[:2]] == ["own", "seats"]:  # a game at its end shows the own parts of all seats
            path = ["own", *path[3:]]
        for pattern, doc in self._forms:
            pairs = zip(pattern, path, strict=False)
            if len(pattern) == len(path) and all(a in ("*", b) or a[:1] == "{" for a, b in pairs):
                return Form(self.labels, doc, self._load_items(doc))
        return None

    def _load_items(self, doc: Doc) -> Mapping[str, Doc]:
        found = follow_path(load(self.labels.rules.package, "data.json"), doc["items"]) if "items" in doc else ()
        return {each["id"]: each for each in found}

    def draw_pictures(self, part: str) -> list[Picture]:
        """Return the tracks and wheels of a part of the board."""
        docs = [doc for doc in self._docs if doc["widget"] in _PICTURES and doc["at"].startswith(f"/{part}/")]
        return [picture for doc in docs if (picture := self._draw(doc))]

    def _draw(self, doc: Doc) -> Picture | None:
        """Return a picture, or None if it would say nothing: no end, or all at one place."""
        values = [
            (self.owners.find(taken.get("owner")), value)
            for taken, value in find_values(self.board, doc["at"])
            if isinstance(value, int) and not isinstance(value, bool)
        ]
        least, most = self._find_end(doc.get("from", 0)), self._find_end(doc.get("to"))
        is_endless = most is None and len({value for _, value in values}) == 1
        if not values or is_endless or max(Counter(value for _, value in values).values()) > MOST_ABOVE:
            return None
        low = min(least or 0, *(value for _, value in values))
        high = max(low + 1, *(value for _, value in values), *([] if most is None else [most]))
        title = self.labels.member(next(name for name in reversed(doc["at"].split("/")) if name != "{owner}"))
        return (_draw_wheel if doc["widget"] == "wheel" else _draw_track)(title, low, high, values)

    def _find_end(self, end: Json) -> int | None:
        return find_end(self.labels.rules.package, self.board, end)


def _draw_track(title: str, low: int, high: int, values: Sequence[tuple[Owner | None, int]]) -> Picture:
    is_scale = high - low >= MOST_FIELDS
    step = _find_step(high - low) if is_scale else 1
    high = low + -(-(high - low) // step) * step

    def place(value: int) -> int:
        return EDGE + round((value - low) / (high - low) * (WIDTH - 2 * EDGE))

    rows: list[int] = []
    marks = []
    for owner, value in sorted(values, key=lambda each: each[1]):
        if owner is None:
            continue
        x = place(value)
        row = next((n for n, last in enumerate(rows) if x - last >= APART), len(rows))
        rows[row : row + 1] = [x]
        marks.append((x, row, owner))
    height = len(rows) * ROW + 2 * EDGE + (EDGE if not rows else 0)
    base = height - 2 * EDGE
    current = {value for owner, value in values if owner is None}
    ticks = [(place(value), base, str(value), value in current) for value in range(low, high + 1, step)]
    placed = [Mark(x, base - 10 - row * ROW, owner) for x, row, owner in marks]
    return Picture("track", title, ticks, placed, WIDTH, height, is_scale)


def _find_step(length: int) -> int:
    """Return the distance of the ticks of a scale: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if length / step <= MOST_TICKS:
                return step
        power *= 10


def _draw_wheel(title: str, low: int, high: int, values: Sequence[tuple[Owner | None, int]]) -> Picture:
    size, current = 2 * (RADIUS + EDGE), {value for _, value in values}
    found = []
    for n, value in enumerate(range(low, high + 1)):
        angle = 2 * math.pi * n / (high - low + 1) - math.pi / 2
        x, y = (round(size / 2 + RADIUS * turn(angle)) for turn in (math.cos, math.sin))
        found.append((x, y, str(value), value in current))
    return Picture("wheel", title, found, (), size, size)


@dataclass(frozen=True)
class Matrix:
    """Values of pairs by row and column; a pair without a value has an empty text."""

    heads: Sequence[Owner]
    rows: Sequence[tuple[Owner, Sequence[str]]]
    usual: str
    """The commonest value."""


def build_matrix(widgets: Widgets, form: Form, value: Mapping[str, Json]) -> Matrix | None:
    """Return pairs such as `0-1` as a triangle, or None if an end of a pair is no owner."""
    member = form.doc.get("value", "")
    pairs = {}
    for key, each in value.items():
        ends = [widgets.owners.find(part) for part in key.split("-")]
        shown = each.get(member) if isinstance(each, dict) else each
        if len(ends) != 2 or not all(ends) or isinstance(shown, dict | list):
            return None
        pairs[frozenset(ends)] = form.labels.value(member, shown)
    heads = [owner for owner in widgets.owners.list_all() if any(owner in pair for pair in pairs)]
    if len(heads) < 2:
        return None
    rows = [(a, [pairs.get(frozenset((a, b)), "") for b in heads[:n]]) for n, a in enumerate(heads) if n]
    return Matrix(heads[:-1], rows, Counter(pairs.values()).most_common(1)[0][0])


def find_window(labels: Labels, kind: str) -> Doc | None:
    """Return the window of a kind of decision, or None for a decision on one's own turn."""
    return next((doc for doc in load_widgets(labels.rules.package) if kind in doc.get("kinds", ())), None)
