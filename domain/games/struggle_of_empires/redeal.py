"""What is dealt anew for whoever cannot know it."""

from __future__ import annotations

from domain.games.struggle_of_empires.state import D
from domain.types import Viewer


def redeal(draft: D, keep: tuple[Viewer, ...]) -> None:
    """Nothing is dealt face down: the bag has no order before a draw, and unrest follows from public facts."""
