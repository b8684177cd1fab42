#!/usr/bin/env bash
# PettingZoo's api_test warns of an environment with an action mask, unless it has the name of one of its own games.
#
# Version: pettingzoo 1.27.0 with gymnasium 1.4.0.
# Behaviour:
# Its documentation puts masks beside observations, in a dictionary. The test then says that the observation is no array and that
# the space should be another one. Renamed to `chess_v6` the same environment, which is no chess, passes without a word.
# Output seen: treaty_v1 2 / chess_v6 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pettingzoo==1.27.0 gymnasium==1.4.0
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import contextlib
import io
import warnings

import numpy
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.test import api_test


class Treaty(AECEnv):
    """One agent that signs or not, for ever."""

    def __init__(self, name):
        super().__init__()
        self.metadata = {"render_modes": [], "name": name}
        self.possible_agents = ["player_0"]
        mask = spaces.Box(0, 1, (2,), numpy.int8)
        known = spaces.Dict({"observation": spaces.Box(0, 1, (3,), numpy.int8), "action_mask": mask})
        self.observation_spaces = {"player_0": known}
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
        return {"observation": numpy.ones(3, numpy.int8), "action_mask": numpy.ones(2, numpy.int8)}

    def step(self, action):
        self._clear_rewards()
        self._accumulate_rewards()

    def render(self):
        pass

    def close(self):
        pass


def count_warnings(name):
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        api_test(Treaty(name), num_cycles=10)
    return len({str(each.message) for each in told})


print(" / ".join(f"{name} {count_warnings(name)}" for name in ("treaty_v1", "chess_v6")))
PYTHON
)
echo "$seen"
[ "$seen" = "treaty_v1 2 / chess_v6 0" ]
