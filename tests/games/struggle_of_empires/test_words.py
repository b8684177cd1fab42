"""What is particular in the words of this game."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from domain.bots import builder_move, deciding_seats
from domain.games.struggle_of_empires import RULESET
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.narration.chapters import narrate
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.narration.template_context import template_context
from domain.kernel.records.record import facts_for
from domain.kernel.text.message_catalog import load_texts
from domain.types import DIRECTOR, Doc
from tests.games.struggle_of_empires.board import position


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "marker" in (load_texts(RULESET.package, "en").get("move.enslave") or "")


@pytest.mark.parametrize(("lang", "said"), [("en", "Population rises to "), ("fr", "La population passe à ")])
def test_how_all_populations_grow_after_a_war_is_told_once(lang: str, said: str) -> None:
    """SOE-10.3: by the last that rises, whatever those before it had; what a tile adds is told of its seat alone."""
    played = InMemoryGame(RULESET, 4, bytes(32))
    rng = random.Random(2)
    while not played.state.over:
        seat = rng.choice(deciding_seats(played))
        played.play(seat, builder_move(played, seat, rng))
    words = load_texts(RULESET.package, lang)
    names = SeatNames(words, RULESET.powers(played.state), {})
    tale = narrate(RULESET, played.records, DIRECTOR, words, lambda *_: names)
    told = [p.version for p in tale.sections for line in p.lines if line.startswith(said)]
    ends = {r.version for r in played.records if any(f["t"] == "war_ended" for f in facts_for(r, DIRECTOR))}
    assert len(set(told)) == len(told) > 0
    assert set(told) <= ends


PROPOSALS = [
    ({"wording": "a", "a": 0, "b": 2}, "bids 3 gold to join the grey alliance and put seat 3 in the white."),
    ({"wording": "b", "a": 1, "b": 0}, "bids 3 gold to put seat 2 in the grey alliance and join the white alliance."),
    ({"wording": "b", "b": 0}, "bids 3 gold to join the white alliance."),
    ({"wording": "no", "a": 1, "b": 2}, "bids 3 gold to put seat 2 in the grey alliance and seat 3 in the white."),
    ({"wording": "yes", "a": 1, "b": 2}, "bids 3 gold for the same proposal."),
]


@pytest.mark.parametrize(("proposal", "said"), PROPOSALS)
def test_a_bidder_joins_an_alliance_and_puts_others_in_one(proposal: Doc, said: str) -> None:
    """SOE-6.4."""
    fact = {"t": "bid_made", "seat": 0, "amount": 3, **proposal}
    assert load_texts(RULESET.package, "en").sentence(fact) == f"Seat 1 {said}"


def test_the_bidders_own_alliance_is_found_in_the_proposal() -> None:
    """SOE-6.4: by its seat."""
    game = position(4, turn=None)
    words = {}
    for a, b in ((0, 1), (1, 0), (2, 3)):
        state = game.state
        fact = {"t": "bid_made", "seat": 0, "amount": 3, "a": a, "b": b}
        words[a, b] = template_context(RULESET, state, [fact])[0]["wording"]
    assert words == {(0, 1): "a", (1, 0): "b", (2, 3): "no"}


def test_natural_seven_and_payment_of_nothing_are_told() -> None:
    """SOE-8.8, SOE-6.5."""
    english = load_texts(RULESET.package, "en")
    lost = {"t": "unit_lost", "seat": 0, "unit": "army", "region": "baltic", "unrest": 1, "causes": ["seven"]}
    assert english.sentence(lost) == (
        "Seat 1 loses an army in the Baltic (its dice add up to 7) and takes 1 point of unrest."
    )
    won = {"t": "auction_won", "seat": 0, "amount": 0}
    assert english.sentence(won) == "Seat 1 wins the auction without paying."


@pytest.mark.parametrize(
    ("strength", "parts", "said"),
    [
        (0, [], "Seat 1 rolls 3 and 3 and reaches a strength of 0."),
        (
            5,
            [{"part": "spread", "value": 3, "who": 0}, {"part": "own", "value": 2, "who": 0}],
            "Seat 1 rolls 3 and 3 and reaches a strength of 5: 3 by the difference of the dice and 2 by its own units.",
        ),
    ],
)
def test_a_strength_is_told_with_its_parts_if_it_has_any(strength: int, parts: list[Doc], said: str) -> None:
    """SOE-8.7."""
    roll = {"who": 0, "dice": [3, 3], "strength": strength, "parts": parts}
    assert load_texts(RULESET.package, "en").sentence({"t": "battle_rolled", "rolls": [roll]}) == said


def test_a_unit_moves_towards_a_region() -> None:
    """SOE-15: `dans` tells where a unit is, `vers` where it goes."""
    moved = {"t": "unit_moved", "seat": 0, "unit": "army", "from": "mediterranean", "to": "german_states"}
    said = load_texts(RULESET.package, "fr").sentence({**moved, "result": "arrives"})
    assert said == "Le joueur 1 déplace une armée de la Méditerranée vers les États allemands."
