"""ImpeRunde. Rules: docs/rules/imperunde.md, numbers IMP-x.y.z."""

from __future__ import annotations

from domain.games.imperunde.battles import read_battles
from domain.games.imperunde.bot import propose
from domain.games.imperunde.choices import build
from domain.games.imperunde.data import OPTION_DATA, SETS, TIMEOUTS
from domain.games.imperunde.defaults import default
from domain.games.imperunde.facts import FACTS
from domain.games.imperunde.frames import FRAMES
from domain.games.imperunde.invariants import check, fill
from domain.games.imperunde.moves import MOVES
from domain.games.imperunde.player_view import board, chapter, hidden_view, own_view, powers
from domain.games.imperunde.redeal import redeal
from domain.games.imperunde.refusal_codes import CODES
from domain.games.imperunde.roll_readers import ROLL_READERS
from domain.games.imperunde.rules import CONTINUATIONS, HANDLERS, may, vacated
from domain.games.imperunde.rules.setup import blank, check_table, setup
from domain.games.imperunde.scoring import scores
from domain.games.imperunde.sentence_completion import complete_sentences, gather_headlines
from domain.games.imperunde.standing_orders import STANDING_ORDERS
from domain.games.imperunde.state import ImpeRunde
from domain.games.imperunde.template_context import CONTEXT_BUILDERS, SENTENCE_MERGERS, move_context
from domain.games.imperunde.treaties import TREATIES
from domain.kernel.rules.meta import Meta, OptionType, TalkRules
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import IntegerRange, Nullable, Word

OPTIONS = {
    "goal_preset": OptionType(Word(("sprint", "normal", "long")), OPTION_DATA["default_preset"], "IMP-2.1"),
    "goal": OptionType(
        Nullable(IntegerRange(OPTION_DATA["goal_min"], max(OPTION_DATA["goal_max_by_players"].values()))),
        None,
        "IMP-2.1",
    ),
    "turn_limit": OptionType(Nullable(IntegerRange(OPTION_DATA["turn_limit_min"], 999)), None, "IMP-2.2"),
}

META = Meta(
    ruleset="imperunde@1",
    title="ImpeRunde",
    prefix="IMP",
    seats=tuple(SETS),
    options=OPTIONS,
    codes=CODES,
    clocks={kind: kind for kind in TIMEOUTS["live"]},
    paces=TIMEOUTS,
    demo_options={"turn_limit": OPTION_DATA["turn_limit_min"]},
    headlines=(
        "goal_changed",
        "country_conquered",
        "country_freed",
        "ship_captured",
        "colony_plundered",
        "canal_built",
        "relations_fixed",
        "combat_ended",
        "land_event",
        "sea_event",
    ),
    weightless=("sea_event",),
    talk=TalkRules("by_phase", ("diplomacy",), "IMP-6.2.6"),
)

RULESET: Ruleset[ImpeRunde] = Ruleset(
    package="domain.games.imperunde",
    meta=META,
    state=ImpeRunde,
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
    vacated=vacated,
    board=board,
    own=own_view,
    hidden=hidden_view,
    powers=powers,
    chapter=chapter,
    scores=scores,
    tie_breaks=("winner", "debt", "surplus", "worth", "turn_order"),
    context_builders=CONTEXT_BUILDERS,
    read_battles=read_battles,
    move_context=move_context,
    roll_readers=ROLL_READERS,
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
