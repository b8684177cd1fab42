"""Byes: their worth, and that avoiding a table never pays."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import RuleError
from domain.tournaments import pods
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    Draw,
    Enter,
    OpenCheckIn,
    TournamentCommand,
    WantBye,
    Withdraw,
)
from domain.tournaments.aggregate.result_commands import Rank, Report
from domain.tournaments.aggregate.tournament_proof import parse_export, verify_tournament
from domain.tournaments.results import HALF, MEAN, ZERO, Stage, TableResult, Tally
from domain.tournaments.scoring import rank_points
from tests.tournaments.aggregates import EventInMemory

POINT = 5040
WIN, SECOND, LAST, BYE, MISSED, WANTED = "win", "second", "last", "bye", "missed", "wanted"
PLACES = {WIN: 1, SECOND: 2, LAST: 3}
TOTALS = ["sum", "mean", "best:2", "best:3", "weights:100,80,60"]


def find_total(course: Sequence[str], total: str = "sum", worth: Mapping[int, str] | None = None) -> int:
    """Return the total of entrant 0 of three after rounds that went so for him; `worth` of byes by their rounds."""
    rounds = list(enumerate(course, 1))
    others = {1: (2, 3), 2: (1, 3), 3: (1, 2)}
    tables = [
        TableResult(number, 1, (0, 1, 2), (PLACES[each], *others[PLACES[each]]))
        for number, each in rounds
        if each in PLACES
    ]
    byes = frozenset((number, 0) for number, each in rounds if each in (BYE, WANTED))
    wanted = {(number, 0): (worth or {}).get(number, ZERO) for number, each in rounds if each == WANTED}
    stage = Stage(3, tuple(tables), len(course), byes, total=total, wanted=wanted, counts_missed=True)
    return Tally(stage).totals[0]


class TestWorth:
    def test_a_win_and_wanted_byes_are_one_win(self) -> None:
        assert find_total([WIN, WANTED, WANTED, WANTED, WANTED]) == POINT

    def test_leaving_after_a_good_start_keeps_no_mean(self) -> None:
        assert (
            find_total([BYE, WIN, MISSED, MISSED, MISSED]) == find_total([BYE, WIN, LAST, LAST, LAST]) == 1.25 * POINT
        )

    def test_terms_may_give_one_wanted_bye_half_or_all_of_the_mean(self) -> None:
        course = [WIN, SECOND, WANTED]
        assert [find_total(course, worth={3: worth}) / POINT for worth in (ZERO, HALF, MEAN)] == [1.5, 1.875, 2.25]

    @given(
        st.lists(st.sampled_from([WIN, SECOND, LAST, BYE, "avoided"]), min_size=1, max_size=8),
        st.sampled_from(TOTALS),
        st.data(),
    )
    def test_avoiding_table_never_gives_more_than_being_last_there(
        self, course: list[str], total: str, data: st.DataObject
    ) -> None:
        avoided = [data.draw(st.sampled_from([MISSED, WANTED])) if each == "avoided" else each for each in course]
        last = [LAST if each == "avoided" else each for each in course]
        assert find_total(avoided, total) <= find_total(last, total)


def code_of(event: EventInMemory, command: TournamentCommand) -> str:
    with pytest.raises(RuleError) as caught:
        event.act(command)
    return caught.value.code


class TestWantedByes:
    def event(self, wanted_bye: str | None, people: int = 7) -> EventInMemory:
        """An event of three rounds whose check-in is open."""
        event = EventInMemory(stages=[{"format": "swiss", "rounds": 3, "wanted_bye": wanted_bye}])
        event.act(*(Enter(f"p{n}") for n in range(people)), OpenCheckIn())
        event.act(*(CheckIn((f"p{n}",)) for n in range(people)))
        return event

    def play(self, event: EventInMemory, *wanting: str) -> None:
        """Play three rounds with seven people; these want the bye of each round but the first."""
        event.act(CloseCheckIn())
        for round_ in (1, 2, 3):
            if round_ > 1:
                event.act(*(WantBye((each,)) for each in wanting))
            event.act(Draw(1, round_))
            event.play_round(1, round_, random.Random(round_))

    def test_byes_wanted_in_play_give_nothing(self) -> None:
        event = self.event(MEAN)
        self.play(event, "p5")
        byes = [each.byes for each in event.t.play.rounds]
        assert byes[1:] == [(5,), (5,)]
        tally = Tally(event.t.stage(1))
        assert tally.credits[5] == [0] * len(tally.credits[5])
        assert verify_tournament(parse_export(event.export())) == event.t

    @pytest.mark.parametrize(("worth", "share"), [(ZERO, 0), (HALF, 0.5), (MEAN, 1)])
    def test_one_that_was_wanted_before_first_draw_has_its_worth(self, worth: str, share: float) -> None:
        event = self.event(worth)
        event.act(WantBye(("p5",), 2))
        self.play(event)
        assert event.t.play.rounds[1].byes == (5,)
        tally = Tally(event.t.stage(1))
        own = tally.values[5]
        assert tally.credits[5] == [int(share * (sum(own) // len(own)))]

    def test_the_last_round_gives_nothing(self) -> None:
        event = self.event(MEAN)
        event.act(WantBye(("p5",), 3))
        self.play(event)
        assert event.t.play.rounds[2].byes == (5,)
        assert Tally(event.t.stage(1)).credits[5][-1] == 0

    def test_bye_is_wanted_before_first_draw_then_by_the_round(self) -> None:
        event = self.event(HALF)
        event.act(WantBye(("p5",), 2))
        assert code_of(event, WantBye(("p5",), 3)) == "bye_wanted"
        assert code_of(event, WantBye(("p4",), 4)) == "not_eligible"
        event.act(CloseCheckIn(), Draw(1, 1))
        event.play_round(1, 1, random.Random(1))
        assert code_of(event, WantBye(("p4",), 3)) == "not_eligible"
        event.act(WantBye(("p4",)))

    def test_stored_events_keep_their_byes(self) -> None:
        event = self.event(None)
        self.play(event, "p5")
        tally = Tally(event.t.stage(1))
        assert tally.credits[5] == [sum(tally.values[5]) // len(tally.values[5])] * len(tally.credits[5])
        assert "wanted_bye" not in str(event.records[0].body)


PLAY, MISS, WANT, GO, BACK, GONE_AFTER_THE_DRAW, CONCEDE = "play", "miss", "want", "go", "back", "after", "concede"


class TestAWholeEvent:
    """One of ten schemes, and the commands of the event decide what becomes of it."""

    @patch.object(pods, "FEW_SWAPS", 64)  # where people sit is no matter here
    @settings(max_examples=25)
    @given(
        st.lists(
            st.tuples(st.sampled_from([PLAY, MISS, WANT, GO, BACK, GONE_AFTER_THE_DRAW, CONCEDE]), st.integers(1, 4)),
            min_size=4,
            max_size=4,
        ),
        st.sampled_from(["sum", "mean", "best:3", "weights:100,80,60"]),
        st.booleans(),
        st.integers(0, 3),
    )
    def test_no_scheme_gives_more_than_being_last_at_its_tables(
        self, schemes: list[tuple[str, int]], total: str, is_late: bool, seed: int
    ) -> None:
        stage = {"format": "swiss", "rounds": 4, "wanted_bye": ZERO, "total": total}
        event = EventInMemory(stages=[stage], capacity=20)
        people, chance = [f"p{n}" for n in range(10)], random.Random(seed)
        event.act(*(Enter(each) for each in people[is_late:]))
        schemer = next((n for n, each in enumerate(event.t.entrants) if each.player == "p0"), 9)
        for round_, (scheme, place) in enumerate(schemes, 1):
            if is_late and round_ == 2:
                attempt(event, Enter("p0"))
            play_scheme(event, round_, scheme)
            event.make_tables(1, round_)
            for where, table in sorted(event.t.play.tables.items()):
                if where[0] == round_ and not table.annulled:
                    points = chance.sample(range(20, 29), len(table.entrants))
                    left: tuple[int, ...] = ()
                    if schemer in table.entrants:
                        seat = table.entrants.index(schemer)
                        points[seat] = 30 if place == 1 else 10 if place > 2 else 24
                        left = (seat,) if scheme == CONCEDE else ()
                    told = tuple(points)
                    event.act(Report(1, *where, table.game, 9, "0" * 64, rank_points(told), told, left=left))
            event.act(Rank(1, round_))
        counted = event.t.stage(1)
        drawn = sum(entrant == schemer and (n, entrant) not in counted.wanted for n, entrant in counted.byes)
        values = Tally(counted).values[schemer]
        played = [*values, *[0] * (4 - drawn - len(values))]
        rested = [sum(played) // len(played) if played else 0] * drawn
        assert Tally(counted).totals[schemer] <= add_by(total, [*played, *rested])
        assert verify_tournament(parse_export(event.export())) == event.t


def add_by(total: str, values: list[int]) -> int:
    """The total of these tables and credits."""
    method, _, argument = total.partition(":")
    best = sorted(values, reverse=True)
    if method == "mean":
        return sum(values) // len(values)
    if method == "best":
        return sum(best[: int(argument)])
    if method == "weights":
        return sum(int(weight) * value for weight, value in zip(argument.split(","), best, strict=False)) // 100
    return sum(values)


def attempt(event: EventInMemory, *commands: TournamentCommand) -> None:
    """Act, as far as the rules allow it."""
    for command in commands:
        with suppress(RuleError):
            event.act(command)


def play_scheme(event: EventInMemory, round_: int, scheme: str) -> None:
    """Come to the draw of a round, or not, by the commands of p0; the others check in."""
    others = [each.player for each in event.t.entrants if each.player != "p0"]
    if scheme == GO:
        attempt(event, Withdraw(("p0",)))
    if scheme == BACK:
        attempt(event, Withdraw(("p0",)), Enter("p0"))
    event.act(OpenCheckIn(), *(CheckIn((each,)) for each in others))
    if scheme == WANT:
        attempt(event, CheckIn(("p0",)), WantBye(("p0",)))
    elif scheme not in (MISS, GO):
        attempt(event, Enter("p0"), CheckIn(("p0",)))
    event.act(CloseCheckIn(), Draw(1, round_))
    if scheme == GONE_AFTER_THE_DRAW:
        attempt(event, Withdraw(("p0",)))
