"""The questions of docs/questions.md are answered, and rightly, from exports one after the other."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.conftest import ROOT as TESTS

LOGS = [TESTS / "logs" / name for name in ("aor3.jsonl.xz", "se7-3.jsonl.xz", "soe4.jsonl.xz")]


def ask(statement: str) -> list[tuple[Any, ...]]:
    """The rows that answer a statement; none of one that makes a table."""
    found = duckdb.sql(statement)
    return found.fetchall() if found else []


def test_the_questions_are_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(lzma.decompress(path.read_bytes()) for path in LOGS)
    (tmp_path / "exports.jsonl").write_bytes(text)
    monkeypatch.chdir(tmp_path)
    page = (TESTS.parent / "docs/questions.md").read_text("utf-8")
    statements = [
        each for block in re.findall(r"^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL) for each in block.split(";")
    ]
    *_, games, moves, dice = (ask(each) for each in statements if each.strip())

    ruleset, records, types, faces = "", Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, int]]()
    for line in map(json.loads, text.splitlines()):
        ruleset = line.get("ruleset", ruleset)
        public = line.get("public", {})
        records[ruleset] += "public" in line
        types.update((ruleset, move["type"]) for _, move in public.get("acts", ()))
        faces.update((draw[1], draw[3]) for draw in public.get("draws", ()) if isinstance(draw[2], list))
    assert {row[0]: row[1:3] for row in games} == {name: (1, count) for name, count in records.items()}
    assert {(row[0], row[1]): row[2] for row in moves} == types
    assert {(row[0], row[1]): row[2] for row in dice} == faces
    assert len(types) > 20
    assert len(faces) > 20
