"""IMP-11: decisions, windows, standing passes, time-outs, vacant seats."""

from __future__ import annotations

from typing import Any

import pytest

from domain.games.imperunde import RULESET
from domain.games.imperunde.frames import Card, Interrupted
from domain.games.imperunde.moves import PlayCard
from domain.kernel.rules.decide import decisions
from domain.types import PUBLIC
from tests.games.imperunde.board import (
    PASS,
    attack,
    card,
    colony,
    country,
    deciding,
    dice,
    group,
    named,
    position,
    standing,
    zone,
)
from tests.spec import Given

SABOTAGE = card("sabotage", target_seat=1, zone="north_sea", unit="frigate")
EVERYBODY = {seat: ["counter_espionage"] for seat in range(3)}
TARGET = {"north_sea": zone({1: {"frigate": 3}})}


def auto(*windows: str, until: str = "game_end") -> Any:
    return {"type": "set_auto_pass", "windows": list(windows), "until": until}


def window(**more: Any) -> Given:
    """The window before the first seat's part; 1 and 2 hold a card."""
    return position(step="move_window", hands={1: ["ambush"], 2: ["ambush", "sabotage"]}, zones=TARGET, **more)


def must(game: Given, viewer: Any) -> tuple[int, ...]:
    return decisions(RULESET, game.state, 0, viewer)[0].must


def test_who_has_answered_a_window_is_not_shown() -> None:
    """IMP-11.0, IMP-11.1: all are asked at once; a pass is known to its own seat only."""
    game = window()
    game.when(2, PASS)
    assert must(game, PUBLIC) == must(game, 1) == (1, 2)
    assert must(game, 2) == (1,)
    public = game.match.records[-1].public
    assert "seat" not in public
    assert "acts" not in public
    assert "facts" not in public
    game.when(1, PASS)
    assert deciding(game) == ("movement", [0])


def test_only_the_top_can_be_answered() -> None:
    """IMP-11.1: an interrupted decision waits, and goes on under its id."""
    game = position(hands={0: ["sabotage"], 2: ["ambush"]}, zones=TARGET)
    before = game.decision.id
    game.when(0, SABOTAGE)
    game.refused(0, {"type": "end_movement"}, "not_your_decision")
    game.when(2, PASS)
    assert game.decision.id == before


def test_safe_points() -> None:
    """IMP-11.2: any seat, whoever's decision it is; handled at once."""
    for step, kind in (("movement", "movement"), ("investment", "investment"), ("embarkation", "embarkation")):
        game = position(step=step, hands={2: ["sabotage"]}, zones=TARGET)
        assert deciding(game) == (kind, [0])
        assert game.decision.may == (2,)
        game.when(2, SABOTAGE)
        assert standing(game, "north_sea", 1) == {"frigate": 2}
        assert deciding(game) == (kind, [0])


def test_unsafe_points() -> None:
    """IMP-11.2: the budget is none."""
    game = position(step="budget", hands={2: ["sabotage"]}, zones=TARGET)
    assert game.decision.may == ()
    game.refused(2, SABOTAGE, "card_not_playable_now", "IMP-9.3")


def test_a_window_starts_again_after_a_card() -> None:
    """IMP-11.3: for all of them, under a new id; anybody may send safe cards, also after a pass."""
    game = window()
    game.when(1, PASS)
    before = game.decision.id
    game.when(2, SABOTAGE)
    assert deciding(game) == ("counter_window", [1])
    game.when(1, PASS)
    assert (deciding(game), game.decision.id != before) == (("open_window", [1, 2]), True)


def test_a_window_starts_again_as_it_was() -> None:
    """IMP-11.3: what is known of it waits in the frame of the card, and is known again."""
    game = window()
    known = {"entitled": [1, 2], "phase": 6, "before": 0}
    assert game.decision.context == known
    game.when(2, SABOTAGE)
    assert game.decision.context == {"entitled": [0, 1], "chain": [[2, "sabotage"]]}
    assert game.state.frames[-2].context(Card) == Card(
        PlayCard("sabotage", 1, zone="north_sea", unit="frigate"),
        2,
        [(2, "sabotage")],
        "effect",
        "open_window",
        Interrupted([1, 2], 6, 0),
    )
    game.when(1, PASS)
    assert game.decision.context == known


def test_a_card_after_a_pass() -> None:
    """IMP-11.3: an open window is a safe point."""
    game = position(step="move_window", hands={1: ["ambush"], 2: ["sabotage"], 0: ["sabotage"]}, zones=TARGET)
    game.when(2, PASS)
    game.when(2, SABOTAGE)
    for seat in (0, 1):
        game.when(seat, PASS)
    assert deciding(game) == ("open_window", [1])
    game.when(0, SABOTAGE)
    assert deciding(game) == ("counter_window", [1])


