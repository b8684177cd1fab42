"""Schemas of records in an untrusted log: a proof of a log relies on no other claim about their form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from domain.errors import VerificationError
from domain.kernel.game.deadlines import MAX_DELAY_SECONDS, MAX_LAST_TURN, MAX_MISSES, MAX_SECONDS
from domain.kernel.game.officers import Office
from domain.kernel.records.record import Record
from domain.kernel.schema.declarations import UNSET, Count, Maybe, Meta, prepare
from domain.types import MAX_INT, MAX_WORD, Doc, Json

Seats = Annotated[int, Meta(ge=0, le=MAX_INT)]
Number = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
Draw = list[Json]
"""[ordinal, label, span, value, index or order]."""


class _Schema(Struct, forbid_unknown_fields=True):
    """Schema of a JSON object."""


class PackOpening(_Schema):
    """A published pack."""

    v: Count
    key: str
    pack: Doc


class RecordOfficer(_Schema):
    """The officer behind a record: a person's opaque id, the role, and the salted hash of the reason."""

    player: Annotated[str, Meta(min_length=1)]
    office: Office
    reason: str = ""


class PublicPart(_Schema):
    """The public part of every record."""

    v: Count
    kind: str
    at: Count
    prev: str
    seat: Maybe[Seats] = UNSET
    by: Maybe[Literal["seat", "clock", "engine", "director"]] = UNSET
    officer: Maybe[RecordOfficer] = UNSET
    acts: list[tuple[Seats, Doc]] = []
    draws: list[Draw] = []
    facts: list[Doc] = []
    seals: list[str] = []
    openings: list[PackOpening] = []
    barrier: bool = False
    board: str = ""
    body: Doc = {}
    talk: Maybe[Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]] = UNSET


class Pack(_Schema):
    """The part readable by one audience."""

    salt: str
    pad: str
    acts: list[tuple[Count, Seats, Doc]] = []
    draws: list[Draw] = []
    facts: list[tuple[Count, Doc]] = []
    order: list[str] = []
    digest: str = ""
    command: str = ""
    ruling: Doc = {}


class MissLimits(_Schema):
    """Missed deadlines after which a seat counts as vacant."""

    row: Annotated[int, Meta(ge=1, le=MAX_MISSES)]
    all: Annotated[int, Meta(ge=1, le=MAX_MISSES)]


class AppealTimes(_Schema):
    """Seconds to appeal against an act of an officer, and to answer."""

    appeal: Annotated[int, Meta(ge=1, le=MAX_SECONDS)]
    answer: Annotated[int, Meta(ge=1, le=MAX_SECONDS)]


class AgreedBody(_Schema):
    """Consent of the players to a command: the seat that asked, seats that agreed, seats that did not answer."""

    seat: Seats
    consent: list[Seats]
    silent: list[Seats] = []


class Origin(_Schema):
    """The origin of a fork: game, version, hash of that version's record, and the viewer whose knowledge it has.

    `imported`: it was read from a file.
    """

    game: Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]
    version: Annotated[int, Meta(ge=1)]
    head: Annotated[str, Meta(min_length=64, max_length=64)]
    known_to: Seats | Literal["public"] | None = None
    imported: bool = False


class OpenedBody(_Schema):
    """Members of `opened`."""

    game: str
    ruleset: str
    seats: Count
    options: Doc
    seed_hash: str
    pace: Json = None
    undo: Literal["free", "consent", "director", "none"] = "consent"
    listing: Annotated[str, Meta(max_length=MAX_WORD)] = ""
    hold: Annotated[int, Meta(ge=0, le=MAX_SECONDS)] = 0
    several: bool = True
    delay: Annotated[int, Meta(ge=0, le=MAX_DELAY_SECONDS)] = 0
    misses: MissLimits | None = None
    time_limit: Annotated[int, Meta(ge=60, le=MAX_SECONDS)] | None = None
    last_turn: Annotated[int, Meta(ge=60, le=MAX_LAST_TURN)] | None = None
    officers: Literal["any", "neutral"] = "any"
    appeals: AppealTimes | None = None
    leavers: Literal["last"] | None = None
    talk: Literal["free", "public", "by_phase", "none"] = "none"
    papers: Literal["own", "pass_on"] = "own"
    after: Literal["kept", "published"] = "kept"
    names: Literal["shown", "hidden"] = "shown"
    suggestions: bool | None = None
    standing_orders: Literal["allowed", "refused", "shown"] | None = None
    origin: Origin | None = None


