"""How long games take: by the games that ended here, else as declared."""

from __future__ import annotations

import pytest

from api.documents.introductions import load_introduction
from api.documents.playing_times import LEAST_GAMES, group_times
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import SHIPPED
from tests.api.conftest import Site
from tests.api.game_pages import Person
from tests.api.members import register
from tests.api.oauth.browser import Browser

SOE = "struggle_of_empires@1"
MINUTE = 60_000


def test_few_games_tell_nothing_and_odd_ones_little() -> None:
    games = [(3, 0, n * MINUTE) for n in (1, 40, 50, 60, 70, 80, 9000)]
    assert group_times([*games, *[(4, 60, MINUTE)] * (LEAST_GAMES - 1)]) == [
        {"seats": 3, "longest": 0, "games": 7, "minutes": (40, 80)}
    ]


@pytest.mark.parametrize("game", SHIPPED)
def test_decisions_of_a_turn_are_declared(game: str) -> None:
    found = load_introduction(f"domain.games.{game}")
    assert found
    answers = found["answers"]
    assert answers["games"] >= 1
    assert 1 <= answers["least"] <= answers["most"]
    assert set(answers["unit"]) == set(LANGUAGES)


def test_pages_tell_the_length_before_a_game(site: Site) -> None:
    doc = site.get(f"/rulesets/{SOE}").json
    assert (doc["minutes"], doc["playing_times"]) == ([120, 240], [])
    assert doc["answers"]["unit"]["fr"] == "par manche"
    visitor = Person(site, Browser(site))
    for path in ("/play", "/", f"/learn/{SOE}"):
        page = visitor.read(path, Accept="text/html").text
        assert "2 hours to 4 hours" in page, path
        assert "2 to 5 decisions a round" in page, path
    site.post("/games", {"ruleset": SOE, "seats": 3})
    assert "3 free seats, 2 hours to 4 hours" in visitor.read("/games").text
    anne = register(site, "Anne")
    made = anne.post("/games", {"ruleset": SOE, "seats": 3, "listing": "invitation", "pace": "live"}).json
    assert made["invitation"]
