"""SOE-19: refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from domain.games.struggle_of_empires import RULESET
from domain.games.struggle_of_empires.data import TILES
from domain.types import Json
from tests.games.struggle_of_empires.board import army, attack, move, position

PACKAGE = Path(__file__).parents[4] / "domain/games/struggle_of_empires"
SHARED = [PACKAGE.parent / "common" / f"{name}.py" for name in ("auction", "powers")]
"""Modules that check rules of this game for it."""
PAGE = Path(__file__).parents[4] / "docs/rules/struggle_of_empires.md"


def test_the_common_checks_come_first() -> None:
    """SOE-19.1: a refused move changes nothing; form, type, turn and phase are checked before the rules."""
    game = position(3)
    game.refused(1, {"type": "build"}, "malformed_move")
    game.refused(1, move("resign"), "unknown_move")
    game.refused(1, move("build", unit="army", to="atlantis"), "not_your_decision")
    game.refused(0, move("bid", amount=1, a=0, b=1), "wrong_phase")
    game.refused(0, move("build", unit="army", to="atlantis"), "unknown_region")


def test_after_the_end_the_game_is_over() -> None:
    """SOE-19.1: every well-formed move is refused."""
    game = position(2, turn=0, war=3, round=6, to_play=[])
    game.when(0, move("pass"))
    game.refused(0, move("pass"), "game_over")


def test_every_code_raised_is_listed_and_other_way_round() -> None:
    """SOE-19.2: the list of codes of the page, of Meta, and of the source agree."""
    source = "\n".join(path.read_text() for path in [*(PACKAGE / "rules").rglob("*.py"), *SHARED])
    page = re.search(r"\*\*SOE-19\.2\*\* .*?: (.*)\.$", PAGE.read_text(), re.MULTILINE)
    assert page is not None
    assert page[1].split(", ") == sorted(RULESET.meta.codes)
    raised = set(re.findall(r'"([a-z_]+)",\s*(?:"SOE-|rule\b|_RULE\b)', source))
    by_unit = {f"no_{unit}_in_region" for unit in ("army", "navy")}
    assert raised - {"army"} | by_unit == set(RULESET.meta.codes)


def test_gold_is_never_missing_except_for_gifts() -> None:
    """SOE-19.3: an attack without any gold is legal, an offer is not."""
    empires = {seat: {"gold": 0, "units": army("baltic", 3)} for seat in (0, 1, 2)}
    game = position(3, empires=empires)
    game.refused(0, attack("baltic", 1, offers=[{"seat": 2, "gold": 1}]), "offer_exceeds_gold", "SOE-8.1.2")
    game.when(0, attack("baltic", 1))


BAD: list[Json] = [
    {},
    [],
    {"type": 5},
    move("build", unit="army"),
    move("build", unit="army", to=7),
    move("build", unit="army", to=None),
    move("build", unit="submarine", to="baltic"),
    move("build", unit="army", to="baltic", extra=1),
    move("build", unit="army", to=""),
    move("move_unit", unit="army", from_="baltic", to="india", new_action=1),
    move("move_unit", unit="army", from_="baltic", to="india", new_action=None),
    move("buy_tile", tile="banking", region="india"),
    move("buy_tile", tile="pirates", region="india", target_seat=-1),
    move("buy_tile", tile="pirates", region="india", target_seat="1"),
    move("buy_tile", tile="pirates", region=None, target_seat=1),
    move("use_tile", tile="war_office", to="india"),
    move("use_tile", tile="blockade"),
    move("use_tile", tile="tobacco", region=None),
    move("attack", region="baltic", target=1),
    move("attack", region="baltic", target={"kind": "player", "seat": -1}),
    move("attack", region="baltic", target={"kind": "player", "marker": "ba_norway"}),
    attack("baltic", 1, ask=None),
    attack("baltic", 1, ask=[True]),
    attack("baltic", 1, offers=[{"seat": 2}]),
    attack("baltic", 1, offers=[{"seat": 2, "gold": 1.0}]),
    move("bid", amount="1", a=0, b=1),
    move("bid", amount=1, a=0),
    move("bid", amount=1, a=-1, b=0),
    move("support", armies=-1, navies=0),
    move("support", armies=True, navies=0),
    move("choose_loss", choices=[{"seat": 0, "unit": "spy"}]),
    move("reserve", use=1),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_malformed_move_is_refused_as_such(bad: Json) -> None:
    """SOE-19.4: unknown, foreign or missing fields, nulls, wrong types, negative numbers."""
    position(3).refused(0, bad, "malformed_move")


def test_what_has_a_code_of_its_own_is_not_malformed() -> None:
    """SOE-19.4: negative bids and offers, targets that are left out."""
    position(3, turn=None).refused(0, move("bid", amount=-1, a=0, b=1), "bid_too_low")
    units = {seat: {"units": army("baltic")} for seat in range(3)}
    game = position(3, empires=units)
    game.refused(0, attack("baltic", 1, offers=[{"seat": 2, "gold": -1}]), "invalid_ask")
    game.refused(0, attack("baltic", 1, ask=[-3]), "invalid_ask")
    game.refused(0, move("buy_tile", tile="pirates"), "missing_target")
    game.refused(0, move("attack", region="baltic", target={"kind": "player"}), "invalid_target")


def test_every_tile_can_be_named() -> None:
    """SOE-19.4: a tile without fields of its own takes none."""
    game = position(3)
    for tile in TILES:
        game.refused(0, move("use_tile", tile=tile, nothing=1), "malformed_move")
