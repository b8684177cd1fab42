"""A long game proved by several processes: the same numbers, the same first fault, and nobody is left behind."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from domain.errors import VerificationError
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.proof import verify
from domain.kernel.records.export import Export, dump, parse
from domain.kernel.records.record import Record
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR
from tests.kernel.machine import play_on
from tests.rulesets import FLOWS
from workers.jobs import parallel_audit

SEED = bytes(range(32))
RULES: Any = load_shipped().get("imperunde@1")


@cache
def game() -> Export:
    """With rewinds into what another process decides."""
    match = InMemoryGame(RULES, 3, SEED, options={"turn_limit": 4})
    rng = random.Random(5)
    play_on(match, rng, 30)
    match.rewind(match.game.version - 9)
    play_on(match, rng, 40)
    match.rewind(12, fresh=True)
    play_on(match, rng, 40)
    match.rewind(match.game.version - 30)
    play_on(match, rng, 20)
    return parse(dump(match.records, DIRECTOR))


def changed(export: Export, version: int, change: Callable[[Record], Record]) -> Export:
    records = list(export.records)
    records[version - 1] = change(records[version - 1])
    return replace(export, records=tuple(records))


@pytest.mark.parametrize("count", range(1, 6))
def test_every_cut_proves_what_is_proved_from_end_to_end(count: int) -> None:
    export = game()
    parts = parallel_audit.split_records(len(export.records), count)
    assert [parts[0][0], parts[-1][1]] == [0, len(export.records)]
    found = [verify.audit(RULES, export.records[:upto], SEED, after) for after, upto in parts]
    draws, decided = verify.audit(RULES, export.records, SEED)
    assert (sum(d for d, _ in found), sum(n for _, n in found)) == (draws, decided)


def test_processes_say_what_one_says() -> None:
    export = game()
    assert parallel_audit.replay_in_processes(export, SEED, 3) == verify.replay(RULES, export, SEED)


@pytest.mark.parametrize("version", [30, 100])
def test_the_first_fault_is_told_wherever_it_is(version: int) -> None:
    def later(record: Record) -> Record:
        return Record({**record.public, "at": record.public["at"] + 1}, record.packs)

    forged = changed(changed(game(), version, later), len(game().records), later)
    with pytest.raises(VerificationError) as alone:
        verify.replay(RULES, forged, SEED)
    with pytest.raises(VerificationError) as shared:
        parallel_audit.replay_in_processes(forged, SEED, 2)
    assert (shared.value.code, shared.value.version) == (alone.value.code, alone.value.version)
    assert alone.value.version in (version, version + 1)


def test_where_processes_die_one_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_audit, "MIN_RECORDS", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(parallel_audit, "replay_in_processes", lambda *_: (_ for _ in ()).throw(EOFError))
    assert parallel_audit.replay(RULES, game(), SEED) == verify.replay(RULES, game(), SEED)


def test_rules_that_are_not_shipped_are_played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_audit, "MIN_RECORDS", 1)
    monkeypatch.setattr(
        parallel_audit, "replay_in_processes", lambda *_: pytest.fail("a process would not know these rules")
    )
    entry = FLOWS[0]
    match = InMemoryGame(entry.rules, entry.seats, SEED, options=entry.options)
    play_on(match, random.Random(1), 20)
    assert parallel_audit.replay(entry.rules, parse(dump(match.records, DIRECTOR)), SEED).decided == len(match.records)
