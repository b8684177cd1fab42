"""Thresholds of Python's garbage collector."""

import gc

YOUNG, MIDDLE, OLD = 50_000, 20, 100
"""New objects before a young collection; collections before the next older generation is collected."""


def reduce_gc_frequency() -> None:
    """Collect rarely: states and records hold no cycles, and each collection would traverse all of them."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)
