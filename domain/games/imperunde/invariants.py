"""Invariants of a state, and what is dealt anew: for tests, simulations and forks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from domain.games.imperunde.data import COUNTRIES, DECK, PIECES, PIRATES, ZONES
from domain.games.imperunde.sight import sees_hand
from domain.games.imperunde.state import WINDOWS, D, ImpeRunde
from domain.ids import DIRECTOR, Seat, Viewer
from domain.kernel.audience import TABLE


def check(s: ImpeRunde) -> list[str]:
    """Broken invariants, in words."""
    return [*_cards(s), *_pieces(s), *_countries(s), *_zones(s), *_moves(s)]


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
    """A colony under attack may have lost its defenders before the attackers are in it."""
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


# --- dealing anew --------------------------------------------------------------------------------------------


def redeal(d: D, keep: tuple[Viewer, ...]) -> None:
    """What none of these viewers can know: the deck, other hands, sealed budgets, standing passes."""
    if DIRECTOR in keep:
        return
    others = [seat for seat in d.state.everybody if seat not in keep]
    hidden = [seat for seat in others if not _shown(d.state, seat, keep)]
    cards = [*d.state.deck, *(c for seat in hidden for c in d.state.hands[seat])]
    pool = d.draws.shuffle("redeal", cards, TABLE)
    for seat in hidden:
        size = d.state.nations[seat].cards
        hand, pool = pool[:size], pool[size:]
        d.add({"t": "hand_dealt", "seat": seat, "cards": hand}, (seat,))
    d.add({"t": "deck_ordered", "cards": pool}, TABLE)
    for seat in others:
        _forget(d, seat)


def _shown(s: ImpeRunde, seat: Seat, keep: tuple[Viewer, ...]) -> bool:
    """Whether one of the viewers is being shown this hand."""
    if not s.frames or s.top.kind != "theft" or s.top.data["target"] != seat:
        return False
    return bool(s.top.data["reveal"]) or any(isinstance(v, int) and sees_hand(s, v) for v in keep)


def _forget(d: D, seat: Seat) -> None:
    """Private answers of a seat."""
    if d.state.auto[seat]:
        d.add({"t": "auto_pass_set", "seat": seat, "windows": list(WINDOWS), "until": "off"}, (seat,))
    if str(seat) in d.state.budgets:
        d.add({"t": "budget_sent", "seat": seat, "repay": 0, "borrow": 0}, (seat,))
    if d.state.frames and d.state.top.secret and seat in d.state.top.done:
        d.reopened(seat)
