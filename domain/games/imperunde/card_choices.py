"""The move builder's questions for cards: which can be played, and with what parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from domain.games.common.checks import passes
from domain.games.imperunde import lots
from domain.games.imperunde.data import CARDS, COUNTRIES, UNITS, ZONES, is_warship
from domain.games.imperunde.rules.card_checks import CHECKS, defending_seats
from domain.games.imperunde.rules.cards import admitted
from domain.games.imperunde.state import ImpeRunde
from domain.ids import Json, Seat
from domain.kernel.choices import Builder, Move, Option, one, span
from domain.kernel.ruleset import memo


def playable(s: ImpeRunde, seat: Seat) -> list[str]:
    """Cards of the hand that can be played now, with at least one set of parameters."""

    def found() -> list[str]:
        cards = sorted(set(s.hands[seat]))
        return [c for c in cards if admitted(s, seat, c) and next(TARGETS[c](s, seat), None) is not None]

    made: list[str] = memo(s, f"playable {seat}", found)
    return made


def legal(s: ImpeRunde, seat: Seat, card: str, move: Move) -> bool:
    """Whether the card's own checks accept these parameters."""
    return passes(CHECKS[card], s, seat, {"card": card, **move})


# --- all sets of parameters ----------------------------------------------------------------------------------


def _plain(card: str) -> Callable[[ImpeRunde, Seat], Iterator[Move]]:
    def found(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
        if legal(s, seat, card, {}):
            yield {}

    return found


def _seats(card: str) -> Callable[[ImpeRunde, Seat], Iterator[Move]]:
    def found(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
        yield from (m for x in s.everybody if legal(s, seat, card, m := {"target_seat": x}))

    return found


def _regions(card: str, name: str) -> Callable[[ImpeRunde, Seat], Iterator[Move]]:
    def found(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
        regions = ZONES if card == "pirates" else s.zones if name == "zone" else s.countries
        yield from (m for r in sorted(regions) if legal(s, seat, card, m := {name: r}))

    return found


def _treaties(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    pairs = combinations(s.everybody, 2)
    yield from (m for p in pairs if legal(s, seat, "peace_treaty", m := {"seats": list(p)}))


def _captures(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    defenders = defending_seats(s)
    named: list[Move] = [{"target_seat": x} for x in defenders] if len(defenders) > 1 else [{}]
    yield from (m for m in named if legal(s, seat, "capture", m))


def _naval_orders(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    for target in s.everybody:
        for a in sorted(s.zones):
            if target != seat and s.zone(a).fleet(target):
                orders = ({"target_seat": target, "from": a, "to": b} for b in s.seas(a, target))
                yield from (m for m in orders if legal(s, seat, "forged_naval_orders", m))


def _march_orders(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    """With one army of the first lot; how many go is asked afterwards."""
    for target in s.everybody:
        for a in s.colonies(target) if target != seat else ():
            for b in sorted(COUNTRIES[a].lands):
                for lot in s.country(a).units[:1]:
                    units = [{"unit": lot.unit, "count": 1, "moves_left": lot.moves_left}]
                    move = {"target_seat": target, "from": a, "to": b, "units": units}
                    if legal(s, seat, "forged_march_orders", move):
                        yield move


def _sabotages(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    for target in s.everybody:
        for zone in sorted(s.zones):
            for unit in lots.counted(s.zone(zone).fleet(target)):
                move = {"target_seat": target, "zone": zone, "unit": unit}
                if legal(s, seat, "sabotage", move):
                    yield move


def _smuggled(s: ImpeRunde, seat: Seat, country: str, before: list[Json]) -> list[Json]:
    """One more piece that can be added to the purchases."""
    items = [u for u in UNITS if UNITS[u].kind != "post"]
    pieces: list[Json] = []
    for item in items:
        zones = COUNTRIES[country].coasts if is_warship(item) else ("",)
        pieces += [{"item": item, "quantity": 1} | ({"zone": z} if z else {}) for z in zones]
    return [p for p in pieces if legal(s, seat, "smuggling", {"country": country, "purchases": [*before, p]})]


def _smuggling(s: ImpeRunde, seat: Seat) -> Iterator[Move]:
    yield from ({"country": c} for c in s.colonies(seat) if _smuggled(s, seat, c, []))


TARGETS: dict[str, Callable[[ImpeRunde, Seat], Iterator[Move]]] = {
    **{c: _plain(c) for c in ("treason", "coup_de_main", "ambush", "surprise_attack", "counter_espionage")},
    **{c: _seats(c) for c in ("armistice", "declaration_of_war", "unmask_spies")},
    "filibuster": _regions("filibuster", "zone"),
    "pirates": _regions("pirates", "zone"),
    "plunder": _regions("plunder", "country"),
    "rebellion": _regions("rebellion", "country"),
    "peace_treaty": _treaties,
    "capture": _captures,
    "forged_naval_orders": _naval_orders,
    "forged_march_orders": _march_orders,
    "sabotage": _sabotages,
    "smuggling": _smuggling,
}


# --- questions -----------------------------------------------------------------------------------------------


def _targets(s: ImpeRunde, seat: Seat, card: str) -> list[Move]:
    made: list[Move] = memo(s, f"targets {seat} {card}", lambda: list(TARGETS[card](s, seat)))
    return made


def _field_by_field(card: str, *names: str) -> Callable[[ImpeRunde, Seat], Builder]:
    """The parameters one after the other; nothing is asked where a card has none."""

    def builder(s: ImpeRunde, seat: Seat) -> Builder:
        left, move = _targets(s, seat, card), {}
        for name in names:
            values = list({str(m[name]): m[name] for m in left}.values())
            move[name] = yield one(name, values)
            left = [m for m in left if m[name] == move[name]]
        return move

    return builder


def _capture(s: ImpeRunde, seat: Seat) -> Builder:
    able = _targets(s, seat, "capture")
    return {"target_seat": (yield one("target_seat", [m["target_seat"] for m in able]))} if able[0] else {}


def _unmask(s: ImpeRunde, seat: Seat) -> Builder:
    target = yield one("target_seat", [m["target_seat"] for m in _targets(s, seat, "unmask_spies")])
    return {"target_seat": target, "reveal": (yield one("reveal", [False, True]))}


def _march(s: ImpeRunde, seat: Seat) -> Builder:
    move = yield from _field_by_field("forged_march_orders", "target_seat", "from", "to")(s, seat)
    country = s.country(move["from"])
    stay = 0 if country.forts else 1
    most = min(CARDS["forged_march_orders"].figure, lots.total(country.units) - stay)
    return {**move, "units": (yield from _armies(country.units, most))}


def _armies(units: lots.Lots, most: int) -> Any:
    chosen: list[Json] = []
    left = list(units)
    while left and most:
        kinds = [{"unit": x.unit, "moves_left": x.moves_left} for x in left]
        kind = yield one("units", [*([Option(None, ends=True)] if chosen else []), *kinds])
        if kind is None:
            break
        at = kinds.index(kind)
        count = yield span("count", 1, min(most, left[at].count))
        chosen.append({**kind, "count": count})
        left, most = left[at + 1 :], most - count
    return chosen


def _smuggle(s: ImpeRunde, seat: Seat) -> Builder:
    country = yield one("country", [m["country"] for m in _targets(s, seat, "smuggling")])
    bought: list[Json] = []
    while able := _from(bought, _smuggled(s, seat, country, bought)):
        options = [Option(p, {"doubloons": UNITS[p["item"]].cost}) for p in able]
        piece = yield one("purchases", [*([Option(None, ends=True)] if bought else []), *options])
        if piece is None:
            break
        bought.append(piece)
    return {"country": country, "purchases": bought}


def _from(bought: list[Json], able: list[Json]) -> list[Json]:
    """Pieces in the order of the data, so that no list comes twice."""
    return [p for p in able if not bought or _rank(p) >= _rank(bought[-1])]


def _rank(purchase: Json) -> tuple[int, str]:
    return list(UNITS).index(purchase["item"]), purchase.get("zone", "")


CARD_BUILDERS: dict[str, Callable[[ImpeRunde, Seat], Builder]] = {
    **{c: _field_by_field(c) for c in ("treason", "coup_de_main", "ambush", "surprise_attack", "counter_espionage")},
    "armistice": _field_by_field("armistice", "target_seat"),
    "declaration_of_war": _field_by_field("declaration_of_war", "target_seat"),
    "unmask_spies": _unmask,
    "filibuster": _field_by_field("filibuster", "zone"),
    "pirates": _field_by_field("pirates", "zone"),
    "plunder": _field_by_field("plunder", "country"),
    "rebellion": _field_by_field("rebellion", "country"),
    "peace_treaty": _field_by_field("peace_treaty", "seats"),
    "capture": _capture,
    "forged_naval_orders": _field_by_field("forged_naval_orders", "target_seat", "from", "to"),
    "forged_march_orders": _march,
    "sabotage": _field_by_field("sabotage", "target_seat", "zone", "unit"),
    "smuggling": _smuggle,
}
