"""AOR-10: what becomes public when."""

from __future__ import annotations

import pytest

from domain.errors import RuleError
from domain.kernel.records.record import facts_for
from domain.kernel.schema.canonical_json import canonical
from domain.types import PUBLIC, Json, Viewer
from tests.games.age_of_reason.board import attack, commit, move, position
from tests.spec import Given

HERE = {"central_europe": 1}
TOKENS = dict.fromkeys(("prussia", "austria", "france", "russia"), HERE)


def told(game: Given, viewer: Viewer = PUBLIC) -> str:
    """All facts so far that the viewer may read."""
    records = game.match.records
    return canonical([facts_for(record, viewer) for record in records]).decode()


def test_sealed_cards_are_public_from_the_reveal_on() -> None:
    """AOR-10: those of the attacker, the defender and the allies, bluffs too."""
    game = position(5, tokens=TOKENS)
    laid = {0: "prussia_4s0n", 1: "austria_2s1n", 2: "france_bluff", 4: "russia_alliance"}
    game.when(0, attack("central_europe", "austria", laid[0]))
    for seat in (1, 2):
        game.when(seat, commit(laid[seat]))
    assert not any(card in told(game) for card in laid.values())
    game.when(4, commit(laid[4]), draws=[1, 1, 1, 1])
    assert all(card in told(game) for card in laid.values())


def test_a_card_used_to_convert_or_taken_back_stays_hidden() -> None:
    """AOR-10: from all but its owner; hand sizes change at once."""
    game = position(2, markers=["ca_cuba"], discards={0: ["prussia_3s0n"]})
    game.when(0, move("place", space="militia", card="prussia_3s0n"))
    assert game.sight("public")["empires"][0]["hand_size"] == 11
    game.when(0, move("convert", marker="ca_cuba", card="prussia_1s1n"))
    assert game.sight("public")["empires"][0]["hand_size"] == 10
    shown = canonical([record.public for record in game.match.records[-2:]]).decode()
    for card in ("prussia_3s0n", "prussia_1s1n"):
        assert card not in shown
        read = [facts_for(record, 1) for record in game.match.records[-2:]]
        assert card not in canonical(read).decode()
        assert card in told(game, 0)


def test_a_card_that_was_taken_back_is_never_opened() -> None:
    """AOR-10, AOR-4.6.3: the reveal opens the last answer alone; what was thought of before stays secret."""
    game = position(5, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    game.when(2, commit("france_alliance"))
    game.when(2, move("take_back"), commit("france_bluff"))
    game.when(4, commit(None))
    game.when(1, commit("austria_2s1n"), draws=[1, 1, 1, 1])
    assert "france_bluff" in told(game)
    public = canonical([record.public for record in game.match.records]).decode()
    assert "france_alliance" not in public
    assert "austria_2s1n" in public


@pytest.mark.parametrize("again", [move("take_back"), commit("france_bluff"), None])
def test_an_answer_in_secret_ends_a_list(again: Json) -> None:
    """AOR-4.6.2: of two answers in one record the reveal would open both; so nothing follows one."""
    game = position(5, tokens=TOKENS)
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    with pytest.raises(RuleError, match="barrier_in_list"):
        game.match.play(2, commit("france_alliance"), again)
    assert not game.state.top.done
