"""Whole tournaments as aggregates: rounds drawn one by one, stages, late entrants, drop-outs; each proves itself."""

from __future__ import annotations

import lzma
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from domain.errors import RuleError, TournamentError, VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    CloseTournament,
    Draw,
    Enter,
    OpenCheckIn,
    WantBye,
    Withdraw,
)
from domain.tournaments.aggregate.pairing import DrawInput
from domain.tournaments.aggregate.pod_seating import build_seated
from domain.tournaments.aggregate.result_commands import AddTable, Rank, Report
from domain.tournaments.aggregate.seat_commands import FileBid, OpenBids
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.explain import explain, explanation_sentences, explanation_to_json
from domain.tournaments.results import KNOCKOUT_TIES
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from tests.tournaments.aggregates import EventInMemory

KNOCKOUT = {"format": "knockout", "ties": list(KNOCKOUT_TIES), "advance": [{"first": 1, "wild_cards": 3}, {"first": 2}]}


def code_of(event: EventInMemory, *commands: object) -> str:
    """The code of a refusal; nothing is changed."""
    before = event.t
    with pytest.raises(RuleError) as caught:
        event.act(*commands)  # type: ignore[arg-type]
    assert event.t == before
    return caught.value.code


def verified(event: EventInMemory) -> None:
    assert verify_tournament(parse_export(event.export())) == event.t


@pytest.mark.parametrize(("name", "status"), [("league", "finished"), ("swiss_small_pod", "running")])
def test_a_stored_event_verifies_as_before(name: str, status: str) -> None:
    """In the Swiss one a pod without a table counts as a meeting."""
    data = lzma.decompress((Path(__file__).parent / f"{name}.annals.xz").read_bytes())
    t = verify_tournament(parse_export(data))
    assert (t.status, t.version, len(t.play.rankings)) == (status, len(data.splitlines()) - 2, 3)


