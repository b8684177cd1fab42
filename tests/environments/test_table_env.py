"""Environments of all five games, checked by PettingZoo's own tests, and whole episodes beside them."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, max_cycles_test, parallel_seed_test, render_test, seed_test
from pettingzoo.test.performance_benchmark import performance_benchmark
from pettingzoo.utils.conversions import parallel_to_aec

from deploy.environments import TableEnv, env, parallel_env
from domain.errors import InvalidTable, UnknownRuleset
from domain.kernel.game.game import state_digest
from domain.kernel.proof.verify import verify
from domain.kernel.records import export

TABLES = [
    *(("struggle_of_empires@1", seats) for seats in (2, 4, 7)),
    *(("seven_empires@1", seats) for seats in (2, 4, 6)),
    *(("age_of_reason@1", seats) for seats in (2, 4, 6)),
    *(("imperunde@1", seats) for seats in (3, 4, 6)),
    ("egc@1", 10),
]
"""egc has ten seats and no other number."""

SHORT = {"imperunde@1": {"goal_preset": "sprint", "turn_limit": 4}}
"""Options of short games."""


def begin(ruleset: str, seats: int, seed: int = 1, **settings: Any) -> TableEnv:
    table = TableEnv(ruleset, seats, SHORT.get(ruleset), features=64, **settings)
    table.reset(seed=seed)
    return table


def play(table: TableEnv, rng: random.Random, most: int = 100_000) -> list[int]:
    """Play by random actions to the end, or so many; return the actions."""
    actions: list[int] = []
    while not any(table.terminations.values()) and len(actions) < most:
        observation = table.observe(table.agent_selection)
        actions.append(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        table.step(actions[-1])
    return actions


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
class TestByPettingZoo:
    def test_its_api_test(self, ruleset: str, seats: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for message in ("Observation space for each agent probably should be", "Observation is not a NumPy array"):
                warnings.filterwarnings("ignore", message=message)  # only its own games may have masks without them
            api_test(env(ruleset, seats, features=64), num_cycles=30)

    def test_its_seed_test(self, ruleset: str, seats: int) -> None:
        seed_test(lambda: env(ruleset, seats, features=64), num_cycles=20)

    def test_its_parallel_seed_test(self, ruleset: str, seats: int) -> None:
        parallel_seed_test(lambda: parallel_env(ruleset, seats, features=64), num_cycles=10)

    def test_its_max_cycles_test(self, ruleset: str, seats: int) -> None:
        """It gives random actions to all agents at once."""

        def make(max_cycles: int) -> Any:
            return parallel_env(ruleset, seats, features=64, max_cycles=max_cycles)

        max_cycles_test(SimpleNamespace(parallel_env=make, env=lambda max_cycles: parallel_to_aec(make(max_cycles))))

    def test_its_render_test(self, ruleset: str, seats: int, capsys: pytest.CaptureFixture[str]) -> None:
        render_test(lambda render_mode: env(ruleset, seats, features=64, render_mode=render_mode))
        assert ruleset in capsys.readouterr().out


@pytest.mark.parametrize("ruleset", dict(TABLES))
def test_its_performance_benchmark(ruleset: str, capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(env(ruleset))
    assert "turns per second" in capsys.readouterr().out


WHOLE = [
    ("struggle_of_empires@1", 2),
    ("seven_empires@1", 3),
    ("age_of_reason@1", 2),
    ("imperunde@1", 3),
    ("egc@1", 10),
]


@pytest.mark.parametrize(("ruleset", "seats"), WHOLE)
def test_a_seed_repeats_a_whole_episode_which_is_proved(ruleset: str, seats: int, tmp_path: Path) -> None:
    first, again = begin(ruleset, seats, 7), begin(ruleset, seats, 7)
    for action in play(first, random.Random(1)):
        again.step(action)
    assert first.terminations == again.terminations == dict.fromkeys(first.possible_agents, True)
    assert first.rewards == again.rewards
    assert sum(first.rewards.values()) == pytest.approx(0)
    assert first.moves == again.moves
    assert state_digest(first.state, {}) == state_digest(again.state, {})
    first.save(tmp_path / "episode.jsonl")
    found = export.parse((tmp_path / "episode.jsonl").read_bytes())
    verify(first.rules, found)
    assert begin(ruleset, seats, 8).seed_of_dice != first.seed_of_dice


def test_an_episode_is_saved_at_its_end_alone(tmp_path: Path) -> None:
    table = begin("seven_empires@1", 2)
    with pytest.raises(ValueError, match="not over"):
        table.save(tmp_path / "episode.jsonl")
    assert not list(tmp_path.iterdir())


def test_what_is_not_allowed_changes_nothing() -> None:
    table = begin("seven_empires@1", 2)
    allowed = int(table.observe(table.agent_selection)["action_mask"].sum())
    before, agent = table.state, table.agent_selection
    for action in (allowed, 63, -1, None):
        with pytest.raises(ValueError, match="not allowed"):
            table.step(action)
    assert (table.state, table.agent_selection) == (before, agent)
    assert table.is_allowed(allowed - 1)


def test_an_action_outside_of_the_mask_ends_a_guarded_episode() -> None:
    table = env("seven_empires@1", 2, features=64)
    table.reset(seed=1)
    agent = table.agent_selection
    observation, *_ = table.last()
    table.step(int(observation["action_mask"].sum()))
    assert table.terminations[agent]
    assert table.rewards[agent] == -1


def test_tables_that_cannot_be_are_refused() -> None:
    with pytest.raises(UnknownRuleset):
        env("chess@1")
    with pytest.raises(InvalidTable):
        env("seven_empires@1", 99)
    with pytest.raises(InvalidTable):
        env("seven_empires@1", 2, options={"nothing": 1})


HIDDEN = [("egc@1", 10, "turn_zero"), ("imperunde@1", 3, "counter_window")]


@pytest.mark.parametrize(("ruleset", "seats", "kind"), HIDDEN)
def test_a_hidden_answer_changes_nothing_that_others_observe(ruleset: str, seats: int, kind: str) -> None:
    """Whoever answers after it observes the same, whatever the answer was."""
    begun = begin(ruleset, seats)
    actions: list[int] = []
    while not (begun.state.top.kind == kind and len(begun.state.top.owing) > 1):
        actions += play(begun, random.Random(len(actions)), 1)
    writer, seen = begun.agent_selection, []
    for dice in range(4):
        table, answer, rng = begin(ruleset, seats), list[int](), random.Random(dice)
        for action in actions:
            table.step(action)
        while table.agent_selection == writer:
            answer += play(table, rng, 1)
        others = [table.observe(agent)["observation"].tobytes() for agent in table.agents if agent != writer]
        seen.append((answer, others, table.infos))
    assert len({str(answer) for answer, *_ in seen}) > 1
    assert all(data_equivalence(each[1:], seen[0][1:]) for each in seen)
