"""Forms of the records of a tournament: each kind has a closed list of members with their types, and of authors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.stage import QUEUE_PLANS
from domain.tournaments.records import FAMILY, KINDS
from domain.types import Doc

DIRECTOR, ENTRANT, SERVICE = "director", "entrant", "service"
_INTS, _PLACE = list[int], {"stage": int, "round": int, "pod": int}
_RULING = {**_PLACE, "officer": str}


class RecordForm(NamedTuple):
    """Authors of a kind, and the types of the members of its body; `?` marks optional ones."""

    by: tuple[str, ...]
    members: Mapping[str, object] = {}


class OpenedBid(msgspec.Struct, forbid_unknown_fields=True):
    """A bid or list of seats, opened."""

    entrant: int
    v: int
    bid: list[int]
    salt: str


class DrawnRound(msgspec.Struct, forbid_unknown_fields=True):
    """Pods and byes of a round."""

    pods: list[list[int]]
    byes: list[int]


FORMS: Mapping[str, RecordForm] = {
    "opened": RecordForm((DIRECTOR,), {"tournament": str, "director": str, "terms": dict[str, object], "secret": str}),
    "entered": RecordForm((DIRECTOR, ENTRANT), {"entrant": int, "player": str, "officer?": str, "rated?": _INTS}),
    "withdrew": RecordForm((ENTRANT,), {"entrant": int}),
    "checkin_opened": RecordForm((DIRECTOR, SERVICE)),
    "checked": RecordForm((DIRECTOR, ENTRANT), {"entrant": int, "nonce_hash?": str, "officer?": str}),
    "checkin_closed": RecordForm((DIRECTOR, SERVICE), {"entrants": _INTS}),
    "revealed": RecordForm((ENTRANT,), {"entrant": int, "nonce": str}),
    "drawn": RecordForm(
        (DIRECTOR, SERVICE), {"stage": int, "round": int, "draw": int, "secret": str, "key": str, "silent?": _INTS}
    ),
    "paired": RecordForm(
        (DIRECTOR, SERVICE),
        {
            "stage": int,
            "plan": str,
            "round?": int,
            "of?": int,
            "pod?": int,
            "repeats?": int,
            "rounds?": list[DrawnRound],
            "entrants?": _INTS,
            "seeds?": _INTS,
            "costs?": dict[str, int],
            "relations?": list[tuple[int, int, str]],
            "ratings?": list[tuple[int, int]],
        },
    ),
    "tabled": RecordForm((SERVICE,), {**_PLACE, "game": str, "entrants": _INTS}),
    "annulled": RecordForm((DIRECTOR, SERVICE), {**_PLACE, "how": str, "attempt?": int, "officer?": str}),
    "reported": RecordForm(
        (SERVICE,),
        {
            **_PLACE,
            "game": str,
            "version": int,
            "head": str,
            "places": _INTS,
            "points": _INTS,
            "decisions?": list[tuple[int, int]],
            "lapses?": _INTS,
            "left?": _INTS,
        },
    ),
    "ranked": RecordForm(
        (DIRECTOR, SERVICE),
        {"stage": int, "round": int, "standings": list[dict[str, object]], "digest": str, "replaces?": str},
    ),
    "closed": RecordForm((DIRECTOR,), {"stage?": int, "round?": int}),
    "cancelled": RecordForm((DIRECTOR,)),
    "readmitted": RecordForm((ENTRANT,), {"entrant": int, "joins?": bool}),
    "advanced": RecordForm((DIRECTOR, SERVICE), {"stage": int, "entrants": _INTS}),
    "placed": RecordForm((DIRECTOR,), {**_RULING, "attempt": int, "places": _INTS}),
    "penalised": RecordForm((DIRECTOR,), {"stage": int, "entrant": int, "ticks": int, "officer": str}),
    "excluded": RecordForm((DIRECTOR,), {"stage": int, "entrant": int, "results": str, "officer": str}),
    "restored": RecordForm((DIRECTOR,), {"stage": int, "ruling": int, "officer": str}),
    "deputed": RecordForm((DIRECTOR,), {"player": str, "office": str}),
    "recused": RecordForm((DIRECTOR,), {"player": str}),
    "substituted": RecordForm((ENTRANT,), {"entrant": int, "player": str}),
    "volunteered": RecordForm((ENTRANT,), {"stage": int, "round": int, "entrant": int}),
    "appealed": RecordForm((ENTRANT,), {"ruling": int, "entrant": int}),
    "answered": RecordForm((DIRECTOR,), {"ruling": int, "outcome": str, "officer": str, "entrant?": int}),
    "bidding_opened": RecordForm((DIRECTOR, SERVICE), {"stage": int, "round": int}),
    "bid": RecordForm((ENTRANT,), {"stage": int, "round": int, "entrant": int}),
    "seated": RecordForm((SERVICE,), {**_PLACE, "entrants": _INTS, "opened": list[OpenedBid], "handicaps?": _INTS}),
    "queued": RecordForm((ENTRANT,), {"stage": int, "entrant": int}),
    "left": RecordForm((ENTRANT,), {"stage": int, "entrant": int}),
    "scheduled": RecordForm(
        (DIRECTOR, SERVICE),
        {
            "rule": str,
            "zone": str,
            "start": str,
            "number": int,
            "at": int,
            "next_at?": int,
            "follows?": str,
        },
    ),
    "unscheduled": RecordForm((DIRECTOR, SERVICE)),
    "succeeded": RecordForm((SERVICE,), {"tournament": str}),
    "queue_closed": RecordForm((DIRECTOR,), {"stage": int}),
    "queue_opened": RecordForm((DIRECTOR,), {"stage": int}),
    "unsubstituted": RecordForm((ENTRANT,), {"entrant": int, "player": str}),
    "timetabled": RecordForm(
        (DIRECTOR,),
        {
            "officer": str,
            "stage": int,
            "starts": _INTS,
            "opens": int,
            "closes": int,
            "each": bool,
            "warning": int,
            "extension": int,
        },
    ),
    "warned": RecordForm((SERVICE,), {"stage": int, "round": int, "extended?": bool}),
    "paused": RecordForm((DIRECTOR,), {"officer": str}),
    "resumed": RecordForm((DIRECTOR, SERVICE), {"officer?": str}),
    "amended": RecordForm((DIRECTOR,), {"officer": str, "terms": dict[str, object]}),
    "elsewhere": RecordForm((DIRECTOR, SERVICE), {**_PLACE, "entrants": _INTS, "officer?": str}),
    "scored": RecordForm(
        (DIRECTOR, ENTRANT), {**_PLACE, "points": _INTS, "places": _INTS, "entrant?": int, "officer?": str}
    ),
    "confirmed": RecordForm((ENTRANT,), {**_PLACE, "scores": int, "entrant": int}),
    "divided": RecordForm((DIRECTOR,), {"tournament": str, "name": str}),
    "settled": RecordForm((DIRECTOR, SERVICE), {**_PLACE, "scores": int, "officer?": str}),
}
"""Kind without its family -> form."""

_BY_SERVICE: Mapping[str, Callable[[Doc], bool]] = {
    "annulled": lambda body: "attempt" not in body and "officer" not in body,
    "scheduled": lambda body: "follows" in body,
}
"""Kind with two authors -> whether the service is the one."""

_BY_OFFICER = ("checked", "entered", "elsewhere", "scored", "settled", "resumed")
"""Kinds of entrants or of the service: with an officer's id, an officer is the author."""

