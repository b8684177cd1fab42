"""Outlines of games for digests: one stored row for each reader, continued from the log and replaced as a whole.

An outline is folded from the facts that its reader may know, and tells no more. It has the hash of its last record, and
with it of all records before: it is valid for the log that has this record. Any of them may be missing.
"""

from __future__ import annotations

import functools
import hashlib
import re
import threading
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from cachetools import LRUCache
from msgspec.inspect import type_info
from sqlalchemy import bindparam, delete, select

from domain import game_history
from domain.errors import StoreUnavailable, VerificationError
from domain.fork_safety import reset_after_fork
from domain.kernel.narration.chapters import fold_steps
from domain.kernel.narration.outline import Figures, GameOutline, OutlineBuilder, figures, outline_steps
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import LANGUAGES, Texts, load_texts
from domain.types import PUBLIC, Viewer
from projections import schema
from projections.live_rows import is_live
from projections.view_store import PreparedStatement, upsert
from projections.viewer_history import ViewerHistory

BYTES_PER_RECORD = 64
"""Bytes of a row for each record, at most, beside `LEAST_BYTES`."""

LEAST_BYTES = 2**15

CACHE_OUTLINES = 64
"""Outlines cached per process. Without them an outline takes 2.9 to 4.9 times as long, and without rows 840 times
(`python -m tests.perf.history`).
"""

SPECTATORS = "spectators"
"""Reader of the row of spectators with a delay."""

FORMAT = 2
"""Format of the rows. Raise it when headlines or their context get another meaning."""

_O = schema.outlines.c
FIND = PreparedStatement(
    select(_O.version, _O.hash, _O.form, _O.doc).where(
        is_live(schema.outlines), _O.game == bindparam("of_game"), _O.reader == bindparam("by")
    )
)
_READERS = select(_O.reader).where(is_live(schema.outlines), _O.game == bindparam("of_game"))
_LIVE = select(schema.generations.c.gen).where(schema.generations.c.live)


@dataclass(frozen=True)
class OutlinedGame:
    """The outline of a version of a game."""

    outline: GameOutline
    version: int
    hash: str


