"""Tables played outside of the service: scores are entered, confirmed by all seats, or settled by an officer."""

from __future__ import annotations

from typing import Any

import pytest

from deploy.cli.held_results import hold_results, list_unproved
from domain.errors import RuleError, VerificationError
from domain.kernel.text.message_catalog import load_texts
from domain.tournaments.aggregate.basic_commands import TournamentCommand
from domain.tournaments.aggregate.elsewhere_commands import (
    SETTLE_MS,
    ConfirmScores,
    EnterOfficerScores,
    EnterScores,
    MoveElsewhere,
    PlaceElsewhere,
    SettleScores,
)
from domain.tournaments.aggregate.point_parts import PartsReader, describe_part
from domain.tournaments.aggregate.result_commands import AddTable, Rank
from domain.tournaments.aggregate.tournament_fold import fold_tournament
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.aggregate.tournament_ruling_commands import DeputeOfficer, PlaceTable, RulingEffect
from domain.tournaments.records import RecordDraft, build_record
from domain.tournaments.results import Tally
from tests.tournaments.aggregates import EventInMemory

HERE = (1, 1, 1)


def drawn(**terms: Any) -> EventInMemory:
    event = EventInMemory(**{"elsewhere": "some", "stages": [{"format": "swiss", "rounds": 2}], **terms})
    event.draw_first(6)
    event.act(DeputeOfficer("judge", "arbiter"))
    return event


def people(event: EventInMemory, pod: int = 1) -> list[tuple[str]]:
    return [(f"p{entrant}",) for entrant in event.t.play.tables[1, pod].entrants]


def refusal(event: EventInMemory, command: TournamentCommand) -> str:
    with pytest.raises(RuleError) as told:
        event.act(command)
    return told.value.code


def confirmed() -> EventInMemory:
    """Table 1.1 is played elsewhere and confirmed by all seats, 1.2 is settled by an officer."""
    event = drawn()
    event.act(MoveElsewhere("organiser", *HERE), MoveElsewhere("organiser", 1, 1, 2))
    first, second, third = people(event)
    event.act(EnterScores(*HERE, first, (31, 24, 24)))
    scores = event.t.version
    event.act(ConfirmScores(*HERE, second, scores), ConfirmScores(*HERE, third, scores))
    event.act(EnterOfficerScores(1, 1, 2, "judge", (5, 9, 7), (3, 1, 2)))
    scores = event.t.version
    event.now += SETTLE_MS
    event.act(SettleScores(1, 1, 2, "judge", scores), Rank(1, 1))
    return event


def test_result_stands_once_all_confirm_or_officer_settles_it() -> None:
    event = confirmed()
    t = verify_tournament(parse_export(event.export()))
    assert t == event.t == fold_tournament(event.records)
    results = [t.play.tables[1, pod].result or {} for pod in (1, 2)]
    assert [each["places"] for each in results] == [[1, 2, 2], [3, 1, 2]]
    assert [each.get("officer") for each in results] == [None, "judge"]
    settled = [record.public["by"] for record in event.records if record.kind.endswith("settled")]
    assert settled == ["service", "director"]
    assert sum(Tally(t.stage(1)).totals) == 2 * 3 * 2520


def test_it_is_marked_in_the_points_and_by_the_proof() -> None:
    event = confirmed()
    reader = PartsReader(event.t, 1, Tally(event.t.stage(1)))
    part = reader.list_parts(event.t.play.tables[1, 1].entrants[0])[0]
    assert part["elsewhere"]
    assert "played elsewhere" in describe_part(part, load_texts("domain.tournaments", "en"))
    assert "ailleurs" in describe_part(part, load_texts("domain.tournaments", "fr"))
    told = ["Table 1.1: played elsewhere. It is not proved.", "Table 1.2: played elsewhere. It is not proved."]
    assert list_unproved(event.records) == told
    assert hold_results(event.records, lambda _: None, None).missing == told  # type: ignore[arg-type] # no game


