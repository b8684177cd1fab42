"""What is refused before the rules see a move keeps its pointer, words and code, whoever checks it."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.errors import RuleError
from domain.kernel.rules.decide import check_shape
from domain.ruleset_registry import load_shipped
from domain.types import Json

CORPUS = Path(__file__).parent / "malformed.jsonl.xz"
"""[ruleset, move, null or [code, rule, detail]]: 3,540 moves, most ill-formed, judged by hand-written shapes."""


def lines(ruleset: str) -> Iterator[tuple[Json, Json]]:
    for line in lzma.decompress(CORPUS.read_bytes()).splitlines():
        of, move, said = json.loads(line)
        if of == ruleset:
            yield move, said


@pytest.mark.parametrize("ruleset", ["struggle_of_empires@1", "egc@1", "imperunde@1"])
def test_declarations_refuse_what_was_refused_in_the_same_words(ruleset: str) -> None:
    rules = load_shipped().get(ruleset)
    compared = 0
    for move, said in lines(ruleset):
        engine = rules.moves[move["type"]].admission.by == "engine"
        try:
            check_shape(rules, None if engine else 0, move)
            found = None
        except RuleError as error:
            found = [error.code, error.rule, error.detail]
        assert found == said, move
        compared += 1
    assert compared > 500
