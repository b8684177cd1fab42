"""The map of a table, and the replay: drawn from the documents that a client reads."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from api.pages.common.geometry import load_geometry
from api.pages.common.labels import Labels
from api.pages.decision.move_choices import OptionShown, Question, WholeMove
from api.pages.map.board_picture import draw_picture
from api.pages.map.board_png import WIDTH, resolve_properties
from api.pages.map.map_drawing import draw_map
from api.pages.map.map_view import Offers, RegionShown, find_offers, show_map
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import load_shipped
from tests.api.conftest import ROOT, Site, make_site
from tests.api.game_pages import Page, move_bots
from tests.api.oauth.browser import Browser
from tests.api.test_game_pages import person
from tests.games.pages import ALL, GROUPED, Pages
from tests.games.test_stories import seeded

CATALOGUE = load_shipped()
SOE = "struggle_of_empires@1"
PLACE = re.compile(r'<a (href|role|data-why)[ =][^>]* data-region="([^"]+)"[^>]*aria-label="([^"]+)"')


class Played:
    """A table against bots after some decisions."""

    def __init__(self, site: Site) -> None:
        self.site, self.anne = site, person(site)
        self.path = self.anne.play_now(SOE)
        self.game = self.path.rpartition("/")[2]
        for _ in range(3):
            self.anne.decide(self.path)

    def ask(self, path: str) -> Any:
        return self.anne.api.get(path, Annals_Role="0").json

    @property
    def newest(self) -> int:
        version: int = self.ask(f"/games/{self.game}")["version"]
        return version


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path, CATALOGUE)) as made:
        yield made


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with closing(make_site(tmp_path_factory.mktemp("maps"), CATALOGUE)) as site:
        yield Played(site)


def labels_of(pages: Pages, lang: str) -> tuple[Labels, dict[str, Any]]:
    match = seeded(pages, "heuristic")
    names = SeatNames(load_texts(pages.rules.package, lang), pages.rules.powers(match.state), {})
    board = {"public": pages.rules.player_view(match.state, "public"), "own": pages.rules.player_view(match.state, 0)}
    return Labels(pages.rules, load_texts(pages.rules.package, lang), names), board


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("pages", GROUPED)
def test_a_map_shows_owners_and_pieces_of_every_game(pages: Pages, lang: str) -> None:
    labels, board = labels_of(pages, lang)
    shown = show_map(labels, board, 0, Offers())
    assert shown is not None
    assert [region.id for region in shown.regions] == list(shown.geometry.regions)
    assert any(region.owner or region.pieces for region in shown.regions)
    assert len({owner.letter for owner in shown.owners}) == len(shown.owners)
    assert len({owner.tint for owner in shown.owners}) == len(shown.owners)
    said = [region.describe(labels, "offered") for region in shown.regions]
    assert not [text for text in said if re.search("[a-z]_[a-z]|None", text)]
    for region in shown.regions:
        placed = [piece for piece, *_ in region.place_pieces()]
        assert sum(p.count or 1 for p in placed if p.symbol == "more") + sum(p.symbol != "more" for p in placed) == len(
            region.pieces
        ) + len(region.badge)


def test_orders_of_a_sheet_are_numbered_arrows() -> None:
    pages = next(each for each in ALL if each.game == "egc")
    labels, board = labels_of(pages, "en")
    orders: list[Any] = [
        {"n": 4, "type": "order_army", "path": ["serbia", "austria_hungary"]},
        {"n": 5, "type": "build"},
    ]
    board["own"]["sheet"]["orders"] = orders
    shown = show_map(labels, board, 0, Offers())
    assert shown is not None
    places = {region.id: region.anchor for region in shown.regions}
    points = [places[name] for name in orders[0]["path"]]
    assert [(arrow.number, arrow.points) for arrow in shown.arrows] == [(4, points)]
    shown = show_map(labels, {**board, "own": None}, None, Offers())
    assert shown is not None
    assert shown.arrows == []


def test_every_control_token_and_unit_stands_on_the_map() -> None:
    pages = next(each for each in ALL if each.game == "struggle_of_empires")
    labels, board = labels_of(pages, "en")
    shown = show_map(labels, board, None, Offers())
    assert shown is not None
    for empire in board["public"]["empires"]:
        name = labels.short_seat(empire["seat"])
        found = {
            (region.id, piece.symbol): piece.count
            for region in shown.regions
            for piece in region.pieces
            if piece.owner and piece.owner.name == name
        }
        units = {"army": "block", "navy": "ship", "fort": "fort"}
        wanted = {(place, "disc"): count for place, count in empire["tokens"].items()}
        wanted |= {(place, units[kind]): n for place, held in empire["units"].items() for kind, n in held.items()}
        assert found == {key: count for key, count in wanted.items() if key[0] in shown.geometry.regions}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_the_drawing_has_a_path_and_a_name_for_every_region(pages: Pages, lang: str) -> None:
    geometry = load_geometry(pages.rules.package)
    assert geometry is not None
    root = ET.fromstring(draw_map(geometry, lang).svg)  # noqa: S314 - our own
    ids = {element.get("id") for element in root.iter()}
    assert {f"r-{name}" for name in geometry.regions} | {"coasts", "borders", "closed", "links", "names"} <= ids
    texts = [element for element in root.iter() if element.tag.endswith("text")]
    assert len(texts) == len(geometry.regions)


@pytest.mark.parametrize("pages", ALL, ids=lambda pages: pages.game)
def test_the_anchor_of_a_region_lies_in_it(pages: Pages) -> None:
    """Arrows, keys and signs use it; a name may stand outside."""
    geometry = load_geometry(pages.rules.package)
    assert geometry is not None
    for name, doc in geometry.regions.items():
        region = RegionShown(name, name, doc)
        rings = [geometry.ring_points(ring) for ring in doc["rings"]]
        assert sum(is_inside(region.anchor, ring) for ring in rings) % 2 == 1, name


def is_inside(point: tuple[int, int], ring: list[tuple[int, int]]) -> bool:
    (x, y), inside = point, False
    for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside


def test_a_browser_keeps_the_drawing(played: Played) -> None:
    html = played.anne.read(played.path).text
    address = re.search(r"/pages/maps/[^\"#]+\.svg", html)
    assert address is not None
    client = played.site.client
    kept = client.get(address[0])
    assert (kept.status_code, kept.content_type) == (200, "image/svg+xml")
    assert "immutable" in kept.headers["Cache-Control"]
    older = client.get(re.sub("[0-9a-f]{16}", "0" * 16, address[0]))
    assert (older.data, "immutable" in older.headers["Cache-Control"]) == (kept.data, False)
    for wrong in (address[0].replace("/en/", "/xx/"), address[0].replace(SOE, "chess@1")):
        assert client.get(wrong).status_code == 404


def test_each_offered_region_leads_to_its_option(site: Site) -> None:
    anne = person(site)
    path = anne.play_now(SOE)
    html = anne.read(path).text
    while not (offered := [place for place in PLACE.findall(html) if place[0] == "href"]):  # first the kind of unit
        form = Page(html).question()
        assert form is not None
        named = next(button for button in form.buttons if button[0])
        answer = anne.send(form, named[:2])
        move_bots(site, path.rpartition("/")[2])
        html = anne.follow(answer).text
    assert all(said.endswith("offered") for _, _, said in offered)
    targets = re.findall(r'<a href="#(offer-[^"]+)"[^>]* data-region="([^"]+)"', html)
    assert [region for _, region in targets] == [region for _, region, _ in offered]
    for target, region in targets:
        found = re.findall(rf'<button name="(?:pick|path)" value="([^"]*)" id="{target}"', html)
        assert len(found) == 1
        assert region in unescape(found[0])


def test_each_region_that_is_missing_leads_to_the_reason(site: Site) -> None:
    """Somebody who watches is asked nothing, so the map only tells."""
    anne = person(site)
    path = anne.play_now("imperunde@1")
    html = anne.read(path).text
    kinds = {region: (kind, said) for kind, region, said in PLACE.findall(html)}
    assert {kind for kind, _ in kinds.values()} == {"href", "data-why"}
    assert all(said.endswith("why?") for kind, said in kinds.values() if kind == "data-why")
    listed = [json.loads(unescape(value))[1] for value in re.findall(r'<option value="([^"]+)"', html) if "[" in value]
    assert {region for region, (kind, _) in kinds.items() if kind == "data-why"} <= set(listed)
    watched = site.client.get(path, headers={"Accept": "text/html"}).text
    assert {kind for kind, _, _ in PLACE.findall(watched)} == {"role"}


def test_an_option_that_names_two_regions_is_found_from_both() -> None:
    paths = [["type", "march"], ["from", "a"], ["to", "b"]], [["d", {"to": "c"}]]  # `d` is a field, no region
    moves = [WholeMove("", json.dumps([[*pick, False] for pick in path])) for path in paths]
    offers = find_offers(None, moves, {"a": {}, "b": {}, "c": {}, "d": {}})
    assert offers.regions == {"a": "offer-a", "b": "offer-a", "c": "offer-c"}
    assert offers.ids == {moves[0].path: "offer-a", moves[1].path: "offer-c"}


def test_a_map_asks_for_a_region_where_the_question_does() -> None:
    """Not for a number, nor for a unit whose places the map lights up."""
    known: dict[str, Any] = {"spain": {}, "india": {}}
    places = Question("region", "", "one", groups=[("", [OptionShown("", '"spain"')])])
    picks = '[["type","build",true],["unit","army",false],["to","spain",false]]'
    units = Question("unit", "", "paths", groups=[("", [OptionShown("", picks)])])
    asked = [find_offers(each, (), known).are_asked for each in (places, units, replace(units, field="type"))]
    assert asked == [True, False, True]
    assert find_offers(units, (), known).regions
    assert not find_offers(Question("amount", "", "range", 0, 9), (), known).are_asked


def test_a_place_just_accepted_is_not_called_no_offer() -> None:
    missing = [("", [(json.dumps(["to", each]), each) for each in ("a", "b")])]
    offers = find_offers(None, [], {"a": {}, "b": {}}, missing, answers=["move", "a"])
    assert offers.missing == {"b"}


def test_a_question_without_regions_marks_what_it_is_about() -> None:
    """The regions in the answers; else those of the owners in the answers, else in the options; else none."""
    pages = next(each for each in ALL if each.game == "seven_empires")
    labels, board = labels_of(pages, "en")

    def named(answers: list[str], options: list[str]) -> set[str]:
        moves = [WholeMove("", json.dumps([["empire", each, False]])) for each in options]
        offers = find_offers(None, moves, {}, answers=answers)
        shown = show_map(labels, board, 0, offers)
        assert shown is not None
        return {each.id for each in shown.regions if each.is_named}

    assert named(["russia", "moscow"], ["prussia"]) == {"moscow"}
    russia, prussia = named(["russia"], ["prussia"]), named([], ["prussia"])
    assert "moscow" in russia
    assert "berlin" in prussia
    assert not russia & prussia
    assert named([], ["russia", "prussia"]) == russia | prussia
    assert named(["end_movement"], []) == set()


class TestReplay:
    def test_it_shows_any_version_as_a_client_reads_it(self, played: Played) -> None:
        newest = played.newest
        for version in (4, newest // 2, newest):
            html = played.anne.read(f"{played.path}/replay?version={version}").text
            board = played.ask(f"/games/{played.game}/board?version={version}")
            gold = [str(each["gold"]) for each in board["public"]["empires"]]
            assert f"Version {version} of {newest}" in html
            assert set(gold) <= set(Page(html).leaves)
            told = played.ask(f"/games/{played.game}/timeline?after={version - 1}&limit=1")["items"][0]
            assert all(sentence.replace("'", "&#39;") in html for sentence in told["text"])

    def test_its_steps_lead_from_the_first_to_the_last_version(self, played: Played) -> None:
        newest, version, seen = played.newest, 1, [1]
        while step := re.search(
            r'data-step="after" title="[^"]*" href="[^"]*version=(\d+)', self._read(played, version)
        ):
            version = int(step[1])
            seen.append(version)
        assert seen == list(range(1, newest + 1))
        assert 'data-step="after" title="One on" aria-disabled="true"' in self._read(played, newest)

    def test_it_steps_over_undone_moves(self, site: Site) -> None:
        played = Played(site)
        newest = played.newest
        undo = next(form for form in Page(played.anne.read(played.path).text).forms if ("act", "undo") in form.fields)
        played.anne.send(undo)
        undone = [
            each["version"] for each in played.ask(f"/games/{played.game}/timeline")["items"] if each.get("undone")
        ]
        assert undone
        assert undone[-1] == newest
        html = self._read(played, undone[0] - 1)
        assert not [each for each in undone if re.search(rf"version={each}\b", html)]
        assert f"version={newest}" in played.anne.read(f"{played.path}/replay?version={newest - 1}&undone=1").text

    def test_it_marks_what_has_changed(self, played: Played) -> None:
        html = played.anne.read(f"{played.path}/replay?version=10&since=5").text
        rows = re.findall(r'<tr><th scope="row">([^<]+)</th><td>([^<]*)</td><td>([^<]*)</td></tr>', html)
        assert rows
        assert all(was != now for _, was, now in rows)
        assert html.count('class="changed"') == len(rows)

    def test_numbers_that_no_version_has_show_the_nearest(self, played: Played) -> None:
        newest = played.newest
        assert f"Version {newest} of" in self._read(played, 10**8)
        assert played.anne.read(f"{played.path}/replay?version=-3&since=x").status_code == 200

    @staticmethod
    def _read(played: Played, version: int) -> str:
        text: str = played.anne.read(f"{played.path}/replay?version={version}").text
        return text


@pytest.mark.parametrize("listing", ["public", "unlisted", "invitation"])
def test_a_link_has_a_card_where_the_table_is_public(site: Site, listing: str) -> None:
    site.remake(public_url="https://play.example")
    made = site.post("/games", {"ruleset": SOE, "seats": 2, "listing": listing}).json
    path = f"/games/{made['game']}"
    anne = person(site)
    page = anne.browser.get(path).text
    if listing != "public":
        assert "og:" not in page
        return
    assert '<meta property="og:title" content="Struggle of Empires">' in page
    assert f'<meta property="og:url" content="https://play.example{path}">' in page
    assert "og:image" not in page  # there is no board yet
    for seat, name in enumerate(("Ada", "Bea")):
        assert site.post(path + "/seats", {"seat": seat, "name": name}).status_code == 201
    assert site.post(path + "/start", token=made["token"]).status_code == 201
    page = anne.browser.get(path).text
    assert f'<meta property="og:image" content="https://play.example{path}/board.png">' in page
    (description,) = re.findall(r"og:description.* content=\"(.*)\"", page)
    assert description.startswith("Struggle of Empires, played by ")
    assert "Ada" in description
    assert "Bea" in description


def test_a_picture_is_offered_once_spectators_may_see_it(site: Site) -> None:
    anne = person(site)
    body = {"ruleset": SOE, "seats": 2, "listing": "public", "delay": 600}
    made = site.post("/games", body).json
    path = f"/games/{made['game']}"
    assert anne.send(Page(anne.read(path).text).act("join", seat="0")).status_code == 303
    assert site.post(path + "/seats", {"seat": 1, "name": "Bea"}).status_code == 201
    assert site.post(path + "/start", token=made["token"]).status_code == 201
    newest = f'{path}/board.svg?version={anne.api.get(path, Annals_Role="0").json["version"]}"'
    assert newest not in anne.read(f"{path}/replay").text
    assert site.client.get(newest.rstrip('"')).status_code != 200
    assert "/board.svg" not in anne.read(path).text
    site.now += 3_600_000
    site.ring()
    assert newest in anne.read(f"{path}/replay").text
    assert site.client.get(newest.rstrip('"')).status_code == 200
    assert f'{path}/board.svg"' in anne.read(path).text


def test_a_chart_shows_the_figures_of_every_turn(played: Played) -> None:
    turns = played.ask(f"/games/{played.game}/digest")["turns"]
    while not any(turn["figures"] for turn in turns):
        played.anne.decide(played.path)
        turns = played.ask(f"/games/{played.game}/digest")["turns"]
    for figure in turns[0]["figures"][0]:
        html = played.anne.read(f"{played.path}/charts?figure={figure}").text
        rows = re.findall(r'<th scope="row">([^<]*)</th>((?:<td>[^<]*</td>)+)', html)
        wanted = [(turn["title"], [str(seat[figure]) for seat in turn["figures"]]) for turn in turns]
        assert [(title, re.findall("<td>([^<]*)</td>", cells)) for title, cells in rows] == wanted
        assert html.count("<polyline") == len(turns[0]["figures"])
    assert played.anne.read(f"{played.path}/charts?figure=nothing").status_code == 200


def test_style_sheet_has_light_values_without_variables() -> None:
    light, dark = ":root { --sea: #1; --ink: #2; }", "@media (dark) { :root { --sea: #9; } .a { fill: x; } }"
    css = f"{light} {dark} .b {{ fill: var(--sea); }}"
    assert resolve_properties(css).split() == [".b", "{", "fill:", "#1;", "}"]


@pytest.mark.parametrize("pages", GROUPED)
def test_pictures_of_the_documentation_are_of_real_games(pages: Pages) -> None:
    """`ANNALS_TEST_REFRESH=1` draws them anew."""
    labels, board = labels_of(pages, "en")
    path = ROOT / "docs/web/boards" / f"{pages.game}.svg"
    drawn = draw_picture(labels, board, labels.title())
    assert drawn is not None
    if os.environ.get("ANNALS_TEST_REFRESH"):
        path.write_text(drawn, "utf-8")
    assert path.read_text("utf-8") == drawn
    assert f"docs/web/boards/{path.name}" in (ROOT / "README.md").read_text("utf-8")


class TestPicture:
    def test_it_stands_alone_and_shows_the_public_board(self, played: Played) -> None:
        anonymous = Browser(played.site)
        told = [browser.get(f"{played.path}/board.svg?version=5") for browser in (anonymous, played.anne.browser)]
        assert [answer.status_code for answer in told] == [200, 200], told[0].text
        assert told[0].data == told[1].data
        assert told[0].content_type == "image/svg+xml"
        assert told[0].headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        root = ET.fromstring(told[0].data)  # noqa: S314 - our own
        ids = {element.get("id") for element in root.iter()}
        used = [element.get("href", "") for element in root.iter() if element.get("href")]
        assert used
        assert {href.partition("#")[0] for href in used} == {""}
        assert {href[1:] for href in used} <= ids
        assert "http" not in told[0].text.replace("http://www.w3.org/2000/svg", "")

    def test_it_is_a_png_as_well(self, played: Played) -> None:
        told = Browser(played.site).get(f"{played.path}/board.png?version=5")
        assert told.status_code == 200, told.text
        assert told.content_type == "image/png"
        assert told.data.startswith(b"\x89PNG\r\n\x1a\n")
        assert int.from_bytes(told.data[16:20]) == WIDTH
        assert 50_000 < len(told.data) < 1_000_000
        assert Browser(played.site).get(f"{played.path}/board.png?version=99999").status_code == 422

    def test_there_is_none_of_a_version_to_come(self, played: Played) -> None:
        assert Browser(played.site).get(f"{played.path}/board.svg?version=99999").status_code == 422


@pytest.mark.parametrize("pages", GROUPED)
def test_a_grey_map_tells_owners_and_pieces_apart(pages: Pages) -> None:
    """By letters, patterns, outlines and numbers: no tint is needed."""
    labels, board = labels_of(pages, "en")
    shown = show_map(labels, board, 0, Offers())
    drawn = draw_picture(labels, board, "")
    assert shown is not None
    assert drawn is not None
    root = ET.fromstring(drawn)  # noqa: S314 - our own
    svg = "{http://www.w3.org/2000/svg}"
    patterns = [
        (each.get("patternTransform"), path.get("d"))
        for each in root.iter(f"{svg}pattern")
        for path in each.iter(f"{svg}path")
    ]
    assert len(set(patterns)) == len(patterns) == len(shown.owners)
    filled = [each.get("fill", "") for each in root.iter(f"{svg}use") if each.get("class") == "pattern"]
    assert filled == [f"url(#pattern-{region.owner.tint})" for region in shown.regions if region.owner]
    outlines = {each.get("id"): ET.tostring(each) for each in root.iter() if each.get("id")}
    assert len({outlines[symbol] for symbol, _ in shown.symbols}) == len({name for _, name in shown.symbols})
    pieces = next(each for each in root.iter(f"{svg}g") if each.get("class") == "pieces")
    parts = [each for each in pieces.iter() if each.tag != f"{svg}g"]
    marks = [(each.get("href"), each.get("class")) if each.tag == f"{svg}use" else each.text for each in parts]
    letters = {f"tint-{owner.tint}": owner.letter for owner in shown.owners}
    for mark, text in zip(marks, [*marks[1:], None], strict=True):
        if isinstance(mark, tuple) and mark[1]:
            assert isinstance(text, str)
            assert text.startswith(letters[mark[1]])
    for region in shown.regions:
        owners = {piece.owner for piece in (*region.badge, *region.pieces)}
        assert region.owner is None or not region.doc["slots"] or region.owner in owners