class JoinedBody(_Schema):
    """Members of `joined`."""

    player: Annotated[str, Meta(min_length=1)]
    nonce_hash: str = ""
    clock: Literal["full", "as_is"] = "as_is"
    misses: Literal["kept", "ended"] = "ended"
    agreed: AgreedBody | None = None


class LeftBody(_Schema):
    """Members of `left`."""

    hold: Annotated[int, Meta(ge=0, le=MAX_SECONDS)] = 0
    clocks: Literal["kept", "restarted"] = "restarted"
    conceded: bool = False
    agreed: AgreedBody | None = None


class RevealedBody(_Schema):
    """Members of `revealed`."""

    nonce: str


class RestedBody(_Schema):
    """Members of `rested`."""

    days: Count


class RewoundBody(_Schema):
    """Members of `rewound`."""

    to: Count
    entropy: Literal["fresh", "keep"]
    consent: list[Seats] = []
    reason: str = ""
    clocks: Literal["kept", "restarted"] = "restarted"


class ExtendedBody(_Schema, tag_field="act", tag="extend"):
    """Members of `ruled` for a moved deadline."""

    decision: str
    ms: Number
    agreed: AgreedBody | None = None


class PacedBody(_Schema, tag_field="act", tag="pace"):
    """Members of `ruled` for another time control."""

    pace: Json
    agreed: AgreedBody | None = None


class PausedBody(_Schema, tag_field="act", tag="pause"):
    """Members of `ruled` for a pause; without `until` nobody knows its end."""

    moves: bool
    until: Number | None = None
    agreed: AgreedBody | None = None


class ResumedBody(_Schema, tag_field="act", tag="resume"):
    """Members of `ruled` for the end of a pause."""

    agreed: AgreedBody | None = None


class EndedBody(_Schema, tag_field="act", tag="end"):
    """Members of `ruled` for an end by ruling; `penalties` are points by seat."""

    reason: Literal["adjourned", "adjudicated", "forfeited", "annulled"]
    places: list[Count] = []
    forfeits: list[Seats] = []
    penalties: dict[str, Number] = {}
    final_after: Annotated[int, Meta(ge=0, le=86_400)] = 86_400


class WithdrawnBody(_Schema, tag_field="act", tag="withdraw"):
    """Members of `ruled` for a withdrawn ruling: its version."""

    version: Count


class AppealedBody(_Schema, tag_field="act", tag="appeal"):
    """Members of `ruled` for an appeal of a seat: the version of the act, and the salted hash of the reason."""

    version: Count
    reason: str = ""


class AnsweredBody(_Schema, tag_field="act", tag="answer"):
    """Members of `ruled` for the answer to appeals: the version of the act; `owner` if about an own act."""

    version: Count
    outcome: Literal["upheld", "overturned"]
    answered_by: Literal["", "owner"] = ""


class HeldBody(_Schema, tag_field="act", tag="hold"):
    """Members of `ruled` for a held seat."""

    hold: Annotated[int, Meta(ge=0, le=MAX_SECONDS)]
    clocks: Literal["kept", "restarted"] = "restarted"
    agreed: AgreedBody | None = None


class ReissuedBody(_Schema, tag_field="act", tag="reissue"):
    """Members of `ruled` for a replaced token."""


class ClosedBody(_Schema):
    """Members of `closed`."""

    reason: str
    seed: str
    agreed: AgreedBody | None = None


