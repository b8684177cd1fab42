"""Promises that are followed: what public facts say about treaties that two seats have agreed on.

Nothing is stored. The deeds of a game are read from its public facts when somebody asks, outside of any move, and only
those that no rewind has undone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cachetools import LRUCache

from domain.fork_safety import reset_after_fork
from domain.kernel.game.game import AnyGame
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.rules.treaties import END, UNDECIDED, DatedDeed, Deed, Promise, Verdict, date_deeds
from domain.ledger import Ledger
from domain.types import Doc, Json

GAMES_KEPT = 256
"""Games with deeds in the memory of a process."""

PAGE = 500
"""Records in one read."""

Spans = tuple[tuple[int, int], ...]


@dataclass
class _Followed:
    """The deeds of a game up to a version."""

    spans: Spans = ()
    version: int = 0
    deeds: list[DatedDeed] = field(default_factory=list)
    memory: dict[str, Json] = field(default_factory=dict)

    @property
    def turn(self) -> int:
        return self.deeds[-1].turn if self.deeds else 0


class PromiseFollower:
    """Follows promises by the public facts of their games. Safe with threads and forks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.after_fork()
        reset_after_fork(self)

    def after_fork(self) -> None:
        """Forget what was read, and the lock, since its thread may be missing after a fork."""
        self._lock = threading.Lock()
        self._games: LRUCache[str, _Followed] = LRUCache(GAMES_KEPT)

    def judge(self, rules: AnyRuleset, game: AnyGame, kind: str, promise: Promise, since: int) -> Verdict:
        """Return whether a promise made at a version is kept by now. May raise StoreUnavailable."""
        found = rules.treaties.find(kind)
        if found is None or found.judge is None:
            return UNDECIDED
        deeds = self._read_deeds(rules, game)
        return found.judge(promise, (done for done in deeds if done.version > since))

    def _read_deeds(self, rules: AnyRuleset, game: AnyGame) -> Sequence[DatedDeed]:
        spans = tuple(game.lasting.rewinds.undone_spans)
        with self._lock:
            known = self._games.get(game.id)
            if known is None or known.spans != spans or known.version > game.version:
                known = _Followed(spans)
            while known.version < game.version:
                records = self._ledger.read(game.id, known.version, min(known.version + PAGE, game.version))
                if not records:
                    break
                known.deeds += _list_deeds(rules, records, known)
                known.version = records[-1].version
            self._games[game.id] = known
            return [done for done in known.deeds if done.version <= game.version]


def _list_deeds(rules: AnyRuleset, records: Sequence[Record], known: _Followed) -> list[DatedDeed]:
    """Return the deeds of records not undone by a rewind."""
    live = [r for r in records if not any(to < r.version < at for to, at in known.spans)]
    facts = ((record.version, fact) for record in live for fact in _public_facts(record))
    deeds = list(date_deeds(rules.treaties, facts, known.memory, known.turn))
    turn = deeds[-1].turn if deeds else known.turn
    return deeds + [DatedDeed(r.version, turn, Deed(END)) for r in live if r.kind == "closed"]


def _public_facts(record: Record) -> Iterator[Doc]:
    yield from record.public.get("facts", ())
