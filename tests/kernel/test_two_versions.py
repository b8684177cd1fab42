"""Two versions of one ruleset side by side: stored games go on under theirs, and are compared under the other."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deploy.cli import compare_command
from deploy.cli.main import main
from domain.errors import RuleError, StoreDamaged
from domain.kernel.game.game_fold import fold
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof.compare import compare_rules
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.kernel.records.audience import TABLE
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import Ruleset
from domain.ruleset_registry import RulesetRegistry
from domain.types import DIRECTOR
from tests.api.conftest import Table, make_site
from tests.kernel.flows import windows
from tests.kernel.flows.duel import FIRST, SECOND, WornDuel

BOTH = RulesetRegistry([FIRST, SECOND])


def dueling(rules: Ruleset[Any], strikes: int = 99, seed: bytes = bytes(32)) -> InMemoryGame[Any]:
    match = InMemoryGame(rules, 2, seed, game="duel")
    for _ in range(strikes):
        if match.state.over:
            break
        match.play(match.state.top.owing[0], {"type": "strike"})
    return match


def test_games_of_first_version_go_on_beside_the_second(tmp_path: Path) -> None:
    site = make_site(tmp_path, RulesetRegistry([FIRST]))
    tables = [site.table("duel", 2)]
    assert tables[0].move(0, {"type": "strike"}).status_code == 201
    site.close()
    stores = {name: (tmp_path / name).read_bytes() for name in ("ledger", "views")}
    site = make_site(tmp_path, BOTH, stores)
    tables = [Table(site, tables[0].game, tables[0].director, tables[0].tokens), site.table("duel", 2)]
    assert [each.get().json["ruleset"] for each in tables] == ["duel@1", "duel@2"]
    for table, rules in zip(tables, (FIRST, SECOND), strict=True):
        while table.get().json["status"] == "running":
            (decision,) = table.get("/decisions").json["decisions"]
            assert table.move(decision["must"][0], {"type": "strike"}).status_code == 201
        whole = export.parse(table.get("/export").data)
        assert verify(rules, whole).closed
        assert type(fold(rules, whole.records).state) is rules.state
    assert isinstance(site.services.commands.game(tables[1].game).state, WornDuel)
    site.close()


def test_first_difference_is_named_and_an_equal_game_has_none() -> None:
    match = dueling(FIRST)
    dice = [(r.version, r.public["draws"][0][3]) for r in match.records if r.public.get("draws")]
    first = next(version for version, value in dice if value == 4)
    found = compare_rules(SECOND, match.records, bytes(32))
    assert found is not None
    assert (found.version, found.kind, found.code, found.part) == (first, "moved", "differs", "facts 0")
    assert compare_rules(FIRST, match.records, bytes(32)) is None
    assert compare_rules(SECOND, match.records[: first - 1], bytes(32)) is None, "another field is no difference"


def test_refused_table_and_failing_rules_are_named() -> None:
    match = dueling(FIRST, 3)

    def refuse(*_: object) -> None:
        raise RuleError("not_now")

    def fail(*_: object) -> None:
        raise KeyError("x")

    larger = replace(FIRST, meta=replace(FIRST.meta, seats=(3, 4)))
    others = [replace(FIRST, handlers={**FIRST.handlers, next(iter(FIRST.handlers)): each}) for each in (refuse, fail)]
    found = [compare_rules(rules, match.records, bytes(32)) for rules in (*others, larger)]
    assert [(f.version, f.code, f.part) if f else None for f in found] == [
        (5, "not_now", ""),
        (5, "fails", "KeyError"),
        (1, "table_refused", ""),
    ]


def test_rewinds_and_hidden_facts_are_compared_too() -> None:
    match = InMemoryGame(windows.RULESET, 3, bytes(32))
    match.play(0, {"type": "attack", "target": 1})
    match.rewind(match.game.version - 1, fresh=True)
    match.close("void")
    whole = export.parse(export.dump(match.records, DIRECTOR))
    assert compare_rules(windows.RULESET, whole.records, bytes(32)) is None

    def other_setup(draft: Any) -> None:
        windows.RULESET.setup(draft)
        draft.add(windows.DeckSet(draft.state.deck[::-1]), TABLE)

    found = compare_rules(replace(windows.RULESET, setup=other_setup), whole.records, bytes(32))
    assert found is not None
    assert (found.kind, found.code) == ("started", "differs")


def test_command_compares_exports_and_all_games_of_a_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = dueling(FIRST)
    match.close()
    (path := tmp_path / "duel.annals").write_bytes(export.dump(match.records, DIRECTOR))
    assert main(["compare", "duel@1", "duel@1", str(path)], BOTH) == 0
    assert capsys.readouterr().out == f"duel: the same in {len(match.records)} records\n"
    assert main(["compare", "duel@1", "duel@2", str(path), "--json"], BOTH) == 1
    doc = json.loads(capsys.readouterr().out)
    assert (doc["game"], doc["same"], doc["code"], doc["part"]) == ("duel", False, "differs", "facts 0")
    assert main(["compare", "duel@2", "duel@1", str(path)], BOTH) == 1
    assert "duel@1" in capsys.readouterr().err
    path.write_bytes(export.dump(match.records[:-1], DIRECTOR))
    assert main(["compare", "duel@1", "duel@2", str(path)], BOTH) == 1
    assert "not closed" in capsys.readouterr().err


def test_without_files_all_games_of_the_service_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also running ones; of a damaged one it says so, and goes on."""
    with closing(make_site(tmp_path, BOTH)) as site:
        tables = [site.table("duel@1", 2), site.table("duel@2", 2), site.table("duel@1", 2)]
        damaged, running = sorted([tables[0].game, tables[2].game])
        read = site.services.ledger.read

        def read_or_fail(game: str, *span: int, **more: int) -> list[Record]:
            if game == damaged:
                raise StoreDamaged(game)
            return read(game, *span, **more)

        services = SimpleNamespace(
            reader=site.services.reader,
            ledger=SimpleNamespace(read=read_or_fail),
            seed_store=site.context.seed_store,
        )
        monkeypatch.setattr(compare_command, "open_services", lambda *_: nullcontext(services))
        monkeypatch.setattr(
            compare_command, "load_settings_of", lambda _: SimpleNamespace(require_service=lambda: None)
        )
        assert main(["compare", "duel@1", "duel@2"], BOTH) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith((damaged, running))] == [
        f"{damaged}: unreadable",
        f"{running}: the same in 4 records",
    ]
