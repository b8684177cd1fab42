"""Provable chance: every random result is a labelled draw from one seeded function.

A draw is HMAC-SHA256(key, game | epoch | channel | ordinal | label | try) with rejection sampling. The key joins the
game's secret seed and the nonces revealed by seats; the channel is the audience, so hidden draws leave no countable gap
for others; the label names the purpose, so after a rewind the same move has the same dice.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.errors import NeedsChance, ScenarioError
from domain.kernel.records.audience import ALL, TABLE, Audience, key_of
from domain.kernel.schema.canonical_json import canonical
from domain.types import Json

_SPAN = 1 << 64


def draw_key(seed: bytes, nonces: Mapping[int, str]) -> bytes:
    """Return the key of all draws from the seed and the revealed nonces by seat (hex)."""
    return hmac.digest(seed, canonical([[seat, nonces[seat]] for seat in sorted(nonces)]), "sha256")


def commitment(secret: bytes) -> str:
    """Return the commitment to a seed or nonce, published before its reveal: its SHA-256, hex."""
    return hashlib.sha256(secret).hexdigest()


class DrawSource(Protocol):
    """Source of random values. `items` are the candidates in the order of the rules."""

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        """Return 0..len(items)-1."""

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        """Return a permutation of the indices of `items`: index of the first item, of the second ..."""


@dataclass(frozen=True)
class Seeded:
    """Source of real games."""

    key: bytes
    game: str
    epoch: int = 0

    def below(self, n: int, channel: str, ordinal: int, label: str) -> int:
        """Return a uniform integer 0..n-1."""
        limit = _SPAN // n * n
        attempt = 0
        while True:
            text = f"{self.game}|{self.epoch}|{channel}|{ordinal}|{label}|{attempt}"
            value = int.from_bytes(hmac.digest(self.key, text.encode(), "sha256")[:8])
            if value < limit:
                return value % n
            attempt += 1

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        return self.below(len(items), channel, ordinal, label)

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        out = list(range(len(items)))
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1, channel, ordinal, f"{label}#{i}")
            out[i], out[j] = out[j], out[i]
        return out


class NoChance:
    """Source of dry runs."""

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        raise NeedsChance(label)

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        raise NeedsChance(label)


@dataclass(frozen=True)
class Extreme:
    """Fake source of always the first (`last=False`: all minimum) or the last candidate (all maximum)."""

    last: bool = False

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        return len(items) - 1 if self.last else 0

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        indices = list(range(len(items)))
        return indices[::-1] if self.last else indices


class Scripted:
    """Fake source of given values, in the rules' own terms: a die's face, an id, a list for a shuffle.

    Each value is `value` or `{"label", "value"}`. An impossible or missing value, or one with another label, raises
    ScenarioError; `remaining` are the unused values.
    """

    def __init__(self, values: Sequence[Json]) -> None:
        self.remaining = list(values)

    def _next(self, label: str) -> Json:
        if not self.remaining:
            raise ScenarioError(f"no value is given for the draw {label!r}")
        value = self.remaining.pop(0)
        if isinstance(value, dict):
            if value["label"] != label:
                raise ScenarioError(f"the draw is {label!r}, the value given is for {value['label']!r}")
            return value["value"]
        return value

    def index(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> int:
        value = self._next(label)
        if value not in items or isinstance(value, bool) != isinstance(items[0], bool):
            raise ScenarioError(f"{value!r} is impossible for the draw {label!r}")
        return items.index(value)

    def order(self, channel: str, ordinal: int, label: str, items: Sequence[Json]) -> list[int]:
        value = self._next(label)
        free = dict(enumerate(items))
        out: list[int] = []
        for want in value if isinstance(value, list) else ():
            at = next((i for i, item in free.items() if item == want), None)
            if at is None:
                raise ScenarioError(f"{value!r} is impossible for the shuffle {label!r}")
            out.append(at)
            del free[at]
        if free:
            raise ScenarioError(f"{value!r} is impossible for the shuffle {label!r}")
        return out


class Draws:
    """Draws taken lazily inside `decide`, kept in `taken`.

    Draw documents are JSON, as in records: `[ordinal, label, [lo, hi], value]`, `[ordinal, label, n, value, index]` for
    a pick among n, `[ordinal, label, n, values, permutation]` for a shuffle.
    """

    def __init__(self, source: DrawSource, counts: Mapping[str, int] | None = None) -> None:
        self.source = source
        self.counts = dict(counts or {})
        self.taken: list[tuple[str, list[Json]]] = []

    def _ordinal(self, channel: str) -> int:
        ordinal = self.counts.get(channel, 0)
        self.counts[channel] = ordinal + 1
        return ordinal

    def roll(self, label: str, lo: int, hi: int, to: Audience = ALL) -> int:
        """Return a uniform integer lo..hi; without a draw if lo = hi."""
        if lo == hi:
            return lo
        channel = key_of(to)
        faces = range(lo, hi + 1)
        value = faces[self.source.index(channel, self.counts.get(channel, 0), label, faces)]
        self.taken.append((channel, [self._ordinal(channel), label, [lo, hi], value]))
        return value

    def pick(self, label: str, items: Sequence[Json], to: Audience = ALL, always: bool = False) -> Json:
        """Return one of the items, uniformly; a single item needs no draw, unless the rules draw `always`."""
        if len(items) == 1 and not always:
            return items[0]
        channel = key_of(to)
        at = self.source.index(channel, self.counts.get(channel, 0), label, items)
        self.taken.append((channel, [self._ordinal(channel), label, len(items), items[at], at]))
        return items[at]

    def shuffle(self, label: str, items: Sequence[Json], to: Audience = TABLE) -> list[Json]:
        """Return the items in a uniform order; without a draw if there is no choice."""
        if len(items) < 2:
            return list(items)
        channel = key_of(to)
        order = self.source.order(channel, self.counts.get(channel, 0), label, items)
        values = [items[i] for i in order]
        self.taken.append((channel, [self._ordinal(channel), label, len(items), values, order]))
        return values


def dice_of(draws: Sequence[Sequence[Json]]) -> list[int]:
    """Return the values of the rolls among draw documents; picks and shuffles are no dice."""
    return [draw[3] for draw in draws if isinstance(draw[2], list)]


def matches_source(source: DrawSource, channel: str, draw: Sequence[Json]) -> bool:
    """Return whether a stored draw equals the source's: faces and indices, independent of the rules."""
    ordinal, label, span, value, *at = draw
    if isinstance(span, list):
        faces = range(span[0], span[1] + 1)
        return bool(faces[source.index(channel, ordinal, label, faces)] == value)
    if isinstance(at[0], list):
        if span != len(at[0]):  # before an oversized draw is computed; a game may have taken values out
            return False
        return bool(source.order(channel, ordinal, label, range(span)) == at[0])
    return bool(source.index(channel, ordinal, label, range(span)) == at[0])
