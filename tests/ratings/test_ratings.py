"""The rule of ratings: figures of the library, divided; and what holds for every table."""

from __future__ import annotations

import math

import pytest
from openskill.models import ThurstoneMostellerFull

from domain.ratings import NEWCOMER, RatedSeat, RatedTable, RatingList, Ratings, Skill, rate_table


def table(*people: str, game: str = "g", leavers: tuple[str, ...] = (), adopter: str = "") -> RatedTable:
    seats = tuple(RatedSeat(player, place, player == adopter) for place, player in enumerate(people, 1))
    return RatedTable(game, 0, "orders", seats, leavers)


@pytest.mark.parametrize("places", [(1, 2, 3), (2, 1, 2, 4, 4), tuple(range(1, 11))])
def test_table_moves_people_as_the_library_does(places: tuple[int, ...]) -> None:
    skills = [Skill(20.0 + seat, 8.0 - seat / 4) for seat in range(len(places))]
    model = ThurstoneMostellerFull()
    bare = model.rate([[model.rating(*skill)] for skill in skills], ranks=list(map(float, places)))
    for old, new, (own,) in zip(skills, rate_table(skills, places), bare, strict=True):
        share = 1 / (len(places) - 1)
        assert new.mu == pytest.approx(old.mu + (own.mu - old.mu) * share, abs=0.001)
        variance = old.sigma**2 + (own.sigma**2 - old.sigma**2) * share
        assert new.sigma == pytest.approx(math.sqrt(variance), abs=0.001)


@pytest.mark.parametrize(("seats", "sigma"), [(3, 7.631), (5, 7.631), (10, 7.856)])
def test_first_among_newcomers_is_worth_the_same_everywhere(seats: int, sigma: float) -> None:
    after = rate_table([NEWCOMER] * seats, range(1, seats + 1))
    assert after[0] == Skill(29.231, sigma)
    assert after[-1] == Skill(20.769, sigma)


def test_shared_places_and_the_order_of_seats_are_treated_alike() -> None:
    tied = rate_table([NEWCOMER] * 4, [1, 2, 2, 4])
    assert tied[1] == tied[2]
    skills, places = [Skill(20.0 + n, 5.0) for n in range(4)], [3, 1, 1, 4]
    assert rate_table(skills[::-1], places[::-1]) == rate_table(skills, places)[::-1]


def test_who_leaves_is_rated_last_and_nobody_else_gains_by_it() -> None:
    with_leaver, without = RatingList(), RatingList()
    with_leaver.add(table("a", "b", "c", leavers=("d",)))
    without.add(table("a", "b", "c"))
    assert {p: with_leaver.skills[p] for p in "abc"} == without.skills
    assert with_leaver.skills["d"].mu < NEWCOMER.mu
    assert with_leaver.changes["d"][0].place == 0


def test_who_adopts_a_seat_can_only_gain() -> None:
    ratings = RatingList()
    ratings.add(table("a", "b", "c", adopter="c"))
    assert "c" not in ratings.skills
    ratings.add(table("c", "a", "b", adopter="c"))
    assert ratings.skills["c"].mu > NEWCOMER.mu


def test_a_list_for_each_game_and_one_for_all() -> None:
    ratings = Ratings()
    ratings.add([table("a", "b"), table("a"), table("a", "a", "b")])
    assert {name: len(found.changes["a"]) for name, found in ratings.lists.items()} == {"orders": 1, "all": 1}
    assert ratings.lists["all"].is_provisional("a")


def test_who_concedes_is_last_behind_guests_and_bots_too() -> None:
    ratings = RatingList()
    seats = (RatedSeat("a", 4), RatedSeat("b", 5))
    ratings.add(RatedTable("g", 0, "orders", seats, ("leaver",)))
    assert ratings.skills["leaver"].mu < NEWCOMER.mu


def test_a_table_of_two_counts_when_one_concedes() -> None:
    table_ = RatedTable("g", 0, "orders", (RatedSeat("a", 1),), ("b",))
    assert table_.is_rated
    ratings = RatingList()
    ratings.add(table_)
    assert ratings.skills["b"].mu < NEWCOMER.mu
    assert ratings.skills["a"] == NEWCOMER, "nobody gains by it"
    assert not RatedTable("g", 0, "orders", (RatedSeat("a", 1),)).is_rated
