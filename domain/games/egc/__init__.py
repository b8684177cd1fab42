"""Empires, guerres et céphalées. Rules: docs/rules/egc.md, numbers EGC-x.y.z."""

from __future__ import annotations

from domain.games.egc.battles import read_battles
from domain.games.egc.bot import propose
from domain.games.egc.choices import build
from domain.games.egc.data import DOC, EMPIRES
from domain.games.egc.defaults import default
from domain.games.egc.facts import FACTS
from domain.games.egc.frames import FRAMES
from domain.games.egc.invariants import check, fill
from domain.games.egc.moves import MOVES
from domain.games.egc.player_view import board, chapter, hidden_view, own_view, powers
from domain.games.egc.redeal import redeal
from domain.games.egc.refusal_codes import CODES
from domain.games.egc.rules import CONTINUATIONS, HANDLERS, may, vacated
from domain.games.egc.rules.setup import blank, setup
from domain.games.egc.scoring import scores
from domain.games.egc.standing_orders import STANDING_ORDERS
from domain.games.egc.state import Egc
from domain.games.egc.template_context import CONTEXT_BUILDERS, complete_sentences, gather_headlines, move_context
from domain.games.egc.treaties import TREATIES
from domain.kernel.rules.meta import Meta, OptionType, TalkRules
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import Boolean

OPTIONS = {
    "turn_zero_timeout": OptionType(Boolean(), False, "EGC-2.2"),
    "allow_vacant_seats": OptionType(Boolean(), False, "EGC-2.2"),
}

HOURS: list[int] = next(o["values"] for o in DOC["options"]["items"] if o["id"] == "turn_period_hours")
"""EGC-2.1: how long a turn may be."""

META = Meta(
    ruleset="egc@1",
    title=DOC["meta"]["title"]["fr"],
    prefix="EGC",
    seats=(len(EMPIRES),),
    options=OPTIONS,
    codes=CODES,
    clocks={"turn_zero": "turn_zero", "turn_zero_timed": "turn", "orders": "turn"},
    paces={f"hours_{h}": {"turn": h * 3600} for h in HOURS},
    undo=False,
    max_moves=100_000,
    headlines=(
        "game_ended",
        "victory_counted",
        "empire_eliminated",
        "war_declared",
        "war_joined",
        "territory_conquered",
        "territory_annexed",
        "territory_given",
        "protectorate_given",
        "protectorate_installed",
        "battle_fought",
    ),
    weightless=("battle_fought",),
    talk=TalkRules("free"),
)

RULESET: Ruleset[Egc] = Ruleset(
    package="domain.games.egc",
    meta=META,
    state=Egc,
    moves=MOVES,
    facts=FACTS,
    frames=FRAMES,
    handlers=HANDLERS,
    continuations=CONTINUATIONS,
    blank=blank,
    setup=setup,
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
    tie_breaks=("last_count", "territories", "treasury", "lot"),
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