class TestNumbers:
    """One person has one number in an event."""

    def test_who_comes_back_before_the_draw_has_the_same_number(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.act(*(Enter(f"p{n}") for n in range(7)))
        for _ in range(5):
            event.act(Withdraw(("p3",)), Enter("p3"))
        event.act(Withdraw(("p4",)), OpenCheckIn(), Enter("p4"), Withdraw(("p5",)), Enter("p5"))
        assert [each.player for each in event.t.entrants] == [f"p{n}" for n in range(7)]
        assert not any(each.withdrawn for each in event.t.entrants)
        event.act(*(CheckIn((f"p{n}",)) for n in range(7)), CloseCheckIn(), Draw(1, 1))
        assert sorted(event.t.play.members) == [*range(7)]
        verified(event)

    def test_who_left_before_the_draw_joins_under_the_old_number(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.act(Enter("early"), Withdraw(("early",)), Enter("other id"), Withdraw(("other id",)))
        event.draw_first(9)
        event.play_round(1, 1, random.Random(1))
        event.act(Enter("early"), Withdraw(("early",)), Enter("early"), Draw(1, 2))
        drawn = {e for pod in event.t.play.rounds[1].pods for e in pod} | {*event.t.play.rounds[1].byes}
        assert (len(event.t.entrants), 0 in drawn, 1 in drawn) == (11, True, False)
        assert event.t.participants.count(0) == event.t.play.members.count(0) == 1
        assert code_of(event, Enter("early")) == "already_entered"
        verified(event)

    def test_one_person_with_two_ids_has_one_number(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.act(Enter("a"), Withdraw(("a", "b")), Enter("b", ("a", "b")), Enter("c"))
        assert [(each.player, each.withdrawn) for each in event.t.entrants] == [("a", False), ("c", False)]
        verified(event)

    def test_number_of_each_entry_stays_true_in_older_records(self) -> None:
        """Before, a person who had withdrawn before a draw was given another number."""
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.act(Enter("p"), Withdraw(("p",)), Enter("p", keeps_number=False), Withdraw(("p",)), Enter("p"))
        assert [each.withdrawn for each in event.t.entrants] == [True, False]
        verified(event)

    def test_whoever_comes_back_late_needs_a_place(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}], capacity=6)
        event.act(Enter("early"), Withdraw(("early",)))
        event.draw_first(6)
        event.play_round(1, 1, random.Random(1))
        assert code_of(event, Enter("early")) == "entries_closed"


class TestSwiss:
    def test_two_hundred_with_late_entrants_and_drop_outs(self) -> None:
        """Nobody is drawn twice or after leaving; late ones come until half of the rounds; no pair repeats."""
        chance = random.Random(4)
        event = EventInMemory(least=4, most=5, preferred=5, stages=[{"format": "swiss", "rounds": 4}])
        event.draw_first(196)
        event.play_round(1, 1, chance)
        event.act(*(Enter(f"late {n}") for n in range(4)), Withdraw(("p7",)), Withdraw(("p50",)))
        event.act(Draw(1, 2))
        event.play_round(1, 2, chance)
        assert code_of(event, Enter("too late")) == "entries_closed"
        event.act(Enter("p7"), Withdraw(("late 2",)), Withdraw(("p0",)))
        for round_ in (3, 4):
            event.act(Draw(1, round_))
            event.play_round(1, round_, chance)
        play = event.t.play
        drawn = [[e for pod in each.pods for e in pod] + list(each.byes) for each in play.rounds]
        assert all(len(each) == len(set(each)) for each in drawn)
        assert [len(each) for each in drawn] == [196, 198, 197, 197]
        assert [[e in each for e in (7, 50, 196, 0)] for each in drawn] == [
            [True, True, False, True],
            [False, False, True, True],
            [True, False, True, False],
            [True, False, True, False],
        ]
        met = [pair for each in play.rounds for pod in each.pods for pair in combinations(sorted(pod), 2)]
        assert len(met) == len(set(met))
        assert TieBreaks(event.t.stage(1)).tally.missed[196] == 1
        event.act(CloseTournament())
        assert event.t.status == "finished"
        verified(event)

    def test_check_in_before_a_later_round_leaves_out_who_is_absent(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.draw_first(9)
        assert code_of(event, Draw(1, 2)) == "rounds_open"
        assert code_of(event, OpenCheckIn()) == "rounds_open"
        assert code_of(event, Draw(1, 1)) == "already_drawn"
        event.play_round(1, 1, random.Random(1))
        assert code_of(event, Draw(1, 1, has_reason=True)) == "tables_made"
        assert code_of(event, Draw(1, 5)) == "unknown_round"
        assert code_of(event, Draw(2, 1)) == "unknown_stage"
        event.act(OpenCheckIn(), Enter("late"), *(CheckIn((f"p{n}",)) for n in range(8)), CheckIn(("late",)))
        event.act(CloseCheckIn(), Draw(1, 2))
        first, second = (sorted(e for pod in each.pods for e in pod) for each in event.t.play.rounds)
        assert (len(first), len(second), set(second) - set(first)) == (9, 9, {9})
        verified(event)

    def test_no_late_stranger_takes_the_place_of_somebody_who_waits(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}], capacity=6)
        event.act(*(Enter(f"p{n}") for n in range(7)), OpenCheckIn(), *(CheckIn((f"p{n}",)) for n in range(7)))
        event.act(CloseCheckIn(), Draw(1, 1))
        event.play_round(1, 1, random.Random(1))
        event.act(Withdraw(("p0",)))
        assert code_of(event, Enter("stranger")) == "entries_closed"
        event.act(OpenCheckIn(), *(CheckIn((f"p{n}",)) for n in range(1, 7)), CloseCheckIn(), Draw(1, 2))
        assert sorted(e for pod in event.t.play.rounds[1].pods for e in pod) == [1, 2, 3, 4, 5, 6]
        verified(event)

    def test_volunteers_rest_first(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 3}])
        event.act(*(Enter(f"p{n}") for n in range(7)), OpenCheckIn(), *(CheckIn((f"p{n}",)) for n in range(7)))
        event.act(WantBye(("p4",)), CloseCheckIn(), Draw(1, 1), Draw(1, 1, has_reason=True))
        assert event.t.play.rounds[0].byes == (4,)
        event.play_round(1, 1, random.Random(1))
        event.act(WantBye(("p4",)), WantBye(("p5",)))
        assert code_of(event, WantBye(("p5",))) == "bye_wanted"
        event.act(Draw(1, 2))
        assert event.t.play.rounds[1].byes == (5,)
        verified(event)

    def test_byes_go_round(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 5}])
        event.draw_first(7)
        for round_ in range(1, 6):
            if round_ > 1:
                event.act(Draw(1, round_))
            event.play_round(1, round_, random.Random(round_))
        rested = [e for each in event.t.play.rounds for e in each.byes]
        assert len(rested) == len(set(rested)) == 5
        verified(event)


