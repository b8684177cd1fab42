"""The bot's move for a person who asks: where the table allows it, from the seat's own view, with its reason."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import pytest

from api.documents.game_help import give_reason
from domain.bots import deciding_seats, may_suggest, suggest_move
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.game.seat_players import Player
from domain.kernel.rules.decide import decisions
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ruleset_registry import SHIPPED, load_shipped
from tests.api.conftest import Site, Table, refused
from tests.api.game_pages import Page, Person, has_moved
from tests.api.members import register
from tests.api.oauth.browser import Browser

SOE = "struggle_of_empires@1"
MOVES = 120
"""Moves of the heuristic whose reasons are read in each game."""


@pytest.fixture
def alone(site: Site) -> Table:
    """A running table of a guest and a bot."""
    made = site.post("/games", {"ruleset": SOE, "seats": 2, "listing": "unlisted", "options": {"first_player": 0}}).json
    table = Table(site, made["game"], made["token"], [])
    taken = table.post("/seats", {"seat": 0}, made["token"])
    table.tokens[:] = [taken.json.get("token", made["token"])]
    assert table.post("/seats", {"seat": 1, "bot": "heuristic"}, made["token"]).status_code == 201
    assert table.post("/start", None, made["token"]).status_code == 201
    return table


def test_a_suggestion_is_a_legal_move_with_its_reason(alone: Table) -> None:
    before = alone.version
    found = alone.get("/suggestion", 0)
    assert found.status_code == 200, found.text
    assert found.json["text"] == "Play Prussia"
    assert found.json["reason"].endswith(".")
    assert alone.get("/suggestion", 0).json == found.json
    assert "Le robot" in alone.get("/suggestion?lang=fr", 0).json["reason"]
    assert alone.version == before
    assert alone.get("", 0).json["suggestions"] is True
    moved = alone.post("/moves", {"move": found.json["move"], "decision": found.json["decision"]}, alone.token(0))
    assert moved.status_code == 201
    refused(alone.get("/suggestion", 0), 409, "not_your_decision")


@pytest.mark.parametrize("game", SHIPPED)
def test_every_move_of_the_heuristic_has_a_reason(game: str) -> None:
    rules, dice = load_shipped().get(f"{game}@1"), random.Random(5)
    match = InMemoryGame(rules, min(rules.meta.seats), bytes(32))
    given = 0
    for _ in range(MOVES):
        (found, *_) = decisions(rules, match.state, 0)
        if found.engine:
            match.resolve()
            continue
        seat = dice.choice(deciding_seats(match))
        move = suggest_move(match, seat, dice)
        if move is None:
            continue
        given += 1
        for lang in LANGUAGES:
            assert give_reason(rules.package, found.kind, move, lang), (found.kind, move)
        match.play(seat, move)
        if match.game.status != "running":
            break
    assert given > MOVES / 3


def test_a_table_that_may_be_rated_gives_none() -> None:
    rules, fork = load_shipped().get(SOE), {"origin": {"game": "g", "version": 1, "head": "h"}}

    def gives(players: tuple[str, ...], **terms: Any) -> bool:
        match = InMemoryGame(rules, 2, bytes(32), terms=terms, start=False)
        seats = dict(enumerate(map(Player, players)))
        seating = replace(match.game.seating, players=seats)
        return may_suggest(replace(match.game, lasting=replace(match.game.lasting, seating=seating)))

    alone, friends = ("anne", "bot-heuristic-1"), ("anne", "bea")
    assert gives(alone, listing="unlisted")
    assert not gives(friends, listing="unlisted")
    assert gives(friends, listing="unlisted", suggestions=True)
    assert not gives(alone, listing="unlisted", suggestions=False)
    assert not gives(alone, listing="public", suggestions=True)
    assert not gives(alone)
    assert not gives(alone, listing="unlisted", **fork)


def test_other_tables_refuse_in_words(site: Site) -> None:
    table = site.table(SOE, 2)
    refused(table.get("/suggestion", 0), 403, "suggestions_off")
    assert "suggestions" not in table.get("", 0).json
    refused(table.get("/suggestion", "director"), 403, "seats_only")
    body = {"ruleset": SOE, "seats": 2, "suggestions": True}
    found = refused(site.post("/games", body), 422, "invalid_table")
    assert found["errors"][0]["at"] == "/suggestions"
    made = site.post("/games", body | {"listing": "unlisted"})
    assert made.status_code == 201
    assert register(site, "Anne").get(f"/games/{made.json['game']}/suggestion").status_code in (401, 403)


def test_the_page_shows_the_move_to_make_with_one_tap(site: Site) -> None:
    guest = Person(site, Browser(site))
    path = guest.play_now(SOE)
    form = Page(guest.read(path).text).form("/play", "suggest")
    shown = guest.send(form, ("suggest", "1"))
    assert shown.status_code == 200
    assert re.search(r"The bot would play: Play \w+", shown.text)
    assert "fixed order of powers" in shown.text
    page = Page(shown.text)
    send = next(each for form in page.forms for each in form.buttons if each[0] == "send")
    form = page.form("/play", "send")
    assert has_moved(guest.send(form, send[:2]))
