"""The budget table can be made. Of its figures only ratios are judged, and milliseconds never."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from deploy.runtime import nginx
from deploy.simulation import demo
from tests.deploy.harness import ROOT
from tests.perf import figures, peers, service, slopes, streams
from tests.perf.__main__ import main
from tests.perf.figures import TOGETHER, Figure, Take, head, in_a_row, paced, quantile
from tests.perf.line import Line


@pytest.mark.timeout(1800)
def test_every_figure_can_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the whole command, with small numbers."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    kept = tmp_path / "perf.jsonl"
    assert main(["--quick", "--json", str(kept)]) == 0
    found = [json.loads(line) for line in kept.read_text().splitlines()]
    names = {figure["what"] for figure in found}
    assert {"move over HTTP, p50", "next choice, p95", "rebuild of a game", "start to ready"} <= names
    assert {"accepted moves of many tables, one API process", "views by two pumps"} <= names
    assert (names - NOT_SHOWN) | slopes.NAMES == _told() - WHOLE
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {head().splitlines()[0].count("|")}
    assert all(math.isfinite(figure["value"]) for figure in found)  # budgets are for `./run perf`, on a quiet machine


def test_streams_are_measured_beyond_connections_of_an_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hall of people has one address: the operator names its network."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    crowd, played = streams.Crowd(24, 2, 0.5), service.Played("imperunde", 3, {"turn_limit": 4}, 10, 30, 300, 5, 2, 5)
    assert crowd.games * played.seats > nginx.Limits().connections_per_address
    found = {figure.what: figure.value for figure in streams.figures(played, crowd)}
    assert found["streams that were held"] == crowd.streams


WHOLE = {
    "audit of 1,000 records",
    "random full games",
    "simultaneous resolution, median",
    "simultaneous resolution, p95",
}
"""Taken in whole runs alone."""


NOT_SHOWN = {"moves of all kinds, p50"}
"""Taken, but not in the run on the page."""


def _told() -> set[str]:
    """The quantities of the page."""
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    tables = re.findall(r"^\| quantity .*\n(?:\|.*\n)+", page, re.MULTILINE)
    return set(re.findall(r"^\| (?!---|quantity)([^|]+?) \|", "".join(tables), re.MULTILINE))


def test_a_load_can_be_put_on_a_service(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    small = {"tables": 32, "active": 1, "streams": 2, "due": 0, "seconds": 0.3}
    assert main(["load", *(part for name, value in small.items() for part in (f"--{name}", str(value)))]) == 0
    told = capsys.readouterr().out
    assert "| moves, p95 | SQLite, 32 tables |" in told
    assert "| slope of databases | 2 to 32 tables |" in told


def test_slopes_are_of_published_routes_and_stand_on_the_page() -> None:
    routes = (ROOT / "tests" / "published" / "routes.txt").read_text("utf-8")
    for path in slopes.KINDS.values():
        asked = path(0, 100, random.Random(1)).partition("?")[0]
        assert f"/v1/games/<game:game>{asked} GET" in routes
    assert _told() >= slopes.NAMES


def test_what_a_peer_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(peers.MissingError, match="npm is not there"):
        peers.install()


def test_rates_are_compared_with_each_peer() -> None:
    rates = {"ours, one process": [100.0, 130.0, 120.0], "it, in memory": [60.0, 50.0, 70.0], "it, in files": []}
    *_, ours, peer = peers.tabulate(rates, peers.Crowd())
    assert ours == "| ours, one process | 100, 130, 120 | 2.00 |"
    assert peer == "| it, in memory | 60, 50, 70 | 1.00 |"


def test_a_ratio_is_ours_for_each_of_the_bare_limit() -> None:
    assert Figure("a", "b", 6.0, "ms", "", 2.0, "c").ratio == 3.0
    assert Figure("a", "b", 6.0, "ms", "").ratio is None


@pytest.mark.parametrize(
    ("figure", "holds"),
    [
        (Figure("a", "b", 21, "ms", "<= 20 for 500"), False),
        (Figure("a", "b", 21, "ms", "<= 20 for 500", pace=1.2), None),
        (Figure("a", "b", 19, "ms", "<= 20 for 500", pace=5.5), None),
        (Figure("a", "b", 19, "ms", "<= 20 for 500", pace=1.05), True),
        (Figure("a", "b", 450, "/s", ">= 500"), False),
        (Figure("a", "b", 450, "/s/core", ">= 500", pace=1.2), None),
        (Figure("a", "b", 1501, "bytes", "<= 1500", pace=2), False),
        (Figure("a", "b", 4.1, "ms", "<= 2 x bare", 2, "c", pace=2), False),
        (Figure("a", "b", 1.8, "/s", ">= 1.7 times", 1, "c", pace=0.5), True),
        (Figure("a", "b", 1.3, "/s", ">= 1.7 times", 1, "c", pace=1.4, bare_pace=1), True),
        (Figure("a", "b", 1.8, "/s", ">= 1.7 times", 1, "c", pace=1, bare_pace=1.2), False),
        (Figure("a", "b", 4.1, "ms", ""), None),
    ],
)
def test_ratio_is_judged_everywhere_and_time_on_its_machine(figure: Figure, holds: bool | None) -> None:
    assert figure.holds is holds


def test_what_is_taken_together_has_the_pace_of_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was taken in turn with the pace has its own."""
    paces, now = iter([1.0, 3.0, 5.0]), [0.0]
    monkeypatch.setattr("tests.perf.figures.pace", lambda: next(paces))
    monkeypatch.setattr("tests.perf.figures.time", SimpleNamespace(perf_counter=lambda: now[0]))

    def taken() -> Iterator[Figure]:
        now[0] += 2 * TOGETHER
        yield Figure("a", "b", 1, "ms", "")
        yield Figure("c", "d", 1, "ms", "")
        yield Figure("e", "f", 1, "ms", "", pace=7)
        now[0] += 2 * TOGETHER
        yield Figure("g", "h", 1, "ms", "")

    assert [figure.pace for figure in paced(taken())] == [2, 2, 7, 4]


