"""A table as an environment of PettingZoo: agents in turn (AEC), one pick of the move builder at a time.

It plays by the rules alone, as rollouts do, but with the provable dice of real tables. So an episode can be written as
an ordinary export and proved by `annals verify`.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from deploy.environments.pick_steps import ACTIONS, PickStep, move_steps, spell_number
from deploy.environments.view_features import Features, hash_features
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records import export
from domain.kernel.rules.decide import decide
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded, draw_key
from domain.ruleset_registry import load_shipped
from domain.types import DIRECTOR, PUBLIC, Doc, Json, Seat

FEATURES = 4096
"""Default number of features of an observation."""

Observation = dict[str, NDArray[np.generic]]


def env(ruleset: str, seats: int | None = None, **settings: Any) -> AECEnv:
    """Return the environment of a table, with PettingZoo's usual guards around it.

    An action outside of the mask ends the episode with -1 for its agent. `settings` are those of `TableEnv`.
    """
    table = TableEnv(ruleset, seats, **settings)
    guarded = wrappers.TerminateIllegalWrapper(table, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(guarded))


class TableEnv(AECEnv):
    """A table of a ruleset.

    Agents are `seat_0`, `seat_1` and so on. An observation holds `observation`, the hashed features of what the seat
    knows and of the question (shape (features,), values -1 to 1), and `action_mask` (shape (64,), 1 for an allowed
    action). The reward comes at the end: the seats times the own share of the first place, minus 1. It sums to 0.
    """

    metadata = {"render_modes": ["human", "ansi"], "name": "annals", "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        ruleset: str,
        seats: int | None = None,
        options: Mapping[str, Json] | None = None,
        *,
        features: int = FEATURES,
        unasked: bool = True,
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make a table; by default with the fewest seats. Raises UnknownRuleset, and InvalidTable for seats or options.

        `unasked`: whether to ask seats, once in a decision, for a move they may make unasked. After
        `max_cycles` actions of an agent the episode is truncated.
        """
        super().__init__()
        self.rules = load_shipped().get(ruleset)
        self.seats = min(self.rules.meta.seats) if seats is None else seats
        self.options = self.rules.make_table(self.seats, options).options
        self.features = features
        self.unasked = unasked
        self.max_cycles = max_cycles
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.seats)]
        self.observation_spaces = {agent: _observation_space(features) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in self.possible_agents}
        self.agents: list[str] = []
        self._entropy = random.SystemRandom()

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations: always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions: always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: object = None) -> None:
        """Begin an episode. The same seed gives the same dice; without one each episode has its own."""
        number = self._entropy.getrandbits(64) if seed is None else seed
        self.seed_of_dice = random.Random(number).randbytes(32)  # noqa: S311 - the episode is repeated by its seed
        match = InMemoryGame(self.rules, self.seats, self.seed_of_dice, options=self.options, game=self._name())
        self.state = match.state
        self._counts = dict(match.game.reversible.counts)
        self._source = Seeded(draw_key(self.seed_of_dice, match.game.seating.nonces), match.game.id)
        self.moves: list[tuple[Seat | None, Doc]] = []
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, Doc] = {agent: {} for agent in self.agents}
        self._acted = dict.fromkeys(self.agents, 0)
        self._known: dict[Seat, tuple[Doc, Features]] = {}
        self._asked: Seat = 0
        self._step: PickStep | None = None
        self._play = self._play_game()
        self._advance(None)

    def _name(self) -> str:
        return f"{self.rules.meta.ruleset.partition('@')[0]}-episode"

    def observe(self, agent: str) -> Observation:
        """Return the knowledge of an agent, and the actions offered to it: none if it is not its turn."""
        seat = self.possible_agents.index(agent)
        mask = np.zeros(ACTIONS, dtype=np.int8)
        found = self._know(seat)[1]
        if agent == self.agent_selection and self._step is not None:
            mask[: self._step.allowed] = 1
            found = np.clip(found + hash_features(_question(self._step), self.features), -1, 1)
        return {"observation": found, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Take the action of the agent in turn; None of one that has ended.

        Raises ValueError for any other action than those allowed; nothing has changed then.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None or not self.is_allowed(action):
            raise ValueError(f"the action {action} is not allowed: see action_mask")
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self._acted[agent] += 1
        self._advance(int(action))
        if self.max_cycles is not None and max(self._acted.values()) >= self.max_cycles and self._step is not None:
            self.truncations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def is_allowed(self, action: int) -> bool:
        """Return whether the agent in turn may take the action."""
        return self._step is not None and 0 <= action < self._step.allowed

    def render(self) -> str | None:
        """Return (`ansi`) or print (`human`) the seats with their points, and who is asked what."""
        lines = [f"{self.rules.meta.ruleset}, {len(self.moves)} moves"]
        lines += [f"seat_{score.seat}: {score.points} points" for score in self.rules.scores(self.state)]
        if self._step is not None:
            lines.append(f"{self.agent_selection} is asked for {self._step.field}: {self._step.allowed} answers")
        text = "\n".join(lines)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Free nothing: the environment holds no window and no file."""

    def save(self, path: Path) -> None:
        """Write the finished episode as an export, proved by `annals verify`. Raises ValueError before its end."""
        if not self.state.over:
            raise ValueError("the episode is not over")
        match = InMemoryGame(self.rules, self.seats, self.seed_of_dice, options=self.options, game=self._name())
        for seat, move in self.moves:
            match.resolve() if seat is None else match.play(seat, move)
        match.close()
        path.write_bytes(export.dump(match.records, DIRECTOR))

    # --- the game -------------------------------------------------------------------------------------------------

    def _advance(self, action: int | None) -> None:
        """Give the action to the game, and set who is asked what next, or the end."""
        try:
            self._step = self._play.send(action)  # type: ignore[arg-type]  # None starts it
        except StopIteration:
            self._step = None
            self._end()
            return
        self.agent_selection = self.possible_agents[self._asked]
        self.infos = {agent: {} for agent in self.agents}
        self.infos[self.agent_selection] = {
            "view": self._know(self._asked)[0],
            "question": _question(self._step),
            "values": [self._step.value_of(action) for action in range(self._step.allowed)],
        }

    def _end(self) -> None:
        firsts = [score.seat for score in self.rules.scores(self.state) if score.place == 1]
        for seat, agent in enumerate(self.possible_agents):
            self.rewards[agent] = (self.seats / len(firsts) if seat in firsts else 0.0) - 1
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def _play_game(self) -> Generator[PickStep, int]:
        """Ask the seats, one step at a time, and play their moves until the game is over."""
        passed: tuple[int, set[Seat]] = (0, set())
        while not self.state.over:
            top = self.state.top
            if passed[0] != top.n:
                passed = (top.n, set())
            free = [s for s in self._list_unasked() if s not in passed[1]]
            if top.engine:
                self._decide(None, {"type": top.kind})
            elif free:
                self._asked = free[0]
                if (yield from spell_number(PickStep("", "act", (False, True)))):
                    yield from self._ask_move(free[0])
                else:
                    passed[1].add(free[0])
            else:
                yield from self._ask_move(top.owing[0])

    def _list_unasked(self) -> list[Seat]:
        """Return the seats that may move now although nobody asks them."""
        top = self.state.top
        return [s for s in self.rules.may(self.state) if s not in (*top.owing, *top.done)] if self.unasked else []

    def _ask_move(self, seat: Seat) -> Generator[PickStep, int]:
        self._asked = seat
        self._decide(seat, (yield from move_steps(self.rules.build(self.state, seat))))

    def _decide(self, seat: Seat | None, move: Doc) -> None:
        draws = Draws(self._source, self._counts)
        draft = Draft(self.rules, self.state, draws)
        decide(draft, seat, move)
        self.state, self._counts = draft.state, draws.counts
        self.moves.append((seat, move))
        self._known.clear()

    def _know(self, seat: Seat) -> tuple[Doc, Features]:
        """Return the view of a seat, and its features."""
        if seat not in self._known:
            rules = self.rules
            view = {"public": rules.player_view(self.state, PUBLIC), "own": rules.player_view(self.state, seat)}
            features = hash_features(view, self.features)
            self._known[seat] = view, features
        return self._known[seat]


def _question(step: PickStep) -> Doc:
    """Return the question of an action, for `infos`."""
    return {"field": step.field, "kind": step.kind, "picked": list(step.picked), "spelled": step.spelled}


def _observation_space(features: int) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(-1, 1, (features,), np.float32),
            "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8),
        }
    )
