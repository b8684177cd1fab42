"""IMP-6.1, IMP-6.2: order of the turn, secret service and diplomacy."""

from __future__ import annotations

from typing import Any

from domain.games.imperunde.data import DECK
from tests.games.imperunde.board import card, colony, deciding, dice, lots, named, position
from tests.spec import Given

EVENTS = [
    {"n": 1, "kind": "game", "data": {"step": "turn"}},
    {"n": 2, "kind": "embarkation", "asked": [0], "owing": [0]},
]


def stance(target: int, to: str) -> Any:
    return {"type": "set_stance", "target": target, "stance": to}


def talks(seats: int = 3, **more: Any) -> Given:
    """The talks of a turn, nobody ready."""
    everybody = list(range(seats))
    top = {"n": 2, "kind": "diplomacy", "asked": everybody, "owing": everybody, "data": {}}
    frames = [{"n": 1, "kind": "game", "data": {"step": "revenue"}}, top]
    return position(seats, "revenue", frames=frames, opened=2, **more)


def new_turn(dice_text: str, deck: list[str], **more: Any) -> Given:
    """The end of an embarkation that leads straight into the next turn."""
    game = position(step="turn", frames=EVENTS, opened=2, phase=7, deck=deck, **more)
    shuffle = {"label": "shuffle.deck", "value": [*game.state.deck, *game.state.discard]}
    game.when(0, {"type": "end_embarkation"}, draws=[*dice(dice_text), shuffle])
    return game


def test_the_highest_die_is_first_player() -> None:
    """IMP-6.1.1: tied highest seats roll again in seat order."""
    game = new_turn("w5 w2 w5 w1 w4", [], turn=2)
    assert list(game.state.order) == [2, 0, 1]
    assert game.state.turn == 3


def test_the_start_of_the_talks() -> None:
    """IMP-6.2.1, IMP-4.4: overrides end, discards are shuffled in, everybody is dealt the top card."""
    game = new_turn("w1 w6 w2", ["ambush", "treason", "pirates"], discard=["capture"], overrides={(0, 1): "war"})
    assert not game.state.pair(0, 1).override
    assert [game.sight(seat)["hand"] for seat in (1, 0, 2)] == [["ambush"], ["treason"], ["pirates"]]
    assert (game.state.discard, game.state.pile) == ((), 45)


def test_later_seats_get_no_card_from_an_empty_pile() -> None:
    """IMP-6.2.1: hands are unlimited, the pile is not."""
    rest = list(DECK)
    rest.remove("ambush")
    rest.remove("capture")
    game = new_turn("w6 w1 w2", ["ambush", "capture"], hands={2: rest})
    assert [n.cards for n in game.state.nations] == [1, 0, 47]
    assert game.state.pile == 0


def test_stances() -> None:
    """IMP-6.2.2: both start at the base; four changes toward a seat in a turn."""
    game = talks()
    game.refused(0, stance(0, "war"), "invalid_target", "IMP-6.2.2")
    game.refused(0, stance(7, "war"), "invalid_target")
    game.refused(0, stance(1, "peace"), "no_change")
    for to in ("war", "peace", "war", "peace"):
        game.when(0, stance(1, to))
    game.refused(0, stance(1, "war"), "stance_limit", "IMP-6.2.2")
    game.when(1, stance(0, "war"))


def test_peace_needs_both() -> None:
    """IMP-6.2.3: war can be declared alone, and withdrawn; public at once."""
    game = talks(wars=[(0, 1)])
    assert game.state.relation(0, 1) == "war"
    game.when(0, stance(1, "peace"))
    assert game.state.relation(0, 1) == "war"
    game.when(1, stance(0, "peace"))
    assert game.state.relation(0, 1) == "peace"
    assert game.sight("public")["pairs"]["0-1"]["stances"] == ["peace", "peace"]


def test_the_goal_changes_when_all_approve() -> None:
    """IMP-6.2.4: bounds, one proposal a turn, votes at once."""
    game = talks()
    game.refused(0, {"type": "propose_goal", "goal": 5}, "goal_out_of_range", "IMP-6.2.4")
    game.refused(0, {"type": "propose_goal", "goal": 40}, "no_change")
    game.when(0, {"type": "propose_goal", "goal": 30})
    assert deciding(game) == ("goal_vote", [1, 2])
    game.refused(0, {"type": "vote_goal", "approve": True}, "not_your_decision")
    game.when(1, {"type": "vote_goal", "approve": True})
    game.refused(1, {"type": "vote_goal", "approve": True}, "already_answered")
    game.when(2, {"type": "vote_goal", "approve": True})
    assert (game.state.goal, deciding(game)) == (30, ("diplomacy", [0, 1, 2]))
    game.refused(0, {"type": "propose_goal", "goal": 31}, "proposal_limit")


