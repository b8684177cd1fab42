"""What is particular in the words of this game."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from domain.games.age_of_reason import RULESET
from domain.games.age_of_reason.data import DOC, MARKERS, SPACES, TOKENS
from domain.games.age_of_reason.template_context import complete_sentences
from domain.kernel.narration.sentences import SeatNames, record_sentences
from domain.kernel.narration.template_context import template_context, with_context
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.types import Doc, Json
from tests.games.age_of_reason.board import POWERS, attack, commit, move, position
from tests.games.age_of_reason.registered import RARE
from tests.games.age_of_reason.test_games import DRAWN, played
from tests.games.age_of_reason.words import QUIET, SILENT
from tests.games.test_texts import DOUBLED, told_facts
from tests.spec import CLUMSY, Given


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_has_its_words(lang: str) -> None:
    known = load_texts(RULESET.package, lang).own
    wanted = {f"paid.{why}" for why in ("bid", "battle", "support", "convert")}
    wanted |= {f"paid.{space.id}" for space in SPACES.values() if space.cost}
    wanted |= {f"received.{space.id}" for space in SPACES.values() if space.effect in ("trade", "immediate_gold")}
    wanted |= {f"received.{marker.id}" for marker in MARKERS.values() if marker.gold}
    assert wanted == {key for key in known if key.partition(".")[0] in ("paid", "received")}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_options_have_words(lang: str) -> None:
    values = {v for o in DOC["options"]["items"] for v in o["values"] if o["id"] != "powers" and v != "seat"}
    assert {f"word.{v}" for v in values if isinstance(v, str)} <= load_texts(RULESET.package, lang).own.keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sentences_of_all_kinds_are_whole(lang: str) -> None:
    """Those of whole games with drawn coalitions, with a crowd of allies, and of an ordinary one."""
    crowded = played(4, 2, RARE[0]["options"], RARE[0]["patch"])
    games = (played(4, 1), played(5, 2, DRAWN), crowded)
    facts = [f for game in games for f in told_facts(RULESET, game.records) if f["t"] in RULESET.facts.keys() - SILENT]
    assert {f["t"] for f in facts} >= RULESET.facts.keys() - SILENT - {"hire_taken_back", "discard_counted"}
    catalogue = load_texts(RULESET.package, lang)
    for fact in facts:
        sentence = catalogue.sentence(fact)
        assert sentence is not None or fact["t"] in QUIET, fact
        sentence = sentence or ""
        assert not CLUMSY.search(sentence), (sentence, fact)
        assert not DOUBLED.search(sentence), (sentence, fact)


def test_texts_stay_neutral() -> None:
    """Identifiers follow the rulebook; sentences say what happens to markers and tokens, and no more."""
    page = Path(__file__).parents[3] / "docs/about-the-games.md"
    assert "neutral and factual" in page.read_text()
    assert "action board" in (load_texts(RULESET.package, "en").get("fact.space_placed") or "")


SECRET = (
    ("en", "France has given a secret answer about a card.", "France takes back its secret answer."),
    ("fr", "La France a donné une réponse secrète au sujet d'une carte.", "La France reprend sa réponse secrète."),
)


@pytest.mark.parametrize(("lang", "answered", "taken_back"), SECRET)
def test_of_a_secret_answer_others_are_told_that_it_was_given(lang: str, answered: str, taken_back: str) -> None:
    """AOR-4.6.2, AOR-4.6.3."""
    game = position(3, tokens={power: {"central_europe": 1} for power in ("prussia", "austria", "france")})
    game.when(0, attack("central_europe", "austria", "prussia_4s0n"))
    words, lines = load_texts(RULESET.package, lang), []
    for act in (commit("france_alliance"), move("take_back")):
        game.when(2, act)
        record = game.match.records[-1].public
        who = SeatNames(words, RULESET.powers(game.state), {})
        lines.append(record_sentences(words, who, "moved", 2, moves=record["acts"], facts=record["facts"]))
    assert lines == [[answered], [taken_back]]


@pytest.mark.parametrize(("lang", "said"), [("en", " for India."), ("fr", " pour les Indes.")])
def test_the_region_that_is_named_for_a_company_is_told(lang: str, said: str) -> None:
    """AOR-11.5."""
    fact = {"t": "space_placed", "seat": 0, "space": "east_indies_company", "attacks": 1, "region": "india"}
    assert (load_texts(RULESET.package, lang).sentence(fact) or "").endswith(said)


SHIPS = ["prussia_0s1n", "prussia_1s1n", "prussia_2s1n"]


@pytest.mark.parametrize(("discards", "card", "bluff"), [({}, SHIPS[0], False), ({0: SHIPS}, "prussia_bluff", True)])
def test_a_conversion_with_the_bluff_is_told_as_such(discards: Mapping[int, list[str]], card: str, bluff: bool) -> None:
    """AOR-8.1.4: everybody sees that no discard grows."""
    game = position(2, markers=["ca_cuba"], discards=discards)
    before = game.state
    game.when(0, move("convert", marker="ca_cuba", card=card))
    facts = game.match.records[-1].public["facts"]
    told = with_context(RULESET, facts, template_context(RULESET, before, facts))
    english = load_texts(RULESET.package, "en")
    (said,) = [english.sentence(fact) or "" for fact in told if fact["t"] == "marker_converted"]
    assert said.endswith("leaves the game; the Bluff card used for it stays in hand.") == bluff
    assert said.endswith("leaves the game.") != bluff


def test_winner_with_empty_reserve_places_nothing_and_is_told() -> None:
    """AOR-1.4."""
    fact = {"power": "austria", "region": "central_europe", "by": 0}
    none_left = {"prussia": {"german_states": TOKENS}, "austria": {"central_europe": 1}}
    for tokens, spent in ((none_left, True), ({"austria": {"central_europe": 1}}, False)):
        more = context(position(2, tokens=tokens), t="token_removed", **fact)
        said = load_texts(RULESET.package, "en").sentence({"t": "token_removed", **fact, **more}) or ""
        assert said.endswith("Seat 1 has no control tokens left to place there.") == spent


def context(game: Given, **fact: Json) -> Mapping[str, Json]:
    """The context of the sentence of a fact, coming next."""
    return template_context(RULESET, game.state, [fact]).get(0, {})


@pytest.mark.parametrize(
    ("game_turn", "points", "said"),
    [
        (1, (0, 0, 0), "As the first player, Britain opens auction 1 of 4."),
        (2, (5, 7, 9), "With the fewest victory points, Britain opens auction 1 of 4."),
        (
            2,
            (5, 5, 9),
            "Britain and France have the fewest victory points; the lot falls on Britain, which opens auction 1 of 4.",
        ),
    ],
)
def test_the_opener_is_told_with_the_reason(game_turn: int, points: tuple[int, ...], said: str) -> None:
    """AOR-6.3: by the points before the first auction."""
    empires = {seat: {"vp": vp} for seat, vp in enumerate(points)}
    game = position(3, turn=None, game_turn=game_turn, empires=empires)
    fact = {"t": "auction_opened", "seat": 0, "number": 1}
    words = load_texts(RULESET.package, "en")
    name = SeatNames(words, {0: "britain", 1: "france", 2: "spain"}, {})
    assert words.sentence({**context(game, **fact), **fact}, name) == said
    assert context(game, **{**fact, "number": 2}) == {"why": "next"}


def test_powers_without_a_player_are_told_with_their_points() -> None:
    """AOR-12.2: they hold their place in the region."""
    game = position(3, tokens={"united_provinces": {"baltic": 3}, POWERS[0]: {"baltic": 1}})
    fact = {"t": "region_scored", "region": "baltic", "seat": 0, "vp": 3, "total": 3}
    more = context(game, **fact)
    assert more["idle"] == ["united_provinces"]
    said = load_texts(RULESET.package, "en").sentence({**more, **fact}) or ""
    points = more["forfeited"][0]["value"]
    assert said.endswith(f"; {points} for the United Provinces are lost, as nobody plays them.")


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "1 point of unrest for the battle (3 due, 22 at most)"), ("fr", "(3 dus, 22 au plus)")]
)
def test_unrest_beyond_the_track_is_told_as_due(lang: str, said: str) -> None:
    """AOR-1.7."""
    fact = {"t": "unrest_added", "seat": 0, "unrest": 1, "total": 22, "due": 3, "most": 22}
    assert said in (load_texts(RULESET.package, lang).sentence(fact) or "")


def test_what_may_be_done_once_in_a_phase_is_told_by_the_phase() -> None:
    """AOR-7.2: `tour` is the game turn."""
    french = load_texts(RULESET.package, "fr")
    placed = {"t": "space_placed", "seat": 0, "space": "ministry_of_war", "attacks": 2}
    assert (french.sentence(placed) or "").endswith("peut mener 2 attaques par phase.")


def test_the_card_of_the_last_ally_is_told_once() -> None:
    """A reader of the card needs no word of its laying; others do."""
    closed: Doc = {"t": "commit_closed", "laid": [1]}
    sealed: Doc = {"t": "card_sealed", "seat": 1, "card": SHIPS[0]}
    assert [fact["t"] for fact in complete_sentences([sealed, closed])] == ["card_sealed", ""]
    assert [fact["t"] for fact in complete_sentences([{**sealed, "card": None}, closed])] == [
        "card_sealed",
        "commit_closed",
    ]
    assert [fact["t"] for fact in complete_sentences([closed])] == ["commit_closed"]
