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

import functools
import hmac
from dataclasses import dataclass

from domain.ids import DIRECTOR, Doc, Json, Viewer
from domain.kernel.audience import ALL_KEY, TABLE_KEY, may_read
from domain.kernel.digest import canonical, digest

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


@dataclass(frozen=True)
class Record:
    """One version of a game. `public` and `packs` are never changed."""

    public: Doc
    packs: dict[str, Doc]

    @functools.cached_property
    def hash(self) -> str:
        """What the next record names as `prev`."""
        return digest(self.public)

    @property
    def version(self) -> int:
        """1 for `opened`."""
        return int(self.public["v"])

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return str(self.public["kind"])

    @property
    def body(self) -> Doc:
        """What the kind adds to the common members."""
        return self.public.get("body") or {}

    @property
    def sealed(self) -> bool:
        """Whether its packs are those whose digests stand in the public part, all of them."""
        return bool(sorted(map(digest, self.packs.values())) == self.public.get("seals", []))

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
        streams = {ALL_KEY: iter(public)} | {k: (f for _, f in p.get("facts", ())) for k, p in record.packs.items()}
        return [next(streams[key]) for key in order]
    own: list[Json] = [item for k, p in record.packs.items() if may_read(k, viewer) for item in p.get("facts", ())]
    if not own:
        return public
    merged = [*((i + 1, 0, f) for i, f in enumerate(public)), *((n, 1, f) for n, f in own)]
    return [f for *_, f in sorted(merged, key=lambda item: item[:2])]