class TestRelations:
    def test_related_pairs_are_kept_apart_while_sizes_allow(self) -> None:
        """Pairs of three clubs of three part over the three pods; in one pod of three they cannot."""
        clubs = tuple((a, b) for a, b in combinations(range(9), 2) if a // 3 == b // 3)
        stage = {"format": "swiss", "rounds": 3, "relations": "apart"}
        for people, together in ((9, 0), (3, 3)):
            event = EventInMemory(stages=[stage])
            event.act(*(Enter(f"p{n}") for n in range(people)), OpenCheckIn())
            event.act(*(CheckIn((f"p{n}",)) for n in range(people)), CloseCheckIn(), Draw(1, 1, more=DrawInput(clubs)))
            drawn = event.t.play.rounds[0]
            assert len(drawn.list_together()) == together
            assert drawn.relations == tuple((*pair, "apart") for pair in clubs if pair[1] < people)
            verified(event)

    def test_other_events_know_no_relations(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 3}])
        event.draw_first(9)
        event.act(Draw(1, 1, has_reason=True, more=DrawInput(((0, 1),), ((0, 9),))))
        assert not event.records[-1].body.keys() & {"relations", "ratings"}
        with pytest.raises(TournamentError, match="/stages/0/relations"):
            EventInMemory(stages=[{"format": "league", "relations": "near"}])


class TestSeeds:
    @pytest.mark.parametrize("stage", [{"format": "swiss", "rounds": 2}, {**KNOCKOUT, "advance": [{"first": 1}]}])
    def test_a_first_round_goes_by_ratings_and_then_by_the_draw(self, stage: dict[str, Any]) -> None:
        """A Swiss event puts near ratings together, a knockout lays them over its tables in a snake."""
        event = EventInMemory(stages=[{**stage, "seeds": "ratings"}])
        event.act(*(Enter(f"p{n}") for n in range(9)), OpenCheckIn(), *(CheckIn((f"p{n}",)) for n in range(9)))
        ratings = tuple((n, 2500 + 100 * n) for n in range(9))
        event.act(CloseCheckIn(), Draw(1, 1, more=DrawInput(ratings=ratings)))
        pods = sorted(sorted(pod) for pod in event.t.play.rounds[0].pods)
        near = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        snake = [sorted(8 - seed for seed in table) for table in ([0, 5, 6], [1, 4, 7], [2, 3, 8])]
        assert pods == (near if stage["format"] == "swiss" else sorted(snake))
        assert event.records[-1].body["ratings"] == [[n, rating] for n, rating in ratings]
        event.play_round(1, 1, random.Random(1))
        event.act(Draw(1, 2, more=DrawInput(ratings=ratings)))
        assert "ratings" not in event.records[-1].body
        verified(event)


class TestKnockout:
    def test_winners_and_best_seconds_go_on_and_are_replaced(self) -> None:
        """20 in fours: five winners and three best seconds, then two of each table, then a final of four."""
        event = EventInMemory(least=3, most=4, preferred=4, stages=[KNOCKOUT])
        event.draw_first(20)
        event.play_round(1, 1, random.Random(2))
        ranked = [e for group in TieBreaks(event.t.stage(1)).ranking for e in group]
        event.act(Withdraw((f"p{ranked[0]}",)), Draw(1, 2))
        play = event.t.play
        second = {e for pod in play.rounds[1].pods for e in pod}
        (home,) = (pod for pod in play.rounds[0].pods if ranked[0] in pod)
        heir = next(e for e in ranked if e in home and e != ranked[0])
        assert len(second) == 8
        assert second >= {*ranked[1:5], heir}
        event.play_round(1, 2, random.Random(3))
        event.act(Draw(1, 3))
        event.play_round(1, 3, random.Random(4))
        final = {e for pod in event.t.play.rounds[2].pods for e in pod}
        places = TieBreaks(event.t.stage(1)).places
        assert {e for e in range(20) if places[e] <= 4} == final
        event.act(CloseTournament())
        assert (event.t.status, len(event.t.play.rankings)) == ("finished", 3)
        verified(event)

    def test_best_seeds_rest_where_no_sizes_fit(self) -> None:
        event = EventInMemory(least=4, most=4, preferred=4, stages=[{**KNOCKOUT, "advance": [{"first": 3}]}])
        event.draw_first(9)
        (seed,) = event.t.play.rounds[0].byes
        event.play_round(1, 1, random.Random(5))
        event.act(Draw(1, 2))
        second = event.t.play.rounds[1]
        assert (seed in second.byes, len(second.byes), len(second.pods)) == (True, 3, 1)
        verified(event)


