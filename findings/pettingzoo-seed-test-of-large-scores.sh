#!/usr/bin/env bash
# PettingZoo's seed_test passes an environment whose scores differ between two runs of one seed.
#
# Version: pettingzoo 1.27.0 with gymnasium 1.4.0.
# Behaviour:
# The test compares observations by `data_equivalence` of gymnasium, which takes arrays for equal within 1e-5 of their size, arrays of
# integers too. Money of 1,000,000 in one run and 1,000,009 in the other passes as repeated; a difference of 11 is told.
# Output seen: 0 passes / 9 passes / 11 fails
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pettingzoo==1.27.0 gymnasium==1.4.0
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import itertools

import numpy
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.test import seed_test


class Treasury(AECEnv):
    """One agent, paid the same at each step; `bonus` makes each environment richer than the one before."""

    metadata = {"render_modes": [], "name": "treasury"}

    def __init__(self, money):
        super().__init__()
        self.money = money
        self.possible_agents = ["player_0"]
        self.observation_spaces = {"player_0": spaces.Box(0, 10**9, (2,), numpy.int64)}
        self.action_spaces = {"player_0": spaces.Discrete(2)}

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.agents = ["player_0"]
        self.agent_selection = "player_0"
        self.rewards = {"player_0": 0}
        self._cumulative_rewards = {"player_0": 0}
        self.terminations = {"player_0": False}
        self.truncations = {"player_0": False}
        self.infos = {"player_0": {}}

    def observe(self, agent):
        return numpy.array([self.money, 1], dtype=numpy.int64)

    def step(self, action):
        self._clear_rewards()
        self._accumulate_rewards()


def passes(difference):
    money = itertools.count(1_000_000, difference) if difference else itertools.repeat(1_000_000)
    try:
        seed_test(lambda: Treasury(next(money)), num_cycles=5)
    except AssertionError:
        return "fails"
    return "passes"


print(" / ".join(f"{difference} {passes(difference)}" for difference in (0, 9, 11)))
PYTHON
)
echo "$seen"
[ "$seen" = "0 passes / 9 passes / 11 fails" ]
