"""Figures of the views: what one process makes of the log, on SQLite."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

from domain.command_handler import new_game_id
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.ruleset_registry import load_shipped
from projections.projector import SLICE, Projector
from projections.view_store import ViewStore
from projections.viewer_history import ViewerHistory
from tests.perf.figures import TURNS, Figure

LIVE = 10
"""Records in a slice where the pump just keeps up."""


def figures(games: Sequence[Sequence[Record]], count: int) -> Iterator[Figure]:
    """So many records of each game, in turn in one log."""
    with tempfile.TemporaryDirectory(prefix="annals-perf-") as folder:
        ledger = Ledger.open(f"sqlite:///{Path(folder) / 'ledger.sqlite'}", bytes(32))
        ledger.migrate()
        total = written(ledger, {new_game_id(): records[:count] for records in games})
        where = f"{len(games)} games, {total} records in turn"
        bare = _rate(total, lambda: [entry.record.hash for entry in ledger.log(0, total)])
        limit = "reading and hashing them"
        for what, size, budget in (
            ("views in a rebuild", SLICE, ">= 0.08 times"),
            (f"views in slices of {LIVE}", LIVE, ">= 0.03 times"),
        ):
            rate = _rate(total, partial(_pumped, ledger, Path(folder) / "views.sqlite", size))
            yield Figure(what, where, rate, "/s/core", budget, bare, limit)
        ledger.close()


def written(ledger: Ledger, games: Mapping[str, Sequence[Record]]) -> int:
    """Append these games in turn, each under its name; how many records these are."""
    total = 0
    for row in itertools.zip_longest(*(_named(name, records) for name, records in games.items())):
        for name, record in zip(games, row, strict=True):
            if record is not None:
                ledger.append(name, [record], record.version - 1)
                total += 1
    return total


def _named(name: str, records: Sequence[Record]) -> Iterator[Record]:
    """The same game under another name, in a chain of its own."""
    prev = None
    for record in records:
        changed = {"body": {**record.body, "game": name}} if prev is None else {"prev": prev}
        found = Record({**record.public, **changed}, record.packs)
        prev = found.hash
        yield found


def _pumped(ledger: Ledger, file: Path, size: int) -> None:
    views = ViewStore(f"sqlite:///{file}", ledger.keys)
    views.migrate()
    views.clear()
    views.migrate()
    pump = Projector(ViewerHistory(ledger, load_shipped(), views), "perf")
    with patch("projections.projector.SLICE", size):
        while pump.run(0):
            pass
    views.close()


def _rate(total: int, work: Callable[[], object]) -> float:
    """For each second that a processor works: what else the machine does counts little."""
    taken = []
    for _ in range(TURNS):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return total / statistics.median(taken)
