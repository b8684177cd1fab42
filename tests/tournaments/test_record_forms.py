"""Each kind of record has a closed list of members, types and authors."""

from __future__ import annotations

import random
from typing import Any, get_origin

import pytest

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.record_forms import FORMS, SEALED, check_form
from domain.tournaments.aggregate.seat_commands import FileBid, OpenBids
from domain.tournaments.aggregate.tournament_proof import verify_tournament
from domain.tournaments.records import FAMILY, KINDS
from tests.tournaments.aggregates import EventInMemory


def example(kind: str) -> Record:
    """A record of a kind, with every member."""
    values: dict[object, Any] = {int: 1, str: "x", bool: True, list: [], dict: {}}
    body = {name.rstrip("?"): values[get_origin(type_) or type_] for name, type_ in FORMS[kind].members.items()}
    public = {"v": 3, "kind": FAMILY + kind, "at": 5, "by": FORMS[kind].by[0], "prev": "y"}
    if kind == "scheduled":
        public["by"] = "service"
    return Record(public | ({"body": body} if body else {}) | ({"seals": ["z"]} if kind == SEALED else {}), {})


def faults(record: Record) -> list[dict[str, Any]]:
    """The record with one fault each: in its authors, its members, or the type of one."""
    public, body = record.public, record.public.get("body", {})
    changed = [
        {**public, "by": "nobody"},
        {**public, "x": 1},
        {**public, "v": 3.0},
        {**public, "body": {**body, "x": 1}},
    ]
    changed += [
        {**public, "by": by} for by in ("director", "entrant", "service") if by not in FORMS[kind_of(record)].by
    ]
    changed += [{**public, "seals": ["z", "z"]}, {**public, "reason": 1}, {**public, "by": "service", "reason": "x"}]
    for name, value in body.items():
        wrong: Any = float(value) if isinstance(value, int) else [1.0] if isinstance(value, list) else None
        changed.append({**public, "body": {**body, name: wrong}})
    return changed


def kind_of(record: Record) -> str:
    return record.kind.removeprefix(FAMILY)


@pytest.mark.parametrize("kind", [kind.removeprefix(FAMILY) for kind in KINDS])
def test_a_kind_takes_its_own_members_types_and_authors_alone(kind: str) -> None:
    record = example(kind)
    check_form(record)
    for public in faults(record):
        with pytest.raises(VerificationError):
            check_form(Record(public, {}))


def test_every_record_of_an_event_with_a_fault_is_named() -> None:
    event = EventInMemory(stages=[{"format": "league", "rounds": 1, "seating": "bid"}])
    event.draw_first(3)
    event.act(OpenBids(1, 1), FileBid(("p0",), 1, 1, (50, 30, 20)), FileBid(("p1",), 1, 1, (10, 80, 10)))
    event.act(FileBid(("p2",), 1, 1, (10, 10, 80)))
    league = EventInMemory(stages=[{"format": "league", "rounds": 1}])
    league.draw_first(3)
    league.play_round(1, 1, random.Random(1))
    for each in (event, league):
        check_all_faults(each)


def check_all_faults(event: EventInMemory) -> None:
    sound = [Record(record.public, {}) for record in event.records]
    verify_tournament(sound)
    for number, record in enumerate(sound):
        for public in (*faults(record)[:4], {**record.public, "seals": ["0" * 64, "0" * 64]}):
            with pytest.raises(VerificationError) as caught:
                verify_tournament([*sound[:number], Record(public, {})])
            assert caught.value.version in (number + 1, 3)


def test_a_bid_of_fractions_was_never_filed() -> None:
    """The seal fits, the whole numbers do not."""
    seated = {"stage": 1, "round": 1, "pod": 1, "entrants": [0, 1, 2], "handicaps": [0, 0, 0]}
    opened = [{"entrant": 0, "v": 9, "bid": [50.0, 30, 20], "salt": "x"}]
    public = {"v": 9, "kind": "tournament.seated", "at": 9, "by": "service", "prev": ""}
    with pytest.raises(VerificationError, match="int"):
        check_form(Record({**public, "body": {**seated, "opened": opened}}, {}))
