"""Names that clients, operators and stores know stay as they are when modules, classes and functions are renamed.

`ANNALS_TEST_REFRESH=1 ./run test tests/published` rewrites the files. For an addition that is enough; a change or a
removal also needs a record in docs/decisions/archive. `ANNALS_TEST_REFRESH=ledger` also makes a new stored ledger,
which ends the proof that older ledgers can be read. tests/api/test_promise.py compares `/v1/openapi.json`.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from deploy.config.settings import Settings
from deploy.runtime import wiring
from domain.kernel.game.command import Command
from domain.kernel.game.table_commands import Open
from tests.postgres import postgres_server, postgres_url
from tests.published.kept import answers
from tests.published.lists import HERE, LISTS, lines, postgresql

__all__ = ["postgres_server", "postgres_url"]

REFRESH = os.environ.get("ANNALS_TEST_REFRESH", "")


def held(name: str, now: str) -> None:
    """Compare the text with the file; fail with the lines that differ."""
    file = HERE / name
    if REFRESH:
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, "utf-8")
    before = file.read_text("utf-8")
    changed = "\n".join(difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=0))
    assert not changed, f"{name} differs; the head of test_published.py tells what that needs:\n{changed[:10_000]}"


@pytest.mark.parametrize("name", LISTS)
def test_what_is_published_stays(name: str) -> None:
    held(name, LISTS[name]())


def test_tables_of_postgresql_stay(postgres_url: str, tmp_path: Path) -> None:
    wiring.migrate(Settings(tmp_path / "data", postgres_url, postgres_url))
    held("postgresql.sql", postgresql(postgres_url))


def test_what_was_stored_is_read_and_answered_the_same(tmp_path: Path) -> None:
    held("answers.json", lines(answers(tmp_path, anew=REFRESH == "ledger")))


def test_each_act_has_a_verb_of_its_own() -> None:
    kinds: list[type] = [Open, *Command.__subclasses__()]
    assert len({vars(kind)["verb"] for kind in kinds}) == len(kinds)
