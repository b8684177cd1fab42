"""The geometry of a board, from its map: sites, cells, borders, labels, links."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from random import Random

import numpy as np
import shapely
from shapely.ops import nearest_points

from maps.board import Board, Doc
from maps.furniture import GAP, SIZES, Furniture, Label, Room, choose_codes, furnish, list_boxes
from maps.globe import Globe, find_land
from maps.growth import Growth, share_cells
from maps.layout import MARGIN, spread
from maps.mesh import make_mesh
from maps.outline import SIMPLE, Outline, Spot, draw_outline

SPACING = 9.0
"""Units between the cells of the mesh."""
CORE = 24.0
"""Radius around a site that always belongs to its region."""
LEAST_BORDER = 12
"""Length in units at which a border is seen; a shorter one gets a link as well."""
SHORE = 22.0
"""Units of open sea along the frame, on maps without sea regions."""
OUTSIDE = 3
"""How many of the smallest sizes labels outside their regions may have."""
INSET = 8
"""Units from the land of an inset to its frame."""
CROWDED = 0.75
"""Radius of slots in regions without room for a label, in parts of others'."""
LEADER = 4
"""Units from the border at which a leader ends within its region."""
MASK = 6
"""Units between two points of the mask of land."""
FAR = 220.0
"""Length of a missing border that is no longer drawn across a round map."""
HARBOUR = 8
"""Radius of a harbour."""


def grow(board: Board) -> tuple[Outline, list[shapely.LinearRing]]:
    """Return the outline of all regions, and the coasts of the globe as they lie on the board."""
    hints, count = board.hints, len(board.places)
    globe = Globe(board)
    parts = [*map(shapely.get_coordinates, globe.coasts), *globe.seeds]
    sites, carried = spread(board, np.array([seeds[0] for seeds in globe.seeds]), np.concatenate(parts))
    pieces = np.split(carried, np.cumsum([len(part) for part in parts])[:-1])
    coasts = [shapely.LinearRing(piece) for piece in pieces[:-count]]
    seeds = [np.concatenate([site[None], piece[1:]]) for site, piece in zip(sites, pieces[-count:], strict=True)]
    mesh = make_mesh(board, SPACING, coasts)
    land, seen = find_land(coasts, mesh.centres), globe.sees(mesh.centres)
    start = share_cells(board, mesh, seeds, land, seen)
    growth, rng = Growth(board, mesh, sites, start, land, hints.get("core", CORE)), Random(hints.get("seed", 3))
    growth.fixed = [held or not here for held, here in zip(growth.fixed, seen, strict=True)]
    for hot, cold in ((3, 0.5), (3, 0.3), (0.6, 0.05)):
        growth.anneal(rng, hot, cold, 30)
        growth.repair(rng, 3)
    growth.fill_holes()
    outline = draw_outline(
        mesh,
        growth.label,
        count,
        lambda a, b: min(a, b) >= 0 and not growth.suits(a, b),
        land,
        hints.get("simple", SIMPLE),
    )
    return outline, coasts


def draw_mask(board: Board, coasts: Sequence[shapely.LinearRing]) -> list[list[int]]:
    """Return rows of points `MASK` units from each other, the first ones half of it from the edge of the drawing.

    A row has the numbers of its points that lie on sea, then on land, then on sea and so on.
    """
    xs, ys = np.arange(MASK // 2, board.width, MASK), np.arange(MASK // 2, board.height, MASK)
    land = find_land(coasts, np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)).reshape(len(ys), len(xs))
    return [np.diff(np.flatnonzero(np.diff(row, prepend=False)), prepend=0).tolist() for row in land]