class TestStages:
    def test_the_first_of_a_stage_go_on_as_seeds_of_the_next(self) -> None:
        event = EventInMemory(
            stages=[{"format": "swiss", "rounds": 2}, {**KNOCKOUT, "advance": [{"first": 1}], "entrants": 9}]
        )
        event.draw_first(12)
        event.play_round(1, 1, random.Random(6))
        event.act(Draw(1, 2))
        assert code_of(event, Draw(2, 1)) == "not_ranked"
        event.make_tables(1, 2)
        assert code_of(event, Rank(1, 2)) == "tables_open"
        event.play_round(1, 2, random.Random(7))
        ranked = [e for group in TieBreaks(event.t.stage(1)).ranking for e in group]
        assert list(event.t.play.members) == ranked[:9]
        event.act(Withdraw((f"p{ranked[0]}",)), OpenCheckIn())
        assert code_of(event, CheckIn((f"p{ranked[10]}",))) == "not_eligible"
        event.act(*(CheckIn((f"p{e}",)) for e in ranked[1:9]), CloseCheckIn(), Draw(2, 1))
        assert sorted(event.t.play.rounds[0].byes) == sorted(ranked[1:3])
        event.play_round(2, 1, random.Random(8))
        event.act(Draw(2, 2))
        event.play_round(2, 2, random.Random(9))
        event.act(CloseTournament())
        assert event.t.status == "finished"
        verified(event)

    @pytest.mark.parametrize(
        ("stages", "pointer"),
        [
            ([{"format": "league", "advance": [{"first": 1}]}], "/stages/0/advance"),
            ([{"format": "knockout", "rounds": 3, "advance": [{"first": 1}]}], "/stages/0/rounds"),
            ([{"format": "knockout", "advance": [{"first": 0}]}], "/stages/0/advance/0"),
            ([{"format": "swiss", "concurrent": 2}], "/stages/0/concurrent"),
            ([{"entrants": 4}], "/stages/0/entrants"),
            ([{}, {"entrants": 1}], "/stages/1/entrants"),
            ([], "/stages"),
        ],
    )
    def test_stages_that_cannot_be_are_refused(self, stages: object, pointer: str) -> None:
        with pytest.raises(TournamentError) as caught:
            EventInMemory(stages=stages)
        assert caught.value.pointer == pointer


def test_every_changed_record_is_named() -> None:
    """A byte of a pairing, a seed or an advancement: the proof names the record."""
    event = EventInMemory(stages=[{"format": "swiss", "rounds": 2}, {**KNOCKOUT, "advance": [], "entrants": 3}])
    event.draw_first(9)
    event.play_round(1, 1, random.Random(6))
    event.act(Draw(1, 2))
    event.play_round(1, 2, random.Random(7))
    event.act(Draw(2, 1))
    for record in event.records:
        if record.kind.partition(".")[2] in ("paired", "ranked", "advanced"):
            body = record.body
            body["stage"] += 1
            with pytest.raises(VerificationError) as caught:
                verify_tournament(event.records)
            assert caught.value.version == record.version
            body["stage"] -= 1


