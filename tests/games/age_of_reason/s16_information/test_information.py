"""AOR-16: who sees what."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.state import AgeOfReason
from domain.kernel.records.record import visible_packs
from domain.kernel.rules.choices import Choice
from domain.kernel.rules.draft import Draft
from domain.kernel.rules.draws import Draws, Seeded
from domain.kernel.rules.ruleset import Everything
from domain.types import Seat
from tests.games.age_of_reason.board import attack, commit, hire, move, position
from tests.spec import Given

HERE = {"central_europe": 1}
TOKENS = dict.fromkeys(("prussia", "austria", "france", "russia", "spain"), HERE)
SPENT = {0: ["prussia_3s0n", "prussia_1s1n"], 1: ["austria_1s1n"], 2: ["france_4s0n"]}


def battle() -> Given:
    """In the middle of `commit`."""
    game = position(5, tokens=TOKENS, discards=SPENT)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    game.when(2, commit("france_alliance"))
    return game


def dealt_anew(game: Given, seed: int, *keep: int) -> AgeOfReason:
    draft: Draft[AgeOfReason] = Draft(RULESET, game.state, Draws(Seeded(random.Random(seed).randbytes(32), "x")))
    RULESET.redeal(draft, keep)
    return draft.state


def test_the_bag_has_contents_but_no_order() -> None:
    """AOR-16.1: only its size is shown."""
    game = position()
    assert game.sight("public")["bag_size"] == 65
    assert "bag" not in game.sight("public")


def test_hands_discards_and_sealed_answers_are_each_seats_own() -> None:
    """AOR-16.2: dealt anew, nothing changes for the seat that is kept, nor on the board."""
    game = battle()
    before = game.sight("public"), game.sight(0)
    hands = set()
    for seed in range(20):
        state = dealt_anew(game, seed, 0)
        assert not RULESET.check(state)
        assert (RULESET.player_view(state, "public"), RULESET.player_view(state, 0)) == before
        hands.add((state.discards[2], state.sealed[2]))
    assert len(hands) > 5


def test_what_is_known_of_an_answer_is_kept() -> None:
    """AOR-9.2.4, AOR-8.3.1: who stays out, and the only card that a poor attacker could have played."""
    ships = ["prussia_0s1n", "prussia_1s1n", "prussia_2s1n"]
    tokens = {power: {"baltic": 1} for power in ("prussia", "austria", "france", "russia", "spain")}
    game = position(5, tokens=tokens, discards={0: ships}, empires={0: {"gold": 0, "unrest": 22}})
    game.when(0, attack("baltic", "austria", "prussia_bluff"))
    game.when(2, commit("france_bluff"))
    game.when(4, commit(None))
    game.when(1, commit("austria_1s2n"))
    laid = set()
    for seed in range(20):
        state = dealt_anew(game, seed)
        cards = [sealed.card if sealed else None for sealed in state.sealed]
        assert cards[0] == "prussia_bluff"
        assert cards[4] is None
        laid.add(cards[2])
    assert laid == {"france_bluff", "france_alliance"}


def gets(game: Given, seats: Sequence[Seat]) -> list[object]:
    """All that these seats, and everybody, can get out of a position and its last record."""
    public = {k: v for k, v in game.match.records[-1].public.items() if k not in ("seals", "prev")}
    own = [visible_packs(game.match.records[-1], seat) for seat in seats]
    shown = [game.sight(seat) for seat in ("public", *seats)]
    asked = [game.offered(seat) for seat in seats if seat in game.decision.must]
    return [public, own, shown, asked, len(game.match.records[-1].public["seals"])]


PAIRS: list[tuple[dict[str, object], dict[str, object]]] = [
    (attack("central_europe", "austria", "prussia_4s0n"), attack("central_europe", "austria", "prussia_bluff")),
    (
        move("place", space="pressgangs", card="prussia_1s1n"),
        move("place", space="pressgangs", card="prussia_0s1n"),
    ),
    (
        move("convert", marker="ca_cuba", card="prussia_2s1n"),
        move("convert", marker="ca_cuba", card="prussia_1s1n"),
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: str(pair[0]["type"]))
def test_moves_of_different_hidden_cards_look_the_same(
    pair: tuple[dict[str, object], dict[str, object]],
) -> None:
    """AOR-16.2, AOR-8.1.4, AOR-11.1.4: facts, boards, what others see and what they are offered."""
    found = []
    for act in pair:
        spent = ["prussia_0s1n", "prussia_1s1n"] if act["type"] == "place" else []
        game = position(5, tokens=TOKENS, markers=["ca_cuba"], discards={0: spent})
        game.when(0, act)
        found.append((gets(game, (1, 2, 3, 4)), game.sight(0)))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


def test_an_answer_that_was_taken_back_leaves_nothing_behind() -> None:
    """AOR-4.6.3, AOR-4.6.5: whatever it was."""
    found = []
    for card in ("france_alliance", "france_bluff", None):
        game = position(5, tokens=TOKENS)
        game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
        game.when(2, commit(card))
        game.when(2, move("take_back"))
        found.append([gets(game, (0, 1, 4)), game.sight(2)])
    assert found[0] == found[1] == found[2]


def test_everything_else_is_public() -> None:
    """AOR-16.3: the board names gold, points, unrest, tokens, reserves, the board, markers, slots, turn, dice."""
    shown = battle().sight("public")
    assert {"slots", "turn_order", "game_turn", "round", "turn", "markers", "action_board"} <= set(shown)
    assert {"battle", "npp"} <= set(shown)
    assert {"gold", "vp", "unrest", "tokens", "reserve", "action_tokens"} <= set(shown["empires"][0])


def test_a_seat_sees_its_own_and_a_spectator_nothing_hidden() -> None:
    """AOR-16.4."""
    game = battle()
    assert game.sight(2)["sealed"] == {"card": "france_alliance", "powers": None}
    assert game.sight(1)["discard"] == ["austria_1s1n"]
    assert not {"hand", "discard", "discards", "sealed"} & set(game.sight("public")["empires"][1])
    everything = RULESET.player_view_part(game.state, "director")
    assert isinstance(everything, Everything)
    assert set(everything.seats) == {"0", "1", "2", "3", "4"}


def test_offers_tell_costs_and_loans() -> None:
    """AOR-16.5: `loan` in unrest."""
    game = position(2, empires={0: {"gold": 1}}, tokens=TOKENS)
    cards = game.offered(0, "attack", "central_europe", {"kind": "power", "power": "austria"})
    assert isinstance(cards, Choice)
    costs = {option.value: option.cost for option in cards.options}
    assert costs["prussia_4s0n"] == {"gold": 5, "loan": 2}
    assert costs["prussia_bluff"] == {}
    assert costs["prussia_1s0n_a"] == {"gold": 1}


def test_hiring_costs_what_it_adds_to_the_own_card() -> None:
    """AOR-16.5, AOR-15.2: card and hirings are one payment, so a loan for the card may leave a coin for the first."""
    for gold, loan in ((6, {}), (5, {"loan": 1}), (4, {}), (3, {"loan": 1})):
        game = position(5, tokens=TOKENS, empires={0: {"gold": gold}})
        game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
        game.when(1, commit("austria_bluff"))
        game.when(2, commit(None))
        game.when(4, commit(None))
        question = game.offered(0)
        assert isinstance(question, Choice)
        assert [option.cost for option in question.options] == [{"gold": 1, **loan}]


def test_hidden_members_are_absent_from_what_others_read() -> None:
    """AOR-16.6."""
    game = battle()
    acts = [record.public["acts"][0][1] for record in game.match.records[-2:]]
    assert [set(act) for act in acts] == [{"type", "region", "target"}, {"type"}]
    game.when(4, commit(None))
    game.when(1, commit("austria_bluff"))
    game.when(0, hire("spain"), draws=[1, 1, 1, 1])
    act = game.match.records[-1].public["acts"][0][1]
    assert act == {"type": "hire"}
    hidden = {name: set(kind.admission.hidden) for name, kind in RULESET.moves.items() if kind.admission.hidden}
    assert hidden == {
        "place": {"card"},
        "convert": {"card"},
        "attack": {"card"},
        "commit": {"card"},
        "hire": {"powers"},
    }