class StoredOutlines:
    """Outlines of any version, as its reader knows the game. Safe with threads and forks."""

    def __init__(self, history: ViewerHistory) -> None:
        self._history, self._views = history, history.views
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget cached outlines, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._cache: LRUCache[tuple[str, str], OutlinedGame] = LRUCache(CACHE_OUTLINES)

    def load(self, game: str, last: Record, viewer: Viewer, *, delayed: bool = False) -> GameOutline:
        """Return the outline of a game after its record `last`, as a viewer knows it.

        `delayed`: for spectators with a delay, whose version is behind that of other readers of the public view.
        """
        rules, reader = self._history.rules_of(game), _name_reader(viewer, delayed)
        with self._lock:
            cached = self._cache.get((game, reader))
        if cached is not None and (cached.version, cached.hash) == (last.version, last.hash):
            return cached.outline
        stored = self._find(rules, game, reader)
        starts = [each for each in (cached, stored) if each is not None and each.version <= last.version]
        tries = (self._continue(game, last, start, viewer) for start in sorted(starts, key=_version_of, reverse=True))
        found = next((each for each in tries if each is not None), None) or self._continue(game, last, None, viewer)
        if found is None:
            raise VerificationError("unreadable", last.version, "it is gone")
        with self._lock:
            self._cache[game, reader] = found
        if stored is None or found.version - stored.version >= game_history.SPACING:
            self._save(rules, game, reader, found)
        return found.outline

    def load_since(self, game: str, after: int, upto: int, viewer: Viewer, *, delayed: bool = False) -> GameOutline:
        """Return an outline of a version for a digest of those after an earlier one; nothing is stored.

        It comes from the outline of a later version, or it has only the versions after the earlier one.
        """
        rules, reader = self._history.rules_of(game), _name_reader(viewer, delayed)
        with self._lock:
            start = self._cache.get((game, reader))
        if start is None or start.version < upto:
            start = self._find(rules, game, reader)
        outline, begin = GameOutline(), after
        if start and start.version >= upto and self._history.contains(game, start.version, start.hash):
            with self._lock:
                self._cache.setdefault((game, reader), start)
            if (active := start.outline.find_active(upto)) >= after:  # those after it have been undone since
                begin, outline = active, start.outline.truncate(active)
        state = self._history.load_for(game, max(begin, 1), viewer).game.state  # the first record changes nothing
        builder = OutlineBuilder(rules, _texts(rules), viewer, outline, state)
        for record, past in self._history.iterate_for(game, begin, upto, viewer):
            builder.add(record, past.game.state)
        return builder.build()

    def figures(self, outline: GameOutline, game: str, version: int, viewer: Viewer) -> tuple[Figures, ...]:
        """Return the figures of each seat at a version of the game, as a viewer knows them."""
        ends = (turn.end for turn in outline.turns if turn.last == version)
        if (end := next(ends, None)) is not None:
            return end.figures
        then = self._history.load_for(game, version, viewer)
        return figures(then.rules, then.game.state)

    def check(self, game: str, records: Sequence[Record]) -> bool:
        """Return whether the game's outlines are what a fold of all these records gives; drop them if not."""
        rules = self._history.rules_of(game)
        with self._views.reading() as db:
            readers = db.execute(_READERS, {"of_game": game}).scalars().all()
        for reader in readers:
            stored = self._find(rules, game, reader)
            if stored is not None and stored != _fold_outline(rules, records[: stored.version], _viewer_of(reader)):
                with self._views.transaction() as db:
                    db.execute(delete(schema.outlines).filter_by(game=game))
                return False
        return True

    def _continue(self, game: str, last: Record, start: OutlinedGame | None, viewer: Viewer) -> OutlinedGame | None:
        """Return the outline after `last`, made from an earlier one; None unless the log has that one."""
        if start is not None and start.version == last.version:
            return start if start.hash == last.hash else None
        rules, after = self._history.rules_of(game), start.version if start else 0
        state = self._history.load_for(game, max(after, 1), viewer).game.state  # the first record changes nothing
        builder = OutlineBuilder(rules, _texts(rules), viewer, start.outline if start else GameOutline(), state)
        for record, past in self._history.iterate_for(game, after, last.version, viewer):
            if start is not None and record.version == after + 1 and record.head.prev != start.hash:
                return None
            builder.add(record, past.game.state)
        return OutlinedGame(builder.build(), last.version, last.hash)

    def _find(self, rules: AnyRuleset, game: str, reader: str) -> OutlinedGame | None:
        """Return the stored outline of a reader; None without a readable one."""
        for version, hashed, form, sealed in self._views.fetch_all(FIND, of_game=game, by=reader):
            with suppress(ValueError, zlib.error):  # altered: another one replaces it
                if form == form_of(rules):
                    doc = zlib.decompress(self._views.open_document(game, f"outline|{reader}", sealed))
                    return OutlinedGame(_OUTLINE.decode(doc), version, hashed)
        return None

    def _save(self, rules: AnyRuleset, game: str, reader: str, found: OutlinedGame) -> None:
        """Store an outline, unless it is too large. Without a store that takes it, the next reader makes it."""
        zipped = zlib.compress(msgspec.msgpack.encode(found.outline))
        if len(zipped) > LEAST_BYTES + BYTES_PER_RECORD * found.version:
            return
        sealed = self._views.seal_document(game, f"outline|{reader}", zipped)
        row = {"game": game, "reader": reader, "version": found.version, "hash": found.hash}
        with suppress(StoreUnavailable), self._views.transaction() as db:
            gen = db.execute(_LIVE).scalar_one()
            upsert(db, schema.outlines, [row | {"gen": gen, "form": form_of(rules), "doc": sealed}])


def _fold_outline(rules: AnyRuleset, records: Sequence[Record], viewer: Viewer) -> OutlinedGame:
    """Return the outline of these records, folded from the first."""
    start, steps = fold_steps(rules, records, viewer)
    doc = msgspec.msgpack.encode(outline_steps(rules, _texts(rules), viewer, start, steps))
    return OutlinedGame(_OUTLINE.decode(doc), records[-1].version, records[-1].hash)


def _version_of(found: OutlinedGame) -> int:
    return found.version


# --- rows ------------------------------------------------------------------------------------------------------


def _name_reader(viewer: Viewer, delayed: bool) -> str:
    return SPECTATORS if delayed and viewer == PUBLIC else str(viewer)


def _viewer_of(reader: str) -> Viewer:
    return PUBLIC if reader == SPECTATORS else int(reader) if reader.isdecimal() else reader


def _texts(rules: AnyRuleset) -> Texts:
    """Return the texts that decide whether a part of a record says anything: those of all languages agree."""
    return load_texts(rules.package, LANGUAGES[0])


_OUTLINE: msgspec.msgpack.Decoder[GameOutline] = msgspec.msgpack.Decoder(GameOutline)


@functools.cache
def form_of(rules: AnyRuleset) -> str:
    """Return the name of the form of a ruleset's outlines: it changes with their classes and with the headlines."""
    told = re.sub(" at 0x[0-9a-f]+", "", f"{FORMAT} {type_info(GameOutline)!r} {rules.meta.headlines!r}")
    return hashlib.sha256(told.encode()).hexdigest()[:16]
