"""The proof of a tournament refuses each record whose command the service refuses."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.kernel.records.record import Record
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.tournaments.aggregate.basic_commands import (
    TOURNAMENT_CODES,
    CloseTournament,
    Enter,
    NameSubstitute,
    Withdraw,
)
from domain.tournaments.aggregate.queue_commands import JoinQueue, LeaveQueue
from domain.tournaments.aggregate.record_forms import FORMS, SEALED
from domain.tournaments.aggregate.result_commands import Rank
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record
from domain.tournaments.aggregate.tournament_proof import verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import DeputeOfficer
from domain.tournaments.records import FAMILY
from tests.tournaments.aggregates import EventInMemory
from tests.tournaments.test_record_forms import example


def played(**terms: Any) -> EventInMemory:
    event = EventInMemory(**terms)
    event.draw_first(9)
    event.act(DeputeOfficer("judge", "arbiter"), NameSubstitute(("p1",), "friend"))
    event.act(Withdraw(("p8",)), Enter("p8"))
    for round_ in range(1, len(event.t.play.rounds) + 1):
        event.play_round(1, round_, random.Random(round_))
    return event


def ladder() -> EventInMemory:
    event = EventInMemory(least=2, most=2, preferred=2, stages=[{"format": "ladder", "total": "best:8"}])
    event.act(*(Enter(f"p{n}") for n in range(4)), *(JoinQueue((f"p{n}",)) for n in (0, 1, 2)), LeaveQueue(("p2",)))
    event.make_tables(1, 1)
    event.report(1, (1, 1), [2, 1])
    return event


def forge(event: EventInMemory, kind: str, public: dict[str, Any]) -> Record:
    """A record after the last one, in the form of its kind."""
    now = event.t
    head = {"v": now.version + 1, "kind": FAMILY + kind, "at": now.time, "prev": now.hash}
    return Record({**public, **head}, {})


def refusal(event: EventInMemory, kind: str, public: dict[str, Any]) -> str:
    with pytest.raises(VerificationError) as caught:
        verify_tournament([*event.records, forge(event, kind, public)])
    assert caught.value.version == event.t.version + 1
    return str(caught.value)


def add(event: EventInMemory, kind: str, public: dict[str, Any]) -> None:
    record = forge(event, kind, public)
    event.t = apply_tournament_record(event.t, record)
    event.records.append(record)


@pytest.mark.parametrize("event", [played(), ladder()], ids=["league", "ladder"])
def test_no_record_follows_the_end(event: EventInMemory) -> None:
    event.act(*([Rank(1, 1)] if event.t.has_queue else []), CloseTournament())
    verify_tournament(event.records)
    for record in event.records[1:]:
        refusal(event, record.kind.removeprefix(FAMILY), dict(record.public))
    for kind in FORMS:
        public = dict(example(kind).public)
        refusal(event, kind, public | ({"seals": ["0" * 64]} if kind == SEALED else {}))


def test_a_table_is_made_and_a_place_ranked_once() -> None:
    """A second `tabled` would wipe the result; stages and rounds count from 1."""
    event = played()
    for record in event.records:
        kind = record.kind.removeprefix(FAMILY)
        if kind in ("tabled", "reported", "ranked"):
            assert "refused: already" in refusal(event, kind, dict(record.public))
        if kind == "ranked":
            for changes in ({"stage": 0}, {"stage": 2}, {"round": 0}, {"round": 9}):
                refusal(event, kind, {**record.public, "body": {**record.body, **changes}})


def test_what_the_service_refuses_while_event_runs_is_no_record() -> None:
    event = played()
    for kind, by, body in (
        ("entered", "entrant", {"entrant": 9, "player": "p3"}),
        ("entered", "entrant", {"entrant": 9, "player": "friend"}),
        ("withdrew", "entrant", {"entrant": 99}),
        ("checked", "entrant", {"entrant": 1}),
        ("checkin_opened", "director", {}),
        ("recused", "director", {"player": "p1"}),
        ("deputed", "director", {"player": "friend", "office": "king"}),
        ("unsubstituted", "entrant", {"entrant": 0, "player": "p3"}),
        ("annulled", "service", {"stage": 1, "round": 1, "pod": 1, "how": "average"}),
        ("advanced", "director", {"stage": 1, "entrants": [0, 1, 2]}),
        ("cancelled", "director", {}),
        ("queued", "entrant", {"stage": 1, "entrant": 1}),
    ):
        refusal(event, kind, {"by": by} | ({"body": body} if body else {}))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_refusal_has_a_text(lang: str) -> None:
    texts = load_texts("domain.tournaments", lang)
    assert [code for code in TOURNAMENT_CODES if not texts.get(f"refusal.{code}")] == []


def test_a_draw_is_paired_at_once_and_never_without() -> None:
    event = played()
    drawn, paired = (
        next(record for record in event.records if record.kind == FAMILY + kind) for kind in ("drawn", "paired")
    )
    refusal(event, "paired", dict(paired.public))
    cut = [record for record in event.records if record.version <= drawn.version]
    cut_off = EventInMemory()
    cut_off.records, cut_off.t = cut, verify_tournament(cut)
    assert "follows its draw" in refusal(cut_off, "withdrew", {"by": "entrant", "body": {"entrant": 1}})
