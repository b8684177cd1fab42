"""Positions for tests: the state after a set-up, patched to what a test says, with everything else in order.

Seats are 0 prussia, 1 austria, 2 france, 3 britain, 4 russia, 5 spain, 6 united_provinces; seat 0 is the first player.
What a test does not name is empty: no tokens, markers or discards; gold 10, no points, no unrest.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import MARKERS
from domain.games.age_of_reason.data import POWERS as ALL
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json, Seat
from tests.spec import SEED, Given

POWERS = ("prussia", "austria", "france", "britain", "russia", "spain", "united_provinces")
SEAT = {power: seat for seat, power in enumerate(POWERS)}

UPPER = ("prussia", "britain", "spain", "russia")
"""The upper coalition of every position that does not name another."""


def options(seats: int, **more: Json) -> dict[str, Json]:
    """The options of every position: fixed powers, seat 0 first."""
    return {"power_assignment": "fixed", "powers": list(POWERS[:seats]), "first_player": 0, **more}


@functools.cache
def _after_setup(seats: int, terms: tuple[tuple[str, Json], ...]) -> Json:
    table = RULESET.make_table(seats, options(seats, **dict(terms)))
    draft = Draft(RULESET, RULESET.blank(table), Draws(Seeded(SEED, "match")))
    RULESET.setup(draft)
    return to_json(draft.state)


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


def slots(upper: Sequence[str]) -> dict[str, str]:
    """All seven powers on the display: these above, the others below, in the order of the data."""
    lower = [power for power in ALL if power not in upper]
    shown = {str(2 * i + 1): power for i, power in enumerate(upper)}
    return shown | {str(2 * i + 2): power for i, power in enumerate(lower)}


def order(display: Mapping[str, str], seats: int) -> list[Seat]:
    """The turn order that follows from the display."""
    return [SEAT[display[s]] for s in sorted(display) if SEAT[display[s]] < seats]


def position(
    seats: int = 5,
    *,
    turn: Seat | None = 0,
    upper: Sequence[str] = UPPER,
    empires: Mapping[Seat, Any] | None = None,
    tokens: Mapping[str, Mapping[str, int]] | None = None,
    discards: Mapping[Seat, Sequence[str]] | None = None,
    markers: Iterable[str] = (),
    gone: Iterable[str] = (),
    to_play: Sequence[Seat] | None = None,
    terms: Mapping[str, Json] | None = None,
    **more: Any,
) -> Given:
    """A game in which `turn` has just begun its turn, or with `turn=None` waits for the first bid of a game turn.

    `to_play` are the seats after this one in the round; `more` are fields of the state (`turn_record` for the turn).
    """
    chosen = dict(terms or {})
    before = _after_setup(seats, tuple(chosen.items()))
    doc = copy.deepcopy(before)
    doc |= {"game_turn": 1, "round": 1, "opened": 2, "opener": 0}
    _lay(doc, seats, empires or {}, tokens or {}, discards or {})
    _scatter(doc, list(markers), list(gone))
    top: Doc = {"n": 2, "kind": "auction_bid", "asked": [0], "owing": [0]}
    rest: Sequence[Seat] = []
    if turn is None:
        doc |= {"slots": {}, "turn_order": [], "turn": None, "round": 0}
        doc["auction"] = {"number": 1, "opener": 0, "standing": None, "passes": 0}
    else:
        doc["slots"] = slots(upper)
        doc["turn_order"] = order(doc["slots"], seats)
        doc["turn"] = {"seat": turn, **more.pop("turn_record", {})}
        doc["auction"] = None
        top = {"n": 2, "kind": "turn", "asked": [turn], "owing": [turn]}
        at = doc["turn_order"].index(turn)
        rest = doc["turn_order"][at + 1 :] if to_play is None else to_play
    doc["frames"] = [{"n": 1, "kind": "game_turn", "data": {"to_play": list(rest)}}, top]
    doc |= more
    return Given(RULESET, seats, options=options(seats, **chosen), patch=difference(before, doc))


def _lay(
    doc: Json,
    seats: int,
    empires: Mapping[Seat, Any],
    tokens: Mapping[str, Mapping[str, int]],
    discards: Mapping[Seat, Sequence[str]],
) -> None:
    doc["tokens"] = {power: dict(tokens.get(power, {})) for power in ALL}
    for seat in range(seats):
        figures = {"gold": 10, "vp": 0, "unrest": 0, **empires.get(seat, {})}
        discard = list(discards.get(seat, ()))
        doc["discards"][str(seat)] = discard
        doc["empires"][str(seat)] = {"power": POWERS[seat], "discard_size": len(discard), **figures}


def _scatter(doc: Json, markers: list[str], gone: list[str]) -> None:
    doc["markers"] = {}
    for marker in markers:
        doc["markers"].setdefault(MARKERS[marker].region, []).append(marker)
    doc["bag"] = [m for m in MARKERS if m not in markers and m not in gone]
    doc["gone"] = gone


def move(kind: str, **fields: Json) -> dict[str, Json]:
    """A move."""
    return {"type": kind, **fields}


def attack(region: str, target: str, card: str) -> dict[str, Json]:
    """An attack on a power or a marker, by its id."""
    kind = "power" if target in ALL else "marker"
    return move("attack", region=region, target={"kind": kind, kind: target}, card=card)


def commit(card: str | None) -> dict[str, Json]:
    """An answer with a card, or none."""
    return move("commit", card=card)


def hire(*powers: str) -> dict[str, Json]:
    """An answer with powers."""
    return move("hire", powers=list(powers))


def bid(amount: int, a: str | None, b: str | None) -> dict[str, Json]:
    """A bid."""
    return move("bid", amount=amount, a=a, b=b)


def empire(game: Given, seat: Seat) -> Json:
    """What everybody sees of a seat, in JSON form."""
    return game.at(f"/empires/{seat}")


def figures(game: Given, seat: Seat) -> tuple[int, int, int]:
    """Gold, unrest, points."""
    found = empire(game, seat)
    return found["gold"], found["unrest"], found["vp"]


def offers(game: Given, seat: Seat, *picks: Json) -> list[Json]:
    """The values that the move builder offers after the picks."""
    question = game.offered(seat, *picks)
    assert isinstance(question, Choice)
    return question.values


def asked(game: Given) -> tuple[str, tuple[Seat, ...]]:
    """Kind of the open decision and who owes it."""
    return game.decision.kind, game.decision.must


def facts_of(facts: Sequence[Doc], kind: str) -> list[Doc]:
    """The facts of that kind."""
    return [fact for fact in facts if fact["t"] == kind]


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
"""Ten markers for the draws at the beginning of a game turn."""


def last_turn(game_turn: int = 1, **more: Any) -> Given:
    """Two seats; seat 1 (Austria, after Prussia) has the last turn of a game turn's last round."""
    return position(2, turn=1, game_turn=game_turn, round=6, to_play=[], **more)