def test_no_window_without_cards() -> None:
    """IMP-11.3, IMP-11.7: it does not open if nobody is to be asked; hands of all sizes look alike."""
    assert deciding(position(step="move_window")) == ("movement", [0])
    asked = [deciding(position(step="move_window", hands={1: [c]}))[1] for c in ("ambush", "sabotage", "capture")]
    assert asked == [[1]] * 3


def test_other_windows_admit_only_those_who_were_asked() -> None:
    """IMP-11.3: and have not passed since it last started."""
    game = position(
        wars=[(0, 1)],
        countries={"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1, forts=1)},
        hands={0: ["ambush"], 2: ["treason"]},
    )
    game.when(0, attack(group("france", "spain", infantry=1)))
    game.when(2, PASS)
    game.refused(2, card("treason"), "card_not_playable_now", "IMP-9.3")
    assert deciding(game) == ("combat_window", [0])


def test_a_chain_of_counters() -> None:
    """IMP-11.4: only the top card can be countered; an even number of counters lets the first card stand."""
    hands = {0: ["sabotage", "counter_espionage"], 1: ["counter_espionage"], 2: ["counter_espionage"]}
    game = position(hands=hands, zones=TARGET)
    game.when(0, SABOTAGE)
    assert deciding(game) == ("counter_window", [1, 2])
    game.when(1, card("counter_espionage"))
    assert deciding(game) == ("counter_window", [0, 2])
    game.when(0, card("counter_espionage"))
    assert deciding(game) == ("counter_window", [2])
    facts = game.when(2, PASS)
    assert named(facts, "card_resolved")
    assert standing(game, "north_sea", 1) == {"frigate": 2}
    assert sorted(game.state.discard) == ["counter_espionage", "counter_espionage", "sabotage"]


@pytest.mark.parametrize(
    ("target", "hands", "asked"),
    [
        ("netherlands", EVERYBODY, [0]),
        ("spain", EVERYBODY, [0, 1, 2]),
        ("spain", {2: ["counter_espionage"]}, [2]),
    ],
)
def test_who_is_asked_before_a_land_combat(target: str, hands: Any, asked: list[int]) -> None:
    """IMP-11.5: the attacker alone against a free country, else all who hold a card."""
    countries = {"france": colony(0, infantry=1, posts=1), "spain": colony(1, posts=1, infantry=1)}
    game = position(wars=[(0, 1)], countries=countries, hands=hands)
    game.when(0, attack(group("france", target, infantry=1)))
    assert deciding(game) == ("combat_window", asked)
    game.refused(asked[0], card("counter_espionage"), "card_not_playable_now", "IMP-9.3")


def test_who_is_asked_before_a_sea_combat() -> None:
    """IMP-11.5: attacker and defenders; nobody against pirates."""
    zones = {
        "north_sea": zone({0: {"frigate": 2}}),
        "norwegian_sea": zone({1: {"frigate": 1}}),
        "baltic_sea": zone(pirates=1),
    }
    hands = EVERYBODY
    game = position(wars=[(0, 1)], zones=zones, hands=hands)
    game.when(0, attack(group("north_sea", "norwegian_sea", frigate=1)))
    assert deciding(game) == ("combat_window", [0, 1])
    other = position(zones=zones, hands=hands)
    other.when(0, attack(group("north_sea", "baltic_sea", frigate=1)), draws=dice("w6 w1"))
    assert deciding(other) == ("movement", [0])


def test_the_attacker_may_renounce_the_window() -> None:
    """IMP-11.5: `pass_window` with the attack."""
    game = position(countries={"france": colony(0, infantry=1, posts=1)}, hands={0: ["ambush"]})
    game.when(0, attack(group("france", "netherlands", infantry=1), pass_window=True), draws=dice("w1 w2 w3"))
    assert deciding(game) == ("movement", [0])


def cavalry_fight(*, second: str = "y2 w6") -> Given:
    game = position(countries={"france": colony(0, cavalry=1, posts=1)}, hands={0: ["coup_de_main"]})
    game.when(0, attack(group("france", "spain", cavalry=1), pass_window=True), draws=dice("y7 w1 w2 w3"))
    return game


def test_passing_for_the_rest_of_a_combat() -> None:
    """IMP-11.6: the next round asks no more; the next combat does."""
    game = cavalry_fight()
    assert deciding(game) == ("round_window", [0])
    game.when(0, {"type": "pass", "for_combat": True}, draws=dice("y7 w1 w2 y2 w6"))
    assert game.sight(0)["auto"] == {}
    other = position(step="move_window", hands={1: ["ambush"]})
    other.refused(1, {"type": "pass", "for_combat": True}, "invalid_choice", "IMP-11.6")


def test_a_standing_pass() -> None:
    """IMP-11.8: asked like any other and passed in the same record; private; may still play safe cards."""
    game = window()
    game.when(2, auto("open", "counter"))
    assert must(game, 1) == (1, 2)
    assert (game.sight(2)["auto"], "auto" in game.sight(PUBLIC)) == ({"open": "game_end", "counter": "game_end"}, False)
    game.when(1, {"type": "pass", "until": "turn_end"})
    assert game.sight(1)["auto"] == {"open": "turn_end"}
    game.when(0, {"type": "end_movement"})
    assert deciding(game) == ("movement", [1])
    game.when(2, SABOTAGE)
    game.when(2, auto("open", until="off"))
    assert game.sight(2)["auto"] == {"counter": "game_end"}


def test_how_long_it_lasts() -> None:
    """IMP-11.8: to the end of the phase, of the turn, of the game."""
    game = position(step="unpin", hands=EVERYBODY)
    assert deciding(game)[0] == "open_window"
    game.when(0, {"type": "pass", "until": "phase_end"})
    game.when(1, {"type": "pass", "until": "turn_end"})
    game.when(2, {"type": "pass", "until": "game_end"})
    assert [game.sight(s)["auto"] for s in range(3)] == [{"open": u} for u in ("phase_end", "turn_end", "game_end")]
    for seat in range(3):
        game.when(seat, {"type": "end_embarkation"})
    assert [game.sight(s)["auto"] for s in range(3)] == [{}, {"open": "turn_end"}, {"open": "game_end"}]
    assert deciding(game) == ("open_window", [0])


def test_a_setting_answers_a_window_that_waits() -> None:
    """IMP-11.8: only one of its kind."""
    game = window()
    game.when(1, auto("counter"))
    assert deciding(game) == ("open_window", [1, 2])
    game.when(1, auto("open"))
    game.when(2, auto("open"))
    assert deciding(game) == ("movement", [0])


@pytest.mark.parametrize(
    ("step", "default"),
    [
        ("investment", "end_investments"),
        ("movement", "end_movement"),
        ("embarkation", "end_embarkation"),
        ("budget", "set_budget"),
        ("move_window", "pass"),
    ],
)
def test_defaults(step: str, default: str) -> None:
    """IMP-11.9: entered as if the seat had sent it, for all who have not answered."""
    game = position(step=step, hands={1: ["ambush"], 2: ["ambush"]} if step == "move_window" else {})
    asked = deciding(game)[1]
    game.deadline()
    assert [m["type"] for _, m in game.match.records[-1].moves()] == [default] * len(asked)


def test_the_defaults_of_the_set_up() -> None:
    """IMP-11.9: both ships in the first zone; an artillery."""
    game = Given(RULESET, 3)
    seat = game.decision.must[0]
    game.deadline()
    assert len(game.match.records[-1].moves()) == 1
    assert game.state.pieces(seat, "frigate") == 1


def test_the_default_fighters() -> None:
    """IMP-11.9: best dice first; and a reinforcement is declined."""
    countries = {"france": colony(0, artillery=1, posts=1, infantry=1), "spain": colony(1, 1, 1, infantry=2, cavalry=1)}
    game = position(wars=[(0, 1)], countries=countries)
    game.when(0, attack(group("france", "spain", artillery=1)))
    assert deciding(game) == ("choose_units", [1])
    game.deadline(dice("g3 r9 y2 w1"))
    chosen = game.match.records[-1].moves()[0][1]["units"]
    assert sorted(x["unit"] for x in chosen) == ["cavalry", "fort", "infantry"]
    assert deciding(game) == ("reinforce", [0])
    game.deadline()
    assert deciding(game) == ("movement", [0])


def test_a_vacant_seat_is_answered_at_once() -> None:
    """IMP-11.10: with the defaults; never asked in a window; its hand stays."""
    game = position(hands={1: ["ambush"]})
    game.match.leave(1)
    game.when(0, {"type": "end_movement"})
    assert deciding(game) == ("movement", [2])
    assert game.state.nations[1].cards == 1
    game.match.leave(2)
    assert (deciding(game), game.state.phase) == (("embarkation", [0]), 7)


def test_a_seat_that_leaves_is_answered() -> None:
    """IMP-11.10: what it owed; it counts as ready."""
    top = {"n": 2, "kind": "diplomacy", "asked": [0, 1, 2], "owing": [0, 1, 2], "data": {}}
    game = position(step="revenue", frames=[{"n": 1, "kind": "game", "data": {"step": "revenue"}}, top], opened=2)
    game.match.leave(1)
    assert deciding(game) == ("diplomacy", [0, 2])
    game.when(0, {"type": "set_stance", "target": 1, "stance": "war"})
    assert deciding(game) == ("diplomacy", [0, 2])


def test_nobody_is_left() -> None:
    """IMP-11.10: the game ends without a winner."""
    game = position()
    for seat in (2, 1, 0):
        game.match.leave(seat)
    assert (game.state.over, game.state.winner) == (True, None)
    assert [s.place for s in RULESET.scores(game.state)] == [1, 2, 3]
    assert country(game, "japan").owner == 2
