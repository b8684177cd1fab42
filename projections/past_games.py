"""Past versions of games: folded from the nearest keyframe, and the ones after it kept for neighbours.

Nothing of a viewer's past is cut from a fuller one: its state is folded from its own facts, from its own keyframe or
from the beginning.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from cachetools import LRUCache

from domain.errors import StoreDamaged, StoreUnavailable, UnknownGame, VerificationError
from domain.fork_safety import reset_after_fork
from domain.kernel.game.past import Past, first_past, next_past, reader_of, whole_past
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry
from domain.types import Viewer
from projections import keyframes
from projections.keyframes import Keyframes
from projections.loaded_game import LoadedGame
from projections.view_store import ViewStore

CACHE_VERSIONS = 512
"""Versions cached per process. Neighbours share most of their parts."""

CACHE_GAMES = 4096
"""Games whose ruleset is cached."""

PAGE = 500
"""Records in memory at a time."""

PENDING = 32
"""Keyframes made before they are written."""


_Block = tuple[str, str, Viewer, int]
"""Id of the log, game, viewer, and number of the block of `SPACING` versions."""


class _TooFarError(Exception):
    """The versions that rewinds go back to are too far from keyframes."""


@dataclass
class _Budget:
    """Records that may be folded to reach the targets of rewinds. Without keyframes it soon ends."""

    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _TooFarError


class PastGames:
    """Past versions of games as their viewers know them. Safe with threads and forks."""

    def __init__(self, ledger: Ledger, registry: RulesetRegistry, views: ViewStore) -> None:
        self._ledger = ledger
        self._registry = registry
        self.keyframes = Keyframes(views)
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget cached versions, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._cache: LRUCache[_Block, dict[int, Past]] = LRUCache(CACHE_VERSIONS, len)
        self._rulesets: LRUCache[str, str] = LRUCache(CACHE_GAMES)

    def load(self, game: str, version: int, viewer: Viewer) -> LoadedGame:
        """Return an existing version of a game with the state known to a viewer; once closed, with the full one."""
        past = self._load(game, version, viewer)
        rules = self._registry.get(past.game.ruleset)
        reader = reader_of(past.game, viewer)
        return LoadedGame(rules, (past if reader in past.known else self._load(game, version, reader)).game_of(reader))

    def iterate(self, game: str, after: int, upto: int, viewer: Viewer) -> Iterator[tuple[Record, LoadedGame]]:
        """Yield the records after a version up to another, each with its version as `load` gives it."""
        start = self._load(game, after, viewer) if after else None
        for record, past in self._walk(game, start, upto, viewer):
            rules, reader = self._registry.get(past.game.ruleset), reader_of(past.game, viewer)
            found = past if reader in past.known else self._load(game, past.version, reader)
            yield record, LoadedGame(rules, found.game_of(reader))

    def contains(self, game: str, version: int, hashed: str) -> bool:
        """Return whether the game's log has a readable record of this version and hash."""
        with suppress(StoreDamaged, VerificationError):
            return any(record.hash == hashed for record in self._ledger.read(game, version - 1, version))
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

    def _load(self, game: str, version: int, viewer: Viewer, budget: _Budget | None = None) -> Past:
        cached = self._find_cached(game, version, viewer)
        if cached is not None and cached.version == version - 1 and not cached.game.delay:
            cached = self._read_ahead(game, cached, viewer)
        if cached is not None and cached.version == version:
            return cached
        if (start := cached or self._find_keyframe(game, version, viewer)) is not None:
            with suppress(VerificationError):  # the log may have other records than when it was stored
                return self._fold_from(game, start, version, viewer, budget)
        return self._fold_from(game, None, version, viewer, budget)

    def _read_ahead(self, game: str, start: Past, viewer: Viewer) -> Past:
        """Return the version after a cached one if it can be read, else that one.

        Who steps to the next version seldom stops there, so the others of its block come with the same read. Not at a
        table with a delay for spectators, where the time of the answer would count the records that they may not see.
        """
        version = start.version + 1
        with suppress(Exception):  # of later records: the wanted version is made of its own alone
            deque(self._walk(game, start, (version // keyframes.SPACING + 1) * keyframes.SPACING - 1, viewer), maxlen=0)
        return self._find_cached(game, version, viewer) or start

    def _fold_from(self, game: str, start: Past | None, version: int, viewer: Viewer, budget: _Budget | None) -> Past:
        walk = self._walk(game, start, version, viewer, budget or _Budget(version + PAGE), budget)
        try:
            (found,) = deque((past for _, past in walk), maxlen=1) or (start,)
        except _TooFarError:
            if budget:
                raise
            return whole_past(*self._read_whole(game, version), {viewer})
        if found is None or found.version != version:
            raise VerificationError("unreadable", version, "it is gone")
        return found

    def _find_cached(self, game: str, upto: int, viewer: Viewer) -> Past | None:
        """Return the nearest cached version of the same block, or None."""
        with self._lock:
            pasts = self._cache.get((self._ledger.log_id, game, viewer, upto // keyframes.SPACING), {})
        return pasts.get(upto) or pasts.get(max((version for version in pasts if version < upto), default=0))

    def _find_keyframe(self, game: str, upto: int, viewer: Viewer) -> Past | None:
        """Return the nearest stored version, or None. The log may have other records there."""
        found = self.keyframes.find(self.rules_of(game), game, upto, viewer) if upto >= keyframes.SPACING else None
        is_last = found is not None and found.version == upto  # no later record names its hash
        return found if found is None or not is_last or self.contains(game, upto, found.hash) else None

    def _walk(
        self,
        game: str,
        start: Past | None,
        upto: int,
        viewer: Viewer,
        budget: _Budget | None = None,
        spent_by: _Budget | None = None,
    ) -> Iterator[tuple[Record, Past]]:
        """Yield the records after `start` with their pasts; cache the last ones and store the keyframes among them.

        Raise VerificationError if the log does not have `start`. Targets of rewinds are folded from `budget`, by
        default each from its own; `spent_by` pays for the records of this walk.
        """
        rules, past, pending, log = self.rules_of(game), start, list[Past](), self._ledger.log_id
        kept = {} if past is None else {past.version: past}
        for record in self._iterate_records(game, start.version if start else 0, upto):
            if spent_by:
                spent_by.spend()
            if past is None:
                past = first_past(rules, record, {viewer})
            else:
                target = None
                if record.kind == "rewound" and (target := kept.get(record.body["to"])) is None:
                    self._save(rules, game, pending)
                    target = self._load(game, record.body["to"], viewer, budget)
                past = next_past(rules, past, record, target)
            if record.version % keyframes.SPACING == 0:
                kept = {}
            kept[past.version] = past
            if keyframes.is_keyframe(record):
                pending.append(past)
            if len(pending) == PENDING:
                self._save(rules, game, pending)
            yield record, past
        self._save(rules, game, pending)
        self._remember(log, game, viewer, kept)

    def rules_of(self, game: str) -> AnyRuleset:
        """Return the rules of a game, which never change."""
        with self._lock:
            ruleset = self._rulesets.get(game)
        if ruleset is None:
            for first in self._ledger.read(game, 0, 1):
                ruleset = first.body["ruleset"]
            if ruleset is None:
                raise UnknownGame(game)
            with self._lock:
                self._rulesets[game] = ruleset
        return self._registry.get(ruleset)

    def _read_whole(self, game: str, version: int) -> tuple[AnyRuleset, list[Record]]:
        return self.rules_of(game), self._ledger.read(game, upto=version)

    def _iterate_records(self, game: str, after: int, upto: int) -> Iterator[Record]:
        for begin in range(after, upto, PAGE):
            yield from self._ledger.read(game, begin, min(begin + PAGE, upto))

    def _save(self, rules: AnyRuleset, game: str, pending: list[Past]) -> None:
        """Store keyframes and forget them. Without a store that takes them, the next reader makes them."""
        with suppress(StoreUnavailable):
            self.keyframes.save(rules, game, pending)
        pending.clear()

    def _remember(self, log: str, game: str, viewer: Viewer, pasts: dict[int, Past]) -> None:
        """Cache versions of one block. A log that was replaced meanwhile has another id."""
        block = (log, game, viewer, max(pasts, default=0) // keyframes.SPACING)
        with self._lock:
            self._cache[block] = self._cache.get(block, {}) | pasts
