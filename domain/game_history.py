"""The history of games: any version of any game, from the log alone, in the memory of a process.

A rewind is folded from the nearest earlier version that is kept. Kept versions are full states, compressed, and never
leave the process. The further back, the fewer are kept.
"""

from __future__ import annotations

import functools
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import msgspec
from cachetools import LRUCache

from domain.errors import UnknownGame, VerificationError
from domain.fork_safety import reset_after_fork
from domain.kernel.game.game import AnyGame, Game
from domain.kernel.game.game_fold import apply_record, apply_rewind, initial_game, iterate_games
from domain.kernel.game.past import kernel_state
from domain.kernel.records.record import Record
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.ledger import Ledger
from domain.ruleset_registry import RulesetRegistry

SPACING = 16
"""Versions between two that are kept: those of this module near the newest, keyframes, and stored outlines.

With twice as many between keyframes, a board of any version takes 3.2 to 3.6 times one of now, and not 2.8 to 3.1.
"""

LATEST = 8
"""Kept versions that are never thinned out. They include those after rewinds that went far back."""

KEPT_BYTES = 8_000_000
"""Most bytes of the kept versions of a process. Without them an undo in a game of 3,000 records takes over 100 times
as long (`python -m tests.perf.history`).
"""

RECENT_VERSIONS = 1024
"""Versions that are kept as they are, each where a reader of the log will go on. Without them a projector takes 1.2
to 1.6 times as long for a record (`python -m tests.perf.history`).
"""

PAGE = 500
"""Records in memory at a time."""


class KeptVersion(NamedTuple):
    """A version of a game as it is kept."""

    version: int
    hash: str
    """Hash of the version's record. It names all earlier records."""
    doc: bytes


