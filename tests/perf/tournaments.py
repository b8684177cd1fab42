"""Figures of tournaments: sums, draws and ratings alone, then tables and results of a service over HTTP."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from deploy.simulation.demo import DemoClient, run_service
from domain.ratings import MU, NEWCOMER, SIGMA, RatedSeat, RatedTable, RatingList, rate_table
from domain.tournaments.draw import draw_order
from domain.tournaments.formats import draw_swiss_round
from domain.tournaments.next_round import Relations, collect_state
from domain.tournaments.sizes import SeatRange
from domain.tournaments.ties import TieBreaks
from domain.types import Doc, Json
from tests.perf.figures import Figure, in_a_row, in_turn, processor_seconds, quantile, seconds
from tests.tournaments.test_speed import KEY, add_points, make_stage

SEATS = SeatRange(5, 5, 5)
RULESET = "age_of_reason"
TABLE: Doc = {"undo": "none"}
PASSWORD = "three winds that nobody foresees"


class Event(NamedTuple):
    """What is measured."""

    rated: int = 2_000
    """Tables of five that are rated."""
    few: int = 200
    """Entrants of a draw; five times as many are drawn once, those ten times."""
    entrants: int = 49
    """Entrants of the event over HTTP."""
    seats: int = 7
    least: float = 3.0
    """Seconds for which the sums are taken."""


def figures(event: Event) -> Iterator[Figure]:
    """One figure after the other."""
    yield from standings(event)
    yield from draws(event)
    yield from ratings(event)
    quotas = {"ANNALS_ACCOUNTS": "1000", "ANNALS_TABLES": "100000"}
    with (
        tempfile.TemporaryDirectory(prefix="annals-perf-") as folder,
        run_service(Path(folder) / "data", **quotas) as address,
    ):
        yield from tables(address, event)


def standings(event: Event) -> Iterator[Figure]:
    """All tie-breaks against one pass over the results that only adds points."""
    stage = make_stage(200, 10)
    (turn,) = in_turn(lambda: add_points(stage), lambda: TieBreaks(stage).ranking, least=event.least)
    bare = (turn.bare, "only adding points")
    yield Figure(
        "standings with all ties", "200 entrants, 10 rounds", turn.ours, "ms", "<= 10 x bare", *bare, turn.pace
    )


def draws(event: Event) -> Iterator[Figure]:
    """A draw of five times as many entrants against ten draws, after four rounds."""
    many = 5 * event.few
    ours = in_a_row(lambda: processor_seconds(lambda: draw_alone(many)), unit="s")
    ten = in_a_row(lambda: sum(processor_seconds(lambda: draw_alone(event.few)) for _ in range(10)), unit="s")
    limit = f"ten draws of {event.few}"
    yield Figure(
        "draw of a Swiss round",
        f"{many} entrants in fives, time of the processor",
        ours.value,
        "s",
        "<= 0.8 x bare",
        ten.value,
        limit,
        ours.pace,
    )


def draw_alone(entrants: int) -> None:
    """The sums of a draw after four rounds."""
    state = collect_state(TieBreaks(make_stage(entrants, 4)), Relations())
    draw_swiss_round(KEY, draw_order(KEY, range(entrants)), SEATS, state)


def ratings(event: Event) -> Iterator[Figure]:
    """All tables rated, against the library's calls alone."""
    from openskill.models import ThurstoneMostellerFull

    chance = random.Random(1)
    people = [chance.sample(range(500), 5) for _ in range(event.rated)]
    places = [[chance.randint(1, 3) for _ in range(5)] for _ in people]
    rated = [
        RatedTable(str(n), n, "x", tuple(RatedSeat(str(p), place) for p, place in zip(*each, strict=True)))
        for n, each in enumerate(zip(people, places, strict=True))
    ]
    model = ThurstoneMostellerFull()
    newcomers = [[model.rating(MU, SIGMA)] for _ in range(5)]
    rate_table([NEWCOMER] * 5, [1, 2, 3, 4, 5])

    def ours() -> None:
        found = RatingList()
        for table in rated:
            found.add(table)

    def bare() -> None:
        for each in places:
            model.rate(newcomers, ranks=list(map(float, each)))

    (turn,) = in_turn(bare, ours, least=event.least)
    where = f"{event.rated} tables of five"
    yield Figure(
        "ratings folded from zero", where, turn.ours, "ms", "<= 1.5 x bare", turn.bare, "the library's calls", turn.pace
    )


