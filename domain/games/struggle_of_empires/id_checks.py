"""Checks for unknown ids in a state; only a patch can bring them."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.common.id_checks import Place, items, keys, unknown_ids
from domain.games.struggle_of_empires.data import ALLIANCES, MARKERS, POWERS, RAIDERS, REGIONS, TILES, UNITS
from domain.games.struggle_of_empires.state import SIDES, Combat, Empire, Party, Struggle

KINDS = ("player", "neutral", *RAIDERS)
"""Kinds of a party in a combat."""
STAGES = ("support", "naval", "land")
CAUSES = ("defeat", "tie", "seven")


def find_unknown_ids(s: Struggle) -> Iterator[str]:
    """Yield one line for each, with its JSON pointer; none in a sound state."""
    for seat, empire in enumerate(s.empires):
        yield from _empire(f"/empires/{seat}", empire)
    yield from _board(s)
    yield from unknown_ids("seat", s.everybody, _seats(s))
    if s.combat:
        yield from _combat(s, s.combat)
    yield from _missing(s)


def _empire(at: str, empire: Empire) -> Iterator[str]:
    yield from unknown_ids("power", POWERS, [(f"{at}/power", empire.power)])
    yield from unknown_ids(
        "region", REGIONS, [*keys(f"{at}/tokens", empire.tokens), *keys(f"{at}/units", empire.units)]
    )
    for region, units in empire.units.items():
        yield from unknown_ids("unit", UNITS, keys(f"{at}/units/{region}", units))
    owned = ((f"{at}/tiles/{i}/tile", tile.tile) for i, tile in enumerate(empire.tiles))
    yield from unknown_ids("tile", TILES, [*owned, *items(f"{at}/banned_tiles", empire.banned_tiles)])


def _board(s: Struggle) -> Iterator[str]:
    yield from unknown_ids("region", REGIONS, keys("/markers", s.markers))
    for region, markers in s.markers.items():
        yield from unknown_ids("marker", MARKERS, items(f"/markers/{region}", markers))
    yield from unknown_ids("marker", MARKERS, [*items("/bag", s.bag), *items("/gone", s.gone)])
    yield from unknown_ids("tile", TILES, [*keys("/stock", s.stock), *keys("/boxed", s.boxed)])
    yield from unknown_ids("alliance", ALLIANCES, keys("/alliances", s.alliances))
    laid = {"pirates": s.pirates, "slave_revolt": s.slave_revolt, "blockade": s.blockade}
    yield from unknown_ids("region", REGIONS, [(f"/{name}/region", tile.region) for name, tile in laid.items() if tile])


def _seats(s: Struggle) -> Iterator[Place]:
    yield from [("/first_player", s.first_player), ("/opener", s.opener), *items("/turn_order", s.turn_order)]
    for alliance, seats in s.alliances.items():
        yield from items(f"/alliances/{alliance}", seats)
    yield from ((f"/{name}/token_of", captive.token_of) for name, captive in s.captives())
    if s.blockade:
        yield "/blockade/seat", s.blockade.seat
    if s.turn:
        yield "/turn/seat", s.turn.seat
    if s.auction:
        yield "/auction/opener", s.auction.opener


def _combat(s: Struggle, combat: Combat) -> Iterator[str]:
    at = "/combat"
    yield from unknown_ids("region", REGIONS, [(f"{at}/region", combat.region)])
    yield from unknown_ids("stage", STAGES, [(f"{at}/stage", combat.stage)])
    yield from unknown_ids("side", SIDES, [(f"{at}/naval_support", combat.naval_support)])
    yield from unknown_ids("side", (*SIDES, "tie"), [(f"{at}/winner", combat.winner)])
    for side in SIDES:
        yield from _party(s, f"{at}/{side}", combat.party(side))
    for i, loss in enumerate(combat.losses):
        yield from unknown_ids("side", SIDES, [(f"{at}/losses/{i}/side", loss.side)])
        yield from unknown_ids("cause", CAUSES, [(f"{at}/losses/{i}/cause", loss.cause)])
        yield from unknown_ids("unit", UNITS, [(f"{at}/losses/{i}/unit", loss.unit)])
        yield from unknown_ids("seat", s.everybody, [(f"{at}/losses/{i}/seat", loss.seat)])


def _party(s: Struggle, at: str, party: Party) -> Iterator[str]:
    yield from unknown_ids("kind of party", KINDS, [(f"{at}/kind", party.kind)])
    yield from unknown_ids("marker", MARKERS, [(f"{at}/marker", party.marker)])
    yield from unknown_ids("tile", TILES, items(f"{at}/at_sea", party.at_sea))
    yield from unknown_ids("seat", s.everybody, [(f"{at}/seat", party.seat)])
    yield from unknown_ids("seat", [str(seat) for seat in s.everybody], keys(f"{at}/support", party.support))
    yield from unknown_ids("seat", s.everybody, [(f"{at}/offers/{i}/seat", o.seat) for i, o in enumerate(party.offers)])
    for seat, units in party.support.items():
        yield from unknown_ids("unit", UNITS, keys(f"{at}/support/{seat}", units))


def _missing(s: Struggle) -> Iterator[str]:
    """Yield fields needed by a frame and missing in the state."""
    for name in sorted({frame.kind for frame in s.frames} & _REQUIRED_FIELD.keys()):
        if getattr(s, _REQUIRED_FIELD[name]) is None:
            yield f"/{_REQUIRED_FIELD[name]}: is missing, for there is a frame {name}"


_REQUIRED_FIELD = {"turn": "turn", "combat": "combat", "auction_bid": "auction"}
"""Kind of frame -> field of the state it needs."""