class GameHistory:
    """Versions of games, each as a fold from the first record gives it. Safe with threads and forks."""

    def __init__(self, ledger: Ledger, registry: RulesetRegistry, limit: int = KEPT_BYTES) -> None:
        """Keep at most `limit` bytes, those of the games used last."""
        self.ledger, self._registry, self._limit = ledger, registry, limit
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget all, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._kept: LRUCache[str, tuple[KeptVersion, ...]] = LRUCache(self._limit, _size_of)
        self._recent: LRUCache[tuple[str, str, int], AnyGame] = LRUCache(RECENT_VERSIONS)
        self._rulesets: LRUCache[str, str] = LRUCache(RECENT_VERSIONS)

    @property
    def size(self) -> int:
        """Return the bytes of all kept versions."""
        with self._lock:
            return int(self._kept.currsize)

    def rules_of(self, game: str) -> AnyRuleset:
        """Return the rules of a game; raise UnknownGame. They never change."""
        with self._lock:
            ruleset = self._rulesets.get(game)
        if ruleset is None:
            for first in self.ledger.read(game, 0, 1):
                ruleset = first.body["ruleset"]
            if ruleset is None:
                raise UnknownGame(game)
            with self._lock:
                self._rulesets[game] = ruleset
        return self._registry.get(ruleset)

    def read_records(self, game: str, after: int, upto: int) -> Iterator[Record]:
        """Yield the records between two versions, a page in memory at a time."""
        for begin in range(after, upto, PAGE):
            yield from self.ledger.read(game, begin, min(begin + PAGE, upto))

    def load(self, game: str, version: int | None = None) -> AnyGame:
        """Return the game after a version, by default the newest.

        Raise VerificationError, and UnknownKind, for records that are missing or cannot be read.
        """
        if version is not None:
            with self._lock:
                recent = self._recent.get((self.ledger.log_id, game, version))
            if recent is not None:
                return recent
        start, records = self._find_start(game, version)
        if start is None and (not records or records[0].kind != "opened"):
            raise VerificationError("no_beginning", 1)
        found = start or initial_game(self._registry.get(records[0].body["ruleset"]), records[0])
        passed: dict[int, AnyGame] = {}
        for after in iterate_games(self._registry.get(found.ruleset), found, records[1:]):
            found = after
            if _stands(found, next(reversed(passed), start.version if start else 0)):
                passed[found.version] = found
                passed = {v: passed[v] for v in _thin([*passed], records[-1].version)}
        if version is not None and found.version != version:
            raise VerificationError("unreadable", found.version + 1, "it is gone")
        if passed:
            self._keep(game, passed)
        return found

    def advance(self, rules: AnyRuleset, game: AnyGame, record: Record) -> AnyGame:
        """Return the game after one more record of the log; a rewind reads earlier ones. Raise as `load`."""
        if record.kind != "rewound":
            return apply_record(rules, game, record)
        return apply_rewind(rules, game, self.load(game.id, record.body["to"]), record)

    def note(self, game: AnyGame) -> None:
        """Keep a newest version of the log if it will spare a rewind much."""
        with self._lock:
            trail = self._kept.get(game.id)
        if _stands(game, trail[-1].version if trail else 0):
            self._keep(game.id, {game.version: game})

    def remember(self, game: AnyGame) -> None:
        """Keep the version at which a reader of the log will go on, and note it."""
        with self._lock:
            self._recent[self.ledger.log_id, game.id, game.version] = game
        self.note(game)

    def forget(self, game: str) -> None:
        """Forget the remembered versions of a game whose records may change."""
        with self._lock:
            for key in [each for each in self._recent if each[1] == game]:
                self._recent.pop(key, None)

    # --- kept versions

    def _find_start(self, game: str, upto: int | None) -> tuple[AnyGame | None, list[Record]]:
        """Return a kept version and the records from its own on, or None and all records.

        None of these records goes back to before that version.
        """
        with self._lock:
            trail = self._kept.get(game, ())
        records: list[Record] = []
        needed = border = upto
        for kept in reversed(trail):
            if needed is not None and kept.version > needed:
                continue
            records = self.ledger.read(game, kept.version - 1, border) + records
            if not records or records[0].hash != kept.hash:  # the log has another game
                with self._lock:
                    self._kept.pop(game, None)
                return None, self.ledger.read(game, upto=upto)
            border = kept.version - 1
            needed = min((r.body["to"] for r in records[1:] if r.kind == "rewound"), default=kept.version)
            if needed >= kept.version:
                return self._decode(kept, records[0]), records
        return None, self.ledger.read(game, upto=border) + records

    def _keep(self, game: str, games: Mapping[int, AnyGame]) -> None:
        """Keep versions of a game, and fewer of its others."""
        with self._lock:
            trail = self._kept.get(game, ())
        known = {each.version: each for each in trail}
        if any(known[v].hash != games[v].hash for v in known.keys() & games.keys()):  # of another log
            known = {}
        versions = sorted(known.keys() | games.keys())
        kept = tuple(known.get(v) or _encode(games[v]) for v in _thin(versions, max(versions, default=0)))
        with self._lock, suppress(ValueError):  # a game larger than all that may be kept
            self._kept[game] = kept

    def _decode(self, kept: KeptVersion, record: Record) -> AnyGame:
        game, state = _PARTS.decode(zlib.decompress(kept.doc))
        whole = game.with_state(_state_decoder(self._registry.get(game.ruleset)).decode(state))
        return Game(replace(game.tip, record=record), whole.reversible, game.lasting)


def _size_of(trail: Sequence[KeptVersion]) -> int:
    return sum(len(each.doc) for each in trail)


def _stands(game: AnyGame, before: int) -> bool:
    """Return whether a version is worth keeping after the one before: far from it, or gone back to before it."""
    goes_far = (
        game.tip.record is not None
        and game.tip.record.kind == "rewound"
        and game.tip.record.body["to"] < before < game.version
    )
    return goes_far or game.version >= before + SPACING


def _thin(versions: Sequence[int], newest: int) -> list[int]:
    """Return the latest of these versions, and of those before so many that a gap is at most half as far back."""
    thinned: list[int] = []
    for version, after in pairwise(versions[: 1 - LATEST]):
        if after - (thinned[-1] if thinned else 0) > max(SPACING, (newest - after) // 2):
            thinned.append(version)
    return [*thinned, *versions[-LATEST:]]


# --- documents -------------------------------------------------------------------------------------------------

_PARTS: msgspec.msgpack.Decoder[tuple[Game[State], msgspec.Raw]] = msgspec.msgpack.Decoder(
    tuple[Game[State], msgspec.Raw]
)


def _encode(game: AnyGame) -> KeptVersion:
    reversible = replace(game.with_state(kernel_state(game.state)).reversible, digests={})
    without_board = Game(replace(game.tip, record=None), reversible, game.lasting)
    doc = zlib.compress(msgspec.msgpack.encode((without_board, game.state)), 1)
    return KeptVersion(game.version, game.hash, doc)


@functools.cache
def _state_decoder(rules: AnyRuleset) -> msgspec.msgpack.Decoder[State]:
    return msgspec.msgpack.Decoder(rules.state)
