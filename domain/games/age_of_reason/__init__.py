"""Age of Reason (L'âge de raison, Martin Wallace). Rules: docs/rules/age_of_reason.md, numbers AOR-x.y.z."""

from __future__ import annotations

from domain.games.age_of_reason.battles import read_battles
from domain.games.age_of_reason.bot import propose
from domain.games.age_of_reason.choices import build
from domain.games.age_of_reason.data import DOC, POWERS
from domain.games.age_of_reason.defaults import default
from domain.games.age_of_reason.facts import FACTS
from domain.games.age_of_reason.frames import FRAMES
from domain.games.age_of_reason.invariants import check, fill
from domain.games.age_of_reason.moves import MOVES
from domain.games.age_of_reason.player_view import board, chapter, own_view, powers
from domain.games.age_of_reason.redeal import redeal
from domain.games.age_of_reason.refusal_codes import CODES
from domain.games.age_of_reason.rules import CONTINUATIONS, HANDLERS, may
from domain.games.age_of_reason.rules.setup import blank, check_table, setup
from domain.games.age_of_reason.scoring import scores
from domain.games.age_of_reason.standing_orders import STANDING_ORDERS
from domain.games.age_of_reason.state import AgeOfReason
from domain.games.age_of_reason.template_context import (
    CONTEXT_BUILDERS,
    complete_sentences,
    gather_headlines,
    move_context,
)
from domain.games.age_of_reason.treaties import TREATIES
from domain.games.common.validators import Either
from domain.kernel.rules.meta import Meta, OptionType, TalkRules
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import Boolean, IntegerRange, ListOf, Word

OPTIONS = {
    "power_assignment": OptionType(Word(("choose", "random", "fixed")), "choose", "AOR-2.3"),
    "powers": OptionType(ListOf(Word(POWERS), 0, len(POWERS)), [], "AOR-2.3"),
    "first_player": OptionType(Either(Word(("random",)), IntegerRange(0, 6)), "random", "AOR-2.3"),
    "first_alliances": OptionType(Word(("auction", "random")), "auction", "AOR-2.3"),
    "cossacks_space": OptionType(Boolean(), True, "AOR-2.3"),
    "support_scope": OptionType(Word(("table", "examples")), "table", "AOR-2.3"),
}

TURNS = ("choose_power", "auction_bid", "turn")
ANSWERS = ("commit", "hire", "reserves")
"""Decisions able to interrupt a turn (AOR-4.3)."""

META = Meta(
    ruleset="age_of_reason@1",
    title=DOC["meta"]["title"]["en"],
    prefix="AOR",
    seats=tuple(range(DOC["meta"]["players_min"], DOC["meta"]["players_max"] + 1)),
    options=OPTIONS,
    codes=CODES,
    clocks=dict.fromkeys(TURNS, "move") | dict.fromkeys(ANSWERS, "answer"),
    paces={
        "live": {"move": 300, "answer": 60},
        "correspondence": {"move": 172_800, "answer": 86_400},
    },
    headlines=(
        "region_scored",
        "vp_gained",
        "unrest_rolled",
        "marker_taken",
        "marker_converted",
        "token_removed",
    ),
    weightless=(
        "token_removed",
        "marker_taken",
        "marker_converted",
    ),
    talk=TalkRules("free"),
)

RULESET: Ruleset[AgeOfReason] = Ruleset(
    package="domain.games.age_of_reason",
    meta=META,
    state=AgeOfReason,
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
    may=may,
    board=board,
    own=own_view,
    powers=powers,
    chapter=chapter,
    scores=scores,
    tie_breaks=("unrest", "tokens", "gold"),
    context_builders=CONTEXT_BUILDERS,
    read_battles=read_battles,
    move_context=move_context,
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