class DeputedBody(_Schema):
    """Members of `deputed`: the role of a person as an officer from now on; the former owner of a handed-over table."""

    player: Annotated[str, Meta(min_length=1)]
    role: Literal["arbiter", "deputy", "director", "owner", "none"]
    former: str = msgspec.field(name="from", default="")
    cause: Literal["", "inherited"] = ""
    agreed: AgreedBody | None = None


class EmptyBody(_Schema):
    """Body of kinds without members."""


class VacatedBody(_Schema, tag_field="act", tag="vacate"):
    """Members of `ruled` for a seat no longer held."""


class ShiftedBody(_Schema, tag_field="act", tag="shift"):
    """Members of `ruled` after the service clock was set forward."""

    ms: Annotated[int, Meta(ge=1, le=MAX_INT)]
    reason: Literal["clock_set_forward"]


RULED: tuple[type[_Schema], ...] = (
    AnsweredBody,
    AppealedBody,
    EndedBody,
    ExtendedBody,
    HeldBody,
    PacedBody,
    PausedBody,
    ReissuedBody,
    ResumedBody,
    ShiftedBody,
    VacatedBody,
    WithdrawnBody,
)
"""Bodies of `ruled`, by `act`."""

BODIES: Mapping[str, type[_Schema]] = {
    "opened": OpenedBody,
    "joined": JoinedBody,
    "left": LeftBody,
    "revealed": RevealedBody,
    "rested": RestedBody,
    "rewound": RewoundBody,
    "deputed": DeputedBody,
    "closed": ClosedBody,
}
"""Kind -> its body; besides `ruled`, with one of RULED."""
_BY: Mapping[str, frozenset[str]] = {
    "moved": frozenset({"seat"}),
    "lapsed": frozenset({"clock"}),
    "resolved": frozenset({"engine"}),
    "rested": frozenset({"seat"}),
    "rewound": frozenset({"seat", "director"}),
    "ruled": frozenset({"director", "clock", "seat"}),
    "deputed": frozenset({"director", "seat"}),
    "closed": frozenset({"", "director", "clock", "seat"}),
    "joined": frozenset({"", "seat"}),
    "left": frozenset({"", "director", "seat"}),
}
"""Possible authors of a kind; other kinds have none."""

_OFFICIAL = frozenset({"joined", "left", "started", "ruled", "rewound", "deputed", "closed"})
"""Kinds with an officer behind them."""

_SCHEMAS: tuple[type[_Schema], ...] = (
    PublicPart,
    RecordOfficer,
    Pack,
    PackOpening,
    *RULED,
    EmptyBody,
    *BODIES.values(),
)
_RULED = (
    AnsweredBody
    | AppealedBody
    | EndedBody
    | ExtendedBody
    | HeldBody
    | PacedBody
    | PausedBody
    | ReissuedBody
    | ResumedBody
    | ShiftedBody
    | VacatedBody
    | WithdrawnBody
)
for _form in _SCHEMAS:
    prepare(_form)


def check_record(record: Record, version: int) -> None:
    """Raise VerificationError `malformed` for a record impossible for any command."""
    try:
        public = msgspec.convert(record.public, PublicPart)
        body = _RULED if public.kind == "ruled" and public.body else BODIES.get(public.kind, EmptyBody)
        msgspec.convert(public.body, body)
        for pack in record.packs.values():
            msgspec.convert(pack, Pack)
    except msgspec.ValidationError as error:
        raise VerificationError("malformed", version, str(error)) from None
    is_own = public.kind in ("moved", "rested", "rewound") or public.body.get("act") == "appeal"
    if public.by == "seat" and not is_own and "agreed" not in public.body:
        raise VerificationError("malformed", version, "by")
    if (public.body.get("act") == "appeal") and public.by != "seat":
        raise VerificationError("malformed", version, "by")
    if public.officer and public.kind not in _OFFICIAL:
        raise VerificationError("malformed", version, "officer")
    if (public.by or "") not in _BY.get(public.kind, {""}):
        raise VerificationError("malformed", version, "by")
