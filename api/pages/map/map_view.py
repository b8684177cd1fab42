"""The map on the page of a table: owners, pieces and offered regions over the drawing of the ruleset's map.

`map` in `presentation.json` of the game says what stands where. `owners` points to the mappings or lists of the owners.
Each of `layers` has a `widget` and a pointer `at` into the board, or `data`, the path to a list of the game's data.
`{region}`, `{owner}` and `{kind}` in a pointer take a key or an index, `*` takes any. What the pointer does not take is
a member of the value, and the layer names it. Owners are also `own`, the visitor, and `region`, the region's owner.
An `arrow` names the members with the `path` of an order and its `number`. With `mark`, a value is no number of pieces;
`without` names a value without a piece. `symbols` gives the symbol of each kind of piece, `names` the names of kinds
without a text.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from markupsafe import Markup, escape

from api.pages.common.geometry import Geometry, load_geometry
from api.pages.common.labels import Labels
from api.pages.common.owners import Owner, Owners, find_values
from api.pages.common.presentation import load_map
from api.pages.decision.move_choices import Question, WholeMove, parse
from api.pages.decision.why_not import Missing
from api.pages.map.map_drawing import MapFile, draw_map, region_name
from domain.kernel.text.package_data import load
from domain.types import Doc, Json, Seat

NUMBER_ROOM = 30
"""Room for the number of an order: pieces beyond it do not matter."""


@dataclass(frozen=True)
class Piece:
    """Pieces of one kind and owner in a region."""

    symbol: str
    name: str
    owner: Owner | None = None
    count: int | None = None
    rank: int = field(default=0, compare=False)
    """Number of its kind and owner: it decides the place within a region, whatever else stands there."""

    @property
    def text(self) -> str:
        """Return the letter of the owner and the number."""
        return f"{self.owner.letter if self.owner else ''}{self.count if self.count is not None else ''}"

    def draw(self, x: int, y: int, r: int, symbols: str) -> str:
        """Return the symbol and its text around a point, with this radius."""
        tint = f' class="tint-{self.owner.tint}"' if self.owner else ""
        drawn = f'<use href="{symbols}#{self.symbol}" transform="translate({x} {y})scale({round(r / 10, 1)})"{tint}/>'
        if not (text := self.text):
            return drawn
        size = r if len(text) < 3 else round(r * 0.8)
        return f'{drawn}<text x="{x}" y="{y + round(r * 0.36)}" font-size="{size}">{escape(text)}</text>'

    def describe(self, labels: Labels, holder: Owner | None = None) -> str:
        """Return the pieces in words, with their owner unless it is the holder of the region."""
        said = self.name if self.count is None else f"{labels.texts.grammar.number(self.count)} {self.name}"
        return f"{said} ({self.owner.name})" if self.owner and self.owner != holder else said


@dataclass(frozen=True)
class Arrow:
    """A numbered order from region to region."""

    number: int
    points: Sequence[tuple[int, int]]
    """Anchors of its regions."""
    taken: Sequence[tuple[int, int]] = ()
    """Middles of the pieces on the map: the number keeps away from them."""

    @property
    def line(self) -> str:
        """Return the points for a polyline."""
        return " ".join(f"{x},{y}" for x, y in self.points)

    @property
    def middle(self) -> tuple[int, int]:
        """Return the place of the number: on the first step, near its middle, and away from pieces."""
        (ax, ay), (bx, by) = self.points[:2]
        places = [(ax + (bx - ax) * n // 8, ay + (by - ay) * n // 8) for n in (4, 5, 3, 6, 2)]
        return max(places, key=lambda at: min([NUMBER_ROOM, *(math.dist(at, piece) for piece in self.taken)]))


@dataclass
class RegionShown:
    """A region of the map."""

    id: str
    name: str
    doc: Doc
    owner: Owner | None = None
    pieces: list[Piece] = field(default_factory=list)
    own: bool = False
    """True if the visitor owns the region or a piece in it."""
    offer: str = ""
    """Id of the first option with the region, or an empty text."""
    is_missing: bool = False
    """True if the page tells why the region is no option."""
    is_chosen: bool = False
    """True if the question is about moves from here."""
    is_pointed: bool = False
    """True if a lesson speaks of the region."""
    is_named: bool = False
    """True if the question or the answers so far name the region or its owner, and no option does."""
    was: str | None = None
    """What stood here in the version for comparison, if there is a difference."""

    @property
    def tint(self) -> str:
        """Return the class of the owner's tint after other classes, or an empty text."""
        return f" tint-{self.owner.tint}" if self.owner else ""

    @property
    def anchor(self) -> tuple[int, int]:
        """Return a point within the region: the middle of its name, or of its first place if the name is outside."""
        label = self.doc["label"]
        x, y = self.doc["slots"][0][:2] if "leader" in label else (label["x"], label["y"])
        return x, y

    @property
    def badge(self) -> list[Piece]:
        """Return a shield with the owner's letter, unless a piece shows it."""
        is_seen = self.owner is None or any(piece.owner == self.owner for piece in self.pieces)
        return [] if is_seen else [Piece("shield", "", self.owner)]

    def place_pieces(self) -> Iterator[tuple[Piece, int, int, int]]:
        """Return badge and pieces, each with the middle and the radius of its place. The last place counts the rest.

        A piece keeps its place from move to move, as long as no other one with its number comes.
        If only one place is there, the count has the letter of the region's owner.
        """
        slots, pieces = self.doc["slots"], [*self.badge, *self.pieces]
        if not slots:
            return
        shown = pieces if len(pieces) <= len(slots) else pieces[: len(slots) - 1]
        free = dict(enumerate(slots[: len(slots) if len(shown) == len(pieces) else -1]))
        for piece in sorted(shown, key=lambda each: each.rank):
            wanted = piece.rank % len(slots)
            x, y, r = free.pop(min(free, key=lambda n: (n - wanted) % len(slots)))
            yield piece, x, y, r
        if len(shown) < len(pieces):
            x, y, r = slots[-1]
            yield Piece("more", "", None if shown else self.owner, len(pieces) - len(shown)), x, y, r

    def describe_contents(self, labels: Labels) -> str:
        """Return the owner and the pieces in words."""
        owner = [self.owner.name] if self.owner and self.owner.name != self.name else []
        return labels.join([*owner, *(piece.describe(labels, self.owner) for piece in self.pieces)])

    def describe(self, labels: Labels, offered: str, missing: str = "") -> str:
        """Return the region in words. `offered`, `missing`: the words for an option, and for a value without one."""
        parts = [self.describe_contents(labels)] if self.owner or self.pieces else []
        parts += [offered] if self.offer else [missing] if self.is_missing else []
        return labels.pair(self.name, labels.join(parts)) if parts else self.name

    def draw_link(self, drawing: str, labels: Labels, offered: str, missing: str) -> str:
        """Return the area of the region as a link to its option, or to the reasons for missing ones, or as an image."""
        to = 'data-why href="#why"' if self.is_missing else 'role="img"'
        to = f'href="#{escape(self.offer)}"' if self.offer else to
        x, y = self.anchor
        return (
            f'<a {to} data-key="place-{self.id}" class="place {self.doc["kind"]}{self.tint}'
            f'{" selected" if self.is_chosen else ""}" data-region="{self.id}"'
            f"{' data-held' if self.own else ''}{' data-pointed' if self.is_pointed else ''}"
            f'{" data-named" if self.is_named else ""} data-x="{x}" data-y="{y}"'
            f' aria-label="{escape(self.describe(labels, offered, missing))}"><use href="{drawing}#r-{self.id}"/></a>'
        )

    def draw_pieces(self, symbols: str) -> str:
        """Return the badge and the pieces. `symbols`: address of the file with their outlines."""
        drawn = "".join(piece.draw(x, y, r, symbols) for piece, x, y, r in self.place_pieces())
        return f'<g data-key="pieces-{self.id}">{drawn}</g>' if drawn else ""


