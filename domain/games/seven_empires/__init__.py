"""7 Empires (Mac Gerdts, 2024). Rules: docs/rules/seven_empires.md, numbers SE7-x.y.z."""

from __future__ import annotations

from domain.games.seven_empires.battles import read_battles
from domain.games.seven_empires.bot import propose
from domain.games.seven_empires.choices import build
from domain.games.seven_empires.data import DEALS, OPTION_DATA, SETUPS
from domain.games.seven_empires.defaults import default
from domain.games.seven_empires.facts import FACTS
from domain.games.seven_empires.frames import FRAMES
from domain.games.seven_empires.invariants import check, fill
from domain.games.seven_empires.moves import MOVES
from domain.games.seven_empires.player_view import board, chapter, hidden_view, own_view
from domain.games.seven_empires.redeal import redeal
from domain.games.seven_empires.refusal_codes import CODES
from domain.games.seven_empires.rules import CONTINUATIONS, HANDLERS
from domain.games.seven_empires.rules.setup import blank, check_table, setup
from domain.games.seven_empires.scoring import scores
from domain.games.seven_empires.standing_orders import STANDING_ORDERS
from domain.games.seven_empires.state import Seven
from domain.games.seven_empires.template_context import (
    CONTEXT_BUILDERS,
    SENTENCE_MERGERS,
    gather_headlines,
    move_context,
)
from domain.games.seven_empires.treaties import TREATIES
from domain.kernel.rules.meta import Meta, OptionType, TalkRules
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import Boolean, IntegerRange, Word

OPTIONS = {
    "setup": OptionType(Word(SETUPS), OPTION_DATA["setup"]["default"], "SE7-2"),
    "distribution_card": OptionType(Word(("random", *DEALS)), OPTION_DATA["distribution_card"]["default"], "SE7-2.6"),
    "decades": OptionType(IntegerRange(8, 10), OPTION_DATA["decades"]["default"], "SE7-2.7"),
    "quick_start": OptionType(Boolean(), OPTION_DATA["quick_start"]["default"], "SE7-2.11"),
}

TURNS = (
    "draft",
    "choose_empire",
    "choose_delegated_action",
    "build",
    "deploy",
    "palace",
    "attack_deploy",
    "movement",
)
ANSWERS = ("passage", "counterfight", "reduction", "tile_influence", "tile_worker", "tile_unit")
"""Decisions interrupting a turn, or between decades (SE7-3.1)."""

META = Meta(
    ruleset="seven_empires@1",
    title="7 Empires",
    prefix="SE7",
    seats=tuple(range(OPTION_DATA["players"]["min"], OPTION_DATA["players"]["max"] + 1)),
    options=OPTIONS,
    codes=CODES,
    clocks=dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer"),
    paces={
        "live": {"move": 300, "answer": 60},
        "correspondence": {"move": 172_800, "answer": 86_400},
    },
    headlines=(
        "game_scored",
        "monarchs_assigned",
        "power_scored",
        "fought",
        "army_moved",
        "palace_built",
        "tile_revealed",
        "flag_placed",
        "influence_taken",
        "city_built",
    ),
    talk=TalkRules("free", rule="SE7-1.11"),
)

RULESET: Ruleset[Seven] = Ruleset(
    package="domain.games.seven_empires",
    meta=META,
    state=Seven,
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
    hidden=hidden_view,
    chapter=chapter,
    scores=scores,
    context_builders=CONTEXT_BUILDERS,
    read_battles=read_battles,
    move_context=move_context,
    sentence_mergers=SENTENCE_MERGERS,
    gather_headlines=gather_headlines,
    check=check,
    fill=fill,
    redeal=redeal,
    bot=propose,
    treaties=TREATIES,
    standing_orders=STANDING_ORDERS,
)

RULESETS = (RULESET,)
