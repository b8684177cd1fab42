"""Checks for unknown ids in a state; only a patch can bring them."""

from __future__ import annotations

from collections.abc import Iterator

from domain.games.common.id_checks import items, keys, unknown_ids
from domain.games.seven_empires.data import ACTIONS, CARDS, CITIES, DEALS, EMPIRES, REGIONS, SETUPS, SLOTS, TILES, UNITS
from domain.games.seven_empires.state import MODES, Movement, Seven, Turn


def find_unknown_ids(s: Seven) -> Iterator[str]:
    """Yield one line for each, with its JSON pointer; none in a sound state."""
    yield from unknown_ids("set-up", SETUPS, [("/terms/setup", s.terms.setup)])
    yield from unknown_ids("distribution card", DEALS, [("/terms/distribution_card", s.terms.distribution_card)])
    yield from unknown_ids("distribution card", DEALS, [("/card", s.card)])
    yield from unknown_ids("seat", s.everybody, [("/first_seat", s.first_seat), ("/pawn", s.pawn)])
    yield from _empires(s)
    for seat, hand in enumerate(s.hands):
        yield from unknown_ids("card", CARDS, items(f"/hands/{seat}", hand))
    yield from _map(s)
    yield from unknown_ids("tile", TILES, [*items("/hourglass", s.hourglass), *items("/revealed", s.revealed)])
    yield from unknown_ids("tile", TILES, [("/left_out", s.left_out)])
    if s.turn:
        yield from _turn(s, s.turn)
    if s.movement:
        yield from _movement(s.movement)
    yield from _missing(s)


def _empires(s: Seven) -> Iterator[str]:
    yield from unknown_ids("empire", EMPIRES, keys("/empires", s.empires))
    yield from (f"/empires/{empire}: the empire is missing" for empire in EMPIRES if empire not in s.empires)
    for name, empire in s.empires.items():
        at = f"/empires/{name}"
        yield from unknown_ids("seat", s.everybody, [(f"{at}/monarch", empire.monarch)])
        yield from unknown_ids("action", ACTIONS, keys(f"{at}/markers", empire.markers))
        yield from unknown_ids("slot", SLOTS, ((f"{at}/markers/{a}", slot) for a, slot in empire.markers.items()))


def _map(s: Seven) -> Iterator[str]:
    yield from unknown_ids("region", REGIONS, [*keys("/units", s.units), *keys("/flags", s.flags)])
    yield from unknown_ids("city region", CITIES, [*keys("/levels", s.levels), *keys("/palaces", s.palaces)])
    yield from unknown_ids("empire", EMPIRES, ((f"/flags/{region}", owner) for region, owner in s.flags.items()))
    for region, there in s.units.items():
        yield from unknown_ids("empire", EMPIRES, keys(f"/units/{region}", there))
        for empire, units in there.items():
            yield from unknown_ids("unit", UNITS, keys(f"/units/{region}/{empire}", units))


def _turn(s: Seven, turn: Turn) -> Iterator[str]:
    yield from unknown_ids("seat", s.everybody, [("/turn/seat", turn.seat), ("/turn/actor", turn.actor)])
    yield from unknown_ids("mode", MODES, [("/turn/mode", turn.mode)])
    yield from unknown_ids("empire", EMPIRES, [("/turn/empire", turn.empire)])
    yield from unknown_ids("action", ACTIONS, [("/turn/action", turn.action)])


def _movement(movement: Movement) -> Iterator[str]:
    at = "/movement"
    places = [*keys(f"{at}/able", movement.able), *items(f"{at}/used", movement.used)]
    yield from unknown_ids("region", REGIONS, [*places, *items(f"{at}/refused", movement.refused)])
    for region, units in movement.able.items():
        yield from unknown_ids("unit", UNITS, keys(f"{at}/able/{region}", units))


def _missing(s: Seven) -> Iterator[str]:
    """Yield fields needed by a frame and missing in the state."""
    for frame in s.frames:
        for place in _REQUIRED_FIELDS.get(frame.kind, ()):
            found: object = s
            for name in place.split("/"):
                found = None if found is None else getattr(found, name)
            if found is None:
                yield f"/{place}: is missing, for there is a frame {frame.kind}"
                break


_ACTING = ("turn", "turn/empire", "turn/actor")
_MOVING = (*_ACTING, "movement")

_REQUIRED_FIELDS = {
    "choose_empire": ("turn",),
    "choose_delegated_action": ("turn",),
    **dict.fromkeys(("build", "deploy", "palace", "attack_deploy"), _ACTING),
    **dict.fromkeys(("movement", "passage", "counterfight"), _MOVING),
}
"""Kind of frame -> fields of the state it needs, each after the field containing it."""