class TestTooFewCheckIn:
    """The check-in opens again; with enough for a draw it does not, since the organiser knows the key."""

    def test_nobody_for_the_first_draw(self) -> None:
        event = EventInMemory()
        event.act(*(Enter(f"p{n}") for n in range(3)), OpenCheckIn(), CloseCheckIn())
        assert code_of(event, Draw(1, 1)) == "sizes_impossible"
        event.act(OpenCheckIn(), *(CheckIn((f"p{n}",), "") for n in range(3)), CloseCheckIn(), Draw(1, 1))
        verified(event)

    def test_one_for_a_later_draw(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 3}])
        event.draw_first(3)
        event.play_round(1, 1, random.Random(1))
        event.act(OpenCheckIn(), CheckIn(("p0",), ""), CloseCheckIn())
        assert code_of(event, Draw(1, 2)) == "sizes_impossible"
        event.act(OpenCheckIn(), *(CheckIn((f"p{n}",), "") for n in range(3)), CloseCheckIn())
        assert code_of(event, OpenCheckIn()) == "wrong_status"
        event.act(Draw(1, 2))
        verified(event)


def test_list_that_has_changed_is_made_official_before_the_end() -> None:
    event = EventInMemory(stages=[{"format": "league", "rounds": 1}])
    event.draw_first(3)
    event.play_round(1, 1, random.Random(1))
    (table,) = event.t.stages[0].tables.values()
    assert table.result
    places, points = tuple(reversed(table.result["places"])), tuple(reversed(table.result["points"]))
    event.act(Report(1, 1, 1, table.game, 10, "1" * 64, places, points))
    assert code_of(event, CloseTournament()) == "not_ranked"
    event.act(Rank(1, 1), CloseTournament())
    assert event.t.status == "finished"
    verified(event)


@pytest.mark.parametrize(
    ("terms", "pointer"),
    [
        ({"chain": 1, "stages": [{"format": "swiss", "rounds": 4}]}, "/chain"),
        ({"chain": 2, "stages": [{"format": "league"}, {"format": "knockout", "advance": [{"first": 1}]}]}, "/chain"),
        ({"stages": [{"format": "league", "lists": {"1" * 5000: [1]}}]}, f"/stages/0/lists/{'1' * 5000}"),
        ({"stages": [{"format": "league", "lists": {"\u0663": [1, 2, 3]}}]}, "/stages/0/lists/\u0663"),
    ],
    ids=["swiss", "two stages", "long", "arabic"],
)
def test_terms_that_never_end_well_are_refused(terms: dict[str, Any], pointer: str) -> None:
    with pytest.raises(TournamentError) as caught:
        EventInMemory(**terms)
    assert caught.value.pointer == pointer


def with_bids(seating: str, *bids: tuple[int, ...], **stage: Any) -> EventInMemory:
    """An event of three in which entrant n has filed the bid n; the last one files none if there are two."""
    event = EventInMemory(stages=[{"format": "league", "rounds": 2, "seating": seating, **stage}])
    event.draw_first(3)
    event.act(OpenBids(1, 1), *(FileBid((f"p{n}",), 1, 1, bid) for n, bid in enumerate(bids)))
    return event


def add_table(event: EventInMemory, round_: int = 1) -> AddTable:
    """The table of the only pod, with its seats given."""
    present = event.t.list_present(1, round_, 1)
    return AddTable(1, round_, 1, "g", tuple(build_seated(event.t, 1, (round_, 1), present)["entrants"]))


def seat(event: EventInMemory, round_: int = 1) -> None:
    """Give the seats of the only pod."""
    event.act(add_table(event, round_))


