"""Records: what is stored of one accepted move or act of the table, and who may read which part.

A record has a public part and packs, one per audience. The public part holds the hash of each pack (its seal); the
hash chain and public exports use the public part only. Members that are empty are left out:

`v` version, `kind`, `at` ms since 1970 UTC, `seat`, `by`, `acts` [[seat, move without hidden fields]] (none at all
where one of them is anonymous), `draws`, `facts`, `seals` sorted, `openings` [{v, key, pack}], `barrier`, `board`
digest of the public sight, `prev` hash of the public part before, `body` what the kind adds.

A pack: `acts` [[number in the record, seat, move]], `draws`, `facts` [[public facts before it, fact]], `salt`, `pad`;
the pack of nobody (`table`) also holds `order` (audience keys of all facts), `digest` (of the state), `command`, and
`ruling` (what a director did that is shown only after the end).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
import orjson

from domain.compat import cached_property
from domain.errors import VerificationError
from domain.kernel.records.audience import ALL_KEY, TABLE_KEY, may_read
from domain.kernel.schema.canonical_json import canonical, digest
from domain.types import DIRECTOR, Doc, Json, Viewer

T = TypeVar("T")

Text = tuple[bytes, bytes]
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
    "closed",
)
"""What a record can be; `game.<kind>@1` in the ledger."""

PAD = 256
"""Packs are padded to a multiple of this many bytes of canonical JSON."""


class Head(msgspec.Struct, frozen=True, gc=False):
    """What of a public part a fold takes besides its facts."""

    v: int
    kind: str
    at: int = 0
    seat: int | None = None
    board: str | None = None
    draws: list[Json] = []
    openings: list[Json] = []
    body: Doc = {}


class PackHead(msgspec.Struct, frozen=True, gc=False):
    """What of a pack a fold takes besides its facts."""

    draws: list[Json] = []


_HEAD = msgspec.json.Decoder(Head)

TOO_DEEP = "it is nested too deeply"


class Record:
    """One version of a game. `public` and `packs` are never changed.

    Of one that was read they are made when they are asked for: folding a game takes `head`, `heads` and the facts,
    which are a fifth of it.
    """

    text: Text | None = None
    """Public part and packs from which it was read."""

    def __init__(self, public: Doc, packs: dict[str, Doc]) -> None:
        self.__dict__.update(public=public, packs=packs)

    @classmethod
    def of(cls, public: bytes, packs: bytes) -> Record:
        """A record that stands there as canonical JSON; raises ValueError where the public part is none."""
        public.decode()  # the texts that it passes over a decoder does not look at
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
        """Raises VerificationError `unreadable` for a text that is no object."""
        return self._read(0)

    @cached_property
    def packs(self) -> dict[str, Doc]:
        """By the keys of their audiences; raises as `public`."""
        return self._read(1)

    def _read(self, part: int) -> Doc:
        try:
            doc = orjson.loads((self.text or (b"", b""))[part])
        except ValueError as error:
            raise VerificationError("unreadable", self.version, str(error)) from error
        if not isinstance(doc, dict):
            raise VerificationError("unreadable", self.version, "not a record")
        return doc

    @cached_property
    def hash(self) -> str:
        """What the next record names as `prev`; raises VerificationError for what nobody can have written."""
        try:
            return hashlib.sha256(self.text[0]).hexdigest() if self.text else digest(self.public)
        except TypeError as error:
            raise VerificationError("unreadable", self.version, str(error)) from error

    @cached_property
    def head(self) -> Head:
        """Nothing of it is checked where the record was not read from a text."""
        p = self.public
        common = p.get("v", 0), p.get("kind", ""), p.get("at", 0), p.get("seat"), p.get("board")
        return Head(*common, p.get("draws", []), p.get("openings", []), p.get("body") or {})

    @property
    def heads(self) -> Mapping[str, PackHead]:
        """The same of its packs."""
        return {key: PackHead(pack.get("draws", [])) for key, pack in self.packs.items()}

    @property
    def version(self) -> int:
        """1 for `opened`."""
        return self.head.v

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return self.head.kind

    @property
    def at(self) -> int:
        """When, ms since 1970 UTC."""
        return self.head.at

    @property
    def body(self) -> Doc:
        """What the kind adds to the common members."""
        return self.head.body

    @property
    def sealed(self) -> bool:
        """Whether its packs are those whose digests stand in the public part, all of them."""
        try:
            return bool(sorted(map(digest, self.packs.values())) == self.public.get("seals", []))
        except TypeError:  # what is nested deeper than can be written, nobody has sealed
            return False

    def acts(self) -> list[tuple[int, Doc]]:
        """All moves of the record in their order, complete: packs hold what the public part hides."""
        found = {i: (seat, move) for i, (seat, move) in enumerate(self.public.get("acts", ()))}
        found |= {i: (seat, move) for p in self.packs.values() for i, seat, move in p.get("acts", ())}
        return [found[i] for i in sorted(found)]


def seal_pack(pack: Doc, seed: bytes, game: str, version: int, key: str) -> Doc:
    """The pack with its salt and padding. The salt comes from the seed, so a record can be rebuilt bit for bit."""
    salt = hmac.digest(seed, f"salt|{game}|{version}|{key}".encode(), "sha256").hex()[:32]
    salted = {**pack, "salt": salt, "pad": ""}
    return {**salted, "pad": "." * (-len(canonical(salted)) % PAD)}


def visible_packs(record: Record, viewer: Viewer) -> dict[str, Doc]:
    """The packs that a viewer may read, by key."""
    return {k: p for k, p in record.packs.items() if may_read(k, viewer)}


def facts_for(record: Record, viewer: Viewer) -> list[Doc]:
    """The facts that a viewer may read, in order; the director gets all, exactly as they were added."""
    public: list[Doc] = record.public.get("facts", [])
    if not record.packs:
        return public
    if viewer == DIRECTOR and (order := record.packs.get(TABLE_KEY, {}).get("order")):
        return in_order(order, public, {key: pack.get("facts", ()) for key, pack in record.packs.items()})
    own: list[Json] = [item for k, p in record.packs.items() if may_read(k, viewer) for item in p.get("facts", ())]
    if not own:
        return public
    merged = [*((i + 1, 0, f) for i, f in enumerate(public)), *((n, 1, f) for n, f in own)]
    return [f for *_, f in sorted(merged, key=lambda item: item[:2])]


def in_order(order: Sequence[str], public: Sequence[T], packs: Mapping[str, Sequence[tuple[int, T]]]) -> list[T]:
    """All facts as they were added, from the keys of their audiences, those of the public part and those of packs.

    Raises ValueError where the order names others.
    """
    following = {key: iter([fact for _, fact in facts]).__next__ for key, facts in packs.items() if facts}
    following[ALL_KEY] = iter(public).__next__
    try:
        return [following[key]() for key in order]
    except (KeyError, StopIteration):
        raise ValueError("the order of the facts names others") from None
