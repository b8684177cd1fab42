"""The form of records in a log that somebody hands us: whoever proves a log relies on nothing else that it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from domain.errors import VerificationError
from domain.kernel.game.deadlines import LONGEST, LONGEST_DELAY
from domain.kernel.records.record import Record
from domain.kernel.schema.declarations import UNSET, Count, Maybe, Meta, prepare
from domain.types import MAX_INT, MAX_WORD, Doc, Json

Seats = Annotated[int, Meta(ge=0, le=MAX_INT)]
Number = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
Draw = list[Json]
"""[ordinal, label, span, value, index or order]."""


class _Form(Struct, forbid_unknown_fields=True):
    """Of a JSON object."""


class Opening(_Form):
    """A pack that is published."""

    v: Count
    key: str
    pack: Doc


class Public(_Form):
    """The public part of every record."""

    v: Count
    kind: str
    at: Count
    prev: str
    seat: Maybe[Seats] = UNSET
    by: Maybe[Literal["seat", "clock", "engine", "director"]] = UNSET
    acts: list[tuple[Seats, Doc]] = []
    draws: list[Draw] = []
    facts: list[Doc] = []
    seals: list[str] = []
    openings: list[Opening] = []
    barrier: bool = False
    board: str = ""
    body: Doc = {}


class Pack(_Form):
    """What one audience may read."""

    salt: str
    pad: str
    acts: list[tuple[Count, Seats, Doc]] = []
    draws: list[Draw] = []
    facts: list[tuple[Count, Doc]] = []
    order: list[str] = []
    digest: str = ""
    command: str = ""
    ruling: Doc = {}


class Opened(_Form):
    """What `opened` adds."""

    game: str
    ruleset: str
    seats: Count
    options: Doc
    seed_hash: str
    pace: Json = None
    undo: Literal["free", "consent", "director", "none"] = "consent"
    listing: Annotated[str, Meta(max_length=MAX_WORD)] = ""
    hold: Annotated[int, Meta(ge=0, le=LONGEST)] = 0
    several: bool = True
    delay: Annotated[int, Meta(ge=0, le=LONGEST_DELAY)] = 0


class Joined(_Form):
    """What `joined` adds."""

    player: Annotated[str, Meta(min_length=1)]
    nonce_hash: str = ""


class Left(_Form):
    """What `left` adds."""

    hold: Annotated[int, Meta(ge=0, le=LONGEST)] = 0


class Revealed(_Form):
    """What `revealed` adds."""

    nonce: str


class Rested(_Form):
    """What `rested` adds."""

    days: Count


class Rewound(_Form):
    """What `rewound` adds."""

    to: Count
    entropy: Literal["fresh", "keep"]
    consent: list[Seats] = []
    reason: str = ""


class Extended(_Form, tag_field="act", tag="extend"):
    """What `ruled` adds for a deadline that was moved."""

    decision: str
    ms: Number


class Held(_Form, tag_field="act", tag="hold"):
    """What `ruled` adds for a seat that is held."""

    hold: Annotated[int, Meta(ge=0, le=LONGEST)]


class Reissued(_Form, tag_field="act", tag="reissue"):
    """What `ruled` adds for a token that was replaced."""


class Closed(_Form):
    """What `closed` adds."""

    reason: str
    seed: str


class Plain(_Form):
    """Kinds that add nothing."""


class Vacated(_Form, tag_field="act", tag="vacate"):
    """What `ruled` adds for a seat that is held no longer."""


class Shifted(_Form, tag_field="act", tag="shift"):
    """What `ruled` adds when the clock of the service was set forward."""

    ms: Annotated[int, Meta(ge=1, le=MAX_INT)]
    reason: Literal["clock_set_forward"]


RULED: tuple[type[_Form], ...] = (Extended, Held, Reissued, Shifted, Vacated)
"""What `ruled` can add, by `act`."""

BODIES: Mapping[str, type[_Form]] = {
    "opened": Opened,
    "joined": Joined,
    "left": Left,
    "revealed": Revealed,
    "rested": Rested,
    "rewound": Rewound,
    "closed": Closed,
}
"""Kind -> what it adds; besides `ruled`, which may add one of RULED."""
_BY: Mapping[str, frozenset[str]] = {
    "moved": frozenset({"seat"}),
    "lapsed": frozenset({"clock"}),
    "resolved": frozenset({"engine"}),
    "rested": frozenset({"seat"}),
    "rewound": frozenset({"seat", "director"}),
    "ruled": frozenset({"director", "clock"}),
    "closed": frozenset({"", "director", "clock"}),
}
"""Who can be the author of a kind; of the others nobody is."""

_FORMS: tuple[type[_Form], ...] = (Public, Pack, Opening, *RULED, Plain, *BODIES.values())
_RULED = Extended | Held | Reissued | Shifted | Vacated
for _form in _FORMS:
    prepare(_form)


def check(record: Record, version: int) -> None:
    """Raises VerificationError `malformed` for a record that no act can have made, whatever it says."""
    try:
        public = msgspec.convert(record.public, Public)
        body = _RULED if public.kind == "ruled" and public.body else BODIES.get(public.kind, Plain)
        msgspec.convert(public.body, body)
        for pack in record.packs.values():
            msgspec.convert(pack, Pack)
    except msgspec.ValidationError as error:
        raise VerificationError("malformed", version, str(error)) from None
    if (public.by or "") not in _BY.get(public.kind, {""}):
        raise VerificationError("malformed", version, "by")
