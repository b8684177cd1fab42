"""Empires, guerres et céphalées. Rules: docs/rules/egc.md, numbers EGC-x.y.z."""

from __future__ import annotations

from domain.games.egc import bot, choices
from domain.games.egc.data import DOC, EMPIRES
from domain.games.egc.defaults import default
from domain.games.egc.facts import FACTS
from domain.games.egc.frames import FRAMES
from domain.games.egc.invariants import check, fill
from domain.games.egc.moves import MOVES
from domain.games.egc.player_view import board, chapter, hidden_view, own_view, powers
from domain.games.egc.redeal import redeal
from domain.games.egc.refusal_codes import CODES
from domain.games.egc.rules import CONTINUATIONS, HANDLERS
from domain.games.egc.rules.seats import may, vacate
from domain.games.egc.rules.setup import blank, setup
from domain.games.egc.scoring import scores
from domain.games.egc.state import Egc
from domain.games.egc.template_context import CONTEXT_BUILDERS
from domain.kernel.rules.meta import Meta, OptionType
from domain.kernel.rules.ruleset import Ruleset
from domain.kernel.schema.validators import Boolean

OPTIONS = {
    "turn_zero_timeout": OptionType(Boolean(), False, "EGC-2.2"),
    "allow_vacant_seats": OptionType(Boolean(), False, "EGC-2.2"),
}

HOURS: list[int] = next(o["values"] for o in DOC["options"]["items"] if o["id"] == "turn_period_hours")
"""EGC-2.1: how long a turn may be."""

META = Meta(
    "egc@1",
    DOC["meta"]["title"]["fr"],
    "EGC",
    (len(EMPIRES),),
    OPTIONS,
    CODES,
    clocks={"turn_zero": "turn_zero", "turn_zero_timed": "turn", "orders": "turn"},
    paces={f"hours_{h}": {"turn": h * 3600} for h in HOURS},
    undo=False,
    max_moves=100_000,
    headlines=(
        "war_declared",
        "war_joined",
        "battle_fought",
        "territory_conquered",
        "territory_annexed",
        "territory_given",
        "protectorate_installed",
        "protectorate_given",
        "empire_eliminated",
        "game_ended",
    ),
)

RULESET: Ruleset[Egc] = Ruleset(
    meta=META,
    state=Egc,
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
    hidden=hidden_view,
    scores=scores,
    check=check,
    fill=fill,
    redeal=redeal,
    blank=blank,
    may=may,
    vacated=vacate,
    package="domain.games.egc",
    bot=bot.propose,
)

RULESETS = (RULESET,)