SEALED = "bid"
"""The kind with a seal."""


def _make_struct(kind: str, form: RecordForm) -> type[msgspec.Struct]:
    required = [(name, kind_) for name, kind_ in form.members.items() if not name.endswith("?")]
    optional = [
        (name[:-1], kind_ | msgspec.UnsetType, msgspec.UNSET)
        for name, kind_ in form.members.items()
        if name.endswith("?")
    ]
    return msgspec.defstruct(f"{kind}_body", [*required, *optional], forbid_unknown_fields=True)


_STRUCTS = {kind: _make_struct(kind, form) for kind, form in FORMS.items()}


def check_form(record: Record) -> None:
    """Raise VerificationError `unreadable` unless a record has the members, types and author of its kind."""
    kind, public = record.kind.removeprefix(FAMILY), record.public
    if record.kind not in KINDS:
        raise VerificationError("unreadable", record.version, f"no such kind: {record.kind}")
    members = {"v": int, "kind": str, "at": int, "by": str, "prev": str}
    members |= {"body": dict} if _has_body(kind, public) else {}
    members |= {"seals": list} if kind == SEALED else {}
    members |= {"reason": str} if "reason" in public and public["by"] != SERVICE else {}
    if public.keys() != members.keys() or any(type(public[name]) is not type_ for name, type_ in members.items()):
        raise VerificationError("unreadable", record.version, "other members than those of its kind")
    if public["by"] not in FORMS[kind].by:
        raise VerificationError("unreadable", record.version, f"its author is never {public['by']}")
    if kind == SEALED and not (len(public["seals"]) == 1 and isinstance(public["seals"][0], str)):
        raise VerificationError("unreadable", record.version, "one seal is expected")
    _check_body(kind, record.body, record.version)
    _check_author(kind, record)


def _check_author(kind: str, record: Record) -> None:
    by = record.public["by"]
    is_false = kind in _BY_SERVICE and _BY_SERVICE[kind](record.body) != (by == SERVICE)
    is_false |= kind == "paired" and record.body["plan"] in QUEUE_PLANS and by != SERVICE
    if is_false or (kind in _BY_OFFICER and ("officer" in record.body) != (by == DIRECTOR)):
        raise VerificationError("unreadable", record.version, f"its author is not {by}")


def _has_body(kind: str, public: Doc) -> bool:
    """Return whether a record of this kind must have a body; one without members has none."""
    members = FORMS[kind].members
    return any(not name.endswith("?") for name in members) or bool(members and public.get("body"))


def _check_body(kind: str, body: Doc, version: int) -> None:
    try:
        msgspec.convert(body, _STRUCTS[kind], strict=True)
    except msgspec.ValidationError as error:
        raise VerificationError("unreadable", version, f"body: {error}") from error