@dataclass(frozen=True)
class MapView:
    """The map of a table as the visitor may see it."""

    geometry: Geometry
    drawing: MapFile
    address: str
    """Address of the shared drawing."""
    regions: Sequence[RegionShown]
    owners: Sequence[Owner]
    symbols: Sequence[tuple[str, str]]
    """Symbol and name of the kinds of pieces on the map."""
    arrows: Sequence[Arrow]
    labels: Labels
    are_past: bool = False
    """True if the arrows are orders of the last turn."""

    def draw_links(self, offered: str, missing: str) -> Markup:
        """Return the areas of all regions as links. A macro for each region would take longer than all else here."""
        words = (self.address, self.labels, offered, missing)
        return _join_lines(each.draw_link(*words) for each in self.regions)

    def draw_owners(self, drawing: str) -> Markup:
        """Return the patterns of the owners over their regions. `drawing`: address of the shared drawing."""
        return _join_lines(
            f'<use class="pattern" href="{drawing}#r-{each.id}" fill="url(#pattern-{each.owner.tint})"/>'
            for each in self.regions
            if each.owner
        )

    def draw_pieces(self, symbols: str) -> Markup:
        """Return the pieces of all regions. `symbols`: address of the file with their outlines."""
        return _join_lines(drawn for each in self.regions if (drawn := each.draw_pieces(symbols)))

    def mark_changes(self, before: MapView) -> None:
        """Mark the differences from another map of the same game, in whatever order the boards name the pieces."""
        for region, other in zip(self.regions, before.regions, strict=True):
            if (region.owner, Counter(region.pieces)) != (other.owner, Counter(other.pieces)):
                region.was = other.describe_contents(self.labels)

    def list_changes(self) -> list[tuple[str, str, str]]:
        """Return the marked regions: name, what stood there, what stands there."""
        return [(r.name, r.was, r.describe_contents(self.labels)) for r in self.regions if r.was is not None]


