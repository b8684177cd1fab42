"""Positions for tests: the state after a set-up, patched to what a test says, with everything else in order.

Seats are 0 prussia, 1 austria, 2 russia, 3 britain, 4 france, 5 spain, 6 united_provinces; seat 0 is the first player.
What a test does not name is empty: no units, tokens, tiles or markers on the map; gold 10, population 5, no unrest.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.data import MARKERS, TILES
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.draws import Seeded
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json, Seat
from tests.spec import SEED, Given

POWERS = ("prussia", "austria", "russia", "britain", "france", "spain", "united_provinces")

EMPTY: dict[str, Json] = {"gold": 10, "population": 5, "vp": 0, "tokens": {}, "units": {}, "tiles": [], "unrest": 0}


def options(seats: int, **more: Json) -> dict[str, Json]:
    """The options of every position: fixed powers, seat 0 first."""
    return {"power_assignment": "fixed", "powers": list(POWERS[:seats]), "first_player": 0, **more}


@functools.cache
def _after_setup(seats: int, visibility: str) -> Json:
    match = InMemoryGame(
        RULESET,
        seats,
        SEED,
        options=options(seats, unrest_visibility=visibility),
        source=Seeded(SEED, "match"),
    )
    return to_json(match.state)


def difference(old: Json, new: Json) -> Json:
    """The merge patch that makes `new` of `old`."""
    gone = dict.fromkeys(set(old) - set(new))
    changed = {}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            changed[key] = difference(old[key], value)
        elif key not in old or old[key] != value:
            changed[key] = value
    return {**gone, **changed}


def tile(entry: Json) -> Json:
    """`"militia"` or `("militia", True)` for a turned one, as a tile of the state."""
    name, used = entry if isinstance(entry, tuple) else (entry, False)
    return {"tile": name, "used": used}


def position(
    seats: int = 3,
    *,
    turn: Seat | None = 0,
    grey: Sequence[Seat] | None = None,
    empires: Mapping[Seat, Any] | None = None,
    markers: Iterable[str] = (),
    gone: Iterable[str] = (),
    boxed: Mapping[str, int] | None = None,
    visibility: str = "hidden",
    to_play: Sequence[Seat] | None = None,
    **more: Any,
) -> Given:
    """A game in which `turn` has just begun its turn, or with `turn=None` waits for the first bid of War `war`.

    `grey` (all even seats unless given) is one alliance, the others are white; turn order follows from SOE-6.6.
    `to_play` are the seats after this one in the round; `more` are fields of the state (`turn_record` for the turn).
    """
    before = _after_setup(seats, visibility)
    doc = copy.deepcopy(before)
    rows = {"grey": list(range(0, seats, 2)) if grey is None else list(grey)}
    rows["white"] = [s for s in range(seats) if s not in rows["grey"]]
    order = [row[i] for i in range(seats) for row in rows.values() if i < len(row)]
    doc |= {"war": 1, "round": 1, "opened": 2}
    _lay(doc, seats, empires or {}, list(markers), list(gone), dict(boxed or {}))
    if turn is None:
        doc |= {"alliances": {"grey": [], "white": []}, "turn_order": [], "turn": None, "round": 0}
        doc["auction"] = {"opener": 0, "standing": None, "passes": 0}
        top = {"n": 2, "kind": "auction_bid", "asked": [0], "owing": [0]}
        rest: Sequence[Seat] = []
    else:
        record = {"seat": turn, "actions_left": 2, **more.pop("turn_record", {})}
        doc |= {"alliances": rows, "turn_order": order, "turn": record, "auction": None}
        top = {"n": 2, "kind": "turn", "asked": [turn], "owing": [turn]}
        rest = order[order.index(turn) + 1 :] if to_play is None else to_play
    doc["frames"] = [{"n": 1, "kind": "war", "data": {"to_play": list(rest)}}, top]
    doc |= more
    _count_stock(doc)
    return Given(
        RULESET,
        seats,
        options=options(seats, unrest_visibility=visibility),
        patch=difference(before, doc),
    )


def _lay(
    doc: Json, seats: int, empires: Mapping[Seat, Any], markers: list[str], gone: list[str], boxed: dict[str, int]
) -> None:
    for seat in range(seats):
        parts = {**EMPTY, **empires.get(seat, {})}
        doc["unrest"][str(seat)] = parts.pop("unrest")
        parts["tiles"] = [tile(t) for t in parts["tiles"]]
        doc["empires"][str(seat)] = {"power": POWERS[seat], "banned_tiles": [], **parts}
    doc["markers"] = {}
    for marker in markers:
        doc["markers"].setdefault(MARKERS[marker].region, []).append(marker)
    doc["bag"] = [m for m in MARKERS if m not in markers and m not in gone]
    doc["gone"], doc["boxed"] = gone, boxed


def _count_stock(doc: Json) -> None:
    out = [t["tile"] for e in doc["empires"].values() for t in e["tiles"]]
    out += [name for name in ("pirates", "slave_revolt") if doc.get(name)]
    out += [name for name, n in doc["boxed"].items() for _ in range(n)]
    counts = {t.id: t.count - out.count(t.id) for t in TILES.values()}
    doc["stock"] = {name: n for name, n in counts.items() if n}


def army(region: str, number: int = 1, **more: int) -> dict[str, dict[str, int]]:
    """Units in one region: `army("india", 2, navy=1)`."""
    units = {"army": number, **more} if number else dict(more)
    return {region: units}


def move(kind: str, **fields: Json) -> dict[str, Json]:
    """A move; `from_` stands for the field `from`."""
    return {"type": kind, **{name.rstrip("_"): value for name, value in fields.items()}}


def attack(region: str, target: Json, **more: Json) -> dict[str, Json]:
    """An attack on a seat (number), a marker (id) or a tile."""
    if isinstance(target, int):
        aim: Json = {"kind": "player", "seat": target}
    elif target in ("pirates", "slave_revolt"):
        aim = {"kind": target}
    else:
        aim = {"kind": "neutral", "marker": target}
    return move("attack", region=region, target=aim, **more)


def empire(game: Given, seat: Seat) -> Json:
    """What a seat has, in JSON form."""
    return game.at(f"/empires/{seat}")


def unrest(game: Given, seat: Seat) -> int:
    """The withheld total of a seat."""
    total: int = game.at(f"/unrest/{seat}")
    return total


def offers(game: Given, seat: Seat, *picks: Json) -> list[Json]:
    """The values that the move builder offers after the picks."""
    question = game.offered(seat, *picks)
    assert isinstance(question, Choice)
    return question.values


def asked(game: Given) -> tuple[str, Seat]:
    """Kind of the open decision and who owes it."""
    return game.decision.kind, game.decision.must[0]


TEN = [
    "gs_hanover",
    "gs_cologne",
    "ce_poland",
    "ba_norway",
    "me_savoy",
    "ot_crimea",
    "na_virginia",
    "ca_cuba",
    "in_bengal",
    "ei_java",
]
"""Ten markers for the draws at the beginning of a War."""


def last_turn(war: int = 1, **more: Any) -> Given:
    """Two seats; seat 1 has the last turn of a War's last round."""
    return position(2, turn=1, war=war, round=6, **more)


def end_of_war(game: Given) -> list[Doc]:
    """Seat 1 passes: phases 4 to 6, and the beginning of the next War."""
    return game.when(1, move("pass"), draws=TEN if game.state.war < 3 else [])