class TestSeats:
    def test_bids_give_seats_and_handicaps_and_prove_themselves(self) -> None:
        """The example of the page: seats 0, 1, 2 with -198, +54, +142 ticks."""
        event = with_bids("bid", (60, 30, 10), (50, 40, 10), (34, 33, 33))
        assert code_of(event, FileBid(("p0",), 1, 1, (100, 0, 0))) == "bids_closed"
        seat(event)
        assert event.t.play.rounds[0].pods == ((0, 1, 2),)
        event.report(1, (1, 1), (3, 2, 1))
        ties = TieBreaks(event.t.stage(1))
        assert ties.tally.totals == [5040 - 198, 2520 + 54, 142]
        assert [row["handicap"] for row in list_standings(ties)] == [-198, 54, 142]
        told = explain(ties, 0, 1)
        assert explanation_to_json(ties, told)["handicaps"] == [-198, 54]
        assert explanation_sentences(ties, told, "en")[-1] == (
            "Their points contain handicaps from bids for seats: 0 has -0.039, 1 has +0.011."
        )
        assert "-0,039" in explanation_sentences(ties, told, "fr")[-1]
        event.act(Rank(1, 1))
        verified(event)
        data = event.export()
        for old, new in ((b'"handicaps":[-198,54', b'"handicaps":[-197,54'), (b'"bid":[60,30', b'"bid":[61,29')):
            with pytest.raises(VerificationError, match=r"seating_mismatch|chain_broken") as caught:
                verify_tournament(parse_export(data.replace(old, new)))
            assert caught.value.code in ("seating_mismatch", "cut_off")

    def test_a_bid_stays_sealed_until_the_seats_are_given(self) -> None:
        """Two worlds: with other bids everything that leaves the service has the same form, and other seals alone."""
        worlds = [with_bids("bid", bid) for bid in ((98, 1, 1), (0, 0, 100))]
        one, other = (event.export() for event in worlds)
        seals = [event.records[-1].public["seals"][0].encode() for event in worlds]
        assert one.replace(seals[0], b"").splitlines()[:-1] == other.replace(seals[1], b"").splitlines()[:-1]
        assert "[98, 1, 1]" not in repr(worlds[0].t)

    def test_who_files_no_bid_bids_equal_shares_and_the_last_counts(self) -> None:
        event = with_bids("bid", (100, 0, 0), bidding=1)
        assert code_of(event, add_table(event)) == "bids_open"
        assert code_of(event, OpenBids(1, 1)) == "bids_open"
        assert code_of(event, FileBid(("p1",), 1, 1, (50, 51, 0))) == "bid_invalid"
        event.act(FileBid(("p0",), 1, 1, (0, 0, 100)))
        event.now += 2_000
        assert code_of(event, FileBid(("p1",), 1, 1, (100, 0, 0))) == "bids_closed"
        seat(event)
        assert event.t.play.rounds[0].pods[0][2] == 0
        (opened,) = event.t.play.seatings[1, 1]["opened"]
        assert (opened["entrant"], opened["v"], opened["bid"]) == (0, event.t.version - 2, [0, 0, 100])
        assert code_of(event, OpenBids(1, 2)) == "rounds_open"
        verified(event)

    def test_who_comes_back_after_seats_are_given_is_not_in_the_pod(self) -> None:
        """Also where the table is played again: no bids are open, and handicaps are those of before."""
        event = with_bids("bid", (60, 30, 10), (50, 40, 10))
        event.act(Withdraw(("p2",)))
        seat(event)
        event.act(Enter("p2"))
        assert event.t.entrants[2].is_active
        assert code_of(event, FileBid(("p2",), 1, 1, (100, 0, 0))) == "not_eligible"
        assert code_of(event, FileBid(("p0",), 1, 1, (100, 0))) == "bids_closed"
        assert event.t.list_waiting_bids(1, 1) == []
        assert event.t.list_present(1, 1, 1) == event.t.play.tables[1, 1].entrants
        assert event.t.stage(1).tables[0].handicaps
        verified(event)

    def test_who_comes_back_before_is_not_waited_for_and_may_file(self) -> None:
        event = with_bids("bid", (60, 30, 10))
        event.act(Withdraw(("p2",)), Enter("p2"), FileBid(("p1",), 1, 1, (50, 40, 10)))
        assert event.t.list_waiting_bids(1, 1) == []
        assert code_of(event, FileBid(("p0",), 1, 1, (100, 0, 0))) == "bids_closed"
        event.act(FileBid(("p2",), 1, 1, (0, 0, 100)))
        seat(event)
        assert [each["entrant"] for each in event.t.play.seatings[1, 1]["opened"]] == [0, 1, 2]
        verified(event)

    def test_lists_cost_by_their_places_beside_the_seats_had(self) -> None:
        event = with_bids("prefer", (2, 1, 0), (1, 2), (0,))
        seat(event)
        assert event.t.play.rounds[0].pods == ((2, 1, 0),)
        event.report(1, (1, 1), (3, 2, 1))
        event.act(OpenBids(1, 2), *(FileBid((f"p{n}",), 1, 2, (0, 1, 2)) for n in range(3)))
        seat(event, 2)
        assert event.t.play.rounds[1].pods[0][0] != 2
        verified(event)

    def test_the_best_standing_chooses_first(self) -> None:
        event = with_bids("choose", (0,), (0,), (0,))
        seat(event)
        event.report(1, (1, 1), (1, 2, 3))
        event.act(Rank(1, 1))
        best = event.t.play.rounds[0].pods[0][2]
        event.act(OpenBids(1, 2), *(FileBid((f"p{n}",), 1, 2, (1, 0, 2)) for n in range(3)))
        seat(event, 2)
        assert event.t.play.rounds[1].pods[0][1] == best
        verified(event)

    def test_who_withdraws_leaves_seats_to_those_who_stay(self) -> None:
        """Their bids fit no longer, and count as equal shares; what the leaver filed stays sealed."""
        event = EventInMemory(least=2, stages=[{"format": "league", "rounds": 1, "seating": "bid", "bidding": 1}])
        event.draw_first(3)
        event.act(OpenBids(1, 1), FileBid(("p0",), 1, 1, (98, 1, 1)), Withdraw(("p1",)))
        event.now += 2_000
        seat(event)
        event.report(1, (1, 1), (2, 1))
        assert sum(event.t.play.seatings[1, 1]["handicaps"]) == 0
        assert [each["entrant"] for each in event.t.play.seatings[1, 1]["opened"]] == [0]
        verified(event)

    def test_seats_by_the_draw_take_no_bids(self) -> None:
        event = EventInMemory()
        event.draw_first(3)
        assert "seating" not in event.records[0].body["terms"]["stages"][0]
        assert code_of(event, OpenBids(1, 1)) == "seats_drawn"
        with pytest.raises(TournamentError, match="/stages/0/seating"):
            EventInMemory(most=9, stages=[{"seating": "bid"}])


