"""Graphic forms of a sight: drawn from the game's presentation, with every text of the plain form."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from api.pages.common.labels import Labels
from api.pages.common.owners import Owner
from api.pages.common.presentation import load_widgets
from api.pages.common.session import _templates, _translate
from api.pages.player_view.kept_panels import show_parts
from api.pages.player_view.node_html import NodeWriter
from api.pages.player_view.view_nodes import Node, Panel, count_leaves, show_window
from api.pages.player_view.widgets import Matrix, Widgets
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from tests.api.game_pages import Page
from tests.api.test_game_pages import CATALOGUE
from tests.api.test_map_pages import labels_of
from tests.games.pages import ALL, GROUPED, Pages

PARTS = """{% from "sight.html" import show_part with context %}
{% for part in parts %}{{ show_part(part) }}{% endfor %}"""


def draw(labels: Labels, board: dict[str, Any]) -> str:
    parts = show_parts(labels, board, "")
    say = functools.partial(_translate, labels.texts.lang)
    return _templates().from_string(PARTS).render(parts=parts, say=say)


def labels_for(ruleset: str, *powers: str) -> Labels:
    rules = CATALOGUE.get(ruleset)
    texts = load_texts(rules.package, "en")
    return Labels(rules, texts, SeatNames(texts, dict(enumerate(powers)), {}))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("pages", GROUPED)
def test_forms_leave_out_nothing(pages: Pages, lang: str) -> None:
    labels, board = labels_of(pages, lang)
    page = Page(draw(labels, board))
    assert len(page.leaves) == count_leaves(board["public"]) + count_leaves(board["own"])
    assert all(page.leaves)
    assert not [text for text in page.texts if re.search("[a-z]_[a-z]", text)]


@pytest.mark.parametrize("pages", GROUPED)
def test_widgets_are_of_closed_list_and_name_members_of_sight(pages: Pages) -> None:
    known = {"track", "wheel", "hand", "row", "display", "matrix", "auction", "window", "dice", "report", "sheets"}
    _, board = labels_of(pages, "en")
    for doc in load_widgets(pages.rules.package):
        assert doc["widget"] in known
        if doc["widget"] == "window":
            assert set(doc["kinds"]) <= set(pages.rules.frames)
            assert set(doc.get("shows", ())) <= set(board["public"])
        else:
            _, part, member, *_ = doc["at"].split("/")
            assert member in board[part]


def test_battle_shows_faces_and_auction_its_standing_bid_first() -> None:
    labels = labels_for("age_of_reason@1", "prussia", "britain")
    dice = {"attacker": [3, 5], "defender": [2, 1]}
    battle = {"dice": dice, "strength": {"attacker": 1, "defender": 0}}
    auction = {"number": 1, "standing": {"seat": 1, "amount": 4}, "unaligned": ["france", "britain"]}
    public = {"empires": [{"seat": 0}, {"seat": 1}], "npp": {}, "battle": battle, "auction": auction}
    html = draw(labels, {"public": public})
    assert html.count('class="die"') == html.count("<rect") == 4
    assert html.count("<circle") == 3 + 5 + 2 + 1
    page = Page(html)
    assert len(page.leaves) == count_leaves(public)
    assert page.leaves[page.leaves.index("3") :][:6] == ["3", "5", "2", "1", "1", "0"]  # strengths are no seats
    assert html.index("Standing bid") < html.index("Number")
    assert '<i class="token tint-0" aria-hidden="true">B</i>' in html  # of Britain in every game


def test_thing_for_sale_has_its_own_name_and_not_that_of_member() -> None:
    """A tile is called Reserve, like a member of an empire."""
    page = Page(draw(labels_for("struggle_of_empires@1", "spain"), {"public": {"stock": {"reserve": 4, "militia": 2}}}))
    assert "Reserve" in page.texts
    assert "Tokens left to place" not in page.texts


def test_pairs_make_a_triangle_with_unusual_values_marked() -> None:
    labels = labels_for("egc@1", "austria_hungary", "aztec", "britain")
    relations = {"0-1": "peace", "0-2": "war", "1-2": "peace"}
    html = draw(labels, {"public": {"empires": [{}, {}, {}], "relations": relations}})
    rows = [re.findall(r"<td( class=\"unusual\")?><span class=\"v\">(\w+)", row) for row in html.split("<tr>")[2:]]
    assert rows == [[("", "peace")], [(' class="unusual"', "war"), ("", "peace")]]
    assert html.count('<span class="heard">') == 2


def test_a_track_places_seats_and_says_nothing_twice() -> None:
    labels = labels_for("struggle_of_empires@1", "spain", "france", "austria")
    empires = [{"vp": 10, "population": 5}, {"vp": 11, "population": 5}, {"vp": 90, "population": 5}]
    board = {"public": {"empires": empires, "war": 2, "players": 3}}
    war, points, population = Widgets(labels, board).draw_pictures("public")
    assert [(text, current) for _, _, text, current in war.fields] == [("1", False), ("2", True), ("3", False)]
    assert [mark.owner.letter for mark in points.marks if mark.owner] == ["S", "F", "A"]
    assert points.marks[0].y > points.marks[1].y  # too near for one row
    assert points.marks[2].x > points.marks[1].x
    assert len({mark.y for mark in population.marks}) == 3
    assert 'aria-hidden="true">\n<figcaption>' in draw(labels, board)
    assert not Widgets(labels, {"public": {"empires": [], "war": None}}).draw_pictures("public")


def test_a_window_says_what_is_answered() -> None:
    labels = labels_for("imperunde@1", "brazil", "japan")
    decision = {"kind": "counter_window", "context": {"entitled": [1], "chain": [[1, "unmask_spies"]]}}
    window = show_window(labels, decision, {})
    assert window is not None
    (_, seats), (_, chain) = window.node.entries
    assert [node.text for _, node in seats.entries] == ["Japan"]
    assert [node.text for _, node in chain.entries[0][1].entries] == ["Japan", "Unmask spies"]
    assert show_window(labels, {**decision, "kind": "budget"}, {}) is None


def test_panel_is_drawn_once_for_content_language_and_people() -> None:
    """What has changed since is drawn anew, and nothing else."""
    english, board = labels_of(ALL[0], "en")
    french, _ = labels_of(ALL[0], "fr")
    named = replace(english, names=replace(english.names, people={0: "Anne"}, powers={}))
    public = {**board, "own": None}
    shown = list_panels(english, board)
    assert list_panels(english, json.loads(json.dumps(board))) == shown
    others = [list_panels(french, board), list_panels(named, board), list_panels(english, public)]
    assert [other & shown for other in others[:2]] == [set(), set()]
    assert others[2] < shown
    moved = board | {"public": board["public"] | {"bag_size": 77}}
    assert len(shown - list_panels(english, moved)) == 1
    assert [part.name for part in show_parts(english, public, "")] == ["public"]


def list_panels(labels: Labels, board: dict[str, Any]) -> set[int]:
    """The panels of a board, each as the object that is kept."""
    return {id(panel) for part in show_parts(labels, board, "") for panel in part.panels}


def test_own_parts_of_all_seats_have_the_forms_of_the_own_one() -> None:
    """A game at its end shows them."""
    labels, board = labels_of(ALL[0], "en")
    widgets = Widgets(labels, board)
    own, all_own = (widgets.find_form((*path, "hand")) for path in (("own",), ("own", "seats", "0")))
    assert own is not None
    assert all_own == own


HOSTILE = '<b onclick="x">&\''


@pytest.mark.parametrize("form", ["", "cards", "display", "dice", "lines", "auction"])
def test_no_text_of_a_node_becomes_markup(form: str) -> None:
    """Names of people stand in boards."""
    owner, asks = Owner(HOSTILE, "<", 0), {HOSTILE: HOSTILE}
    single = Node(text="3" if form == "dice" else HOSTILE, owner=owner, note=HOSTILE, asks=asks)
    entries = Node(form=form, entries=[(HOSTILE, single)], note=HOSTILE, asks=asks)
    rows = [(HOSTILE, [single])] if form != "dice" else []
    table = Node(columns=[HOSTILE], rows=rows, named=True, asks=asks, matrix=Matrix([owner], [(owner, [HOSTILE])], ""))
    writer = NodeWriter("en", audit=HOSTILE, form="reasons")
    for node in (single, entries, table):
        drawn = str(writer.write_node(node)) + str(writer.write_panel(Panel("own", HOSTILE, HOSTILE, node)))
        assert "&lt;b onclick" in drawn
        assert "<b " not in drawn
        assert 'onclick="' not in drawn
