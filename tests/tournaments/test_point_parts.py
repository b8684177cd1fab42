"""Parts of points: they add up to the total of the standings, and each has its sentence."""

from __future__ import annotations

import functools
import itertools
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from domain.errors import RuleError
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    Draw,
    Enter,
    OpenCheckIn,
    WantBye,
    Withdraw,
)
from domain.tournaments.aggregate.point_parts import (
    BYE,
    CREDIT,
    PENALTY,
    TABLE,
    PartsReader,
    PointPartDoc,
    describe_part,
    describe_total,
)
from domain.tournaments.aggregate.result_commands import Rank, Report
from domain.tournaments.aggregate.tournament_ruling_commands import (
    AnnulTable,
    Exclude,
    Penalise,
    PlaceTable,
    RulingCommand,
    RulingEffect,
)
from domain.tournaments.results import HALF, Tally
from domain.tournaments.scoring import rank_points
from tests.tournaments.aggregates import EventInMemory

BY: tuple[str, tuple[str, ...], tuple[str, ...], str] = ("organiser", (), (), "")


SEEDS = (0, 1, 2, 3)


@functools.cache
def play_badly(seed: int) -> EventInMemory:
    """Play a Swiss event of four rounds in which people miss check-ins, leave, come back, and are ruled on."""
    chance = random.Random(seed)
    stage = {"format": "swiss", "rounds": 4, "wanted_bye": HALF}
    event = EventInMemory(stages=[stage], capacity=20)
    people = [f"p{n}" for n in range(10)]
    event.act(*(Enter(each) for each in people), OpenCheckIn(), *(CheckIn((each,)) for each in people[:9]))
    event.act(WantBye(("p8",), 2), CloseCheckIn())
    for round_ in range(1, 5):
        if round_ > 1:
            maybe(event, Withdraw((chance.choice(people),)), Enter(chance.choice(people)))
            maybe(event, WantBye((chance.choice(people),)), Enter("p10"))
            if chance.random() < 0.5:
                event.act(OpenCheckIn())
                maybe(event, *(CheckIn((each,)) for each in chance.sample(people, 8)))
                event.act(CloseCheckIn())
        event.act(Draw(1, round_))
        maybe(event, Withdraw((chance.choice(people),)))
        event.make_tables(1, round_)
        for place, table in sorted(event.t.play.tables.items()):
            if place[0] == round_ and not table.annulled:
                points = tuple(chance.sample(range(9), len(table.entrants)))
                shares, left = tuple((chance.randrange(3), 2) for _ in points), (0,) if chance.random() < 0.2 else ()
                places = rank_points(points) if chance.random() < 0.9 else ()
                event.act(Report(1, *place, table.game, 9, "0" * 64, places, points, shares, (), left))
        event.act(Rank(1, round_))
    played = [place for place, table in event.t.play.tables.items() if table.result and table.result["places"]]
    for command in (
        PlaceTable(*BY, 1, *chance.choice(played), (3, 1, 2)),
        AnnulTable(*BY, 1, *chance.choice(played), chance.choice(["void", "average"])),
        Penalise(*BY, 1, chance.randrange(9), 777),
        Exclude(*BY, 1, chance.randrange(9), chance.choice(["keep", "void", "last"])),
    ):
        rule(event, command)
    return event


def maybe(event: EventInMemory, *commands: WantBye | Withdraw | Enter | CheckIn) -> None:
    for command in commands:
        with suppress(RuleError):
            event.act(command)


def rule(event: EventInMemory, command: RulingCommand) -> None:
    with suppress(RuleError):
        event.act(replace(command, preview=RulingEffect(event.t, command).digest))


def add_up(parts: list[PointPartDoc], total: str) -> int:
    """The total by the parts alone, as a reader of the page adds it up."""
    valued = [part for part in parts if part["counts"] and part["kind"] in (TABLE, BYE, CREDIT)]
    penalties = sum(part["ticks"] for part in parts if part["kind"] == PENALTY)
    if total == "mean":
        over = len(valued) + sum(part["kind"] == "missed" for part in parts)
        return (sum(part["ticks"] for part in valued) // over if over else 0) + penalties
    if total.startswith("weights"):
        return sum(part["percent"] * part["ticks"] for part in valued) // 100 + penalties
    return sum(part["ticks"] for part in valued) + penalties


def read_parts(event: EventInMemory, total: str) -> tuple[PartsReader, Tally]:
    """The reader of an event as if it had this total."""
    tally = Tally(replace(event.t.stage(1), total=total))
    return PartsReader(event.t, 1, tally), tally


@pytest.mark.parametrize("total", ["sum", "mean", "best:2", "weights:100,80,60"])
def test_parts_add_up_to_the_total_whatever_happens(total: str) -> None:
    for seed in SEEDS:
        reader, tally = read_parts(play_badly(seed), total)
        for entrant in range(tally.stage.entrants):
            assert add_up(reader.list_parts(entrant), total) == tally.totals[entrant], (seed, entrant)


def test_each_part_has_its_sentence_in_both_languages() -> None:
    seen = set()
    texts = [load_texts("domain.tournaments", lang) for lang in LANGUAGES]
    for seed, total in itertools.product(SEEDS, ("best:2", "weights:100,80,60")):
        reader, tally = read_parts(play_badly(seed), total)
        for entrant in range(tally.stage.entrants):
            parts = reader.list_parts(entrant)
            seen |= {(part["kind"], part["cause"]) for part in parts}
            told = [describe_part(part, each) for part in parts for each in texts]
            assert all(line.endswith(".") and "{" not in line for line in told), parts
            assert describe_total(tally, entrant, texts[0])
    assert {("missed", each) for each in ("unchecked", "withdrew", "late")} <= seen
    assert {("bye", "drawn"), ("bye", "zero"), ("bye", "half"), ("table", "absent"), ("table", "left")} <= seen
    assert {("void", "ruled"), ("void", "no_result"), ("credit", "ruled"), ("penalty", "ruled")} <= seen


def test_place_by_ruling_names_ruling_and_the_place_in_the_game() -> None:
    event = EventInMemory()
    event.draw_first(9)
    event.play_round(1, 1, random.Random(1))
    table = event.t.play.tables[1, 1]
    places = table.result["places"] if table.result else []
    last = places.index(3)
    rule(event, PlaceTable(*BY, 1, 1, 1, tuple(1 if seat == last else 2 for seat in range(3))))
    number = event.t.rulings[-1].version
    (part,) = PartsReader(event.t, 1, Tally(event.t.stage(1))).list_parts(table.entrants[last])
    assert (part["place"], part["played"], part["rulings"]) == (1, 3, [number])
    told = describe_part(part, load_texts("domain.tournaments", "en"))
    assert told.startswith(f"Table 1.1: place 1 of 3 by ruling {number}, in the game 3, ")
    assert told.endswith(" game points: 1.000 points.")
