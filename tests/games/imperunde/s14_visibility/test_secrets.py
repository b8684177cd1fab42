"""IMP-14.1: two games that differ only in one seat's secret are the same for all others, hashes apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from domain.kernel.rules.draws import Seeded
from domain.types import PUBLIC, Json, Viewer
from tests.games.imperunde.board import PASS, attack, card, colony, deciding, group, position, zone
from tests.games.imperunde.registered import BRUTE, RULESET, candidates, conserved
from tests.kernel.machine import gets, open_part
from tests.rulesets import Registered
from tests.spec import SEED, Given

ENTRY = Registered(RULESET, 3, candidates, conserved, brute=BRUTE)
SABOTAGE = card("sabotage", target_seat=1, zone="north_sea", unit="frigate")
FLEET = {"north_sea": zone({1: {"frigate": 3}})}
COLONIES = {"france": colony(0, posts=1, infantry=3), "spain": colony(1, posts=1, forts=1, cavalry=1)}
ATTACK = attack(group("france", "spain", infantry=3))

Step = Callable[[Given], Any]


def plays(seat: int, move: Json) -> Step:
    return lambda game: game.match.play(seat, move)


def lapses(game: Given) -> Any:
    return game.match.lapse()


def known(game: Given, viewer: Viewer) -> bytes:
    """All that a viewer can get of the last record and of the state: also what a move of any kind is refused with."""
    moves = list(candidates(game.state, viewer))[:: max(game.state.opened % 7, 1)] if isinstance(viewer, int) else []
    return open_part(game.match.records[-1], viewer) + gets(ENTRY, game.state, viewer, moves[:200])


def assert_alike(games: Sequence[Given], viewers: Sequence[Viewer], *steps: Step | Sequence[Step]) -> None:
    """Each step is the same move in all games, or one per game, and tells these viewers the same."""
    for game in games:
        game.match.source = Seeded(SEED, "twins")
    for step in steps:
        for i, game in enumerate(games):
            (step if callable(step) else step[i])(game)
            assert not RULESET.check(game.state)
        for viewer in viewers:
            one, *others = [known(game, viewer) for game in games]
            assert all(other == one for other in others), (viewer, deciding(games[0]))


HANDS = (["ambush", "coup_de_main"], ["counter_espionage", "sabotage"], ["capture", "unmask_spies"])


def with_hand(hand: list[str], step: str = "movement", **more: Any) -> Given:
    hands = {0: ["sabotage", "treason"], 1: hand, 2: ["rebellion"]}
    return position(step=step, hands=hands, wars=[(0, 1)], countries=COLONIES, zones=FLEET, **more)


def test_a_hand_shows_to_its_seat_alone() -> None:
    """IMP-14.1, IMP-11.7: through cards of others, windows, a combat and missed deadlines."""
    steps = [plays(0, SABOTAGE), plays(1, PASS), lapses, plays(0, ATTACK), plays(2, PASS), plays(1, PASS)]
    assert_alike([with_hand(h) for h in HANDS], [PUBLIC, 0, 2], *steps, *[lapses] * 12)


def test_the_hand_is_what_makes_the_difference() -> None:
    """IMP-14.1: its own seat is told: the comparison does not fail to see."""
    with pytest.raises(AssertionError):
        assert_alike([with_hand(h) for h in HANDS], [1], plays(0, SABOTAGE))


@pytest.mark.parametrize("viewer", [PUBLIC, 0, 2])
def test_a_standing_pass_cannot_be_told_from_a_hesitation(viewer: Viewer) -> None:
    """IMP-11.1, IMP-11.8: the record that opens the window holds the pass, and says to all that the seat is asked."""
    settings: list[Json] = [
        {"type": "set_auto_pass", "windows": ["counter"], "until": "game_end"},
        {"type": "set_auto_pass", "windows": ["open", "round"], "until": "turn_end"},
        {"type": "set_auto_pass", "windows": ["counter"], "until": "off"},
    ]
    games = [with_hand(["counter_espionage"]) for _ in settings]
    assert_alike(games, [viewer], [plays(1, move) for move in settings], plays(0, SABOTAGE))
    assert [game.state.top.owing for game in games] == [(2,), (1, 2), (1, 2)]


def test_how_a_seat_has_passed_is_not_told() -> None:
    """IMP-11.3, IMP-11.8: by hand, for longer, by a setting; as the first and as the last to answer."""
    ways: list[Json] = [
        PASS,
        {"type": "pass", "until": "phase_end"},
        {"type": "set_auto_pass", "windows": ["counter"], "until": "phase_end"},
    ]
    passed = [plays(1, way) for way in ways]
    orders: list[list[Step | Sequence[Step]]] = [[passed, plays(2, PASS)], [plays(2, PASS), passed]]
    for order in orders:
        games = [with_hand(["counter_espionage"]) for _ in ways]
        assert_alike(games, [PUBLIC, 0, 2], plays(0, SABOTAGE), *order)


def test_who_has_passed_does_not_show_in_a_missed_deadline() -> None:
    """IMP-11.1, IMP-11.9: all that were asked look alike when the window is closed by the clock."""
    games = [with_hand(["counter_espionage"]) for _ in range(2)]
    assert_alike(games, [PUBLIC, 0], plays(0, SABOTAGE), [plays(1, PASS), plays(2, PASS)], lapses)


def test_a_sealed_budget_shows_to_its_seat_alone() -> None:
    """IMP-6.3.3, IMP-14.1: also when it is replaced; what it was is told when all have sent."""
    budgets = [{"type": "set_budget", "repay": r, "borrow": b} for r, b in ((0, 0), (0, 5), (5, 0))]
    games = [position(step="budget", nations={1: {"debt": 10}}) for _ in budgets]
    sent = [plays(1, budget) for budget in budgets]
    replaced = [plays(1, budget) for budget in reversed(budgets)]
    assert_alike(games, [PUBLIC, 0, 2], sent, plays(0, budgets[0]), replaced)
    for game in games:
        game.when(2, budgets[0])
    assert [game.state.nations[1].debt for game in games] == [5, 15, 10]


def test_a_stolen_card_shows_to_thief_and_victim_alone() -> None:
    """IMP-9.4.16, IMP-14.1: neither the hand that was shown nor the choice."""
    hands = (["ambush", "rebellion"], ["capture", "plunder"])
    games = [position(hands={0: ["unmask_spies"], 1: hand}) for hand in hands]
    chosen = [plays(0, {"type": "choose_stolen_card", "card": hand[i]}) for i, hand in enumerate(hands)]
    unmask = plays(0, card("unmask_spies", target_seat=1, reveal=False))
    assert_alike(games, [PUBLIC, 2], unmask, plays(1, PASS), chosen)
    assert [game.state.hands[1] for game in games] == [("rebellion",), ("capture",)]


def test_the_order_of_the_draw_pile_shows_to_nobody() -> None:
    """IMP-6.4.5, IMP-14.1: who buys a card sees that card; the others that one was bought."""
    piles = (["ambush", "capture"], ["capture", "ambush"])
    games = [position(step="investment", deck=pile, nations={0: {"available": 20}}) for pile in piles]
    buys = plays(0, {"type": "buy_cards", "quantity": 1})
    assert_alike(games, [PUBLIC, 1, 2], buys)
    assert [game.sight(0)["hand"] for game in games] == [["ambush"], ["capture"]]