@dataclass(frozen=True)
class Offers:
    """The regions in the options of a question, and the ids of these options on the page."""

    regions: Mapping[str, str] = field(default_factory=dict)
    """Region -> id of its first option."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Value of an option -> its id."""
    missing: frozenset[str] = frozenset()
    """Regions for which the page tells why they are no option."""
    chosen: frozenset[str] = frozenset()
    """Regions chosen on the map by the visitor: the question is about moves from there."""
    answers: frozenset[str] = frozenset()
    """Words in the answers so far: regions and owners among them are what the question is about."""
    options: frozenset[str] = frozenset()
    """Words in the options."""
    are_asked: bool = False
    """True if the question is for a region, or for a move there."""


def _read_options(question: Question | None, whole: Sequence[WholeMove]) -> dict[str, Json]:
    """Return the value of each option, as a form sends it, with the answers in it."""
    sent = [option.value for _, options in question.groups for option in options] if question else []
    if question is not None and question.kind != "paths":
        return {value: parse(value) for value in sent}
    return {path: [value for _, value, _ in parse(path)] for path in (*(move.path for move in whole), *sent)}


def find_offers(
    question: Question | None,
    whole: Sequence[WholeMove],
    known: Mapping[str, Doc],
    missing: Missing = (),
    chosen: Set[str] = frozenset(),
    answers: Json = (),
) -> Offers:
    """Return the regions in the options but for chosen ones, and those among the missing values but for answers."""
    values = _read_options(question, whole)
    regions: dict[str, str] = {}
    ids: dict[str, str] = {}
    for value, named in values.items():
        for name in dict.fromkeys(_strings(named)):
            if name in known and name not in regions and name not in chosen:
                regions[name] = ids.setdefault(value, f"offer-{name}")
    sought = {value for _, values in missing for sent, _ in values if isinstance(value := parse(sent)[1], str)}
    given = frozenset(_strings(answers))
    missed = frozenset(sought & known.keys() - regions.keys() - given)  # an answer was offered
    words = frozenset(name for named in values.values() for name in _strings(named))
    are_asked = bool(regions) and _asks_place(question, known)
    return Offers(regions, ids, missed, frozenset(chosen), given, words, are_asked)


