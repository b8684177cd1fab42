"""Move builder for cards: the playable ones, and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from msgspec.structs import replace

from domain.games.common.checks import is_legal
from domain.games.imperunde import unit_stacks
from domain.games.imperunde.data import CARDS, COUNTRIES, UNITS, ZONES, is_warship
from domain.games.imperunde.moves import PlayCard, Purchase, Want
from domain.games.imperunde.rules.card_checks import CHECKS, defending_seats
from domain.games.imperunde.rules.cards import admitted
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.unit_choices import Asks
from domain.kernel.rules.choices import Option, one, span
from domain.kernel.rules.ruleset import memo
from domain.kernel.schema.declarations import UNSET, doc, unwrap
from domain.types import Seat


def playable(s: ImpeRunde, seat: Seat) -> list[str]:
    """Return the playable cards of the hand, each with at least one set of parameters."""

    def find() -> list[str]:
        cards = sorted(set(s.hands[seat]))
        return [c for c in cards if admitted(s, seat, c) and next(TARGETS[c](s, seat), None) is not None]

    return memo(s, f"playable {seat}", find)


def legal(s: ImpeRunde, seat: Seat, move: PlayCard) -> bool:
    """Return whether the card's own checks accept its parameters."""
    return is_legal(CHECKS[move.card], s, seat, move)


# --- all sets of parameters ----------------------------------------------------------------------------------


MoveFinder = Callable[[ImpeRunde, Seat], Iterator[PlayCard]]


