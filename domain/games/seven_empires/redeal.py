"""Deal anew the parts unknown to some viewers: the hourglass tiles lying face down (SE7-14.1)."""

from __future__ import annotations

from domain.games.seven_empires.facts.sequence import HourglassLaid
from domain.games.seven_empires.invariants import fill, list_aside
from domain.games.seven_empires.state import D
from domain.kernel.records.audience import TABLE
from domain.kernel.schema.declarations import UNSET
from domain.types import DIRECTOR, Viewer


def redeal(draft: D, keep: tuple[Viewer, ...]) -> None:
    """Reorder the unrevealed tiles, with the one put aside; the laurel stays last."""
    if DIRECTOR in keep or not draft.state.frames:
        return
    s = draft.state
    hourglass = s.hourglass or fill(s).hourglass
    known = hourglass[: len(s.revealed)]
    aside = [s.left_out] if s.left_out else list_aside(s) if not s.hourglass else []
    tiles = draft.draws.shuffle("redeal", [*hourglass[len(known) : -1], *aside], TABLE)
    left_out = tiles.pop() if aside else UNSET
    draft.add(HourglassLaid([*known, *tiles, "laurel"], left_out), TABLE)
