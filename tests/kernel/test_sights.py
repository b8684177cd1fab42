"""What is shown: to everybody, to a seat, to the director, and how it is digested and declared."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.kernel.game.game import private_view
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.rules.ruleset import Everything, Nothing, Score
from domain.kernel.schema.canonical_json import canonical, digest, struct_digest
from domain.kernel.schema.declarations import UNSET, Maybe, Part
from domain.kernel.schema.json_codec import to_json
from domain.types import DIRECTOR, MAX_INT, PUBLIC, Doc, Json
from tests import template
from tests.kernel.flows import orders, passage, sealed
from tests.rulesets import FLOWS, Registered


class Detail(Part, frozen=True):
    """Figures, of which the second may be absent."""

    votes: int
    tie_break: Maybe[int | None] = UNSET


def sealed_game() -> InMemoryGame[sealed.Sealed]:
    """Seat 0 has laid a card."""
    match = InMemoryGame(sealed.RULESET, 3, bytes(32))
    card = next(c for c in match.state.hands[0] if c != "alliance")
    match.play(0, {"type": "attack", "target": 1, "card": card})
    return match


class TestViewers:
    def test_everybody(self) -> None:
        s = sealed_game().state
        assert sealed.RULESET.player_view_part(s, PUBLIC) == sealed.Board(s.turns, s.gold, s.points, s.laid)
        assert sealed.RULESET.player_view(s, PUBLIC) == {
            "turns": 10,
            "gold": [6, 6, 6],
            "points": [0, 0, 0],
            "laid": [],
        }

    def test_a_seat(self) -> None:
        s = sealed_game().state
        assert sealed.RULESET.player_view_part(s, 0) == sealed.Own(s.hands[0], s.cards[0], ())
        assert sealed.RULESET.player_view(s, 0) == {"hand": list(s.hands[0]), "card": s.cards[0], "powers": []}

    def test_director_sees_what_all_seats_see_and_what_none_does(self) -> None:
        s = InMemoryGame(orders.RULESET, 2, bytes(32)).state
        seats = {str(seat): orders.own(s, seat) for seat in range(2)}
        assert orders.RULESET.player_view_part(s, DIRECTOR) == Everything(seats, orders.Hidden(s.garrison))
        assert orders.RULESET.player_view(s, DIRECTOR) == {
            "seats": {str(seat): orders.RULESET.player_view(s, seat) for seat in range(2)},
            "hidden": {"garrison": s.garrison},
        }

    def test_a_game_without_secrets(self) -> None:
        s = InMemoryGame(passage.RULESET, 2, bytes(32)).state
        assert passage.RULESET.player_view_part(s, 1) == Nothing()
        assert passage.RULESET.player_view(s, 1) == {}
        assert passage.RULESET.player_view(s, DIRECTOR) == {"seats": {"0": {}, "1": {}}, "hidden": {}}

    def test_after_the_end_everybody_sees_all(self) -> None:
        match = sealed_game()
        rules = match.rules
        assert private_view(rules, match.game, 1) == rules.player_view_part(match.state, 1)
        match.close("example")
        for viewer in (PUBLIC, DIRECTOR, 0, 1):
            assert private_view(rules, match.game, viewer) == rules.player_view_part(match.state, DIRECTOR)


class TestDocuments:
    def test_they_are_what_the_functions_declare(self) -> None:
        own: dict[str, type[Part]] = {"board": sealed.Board, "own": sealed.Own}
        assert sealed.RULESET.view_types == {**own, "hidden": Nothing, "detail": Nothing}
        assert template.RULESET.view_types["own"] is Nothing
        assert orders.RULESET.view_types["hidden"] is orders.Hidden

    @pytest.mark.parametrize("entry", FLOWS, ids=lambda entry: entry.name)
    def test_the_state_is_left_as_it_is(self, entry: Registered) -> None:
        """A document is a fresh one, whatever somebody does with it."""
        state: Any = InMemoryGame(entry.rules, entry.seats, bytes(32)).state
        before = canonical(to_json(state))
        for viewer in (PUBLIC, DIRECTOR, 0):
            seen = entry.rules.player_view(state, viewer)
            emptied(seen)
        assert canonical(to_json(state)) == before

    def test_the_detail_of_a_score(self) -> None:
        """In the order in which the figures count; an absent one is not null."""
        found = [Score(0, 1, 5, detail).to_json() for detail in (Detail(3), Detail(3, None), Detail(3, 1))]
        assert [list(doc["detail"].items()) for doc in found] == [
            [("votes", 3)],
            [("votes", 3), ("tie_break", None)],
            [("votes", 3), ("tie_break", 1)],
        ]
        assert found[0] == {"seat": 0, "place": 1, "points": 5, "detail": {"votes": 3}}


def emptied(doc: Doc) -> None:
    for value in doc.values():
        if isinstance(value, (dict, list)):
            value.clear()
    doc.clear()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class TestDigests:
    @given(values)
    def test_a_document_has_one_digest_however_it_is_written(self, doc: Json) -> None:
        assert struct_digest(doc) == digest(doc)

    @given(st.text(), st.dictionaries(st.text(), values, max_size=4), st.none() | st.integers(-MAX_INT, MAX_INT))
    def test_a_declared_one_has_that_of_its_document(self, word: str, kept: Doc, more: int | None) -> None:
        made = msgspec.defstruct("Made", [("word", str), ("kept", Doc), ("a", int | None)], bases=(Part,), frozen=True)
        assert struct_digest(made(word, kept, more)) == digest({"word": word, "kept": kept, "a": more})

    @pytest.mark.parametrize("entry", FLOWS, ids=lambda entry: entry.name)
    def test_of_a_board(self, entry: Registered) -> None:
        state: Any = InMemoryGame(entry.rules, entry.seats, bytes(32)).state
        assert struct_digest(entry.rules.board(state)) == digest(entry.rules.player_view(state, PUBLIC))