def test_other_scores_begin_anew_and_each_misuse_has_its_code() -> None:
    event = drawn()
    first, second, _ = [(f"p{e}",) for e in event.t.play.rounds[0].pods[0]]
    assert refusal(event, EnterScores(*HERE, first, (3, 2, 1))) == "no_table"
    event.act(MoveElsewhere("organiser", *HERE))
    assert refusal(event, MoveElsewhere("organiser", *HERE)) == "already_tabled"
    assert refusal(event, PlaceElsewhere(1, 1, 2, (0, 1, 2))) == "elsewhere_barred"
    assert refusal(event, ConfirmScores(*HERE, first, 1)) == "no_scores"
    assert refusal(event, EnterScores(*HERE, ("p77",), (3, 2, 1))) == "not_entered"
    for points, places in (((3, 2), ()), ((3, 2, 1), (1, 1, 2)), ((3, 2, 10**9), ())):
        assert refusal(event, EnterScores(*HERE, first, points, places)) == "places_invalid"
    event.act(EnterScores(*HERE, first, (3, 2, 1)))
    known = event.t.version
    assert refusal(event, ConfirmScores(*HERE, first, known)) == "scores_confirmed"
    assert refusal(event, SettleScores(*HERE, "judge", known)) == "scores_open"
    event.act(EnterScores(*HERE, second, (3, 1, 2)))
    assert refusal(event, ConfirmScores(*HERE, first, known)) == "scores_changed"
    assert event.t.play.tables[1, 1].scores
    assert not event.t.play.has_round_ended(1)
    assert refusal(drawn(elsewhere=None), MoveElsewhere("organiser", *HERE)) == "elsewhere_barred"


def test_an_event_of_a_hall_has_all_its_tables_elsewhere() -> None:
    event = drawn(elsewhere="all")
    event.act(PlaceElsewhere(*HERE, event.t.list_present(*HERE)))
    (first, *_) = people(event)
    event.act(EnterScores(*HERE, first, (3, 2, 1)))
    event.now += SETTLE_MS
    event.act(SettleScores(*HERE, "judge", event.t.version))
    ruling = PlaceTable("organiser", (), (), "", *HERE, (3, 2, 1))
    effect = RulingEffect(event.t, ruling)
    assert effect.moved
    verify_tournament(parse_export(event.export()))


def test_a_proof_refuses_a_result_that_nobody_has_settled() -> None:
    event = drawn()
    event.act(MoveElsewhere("organiser", *HERE))
    event.act(EnterScores(*HERE, people(event)[0], (3, 2, 1)))
    body = {"stage": 1, "round": 1, "pod": 1, "scores": event.t.version}
    draft = RecordDraft("settled", body)
    forged = build_record(draft, event.t.version + 1, event.now, event.t.hash, "service")
    with pytest.raises(VerificationError, match="scores_open"):
        verify_tournament([*event.records, forged])


def test_the_terms_of_events_without_it_have_no_such_member() -> None:
    event = EventInMemory()
    assert "elsewhere" not in event.records[0].body["terms"]
    with_it = drawn()
    assert with_it.records[0].body["terms"]["elsewhere"] == "some"
    with_it.act(AddTable(1, 1, 1, "game", with_it.t.list_present(1, 1, 1)))  # the others are played here
    assert not with_it.t.play.tables[1, 1].elsewhere


def test_officers_without_a_stake_alone_settle_scores() -> None:
    """Their office and stake follow from the records, so a proof holds them too."""
    event = drawn()
    assert refusal(event, MoveElsewhere("stranger", *HERE)) == "no_officer"
    event.act(MoveElsewhere("judge", *HERE))
    (first,), *_ = people(event)
    assert refusal(event, EnterOfficerScores(*HERE, "stranger", (3, 2, 1))) == "no_officer"
    event.act(EnterOfficerScores(*HERE, "judge", (3, 2, 1)), DeputeOfficer(first, "arbiter"))
    event.now += SETTLE_MS
    scores = event.t.play.tables[1, 1].scores
    assert scores is not None
    assert refusal(event, SettleScores(*HERE, "stranger", scores.version)) == "no_officer"
    assert refusal(event, SettleScores(*HERE, first, scores.version)) == "conflict_of_interest"


def test_nobody_keeps_officer_waiting_by_entering_scores_again() -> None:
    event = drawn()
    event.act(MoveElsewhere("judge", *HERE))
    first, *_ = people(event)
    event.act(EnterScores(*HERE, first, (3, 2, 1)))
    assert refusal(event, EnterScores(*HERE, first, (3, 2, 1))) == "scores_entered"
    event.now += SETTLE_MS
    event.act(EnterScores(*HERE, first, (1, 2, 3)))
    event.act(SettleScores(*HERE, "judge", event.t.version))
    assert event.t.play.tables[1, 1].result is not None
