"""Records: stored form of one accepted move or table command, divided by readers.

A record has a public part and packs, one per audience. The public part holds the hash of each pack (its seal); the hash
chain and public exports use the public part only. Empty members are left out:

`v` version, `kind`, `at` ms since 1970 UTC, `seat`, `by`, `officer` {player, office, reason}, `acts` [[seat, move
without hidden fields]] (none if one of them is anonymous), `draws`, `facts`, `seals` sorted, `openings` [{v, key,
pack}], `barrier`, `board` digest of the public view, `prev` hash of the previous public part, `body` members of the
kind, `talk` root over all mailboxes (at tables with talk, in every record).

A pack: `acts` [[number in the record, seat, move]], `draws`, `facts` [[public facts before it, fact]], `salt`, `pad`;
the pack of nobody (`table`) also holds `order` (audience keys of all facts), `digest` (of the state), `command`, and
`ruling` (act of a director, secret until the end).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from domain.compat import cached_property
from domain.errors import VerificationError
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY, may_read
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import DIRECTOR, Doc, Json, Viewer

T = TypeVar("T")

RecordText = tuple[bytes, bytes]
"""Public part and packs as canonical JSON."""

KINDS = (
    "opened",
    "joined",
    "left",
    "revealed",
    "rested",
    "started",
    "moved",
    "lapsed",
    "resolved",
    "rewound",
    "ruled",
    "deputed",
    "closed",
)
"""Kinds of records; `game.<kind>@1` in the ledger."""

PAD = 256
"""Packs are padded to a multiple of this many bytes of canonical JSON."""


class RecordHead(msgspec.Struct, frozen=True, gc=False):
    """Members of a public part needed by a fold besides the facts."""

    v: int
    kind: str
    at: int = 0
    seat: int | None = None
    board: str | None = None
    draws: list[Json] = []
    openings: list[Json] = []
    body: Doc = {}
    prev: str | None = None


class PackHead(msgspec.Struct, frozen=True, gc=False):
    """Members of a pack needed by a fold besides the facts."""

    draws: list[Json] = []


_HEAD = msgspec.json.Decoder(RecordHead)

TOO_DEEP = "it is nested too deeply"


class Record:
    """One version of a game. `public` and `packs` are never changed.

    A decoded record parses them on first use: a fold needs only `head`, `pack_heads` and the facts, a fifth of the
    text.
    """

    text: RecordText | None = None
    """Source text of the public part and packs, if decoded."""

    def __init__(self, public: Doc, packs: dict[str, Doc]) -> None:
        self.__dict__.update(public=public, packs=packs)

    @classmethod
    def from_json(cls, public: bytes, packs: bytes) -> Record:
        """Return a record from canonical JSON; raise ValueError if the public part is invalid."""
        public.decode()  # a decoder does not validate the texts skipped by it
        record = cls.__new__(cls)
        try:
            record.__dict__.update(text=(public, packs), head=_HEAD.decode(public))
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
        return record

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (self.public, self.packs) == (other.public, other.packs)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        return f"Record(public={self.public!r}, packs={self.packs!r})"

    @cached_property
    def public(self) -> Doc:
        """Return the public part; raise VerificationError `unreadable` unless it is an object."""
        return self._parse_part(0)

    @cached_property
    def packs(self) -> dict[str, Doc]:
        """Return the packs by the keys of their audiences; raise as `public`."""
        return self._parse_part(1)

    def _parse_part(self, part: int) -> Doc:
        try:
            doc = msgspec.json.decode((self.text or (b"", b""))[part])
        except (ValueError, RecursionError) as error:
            raise VerificationError("unreadable", self.version, str(error)) from error
        if not isinstance(doc, dict):
            raise VerificationError("unreadable", self.version, "not a record")
        return doc

    @cached_property
    def hash(self) -> str:
        """Return the hash named as `prev` by the next record; raise VerificationError for an unhashable record."""
        try:
            return hashlib.sha256(self.text[0]).hexdigest() if self.text else digest(self.public)
        except TypeError as error:
            raise VerificationError("unreadable", self.version, str(error)) from error

    @cached_property
    def head(self) -> RecordHead:
        """Return the head; unchecked unless the record was decoded from a text."""
        p = self.public
        common = p.get("v", 0), p.get("kind", ""), p.get("at", 0), p.get("seat"), p.get("board")
        return RecordHead(*common, p.get("draws", []), p.get("openings", []), p.get("body") or {}, p.get("prev"))

    @property
    def pack_heads(self) -> Mapping[str, PackHead]:
        """Return the heads of its packs, unchecked like `head`."""
        return {key: PackHead(pack.get("draws", [])) for key, pack in self.packs.items()}

    @property
    def version(self) -> int:
        """The version, 1 for `opened`."""
        return self.head.v

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return self.head.kind

    @property
    def time(self) -> int:
        """Time, ms since 1970 UTC."""
        return self.head.at

    @property
    def body(self) -> Doc:
        """Members added by the kind."""
        return self.head.body

    @property
    def has_valid_seals(self) -> bool:
        """Return whether every pack matches its seal in the public part, and no pack is missing."""
        try:
            return bool(sorted(map(digest, self.packs.values())) == self.public.get("seals", []))
        except TypeError:  # nested too deeply to have ever been written
            return False

    def moves(self) -> list[tuple[int, Doc]]:
        """Return all moves of the record in order, complete: packs hold the parts hidden from the public."""
        moves = {i: (seat, move) for i, (seat, move) in enumerate(self.public.get("acts", ()))}
        moves |= {i: (seat, move) for p in self.packs.values() for i, seat, move in p.get("acts", ())}
        return [moves[i] for i in sorted(moves)]


def seal_pack(pack: Doc, seed: bytes, game: str, version: int, key: str) -> Doc:
    """Return the pack with its salt and padding.

    The salt is derived from the seed, so a record can be rebuilt bit for bit.
    """
    salt = hmac.digest(seed, f"salt|{game}|{version}|{key}".encode(), "sha256").hex()[:32]
    salted = {**pack, "salt": salt, "pad": ""}
    return {**salted, "pad": "." * (-len(canonical(salted)) % PAD)}


def visible_packs(record: Record, viewer: Viewer) -> dict[str, Doc]:
    """Return the packs readable by a viewer, by key."""
    return {k: p for k, p in record.packs.items() if may_read(k, viewer)}


def facts_for(record: Record, viewer: Viewer) -> list[Doc]:
    """Return the facts readable by a viewer, in order; the director gets all, exactly as added."""
    public: list[Doc] = record.public.get("facts", [])
    if not record.packs:
        return public
    if viewer == DIRECTOR and (order := record.packs.get(TABLE_KEY, {}).get("order")):
        return restore_order(order, public, {key: pack.get("facts", ()) for key, pack in record.packs.items()})
    secret: list[Json] = [item for k, p in record.packs.items() if may_read(k, viewer) for item in p.get("facts", ())]
    return merge_facts(public, secret) if secret else public


def merge_facts(public: Sequence[T], secret: Sequence[tuple[int, T]]) -> list[T]:
    """Return the public facts with those of packs at their places: each with the number of public facts before it."""
    merged = [*((i + 1, 0, f) for i, f in enumerate(public)), *((n, 1, f) for n, f in secret)]
    return [f for *_, f in sorted(merged, key=lambda item: item[:2])]


def restore_order(order: Sequence[str], public: Sequence[T], packs: Mapping[str, Sequence[tuple[int, T]]]) -> list[T]:
    """Return all facts in the order of their addition, given the audience keys, the public facts and those of packs.

    Raise ValueError if the order does not fit the facts.
    """
    following = {key: iter([fact for _, fact in facts]).__next__ for key, facts in packs.items() if facts}
    following[ALL_KEY] = iter(public).__next__
    try:
        return [following[key]() for key in order]
    except (KeyError, StopIteration):
        raise ValueError("the order of the facts names others") from None