@pytest.mark.parametrize(
    ("paces", "rates", "turns", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 2.0], 3, Take(2.0, 1.0)),
        ([1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 4.0, 6.0, 5.0], 3, Take(5.0, 1.0)),
        ([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], [1.0, 2.0, 3.0, 3.0, 3.0, 3.0], 3, Take(3.0, 2.0)),
        ([1.0, 1.1, 1.2, 1.1], [1.0, 2.0, 3.0], 3, Take(2.0, 1.15)),
    ],
    ids=["quiet", "a neighbour comes and goes", "a neighbour stays", "as everywhere"],
)
def test_what_is_taken_beside_neighbours_does_not_count(
    monkeypatch: pytest.MonkeyPatch, paces: list[float], rates: list[float], turns: int, expected: Take
) -> None:
    found, taken = iter(paces), iter(rates)
    monkeypatch.setattr(figures, "pace", lambda _: next(found))
    monkeypatch.setattr(figures, "_quickest", {})
    assert in_a_row(lambda: next(taken), turns) == pytest.approx(expected)
    assert not [*found, *taken], "no more than that was taken"


def test_turn_with_neighbours_unfelt_by_pace_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are known by the bare limit, before or after."""
    bare = iter([*(1.0, 1.0, 1.0, 1.0), *(1.0, 2.0, 2.0, 2.0), *(1.0, 1.0, 1.0, 1.0), *(1.0, 1.0, 1.0, 1.1)])
    ours = iter([3.0, 9.0, 4.0, 5.0])
    monkeypatch.setattr(figures, "pace", lambda _: 1.0)
    monkeypatch.setattr(figures, "_quickest", {})
    monkeypatch.setattr(figures, "WARM", 0)
    monkeypatch.setattr(figures, "seconds", lambda work: work() / 1000)
    (first, second) = figures.in_turn(lambda: next(bare), lambda: next(ours), lambda: 2.0, least=0)
    assert first == pytest.approx((4.0, 1.0, 1.0))
    assert second.ours == 2.0
    assert not [*bare, *ours], "no more than that was taken"


def test_the_table_says_what_is_over_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = [Figure("a", "b", 6.0, "ms", "<= 7", pace=0.99), Figure("new", "d", 4.0, "bytes", "<= 3")]
    monkeypatch.setattr("tests.perf.__main__.table", lambda quick: iter(here))
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["1 over budget", "- new, d"]
    here.pop()
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "every budget that was judged holds"


def test_figures_are_kept_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A figure that the older file does not have has no ratio."""
    kept, here = tmp_path / "perf.jsonl", [Figure("a", "b", 6.0, "ms", "", 2.0, "c")]
    monkeypatch.setattr("tests.perf.__main__.table", lambda quick: iter(here))
    monkeypatch.setattr("tests.perf.figures.pace", lambda: 1.0)
    assert main(["--json", str(kept)]) == 0
    capsys.readouterr()
    here[:] = [Figure("a", "b", 3.0, "ms", ""), Figure("new", "b", 1.0, "ms", "")]
    assert main(["--compare", str(kept)]) == 0
    head_row, _, same, new = capsys.readouterr().out.splitlines()[2:6]
    assert head_row.endswith("| before |")
    assert same == "| a | b | 3 ms |  |  | 1.00 | 3 |  |  | 0.50 |"
    assert new == "| new | b | 1 ms |  |  | 1.00 | 1 |  |  |"


