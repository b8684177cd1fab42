"""Deal anew the parts unknown to some viewers."""

from __future__ import annotations

from domain.games.struggle_of_empires.state import D
from domain.types import Viewer


def redeal(draft: D, keep: tuple[Viewer, ...]) -> None:
    """Deal nothing: the bag has no order before a draw, and unrest follows from public facts."""
