"""Gains of the caches of a game's history: the time without each for the time with it, taken in turn.

`.venv/test/bin/python -m tests.perf.history` prints them; a busy machine changes them little.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest import mock

from cachetools import LRUCache
from sqlalchemy import delete, func, select

from deploy.config.settings import load_settings
from deploy.runtime import wiring
from domain.command_handler import CommandHandler
from domain.game_history import GameHistory
from domain.kernel.text.message_catalog import load_texts
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.service.seed_store import SeedStore
from domain.types import PUBLIC
from projections import documents, keyframes, schema
from projections.archived_views import ArchivedViewLoader
from projections.chronicler import Chronicler
from projections.digest_renderer import DigestRenderer
from projections.keyframes import Keyframes
from projections.stored_outlines import StoredOutlines
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.perf.past import Long, store_game

SEED = 7
TURNS = 5

Work = Callable[[], object]


class NoCache(LRUCache[Any, Any]):
    """A cache that keeps nothing."""

    def __setitem__(self, *_: object, **__: object) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Bench:
    """A stored game and its readers."""

    game: str
    last: int
    ledger: Ledger
    views: ViewStore
    registry: RulesetRegistry

    def history(self) -> ViewerHistory:
        """As a process has it that has just started."""
        return ViewerHistory(self.ledger, self.registry, self.views)

    def boards(self, versions: list[int]) -> Work:
        """Return work that loads boards of the public."""
        history = self.history()
        return lambda: [history.load_for(self.game, version, PUBLIC) for version in versions]

    def rewinds(self) -> Work:
        """Return work that loads the targets of undos, each some versions before the newest."""
        history = GameHistory(self.ledger, self.registry)
        history.load(self.game)
        return lambda: [history.load(self.game, self.last - back) for back in (1, 3, 5)]

    def newest(self) -> Work:
        """Return work that loads the game before a command."""
        seeds = SeedStore(self.ledger, self.ledger.keys)
        handler = CommandHandler(self.ledger, self.registry, seeds, lambda: 0)
        handler.game(self.game)
        return lambda: [handler.game(self.game) for _ in range(5)]

    def follow(self) -> Work:
        """Return work that goes through the log record by record, as a projector does."""
        history = self.history()
        entries = self.ledger.log(self.last - 50, 50)

        def follow() -> None:
            for entry in entries:
                before = history.load_before(entry)
                history.remember(history.next_game(before, entry.record).game)

        return follow

    def outline(self) -> Work:
        """Return work that loads the outline of a digest."""
        outlines, (last,) = StoredOutlines(self.history()), self.ledger.read(self.game, self.last - 1, self.last)
        return lambda: [outlines.load(self.game, last, PUBLIC) for _ in range(5)]

    def digest(self) -> Work:
        """Return work that renders a digest of the whole game."""
        history, (last,) = self.history(), self.ledger.read(self.game, self.last - 1, self.last)
        outline, words = (
            StoredOutlines(history).load(self.game, last, PUBLIC),
            load_texts(history.rules_of(self.game).package, "en"),
        )
        summary = documents.build_summary(history.load_whole(self.game, self.last))
        chronicler = Chronicler(summary, words, {}, {})
        renderer = DigestRenderer()
        return lambda: [
            renderer.render(history.rules_of(self.game), chronicler, outline, "full", 0, ()) for _ in range(5)
        ]

    def archived(self) -> Work:
        """Return work that reads the views of an archived game."""
        loader, (last,) = ArchivedViewLoader(self.history()), self.ledger.read(self.game, self.last - 1, self.last)
        marks = {(self.last, last.head.at)}
        return lambda: [loader.find_cached(self.game, marks) or loader.load(self.game) for _ in range(3)]


def rows(long: Long) -> Iterator[str]:
    """Yield a line for each cache."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        settings = load_settings({"data": folder}, {})
        wiring.migrate(settings)
        game, _ = store_game(settings, long, (0,))
        with closing(Ledger.open(settings.ledger_url, settings.load_key())) as ledger:
            views = ViewStore(settings.views_url, ledger.keys)
            with closing(views):
                yield from _rows(Bench(game, long.records, ledger, views, load_shipped()))


def _rows(bench: Bench) -> Iterator[str]:
    last, rng = bench.last, random.Random(SEED)
    some = [rng.randint(5, last) for _ in range(5)]
    near, up = [last - rng.randint(1, 32) for _ in range(100)], list(range(last // 2, last // 2 + 60))
    with_anchors = _size(bench, keyframes.ANCHORS)
    yield f"keyframes compressed with anchors: {_size(bench, 1) / with_anchors:.1f} times the bytes without"
    patch = mock.patch.object
    for what, work, off in (
        ("keyframes: boards of any version", lambda: bench.boards(some), patch(Keyframes, "find", _nothing)),
        (
            "viewer_history, versions: boards near one",
            lambda: bench.boards(near),
            _no_cache("projections.viewer_history"),
        ),
        (
            "viewer_history, read ahead: boards in turn",
            lambda: bench.boards(up),
            patch(ViewerHistory, "_read_ahead", _stay),
        ),
        ("game_history, kept: targets of undos", bench.rewinds, patch(GameHistory, "_keep", _nothing)),
        ("game_history, recent: records in turn", bench.follow, patch(ViewerHistory, "remember", GameHistory.note)),
        ("record_writer, recent: the game of a command", bench.newest, _no_cache("domain.record_writer")),
        ("stored_outlines, rows: an outline", bench.outline, patch(StoredOutlines, "_find", _nothing)),
        ("stored_outlines, cache: an outline", bench.outline, _no_cache("projections.stored_outlines")),
        ("digest_renderer, cache: a digest", bench.digest, _no_cache("projections.digest_renderer")),
        ("archived_views, cache: boards and timeline", bench.archived, _no_cache("projections.archived_views")),
    ):
        yield f"{what}: {_ratio(work, off):.1f}"


def _no_cache(module: str) -> AbstractContextManager[object]:
    return mock.patch(f"{module}.LRUCache", NoCache)


def _ratio(make: Callable[[], Work], off: AbstractContextManager[object]) -> float:
    """Return the time without a cache for the time with it, as the median of turns."""
    found = []
    for _ in range(TURNS):
        with_it = _time(make, nullcontext())
        found.append(_time(make, off) / with_it)
    return statistics.median(found)


def _time(make: Callable[[], Work], context: AbstractContextManager[object]) -> float:
    with context:
        work = make()
        begun = time.process_time()
        work()
        return time.process_time() - begun


def _size(bench: Bench, anchors: int) -> int:
    """Return the bytes of the keyframes of the public."""
    with bench.views.transaction() as db:
        db.execute(delete(schema.keyframes))
    with mock.patch.object(keyframes, "ANCHORS", anchors):
        bench.history().load_for(bench.game, bench.last, PUBLIC)
    with bench.views.reading() as db:
        return int(db.execute(select(func.sum(func.length(schema.keyframes.c.doc)))).scalar_one())


def _nothing(*_: object) -> None:
    """Do nothing."""


def _stay(_history: object, _game: str, start: object, _viewer: object) -> object:
    return start


if __name__ == "__main__":
    for row in rows(Long(records=3_000)):
        print(row, flush=True)
