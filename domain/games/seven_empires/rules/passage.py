"""SE7-8.7: passing a region with a foreign army."""

from __future__ import annotations

from domain.games.common.checks import require
from domain.games.seven_empires import frames
from domain.games.seven_empires.data import UNITS
from domain.games.seven_empires.facts.movement import PassageAsked, PassageGranted, PassageRefused
from domain.games.seven_empires.moves import AnswerPassage, MoveLand
from domain.games.seven_empires.rules.fights import aimed
from domain.games.seven_empires.state import D, Seven
from domain.kernel.schema.declarations import or_none
from domain.types import Seat


def blocking(s: Seven, region: str) -> str | None:
    """SE7-8.7: the empire with a monarch to be asked; None if passing is free or automatic."""
    empire = s.army_there(region, s.acting)
    return None if empire is None or s.monarch(empire) in (None, s.actor) else empire


def check_refused(s: Seven, through: str) -> None:
    """SE7-8.7: one answer for a region in an action, while an army bars it."""
    barred = through in s.moving.refused and blocking(s, through) is not None
    require(not barred, "passage_refused", "SE7-8.7", region=through)


def ask_passage(d: D, move: MoveLand) -> bool:
    """SE7-8.7: ask the monarch if needed; return whether one was asked."""
    through, to = move.steps[0].to, move.steps[1].to
    empire = blocking(d.state, through)
    monarch = None if empire is None else d.state.monarch(empire)
    if empire is None or monarch is None:
        return False
    unit = UNITS[UNITS.index(move.unit)]
    d.add(PassageAsked(monarch, empire, d.state.acting, unit, through, to))
    target = aimed(d.state, to, or_none(move.target))
    d.ask(frames.Passage(d.state.acting, move.from_, unit, move.steps, target, through, empire, to), monarch)
    return True


def answer(d: D, about: frames.Passage, seat: Seat, move: AnswerPassage) -> None:
    """SE7-8.7: refused, the unit stays unmoved and its transports unused."""
    d.mark_answered(seat, end=True)
    kind = PassageGranted if move.grant else PassageRefused
    d.add(kind(seat, about.empire, about.through))
