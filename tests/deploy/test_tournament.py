"""`annals tournament plan`, `next` and `score`: an event on paper, and one line for each thing that does not add up."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deploy.cli.main import DONE, FAILED, USAGE, main
from domain.kernel.records.record import Record
from domain.ledger import Ledger
from domain.service.seed_store import SeedStore
from domain.tournament_handler import TournamentHandler
from domain.tournaments.aggregate.tournament_proof import export_lines
from domain.types import Doc
from tests.api.conftest import CATALOGUE
from tests.tournaments.aggregates import drawn
from tests.tournaments.events import worked_event

Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *argv: object) -> tuple[int, str, str]:
    """Return exit status, output and errors of a part of the command."""
    return main(["tournament", *map(str, argv)]), *capsys.readouterr()


def write(folder: Path, doc: object) -> Path:
    path = folder / "results.json"
    path.write_text(json.dumps(doc), "utf-8")
    return path


def results(**change: Any) -> Doc:
    """The worked event of section 7 as a file."""
    rounds: list[Doc] = [{"pods": []} for _ in range(4)]
    for table in worked_event().tables:
        rounds[table.round - 1]["pods"].append({"entrants": [*table.entrants], "places": [*table.places]})
    return {"entrants": 9, "rounds": rounds, **change}


def one_pod(**pod: Any) -> Doc:
    return {"entrants": ["ann", "bob", "cy"], "rounds": [{"pods": [{"entrants": ["ann", "bob", "cy"], **pod}]}]}


class TestPlan:
    def test_4_sizes_and_design_are_told(self, capsys: Capture) -> None:
        status, out, _ = run(capsys, "plan", "--entrants", 32, "--seats", "4..5", "--rounds", 5, "--json")
        doc = json.loads(out)
        assert status == DONE
        assert doc["sizes"] == [5, 5, 5, 5, 4, 4, 4]
        assert (doc["plan"], doc["rounds"], doc["repeats"], doc["byes"]) == ("net@1", 5, 0, 0)

    def test_4_the_organiser_is_told_the_truth_about_repeats(self, capsys: Capture) -> None:
        _, out, _ = run(capsys, "plan", "--entrants", 32, "--seats", "6..7", "--format", "swiss")
        assert "Only the first round is free of repeats" in out

    def test_3_the_key_alone_decides_the_draw(self, capsys: Capture) -> None:
        args = ("plan", "--entrants", 9, "--seats", 3, "--json", "--key")
        one, again, other = (run(capsys, *args, 32 * pair)[1] for pair in ("ab", "AB", "ac"))
        assert one == again != other

    @pytest.mark.parametrize("form", ["league", "swiss", "knockout", "design"])
    def test_a_written_plan_is_a_file_of_running_tables(self, form: str, tmp_path: Path, capsys: Capture) -> None:
        path = tmp_path / "event.json"
        args = ("plan", "--entrants", 16, "--seats", 4, "--format", form, "--key", "ab" * 32, "--write", path)
        advance = ("--advance", "1") if form == "knockout" else ()
        assert run(capsys, *args, *advance)[0] == DONE
        status, out, _ = run(capsys, "score", path, "--json")
        assert status == DONE
        assert len(json.loads(out)["running"]) in (4, 20)
        assert run(capsys, *args, *advance)[0] == USAGE, "a file that is there stays"

    @pytest.mark.parametrize(
        ("args", "status", "told"),
        [
            (("--entrants", 3, "--seats", 4), FAILED, "(sizes_impossible)"),
            (("--entrants", 9, "--seats", "5..4"), FAILED, "(sizes_impossible)"),
            (("--entrants", 9, "--seats", "4..11"), FAILED, "(sizes_impossible)"),
            (("--entrants", 9, "--seats", 3, "--preferred", 4), FAILED, "(sizes_impossible)"),
            (("--entrants", 1001, "--seats", 4), FAILED, "(entrants_invalid)"),
            (("--entrants", 9, "--seats", 3, "--rounds", 0), FAILED, "(rounds_invalid)"),
            (("--entrants", 9, "--seats", 3, "--format", "swiss", "--rounds", 101), FAILED, "(rounds_invalid)"),
            (("--entrants", 20, "--seats", 4, "--format", "design"), FAILED, "(design_unknown)"),
            (("--entrants", 21, "--seats", 4, "--format", "knockout"), FAILED, "(sizes_impossible)"),
            (("--entrants", 9, "--seats", "three"), USAGE, "LO..HI is expected"),
            (("--entrants", 9, "--seats", 3, "--key", "ab"), USAGE, "64 hex digits"),
            (("--entrants", 9, "--seats", 3, "--advance", "1+"), USAGE, "1+3,2"),
        ],
    )
    def test_a_plan_that_does_not_add_up(
        self, args: tuple[object, ...], status: int, told: str, capsys: Capture
    ) -> None:
        found, out, err = run(capsys, "plan", *args)
        assert (found, out) == (status, "")
        assert told in err.splitlines()[-1]


def fill_in(path: Path) -> None:
    """Give every running pod its places: lower numbers are better players."""
    doc = json.loads(path.read_text("utf-8"))
    for each in doc["rounds"]:
        for pod in each["pods"]:
            ranked = sorted(pod["entrants"])
            pod["places"] = [ranked.index(entrant) + 1 for entrant in pod["entrants"]]
    path.write_text(json.dumps(doc), "utf-8")


class TestNext:
    KEY = "ab" * 32

    def test_2_a_swiss_event_on_paper(self, tmp_path: Path, capsys: Capture) -> None:
        """Four rounds of ten in threes: each time another one rests."""
        path = tmp_path / "1.json"
        plan = ("plan", "--entrants", 10, "--seats", 3, "--format", "swiss", "--key", self.KEY)
        assert run(capsys, *plan, "--write", path)[0] == DONE
        for number in (2, 3, 4):
            fill_in(path)
            path, before = tmp_path / f"{number}.json", path
            status, out, err = run(capsys, "next", before, "--seats", 3, "--key", self.KEY, "--write", path, "--json")
            drawn = json.loads(out)
            assert (status, err, drawn["round"]) == (DONE, "", number)
            assert sorted([*drawn["byes"], *(e for pod in drawn["pods"] for e in pod)]) == list(range(10))
        rounds = json.loads(path.read_text("utf-8"))["rounds"]
        assert len({entrant for each in rounds for entrant in each["byes"]}) == 4
        assert len(rounds) == 4
        fill_in(path)
        rows = json.loads(run(capsys, "score", path, "--json")[1])["standings"]
        assert all(row["tables"] + len(row["credits"]) == 4 for row in rows)

    def test_3_absent_entrants_are_not_drawn_and_volunteers_rest(self, tmp_path: Path, capsys: Capture) -> None:
        path = write(tmp_path, results(apart=[[3, 4]]))
        args = ("next", path, "--seats", "2..4", "--preferred", 3, "--key", self.KEY, "--json")
        drawn = json.loads(run(capsys, *args, "--absent", 0, 1, "--volunteers", 2)[1])
        assert drawn["byes"] == [2]
        assert sorted(e for pod in drawn["pods"] for e in pod) == [3, 4, 5, 6, 7, 8]
        assert drawn["costs"]["apart"] == 0
        assert all(not {3, 4} <= set(pod) for pod in drawn["pods"])

    def test_2_a_knockout_on_paper(self, tmp_path: Path, capsys: Capture) -> None:
        """20 in fours: 5 winners and 3 best seconds, then the first two of each, then the final."""
        path, final = tmp_path / "1.json", tmp_path / "3.json"
        knockout = ("--format", "knockout", "--advance", "1+3,2")
        run(capsys, "plan", "--entrants", 20, "--seats", 4, *knockout, "--key", self.KEY, "--write", path)
        for number, advance in ((2, "1+3"), (3, "2")):
            fill_in(path)
            path, before = tmp_path / f"{number}.json", path
            args = ("next", before, "--seats", 4, "--key", self.KEY, "--advance", advance, "--write", path)
            assert run(capsys, *args)[0] == DONE
        rounds = json.loads(final.read_text("utf-8"))["rounds"]
        assert [len(each["pods"]) for each in rounds] == [5, 2, 1]
        winners = {min(pod["entrants"]) for pod in rounds[0]["pods"]}
        second = {entrant for pod in rounds[1]["pods"] for entrant in pod["entrants"]}
        assert winners < second
        assert {entrant for pod in rounds[2]["pods"] for entrant in pod["entrants"]} < second

    @pytest.mark.parametrize(
        ("doc", "args", "told"),
        [
            (
                results(rounds=[{"pods": [{"entrants": [0, 1, 2]}]}]),
                (),
                "there are no results yet: 1.1 (round_running)",
            ),
            (results(), ("--absent", "dan"), "there is no entrant dan (unknown_entrant)"),
            (results(), ("--absent", *range(7)), "(sizes_impossible)"),
            (results(), ("--advance", "1,1"), "(advance_invalid)"),
            (results(), ("--advance", "3"), "(advance_invalid)"),
            (results(), ("--advance", "1+1"), "(sizes_impossible)"),
            (results(apart=[[1, 1]]), (), "/apart/0: two entrants are expected (pair_invalid)"),
            (results(near=[[1]]), (), "/near/0: two entrants are expected (pair_invalid)"),
            (results(near=[[]]), (), "/near/0: two entrants are expected (pair_invalid)"),
            (results(near=[[1, 9]]), (), "/near/0: there is no entrant 9 (unknown_entrant)"),
        ],
    )
    def test_a_round_that_cannot_be_drawn(
        self, doc: Doc, args: tuple[object, ...], told: str, tmp_path: Path, capsys: Capture
    ) -> None:
        status, out, err = run(capsys, "next", write(tmp_path, doc), "--seats", 3, "--key", self.KEY, *args)
        assert (status, out, len(err.splitlines())) == (FAILED, "", 1)
        assert told in err


class TestScore:
    def test_7_the_worked_event(self, tmp_path: Path, capsys: Capture) -> None:
        status, out, err = run(capsys, "score", write(tmp_path, results()), "--json")
        doc = json.loads(out)
        assert (status, err) == (DONE, "")
        assert [row["entrant"] for row in doc["standings"]] == [2, 8, 7, 5, 4, 0, 1, 3, 6]
        first = {"wins": "3", "beaten": "11/4"}
        assert doc["standings"][0] | {"ties": first} == {
            "place": 1,
            "entrant": 2,
            "ticks": 15120,
            "tables": 4,
            "credits": [],
            "missed": 0,
            "ties": first,
        }
        assert first.items() <= doc["standings"][0]["ties"].items()

    def test_7_an_explanation(self, tmp_path: Path, capsys: Capture) -> None:
        path = write(tmp_path, results())
        assert run(capsys, "score", path, "--explain", 4, 5)[1].splitlines()[-1] == (
            "5 is before 4: first and third at table 4.2."
        )
        doc = json.loads(run(capsys, "score", path, "--explain", 4, 5, "--json", "--lang", "fr")[1])
        assert doc["explanation"]["rule"] == "direct"
        assert doc["explanation"]["sentences"][-1].startswith("5 est devant 4")

    def test_9_an_annulled_table_and_a_penalty(self, tmp_path: Path, capsys: Capture) -> None:
        path = write(tmp_path, results(annulled=[{"table": "1.3", "how": "average", "reason": "wrong set-up"}]))
        rows = json.loads(run(capsys, "score", path, "--json")[1])["standings"]
        assert [row["entrant"] for row in rows] == [8, 2, 5, 7, 4, 0, 1, 3, 6]
        path = write(tmp_path, results(penalties=[{"entrant": 2, "ticks": 15121}]))
        rows = json.loads(run(capsys, "score", path, "--json")[1])["standings"]
        assert (rows[-1]["entrant"], rows[-1]["ticks"]) == (2, -1)

    def test_4_handicaps_of_bids_are_added(self, tmp_path: Path, capsys: Capture) -> None:
        path = write(tmp_path, one_pod(points=[9, 5, 5], bids=[[60, 30, 10], [50, 40, 10], None]))
        rows = json.loads(run(capsys, "score", path, "--json")[1])["standings"]
        assert [(row["entrant"], row["ticks"]) for row in rows] == [
            ("ann", 5040 - 198),
            ("cy", 1260 + 142),
            ("bob", 1260 + 54),
        ]

    def test_5_an_absent_entrant_gets_nothing_and_a_bye_the_mean(self, tmp_path: Path, capsys: Capture) -> None:
        doc = {
            "entrants": 3,
            "rounds": [
                {"pods": [{"entrants": [0, 1], "points": [3, 1]}], "byes": [2]},
                {"pods": [{"entrants": [0, 2], "points": [3, 1], "absent": [0]}]},
                {"pods": [{"entrants": [2, None], "places": [1, 2]}], "byes": [0]},
            ],
        }
        rows = json.loads(run(capsys, "score", write(tmp_path, doc), "--json")[1])["standings"]
        found = {row["entrant"]: (row["ticks"], row["credits"], row["missed"]) for row in rows}
        assert found == {0: (7560, [2520], 0), 1: (0, [], 2), 2: (7560, [2520], 0)}

    @pytest.mark.parametrize(
        ("doc", "told"),
        [
            (results(entrants=1001), "/entrants: 2 to 1000 names, or their number, are expected (entrants_invalid)"),
            (results(entrants=["a", "a"]), "(entrant_repeated)"),
            (results(entrants=["a", "b\n"]), "(entrants_invalid)"),
            (results(entrants=8), "/rounds/0/pods/2/entrants/1: there is no entrant 8 (unknown_entrant)"),
            (results(scoring="chess"), "(scoring_unknown)"),
            (results(scoring="share"), "needs game points (result_incomplete)"),
            (results(scoring="table"), "no list has the points of 3 seats (scoring_invalid)"),
            (results(total="best:0"), "(total_invalid)"),
            (results(ties=["points", "luck"]), "(tie_unknown)"),
            (results(key="ab"), "(key_invalid)"),
            (results(unit=0), "(scoring_invalid)"),
            (results(annulled=[{"table": "9.1", "how": "void"}]), "there is no table 9.1 (unknown_table)"),
            (results(annulled=[{"table": "1.1", "how": "replay"}]), "(annul_invalid)"),
            (results(penalties=[{"entrant": 9, "ticks": 1}]), "(unknown_entrant)"),
            (results(penalties=[{"entrant": 1, "ticks": -1}]), "(result_invalid)"),
            (results(rounds=[{"pods": [{"entrants": [0, 1, 0], "places": [1, 2, 3]}]}]), "(entrant_repeated)"),
            (results(rounds=[{"pods": [{"entrants": [0, 1]}], "byes": [1]}]), "(entrant_repeated)"),
            (results(rounds=[{"pods": [{"entrants": [0]}]}]), "(sizes_impossible)"),
            (results(rounds=[{"pods": [{"entrants": list(range(9)), "places": [1]}]}]), "(result_incomplete)"),
            (
                one_pod(places=[1, 1, 2]),
                "/rounds/0/pods/0/places: places 1, 1, 2: 1, 1, 3 are expected (places_invalid)",
            ),
            (one_pod(places=[1, 2, 2**60]), "/rounds/0/pods/0/places/2"),
            (one_pod(places=[1, 2, 3], solo="dan"), "(unknown_entrant)"),
            (one_pod(places=[1, 2, 3], absent=["dan"]), "(unknown_entrant)"),
            (one_pod(places=[1, 2, 3], lapses=[0, 0, -1]), "(result_invalid)"),
            (one_pod(places=[1, 2, 3], bids=[[60, 30, 11], None, None]), "the bid adds up to 101, not to 100"),
            (one_pod(places=[1, 2, 3], bids=[[60, 40], None, None]), "(bid_invalid)"),
            (one_pod(places=[1, 2, 3], bids=[[0, 0, 100], [0, 100, 0], None]), "add up to 133, for others to 234"),
            (
                one_pod(places=[1, 2, 3], bids=["60", None, None]),
                "/rounds/0/pods/0/bids/0: a list, or null, is expected",
            ),
            (one_pod(places=[1, 2, 3], seats=[0, 1, 2]), "/rounds/0/pods/0/seats: no such field"),
            (one_pod(places=[1, 2, 3.5]), "3.5: whole numbers are expected"),
            (one_pod(entrants=["ann", {}, "cy"]), "(unknown_entrant)"),
            (one_pod(entrants=["ann", True, "cy"]), "(unknown_entrant)"),
            ([], "an object is expected"),
        ],
    )
    def test_results_that_do_not_add_up(self, doc: object, told: str, tmp_path: Path, capsys: Capture) -> None:
        status, out, err = run(capsys, "score", write(tmp_path, doc))
        assert (status, out) == (FAILED, "")
        assert len(err.splitlines()) == 1
        assert told in err

    @pytest.mark.parametrize("text", [b"{", b"\xff", b'{"entrants": 2, "entrants": 3}', b"[" * 100_000])
    def test_a_file_that_is_no_json(self, text: bytes, tmp_path: Path, capsys: Capture) -> None:
        path = tmp_path / "results.json"
        path.write_bytes(text)
        status, _, err = run(capsys, "score", path)
        assert (status, len(err.splitlines())) == (FAILED, 1)

    def test_a_file_that_is_not_there(self, tmp_path: Path, capsys: Capture) -> None:
        status, _, err = run(capsys, "score", tmp_path / "none.json")
        assert (status, len(err.splitlines())) == (USAGE, 1)

    def test_an_entrant_to_explain_who_is_not_there(self, tmp_path: Path, capsys: Capture) -> None:
        status, _, err = run(capsys, "score", write(tmp_path, results()), "--explain", 1, "dan")
        assert (status, err) == (FAILED, "annals: there is no entrant dan (unknown_entrant)\n")


class TestVerify:
    def export(self) -> list[bytes]:
        """The lines of a tournament with its draw, made without a service."""
        with closing(Ledger.open("sqlite://", bytes(32))) as ledger:
            ledger.migrate()
            handler = TournamentHandler(ledger, CATALOGUE, SeedStore(ledger, ledger.keys), lambda: 1_000)
            records = ledger.read(drawn(handler).id)
        return list(export_lines(records[0], records[-1], records))

    def test_an_export_proves_itself(self, tmp_path: Path, capsys: Capture) -> None:
        path = tmp_path / "event.annals"
        path.write_bytes(b"".join(self.export()))
        status, out, _ = run(capsys, "verify", path, "--json")
        doc = json.loads(out)
        assert (status, doc["status"], doc["entrants"], doc["draws"]) == (DONE, "running", 9, 1)

    def test_the_first_difference_is_named(self, tmp_path: Path, capsys: Capture) -> None:
        """Whoever swaps two entrants has the hashes follow, and is caught by the draw."""
        header, *lines, _ = map(json.loads, self.export())
        pods = lines[-1]["body"]["rounds"][0]["pods"]
        pods[0][0], pods[1][0] = pods[1][0], pods[0][0]
        records = [Record(line, {}) for line in lines]
        path = tmp_path / "event.annals"
        path.write_bytes(b"".join(export_lines(records[0], records[-1], records)))
        status, _, err = run(capsys, "verify", path)
        assert status == FAILED
        assert f"pairing_mismatch at version {header['records']}: /rounds/0/pods/0/0 is {pods[0][0]}" in err
