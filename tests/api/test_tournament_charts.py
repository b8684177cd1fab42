"""Standings over rounds: a document for programs, a picture for those who look, its table for everybody."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

from api.pages.tournaments.tournament_charts import LEADERS, SHOWN, draw_progress
from domain.command_handler import new_game_id
from domain.tournament_handler import TournamentConditions
from domain.tournaments.aggregate.basic_commands import CheckIn, CloseCheckIn, Draw, Enter, OpenCheckIn
from domain.tournaments.aggregate.result_commands import AddTable, Rank, Report
from projections.tournament_documents import EntrantPlacesDoc, PlacesByRoundDoc
from tests.api.conftest import Site
from tests.api.game_pages import Page
from tests.api.test_tournament_pages import act, person
from tests.api.test_tournaments import BODY

LINE = re.compile(r'<polyline class="([^"]+)" points="([^"]+)"')


def play_rounds(site: Site, tournament: str, players: list[str]) -> None:
    """Enter people, and play two rounds in which the first seat wins."""
    handler = site.services.tournaments
    handler.handle(tournament, OpenCheckIn(), TournamentConditions(reason="0" * 8))
    for player in players:
        handler.handle(tournament, CheckIn((player,)))
    handler.handle(tournament, CloseCheckIn(), TournamentConditions(reason="0" * 8))
    for round_ in (1, 2):
        handler.handle(tournament, Draw(1, round_), TournamentConditions(reason="0" * 8))
        for pod, entrants in enumerate(handler.load(tournament).play.rounds[round_ - 1].pods, 1):
            game, places = new_game_id(), tuple(range(1, len(entrants) + 1))
            handler.handle(tournament, AddTable(1, round_, pod, game, entrants))
            handler.handle(tournament, Report(1, round_, pod, game, 9, "0" * 64, places, places))
        handler.handle(tournament, Rank(1, round_), TournamentConditions(reason="0" * 8))


def test_places_by_round_are_a_document_a_picture_and_a_table(site: Site) -> None:
    host, anne = person(site, "Organiser"), person(site, "Anne")
    made = host.api.post("/tournaments", {**BODY, "stages": [{"format": "swiss", "rounds": 3}]})
    path = f"/tournaments/{made.json['tournament']}"
    others = [f"p{number}" for number in range(17)]
    for player in others:
        site.services.tournaments.handle(made.json["tournament"], Enter(player))
    act(anne, path, "enter")
    assert 'class="chart"' not in anne.read(path).text
    players = [each["player"] for each in site.get(path).json["people"]]
    play_rounds(site, made.json["tournament"], players)
    doc = site.get(f"{path}/progress").json
    official = [site.get(f"{path}/standings?after_round={number}").json["standings"] for number in (1, 2)]
    assert doc["rounds"] == [1, 2]
    assert [row["entrant"] for row in doc["entrants"]] == [row["entrant"] for row in official[1]]
    by_round = [{row["entrant"]: (row["place"], row["ticks"]) for row in rows} for rows in official]
    for row in doc["entrants"]:
        assert list(zip(row["places"], row["ticks"], strict=True)) == [rows[row["entrant"]] for rows in by_round]
    for query, least in (("", SHOWN), ("?progress=all", len(players))):
        text = anne.read(path + query).text
        lines = LINE.findall(text)
        assert len(lines) - least in (0, 1)  # with the reader, who may be behind
        assert [style for style, _ in lines if "own" in style] == [lines[-1][0]]
        assert "You" in Page(text).texts
        assert not re.search(r"<script[^>]*chart|\sstyle=", text)
    for reader, marks in ((host, 0), (anne, 1), (host, 0)):  # parts of the page are kept, each for its readers
        text = reader.read(path).text
        assert text.count("(you)") == text.count(' own"') == marks
    anne.send(Page(anne.read(path).text).act("withdraw"), ("sure", "yes"))
    assert "has withdrawn" in host.read(path).text
    assert "Places par ronde" in Page(anne.read(path, Accept_Language="fr").text).texts
    assert site.get(f"{path}/progress?stage=2").status_code == 404


def test_two_hundred_lines_stay_readable_with_reader_marked() -> None:
    entrants: list[EntrantPlacesDoc] = [
        {"entrant": e, "places": [200 - e, e + 1, e + 1], "ticks": [0, 0, 0]} for e in range(200)
    ]
    doc: PlacesByRoundDoc = {
        "tournament": "",
        "version": 9,
        "stage": 1,
        "rounds": [1, 2, 3],
        "entrants": entrants,
    }
    chart = draw_progress(doc, 150, lambda e: f"Somebody with a long name {e}", is_all=True)
    marked = [line for line in chart.lines if line.tint is not None]
    assert {line.entrant for line in marked} == {*range(LEADERS), 150}
    assert chart.lines[-1].is_own
    heights = sorted(line.end for line in marked)
    assert all(low + 18 <= high <= chart.height for low, high in pairwise(heights))
    assert all(len(line.label) <= 17 for line in marked)
    few = draw_progress(doc, 150, str, is_all=False)
    assert (len(few.lines), few.hidden) == (SHOWN + 1, 187)
    assert all(line.tint is not None for line in few.lines)


def test_the_picture_is_well_formed(site: Site) -> None:
    host = person(site, "Organiser")
    made = host.api.post("/tournaments", {**BODY, "stages": [{"format": "swiss", "rounds": 3}]})
    tournament, players = made.json["tournament"], [f"p{number}" for number in range(6)]
    for player in players:
        site.services.tournaments.handle(tournament, Enter(player))
    play_rounds(site, tournament, players)
    text = host.read(f"/tournaments/{tournament}").text
    (svg,) = re.findall(r'<svg class="chart".*?</svg>', text, re.DOTALL)
    assert ET.fromstring(svg).get("role") == "img"  # noqa: S314 - our own page
