"""How often Python looks for circles of objects."""

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 100
"""New objects after which the youngest are looked through; so many times before the next older ones are."""


def look_seldom() -> None:
    """States and records hold no circles: whoever folds many would walk through all of them again and again."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)
