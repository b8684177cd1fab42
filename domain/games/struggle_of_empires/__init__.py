"""Struggle of Empires (Martin Wallace, 2004). Rules: docs/rules/struggle_of_empires.md, numbers SOE-x.y.z."""

from __future__ import annotations

from domain.errors import InvalidTable
from domain.games.common.shapes import Either
from domain.games.struggle_of_empires import bot, choices
from domain.games.struggle_of_empires.data import DOC, POWERS
from domain.games.struggle_of_empires.facts import EVOLVE
from domain.games.struggle_of_empires.invariants import check
from domain.games.struggle_of_empires.moves import MOVES
from domain.games.struggle_of_empires.rules import DO, GO
from domain.games.struggle_of_empires.rules.setup import blank, setup
from domain.games.struggle_of_empires.rules.timeouts import default
from domain.games.struggle_of_empires.scoring import scores
from domain.games.struggle_of_empires.sight import sight
from domain.games.struggle_of_empires.state import D, Struggle
from domain.ids import Viewer
from domain.kernel.ruleset import Meta, OptionType, Ruleset, Table
from domain.kernel.shapes import Int, ListOf, Word

CODES = {
    "already_colonized": "SOE-7.8.3",
    "bid_too_high": "SOE-6.4",
    "bid_too_low": "SOE-6.3",
    "blockaded": "SOE-9.5.13",
    "cannot_attack_ally": "SOE-8.1.2",
    "cannot_attack_self": "SOE-8.1.2",
    "exceeds_available": "SOE-8.3.2",
    "foreign_home": "SOE-15.3",
    "fort_cannot_move": "SOE-7.6.5",
    "fort_needs_scoring_region": "SOE-7.5.2",
    "insufficient_population": "SOE-7.5.5",
    "invalid_ask": "SOE-8.1.2",
    "invalid_choice": "SOE-8.9.2",
    "invalid_proposal": "SOE-6.3",
    "invalid_region": "SOE-3.6",
    "invalid_target": "SOE-8.1.2",
    "marker_not_attackable": "SOE-8.1.2",
    "missing_target": "SOE-7.4.4",
    "must_open_bid": "SOE-6.4",
    "navy_cannot_enter": "SOE-15.1",
    "no_actions_left": "SOE-7.2.1",
    "no_army_in_region": "SOE-8.1.2",
    "no_control_token": "SOE-1.2",
    "no_control_token_in_region": "SOE-9.5.14",
    "no_militia_build": "SOE-7.5.5",
    "no_navy_in_africa": "SOE-7.8.2",
    "no_navy_in_colony": "SOE-15.2",
    "no_navy_in_region": "SOE-8.1.2",
    "no_such_unit": "SOE-7.6.6",
    "no_unit_available": "SOE-1.1",
    "not_an_alliance_tile": "SOE-9.5.10",
    "not_present_in_region": "SOE-9.5.5",
    "offer_exceeds_gold": "SOE-8.3.3",
    "population_at_max": "SOE-9.5.11",
    "power_taken": "SOE-3.3",
    "region_not_accessible": "SOE-15.2",
    "same_region": "SOE-7.6.6",
    "target_absent": "SOE-8.1.2",
    "tile_already_bought": "SOE-7.4.4",
    "tile_already_used": "SOE-9.3.1",
    "tile_banned_this_round": "SOE-9.2.4",
    "tile_not_applicable": "SOE-8.5.1",
    "tile_not_in_stock": "SOE-7.4.4",
    "tile_not_owned": "SOE-9.3.1",
    "tile_not_usable": "SOE-9.3.1",
    "unit_already_moved": "SOE-7.6.4",
    "unknown_marker": "SOE-7.8.4",
    "unknown_power": "SOE-3.3",
    "unknown_region": "SOE-3.6",
    "unknown_tile": "SOE-7.4.4",
    "wrong_marker_kind": "SOE-7.8.4",
}
"""SOE-19.2: refusal code -> the rule that defines it."""

OPTIONS = {
    "power_assignment": OptionType(Word(("choose", "random", "fixed")), "choose", "SOE-2.3"),
    "powers": OptionType(ListOf(Word(POWERS), 0, len(POWERS)), [], "SOE-2.3"),
    "first_player": OptionType(Either(Word(("random",)), Int(0, 6)), "random", "SOE-2.3"),
    "unrest_visibility": OptionType(Word(("hidden", "open")), "hidden", "SOE-2.3"),
}

TURNS = ("choose_power", "place_units", "auction_bid", "turn")
ANSWERS = (
    "support",
    "request_support",
    "naval_choice",
    "assign_alliance_tiles",
    "use_blockade",
    "reserve",
    "choose_loss",
    "fighting_withdrawal",
)
"""Decisions that interrupt a turn (SOE-4.3)."""


def check_table(table: Table) -> None:
    """SOE-2.3: options that must go together; raises InvalidTable."""
    first, powers = table.options["first_player"], table.options["powers"]
    if first != "random" and first >= table.seats:
        raise InvalidTable(f"a seat from 0 to {table.seats - 1} is expected", "/options/first_player")
    if table.options["power_assignment"] != "fixed":
        if powers:
            raise InvalidTable("only for power_assignment fixed", "/options/powers")
    elif len(powers) != table.seats or len(set(powers)) != table.seats:
        raise InvalidTable(f"{table.seats} different powers are expected", "/options/powers")


def redeal(draft: D, keep: tuple[Viewer, ...]) -> None:
    """Nothing is dealt face down: the bag has no order before a draw, and unrest follows from public facts."""


RULESET: Ruleset[Struggle] = Ruleset(
    meta=Meta(
        "struggle_of_empires@1",
        DOC["meta"]["title"],
        "SOE",
        tuple(range(DOC["meta"]["players_min"], DOC["meta"]["players_max"] + 1)),
        OPTIONS,
        CODES,
        clocks=dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer"),
        paces={
            "live": {"move": 300, "answer": 60},
            "correspondence": {"move": 172_800, "answer": 86_400},
        },
    ),
    state=Struggle,
    moves=MOVES,
    do=DO,
    go=GO,
    evolve=EVOLVE,
    setup=setup,
    build=choices.build,
    default=default,
    sight=sight,
    scores=scores,
    check=check,
    redeal=redeal,
    blank=blank,
    check_table=check_table,
    package="domain.games.struggle_of_empires",
    bot=bot.propose,
)

RULESETS = (RULESET,)
