"""Rulings on a tournament: a dry run first, an author, new official standings, and all of it can be taken back."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from domain.errors import RuleError, VerificationError
from domain.tournaments.aggregate.basic_commands import CheckIn, CloseCheckIn, Draw, Enter, NameSubstitute, OpenCheckIn
from domain.tournaments.aggregate.result_commands import Rank, Report
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import (
    AnnulTable,
    DeputeOfficer,
    Exclude,
    Penalise,
    PlaceTable,
    RecuseOfficer,
    Restore,
    RulingCommand,
    RulingEffect,
)
from domain.tournaments.draw import commit_nonce
from domain.tournaments.standings import list_standings
from domain.tournaments.ties import TieBreaks
from domain.types import Doc
from tests.tournaments.aggregates import EventInMemory
from tests.tournaments.test_events import code_of, verified

BY: tuple[str, tuple[str, ...], tuple[str, ...], str] = ("organiser", (), (), "")


def ranked_event(**terms: Any) -> EventInMemory:
    """Nine entrants, two rounds, both ranked."""
    event = EventInMemory(**terms)
    event.draw_first(9)
    for round_ in (1, 2):
        event.play_round(1, round_, random.Random(round_))
    return event


def rule(event: EventInMemory, command: RulingCommand) -> RulingEffect:
    """Preview a ruling, and execute it."""
    effect = RulingEffect(event.t, command)
    event.act(replace(command, preview=effect.digest))
    return effect


def report_of(result: Doc) -> tuple[int, str, tuple[int, ...], tuple[int, ...]]:
    """Version, head, places and points of a stored report."""
    return result["version"], result["head"], tuple(result["places"]), tuple(result["points"])


def standings(event: EventInMemory) -> object:
    return list_standings(TieBreaks(event.t.stage(1)))


def table(event: EventInMemory, round_: int = 1, pod: int = 1) -> tuple[int, ...]:
    return event.t.stages[0].tables[round_, pod].entrants


class TestDryRun:
    def test_it_changes_nothing_and_names_everybody_who_moves(self) -> None:
        event = ranked_event()
        before = event.t
        effect = RulingEffect(event.t, Penalise(*BY, 1, 0, 20_160))
        assert event.t == before
        assert effect.moved[-1] == 0
        assert all(effect.before.places[e] != effect.after.places[e] for e in effect.moved)
        assert [draft.kind for draft in effect.drafts] == ["penalised", "ranked"]

    def test_stale_one_is_refused_and_one_by_entrant_about_himself(self) -> None:
        event = ranked_event()
        command = AnnulTable(*BY, 1, 1, 1, "void")
        assert code_of(event, command) == "preview_stale"
        old = RulingEffect(event.t, command).digest
        rule(event, Penalise(*BY, 1, 0, 1))
        assert code_of(event, replace(command, preview=old)) == "preview_stale"

    def test_officer_rules_neither_on_own_table_nor_on_an_own_place(self) -> None:
        event = ranked_event()
        mine = table(event)[0]
        event.act(DeputeOfficer(f"p{mine}", "arbiter"))
        by: tuple[str, tuple[str, ...], tuple[str, ...], str] = (f"p{mine}", (), (), "")
        for command in (AnnulTable(*by, 1, 1, 1, "void"), Penalise(*by, 1, mine, 5), Exclude(*by, 1, mine, "keep")):
            ready = replace(command, preview=RulingEffect(event.t, command).digest)
            assert code_of(event, ready) == "conflict_of_interest"
        first = next(e for group in TieBreaks(event.t.stage(1)).ranking for e in group if e != mine)
        moving = Penalise(*by, 1, first, 100_000)
        ready = replace(moving, preview=RulingEffect(event.t, moving).digest)
        is_moved = mine in RulingEffect(event.t, moving).moved
        assert is_moved
        assert code_of(event, ready) == "conflict_of_interest"
        event.act(RecuseOfficer(f"p{mine}"))
        with pytest.raises(RuleError, match="no_officer"):
            RulingEffect(event.t, command)
        verified(event)


class TestActs:
    def test_taken_back_it_gives_the_first_standings_byte_for_byte(self) -> None:
        event = ranked_event()
        first, places = standings(event), (1, 1, 1)
        for command in (
            PlaceTable(*BY, 1, 1, 1, places),
            AnnulTable(*BY, 1, 1, 2, "average"),
            AnnulTable(*BY, 1, 2, 1, "void"),
            Penalise(*BY, 1, 3, 5040),
            Exclude(*BY, 1, 5, "void"),
            Exclude(*BY, 1, 0, "last"),
        ):
            rule(event, command)
            assert standings(event) != first
            assert event.t.stages[0].rankings[-1]["standings"] == standings(event)
            number = event.t.rulings[-1].version
            rule(event, Restore(*BY, number))
            assert standings(event) == first
            with pytest.raises(RuleError, match="unknown_ruling"):
                RulingEffect(event.t, Restore(*BY, number))
        assert not any(each.excluded for each in event.t.entrants)
        verified(event)

    def test_new_official_standings_name_those_they_replace(self) -> None:
        event = ranked_event()
        former = event.t.stages[0].rankings[-1]["digest"]
        rule(event, Penalise(*BY, 1, 2, 5040))
        assert event.t.stages[0].rankings[-1]["replaces"] == former
        assert code_of(event, Rank(1, 2)) == "already_ranked"

    def test_changed_result_is_ranked_again_and_its_ruling_stays(self) -> None:
        event = ranked_event()
        seats, old = event.t.play.tables[1, 1], event.t.play.rankings
        assert seats.result
        rule(event, PlaceTable(*BY, 1, 1, 2, (1, 1, 1)))
        ruled = event.t.play.rankings[1]["digest"]
        assert code_of(event, Report(1, 1, 1, seats.game, *report_of(seats.result))) == "already_reported"
        places, points = (part[::-1] for part in report_of(seats.result)[2:])
        event.act(Report(1, 1, 1, seats.game, 11, "1" * 64, places, points))
        for round_ in (1, 2):
            event.act(Rank(1, round_))
        assert [each.get("replaces") for each in event.t.play.rankings] == [old[0]["digest"], ruled]
        counted = next(each for each in event.t.stage(1).tables if each.name == "1.2")
        assert counted.places == (1, 1, 1)
        verified(event)

    def test_a_table_to_be_played_again_gets_another_game(self) -> None:
        event = ranked_event()
        rule(event, PlaceTable(*BY, 1, 2, 2, (1, 1, 1)))
        rule(event, AnnulTable(*BY, 1, 2, 2, "replay"))
        assert code_of(event, Rank(1, 2)) == "tables_open"
        with pytest.raises(RuleError, match="ruling_final"):
            RulingEffect(event.t, Restore(*BY, event.t.rulings[-1].version))
        with pytest.raises(RuleError, match="no_table"):
            RulingEffect(event.t, AnnulTable(*BY, 1, 2, 2, "void"))
        event.make_tables(1, 2)
        again = event.t.play.tables[2, 2]
        assert again.game == "1.2.2.2"
        event.report(1, (2, 2), (1, 2, 3))
        counted = next(each for each in event.t.stage(1).tables if each.name == "2.2")
        assert counted.places == (3, 2, 1)
        event.act(Rank(1, 2))
        verified(event)

    def test_excluded_entrant_is_drawn_no_more_and_stays_out(self) -> None:
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 4}])
        event.draw_first(9)
        event.play_round(1, 1, random.Random(1))
        rule(event, Exclude(*BY, 1, 4, "last"))
        assert code_of(event, Enter("p4")) == "already_entered"
        event.act(Draw(1, 2))
        drawn = event.t.play.rounds[1]
        assert 4 not in {e for pod in drawn.pods for e in pod} | {*drawn.byes}
        verified(event)

    def test_ruling_changes_who_goes_on_until_next_stage_has_table(self) -> None:
        event = ranked_event(stages=[{"rounds": 2}, {"rounds": 1, "entrants": 3}])
        first = event.t.play.members
        effect = rule(event, Penalise(*BY, 1, first[0], 50_000))
        assert effect.advancing == list(event.t.play.members)
        assert first[0] not in event.t.play.members
        event.act(Draw(2, 1))
        event.make_tables(2, 1)
        effect = rule(event, Restore(*BY, event.t.rulings[-1].version))
        assert effect.advancing is None
        assert first[0] not in event.t.play.members
        verified(event)

    def test_a_check_in_for_the_next_stage_goes_on_over_a_ruling(self) -> None:
        """Nobody is drawn who has not checked in, and nobody is called silent who had no time to show a nonce."""
        event = ranked_event(stages=[{"rounds": 2}, {"format": "knockout", "entrants": 6}])
        members = event.t.play.members
        event.act(OpenCheckIn(), *(CheckIn((f"p{e}",), commit_nonce(f"wind {e}")) for e in members[:5]))
        assert rule(event, Penalise(*BY, 1, members[0], 50_000)).advancing
        assert event.t.status == "checking"
        assert set(event.t.commitments) == {*members[:5]} & {*event.t.play.members}
        event.act(CloseCheckIn())
        again = Penalise(*BY, 1, event.t.play.members[0], 50_000)
        with pytest.raises(RuleError, match="wrong_status"):
            RulingEffect(event.t, again)
        verified(event)

    def test_nobody_rules_himself_into_the_next_stage(self) -> None:
        event = ranked_event(stages=[{"rounds": 2}, {"rounds": 1, "entrants": 3}])
        order = [e for group in TieBreaks(event.t.stage(1)).ranking for e in group]
        event.act(DeputeOfficer(f"p{order[3]}", "arbiter"))
        command = Exclude(f"p{order[3]}", (), (), "", 1, order[0], "keep")
        effect = RulingEffect(event.t, command)
        assert order[3] in (effect.advancing or ())
        assert code_of(event, replace(command, preview=effect.digest)) == "conflict_of_interest"

    def test_an_officer_who_is_a_substitute_does_not_rule_there(self) -> None:
        event = ranked_event()
        event.act(NameSubstitute(("p1",), "friend"), DeputeOfficer("friend", "arbiter"))
        command = Penalise("friend", (), (), "", 1, 0, 5)
        ready = replace(command, preview=RulingEffect(event.t, command).digest)
        assert code_of(event, ready) == "conflict_of_interest"
        verified(event)

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            (PlaceTable(*BY, 1, 1, 1, (1, 2)), "places_invalid"),
            (PlaceTable(*BY, 1, 1, 1, (1, 2, 2, 4)), "places_invalid"),
            (PlaceTable(*BY, 1, 1, 1, (1, 2, 4)), "places_invalid"),
            (PlaceTable(*BY, 2, 1, 1, (1, 2, 3)), "unknown_stage"),
            (PlaceTable(*BY, 1, 1, 9, (1, 2, 3)), "no_table"),
            (Penalise(*BY, 1, 99, 5), "unknown_entrant"),
            (Restore(*BY, 3), "unknown_ruling"),
            (Penalise("p8", (), (), "", 1, 0, 5), "no_officer"),
        ],
    )
    def test_what_cannot_be_ruled_is_refused(self, command: RulingCommand, code: str) -> None:
        with pytest.raises(RuleError, match=code):
            RulingEffect(ranked_event().t, command)


def test_a_ruling_by_nobody_is_named_by_the_proof() -> None:
    event = ranked_event()
    rule(event, Penalise(*BY, 1, 2, 5040))
    (ruling,) = (record for record in event.records if record.kind == "tournament.penalised")
    ruling.body["officer"] = "p1"
    with pytest.raises(VerificationError) as caught:
        verify_tournament(event.records)
    assert (caught.value.code, caught.value.version) == ("ruling_mismatch", ruling.version)
    assert parse_export(event.export())