def test_a_quantile_is_a_value_that_was_taken() -> None:
    assert quantile([5, 1, 3], 0.5) == 3
    assert quantile([5, 1, 3], 0.95) == 5


class Passing(Line):
    """Knows which are open."""

    open: ClassVar[set[Line]] = set()

    def __init__(self, *args: str) -> None:
        super().__init__(*args)
        self.open.add(self)

    def close(self) -> None:
        super().close()
        self.open.remove(self)


def test_who_moves_to_and_fro_begins_where_nobody_has_moved_yet() -> None:
    """In the midst of such a decision the seat may be ready already, or the last one that is not."""
    left = [{"kind": kind} for kind in ("diplomacy", "diplomacy", "rest", "rest", "diplomacy", "diplomacy")]

    class Client:
        def call(self, *_: str) -> dict[str, int]:
            return {"version": 7}

    class Game:
        seats, path, position = [Client()], "", 0

        def find_decision(self, _: Client) -> dict[str, str]:
            return left[0]

        def step(self) -> None:
            del left[0]

    game: Any = Game()
    assert service.Table(game, service.Played("imperunde", 6)).version == 7
    assert len(left) == 2


def test_where_a_game_ends_early_another_one_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether one lasts is up to its dice, and these to its id: the table is whole all the same."""
    opened: list[demo.DemoGame] = []
    real = demo.open_table

    def open_table(*args: Any) -> demo.DemoGame:
        opened.append(game := real(*args))
        step = game.step if len(opened) > 1 else lambda: False

        def checked() -> bool:
            assert not Passing.open, "the service ends a connection that idles while the game goes on"
            return step()

        monkeypatch.setattr(game, "step", checked)
        return game

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(demo, "open_table", open_table)
    monkeypatch.setattr(service, "Line", Passing)
    at_first = [demo.DemoError("nobody can move to and fro any more")]
    real_table = service.Table

    def table(*args: Any) -> service.Table:
        if at_first:
            raise at_first.pop()
        return real_table(*args)

    monkeypatch.setattr(service, "Table", table)
    played = service.Played("imperunde", 3, {"turn_limit": 4}, 10, 30, 300, 3)
    with demo.run_service(tmp_path / "data") as address:
        found = list(service.moves(address, played, tmp_path / "bare.sqlite"))
    assert len(opened) >= 3
    where = [f.where for f in found if f.what == "move over HTTP, p50"]
    assert [w.rpartition(" to ")[0] for w in where] == [f"imperunde, 3 seats: versions {n}" for n in (10, 30, 300)]