def _asks_place(question: Question | None, known: Mapping[str, Doc]) -> bool:
    """Return False for a question about something else, such as a unit, though its moves may name regions."""
    if question is None or question.field == "type":
        return True
    options = [parse(option.value) for _, some in question.groups for option in some]
    if question.kind == "paths":
        options = [value for path in options for name, value, _ in path if name == question.field]
    return bool(known.keys() & {*_strings(options)})


def show_map(labels: Labels, board: Doc, seat: Seat | None, offers: Offers) -> MapView | None:
    """Return the map of a board, or None for a game without one."""
    package, ruleset = labels.rules.package, labels.rules.meta.ruleset
    geometry, layers = load_geometry(package), load_map(package)
    if geometry is None or not board:
        return None
    drawing = draw_map(geometry, labels.texts.lang)
    regions = {
        name: RegionShown(
            name,
            region_name(labels.texts, name),
            doc,
            offer=offers.regions.get(name, ""),
            is_missing=name in offers.missing,
            is_chosen=name in offers.chosen,
        )
        for name, doc in geometry.regions.items()
    }
    filler = _Filler(labels, layers, board, seat, regions)
    for layer in layers.get("layers", ()):
        filler.fill(layer)
    filler.place_pieces()
    if not offers.regions:
        filler.mark_named(offers)
    placed = (region.place_pieces() for region in regions.values()) if filler.arrows else ()
    taken = [(x, y) for pieces in placed for _, x, y, _ in pieces]
    address = f"/pages/maps/{ruleset}/{labels.texts.lang}/{drawing.digest}.svg"
    return MapView(
        geometry,
        drawing,
        address,
        list(regions.values()),
        filler.owners.list_all(),
        filler.list_kinds(),
        [replace(each, taken=taken) for each in filler.arrows],
        labels,
    )


def _join_lines(parts: Iterable[str]) -> Markup:
    return Markup("\n".join(parts))  # noqa: S704 - names and texts in them are escaped


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


