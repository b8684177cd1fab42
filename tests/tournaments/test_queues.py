"""Ladders and arenas: tables from a queue, one draw a day, and the tables that count for a place."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import RuleError, VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import CloseTournament, Draw, Enter, OpenCheckIn, Withdraw
from domain.tournaments.aggregate.queue_commands import (
    CloseQueue,
    JoinQueue,
    LeaveQueue,
    OpenQueue,
    ServeQueue,
    find_next_table,
)
from domain.tournaments.aggregate.result_commands import Rank
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import AnnulTable, DeputeOfficer, Exclude, RulingEffect
from domain.tournaments.explain import explain, explanation_sentences
from domain.tournaments.sizes import SeatRange
from domain.tournaments.standings import list_standings
from domain.tournaments.table_queue import find_next_time, find_pod, list_met
from domain.tournaments.ties import TieBreaks
from projections.tournament_views import build_tournament
from tests.tournaments.aggregates import EventInMemory

LADDER = {"format": "ladder", "total": "best:8", "patience": 60, "concurrent": 9}
ARENA = {"format": "arena", "total": "sum"}
DAY = 86_400_000
OTHERS = (
    (1, 2),
    (3, 4),
    (5, 6),
    (7, 8),
    (1, 3),
    (2, 4),
    (5, 7),
    (6, 8),
    (1, 4),
    (2, 3),
    (5, 8),
    (6, 7),
    (1, 5),
    (2, 6),
)
"""Opponents of entrant 0 at fourteen tables."""


def ladder(people: int, preferred: int = 4, **more: Any) -> EventInMemory:
    event = EventInMemory(least=3, most=4, preferred=preferred, stages=[{**LADDER, **more}])
    event.act(*(Enter(f"p{number}") for number in range(people)))
    return event


def wait(event: EventInMemory, *entrants: int) -> None:
    event.act(*(JoinQueue((f"p{entrant}",)) for entrant in entrants))


def pods(event: EventInMemory) -> list[tuple[int, ...]]:
    return list(event.t.stages[0].rounds[0].pods) if event.t.stages[0].rounds else []


def play_all(event: EventInMemory) -> None:
    """Tables for all pods; who has the least number wins."""
    event.make_tables(1, 1)
    for place, table in sorted(event.t.stages[0].tables.items()):
        if not table.result and not table.annulled:
            event.report(1, place, [9 - entrant for entrant in table.entrants])


def now(event: EventInMemory) -> Tournament:
    """The tournament as of the time of the next command."""
    return replace(event.t, time=event.now + 1)


def refused(event: EventInMemory, *commands: object) -> str:
    version = event.t.version
    with pytest.raises(RuleError) as error:
        event.act(*commands)  # type: ignore[arg-type] # commands of several kinds
    assert event.t.version == version
    return error.value.code


class TestTables:
    def test_full_table_is_made_at_once_small_one_after_patience(self) -> None:
        event = ladder(8)
        wait(event, 0, 1, 2)
        assert pods(event) == []
        assert find_next_table(event.t) == event.t.play.queue[0] + 60_000
        assert refused(event, ServeQueue()) == "not_queued"
        wait(event, 3)
        assert [set(pod) for pod in pods(event)] == [{0, 1, 2, 3}]
        wait(event, 4, 5, 6)
        event.now += 60_000
        event.act(ServeQueue())
        assert [set(pod) for pod in pods(event)] == [{0, 1, 2, 3}, {4, 5, 6}]
        assert not event.t.play.queue
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_key_of_a_table_follows_from_the_one_draw_of_its_day(self) -> None:
        event = ladder(9, preferred=3)
        wait(event, *range(6))
        event.now += DAY
        wait(event, 6, 7, 8)
        kinds = [record.kind.partition(".")[2] for record in event.records if record.kind[-5:] in ("drawn", "aired")]
        assert kinds == ["drawn", "paired", "paired", "drawn", "paired"]
        assert all(record.public["by"] == "service" for record in event.records if record.kind[-5:] == "drawn")
        keys = [record.body["key"] for record in event.records if record.kind.endswith("drawn")]
        times = [record.time for record in event.records if record.kind.endswith("paired")]
        for number, (pod, key, at) in enumerate(zip(pods(event), (keys[0], *keys), times, strict=True), 1):
            own = hmac.digest(bytes.fromhex(key), f"1.{number} {at}".encode(), "sha256")
            order = {
                e: hmac.digest(own, json.dumps(["order", e], separators=(",", ":")).encode(), "sha256") for e in pod
            }
            assert list(pod) == sorted(pod, key=order.__getitem__)
        assert hashlib.sha256(bytes.fromhex(event.t.secrets[2])).hexdigest() == event.t.secrets[1]

    def test_nobody_meets_the_same_set_within_three_tables(self) -> None:
        event = ladder(4, preferred=3)
        for _ in range(4):
            wait(event, *(e for e in range(4) if e not in event.t.play.queue))
            play_all(event)
        sets = [frozenset(pod) for pod in pods(event)]
        assert len(sets) >= 4
        for entrant in range(4):
            own = [pod for pod in sets if entrant in pod]
            assert all(len(set(own[i : i + 4])) == len(own[i : i + 4]) for i in range(len(own)))

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_table_takes_longest_waiting_and_its_time_is_foretold(self, data: st.DataObject) -> None:
        least = data.draw(st.integers(2, 3))
        seats = SeatRange(least, 4, data.draw(st.integers(least, 4)))
        names = data.draw(st.lists(st.integers(0, 9), unique=True, max_size=7))
        times = sorted(data.draw(st.lists(st.integers(0, 50), min_size=len(names), max_size=len(names))))
        queue = dict(zip(names, times, strict=True))
        past = data.draw(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=4, unique=True), max_size=6))
        met, now = list_met(past, names), data.draw(st.integers(50, 80))
        pod = find_pod(queue, seats, 20, met, now)
        due = find_next_time(queue, seats, 20, met)
        assert (pod is not None) == (due is not None and due <= now)
        if pod:
            assert frozenset(pod) not in met
            assert len(pod) == seats.preferred or (len(pod) == least and now - queue[pod[0]] >= 20)
            old = names if len(pod) == seats.preferred else [e for e in names if now - queue[e] >= 20]
            fresh = [each for each in combinations(names, len(pod)) if frozenset(each) not in met and each[0] in old]
            assert pod == fresh[0]

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10**6))
    def test_each_waiting_ends_in_at_most_one_table(self, seed: int) -> None:
        chance, event, joined = random.Random(seed), ladder(7), [0] * 7
        for _ in range(40):
            entrant = chance.randrange(7)
            event.now += chance.choice((0, 1_000, 61_000))
            if entrant in event.t.play.queue and chance.random() < 0.2:
                event.act(LeaveQueue((f"p{entrant}",)))
                joined[entrant] -= 1
            elif entrant not in event.t.play.queue:
                wait(event, entrant)
                joined[entrant] += 1
            elif find_next_table(event.t) not in (None, event.t.time) and find_next_table(event.t) <= event.now:  # type: ignore[operator] # not None
                event.act(ServeQueue())
            seated = [sum(entrant in pod for pod in pods(event)) for entrant in range(7)]
            assert joined == [n + (e in event.t.play.queue) for e, n in enumerate(seated)]
        assert verify_tournament(parse_export(event.export())) == event.t


class TestRefusals:
    def test_who_leaves_a_ladder_comes_back_under_the_same_number(self) -> None:
        event = ladder(5)
        event.act(Enter("late"), Withdraw(("late",)), Enter("late"))
        assert (len(event.t.entrants), event.t.play.members.count(5)) == (6, 1)
        verify_tournament(event.records)

    def test_a_queue_takes_the_place_of_draw_and_check_in(self) -> None:
        event = ladder(5, concurrent=1)
        assert refused(event, OpenCheckIn()) == "queue_draws"
        assert refused(event, Draw(1, 1)) == "queue_draws"
        assert refused(event, LeaveQueue(("p0",))) == "not_queued"
        wait(event, 0)
        assert refused(event, JoinQueue(("p0",))) == "already_queued"
        event.act(Withdraw(("p0",)))
        assert not event.t.play.queue
        wait(event, 1, 2, 3, 4)
        assert refused(event, JoinQueue(("p1",))) == "in_play"
        event.act(Withdraw(("p1",)), Withdraw(("p2",)))
        event.make_tables(1, 1)
        assert event.t.play.tables[1, 1].annulled == "void"
        wait(event, 3)
        league = EventInMemory()
        league.act(Enter("p0"))
        assert refused(league, JoinQueue(("p0",))) == "no_queue"

    def test_the_chain_ends(self) -> None:
        event = EventInMemory(chain=1, least=2, most=2, preferred=2, stages=[LADDER])
        event.act(*(Enter(f"p{number}") for number in range(5)))
        event.chain = event.chain[:2]
        wait(event, 0, 1, 2)
        event.now += DAY
        assert refused(event, JoinQueue(("p3",))) == "chain_used"
        assert refused(event, ServeQueue()) == "not_queued"
        queue = build_tournament(event.t, {})["queue"] or pytest.fail("it has a queue")
        assert (queue["left"]["days"], queue["ends_at"]) == (0, DAY)

    @pytest.mark.parametrize(
        ("kind", "changes"),
        [
            ("paired", {"entrants": [0, 1, 3]}),
            ("paired", {"pod": 2}),
            ("queued", {"entrant": 99}),
            ("drawn", {"draw": 2}),
        ],
    )
    def test_a_changed_record_is_named(self, kind: str, changes: dict[str, object]) -> None:
        event = ladder(6, preferred=3)
        wait(event, 4, 0, 2, 1, 5)
        records, prev = list[Record](), ""
        broken = 0
        for record in event.records:
            public = {**record.public, "prev": prev}
            if record.kind == f"tournament.{kind}" and not broken:
                public, broken = {**public, "body": {**record.body, **changes}}, record.version
            records.append(Record(public, {}))
            prev = records[-1].hash
        with pytest.raises(VerificationError) as error:
            verify_tournament(records)
        assert error.value.version == broken


class TestTheEnd:
    def test_a_closed_queue_is_empty_and_lets_the_organiser_finish(self) -> None:
        event = ladder(6, preferred=3)
        assert refused(event, OpenQueue()) == "queue_open"
        wait(event, 0, 1, 2, 3)
        event.act(CloseQueue())
        assert not event.t.play.queue
        assert [refused(event, each) for each in (CloseQueue(), JoinQueue(("p3",)))] == ["queue_closed"] * 2
        assert refused(event, Enter("late")) == "entries_closed"
        play_all(event)
        assert refused(event, CloseTournament("finished")) == "outcome_other"
        event.act(Rank(1, 1))
        assert refused(event, CloseTournament("cancelled")) == "outcome_other"
        event.act(OpenQueue())
        wait(event, 3)
        event.act(CloseQueue(), CloseTournament("finished"))
        assert event.t.status == "finished"
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_a_ladder_goes_on_until_the_next_stage_has_its_entrants(self) -> None:
        """Once the queue is closed, as many as make a table are enough."""
        event = EventInMemory(least=2, most=3, preferred=3, stages=[LADDER, {"format": "knockout", "entrants": 4}])
        event.act(*(Enter(f"p{number}") for number in range(5)))
        wait(event, 0, 1, 2)
        play_all(event)
        event.act(Rank(1, 1))
        assert len(event.t.stages) == 1
        for pair in ((0, 1), (0, 2), (1, 2), (0, 1, 3), (0, 1, 4), (0, 1, 2)):
            wait(event, *pair)
            event.now += 60_000
            with suppress(RuleError):
                event.act(ServeQueue())
            play_all(event)
        event.act(*(LeaveQueue((f"p{e}",)) for e in list(event.t.play.queue)), Rank(1, 1))
        assert len(event.t.stages) == 1
        assert refused(event, Rank(1, 1)) == "already_ranked"
        event.act(CloseQueue(), Rank(1, 1))
        assert set(event.t.play.members) == {0, 1}
        assert verify_tournament(parse_export(event.export())) == event.t


class TestStandings:
    def test_best_eight_of_last_twelve_tables_in_the_window_count(self) -> None:
        """Entrant 0 wins all tables, and entrant 9 has too few for a place."""
        event = ladder(10, preferred=3)
        for pair in OTHERS:
            wait(event, 0, *pair)
            play_all(event)
        ties = TieBreaks(event.t.stage(1))
        assert ties.tally.unranked == {1: 4, 2: 4, 3: 3, 4: 3, 5: 4, 6: 4, 7: 3, 8: 3, 9: 0}
        rows = list_standings(ties)
        assert (rows[0]["entrant"], rows[0]["ticks"], rows[0]["tables"]) == (0, 8 * 5040, 12)
        assert rows[0]["ties"]["wins"] == "12"

    def test_a_table_leaves_the_window_and_an_arena_counts_all(self) -> None:
        for arena in (False, True):
            event = ladder(9, preferred=3, window=10 * 86_400, **(ARENA if arena else {}))
            for pair in OTHERS:
                wait(event, 0, *pair)
                play_all(event)
            places = list_standings(TieBreaks(event.t.stage(1)))
            assert (places[0]["tables"], places[0]["ticks"]) == ((14, 14 * 5040) if arena else (12, 8 * 5040))
            event.now += 11 * DAY
            wait(event, 7)
            assert list_standings(TieBreaks(event.t.stage(1))) == []

    def test_official_places_are_as_ranked_each_with_a_sentence(self) -> None:
        event = EventInMemory(
            least=2,
            most=3,
            preferred=3,
            stages=[LADDER, {"format": "knockout", "entrants": 3}],
        )
        event.act(*(Enter(f"p{number}") for number in range(5)))
        for _ in range(9):
            wait(event, *(e for e in range(5) if e not in event.t.play.queue))
            play_all(event)
        event.act(*(LeaveQueue((f"p{e}",)) for e in list(event.t.play.queue)))
        event.now += 5 * DAY
        event.act(Rank(1, 1))
        official = event.t.stages[0].rankings[0]
        ties = TieBreaks(event.t.stage(1, 1))
        assert list_standings(ties) == official["standings"] != []
        for one, other in pairwise(row["entrant"] for row in official["standings"]):
            assert explanation_sentences(ties, explain(ties, one, other), "fr")
        assert len(event.t.stages) == 2
        assert list(event.t.play.members) == [row["entrant"] for row in official["standings"]][:3]
        event.act(CloseTournament())
        assert verify_tournament(parse_export(event.export())) == event.t

    def test_ruling_moves_who_loses_a_place_and_no_party_rules(self) -> None:
        """Without the first table entrant 1 has four. As an officer, entrant 1 excludes nobody from them."""
        event = ladder(7, preferred=3)
        for pair in ((1, 2), (1, 3), (1, 4), (1, 5), (1, 6)):
            wait(event, 0, *pair)
            play_all(event)
        effect = RulingEffect(event.t, AnnulTable("organiser", (), (), "", 1, 1, 1))
        assert (effect.before.places[1], effect.after.places[1]) == (2, 0)
        assert 1 in effect.moved
        event.act(DeputeOfficer("p1", "arbiter"))
        own = Exclude("p1", (), (), "", 1, 0, "void")
        assert refused(event, replace(own, preview=RulingEffect(now(event), own).digest)) == "conflict_of_interest"

    def test_credit_of_an_annulled_table_leaves_the_window_with_it(self) -> None:
        event = ladder(9, preferred=3, window=10 * 86_400)
        for pair in OTHERS[:7]:
            wait(event, 0, *pair)
            play_all(event)
        ruling = AnnulTable("organiser", (), (), "", 1, 1, 1, "average")
        event.act(replace(ruling, preview=RulingEffect(now(event), ruling).digest))
        assert list_standings(TieBreaks(event.t.stage(1)))[0]["credits"] == [5040]
        event.now += 11 * DAY
        for pair in OTHERS[7:12]:
            wait(event, 0, *pair)
            play_all(event)
        row = list_standings(TieBreaks(event.t.stage(1)))[0]
        assert (row["entrant"], row["ticks"], row["credits"]) == (0, 5 * 5040, [])
        assert verify_tournament(parse_export(event.export())) == event.t
