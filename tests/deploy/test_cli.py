"""The command line: results on standard output, everything else on standard error, and the three exit statuses."""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from deploy.cli.main import DONE, FAILED, INTERRUPTED, USAGE, main
from deploy.simulation import narrate
from domain.bots import deciding_seats
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records import export
from domain.kernel.records.record import Record, facts_for
from domain.kernel.schema.canonical_json import canonical
from domain.rollouts import random_move
from domain.ruleset_registry import RulesetRegistry, load_shipped
from domain.types import Json, Viewer
from tests.kernel.flows import sealed, skirmish
from tests.kernel.scenarios import COMBAT, with_step
from tests.rulesets import FLOWS

ROOT = Path(__file__).parents[2]
SEED = b"annals specification seed, fixed"
CATALOGUE = RulesetRegistry(entry.rules for entry in FLOWS)

FLOWS_CLI = (
    "import sys; from deploy.cli.main import main; from domain.ruleset_registry import RulesetRegistry;"
    "from tests.rulesets import FLOWS;"
    "sys.exit(main(None, RulesetRegistry(entry.rules for entry in FLOWS)))"
)


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def doc(self) -> Json:
        """Standard output as one JSON document, and nothing else."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: object, catalogue: RulesetRegistry = CATALOGUE) -> Ran:
        status = main([str(arg) for arg in argv], catalogue)
        return Ran(status, *capsys.readouterr())

    return call


@pytest.fixture
def match() -> InMemoryGame[sealed.Sealed]:
    """A battle: seat 0 has attacked with a sealed card, the others have not answered."""
    match = InMemoryGame(sealed.RULESET, 3, SEED)
    match.play(0, {"type": "attack", "target": 1, "card": next(c for c in match.state.hands[0] if c != "alliance")})
    return match


def written(folder: Path, match: InMemoryGame[sealed.Sealed], viewer: int | str = "public") -> Path:
    path = folder / f"{viewer}.jsonl"
    path.write_bytes(export.dump(match.records, viewer))
    return path


class TestRulesets:
    def test_all_are_listed(self, run: Run) -> None:
        ran = run("rulesets")
        assert ran.status == DONE
        for entry in FLOWS:
            assert entry.name in ran.out
        assert 'turns=10  {"type": "integer", "minimum": 1, "maximum": 99}' in ran.out

    def test_as_a_document(self, run: Run) -> None:
        docs = {doc["ruleset"]: doc for doc in run("rulesets", "--json").doc}
        assert set(docs) == {entry.name for entry in FLOWS}
        assert docs["skirmish@1"]["seats"] == [3, 4]
        assert docs["skirmish@1"]["options"]["turns"]["default"] == 12
        assert docs["skirmish@1"]["bots"] == ["builder"]

    def test_a_ruleset_with_a_heuristic_says_so(self, run: Run) -> None:
        clever = RulesetRegistry([replace(skirmish.RULESET, bot=lambda *_: iter(()))])
        assert run("rulesets", "--json", catalogue=clever).doc[0]["bots"] == ["builder", "beginner", "heuristic"]

    def test_what_is_shipped_is_the_default(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["rulesets", "--json"]) == DONE
        assert isinstance(json.loads(capsys.readouterr().out), list)


class TestSimulate:
    def test_figures_as_a_document(self, run: Run) -> None:
        ran = run("simulate", "skirmish@1", "--seats", 4, "--games", 2, "--seed", 3, "--option", "turns=5", "--json")
        assert (ran.status, ran.err) == (DONE, "")
        assert (ran.doc["games"], ran.doc["finished"], ran.doc["options"]) == (2, 2, {"turns": 5})

    def test_figures_as_lines(self, run: Run) -> None:
        ran = run("simulate", "skirmish", "--games", 1)
        assert ran.status == DONE
        assert "finished: 1\n" in ran.out
        assert "refusals_by_code:\n" in ran.out

    def test_exports_are_written(self, run: Run, tmp_path: Path) -> None:
        run("simulate", "sealed", "--games", 2, "--export", tmp_path / "games")
        files = sorted((tmp_path / "games").iterdir())
        assert [p.name for p in files] == ["sealed-0-0.jsonl", "sealed-0-1.jsonl"]
        assert run("verify", files[0]).status == DONE

    def test_a_bot_per_seat(self, run: Run) -> None:
        clever = RulesetRegistry([replace(skirmish.RULESET, bot=lambda *_: iter([{"type": "pass"}]))])
        bots = "heuristic,builder,builder"
        ran = run("simulate", "skirmish", "--games", 1, "--bots", bots, "--json", catalogue=clever)
        assert ran.doc["bot"] == ["heuristic", "builder", "builder"]

    def test_a_fault_is_an_exit_status(self, run: Run) -> None:
        endless = RulesetRegistry([replace(skirmish.RULESET, meta=replace(skirmish.RULESET.meta, max_moves=2))])
        ran = run("simulate", "skirmish", "--games", 1, "--json", catalogue=endless)
        assert ran.status == FAILED
        assert ran.doc["finished"] == 0

    def test_values_of_options_are_json_or_words(self, run: Run) -> None:
        told = run("simulate", "skirmish", "--option", "turns=many")
        assert (told.status, told.out) == (FAILED, "")
        assert told.err == "annals: /options/turns: an integer from 1 to 99 is expected\n"

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            (["chess"], "there is no ruleset chess"),
            (["skirmish@9"], "there is no ruleset skirmish@9"),
            (["skirmish", "--seats", "9"], "/seats: 3, 4 are possible"),
            (["skirmish", "--option", "fog=1"], "/options/fog: no such option"),
        ],
    )
    def test_what_the_rules_refuse(self, run: Run, args: list[str], told: str) -> None:
        ran = run("simulate", *args, "--json")
        assert (ran.status, ran.out) == (FAILED, "")
        assert told in ran.err


class TestUsage:
    @pytest.mark.parametrize(
        "args",
        [
            [],
            ["dance"],
            ["simulate"],
            ["simulate", "skirmish", "--games", "0"],
            ["simulate", "skirmish", "--jobs", "none"],
            ["simulate", "skirmish", "--option", "turns"],
            ["simulate", "skirmish", "--option", "turns=1", "--option", "turns=2"],
            ["simulate", "skirmish", "--bot", "genius"],
            ["simulate", "skirmish", "--bot", "heuristic"],
            ["simulate", "skirmish", "--bots", "builder,genius,builder"],
            ["simulate", "skirmish", "--bots", "builder,builder"],
            ["simulate", "skirmish", "--bot", "builder", "--bots", "builder,builder,builder"],
            ["scenario"],
            ["scenario", "no-such-file.json"],
            ["verify", "no-such-file.jsonl"],
            ["replay", "no-such-file.jsonl"],
            ["replay", "no-such-file.jsonl", "--version", "1", "--viewer", "somebody"],
            ["show", "no-such-file.jsonl", "--lang", "la"],
        ],
        ids=" ".join,
    )
    def test_wrong_usage(self, run: Run, args: list[str]) -> None:
        ran = run(*args)
        assert (ran.status, ran.out) == (USAGE, "")
        assert ran.err

    def test_help_is_no_error(self, run: Run) -> None:
        for args in (["--help"], ["simulate", "--help"]):
            ran = run(*args)
            assert (ran.status, ran.err) == (DONE, "")
            assert ran.out.startswith("usage: annals")


class TestScenario:
    def file(self, folder: Path, name: str, doc: Json) -> Path:
        path = folder / name
        path.write_text(doc if isinstance(doc, str) else json.dumps(doc), encoding="utf-8")
        return path

    def test_a_scenario_that_holds(self, run: Run, tmp_path: Path) -> None:
        path = self.file(tmp_path, "combat.json", COMBAT)
        ran = run("scenario", path)
        assert (ran.status, ran.out) == (DONE, f"{path}: 6 steps as expected\n")

    def test_one_that_fails_does_not_stop_the_others(self, run: Run, tmp_path: Path) -> None:
        bad = self.file(tmp_path, "bad.json", with_step(0, expect={"state": {"/gold/0": 5}}))
        odd = self.file(tmp_path, "odd.json", "{")
        good = self.file(tmp_path, "good.json", COMBAT)
        ran = run("scenario", bad, odd, good)
        lines = ran.out.splitlines()
        assert ran.status == FAILED
        assert lines[0] == f"{bad}: failed: step 1: state /gold/0: 5 expected, 4 found"
        assert lines[1].startswith(f"{odd}: failed: not JSON")
        assert lines[2] == f"{good}: 6 steps as expected"

    def test_the_trace(self, run: Run, tmp_path: Path) -> None:
        out = run("scenario", "--trace", self.file(tmp_path, "combat.json", COMBAT)).out
        assert "step 0: version 6, started\n" in out
        assert '  draw {"label": "battle.army", "value": 6}\n' in out
        assert '  fact {"t": "gold_set", "seat": 0, "gold": 4}\n' in out
        assert "step 5: refused: invalid_choice SK-4 {}\n" in out

    def test_the_trace_shows_what_has_changed_and_what_is_open(self, run: Run, tmp_path: Path) -> None:
        out = run("scenario", "--trace", self.file(tmp_path, "combat.json", COMBAT)).out
        start, first, *_ = out.split("step ")[1:]
        assert '  open {"id": "0-1", "kind": "turn", "must": [0]' in start
        assert "  state " not in start
        assert "  state /gold/0: 6 -> 4\n" in first
        assert '  open {"id": "0-3", "kind": "support", "must": [2]' in first

    def test_the_trace_is_bounded(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = self.file(tmp_path, "combat.json", COMBAT)
        monkeypatch.setattr("deploy.cli.main.MAX_WIDTH", 9)
        assert re.search(r"  state /frames: \[\{\"n\": 1,\.\.\. -> \[\{", run("scenario", "--trace", path).out)
        monkeypatch.setattr("deploy.cli.main.MAX_CHANGES", 1)
        first = run("scenario", "--trace", path).out.split("step ")[2]
        assert first.count("  state /") == 1
        assert re.search(r"  state: [1-9][0-9]* more places\n", first)

    def test_variants_are_reported_one_by_one(self, run: Run, tmp_path: Path) -> None:
        step = COMBAT["steps"][0]
        bad = {"name": "bad", "steps": [{**step, "expect": {"state": {"/gold/0": 5}}}]}
        ways = [bad, {"name": "good", "steps": [step]}]
        path = self.file(tmp_path, "ways.json", {**COMBAT, "steps": [], "variants": ways})
        ran = run("scenario", path)
        assert (ran.status, ran.out.splitlines()) == (
            FAILED,
            [
                f"{path}: variant bad: failed: step 1: state /gold/0: 5 expected, 4 found",
                f"{path}: variant good: 1 steps as expected",
            ],
        )
        assert "variant good, step 1: version 7, moved\n" in run("scenario", "--trace", path).out

    def test_state_that_rules_cannot_bear_does_not_stop_the_others(self, run: Run, tmp_path: Path) -> None:
        egc = {"ruleset": "egc@1", "table": {"seats": 10}, "steps": []}
        bad = self.file(tmp_path, "bad.json", {**egc, "patch": {"levels": {"france": {"fortress": 1}}}})
        good = self.file(tmp_path, "good.json", egc)
        ran = run("scenario", bad, good, catalogue=load_shipped())
        assert (ran.status, ran.err) == (FAILED, "")
        assert ran.out.splitlines() == [
            f"{bad}: failed: /patch/levels/france/fortress: there is no infrastructure fortress",
            f"{good}: 0 steps as expected",
        ]

    def test_a_file_that_is_not_there_does_not_stop_the_others(self, run: Run, tmp_path: Path) -> None:
        good = self.file(tmp_path, "good.json", COMBAT)
        ran = run("scenario", tmp_path / "none.json", good)
        assert (ran.status, ran.out) == (USAGE, f"{good}: 6 steps as expected\n")
        assert "none.json" in ran.err


class TestVerify:
    def test_a_closed_game(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        match.close("example")
        path = written(tmp_path, match)
        ran = run("verify", path, "--json")
        assert (ran.status, ran.err) == (DONE, "")
        assert ran.doc["verified"] is True
        assert (ran.doc["records"], ran.doc["draws"], ran.doc["head"]) == (7, 3, match.game.hash)
        assert "verified: true\n" in run("verify", path, "--head", match.game.hash).out

    def test_any_head_of_the_game_holds(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        path = written(tmp_path, match)
        for record in match.records:
            assert f"records 1 to {record.version} are the game" in run("verify", path, "--head", record.hash).out

    def test_another_head_is_refused(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        for code in ("head_unknown", "chain_broken"):  # of a game that goes on, of a closed one
            ran = run("verify", written(tmp_path, match), "--head", "0" * 64, "--json")
            assert ran.status == FAILED
            assert (ran.doc["verified"], ran.doc["code"], ran.doc["version"]) == (False, code, match.game.version)
            assert code in ran.err
            if code == "head_unknown":
                match.close("example")

    def test_a_changed_record_is_refused(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        path = written(tmp_path, match)
        path.write_bytes(path.read_bytes().replace(b'"target":1', b'"target":2'))
        assert "chain_broken" in run("verify", path).err
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))  # as in older files
        assert run("verify", path).status == DONE  # their last record is chained by nothing
        match.play(1, {"type": "commit", "card": next(c for c in match.state.hands[1] if c != "alliance")})
        path = written(tmp_path, match)
        path.write_bytes(path.read_bytes().replace(b'"target":1', b'"target":2'))
        ran = run("verify", path)
        assert ran.status == FAILED
        assert "chain_broken at version 7" in ran.err

    def test_what_is_no_export(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "noise.jsonl"
        for data in (b"", b"\n", b"noise\nnoise\n", canonical({"annals": 1}) + b"\n"):
            path.write_bytes(data)
            assert run("verify", path).status == FAILED

    def test_a_ruleset_that_is_not_shipped(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        ran = run("verify", written(tmp_path, match), catalogue=RulesetRegistry([]))
        assert ran.status == FAILED
        assert "there is no ruleset sealed@1" in ran.err


class TestReplay:
    def test_the_board_as_everybody_saw_it(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        doc = run("replay", written(tmp_path, match), "--version", 5, "--json").doc
        assert doc["public"] == sealed.RULESET.player_view(match.game_at(5).state, "public")
        assert doc["own"] is None
        assert [d["kind"] for d in doc["decisions"]] == ["turn"]

    def test_the_board_as_a_seat_saw_it(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        doc = run("replay", written(tmp_path, match, 0), "--version", 6, "--viewer", 0, "--json").doc
        assert doc["own"] == sealed.RULESET.player_view(match.state, 0)
        assert [d["kind"] for d in doc["decisions"]] == ["commit"]

    def test_a_closed_game_shows_every_seat_what_it_saw_then(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]
    ) -> None:
        state = match.state
        match.close("example")
        path = written(tmp_path, match)
        for viewer in (0, 1, 2, "director"):
            doc = run("replay", path, "--version", 6, "--viewer", viewer, "--json").doc
            assert doc["own"] == sealed.RULESET.player_view(state, viewer)
        assert run("replay", path, "--version", 7, "--json").doc["own"] == sealed.RULESET.player_view(state, "director")

    def test_keys_step_through_it_both_ways(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        last = match.records[-1].version
        monkeypatch.setattr("sys.stdin", io.StringIO("\x1b[C0n$p?q"))
        lines = run("replay", written(tmp_path, match, 0), "--viewer", 0).out.splitlines()
        shown = [int(line[1:].partition("/")[0]) for line in lines if line.startswith("[")]
        assert shown == [1, 2, 1, 2, last, last - 1]
        assert any(line.startswith("    ") and " -> " in line for line in lines)

    def test_the_end_of_its_input_ends_it(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("n"))
        assert run("replay", written(tmp_path, match), "--lang", "fr").status == 0

    def test_decisions_are_numbered_after_rewinds(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]
    ) -> None:
        match.rewind(5)
        doc = run("replay", written(tmp_path, match), "--version", 7, "--json").doc
        assert (doc["kind"], doc["decisions"][0]["id"]) == ("rewound", match.decisions()[0].id)

    @pytest.mark.parametrize("viewer", [0, 1, "director"])
    def test_a_public_export_does_not_hold_secrets(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed], viewer: int | str
    ) -> None:
        ran = run("replay", written(tmp_path, match), "--version", 6, "--viewer", viewer, "--json")
        assert (ran.status, ran.out) == (FAILED, "")
        assert "the file is the export for the public of a game that is not closed" in ran.err

    def test_a_seat_s_export_does_not_hold_those_of_others(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]
    ) -> None:
        path = written(tmp_path, match, 0)
        assert run("replay", path, "--version", 6, "--viewer", "public").status == DONE
        assert run("replay", path, "--version", 6, "--viewer", 1).status == FAILED

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            (["--version", "0"], "the file holds the versions 1 to 6"),
            (["--version", "7"], "the file holds the versions 1 to 6"),
            (["--version", "1", "--viewer", "3"], "the seats of this game are 0 to 2"),
        ],
    )
    def test_what_the_file_does_not_hold(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed], args: list[str], told: str
    ) -> None:
        ran = run("replay", written(tmp_path, match, "director"), *args)
        assert ran.status == FAILED
        assert told in ran.err

    def test_every_version_has_a_board(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        match.close("example")
        path = written(tmp_path, match)
        for version in range(1, 8):
            for viewer in ("public", 0, "director"):
                ran = run("replay", path, "--version", version, "--viewer", viewer)
                assert ran.status == DONE
                assert ran.out.startswith(f"match (sealed@1), version {version} (")


class TestShow:
    def lines(self, ran: Ran) -> list[str]:
        assert (ran.status, ran.err) == (DONE, "")
        return ran.out.splitlines()

    def test_the_public_sees_no_secrets(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        lines = self.lines(run("show", written(tmp_path, match)))
        assert lines[0] == "     1  The game is opened."
        assert lines[1] == "     2  Seat 1 joins the game."
        assert lines[-1] == "     6  Seat 1: attack."

    def test_each_viewer_is_told_what_it_may_read(self) -> None:
        """A seat its own cards besides; when the game is closed the director everything."""
        rules = load_shipped().latest("imperunde")
        match, rng = InMemoryGame(rules, 3, bytes(32)), random.Random(1)
        while not any("card_drawn" in {f["t"] for f in facts_for(r, 0)} for r in match.records):
            seat = rng.choice(deciding_seats(match))
            match.play(seat, random_move(rules, match.state, seat, rng))
        match.close("example")
        found = export.parse(export.dump(match.records, "director"))
        viewers: tuple[Viewer | None, ...] = ("public", 0, "director", None)
        told = [list(narrate.render_text(narrate.build_story(found, rules, "en", viewer))) for viewer in viewers]
        public, seat, director, _ = map(len, told)
        assert public < seat < director
        assert told[2] == told[3], "a closed game is told whole"

    def test_what_was_undone_is_marked(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        match.rewind(5)
        lines = self.lines(run("show", written(tmp_path, match)))
        assert lines[-2].startswith("~    6  Seat 1")
        assert lines[-1] == "     7  The game goes back to version 5."

    def test_a_picture_is_one_of_the_public_board(self, run: Run, tmp_path: Path) -> None:
        shipped, out = load_shipped(), tmp_path / "board.svg"
        path = written(tmp_path, InMemoryGame(shipped.latest("struggle_of_empires"), 2, bytes(32)))
        assert self.lines(run("show", path, "--picture", out, "--lang", "fr", catalogue=shipped)) == []
        assert "Amérique" in out.read_text("utf-8")
        assert run("show", path, "--picture", out, "--version", 99, catalogue=shipped).status != DONE

    def test_a_game_without_a_map_has_no_picture(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]
    ) -> None:
        ran = run("show", written(tmp_path, match), "--picture", tmp_path / "board.svg")
        assert (ran.status != DONE, "no map" in ran.err) == (True, True)

    def test_in_french(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        lines = self.lines(run("show", written(tmp_path, match), "--lang", "fr"))
        assert lines[1] == "     2  Le joueur 1 rejoint la partie."

    def test_a_missed_deadline_names_the_seats(
        self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]
    ) -> None:
        match.lapse()
        lines = self.lines(run("show", written(tmp_path, match)))
        assert lines[-2:] == ["     7  Seat 2: commit.", "     7  Seat 3: commit."]

    def test_only_what_came_since(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        path = written(tmp_path, match)
        assert self.lines(run("show", path, "--since", 5)) == ["     6  Seat 1: attack."]
        assert self.lines(run("show", path, "--since", 6)) == []
        ran = run("show", path, "--since", 7)
        assert (ran.status, ran.err) == (FAILED, "annals: the file holds the versions 1 to 6\n")

    def test_in_other_formats(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        """Markdown strikes out what was undone; JSON says it."""
        match.rewind(5)
        path = written(tmp_path, match)
        lines = self.lines(run("show", path, "--format", "markdown"))
        assert lines[0].startswith("# ")
        assert lines[-2:] == ["- 6: ~~Seat 1: attack.~~", "- 7: The game goes back to version 5."]
        doc = json.loads(run("show", path, "--format", "json").out)
        entries = doc["turns"][0]["sections"][0]["entries"]
        assert [e["undone"] for e in entries] == [False] * 5 + [True, False]
        assert entries[5]["text"] == ["Seat 1: attack."]

    def test_secrets_of_others_are_refused(self, run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed]) -> None:
        assert run("show", written(tmp_path, match, 0), "--viewer", 1).status == FAILED


def forged(match: InMemoryGame[sealed.Sealed], version: int, **change: Json) -> bytes:
    """An export with one public part changed and the chain made good again."""
    records: list[Record] = []
    for old in match.records:
        change_here = change if old.version == version else {}
        prev = records[-1].hash if records else ""
        records.append(Record({**old.public, **change_here, "prev": prev}, {}))
    return export.dump(records)


@pytest.mark.parametrize(
    ("version", "change"),
    [
        (1, {"body": {"game": "match", "ruleset": "sealed@1"}}),
        (6, {"facts": [{"t": "nonsense"}]}),
        (6, {"facts": [7]}),
        (6, {"acts": [7]}),
        (6, {"draws": [[]]}),
    ],
)
def test_a_forged_file_ends_in_a_message(
    run: Run, tmp_path: Path, match: InMemoryGame[sealed.Sealed], version: int, change: Json
) -> None:
    path = tmp_path / "forged.jsonl"
    path.write_bytes(forged(match, version, **change))
    for args in (["replay", path, "--version", 6], ["show", path]):
        ran = run(*args)
        assert ran.status in (DONE, FAILED)
        assert ran.status == DONE or ran.err.startswith("annals: ")


class TestProcess:
    """The program as a process of its own."""

    def call(self, *argv: object) -> subprocess.CompletedProcess[str]:
        args = [sys.executable, "-c", FLOWS_CLI, *map(str, argv)]
        return subprocess.run(args, capture_output=True, text=True, check=False, cwd=ROOT)

    def test_standard_output_of_a_json_call_is_one_document(self, tmp_path: Path) -> None:
        done = self.call("simulate", "sealed", "--games", 2, "--jobs", 2, "--export", tmp_path, "--json")
        assert done.returncode == DONE
        assert json.loads(done.stdout)["finished"] == 2
        assert done.stderr == ""
        for args in (["verify", tmp_path / "sealed-0-0.jsonl"], ["rulesets"]):
            done = self.call(*args, "--json")
            assert done.returncode == DONE
            assert json.loads(done.stdout)

    def test_exit_statuses(self) -> None:
        assert self.call("rulesets").returncode == DONE
        assert self.call("simulate", "chess", "--json").returncode == FAILED
        assert self.call("simulate").returncode == USAGE

    def test_a_reader_that_goes_away_is_no_error(self) -> None:
        args = [sys.executable, "-c", FLOWS_CLI, "rulesets"]
        env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=env) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == DONE

    def test_the_module_is_the_program(self) -> None:
        args = [sys.executable, "-P", "-m", "deploy", "--help"]
        env = {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(args, capture_output=True, text=True, check=False, env=env)
        assert (done.returncode, done.stderr) == (DONE, "")
        assert "simulate" in done.stdout

    def test_an_interrupted_command_says_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(_: object, __: object) -> int:
            raise KeyboardInterrupt

        monkeypatch.setattr("deploy.cli.main.list_rulesets", interrupted)
        assert main(["rulesets"]) == INTERRUPTED

    def test_nor_one_that_is_still_being_loaded(self) -> None:
        script = """
import runpy, sys
class Interrupt:
    @staticmethod
    def find_spec(name, *_):
        if name == "deploy.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt)
runpy.run_module("deploy", run_name="__main__")
"""
        args = [sys.executable, "-P", "-c", script]
        done = subprocess.run(args, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(ROOT)})
        assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "")