class _Filler:
    """Puts what a board says into the regions."""

    def __init__(
        self, labels: Labels, layers: Doc, board: Doc, seat: Seat | None, regions: dict[str, RegionShown]
    ) -> None:
        self.labels, self.layers, self.board, self.seat, self.regions = labels, layers, board, seat, regions
        self.arrows: list[Arrow] = []
        self.stacks: dict[str, dict[tuple[str, Owner | None], int | None]] = defaultdict(dict)
        self.owners = Owners(labels, board, layers.get("owners", ()))

    def kind_name(self, kind: str, count: int) -> str:
        if named := self.layers.get("names", {}).get(kind):
            names = named[self.labels.texts.lang]
            return str(names[0] if self.labels.texts.grammar.is_singular(count) else names[-1])
        noun = self.labels.texts.noun(kind)
        return noun.bare if self.labels.texts.grammar.is_singular(count) or not noun.plural else noun.plural

    def fill(self, layer: Doc) -> None:
        """Put a layer into the regions."""
        if layer["widget"] == "arrow":
            self._draw_arrows(layer)
            return
        for taken, value in self._values(layer):
            region = self.regions.get(str(taken.get("region", _member(value, layer.get("region")))))
            if region is None:
                continue
            if layer["widget"] == "owner":
                named = _member(value, layer.get("owner"))
                if "data" not in layer or self.owners.find(named):
                    region.owner = self.owners.add(named) or region.owner
                continue
            self._add(region, layer, taken, value)

    def _draw_arrows(self, layer: Doc) -> None:
        for _, value in find_values(self.board, layer["at"]):
            points = [self.regions[name].anchor for name in value.get(layer["path"], ()) if name in self.regions]
            if len(points) > 1:
                self.arrows.append(Arrow(value[layer["number"]], points))

    def _values(self, layer: Doc) -> Iterator[tuple[dict[str, Json], Json]]:
        if "data" not in layer:
            yield from find_values(self.board, layer["at"])
            return
        found: Json = load(self.labels.rules.package, "data.json")
        for name in layer["data"]:
            found = found[name]
        for each in found:
            yield ({} if "region" in layer else {"region": each["id"]}), each

    def _add(self, region: RegionShown, layer: Doc, taken: Mapping[str, Json], value: Json) -> None:
        kind = str(taken.get("kind") or layer.get("piece") or _member(value, layer.get("kind")))
        count = _count(value, layer)
        if count == 0 or value is None or value is False or value == layer.get("without"):
            return
        owner, stacks = self._owner_of(region, layer, taken, value), self.stacks[region.id]
        before = stacks.get((kind, owner))
        # The public board may say that there is a piece, and the own part how strong it is.
        stacks[kind, owner] = before if count is None else (before or 0) + count

    def _owner_of(self, region: RegionShown, layer: Doc, taken: Mapping[str, Json], value: Json) -> Owner | None:
        """Return the owner of a piece: in the pointer, the visitor, the region's owner, or a member of the value."""
        if "owner" in taken:
            return self.owners.add(taken["owner"])
        named = layer.get("owner")
        if named == "region":
            return region.owner
        return self.owners.add(self.seat if named == "own" else _member(value, named)) if named else None

    def place_pieces(self) -> None:
        """Give the regions their pieces: first those of owners, in the order of the layers."""
        for region, stacks in self.stacks.items():
            for (kind, owner), count in stacks.items():
                symbol, name = self.layers.get("symbols", {}).get(kind, "block"), self.kind_name(kind, count or 1)
                self.regions[region].pieces.append(Piece(symbol, name, owner, count, self._rank(kind, owner)))
        visitor = self.owners.find(self.seat)
        for each in self.regions.values() if visitor else ():
            each.own = visitor in (each.owner, *(piece.owner for piece in each.pieces))

    def mark_named(self, offers: Offers) -> None:
        """Mark the regions that the answers name; else those of the owners in the answers, else in the options."""
        for words in (offers.answers, offers.options):
            owners = [owner for word in words if (owner := self.owners.find(word))]
            named = [each for name, each in self.regions.items() if name in words]
            for region in named or [each for each in self.regions.values() if each.owner in owners]:
                region.is_named = True
            if named or owners:
                return

    def _rank(self, kind: str, owner: Owner | None) -> int:
        """Return the number of a kind and owner: pieces of one kind and several owners are neighbours."""
        kinds, owners = list(self.layers.get("symbols", {})), self.owners.list_all()
        number = kinds.index(kind) if kind in kinds else len(kinds)
        return 1 + number * max(1, len(owners)) + (owners.index(owner) if owner in owners else 0)

    def list_kinds(self) -> list[tuple[str, str]]:
        """Return symbol and name of the kinds of pieces on the map."""
        kinds = dict.fromkeys(kind for stacks in self.stacks.values() for kind, _ in stacks)
        return [(self.layers.get("symbols", {}).get(kind, "block"), self.kind_name(kind, 1)) for kind in kinds]


def _count(value: Json, layer: Doc) -> int | None:
    """Return the number of pieces, or None for a mark."""
    if layer.get("mark"):
        return None
    if "count" in layer:
        value = _member(value, layer["count"])
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return len(value) if isinstance(value, list) else None


def _member(value: Json, name: str | None) -> Json:
    """Return a member of a value, or the value itself."""
    if name is None or name == "own":
        return value if isinstance(value, str | int) else None
    return value.get(name) if isinstance(value, dict) else value
