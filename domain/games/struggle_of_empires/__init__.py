"""Struggle of Empires (Martin Wallace, 2004). Rules: docs/rules/struggle_of_empires.md, numbers SOE-x.y.z."""

from __future__ import annotations

from domain.games.common.validators import Either
from domain.games.struggle_of_empires.battles import read_battles
from domain.games.struggle_of_empires.bot import propose
from domain.games.struggle_of_empires.choices import build
from domain.games.struggle_of_empires.data import DOC, POWERS
from domain.games.struggle_of_empires.defaults import default
from domain.games.struggle_of_empires.facts import FACTS
from domain.games.struggle_of_empires.frames import FRAMES
from domain.games.struggle_of_empires.invariants import check, fill
from domain.games.struggle_of_empires.moves import MOVES
from domain.games.struggle_of_empires.player_view import board, chapter, own_view, powers
from domain.games.struggle_of_empires.redeal import redeal
from domain.games.struggle_of_empires.refusal_codes import CODES
from domain.games.struggle_of_empires.rules import CONTINUATIONS, HANDLERS
from domain.games.struggle_of_empires.rules.setup import blank, check_table, setup
from domain.games.struggle_of_empires.scoring import scores
from domain.games.struggle_of_empires.standing_orders import STANDING_ORDERS
from domain.games.struggle_of_empires.state import Struggle
from domain.games.struggle_of_empires.template_context import (
    CONTEXT_BUILDERS,
    SENTENCE_MERGERS,
    complete_sentences,
    gather_headlines,
    move_context,
)
from domain.games.struggle_of_empires.treaties import TREATIES
from domain.kernel.rules.meta import Meta, OptionType, TalkRules
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
"""Decisions interrupting a turn (SOE-4.3)."""

META = Meta(
    ruleset="struggle_of_empires@1",
    title=DOC["meta"]["title"]["en"],
    prefix="SOE",
    seats=tuple(range(DOC["meta"]["players_min"], DOC["meta"]["players_max"] + 1)),
    options=OPTIONS,
    codes=CODES,
    clocks=dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer"),
    paces={
        "live": {"move": 300, "answer": 60},
        "correspondence": {"move": 172_800, "answer": 86_400},
    },
    headlines=(
        "vp_gained",
        "region_scored",
        "token_captured",
        "war_ended",
        "marker_removed",
        "token_removed",
    ),
    weightless=(
        "war_ended",
        "token_removed",
        "marker_removed",
    ),
    talk=TalkRules("free", rule="SOE-8.3.3"),
)

RULESET: Ruleset[Struggle] = Ruleset(
    package="domain.games.struggle_of_empires",
    meta=META,
    state=Struggle,
    moves=MOVES,
    facts=FACTS,
    frames=FRAMES,
    handlers=HANDLERS,
    continuations=CONTINUATIONS,
    blank=blank,
    setup=setup,
    check_table=check_table,
    build=build,
    default=default,
    board=board,
    own=own_view,
    powers=powers,
    chapter=chapter,
    scores=scores,
    tie_breaks=("revolution", "unrest", "tokens", "gold"),
    context_builders=CONTEXT_BUILDERS,
    read_battles=read_battles,
    move_context=move_context,
    sentence_mergers=SENTENCE_MERGERS,
    complete_sentences=complete_sentences,
    gather_headlines=gather_headlines,
    check=check,
    fill=fill,
    redeal=redeal,
    bot=propose,
    treaties=TREATIES,
    standing_orders=STANDING_ORDERS,
)

RULESETS = (RULESET,)
