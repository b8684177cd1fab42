"""The game keeps the contract of every ruleset in the middle of a quarrel too, and the builder offers what is legal."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test

from domain.errors import RuleError
from domain.games.egc.data import SEAS, SEATS, TERRITORIES
from domain.games.egc.state import Egc
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.decide import query_builder
from domain.kernel.schema.json_codec import to_json
from domain.types import Doc, Json, Seat
from tests.games.egc.board import BRITAIN, FRANCE, Board, position
from tests.games.egc.rare import late
from tests.games.egc.registered import BRUTE, RULESET, candidates, conserved
from tests.kernel.machine import Machine, accepted
from tests.rulesets import Registered

PATCH = late()
TRIED = 25
"""So many moves of a type are tried that are legal, and so many that are not."""

FILED, KINDS = 8, 10


class Late(Machine):
    """Begins in the twelfth turn, with wars, railways, protectorates, closed straits and proposals."""

    entry = Registered(RULESET, len(SEATS), candidates, conserved, brute=BRUTE)

    @initialize(seed=st.integers(0, 2**32 - 1))
    def begin(self, seed: int) -> None:
        self.match = InMemoryGame(RULESET, len(SEATS), random.Random(seed).randbytes(32), patch=PATCH)
        self.conserved = conserved(to_json(self.match.state))


def test_the_ruleset_keeps_the_contract() -> None:
    """EGC-0.6, EGC-6.6: moves, refusals, defaults, rewinds, folds, sights and the move builder agree at every step."""
    run_state_machine_as_test(Late, settings=settings(max_examples=6, stateful_step_count=12, deadline=None))


# --- what is kept from state to state ------------------------------------------------------------------------------

ELSEWHERE = {
    *("seats", "opened", "frames", "over", "vacant", "terms", "vp", "manned", "final", "news", "sheets", "spied"),
    *("reports", "garrisons", "neutral_ranks", "count_turns", "tie_order"),
}
"""Fields that no order is judged by, but for the own sheet."""


def test_every_part_that_a_sheet_is_judged_by_is_named() -> None:
    """Else a projection would be kept too long: all other parts may be as before the set-up, and nothing changes."""
    state = InMemoryGame(RULESET, len(SEATS), bytes(32), patch=PATCH).state
    assert len(state.unsheeted) == len(fields(Egc)) - len(ELSEWHERE)
    blank = RULESET.blank(RULESET.make_table(len(SEATS)))
    kept = {"frames", "sheets"}  # somebody must be asked, and control of the seas stands in the sheet
    other = replace(state, **{name: getattr(blank, name) for name in ELSEWHERE - kept})
    for seat in SEATS:
        assert RULESET.player_view(other, seat)["projection"] == RULESET.player_view(state, seat)["projection"]
        menu = query_builder(RULESET, state, seat)
        assert isinstance(menu, Choice)
        for kind in menu.values:
            assert query_builder(RULESET, other, seat, [kind]) == query_builder(RULESET, state, seat, [kind])


# --- the builder against decide ----------------------------------------------------------------------------------


def answer(question: Choice, left: dict[str, list[Json]]) -> Json:
    """What a move says to a question of the builder; a list goes item by item, and null ends it."""
    items = left.get(question.field, [])
    return items.pop(0) if items else None


def offered(match: InMemoryGame[Egc], seat: Seat, move: Doc) -> bool:
    """Whether the builder can be led to that very move."""
    left = {name: list(value) if isinstance(value, list) else [value] for name, value in move.items()}
    if move["type"] == "order_army" and move["order"] == "move":
        left["path"].pop(0)  # where the army stands is not asked
    picks: list[Json] = []
    try:
        while isinstance(question := query_builder(RULESET, match.state, seat, picks), Choice):
            picks.append(answer(question, left))
    except RuleError:
        return False
    return question == move


def fill(match: InMemoryGame[Egc], seat: Seat, rng: random.Random) -> None:
    """A few orders for the sheet."""
    world = list(candidates(match.state, seat))
    kinds = {str(m["type"]) for m in world} - {"submit_orders", "reopen_orders", "cancel_order"}
    for kind in rng.sample(sorted(kinds), FILED):
        some = [m for m in world if m["type"] == kind]
        rng.shuffle(some)
        if legal := next((m for m in some[:TRIED] if accepted(RULESET, match.state, seat, m)), None):
            match.play(seat, legal)


@pytest.mark.parametrize("seat", SEATS)
def test_the_builder_offers_what_is_legal_and_nothing_else(seat: Seat) -> None:
    """EGC-7: with an empty sheet and with some orders in it, every kind of move, legal or not."""
    rng = random.Random(seat)
    match: InMemoryGame[Egc] = InMemoryGame(RULESET, len(SEATS), bytes(32), patch=PATCH)
    fill(match, seat, rng)
    by_kind: dict[tuple[str, bool], list[Doc]] = {}
    for move in candidates(match.state, seat):
        by_kind.setdefault((str(move["type"]), accepted(RULESET, match.state, seat, move)), []).append(move)
    assert len({kind for kind, legal in by_kind if legal}) > KINDS
    for (_, legal), moves in by_kind.items():
        for move in rng.sample(moves, min(len(moves), TRIED)):
            assert offered(match, seat, move) == legal, move


def sailor(*free: str) -> Board:
    """France with an army and 80 expeditions; every coast but these is Britain's, with whom there is peace."""
    owners = {t: BRITAIN for t, land in TERRITORIES.items() if land.seas and land.home_of is None and t not in free}
    game = position(
        armies={FRANCE: {"france-1": ("france", 200, 7, 6)}},
        owners=owners,
        garrisons=dict.fromkeys(owners),
        treasury={FRANCE: 10_000_000},
    )
    game.file(FRANCE, {"type": "fund_expeditions", "count": 80})
    return game


def test_sea_is_offered_only_if_landing_can_be_reached_from_it() -> None:
    """EGC-7.10.1: however many expeditions are funded, where no coast can be entered no army can sail."""
    nodes = query_builder(RULESET, sailor().state, FRANCE, ["order_army", "france-1", "move"])
    assert isinstance(nodes, Choice)
    assert nodes.values == ["switzerland"]


@pytest.mark.parametrize("seed", range(5))
def test_every_sea_that_is_offered_leads_to_a_landing(seed: int) -> None:
    """The one free coast is half the world away; whatever way is taken, the army can still get there."""
    game, rng = sailor("hawaii"), random.Random(seed)
    picks: list[Json] = ["order_army", "france-1", "move"]
    while (
        isinstance(question := query_builder(RULESET, game.state, FRANCE, picks), Choice) and question.field == "path"
    ):
        seas = [node for node in question.values if node in SEAS]
        picks.append(rng.choice(seas or question.values))
    assert picks[-1] == "hawaii"
    assert len(picks) > 6
