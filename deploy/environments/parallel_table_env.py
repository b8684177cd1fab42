"""A table as an environment of PettingZoo with an action of every agent at a time.

The action of the agent to answer counts, those of the others are ignored. So programs for this form can use the games.
Agents in turn (`table_env`) are the natural form.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from pettingzoo import ParallelEnv

from deploy.environments.table_env import Observation, TableEnv
from domain.types import Doc

Answer = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Doc]]
"""Observations, rewards, terminations, truncations and infos, each by agent."""


def parallel_env(ruleset: str, seats: int | None = None, **settings: Any) -> ParallelTableEnv:
    """Return the environment of a table. `settings` are those of `TableEnv`."""
    return ParallelTableEnv(ruleset, seats, **settings)


class ParallelTableEnv(ParallelEnv):
    """A table of a ruleset. `action_mask` of an observation is empty for agents with nothing to answer.

    Another action than those allowed changes nothing: its agent is asked again. After `max_cycles` steps the episode is
    truncated.
    """

    metadata = {"render_modes": ["human", "ansi"], "name": "annals"}  # noqa: RUF012

    def __init__(
        self, ruleset: str, seats: int | None = None, *, max_cycles: int | None = None, **settings: Any
    ) -> None:
        """Make a table, as `TableEnv` does."""
        self.table = TableEnv(ruleset, seats, **settings)
        self.max_cycles = max_cycles
        self.render_mode = self.table.render_mode
        self.possible_agents = self.table.possible_agents
        self.agents: list[str] = []
        self._cycles = 0

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations: always the same object."""
        return self.table.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions: always the same object."""
        return self.table.action_space(agent)

    def reset(self, seed: int | None = None, options: object = None) -> tuple[dict[str, Observation], dict[str, Doc]]:
        """Begin an episode; return the first observations and infos."""
        self.table.reset(seed, options)
        self.agents = list(self.table.agents)
        self._cycles = 0
        return self._observe(), dict(self.table.infos)

    def step(self, actions: dict[str, int]) -> Answer:
        """Take the action of the agent to answer; return what the agents get."""
        table = self.table
        action = actions.get(table.agent_selection)
        self._cycles += 1
        rewards = dict.fromkeys(self.agents, 0.0)
        if action is not None and table.is_allowed(action):
            table.step(action)
            rewards = dict(table.rewards)
        terminations = dict(table.terminations)
        late = self.max_cycles is not None and self._cycles >= self.max_cycles
        truncations = dict.fromkeys(self.agents, late and not any(terminations.values()))
        found = self._observe(), rewards, terminations, truncations, dict(table.infos)
        if late or any(terminations.values()):
            self.agents = []
        return found

    def _observe(self) -> dict[str, Observation]:
        return {agent: self.table.observe(agent) for agent in self.agents}

    def render(self) -> str | None:
        """Return or print the table, as `TableEnv.render` does."""
        return self.table.render()

    def close(self) -> None:
        """Free nothing: the environment holds no window and no file."""
