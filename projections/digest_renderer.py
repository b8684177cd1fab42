"""Digests of turns in a language, each rendered once for the same names."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from domain.fork_safety import reset_after_fork
from domain.kernel.narration.outline import Figures, GameOutline, TurnOutline
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.turn_digests import Digest, render_digests, render_turn
from domain.kernel.rules.ruleset import AnyRuleset
from projections.chronicler import Chronicler

CACHE_TURNS = 512
"""Rendered turns cached per process. Without them a digest takes 4 times as long (`python -m tests.perf.history`)."""

_Rendered = tuple[TurnOutline, Sequence[Figures], Digest]
"""Turn and figures before it, kept so that no other objects get their ids, and the digest."""


class DigestRenderer:
    """Renders outlines. Safe with threads and forks."""

    def __init__(self) -> None:
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget cached digests, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._cache: LRUCache[object, _Rendered] = LRUCache(CACHE_TURNS)

    def render(
        self,
        rules: AnyRuleset,
        chronicler: Chronicler,
        outline: GameOutline,
        level: str,
        after: int,
        before: Sequence[Figures],
    ) -> list[Digest]:
        """Return the digests of the turns after a version with these figures."""

        def render_once(turn: TurnOutline, since: int, earlier: Sequence[Figures]) -> Digest:
            namer = chronicler.namer(turn.last, turn.powers)
            cut = since if turn.spans[0][0] <= since else 0
            key = (id(turn), id(earlier), chronicler.words, level, cut, _describe_names(namer))
            with self._lock:
                found = self._cache.get(key)
            if found is None:
                found = turn, earlier, render_turn(rules, chronicler.words, namer, turn, level, since, earlier)
                with self._lock:
                    self._cache[key] = found
            return found[2]

        return render_digests(chronicler.words, chronicler.namer, outline, render_once, after, before)


def _describe_names(namer: SeatNames) -> tuple[tuple[int, str], ...]:
    """Return the names of people by seat: other names are in the commands of officers alone."""
    return tuple(sorted(namer.people.items()))