class Drawing:
    """An outline with all that stands on it."""

    def __init__(self, board: Board, outline: Outline) -> None:
        self.board, self.outline = board, outline
        self.ids = [place.id for place in board.places]
        self.index = {name: i for i, name in enumerate(self.ids)}
        self.shapes = [outline.shape(rings) for rings in outline.rings]
        broken = [name for name, shape in zip(self.ids, self.shapes, strict=True) if not shape.is_valid]
        if broken:
            raise ValueError(f"rings cross themselves: {broken}")
        self.contacts = {frozenset((self.ids[a], self.ids[b])): arcs for (a, b), arcs in outline.contacts().items()}
        self.rooms = [Room(shape) for shape in self.shapes]

    def geometry(self) -> Doc:
        """Return the document."""
        board = self.board
        pieces = self.furnish_all()
        codes = choose_codes({place.id: place.names["en"] for place in board.places})
        codes |= board.hints.get("codes", {})
        links = self.list_links()
        frame = {"kind": "rectangle", "x": 6, "y": 6, "width": board.width - 12, "height": board.height - 12}
        if board.circle:
            frame = {"kind": "circle", "x": board.width // 2, "y": board.height // 2, "r": board.width // 2 - 6}
        regions, harbours = {}, []
        for i, place in enumerate(board.places):
            found = pieces[i]
            label = {key: value for key, value in vars(found.label).items() if value is not None}
            regions[place.id] = {
                "kind": place.kind,
                "code": codes[place.id],
                "rings": self.outline.rings[i],
                "label": label,
                "slots": [list(slot) for slot in found.slots],
                "neighbours": self.list_neighbours(i, links),
            }
            if harbour := self.find_harbour(i, pieces, harbours):
                regions[place.id]["harbour"] = harbour
                harbours.append(harbour)
        closed = [arc for pair, arcs in self.contacts.items() if pair not in board.borders for arc in arcs]
        return {
            "form": 1,
            "view": [0, 0, board.width, board.height],
            "frame": frame,
            "background": "sea",
            "arcs": [_relative(arc) for arc in self.outline.arcs],
            "regions": regions,
            "links": links,
            "closed": sorted(closed),
            "insets": self.insets,
        }

    @property
    def insets(self) -> list[list[int]]:
        """Return the frames of the parts of the map: x, y, width and height; none if it has only one."""
        found = [each["at"] for each in self.board.hints["windows"] if "at" in each]
        return [[x - INSET, y - INSET, width + 2 * INSET, height + 2 * INSET] for x, y, width, height in found]

    def faults(self) -> tuple[list[list[str]], list[list[str]]]:
        """Return missing borders and false ones."""
        board = self.board
        missing = [sorted(pair) for pair in board.borders if self.border_length(pair) < LEAST_BORDER]
        false = [sorted(pair) for pair in self.contacts if pair not in board.adjacent]
        return sorted(missing), sorted(false)

    def border_length(self, pair: frozenset[str]) -> float:
        return sum(map(self.outline.arc_length, self.contacts.get(pair, ())))

    # Labels and slots

    @property
    def sizes(self) -> list[int]:
        """Return the sizes of labels on this map."""
        hints = self.board.hints
        return [size for size in SIZES if hints.get("smallest", SIZES[0]) <= size <= hints.get("largest", 20)]

    def furnish_all(self) -> list[Furniture]:
        """Return label and slots of all regions; who has no room for a label gets one outside, with a leader."""
        radius, sizes = self.board.hints.get("radius", 15), self.sizes
        found = [
            furnish(room, place.names, sizes, radius) for room, place in zip(self.rooms, self.board.places, strict=True)
        ]
        for each, room in zip(found, self.rooms, strict=True):
            if each.label is None:
                each.slots = room.slots([], 8, CROWDED * radius) or each.slots
        labels = [shapely.box(*_bounds(each.label)) for each in found if each.label]
        slots = [shapely.Point(x, y).buffer(r) for each in found for x, y, r in each.slots[:3]]
        leaders: list[shapely.Geometry] = [shapely.box(*_corners(at)).exterior for at in self.insets]
        for i, each in enumerate(found):
            if each.label is None:
                each.label = self.place_outside(i, labels, slots, leaders)
                labels.append(shapely.box(*_bounds(each.label)))
                leaders.append(shapely.LineString([(each.label.x, each.label.y), each.label.leader]))
        for i, each in enumerate(found):
            boxes = [other.label for j, other in enumerate(found) if j != i and other.label and other.label.leader]
            if each.label:
                boxes += [] if each.label.leader else [each.label]
                most = CROWDED * radius if each.label.leader else radius
                each.slots = self.rooms[i].slots(boxes, 8, most) or each.slots
        return found

    def place_outside(
        self, i: int, labels: list[shapely.Geometry], slots: list[shapely.Geometry], leaders: list[shapely.Geometry]
    ) -> Label:
        """Return the nearest free box outside a region, best on a sea, with a leader that crosses few others."""
        place, room = self.board.places[i], self.rooms[i]
        written, held = shapely.STRtree(labels), shapely.STRtree(slots)
        land = [shape for j, shape in enumerate(self.shapes) if self.board.places[j].kind == "land" and j != i]
        lands, whole, within = shapely.STRtree(land), self.shapes[i], self.shapes[i].buffer(-LEADER)
        inside = shapely.box(MARGIN, MARGIN, self.board.width - MARGIN, self.board.height - MARGIN)
        if self.board.circle:
            inside = shapely.Point(self.board.width / 2, self.board.height / 2).buffer(self.board.width / 2 - MARGIN)
        shapely.prepare(inside)
        best, cost, sizes = None, math.inf, self.sizes[:OUTSIDE][::-1]
        for size, box in [(each, box) for each in sizes for box in list_boxes(place.names, each)]:
            for far, turn in itertools.product(range(0, 300, 6), range(24)):
                x = round(room.middle[0] + (far + box[0] / 2) * math.sin(turn * math.pi / 12))
                y = round(room.middle[1] + far * math.cos(turn * math.pi / 12))
                if 0.4 * far + 8 * (sizes[0] - size) > cost:
                    break
                label = Label(x, y, *box, size)
                shape = shapely.box(*_bounds(label, GAP))
                if not inside.contains(shape) or len(written.query(shape, "intersects")):
                    continue
                end, start = nearest_points(within, shapely.box(*_bounds(label)))
                label.leader, line = _round((end.x, end.y)), shapely.LineString([start, end])
                crossed = sum(land[j].intersection(line).length for j in lands.query(line))
                over = sum(land[j].intersection(shape).area for j in lands.query(shape)) / shape.area
                own = whole.intersection(shape).area / shape.area
                price = (
                    0.4 * far
                    + shape.distance(whole)
                    + 80 * own
                    + 3 * crossed
                    + 120 * over
                    + 180 * len(held.query(shape, "intersects"))
                )
                price += 60 * len(written.query(line, "intersects")) + 8 * (sizes[0] - size)
                price += sum(60 for other in leaders if other.intersects(line) or other.intersects(shape))
                if price < cost:
                    best, cost = label, price
        if best is None:
            raise ValueError(f"no room for the label of {place.id}")
        return best

    def find_harbour(self, i: int, pieces: list[Furniture], others: list[list[int]]) -> list[int] | None:
        """Return a circle on the coast of a land, apart from all that stands around."""
        if self.board.places[i].kind != "land":
            return None
        sides = [
            (arc, self.index[other])
            for pair, arcs in self.contacts.items()
            if self.ids[i] in pair and pair in self.board.borders
            for other in pair - {self.ids[i]}
            if self.board.places[self.index[other]].kind == "sea"
            for arc in arcs
        ]
        best, value = None, -1.0
        for arc, sea in sides:
            line = shapely.LineString(self.outline.arcs[arc])
            ends = shapely.MultiPoint([self.outline.arcs[arc][0], self.outline.arcs[arc][-1]])
            for part in np.linspace(0.1, 0.9, 17):
                spot = line.interpolate(part, normalized=True)
                gap = min(_gap(spot, pieces[j]) for j in (i, sea))
                gap = min([gap, *(math.dist((spot.x, spot.y), other[:2]) - HARBOUR - GAP for other in others)])
                worth = min(gap - HARBOUR, 8) + 0.3 * min(spot.distance(ends), 20)
                if gap >= HARBOUR and worth > value:
                    best, value = [round(spot.x), round(spot.y), HARBOUR], worth
        return best

    # Neighbours and links

    def list_neighbours(self, i: int, links: list[Doc]) -> list[str]:
        """Return the adjacent regions, clockwise from north."""
        name, middle = self.ids[i], self.rooms[i].middle
        bearings = {}
        for pair in self.board.adjacent:
            if name not in pair:
                continue
            (other,) = pair - {name}
            if pair in self.contacts and pair in self.board.borders:
                spot = shapely.MultiLineString([self.outline.arcs[arc] for arc in self.contacts[pair]]).centroid
                to = (spot.x, spot.y)
            else:
                link = next(each for each in links if set(each["ends"]) == pair)
                line = link["lines"][link["ends"].index(name) if len(link["lines"]) > 1 else 0]
                end = (line[0] + sum(line[2::2]), line[1] + sum(line[3::2]))
                to = end if len(link["lines"]) > 1 or link["ends"][0] == name else (line[0], line[1])
            bearings[other] = math.atan2(to[0] - middle[0], middle[1] - to[1]) % (2 * math.pi)
        return sorted(bearings, key=lambda other: (round(bearings[other], 3), other))

    def list_links(self) -> list[Doc]:
        """Return straits, canals, borders that are missing, and links over a seam."""
        found: list[Doc] = []
        for pair, (kind, key) in self.board.passages.items():
            a, b = sorted(pair)
            line = self.draw_passage(a, b, self.board.controllers[pair])
            found.append({"kind": kind, "ends": [a, b], "lines": [line], "id": key})
        for a, b in self.faults()[0]:
            line = self.draw_line(a, b)
            if math.hypot(line[2], line[3]) < FAR or not self.board.circle:
                found.append({"kind": "missing", "ends": [a, b], "lines": [line]})
        found += self.list_exits([*self.board.seams, *self.list_far()])
        return sorted(found, key=lambda link: (link["kind"], link["ends"]))

    def list_far(self) -> list[tuple[str, str]]:
        """Return missing borders of regions that are far from each other on a round map: they meet beyond its frame."""
        if not self.board.circle:
            return []
        return [(a, b) for a, b in self.faults()[0] if math.hypot(*self.draw_line(a, b)[2:]) >= FAR]

    def list_exits(self, pairs: list[tuple[str, str]]) -> list[Doc]:
        """Return links over the frame: a line to it from each end, those of a region side by side."""
        middles = {name: room.middle for name, room in zip(self.ids, self.rooms, strict=True)}
        ends = [sorted(pair, key=lambda name: (middles[name][0], name)) for pair in pairs]
        others: dict[tuple[str, int], list[str]] = {}
        for pair in ends:
            for side in (0, 1):
                others.setdefault((pair[side], side * (not self.board.circle)), []).append(pair[1 - side])
        found = []
        for pair in ends:
            lines = []
            for side in (0, 1):
                key = (pair[side], side * (not self.board.circle))
                order = sorted(others[key], key=lambda other: self.order_exit(pair[side], other))
                part = (order.index(pair[1 - side]) + 1) / (len(order) + 1)
                lines.append(self.draw_exit(pair[side], key[1], part))
            link: Doc = {"kind": "seam", "ends": pair, "lines": lines}
            if frozenset(pair) in self.board.keys:
                link["id"] = self.board.keys[frozenset(pair)]
            found.append(link)
        return found

    def order_exit(self, name: str, other: str) -> float:
        """Return where a line to another region goes: its height, or on a round map its turn."""
        at, to = (self.rooms[self.index[each]].middle for each in (name, other))
        if not self.board.circle:
            return to[1]
        middle = self.board.width / 2
        turn = math.atan2(to[1] - middle, to[0] - middle) - math.atan2(at[1] - middle, at[0] - middle)
        return (turn + math.pi) % (2 * math.pi)

    def draw_passage(self, a: str, b: str, controller: str) -> list[int]:
        """Return a short line between two seas, over the land that controls it where it can be."""
        shapes = [self.shapes[self.index[name]].buffer(-9) for name in (a, b)]
        land = self.shapes[self.index[controller]]
        shapely.prepare(land)
        spots = [
            np.array([p for q in shapely.get_parts(shape) for p in q.segmentize(12).exterior.coords])
            for shape in shapes
        ]
        gap = np.linalg.norm(spots[0][:, None] - spots[1][None], axis=2)
        best, cost = (0, 0), math.inf
        for flat in np.argsort(gap, axis=None)[:6000]:
            i, j = divmod(int(flat), gap.shape[1])
            line = shapely.LineString([spots[0][i], spots[1][j]])
            price = line.length + (0 if line.intersects(land) else 2 * line.distance(land) + 15)
            if price < cost:
                best, cost = (i, j), price
            if gap[i, j] > cost:
                break
        return _relative([_round(spots[0][best[0]]), _round(spots[1][best[1]])])

    def draw_line(self, a: str, b: str) -> list[int]:
        """Return the shortest line between two regions, a little into each."""
        first, second = (self.shapes[self.index[name]].buffer(-12) for name in (a, b))
        p, q = nearest_points(first, second)
        return _relative([_round((p.x, p.y)), _round((q.x, q.y))])

    def draw_exit(self, name: str, side: int, part: float) -> list[int]:
        """Return a line from a region to the frame, at a part of its way along it, or where it is nearest."""
        shape, room = self.shapes[self.index[name]].buffer(-8), self.rooms[self.index[name]]
        middle = np.array([self.board.width, self.board.height]) / 2
        edge = MARGIN if not side else self.board.width - MARGIN
        frame = shapely.LineString([(edge, MARGIN), (edge, self.board.height - MARGIN)])
        if self.board.circle:
            frame = shapely.Point(*middle).buffer(middle[0] - MARGIN, quad_segs=180).exterior
        spots = [spot for each in shapely.get_parts(shape) for spot in each.segmentize(4).exterior.coords]
        close = [spot for spot in spots if frame.distance(shapely.Point(spot)) < 18]

        def along(spot: tuple[float, float]) -> float:
            if not self.board.circle:
                return spot[1]
            turn = math.atan2(spot[1] - middle[1], spot[0] - middle[0])
            return (turn - math.atan2(room.middle[1] - middle[1], room.middle[0] - middle[0]) + math.pi) % (2 * math.pi)

        if not close:
            p, q = nearest_points(shape, frame)
            shift = 24 * (part - 0.5)
            return _relative([_round((p.x, p.y + shift)), _round((q.x, q.y + shift))])
        spot = shapely.Point(sorted(close, key=along)[round(part * (len(close) - 1))])
        end = frame.interpolate(frame.project(spot))
        inward = middle - [end.x, end.y] if self.board.circle else np.array([1.0 - 2 * side, 0.0])
        inward *= 30 / np.linalg.norm(inward)
        return _relative([_round((end.x + inward[0], end.y + inward[1])), _round((end.x, end.y))])


def _bounds(label: Label, more: float = 0) -> tuple[float, float, float, float]:
    wide, high = label.width / 2 + more, label.height / 2 + more
    return label.x - wide, label.y - high, label.x + wide, label.y + high


def _corners(at: Sequence[int]) -> tuple[int, int, int, int]:
    x, y, width, height = at
    return x, y, x + width, y + height


def _gap(spot: shapely.Point, piece: Furniture) -> float:
    """Return the distance of a point from label and slots."""
    gaps = [math.dist((spot.x, spot.y), slot[:2]) - slot[2] for slot in piece.slots]
    if piece.label:
        gaps.append(float(shapely.box(*_bounds(piece.label)).distance(spot)))
    return min(gaps, default=math.inf)


def _round(spot: object) -> Spot:
    x, y = spot  # type: ignore[misc]
    return round(float(x)), round(float(y))


def _relative(arc: list[Spot]) -> list[int]:
    found = [*arc[0]]
    for (x0, y0), (x1, y1) in itertools.pairwise(arc):
        found += [x1 - x0, y1 - y0]
    return found