class TestEarlyEnd:
    """An event ends before its plan, with its last official standings."""

    @staticmethod
    def play(rounds: int = 1) -> EventInMemory:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.draw_first(9)
        for number in range(1, rounds + 1):
            event.act(*([Draw(1, number)] if number > 1 else []))
            event.play_round(1, number, random.Random(number))
        return event

    def test_the_last_ranked_round_is_the_last(self) -> None:
        event = self.play(2)
        standings = event.t.play.rankings[-1]
        event.act(CloseTournament("finished"))
        assert (event.t.status, event.t.play.rankings[-1]) == ("finished", standings)
        assert event.records[-1].body == {"stage": 1, "round": 2}
        verified(event)

    def test_a_round_that_is_only_drawn_does_not_count(self) -> None:
        event = self.play()
        event.act(Draw(1, 2), CloseTournament("finished"))
        assert event.records[-1].body == {"stage": 1, "round": 1}
        verified(event)

    def test_nothing_that_was_played_is_lost(self) -> None:
        event = self.play()
        event.act(Draw(1, 2))
        pod = tuple(event.t.play.rounds[1].pods[0])
        event.act(AddTable(1, 2, 1, "g", pod))
        assert code_of(event, CloseTournament("finished")) == "tables_open"
        event.act(Report(1, 2, 1, "g", 9, "0" * 64, (1, 2, 3), (3, 2, 1)))
        assert code_of(event, CloseTournament("finished")) == "not_ranked"

    def test_without_standings_it_can_only_be_cancelled(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.draw_first(9)
        assert code_of(event, CloseTournament("finished")) == "outcome_other"
        event.act(CloseTournament())
        assert event.t.status == "cancelled"

    def test_without_a_wish_it_is_cancelled_as_before(self) -> None:
        event = self.play(2)
        event.act(CloseTournament())
        assert (event.t.status, event.records[-1].body) == ("cancelled", {})
        verified(event)

    @pytest.mark.parametrize("body", [{"stage": 1, "round": 1}, {"stage": 2, "round": 2}, {}])
    def test_a_record_that_names_another_round_is_not_true(self, body: dict[str, int]) -> None:
        event = self.play(2)
        event.act(CloseTournament("finished"))
        last = event.records[-1]
        forged = Record({**last.public, "body": body}, {})
        with pytest.raises(VerificationError):
            verify_tournament([*event.records[:-1], forged])
