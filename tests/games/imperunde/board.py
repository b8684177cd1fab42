"""Positions for tests: a table in the middle of a turn, with everything that a test does not name empty.

Seats are 0 great_britain, 1 south_africa, 2 japan, 3 victoria, 4 usa, 5 brazil; turn order is ascending. All pairs
are at peace, nobody has money, cards or pieces, and the draw pile holds every card that is not named.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.games.imperunde import RULESET
from domain.games.imperunde.data import COUNTRIES, DECK, ZONES
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.draws import Seeded
from domain.kernel.rules.meta import Table
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json, Seat
from tests.spec import SEED, Given

HOMES = ("great_britain", "south_africa", "japan", "victoria", "usa", "brazil")
UNITS = ("infantry", "cavalry", "artillery", "frigate", "ship_of_the_line")
PHASES = {
    "turn": 1,
    "revenue": 2,
    "budget": 3,
    "apply": 3,
    "investment": 4,
    "settle": 4,
    "cleanup": 5,
    "move_window": 6,
    "movement": 6,
    "unpin": 6,
    "embarkation": 7,
    "events": 8,
    "turn_end": 8,
}


# --- parts of a position -----------------------------------------------------------------------------------------


def lot(unit: str, count: int, moves: int = 0, *, pinned: bool = False) -> Json:
    """A lot of the state."""
    return {"unit": unit, "count": count, "moves_left": moves, "pinned": pinned}


def lots(**units: int) -> list[Json]:
    """Lots without moves: `infantry=3`."""
    return [lot(u, n) for u, n in units.items() if n]


def colony(owner: Seat | None, posts: int = 0, forts: int = 0, **more: Any) -> Json:
    """A country: armies by name, and members of the state as they are called."""
    units = [*more.pop("units", []), *lots(**{u: more.pop(u) for u in UNITS if u in more})]
    return {"owner": owner, "posts": posts, "forts": forts, "units": units, **more}


def zone(fleets: Mapping[Seat, Any] | None = None, pirates: int = 0, marker: str | None = None, **more: Any) -> Json:
    """A zone: fleets as `{0: {"frigate": 2}}` or as a list of lots."""
    named = {str(k): lots(**v) if isinstance(v, dict) else v for k, v in (fleets or {}).items()}
    black = {"frigate": pirates} if pirates else {}
    return {"fleets": named, "pirates": more.get("black", black), **({"marker": marker} if marker else {})}


def pairs(seats: int, wars: Iterable[tuple[Seat, Seat]], overrides: Mapping[tuple[Seat, Seat], str]) -> Json:
    """All pairs: at war where named, overridden by a card where named."""
    out: dict[str, Json] = {}
    for a in range(seats):
        for b in range(a + 1, seats):
            base = "war" if (a, b) in list(wars) else "peace"
            out[f"{a}-{b}"] = {"base": base, "stances": [base, base]}
            if (a, b) in overrides:
                out[f"{a}-{b}"]["override"] = {"relation": overrides[a, b], "card": "armistice", "by": a}
    return out


@functools.cache
def _after_setup(seats: int, options: tuple[tuple[str, Json], ...]) -> Json:
    return to_json(InMemoryGame(RULESET, seats, SEED, options=dict(options), source=Seeded(SEED, "match")).state)


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


def table(
    seats: int = 3,
    step: str = "movement",
    *,
    at: int = 0,
    wars: Iterable[tuple[Seat, Seat]] = (),
    overrides: Mapping[tuple[Seat, Seat], str] | None = None,
    countries: Mapping[str, Json] | None = None,
    zones: Mapping[str, Json] | None = None,
    nations: Mapping[Seat, Mapping[str, Json]] | None = None,
    hands: Mapping[Seat, Sequence[str]] | None = None,
    options: Mapping[str, Json] | None = None,
    discard: Sequence[str] = (),
    frames: Sequence[Json] | None = None,
    deck: Sequence[str] | None = None,
    **more: Json,
) -> Json:
    """The JSON form of a state, in which a step of the turn comes next (`movement` of the first seat unless named).

    `more` are fields of the state.
    """
    blank = to_json(RULESET.blank(Table(seats, {**DEFAULTS, **(options or {})})))
    held = {seat: list((hands or {}).get(seat, ())) for seat in range(seats)}
    rest = list(DECK)
    for card in [*discard, *(c for hand in held.values() for c in hand), *(deck or ())]:
        rest.remove(card)
    pile = [*(deck or ()), *rest]
    homes = {HOMES[i]: colony(i) for i in range(seats)}
    return {
        **blank,
        "opened": 1,
        "frames": list(frames or [{"n": 1, "kind": "game", "data": {"step": step, "at": at}}]),
        "turn": 3,
        "phase": PHASES[step],
        "pairs": pairs(seats, wars, overrides or {}),
        "countries": {**homes, **(countries or {})},
        "zones": dict(zones or {}),
        "nations": {
            str(i): {**blank["nations"][str(i)], "home": HOMES[i], "cards": len(held[i]), **(nations or {}).get(i, {})}
            for i in range(seats)
        },
        "hands": {str(i): held[i] for i in range(seats)},
        "deck": pile,
        "pile": len(pile),
        "discard": list(discard),
        **more,
    }


def position(
    seats: int = 3, step: str = "movement", *, options: Mapping[str, Json] | None = None, **more: Any
) -> Given:
    """A game that goes on from such a table. A step that draws (`turn`) cannot be named: no draws are scripted."""
    new = table(seats, step, options=options, **more)
    old = _after_setup(seats, tuple(sorted((options or {}).items())))
    patch = {**difference(old, new), "opened": new["opened"], "frames": new["frames"]}
    return Given(RULESET, seats, options=options, patch=patch)


def replacing(new: Json) -> Json:
    """The merge patch that makes such a state of any other of as many seats after a set-up."""
    nobody = dict.fromkeys(str(seat) for seat in range(new["seats"]))
    zones = {name: {**z, "fleets": {**nobody, **z["fleets"]}} for name, z in new["zones"].items()}
    return {
        **new,
        "countries": {**dict.fromkeys(COUNTRIES), **new["countries"]},
        "zones": {**dict.fromkeys(ZONES), **zones},
    }


DEFAULTS: Mapping[str, Json] = {name: option.default for name, option in RULESET.meta.options.items()}


# --- moves -------------------------------------------------------------------------------------------------------


def units(**counts: int) -> list[Json]:
    """Units of a move, by name."""
    return [{"unit": u, "count": n} for u, n in counts.items()]


def move(*path: str, **counts: int) -> Json:
    """Move these units along a path."""
    return {"type": "move", "units": units(**counts), "path": list(path)}


def group(*path: str, **counts: int) -> Json:
    """A group of an attack: one kind of unit and its path."""
    ((unit, count),) = counts.items()
    return {"unit": unit, "count": count, "path": list(path)}


def attack(*groups: Json, **more: Json) -> Json:
    """An attack on the last region of the paths."""
    return {"type": "attack", "target": groups[0]["path"][-1], "groups": list(groups), **more}


def card(name: str, **terms: Json) -> Json:
    """Play a card; `start` stands for `from`."""
    if "start" in terms:
        terms["from"] = terms.pop("start")
    return {"type": "play_card", "card": name, **terms}


def buy(item: str, quantity: int, country: str, zone: str = "") -> Json:
    """A purchase."""
    return {"type": "buy", "item": item, "quantity": quantity, "country": country, **({"zone": zone} if zone else {})}


PASS: Json = {"type": "pass"}


# --- looking -----------------------------------------------------------------------------------------------------


def country(game: Given, name: str) -> Any:
    """A country as it stands."""
    return game.state.country(name)


def standing(game: Given, region: str, seat: Seat) -> dict[str, int]:
    """Unit -> number of a seat in a region."""
    counts: dict[str, int] = {}
    for x in game.state.lots_in(seat, region):
        counts[x.unit] = counts.get(x.unit, 0) + x.count
    return counts


def moves_left(game: Given, region: str, seat: Seat) -> dict[str, int]:
    """Unit -> moves left, where all of a kind have the same."""
    return {x.unit: x.moves_left for x in game.state.lots_in(seat, region)}


def named(facts: Sequence[Doc], kind: str) -> list[Doc]:
    """The facts of a kind."""
    return [f for f in facts if f["t"] == kind]


def deciding(game: Given) -> tuple[str, list[Seat]]:
    """What is open, and who owes it."""
    top = game.state.top
    return top.kind, list(top.owing)


def die(value: int, colour: str = "white") -> Json:
    """A die of that colour."""
    return {"label": f"die.{colour}", "value": value}


def dice(text: str) -> list[Json]:
    """`w3 y5 g8 r9`: dice by the first letter of their colour."""
    colours = {"w": "white", "y": "yellow", "g": "green", "r": "red"}
    return [die(int(word[1:]), colours[word[0]]) for word in text.split()]


def wheel(kind: str, value: str) -> Json:
    """A spin of a wheel."""
    return {"label": f"wheel.{kind}", "value": value}