# --- over HTTP -------------------------------------------------------------------------------------------------


def tables(address: str, event: Event) -> Iterator[Figure]:
    """Rounds of tables with their people, against as many that these open, enter and start one by one."""
    director, people = _register(address, "Organiser"), [_register(address, f"P {n}") for n in range(event.entrants)]
    path = _start(director, people, event)
    rounds = range(1, director.call("GET", path)["rounds"] + 1)
    count = len(rounds) * (event.entrants // event.seats)
    opening: Doc = {**TABLE, "ruleset": RULESET, "seats": event.seats}
    openings = [seconds(lambda: _open(director, people[: event.seats], opening)) for _ in range(count)]
    made = [seconds(partial(_make, director, f"{path}/stages/1/rounds/{n}")) for n in rounds]
    limit = f"{count} opened, entered and started one by one"
    yield Figure(
        "tables of a tournament made",
        f"{count} of {event.seats} seats, over HTTP",
        1000 * sum(made),
        "ms",
        "<= 1 x bare",
        1000 * sum(openings),
        limit,
    )
    waits = list(_report(director, path, event))
    where = f"{len(waits)} tables closed one by one"
    wait = quantile(waits, 0.95)
    yield Figure("result on the list, p95", where, wait, "s", "<= 1 x bare", 1.0, "a second")


def _register(address: str, name: str) -> DemoClient:
    body: Json = {"name": name, "password": PASSWORD}
    made = DemoClient(address).call("POST", "/v1/accounts", body)
    return DemoClient(address, made["token"])


def _start(director: DemoClient, people: Sequence[DemoClient], event: Event) -> str:
    """Open a league in which all rounds may be played at once, and draw it; its path."""
    seats: Doc = {"least": event.seats, "most": event.seats, "preferred": event.seats}
    stages: Json = [{"format": "league", "rounds": event.seats, "concurrent": event.seats}]
    terms: Doc = {"ruleset": RULESET, "table": TABLE, "title": "Many", "seats": seats, "stages": stages, "reveal": 0}
    path = f"/v1/tournaments/{director.call('POST', '/v1/tournaments', terms)['tournament']}"
    for person in people:
        person.call("POST", f"{path}/entrants", {})
    director.call("POST", f"{path}/phases", {"phase": "checking"})
    for person in people:
        person.call("POST", f"{path}/checkin", {})
    director.call("POST", f"{path}/phases", {"phase": "drawing"})
    director.call("POST", f"{path}/stages/1/rounds/1/draw", {})
    return path


def _open(director: DemoClient, people: Sequence[DemoClient], opening: Doc) -> None:
    game = f"/v1/games/{director.call('POST', '/v1/games', opening)['game']}"
    for seat, person in enumerate(people):
        person.call("POST", f"{game}/seats", {"seat": seat})
    director.call("POST", f"{game}/start", {})


def _make(director: DemoClient, round_: str) -> None:
    left = director.call("POST", f"{round_}/tables", {})["left"]
    assert not left


def _report(director: DemoClient, path: str, event: Event) -> Iterator[float]:
    """Seconds from the answer to a table's close until the round shows its result, which nobody asks for."""
    round_ = f"{path}/stages/1/rounds/1"
    for number in range(event.entrants // event.seats):
        game = director.call("GET", round_)["pods"][number]["game"]
        director.call("POST", f"/v1/games/{game}/close", {"reason": "void"})
        begun = time.perf_counter()
        while not director.call("GET", round_)["pods"][number]["reported"]:
            time.sleep(0.01)
            if time.perf_counter() - begun > 60:
                raise RuntimeError("no result for a minute")
        yield time.perf_counter() - begun
