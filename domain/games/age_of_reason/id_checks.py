"""Checks for unknown ids in a state; only a patch can bring them."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.age_of_reason.data import ALL_SLOTS, CARDS, MARKERS, POWERS, REGIONS, SPACES
from domain.games.age_of_reason.state import SIDES, AgeOfReason, Battle
from domain.games.common.id_checks import Place, items, keys, unknown_ids


def find_unknown_ids(s: AgeOfReason) -> Iterator[str]:
    """Yield one line for each, with its JSON pointer; none in a sound state."""
    yield from unknown_ids("power", POWERS, _powers(s))
    yield from unknown_ids("region", REGIONS, _regions(s))
    yield from unknown_ids("marker", MARKERS, _markers(s))
    yield from unknown_ids("card", CARDS, _cards(s))
    yield from unknown_ids("slot", ALL_SLOTS, keys("/slots", s.slots))
    yield from unknown_ids("space", [x for x in SPACES if s.exists(x)], keys("/spaces", s.spaces))
    yield from unknown_ids("seat", s.everybody, _seats(s))
    if s.battle:
        yield from _battle(s, s.battle)
    yield from _missing(s)


def _powers(s: AgeOfReason) -> Iterator[Place]:
    yield from ((f"/empires/{seat}/power", empire.power) for seat, empire in enumerate(s.empires))
    yield from keys("/tokens", s.tokens)
    yield from ((f"/slots/{slot}", power) for slot, power in s.slots.items())
    for seat, sealed in enumerate(s.sealed):
        yield from items(f"/sealed/{seat}/powers", (sealed.powers if sealed else None) or ())
    if s.auction and (standing := s.auction.standing):
        yield from [("/auction/standing/a", standing.a), ("/auction/standing/b", standing.b)]


def _regions(s: AgeOfReason) -> Iterator[Place]:
    for power, tokens in s.tokens.items():
        yield from keys(f"/tokens/{power}", tokens)
    yield from keys("/markers", s.markers)


def _markers(s: AgeOfReason) -> Iterator[Place]:
    for region, markers in s.markers.items():
        yield from items(f"/markers/{region}", markers)
    yield from [*items("/bag", s.bag), *items("/gone", s.gone)]


def _cards(s: AgeOfReason) -> Iterator[Place]:
    for seat, discard in enumerate(s.discards):
        yield from items(f"/discards/{seat}", discard)
    yield from ((f"/sealed/{seat}/card", sealed.card) for seat, sealed in enumerate(s.sealed) if sealed)


def _seats(s: AgeOfReason) -> Iterator[Place]:
    yield from [("/first_player", s.first_player), ("/opener", s.opener), *items("/turn_order", s.turn_order)]
    for space, seats in s.spaces.items():
        yield from items(f"/spaces/{space}", seats)
    if s.turn:
        yield "/turn/seat", s.turn.seat
    if s.auction:
        yield "/auction/opener", s.auction.opener
    if s.auction and s.auction.standing:
        yield "/auction/standing/seat", s.auction.standing.seat


def _battle(s: AgeOfReason, battle: Battle) -> Iterator[str]:
    at, seats = "/battle", [*s.everybody]
    yield from unknown_ids("region", REGIONS, [(f"{at}/region", battle.region)])
    yield from unknown_ids("power", POWERS, [(f"{at}/power", battle.power)])
    yield from unknown_ids("marker", MARKERS, [(f"{at}/marker", battle.marker)])
    yield from unknown_ids("seat", seats, [(f"{at}/attacker", battle.attacker), (f"{at}/defender", battle.defender)])
    yield from unknown_ids(
        "seat", seats, [*items(f"{at}/asked", battle.asked), *items(f"{at}/laid", battle.laid or ())]
    )
    yield from unknown_ids("seat", [str(seat) for seat in seats], keys(f"{at}/cards", battle.cards or {}))
    shown = ((f"{at}/cards/{seat}", card) for seat, card in (battle.cards or {}).items())
    yield from unknown_ids("card", CARDS, shown)
    for name in ("hired", "dice", "strength"):
        yield from unknown_ids("side", SIDES, keys(f"{at}/{name}", getattr(battle, name) or {}))
    for side, powers in (battle.hired or {}).items():
        yield from unknown_ids("power", POWERS, items(f"{at}/hired/{side}", powers))


def _missing(s: AgeOfReason) -> Iterator[str]:
    """Yield fields needed by a frame and missing in the state."""
    for name in sorted({frame.kind for frame in s.frames} & _REQUIRED_FIELD.keys()):
        if getattr(s, _REQUIRED_FIELD[name]) is None:
            yield f"/{_REQUIRED_FIELD[name]}: is missing, for there is a frame {name}"


_REQUIRED_FIELD = {"turn": "turn", "battle": "battle", "commit": "battle", "hire": "battle", "auction_bid": "auction"}
"""Kind of frame -> field of the state it needs."""