def _plain(card: str) -> MoveFinder:
    def find(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
        if legal(s, seat, move := PlayCard(card)):
            yield move

    return find


def _seats(card: str) -> MoveFinder:
    def find(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
        yield from (m for x in s.everybody if legal(s, seat, m := PlayCard(card, target_seat=x)))

    return find


def _zones(card: str) -> MoveFinder:
    def find(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
        zones = ZONES if card == "pirates" else s.zones
        yield from (m for z in sorted(zones) if legal(s, seat, m := PlayCard(card, zone=z)))

    return find


def _countries(card: str) -> MoveFinder:
    def find(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
        yield from (m for c in sorted(s.countries) if legal(s, seat, m := PlayCard(card, country=c)))

    return find


def _treaties(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    pairs = combinations(s.everybody, 2)
    yield from (m for p in pairs if legal(s, seat, m := PlayCard("peace_treaty", seats=list(p))))


def _captures(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    defenders = defending_seats(s)
    named = [PlayCard("capture", target_seat=x) for x in defenders] if len(defenders) > 1 else [PlayCard("capture")]
    yield from (m for m in named if legal(s, seat, m))


def _naval_orders(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    for target in s.everybody:
        for a in sorted(s.zones):
            if target != seat and s.zone(a).fleet(target):
                orders = (PlayCard("forged_naval_orders", target, from_=a, to=b) for b in s.seas(a, target))
                yield from (m for m in orders if legal(s, seat, m))


def _march_orders(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    """Yield moves with one army of the first lot; the number is asked afterwards."""
    for target in s.everybody:
        for a in s.colonies(target) if target != seat else ():
            for b in sorted(COUNTRIES[a].lands):
                for lot in s.country(a).units[:1]:
                    units = [Want(lot.unit, 1, lot.moves_left)]
                    move = PlayCard("forged_march_orders", target, from_=a, to=b, units=units)
                    if legal(s, seat, move):
                        yield move


def _sabotages(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    for target in s.everybody:
        for zone in sorted(s.zones):
            for unit in unit_stacks.count_by_unit(s.zone(zone).fleet(target)):
                move = PlayCard("sabotage", target, zone=zone, unit=unit)
                if legal(s, seat, move):
                    yield move


def _smuggled(s: ImpeRunde, seat: Seat, country: str, before: Sequence[Purchase]) -> list[Purchase]:
    """Return the pieces addable to the purchases."""
    items = [u for u in UNITS if UNITS[u].kind != "post"]
    pieces: list[Purchase] = []
    for item in items:
        zones = COUNTRIES[country].coasts if is_warship(item) else (UNSET,)
        pieces += [Purchase(item, 1, z) for z in zones]
    return [p for p in pieces if legal(s, seat, PlayCard("smuggling", country=country, purchases=[*before, p]))]


def _smuggling(s: ImpeRunde, seat: Seat) -> Iterator[PlayCard]:
    """Yield moves with one piece; the others are asked afterwards."""
    for country in s.colonies(seat):
        if able := _smuggled(s, seat, country, []):
            yield PlayCard("smuggling", country=country, purchases=able[:1])


TARGETS: dict[str, MoveFinder] = {
    **{c: _plain(c) for c in ("treason", "coup_de_main", "ambush", "surprise_attack", "counter_espionage")},
    **{c: _seats(c) for c in ("armistice", "declaration_of_war", "unmask_spies")},
    "filibuster": _zones("filibuster"),
    "pirates": _zones("pirates"),
    "plunder": _countries("plunder"),
    "rebellion": _countries("rebellion"),
    "peace_treaty": _treaties,
    "capture": _captures,
    "forged_naval_orders": _naval_orders,
    "forged_march_orders": _march_orders,
    "sabotage": _sabotages,
    "smuggling": _smuggling,
}


# --- questions -----------------------------------------------------------------------------------------------


def _targets(s: ImpeRunde, seat: Seat, card: str) -> list[PlayCard]:
    return memo(s, f"targets {seat} {card}", lambda: list(TARGETS[card](s, seat)))


CardBuilder = Callable[[ImpeRunde, Seat], Asks[PlayCard]]


def _field_by_field(card: str, *names: str) -> CardBuilder:
    """Return a builder for the parameters, one after the other; without any, it asks nothing."""

    def builder(s: ImpeRunde, seat: Seat) -> Asks[PlayCard]:
        left = [(doc(m), m) for m in _targets(s, seat, card)]
        for name in names:
            value = yield one(name, list({str(d[name]): d[name] for d, _ in left}.values()))
            left = [(d, m) for d, m in left if d[name] == value]
        return left[0][1]

    return builder


def _capture(s: ImpeRunde, seat: Seat) -> Asks[PlayCard]:
    able = _targets(s, seat, "capture")
    if able[0].target_seat is UNSET:
        return able[0]
    return PlayCard("capture", (yield one("target_seat", [m.target_seat for m in able])))


def _unmask(s: ImpeRunde, seat: Seat) -> Asks[PlayCard]:
    target = yield one("target_seat", [m.target_seat for m in _targets(s, seat, "unmask_spies")])
    return PlayCard("unmask_spies", target, reveal=(yield one("reveal", [False, True])))


def _march(s: ImpeRunde, seat: Seat) -> Asks[PlayCard]:
    move = yield from _field_by_field("forged_march_orders", "target_seat", "from", "to")(s, seat)
    country = s.country(unwrap(move.from_))
    stay = 0 if country.forts else 1
    most = min(CARDS["forged_march_orders"].figure, unit_stacks.total(country.units) - stay)
    return replace(move, units=(yield from _armies(country.units, most)))


def _armies(units: unit_stacks.Lots, most: int) -> Asks[list[Want]]:
    chosen: list[Want] = []
    left = list(units)
    while left and most:
        kinds = [{"unit": x.unit, "moves_left": x.moves_left} for x in left]
        kind = yield one("units", [*([Option(None, ends=True)] if chosen else []), *kinds])
        if kind is None:
            break
        at = kinds.index(kind)
        count = yield span("count", 1, min(most, left[at].count))
        chosen.append(Want(left[at].unit, count, left[at].moves_left))
        left, most = left[at + 1 :], most - count
    return chosen


def _smuggle(s: ImpeRunde, seat: Seat) -> Asks[PlayCard]:
    country = yield one("country", [m.country for m in _targets(s, seat, "smuggling")])
    bought: list[Purchase] = []
    while able := _from(bought, _smuggled(s, seat, country, bought)):
        options = [Option(doc(p), {"doubloons": UNITS[p.item].cost}) for p in able]
        piece = yield one("purchases", [*([Option(None, ends=True)] if bought else []), *options])
        if piece is None:
            break
        bought.append(next(p for p in able if doc(p) == piece))
    return PlayCard("smuggling", country=country, purchases=bought)


def _from(bought: Sequence[Purchase], able: list[Purchase]) -> list[Purchase]:
    """Return the pieces in the order of the data from the last one on, so no list comes twice."""
    return [p for p in able if not bought or _rank(p) >= _rank(bought[-1])]


def _rank(purchase: Purchase) -> tuple[int, str]:
    return list(UNITS).index(purchase.item), purchase.zone or ""


CARD_BUILDERS: dict[str, CardBuilder] = {
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
