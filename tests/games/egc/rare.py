"""A late and quarrelsome turn: what random games seldom come to, as a patch of the state after the set-up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain.games.egc.data import EMPIRES, HOMES, INFRASTRUCTURES, MAX_ARMIES, SEATS, TECHNOLOGIES
from domain.games.egc.rules.seas import controlled
from domain.games.egc.state import PAIR_KEYS
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.types import Json, Seat
from tests.games.egc.board import AUSTRIA, AZTEC, BRITAIN, FRANCE, JAPAN, OTTOMAN, PORTUGAL, RUSSIA, SPAIN, ZULU, frame
from tests.games.egc.registered import RULESET

TURN = 12
COUNTS = (13, 14, 15, 17)

COLONIES = {
    AUSTRIA: ("south_africa", "poland"),
    AZTEC: ("panama", "new_granada"),
    BRITAIN: ("denmark_norway", "new_zealand", "northwest_territories", "nunavut", "scotland"),
    FRANCE: ("germany", "malacca", "siam"),
    JAPAN: ("philippines",),
    OTTOMAN: ("egypt", "syria", "nubia"),
    PORTUGAL: ("falkland",),
    RUSSIA: ("ukraine", "ural", "finland", "caucasus"),
    SPAIN: ("morocco", "portugal", "algeria"),
    ZULU: ("rhodesia",),
}
"""Who owns what besides the homes; those of Portugal and the Zulus are lost, each has one territory left."""

ARMIES = {
    AUSTRIA: (("austria_hungary", 220), ("south_africa", 250), ("poland", 40)),
    AZTEC: (("mexico", 180), ("panama", 60)),
    BRITAIN: (("england", 260), ("denmark_norway", 120), ("nunavut", 40)),
    FRANCE: (("france", 240), ("germany", 90), ("malacca", 50)),
    JAPAN: (("japan", 200),),
    OTTOMAN: (("anatolia", 210), ("egypt", 120), ("egypt", 40)),
    PORTUGAL: (("falkland", 30),),
    RUSSIA: (("russia", 200), ("caucasus", 160), *(("ural", 3),) * (MAX_ARMIES - 2)),
    SPAIN: (("spain", 230), ("portugal", 90), ("morocco", 70)),
}

RELATIONS = {
    (AUSTRIA, FRANCE): "alliance",
    (AUSTRIA, ZULU): "total_war",
    (AZTEC, SPAIN): "imminent_war",
    (BRITAIN, FRANCE): "mpa",
    (BRITAIN, RUSSIA): "alliance",
    (BRITAIN, SPAIN): "war",
    (FRANCE, SPAIN): "war",
    (JAPAN, RUSSIA): "rupture",
    (OTTOMAN, RUSSIA): "total_war",
    (OTTOMAN, SPAIN): "alliance",
    (PORTUGAL, SPAIN): "total_war",
}

CASUS_BELLI = {
    (AUSTRIA, OTTOMAN): "alliance_broken",
    (BRITAIN, AZTEC): "mpa_attacked",
    (FRANCE, PORTUGAL): "ally_at_war",
}
CLOSED = {("bosphorus", RUSSIA): OTTOMAN, ("gibraltar", FRANCE): SPAIN, ("kiel", RUSSIA): BRITAIN}
LEVELS: dict[str, dict[str, int]] = {
    **{t: {"railway": 1, "recruitment_centre": 1} for t in ("russia", "ukraine", "ural", "caucasus")},
    "algeria": {"recruitment_centre": 2, "farm": 3},
    "anatolia": {"fortification": 2, "recruitment_centre": 3},
    "england": {"fortification": 3, "recruitment_centre": 1},
    "poland": {"factory": 3},
    "spain": {"recruitment_centre": 1},
}
PROTECTED = {
    "serbia": {"protectorate": {"seat": AUSTRIA, "since": 6}},
    "bulgaria": {"protectorate": {"seat": OTTOMAN, "since": 11}},
    "italy": {"protections": {str(AUSTRIA): 9, str(FRANCE): 11}},
}
PORTS = ("caucasus", "denmark_norway", "egypt", "malacca", "russia", "ukraine")
"""Besides those of the homes."""

SAILING = {"type": "order_army", "army": "ottoman-1", "order": "move", "path": ["anatolia", "black_sea", "bulgaria"]}
"""Filed already: the only naval move that the worst rank in naval technology allows."""

EMPTY = "switzerland"
"""Neutral, without an army, and beside two allies: the later one turns back."""


def _lands() -> dict[str, Json]:
    owned = {HOMES[seat]: seat for seat in SEATS} | {t: seat for seat, lands in COLONIES.items() for t in lands}
    return {t: {"owner": seat, **({"port": True} if t in PORTS else {})} for t, seat in owned.items()} | PROTECTED


def _manned(owned: Iterable[str]) -> dict[str, Json]:
    """Neutral armies are gone where an empire rules."""
    places = {place: EMPIRES[seat] for seat, armies in ARMIES.items() for place, _ in armies}
    return {**dict.fromkeys((*owned, EMPTY)), **places}


def _empire(seat: Seat) -> dict[str, Json]:
    ranks = {technology: 1 + (seat + shift) % 10 for shift, technology in enumerate(TECHNOLOGIES)}
    points = {technology: 200 * (11 - rank) for technology, rank in ranks.items()}
    return {
        "treasury": 400_000,
        "diplomacy": 700,
        "ranks": ranks,
        "points": points,
        "links_done": ["egypt_south_africa"],
    }


def _armies(seat: Seat) -> dict[str, Json]:
    return {
        f"{EMPIRES[seat]}-{k}": {"territory": place, "divisions": n, "morale": 8, "training": 6}
        for k, (place, n) in enumerate(ARMIES.get(seat, ()), 1)
    }


def late() -> dict[str, Any]:
    """The patch."""
    lands = _lands()
    owned = [t for t, land in lands.items() if "owner" in land]
    patch: dict[str, Any] = {
        "turn": TURN,
        "count_turns": list(COUNTS),
        "frames": [frame(TURN, SEATS)],
        "lands": lands,
        "garrisons": dict.fromkeys((*owned, EMPTY)),
        "levels": {t: {**dict.fromkeys(INFRASTRUCTURES), **LEVELS.get(t, {})} for t in (*owned, *PROTECTED)},
        "relations": {PAIR_KEYS[pair]: level for pair, level in RELATIONS.items()},
        "casus_belli": {f"{a}:{b}:{kind}": TURN + 1 for (a, b), kind in CASUS_BELLI.items()},
        "closed": {f"{strait}:{seat}": by for (strait, seat), by in CLOSED.items()},
        "open_ports": {f"{AZTEC}:{SPAIN}": True},
        "proposals": {
            f"{TURN - 1}:{BRITAIN}:{FRANCE}": {"sender": BRITAIN, "target": FRANCE, "action": "propose"},
            f"{TURN - 1}:{JAPAN}:{AUSTRIA}": {"sender": JAPAN, "target": AUSTRIA, "action": "incite"},
        },
        "manned": _manned(owned),
        "empires": {str(seat): _empire(seat) for seat in SEATS},
        "armies": {str(seat): _armies(seat) for seat in SEATS},
        "sheets": {str(seat): {"next_army": MAX_ARMIES + 1} for seat in SEATS},
    }
    patch["sheets"][str(OTTOMAN)] |= {"orders": [{"n": 1, "order": SAILING}], "next_order": 2}
    state = InMemoryGame(RULESET, len(EMPIRES), bytes(32), patch=patch).state
    for seat in SEATS:
        patch["sheets"][str(seat)]["controls"] = controlled(state, seat)
    return patch


RARE: tuple[dict[str, Json], ...] = ({"seats": len(EMPIRES), "options": {}, "patch": late()},)
