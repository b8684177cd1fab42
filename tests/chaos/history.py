"""What clients asked of nodes and were told, and what must hold of it all."""

from __future__ import annotations

import itertools
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.kernel.records.record import Record

WRITE, READ, LOOK, READY = "write", "read", "look", "ready"


@dataclass(frozen=True)
class Answer:
    """One request to one node, and its end."""

    kind: str
    node: str
    begun: float
    """s, by the monotonic clock."""
    ended: float
    said: str
    """`201`, `503 views_behind`, or the kind of silence: `timed out`."""
    key: str = ""
    """Of a write; the reader's token of a read."""
    game: str = ""
    version: int = 0
    """Of the record that a write stored; of the board that a read got."""
    known: int = 0
    """A version that the read has waited for."""
    digest: str = ""
    """Hash of what a read got."""

    @property
    def good(self) -> bool:
        return self.said[:2] == "20"


@dataclass
class History:
    """Of all clients."""

    answers: list[Answer] = field(default_factory=list)
    checkpoints: set[tuple[str, int, str]] = field(default_factory=set)
    """Node, size and root."""
    _one: threading.Lock = field(default_factory=threading.Lock)

    def note(self, answer: Answer) -> None:
        with self._one:
            self.answers.append(answer)

    def since(self, begun: float, ended: float, kinds: Sequence[str], node: str) -> list[Answer]:
        """All that ended in that time."""
        with self._one:
            every = list(self.answers)
        return [a for a in every if begun <= a.ended < ended and a.kind in kinds and a.node == node]


def faults(history: History, logs: Mapping[str, Sequence[Record]]) -> list[str]:
    """What does not hold; `logs` has the records of each game, read after all clients have ended."""
    return [
        *_fives(history.answers),
        *_lost_or_doubled(history.answers, logs),
        *_disordered(history.answers),
        *_stale(history.answers),
        *_forked(history),
    ]


def _fives(answers: Iterable[Answer]) -> list[str]:
    return [f"{a.kind} at {a.node}: {a.said}" for a in answers if a.said.startswith("5") and a.said[:3] != "503"]


def _lost_or_doubled(answers: Iterable[Answer], logs: Mapping[str, Sequence[Record]]) -> list[str]:
    """Each move that was acknowledged is one record, and there are no others: clients repeat what got no answer."""
    found, told = list[str](), defaultdict[tuple[str, str], set[int]](set)
    open_keys = set[tuple[str, str]]()
    for answer in answers:
        if answer.kind == WRITE:
            place = answer.game, answer.key
            if answer.good:
                told[place].add(answer.version)
            if answer.said[0] in "24":
                open_keys.discard(place)
            elif place not in told:
                open_keys.add(place)
    found += [f"{place}: no end" for place in open_keys]
    found += [f"{place}: told {sorted(versions)}" for place, versions in told.items() if len(versions) > 1]
    for game, records in logs.items():
        stored = {r.version for r in records if r.kind == "moved"}
        acknowledged = Counter(v for (of, _), versions in told.items() if of == game for v in versions)
        found += [f"{game}: {v} acknowledged for two keys" for v, times in acknowledged.items() if times > 1]
        found += [f"{game}: {v} is lost" for v in acknowledged.keys() - stored]
        found += [f"{game}: {v} was never acknowledged" for v in stored - acknowledged.keys()]
    return found


def _disordered(answers: Iterable[Answer]) -> list[str]:
    """A write that begins after another one of the game was acknowledged is stored after it."""
    found, begun = list[str](), dict[tuple[str, str], float]()
    acknowledged: dict[str, dict[str, Answer]] = defaultdict(dict)
    for answer in sorted((a for a in answers if a.kind == WRITE), key=lambda a: a.ended):
        place = answer.game, answer.key
        begun[place] = min(begun.get(place, answer.begun), answer.begun)
        if answer.good:
            acknowledged[answer.game].setdefault(answer.key, answer)
    for game, writes in acknowledged.items():
        for before, after in itertools.permutations(writes.values(), 2):
            if before.ended < begun[game, after.key] and before.version >= after.version:
                found.append(f"{game}: {after.version} came after {before.version} was acknowledged")
    return found


def _stale(answers: Iterable[Answer]) -> list[str]:
    """A board is not older than the write that its read waited for; a version has one board for a viewer."""
    found, boards = list[str](), dict[tuple[str, str, int], str]()
    for a in answers:
        if a.kind == READ and a.good:
            if a.version < a.known:
                found.append(f"{a.game} at {a.node}: board {a.version}, though {a.known} was waited for")
            if boards.setdefault((a.game, a.key, a.version), a.digest) != a.digest:
                found.append(f"{a.game} at {a.node}: two boards of version {a.version}")
    return found


def _forked(history: History) -> list[str]:
    """Whichever node was asked: each size of the log has one root."""
    roots = dict[int, str]()
    return [
        f"checkpoint {size} at {node} is of another log"
        for node, size, root in history.checkpoints
        if roots.setdefault(size, root) != root
    ]
