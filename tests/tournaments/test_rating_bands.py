"""Who may enter by the rating band of an event: the record has the figures, and a proof checks them."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import RuleError, TournamentError, VerificationError
from domain.kernel.records.record import Record
from domain.tournaments.aggregate.basic_commands import Enter
from domain.tournaments.aggregate.entry_commands import EnterOthers
from domain.tournaments.aggregate.tournament_proof import verify_tournament
from tests.tournaments.aggregates import EventInMemory

BAND = {"least": 1000, "most": 2000, "tables": 2}


@pytest.mark.parametrize("rated", [(999, 2), (2001, 9), (1500, 1), None])
def test_others_are_refused_with_the_reason(rated: Any) -> None:
    event = EventInMemory(band=BAND)
    with pytest.raises(RuleError, match="rating_barred") as told:
        event.act(Enter("p0", rated=rated))
    assert told.value.detail["needed"] == 2
    assert not event.t.entrants


def test_the_record_has_the_rating_and_a_proof_checks_it() -> None:
    event = EventInMemory(band=BAND)
    event.act(Enter("p0", rated=(1000, 2)), EnterOthers("organiser", ("imported",)))
    assert event.records[1].body["rated"] == [1000, 2]
    assert verify_tournament(event.records) == event.t
    public = event.records[1].public
    for body in ({**public["body"], "rated": [10, 2]}, {"entrant": 0, "player": "p0"}):
        with pytest.raises(VerificationError, match="rating_barred"):
            verify_tournament([event.records[0], Record({**public, "body": body}, {})])


def test_event_without_band_asks_nobody_and_bands_are_ordered() -> None:
    event = EventInMemory()
    event.act(Enter("p0", rated=(1, 1)))
    assert "rated" not in event.records[1].body
    with pytest.raises(TournamentError, match="band"):
        EventInMemory(band={"least": 2, "most": 1})
