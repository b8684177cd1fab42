"""Invariants of a state, and the filling of a scenario's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.games.imperunde.data import COUNTRIES, DECK, PIECES, PIRATES, ZONES
from domain.games.imperunde.id_checks import find_unknown_ids
from domain.games.imperunde.state import ImpeRunde
from domain.kernel.rules.flow import assign


def check(s: ImpeRunde) -> list[str]:
    """Return the broken invariants, in words. Unknown ids are reported alone, as no other check works with them."""
    return list(find_unknown_ids(s)) or [*_cards(s), *_pieces(s), *_countries(s), *_zones(s), *_moves(s)]


def fill(s: ImpeRunde) -> ImpeRunde:
    """Derive the rest of a state from hands and discard: the draw pile, in the order of the data, and the sizes."""
    left = Counter(DECK) - Counter([*s.discard, *(card for hand in s.hands for card in hand)])
    deck = tuple(left.elements())
    nations = tuple(assign(n, cards=len(hand)) for n, hand in zip(s.nations, s.hands, strict=True))
    return assign(s, deck=deck, pile=len(deck), nations=nations)


def _cards(s: ImpeRunde) -> Iterator[str]:
    held = Counter([*s.deck, *s.discard, *(c for hand in s.hands for c in hand)])
    if held != Counter(DECK):
        yield "cards are missing or double"
    if s.pile != len(s.deck):
        yield "size of the draw pile"
    yield from (f"size of hand {seat}" for seat in s.everybody if s.nations[seat].cards != len(s.hands[seat]))


def _pieces(s: ImpeRunde) -> Iterator[str]:
    for seat in s.everybody:
        yield from (f"{unit} of {seat} beyond the supply" for unit in PIECES if s.supply(seat, unit) < 0)
        yield from (f"money of {seat}" for _ in range(s.nations[seat].available < 0 or s.nations[seat].surplus < 0))
    yield from (f"black {ship} beyond the supply" for ship in PIRATES if s.supply("pirates", ship) < 0)


def _countries(s: ImpeRunde) -> Iterator[str]:
    for name, c in s.countries.items():
        home = s.homes().get(name)
        if name not in COUNTRIES:
            yield f"{name} is no country"
        elif c.owner is None and not c.empty:
            yield f"pieces without owner in {name}"
        elif c.owner is not None and c.empty and home is None and not _committed(s, name):
            yield f"owner without pieces in {name}"
        elif home is not None and (c.owner != home or c.posts or c.forts or c.black):
            yield f"home {name}"
        elif c.posts > s.room(name) or c.forts > c.posts or not 0 <= c.fresh_posts <= c.posts:
            yield f"posts or forts in {name}"
        if any(x.count < 1 for x in c.units):
            yield f"an empty lot in {name}"


def _committed(s: ImpeRunde, name: str) -> bool:
    """Return whether a colony under attack may have lost its defenders before the attackers are in it."""
    return s.combat is not None and s.combat.region == name


def _zones(s: ImpeRunde) -> Iterator[str]:
    for name, z in s.zones.items():
        if name not in ZONES:
            yield f"{name} is no zone"
        if any(n < 1 for n in z.pirates.values()) or any(not fleet for fleet in z.fleets.values()):
            yield f"an empty fleet in {name}"
        if any(x.count < 1 or (x.pinned and x.moves_left) for fleet in z.fleets.values() for x in fleet):
            yield f"an impossible lot in {name}"


def _moves(s: ImpeRunde) -> Iterator[str]:
    lots = [(c.owner, x) for c in s.countries.values() for x in c.units]
    lots += [(int(seat), x) for z in s.zones.values() for seat, fleet in z.fleets.items() for x in fleet]
    if any(x.moves_left for owner, x in lots if owner != s.active):
        yield "moves of a seat that is not active"
