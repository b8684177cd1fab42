"""The heuristic player: every part of the game is in what it does, and it beats random play."""

from __future__ import annotations

from collections import Counter

import pytest

from deploy.simulation.simulate import GameTally, SimulationPlan, play_game
from domain.games.egc import RULESET
from domain.games.egc.data import SEATS

BOTS = ("heuristic", "builder")


@pytest.fixture(scope="module")
def game() -> GameTally:
    """Heuristics at even seats, random builders at odd ones; without illegal moves in between."""
    bots = tuple(BOTS[seat % 2] for seat in SEATS)
    return play_game(
        SimulationPlan(RULESET, len(SEATS), 1, 3, RULESET.make_table(len(SEATS)).options, bots, probes=0.0), 0
    )


def test_it_plays_by_the_rules_to_the_end(game: GameTally) -> None:
    assert game.finished
    assert not game.failures, game.texts


def test_it_beats_random_builders(game: GameTally) -> None:
    """Each of the five has more points than each of the others."""
    points = Counter(game.points)
    assert min(points[seat] for seat in SEATS[::2]) > max(points[seat] for seat in SEATS[1::2])


def test_it_expands_studies_allies_and_fights() -> None:
    """Among its like, where there is resistance."""
    plan = SimulationPlan(
        RULESET, len(SEATS), 1, 3, RULESET.make_table(len(SEATS)).options, ("heuristic",) * len(SEATS), probes=0.0
    )
    done = play_game(plan, 0)
    wanted = {"territory_conquered", "combat_fought", "war_declared", "proposal_answered", "territory_annexed"}
    assert wanted <= {kind for kind, n in done.facts.items() if n}
    assert {"set_research", "recruit", "build", "choose_links"} <= {kind for kind, n in done.moves.items() if n}
