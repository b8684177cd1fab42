"""Positions for tests: the state after a set-up, patched to what a test says, with everything else in order.

Three seats with the distribution card 3b and seat 0 as P1: seat 0 is monarch of prussia and ottomans, seat 1 of russia,
france and great_britain, seat 2 of spain and habsburg. What a test does not name is empty: no units and flags; levels
and palaces are those of the set-up.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from domain.games.seven_empires import RULESET
from domain.games.seven_empires.data import EMPIRES, FIRST_SLOTS, TILE_SETS
from domain.kernel.rules.choices import Choice
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json, Seat
from tests.spec import SEED, Given

CARDS = {2: "2a", 3: "3b", 4: "4a", 5: "5a", 6: "6a"}
TURN = {"n": 1, "kind": "decade", "data": {"todo": ["turn"]}}
"""The frame before a turn."""

__all__ = ["CARDS", "SEED", "TURN"]


def tiles(seats: int, decades: int = 8) -> list[str]:
    """The set of tiles, in the order of the data."""
    part = TILE_SETS[seats]
    return [*part["base"], *(part["extension"] if decades > 8 else ())]


def begun(seats: int = 3, order: Sequence[str] | None = None, **options: Json) -> Given:
    """A game after its set-up: seat 0 is P1, the tiles lie in this order."""
    laid = list(order or tiles(seats, options.get("decades", 8)))
    if options.get("setup", "distribution") == "distribution":
        options.setdefault("distribution_card", CARDS[seats])
    return Given(RULESET, seats, options=options, draws=[0, laid])


@functools.cache
def _after_setup(seats: int, options: tuple[tuple[str, Json], ...], order: tuple[str, ...]) -> Json:
    return to_json(begun(seats, order, **dict(options)).state)


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


def stand(text: str) -> dict[str, dict[str, int]]:
    """`"russia infantry infantry two_master"` as units of a region."""
    empire, *units = text.split()
    return {empire: {unit: units.count(unit) for unit in units}}


class Position(Given):
    """A position; `facts` are those of the move by which it was reached."""

    facts: Sequence[Doc] = ()


def position(
    seats: int = 3,
    *,
    turn: int = 1,
    decade: int = 1,
    pawn: Seat = 0,
    units: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    levels: Mapping[str, int | None] | None = None,
    palaces: Mapping[str, int] | None = None,
    hands: Mapping[Seat, Sequence[str]] | None = None,
    monarchs: Mapping[str, Seat | None] | None = None,
    power: Mapping[str, int] | None = None,
    markers: Mapping[str, Mapping[str, str]] | None = None,
    acted: Sequence[str] = (),
    order: Sequence[str] | None = None,
    **options: Json,
) -> Position:
    """A game in which the turn of that number in a decade begins; `acted` have a marker on slot I."""
    laid = tuple(order or tiles(seats, options.get("decades", 8)))
    options.setdefault("distribution_card", CARDS[seats])
    before = _after_setup(seats, tuple(options.items()), laid)
    doc = copy.deepcopy(before)
    doc |= {"decade": decade, "turn_in_decade": turn - 1, "pawn": pawn, "turn": None, "opened": 1, "frames": [TURN]}
    doc["revealed"] = list(laid[: decade - 1])
    doc["units"] = {region: stand(text) for region, text in (units or {}).items()}
    doc["flags"] = dict(flags or {})
    doc["levels"] = {r: n for r, n in {**doc["levels"], **(levels or {})}.items() if n}
    doc["palaces"] |= palaces or {}
    doc["hands"] |= {str(seat): list(hand) for seat, hand in (hands or {}).items()}
    for name in EMPIRES:
        slots = {**FIRST_SLOTS, **({"build_deploy": "I"} if name in acted else {})}
        now = {"power": (power or {}).get(name, 0), "markers": dict((markers or {}).get(name, slots))}
        doc["empires"][name] |= now | ({"monarch": monarchs[name]} if monarchs and name in monarchs else {})
    # What begins the first turn comes after the patch, so its members are always named.
    patch = difference(before, doc) | {key: doc[key] for key in ("turn_in_decade", "frames", "opened")}
    return Position(RULESET, seats, options=options, patch=patch, draws=[0, list(laid)])


def acting(empire: str, action: str, seats: int = 3, **more: Any) -> Position:
    """Seat 0 is monarch of the empire and has chosen this action."""
    slots = dict(zip((a for a in ("palace", "empire", "attack") if a != action), ("II", "III"), strict=False))
    monarchs = {empire: 0, **more.pop("monarchs", {})}
    game = position(seats, monarchs=monarchs, markers={empire: slots}, **more)
    game.facts = game.when(0, move("choose_action", empire=empire, action=action))
    return game


def moving(empire: str, units: Mapping[str, str], **more: Any) -> Position:
    """Seat 0 moves all units of the empire."""
    return acting(empire, "move_fight", units=units, **more)


def move(kind: str, **fields: Json) -> dict[str, Json]:
    """A move; `from_` stands for the field `from`."""
    return {"type": kind, **{name.rstrip("_"): value for name, value in fields.items()}}


def ship(start: str, unit: str, *path: str) -> Doc:
    """A ship's move."""
    return move("move_ship", from_=start, unit=unit, path=list(path))


def army(start: str, unit: str, *steps: str, target: str | None = None) -> Doc:
    """An army's move; a step is `"paris"`, or `"ireland via north_atlantic irish_sea"`."""
    made: list[Doc] = []
    for step in steps:
        to, _, seas = step.partition(" via ")
        made.append({"to": to, **({"via": seas.split()} if seas else {})})
    return move("move_land", from_=start, unit=unit, steps=made, **({"target": target} if target else {}))


END: Doc = {"type": "end_movement"}


def there(game: Given, region: str) -> Json:
    """Units in a region: empire -> unit -> number."""
    return game.at("/units").get(region, {})


def power(game: Given, empire: str) -> int:
    """The power of an empire."""
    found: int = game.at(f"/empires/{empire}/power")
    return found


def asked(game: Given) -> tuple[str, Seat]:
    """Kind of the open decision and who owes it."""
    return game.decision.kind, game.decision.must[0]


def offers(game: Given, seat: Seat, *picks: Json) -> list[Json]:
    """The values that the move builder offers after the picks."""
    question = game.offered(seat, *picks)
    assert isinstance(question, Choice), question
    return question.values


def shares(game: Given, seat: Seat) -> list[Doc]:
    """SE7-12.4: what each empire brings a seat, by rank."""
    found: list[Doc] = game.match.rules.scores(game.state)[seat].to_json()["detail"]["shares"]
    return found


def of_kind(facts: Sequence[Doc], kind: str) -> list[Doc]:
    """The facts of one kind."""
    return [fact for fact in facts if fact["t"] == kind]


def last_turn(game_decade: int = 1, **more: Any) -> Position:
    """The seventh turn of a decade: seat 0 is monarch of the last empire, great_britain."""
    monarchs = {"great_britain": 0, **more.pop("monarchs", {})}
    return position(turn=7, decade=game_decade, acted=EMPIRES[:-1], monarchs=monarchs, **more)


def end_decade(game: Given) -> list[Doc]:
    """Great Britain scores its palaces, as the seventh empire; London's palace grows."""
    game.when(0, move("choose_action", empire="great_britain", action="palace"))
    return game.when(0, move("build_palace", region="london"))


def kinds_of(facts: Sequence[Doc]) -> list[str]:
    """The kinds of facts, without the kernel's own steps of the flow."""
    return [f["t"] for f in facts if f["t"] not in ("asked", "answered", "noted", "ended")]
