"""The history of games with what each viewer knows: one service for rewinds, past boards, timelines, digests and views.

Nothing of a viewer's past is cut from a fuller one: its state is folded from its own facts, from its own keyframe or
from the beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from cachetools import LRUCache

from domain import game_history
from domain.errors import StoreDamaged, StoreUnavailable, VerificationError
from domain.game_history import GameHistory
from domain.kernel.game.past import Past, first_past, next_past, reader_of
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger, LogEntry
from domain.ruleset_registry import RulesetRegistry
from domain.types import Viewer
from projections.keyframes import Keyframes, is_keyframe
from projections.loaded_game import LoadedGame, load_game
from projections.view_store import ViewStore

CACHE_VERSIONS = 512
"""Versions of viewers cached per process. Neighbours share most of their parts. Without them, boards near one
version take over 25 times as long to load (`python -m tests.perf.history`).
"""

PENDING = 32
"""Keyframes made before they are written."""


class ViewerHistory(GameHistory):
    """Versions of games: with all facts, or as their viewers know them. Safe with threads and forks."""

    def __init__(self, ledger: Ledger, registry: RulesetRegistry, views: ViewStore) -> None:
        self.views = views
        self.keyframes = Keyframes(views)
        super().__init__(ledger, registry)

    def after_fork(self) -> None:
        """Forget all, as the base does."""
        super().after_fork()
        self._pasts: LRUCache[tuple[str, str, Viewer, int], Past] = LRUCache(CACHE_VERSIONS)

    # --- with all facts

    def load_whole(self, game: str, version: int) -> LoadedGame:
        """Return a version of a game with all facts; raise as `load`."""
        found = self.load(game, version)
        return LoadedGame(self._registry.get(found.ruleset), found)

    def load_before(self, entry: LogEntry, known: LoadedGame | None = None) -> LoadedGame | None:
        """Return the game before an entry of the log, `known` if it is that one; None before the first record."""
        if entry.version == 1:
            return None
        if known is not None and known.game.version == entry.version - 1:
            return known
        return self.load_whole(entry.game, entry.version - 1)

    def next_game(self, before: LoadedGame | None, record: Record) -> LoadedGame:
        """Return the game after one more record, or after its first one. A rewind reads the ledger."""
        if before is None:
            return load_game(self._registry, [record])
        return replace(before, game=self.advance(before.rules, before.game, record))

    # --- as a viewer knows it

    def load_for(self, game: str, version: int, viewer: Viewer) -> LoadedGame:
        """Return an existing version of a game with the state known to a viewer; once closed, with the full one."""
        return self._show(self._load_past(game, version, viewer), viewer)

    def iterate_for(self, game: str, after: int, upto: int, viewer: Viewer) -> Iterator[tuple[Record, LoadedGame]]:
        """Yield the records after a version up to another, each with its version as `load_for` gives it."""
        start = self._load_past(game, after, viewer) if after else None
        for record, past in self._walk(game, start, upto, viewer):
            yield record, self._show(past, viewer)

    def contains(self, game: str, version: int, hashed: str) -> bool:
        """Return whether the game's log has a readable record of this version and hash."""
        with suppress(StoreDamaged, VerificationError):
            return any(record.hash == hashed for record in self.ledger.read(game, version - 1, version))
        return False

    def check(self, game: str, records: Sequence[Record]) -> bool:
        """Return whether the game's keyframes are what a fold of all these records gives; drop them if not."""
        stored = self.keyframes.list_viewers(game)
        if not stored:
            return True
        rules, viewers = self._registry.get(records[0].body["ruleset"]), set[Viewer]().union(*stored.values())
        past, targets = None, {record.body["to"] for record in records if record.kind == "rewound"}
        kept: dict[int, Past] = {}
        for record in records:
            target = kept[record.body["to"]] if record.kind == "rewound" else None
            past = next_past(rules, past, record, target) if past else first_past(rules, record, viewers)
            if past.version in targets:
                kept[past.version] = past
            if not all(self._is_stored(rules, game, past, viewer) for viewer in stored.get(past.version, ())):
                self.keyframes.drop(game)
                return False
        return True

    def _is_stored(self, rules: AnyRuleset, game: str, past: Past, viewer: Viewer) -> bool:
        """Return whether a viewer's keyframe at this version is this past; one that nobody can read is nobody's."""
        found = self.keyframes.find(rules, game, past.version, viewer)
        if found is None or found.version != past.version:
            return True
        return (found.hash, found.game, found.known[viewer]) == (past.hash, past.stored_game, past.known[viewer])

    def _show(self, past: Past, viewer: Viewer) -> LoadedGame:
        reader = reader_of(past.game, viewer)
        found = past if reader in past.known else self._load_past(past.game.id, past.version, reader)
        return LoadedGame(self._registry.get(past.game.ruleset), found.game_of(reader))

    def _load_past(self, game: str, version: int, viewer: Viewer) -> Past:
        cached = self._find_cached(game, version, viewer)
        if cached is not None and cached.version == version - 1 and not cached.game.delay:
            cached = self._read_ahead(game, cached, viewer)
        if cached is not None and cached.version == version:
            return cached
        if (start := cached or self._find_keyframe(game, version, viewer)) is not None:
            with suppress(VerificationError):  # the log may have other records than when it was stored
                return self._fold_from(game, start, version, viewer)
        return self._fold_from(game, None, version, viewer)

    def _read_ahead(self, game: str, start: Past, viewer: Viewer) -> Past:
        """Return the version after a cached one if it can be read, else that one.

        Who steps to the next version seldom stops there, so the others up to the next keyframe come with the same
        read. Without this, boards in turn take 1.5 times as long (`python -m tests.perf.history`). Not at a table with
        a delay for spectators, where the time of the answer would count the records that they may not see.
        """
        version = start.version + 1
        with suppress(Exception):  # of later records: the wanted version is made of its own alone
            last = _first_near(version) + game_history.SPACING - 1
            deque(self._walk(game, start, last, viewer), maxlen=0)
        return self._find_cached(game, version, viewer) or start

    def _fold_from(self, game: str, start: Past | None, version: int, viewer: Viewer) -> Past:
        walk = self._walk(game, start, version, viewer)
        (found,) = deque((past for _, past in walk), maxlen=1) or (start,)
        if found is None or found.version != version:
            raise VerificationError("unreadable", version, "it is gone")
        return found

    def _find_cached(self, game: str, upto: int, viewer: Viewer) -> Past | None:
        """Return the nearest cached version since the last grid version, or None."""
        log_id = self.ledger.log_id
        with self._lock:
            versions = range(upto, _first_near(upto) - 1, -1)
            found = (self._pasts.get((log_id, game, viewer, version)) for version in versions)
            return next((past for past in found if past is not None), None)

    def _find_keyframe(self, game: str, upto: int, viewer: Viewer) -> Past | None:
        """Return the nearest stored version, or None. The log may have other records there."""
        found = self.keyframes.find(self.rules_of(game), game, upto, viewer) if upto >= game_history.SPACING else None
        is_last = found is not None and found.version == upto  # no later record names its hash
        return found if found is None or not is_last or self.contains(game, upto, found.hash) else None

    def _walk(self, game: str, start: Past | None, upto: int, viewer: Viewer) -> Iterator[tuple[Record, Past]]:
        """Yield the records after `start` with their pasts; cache the last ones and store the keyframes among them.

        Raise VerificationError if the log does not have `start`.
        """
        rules, past, pending, log_id = self.rules_of(game), start, list[Past](), self.ledger.log_id
        kept = {} if past is None else {past.version: past}
        for record in self.read_records(game, start.version if start else 0, upto):
            if past is None:
                past = first_past(rules, record, {viewer})
            else:
                target = None
                if record.kind == "rewound" and (target := kept.get(record.body["to"])) is None:
                    self._save(rules, game, pending)
                    target = self._load_past(game, record.body["to"], viewer)
                past = next_past(rules, past, record, target)
            if _first_near(record.version) == record.version:
                kept = {}
            kept[past.version] = past
            if is_keyframe(record):
                pending.append(past)
            if len(pending) == PENDING:
                self._save(rules, game, pending)
            yield record, past
        self._save(rules, game, pending)
        with self._lock:  # a log that was replaced meanwhile has another id
            for each in kept.values():
                self._pasts[log_id, game, viewer, each.version] = each

    def _save(self, rules: AnyRuleset, game: str, pending: list[Past]) -> None:
        """Store keyframes and forget them. Without a store that takes them, the next reader makes them."""
        with suppress(StoreUnavailable):
            self.keyframes.save(rules, game, pending)
        pending.clear()


def _first_near(version: int) -> int:
    """Return the last grid version up to this one."""
    return version // game_history.SPACING * game_history.SPACING
