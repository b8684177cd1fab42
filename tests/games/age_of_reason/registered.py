"""What the tests of all games need to know of this one, independently of its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import CARDS, MARKERS, POWERS, REGIONS, SPACES
from domain.types import Doc, Json, Seat

__all__ = ["RARE", "RULESET", "THINGS", "candidates", "conserved"]

S = Any

THINGS = (*CARDS, *SPACES)
"""Cards and spaces, all of which facts of long series name."""


# --- every move of a small world -----------------------------------------------------------------------------


def candidates(s: S, seat: Seat) -> Iterator[Doc]:
    """Every move that answers the open decision, well-formed, in the builder's form, legal or not."""
    if s.frames:
        yield from WORLDS[s.top.kind](s, seat)
        yield {"type": "take_back"}


def _powers(s: S, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "choose_power", "power": p} for p in (*POWERS, "poland"))


def _bids(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "pass_bid"}
    powers: list[Json] = [*POWERS, None]
    for amount, a, b in product(range(101), powers, powers):
        yield {"type": "bid", "amount": amount, "a": a, "b": b}


def _cards(s: S, seat: Seat) -> list[str]:
    """The own deck and a card of another."""
    own = s.empires[seat].power
    return [c for c in CARDS if c.startswith(own)] + [next(c for c in CARDS if not c.startswith(own))]


def _turns(s: S, seat: Seat) -> Iterator[Doc]:
    yield {"type": "pass"}
    for space in SPACES:
        yield from _placements(s, seat, space)
    for marker, card in product(MARKERS, _cards(s, seat)):
        yield {"type": "convert", "marker": marker, "card": card}
    for region in REGIONS:
        targets: list[Doc] = [{"kind": "power", "power": power} for power in POWERS]
        targets += [{"kind": "marker", "marker": m} for m in MARKERS if MARKERS[m].region in (region, "baltic")]
        for target, card in product(targets, _cards(s, seat)):
            yield {"type": "attack", "region": region, "target": target, "card": card}


def _placements(s: S, seat: Seat, space: str) -> Iterator[Doc]:
    place = {"type": "place", "space": space}
    if space in ("militia", "pressgangs"):
        yield from ({**place, "card": card} for card in (None, *_cards(s, seat)))
    elif space in ("east_indies_company", "levant_company"):
        yield from ({**place, "region": region} for region in (None, *REGIONS))
    else:
        yield place


def _commits(s: S, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "commit", "card": card} for card in (None, *_cards(s, seat)))


def _hires(s: S, seat: Seat) -> Iterator[Doc]:
    """All sets of powers, in the order of the data."""
    for size in range(len(POWERS) + 1):
        yield from ({"type": "hire", "powers": list(powers)} for powers in combinations(POWERS, size))


def _reserves(s: S, seat: Seat) -> Iterator[Doc]:
    yield from ({"type": "reserves", "use": use} for use in (False, True))


WORLDS: dict[str, Callable[[S, Seat], Iterator[Doc]]] = {
    "choose_power": _powers,
    "auction_bid": _bids,
    "turn": _turns,
    "commit": _commits,
    "hire": _hires,
    "reserves": _reserves,
}


# --- conservation --------------------------------------------------------------------------------------------


def conserved(doc: Json) -> Json:
    """Pieces of a state's JSON form, wherever they are: the same at any time of a game."""
    lying = [m for markers in doc["markers"].values() for m in markers]
    return {
        "markers": sorted([*doc["bag"], *lying, *doc["gone"]]),
        "too_many": [seat for seat in sorted(doc["empires"]) if _tokens(doc, seat) > 22],
        "discards": [_odd(doc, seat) for seat in sorted(doc["discards"])],
        "limits": [e for e in doc["empires"].values() if min(e["gold"], e["vp"]) < 0 or not 0 <= e["unrest"] <= 22],
    }


def _tokens(doc: Json, seat: str) -> int:
    """On the map and on the action board."""
    on_map = sum(doc["tokens"].get(doc["empires"][seat]["power"], {}).values())
    return int(on_map + sum(seats.count(int(seat)) for seats in doc["spaces"].values()))


def _odd(doc: Json, seat: str) -> list[str]:
    """Cards in a discard that cannot be there."""
    power = doc["empires"][seat]["power"]
    cards: list[str] = doc["discards"][seat]
    return [
        c for c in cards if not c.startswith(f"{power}_") or c.endswith(("bluff", "alliance")) or cards.count(c) > 1
    ]


# --- situations that games seldom come to ----------------------------------------------------------------------

_REGIONS = [region.id for region in REGIONS.values() if region.kind != "home"]


def _crowded() -> dict[str, Json]:
    """Every power everywhere, one token short of the limit; markers with gold and points; seats of all kinds of means.

    Some have little left to pay with; ship cards and others lie in the discards.
    """
    tokens = {power: dict.fromkeys(_REGIONS, 2 - (power == "austria")) for power in POWERS}
    tokens |= {power: dict.fromkeys(_REGIONS, 2) | {"baltic": 1} for power in ("prussia", "russia")}
    seats = ("prussia", "austria", "russia", "france")
    discards = {
        "prussia": ["prussia_0s1n", "prussia_1s1n", "prussia_2s1n", "prussia_3s0n"],
        "austria": ["austria_4s0n", "austria_1s1n"],
        "russia": ["russia_0s1n"],
        "france": [],
    }
    empires = {
        str(i): {"gold": (0, 3, 30, 8)[i], "unrest": (21, 22, 3, 9)[i], "discard_size": len(discards[power])}
        for i, power in enumerate(seats)
    }
    lying = ["ot_belgrade", "ot_crimea", "in_bengal", "in_hyderabad", "ca_cuba", "ei_java", "gs_baden"]
    laid: dict[str, list[str]] = {}
    for marker in lying:
        laid.setdefault(MARKERS[marker].region, []).append(marker)
    return {
        "tokens": tokens,
        "empires": empires,
        "discards": {str(i): discards[power] for i, power in enumerate(seats)},
        "markers": {region: laid.get(region) for region in _REGIONS},
        "bag": [m for m in MARKERS if m not in lying][:20],
        "gone": [m for m in MARKERS if m not in lying][20:],
        "spaces": {"reserves": [0, 2]},
    }


RARE: tuple[dict[str, Json], ...] = (
    {
        "seats": 4,
        "options": {
            "power_assignment": "fixed",
            "powers": ["prussia", "austria", "russia", "france"],
            "first_player": 0,
            "first_alliances": "random",
        },
        "patch": _crowded(),
    },
)
