"""The pipeline: its steps in their order, the same result for the same inputs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from domain.games.egc.rules.pipeline import STEPS
from domain.kernel.schema.canonical_json import canonical
from tests.games.egc.s05_pipeline.test_example import SHEET, example

ROOT = Path(__file__).parents[4]


def test_the_steps_come_in_their_order() -> None:
    """EGC-5.1: every step is complete before the next begins."""
    numbers = [int(step[1:]) for step, _ in STEPS]
    assert numbers == sorted(numbers)
    game = example()
    steps = [int(f["step"][1:]) for f in game.resolve({0: SHEET}) if "step" in f]
    assert steps == sorted(steps)
    assert {1, 2, 4, 6, 9, 13, 14, 15} <= set(steps)


SCRIPT = """
import random
from domain.bots import heuristic_move
from domain.games.egc import RULESET
from domain.kernel.game.in_memory_game import InMemoryGame
rng = random.Random(7)
match = InMemoryGame(RULESET, 10, bytes(32))
while match.state.turn < 9:
    if match.state.top.engine:
        match.resolve()
    else:
        seat = match.state.top.owing[0]
        match.play(seat, heuristic_move(match, seat, rng))
print(match.records[-1].hash)
"""


def test_the_same_inputs_give_the_same_bytes_in_any_process() -> None:
    """EGC-0.6, EGC-5.1: whatever the hash seed of the process."""

    def run(seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, cwd=ROOT, capture_output=True, check=True)
        return done.stdout.decode()

    assert run("1") == run("2") != ""


def test_a_resolution_repeated_gives_the_same_facts() -> None:
    """EGC-0.6: a function of state, sheets and draws."""
    first, second = example(), example()
    assert canonical(first.resolve({0: SHEET})) == canonical(second.resolve({0: SHEET}))