def test_one_no_ends_the_vote() -> None:
    """IMP-6.2.4: the goal stays."""
    game = talks()
    game.when(0, {"type": "propose_goal", "goal": 30})
    game.when(2, {"type": "vote_goal", "approve": False})
    assert (game.state.goal, deciding(game)) == (40, ("diplomacy", [0, 1, 2]))


def test_a_goal_without_voters_changes_at_once() -> None:
    """IMP-6.2.4, IMP-11.10: vacant seats are not asked."""
    game = talks(vacant=[1, 2])
    game.when(0, {"type": "propose_goal", "goal": 30})
    assert game.state.goal == 30


def test_all_ready_ends_the_phase() -> None:
    """IMP-6.2.5: the base becomes what the stances make of it; a change clears all flags under a new id."""
    game = talks()
    game.when(0, {"type": "ready"})
    game.refused(0, {"type": "ready"}, "no_change", "IMP-6.2.5")
    game.refused(1, {"type": "unready"}, "no_change")
    game.when(0, {"type": "unready"})
    game.when(0, {"type": "ready"})
    before = game.decision.id
    game.when(0, stance(2, "war"))
    assert game.decision.id != before
    assert deciding(game) == ("diplomacy", [0, 1, 2])
    for seat in (2, 0, 1):
        game.when(seat, {"type": "ready"})
    assert game.state.pair(0, 2).base == "war"
    assert deciding(game) == ("budget", [0, 1, 2])


def test_after_the_talks_cards_alone_change_relations() -> None:
    """IMP-6.2.6: stances belong to phase 2; words are no moves."""
    game = position(hands={0: ["declaration_of_war"]})
    game.refused(0, stance(1, "war"), "wrong_phase")
    game.refused(0, {"type": "message", "text": "peace?"}, "unknown_move")
    game.when(0, card("declaration_of_war", target_seat=1))
    assert game.state.at_war(0, 1)


def test_a_card_clears_the_flags() -> None:
    """IMP-6.2.5: also when it has been countered."""
    game = talks(
        hands={0: ["sabotage"], 1: ["counter_espionage"]}, zones={"north_sea": {"fleets": {"1": lots(frigate=1)}}}
    )
    game.when(2, {"type": "ready"})
    game.when(0, card("sabotage", target_seat=1, zone="north_sea", unit="frigate"))
    assert deciding(game) == ("counter_window", [1])
    facts = game.when(1, card("counter_espionage"))
    assert named(facts, "card_countered")
    assert deciding(game) == ("diplomacy", [0, 1, 2])


def test_a_friend_that_is_attacked_in_talk_only() -> None:
    """IMP-6.2.5: a goal that is lowered far enough ends the game."""
    game = talks(countries={"china": colony(0, posts=3), "france": colony(0, posts=3)}, vacant=[1, 2])
    game.when(0, {"type": "propose_goal", "goal": 6})
    assert game.state.winner == 0


def test_the_talks_have_one_deadline() -> None:
    """IMP-11.9: a stance and a goal that is voted down ask anew on the same clock; the vote has one of its own."""
    game = talks()
    first = game.state.top
    game.when(0, stance(1, "war"))
    assert (game.state.top.n != first.n, game.state.top.timer) == (True, first.timer)
    game.when(0, {"type": "propose_goal", "goal": 30})
    assert game.state.top.timer == game.state.top.n
    assert [f.timer for f in game.state.frames if f.kind == "diplomacy"] == [first.timer]
    game.when(1, {"type": "vote_goal", "approve": False})
    assert (game.state.top.kind, game.state.top.timer) == ("diplomacy", first.timer)


def test_a_card_in_the_talks_stops_their_clock() -> None:
    """IMP-11.9: they go on with the time that was left, under a new id and without ready flags."""
    game = talks(hands={0: ["armistice"]}, wars=[(0, 1)])
    first = game.state.top
    game.when(1, {"type": "ready"})
    game.when(0, {"type": "play_card", "card": "armistice", "target_seat": 1})
    assert deciding(game) == ("diplomacy", [0, 1, 2])
    assert (game.state.top.n != first.n, game.state.top.timer) == (True, first.timer)
