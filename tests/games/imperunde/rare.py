"""Quarrelsome turns: what random games seldom come to, as patches of the state after the set-up.

Each table could have come about by the rules: markers and pirates are those of last turn's events, cards that are in
effect lie among the discards, and only seats whose war a card has stopped share a zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.games.imperunde.data import DECK
from domain.kernel.schema.json_codec import to_json
from domain.types import Json, Seat
from tests.games.imperunde.board import PASS, attack, card, colony, group, position, replacing, zone

SEATS = 4
OPTIONS: Mapping[str, Json] = {"turn_limit": 5}
TURN = 5
"""Late enough that the seats may hold nearly all cards, and the last one."""

WARS = ((0, 1), (0, 2), (1, 2), (1, 3))
TRUCE = {(1, 2): "peace"}
"""By an armistice; so whoever attacks 1 or 2 at sea may have two enemies to fight."""

COUNTRIES: Mapping[str, Json] = {
    "afghanistan": colony(1, posts=1, infantry=2),
    "algeria": colony(2, posts=2, forts=1, infantry=2),
    "amazonia": colony(2, posts=1, infantry=1),
    "annam": colony(2, cavalry=1, infantry=1),
    "bolivia": colony(0, posts=1, artillery=1),
    "congo": colony(0, posts=1, infantry=2, artillery=1),
    "egypt": colony(1, posts=2, forts=1, infantry=2),
    "la_plata": colony(3, posts=1, famine=True),
    "mongolia": colony(1, posts=1, infantry=1),
    "mosquito_coast": colony(0, infantry=2, cavalry=1),
    "mozambique": colony(1, posts=1, cavalry=2),
    "new_guinea": colony(3, posts=1, infantry=1),
    "persia": colony(1, infantry=1),
    "peru": colony(2, posts=2, famine=True, cavalry=1),
    "siam": colony(3, posts=1, infantry=2, artillery=1),
    "tibet": colony(1, posts=1, infantry=1),
    "turkestan": colony(1, posts=1, cavalry=1),
    "west_india": colony(0, posts=1, famine=True),
}
ZONES: Mapping[str, Json] = {
    "arabian_sea": zone({0: {"frigate": 3, "ship_of_the_line": 2}}),
    "bay_of_bengal": zone({1: {"frigate": 1, "cavalry": 1, "infantry": 1}}),
    "canary_sea": zone(marker="storm"),
    "caribbean_sea": zone({0: {"frigate": 1, "infantry": 1}}),
    "china_sea": zone({2: {"frigate": 2}}),
    "gulf_of_guinea": zone(marker="storm"),
    "indian_ocean": zone({1: {"ship_of_the_line": 1}, 2: {"ship_of_the_line": 1}}),
    "mediterranean_sea": zone({1: {"frigate": 2}, 2: {"ship_of_the_line": 1}}),
    "north_sea": zone({0: {"frigate": 2, "ship_of_the_line": 1}}),
    "sargasso_sea": zone({3: {"frigate": 2, "ship_of_the_line": 1}}, marker="calm"),
    "tasman_sea": zone(pirates=2),
}
PLAYED = ("plunder", "armistice")
DEBTS = (25, 25, 0, 5)
SURPLUS = (10, 0, 15, 5)
LINES = ((2, 4, 6, -5), (2, 5, 0, -5), (4, 3, 3, 0), (4, 2, 0, -1))
"""Dividend, colonial tax, maritime tax and interest of the campaign's turn: what its board brings."""


def nations() -> dict[Seat, dict[str, Json]]:
    """What the seats have: what came in has gone out, apart from the surplus."""
    money = enumerate(zip(DEBTS, SURPLUS, strict=True))
    return {i: {"debt": debt, "surplus": n, "received": n + 60, "paid": 60} for i, (debt, n) in money}


def with_ledgers() -> dict[Seat, dict[str, Json]]:
    """The same after the budgets of the turn, in which nobody has repaid or borrowed."""
    titles = ("surplus", "home_tax", "peace_dividend", "colonial_tax", "maritime_tax", "interest", "repay", "borrow")
    ledgers = [dict(zip(titles, (0, 5, *lines, 0, 0), strict=True)) for lines in LINES]
    return {seat: {**nation, "ledger": ledgers[seat]} for seat, nation in nations().items()}


def hands(discard: Sequence[str] = ()) -> dict[Seat, list[str]]:
    """Every card but one and those discarded, dealt in turn: each seat has a little of everything."""
    cards = list(DECK)
    for played in (*discard, "rebellion"):
        cards.remove(played)
    return {seat: cards[(seat - 1) % SEATS :: SEATS] for seat in range(SEATS)}


def two_ambushes() -> dict[Seat, list[str]]:
    """The hands of the campaign, but 0 has a filibuster and 1 an ambush of the other."""
    dealt = hands(PLAYED)
    for seat, given, taken in ((0, "ambush", "filibuster"), (1, "filibuster", "ambush")):
        dealt[seat][dealt[seat].index(given)] = taken
    return dealt


def quarrel(step: str, *moves: tuple[Seat, Json], discard: Sequence[str] = (), **more: Any) -> Json:
    """The table that such moves lead to from that step."""
    game = position(
        SEATS,
        step,
        options=OPTIONS,
        wars=WARS,
        zones=ZONES,
        discard=discard,
        canals=["suez"],
        turn=TURN,
        **{"hands": hands(discard), "countries": COUNTRIES, "nations": nations(), **more},
    )
    for seat, move in moves:
        game.when(seat, move)
    return {"seats": SEATS, "options": OPTIONS, "patch": replacing(to_json(game.state))}


def revenue() -> Json:
    """The talks have ended; plunder, budgets and investments come."""
    return quarrel("revenue")


def campaign(*moves: tuple[Seat, Json], **more: Any) -> Json:
    """The truce is in force and Egypt is plundered; armies and fleets are about to move."""
    return quarrel(
        "movement",
        *moves,
        discard=PLAYED,
        overrides=TRUCE,
        countries={**COUNTRIES, "egypt": {**COUNTRIES["egypt"], "plundered_by": 0}},
        nations=with_ledgers(),
        **more,
    )


BY_SEA = attack(
    group("arabian_sea", "indian_ocean", ship_of_the_line=2), group("arabian_sea", "indian_ocean", frigate=1)
)
BY_LAND = attack(group("congo", "egypt", infantry=2), group("congo", "egypt", artillery=1))
AMBUSH = ((0, BY_LAND), (1, card("ambush")), *((seat, PASS) for seat in (0, 2, 3)))

RARE = (
    revenue(),
    campaign(),
    campaign((0, BY_SEA)),
    campaign((0, BY_LAND)),
    campaign(*AMBUSH, hands=two_ambushes()),
)
