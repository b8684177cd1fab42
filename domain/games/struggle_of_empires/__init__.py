"""Struggle of Empires (Martin Wallace, 2004). Rules: docs/rules/struggle_of_empires.md, numbers SOE-x.y.z."""

from __future__ import annotations

from domain.games.common.validators import Either
from domain.games.struggle_of_empires import bot, choices
from domain.games.struggle_of_empires.data import DOC, POWERS
from domain.games.struggle_of_empires.defaults import default
from domain.games.struggle_of_empires.facts import FACTS
from domain.games.struggle_of_empires.frames import FRAMES
from domain.games.struggle_of_empires.invariants import check, fill
from domain.games.struggle_of_empires.moves import MOVES
from domain.games.struggle_of_empires.player_view import CONTEXT_BUILDERS, board, chapter, own_view, powers
from domain.games.struggle_of_empires.redeal import redeal
from domain.games.struggle_of_empires.refusal_codes import CODES
from domain.games.struggle_of_empires.rules import CONTINUATIONS, HANDLERS
from domain.games.struggle_of_empires.rules.setup import blank, check_table, setup
from domain.games.struggle_of_empires.scoring import scores
from domain.games.struggle_of_empires.state import Struggle
from domain.kernel.rules.meta import Meta, OptionType
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import IntegerRange, ListOf, Word

OPTIONS = {
    "power_assignment": OptionType(Word(("choose", "random", "fixed")), "choose", "SOE-2.3"),
    "powers": OptionType(ListOf(Word(POWERS), 0, len(POWERS)), [], "SOE-2.3"),
    "first_player": OptionType(Either(Word(("random",)), IntegerRange(0, 6)), "random", "SOE-2.3"),
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


META = Meta(
    "struggle_of_empires@1",
    DOC["meta"]["title"]["en"],
    "SOE",
    tuple(range(DOC["meta"]["players_min"], DOC["meta"]["players_max"] + 1)),
    OPTIONS,
    CODES,
    clocks=dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer"),
    paces={
        "live": {"move": 300, "answer": 60},
        "correspondence": {"move": 172_800, "answer": 86_400},
    },
    headlines=(
        "token_removed",
        "marker_removed",
        "token_captured",
        "region_scored",
        "war_ended",
    ),
)

RULESET: Ruleset[Struggle] = Ruleset(
    meta=META,
    state=Struggle,
    moves=MOVES,
    handlers=HANDLERS,
    continuations=CONTINUATIONS,
    facts=FACTS,
    frames=FRAMES,
    setup=setup,
    build=choices.build,
    default=default,
    board=board,
    chapter=chapter,
    context_builders=CONTEXT_BUILDERS,
    own=own_view,
    powers=powers,
    scores=scores,
    check=check,
    fill=fill,
    redeal=redeal,
    blank=blank,
    check_table=check_table,
    package="domain.games.struggle_of_empires",
    bot=bot.propose,
)

RULESETS = (RULESET,)
