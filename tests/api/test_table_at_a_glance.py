"""What a player sees without looking for it: battles, all players, a vote that waits, the reason of a refusal."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask

from api.pages.decision.help_shown import find_line, find_lines
from api.pages.decision.move_choices import OptionShown, Question, WholeMove, share_cost, share_unit
from api.pages.table import gazette, table
from api.pages.table.prompt import Prompt
from api.pages.table.result import _key_rows, find_turning_points
from api.pages.table.table_page import TablePage
from tests.api.conftest import Site, Table
from tests.api.game_pages import Page, Person
from tests.api.members import PASSWORD
from tests.api.oauth.browser import Browser
from tests.api.test_game_pages import Started, duel, started  # noqa: F401 - fixtures
from tests.api.test_widgets import labels_for

AOR = "age_of_reason@1"


def until_battle(anne: Person, path: str) -> str:
    """The page of a game after the first battle of a player."""
    for _ in range(60):
        html = str(anne.read(path).text)
        if 'class="battle own' in html.partition('class="gazette"')[2].partition('class="more"')[0]:
            return html
        anne.decide(path)
    raise AssertionError("no battle")


def test_a_battle_is_a_line_with_a_card_above_the_question(started: Started) -> None:  # noqa: F811
    """One line; opened, both sides with shield, dice, strength and losses; its region is marked, also in the replay."""
    anne, path = started.anne, started.path(AOR)
    html = until_battle(anne, path)
    game = path.rpartition("/")[2]
    told = started.member.get(f"/games/{game}/timeline?limit=200", Annals_Role="0").json["battles"]
    newest = next(each for each in reversed(told) if not each["open"] and 0 in [s["seat"] for s in each["sides"]])
    assert newest["told"] in html
    card = html[html.index(newest["told"]) :].partition("</details>")[0]
    for side in newest["sides"]:
        assert side["name"] in card
        assert f"<strong>{side['strength']}</strong>" in card
        assert all(reason in card for reason in side["reasons"])
        assert all(lost in card for lost in side["lost"])
    assert card.count('class="die"') == 4
    assert f'data-show="{newest["region"]}"' in card
    replayed = anne.read(f"{path}/replay?version={newest['version']}").text
    assert newest["text"] in replayed


def test_a_turn_of_sheets_opens_with_its_report(started: Started) -> None:  # noqa: F811
    """The own treasury before and after, the own sentences, and the others folded; its panel is open."""
    anne, path = started.anne, started.path("egc@1")
    html = str(anne.read(path).text)
    for _ in range(6):
        if "Report of the turn" not in html:
            html = str(anne.decide(path).text)
    report = html.partition('class="gazette"')[2].partition("</div>\n</details>")[0]
    assert "<dt>Treasury</dt>" in report
    assert "submits its orders" not in report
    assert "gives order" not in report, "the sheet shows them"
    lines = re.findall("<li[^>]*>(.*?)</li>", report.partition('data-key="others"')[0], re.DOTALL)
    assert 1 <= len(lines) <= 3
    assert "Austria-Hungary" in report
    assert re.search(r"\d+ more</summary>", report)
    assert re.search('<details id="panel-own-report" class="[^"]*" open>', html)


def test_the_end_of_a_turn_of_the_game_leads_the_news(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """After the own deed it is in sight, before all else, and so are the figures that have changed."""
    anne, path = started.anne, started.path(AOR)
    until_battle(anne, path)
    news = anne.read(path).text.partition('class="gazette"')[2].partition('class="map"')[0]
    lines = re.findall('<li(?: class="[a-z]*")?>([^<]*)</li>', news)
    assert lines, news
    changes = [gazette.FigureChange("Gold", "7", "5")]  # a turn may leave all figures as they were
    monkeypatch.setattr(gazette, "_list_ends", lambda *_: lines[-1:])
    monkeypatch.setattr(table, "list_figure_changes", lambda *_: changes)
    seen = anne.read(path).text.partition('class="gazette"')[2].partition('class="more"')[0]
    assert lines[-1] in seen
    assert 'class="changes"' in seen


def test_ends_of_turns_are_sentences_before_the_next_heading() -> None:
    """Of those since the own move, the last two each."""
    lines = {3: ["Bid."], 5: ["A.", "B.", "C.", "D.", "E.", "War 2 begins."], 6: ["F.", "War 3 begins."]}
    entries = [
        {"version": 3, "chapter": {"turn": 1}},
        {"version": 5, "chapter": {"turn": 2}, "headings": [{"line": 5}]},
        {"version": 6, "chapter": {"turn": 3}, "headings": [{"line": 1}]},
    ]
    page: Any = SimpleNamespace(tell_facts=lambda entry: [(line, None) for line in lines[entry["version"]]])
    assert gazette._list_ends(page, entries, 3) == ["D.", "E.", "F."]
    assert gazette._list_ends(page, entries, 6) == ["F."]


def test_all_players_are_in_a_row_with_points_and_money(started: Started) -> None:  # noqa: F811
    """Each name leads to the sheet of its empire."""
    for name in (AOR, "egc@1", "seven_empires@1"):
        html = started.anne.read(started.path(name)).text
        row = html.partition('class="players')[2].partition("</nav>")[0]
        seats = started.member.get(f"/games/{started.path(name).rpartition('/')[2]}", Annals_Role="0").json["seats"]
        assert row.count('data-key="player-') == len(seats)
        assert "(you)" in row
        assert "must answer" in row
        for anchor in {part.partition('"')[0] for part in row.split('href="#')[1:]}:
            assert f'id="{anchor}"' in html


def test_a_power_has_one_colour_in_all_games(started: Started) -> None:  # noqa: F811
    """Whatever its seat."""
    for name in (AOR, "egc@1", "seven_empires@1"):
        html = started.anne.read(started.path(name)).text
        legend = html.partition('class="legend"')[2].partition("</ul>")[0]
        tints = [part for part in legend.split("<li>") if " France" in part or "\nFrance" in part]
        assert all('class="tint-1"' in part for part in tints)


def test_a_vote_that_waits_is_a_decision(duel: tuple[Person, str, Table]) -> None:  # noqa: F811
    """Bar, title, list and first page tell of it."""
    anne, path, table = duel
    assert table.post("/proposals", {"act": "pause"}, table.tokens[1]).status_code in (201, 202)
    html = anne.read(path).text
    bar = html.partition('id="decision"')[2].partition("</section>")[0]
    assert "proposes something." in bar
    assert 'class="bar yours"' in bar
    assert '<a href="#vote-' in bar
    assert "waits for you" in anne.read("/", Accept="text/html").text
    votes = [each["votes"] for each in anne.api.get("/me/games").json["items"] if each["game"] == table.game]
    assert votes == [1]
    vote = Page(html).act("vote", agrees="yes")
    assert anne.send(vote).status_code == 303
    assert anne.api.get("/me/games").json["items"][0]["votes"] == 0


def test_a_refused_registration_keeps_its_form(site: Site) -> None:
    browser = Browser(site)
    form = Page(browser.get("/register?next=/play").text).form("/register")
    answer = browser.client.post(form.action, data=form.data(("name", "Zoe"), ("password", "password123")))
    assert answer.status_code == 422
    assert 'name="name" value="Zoe"' in answer.text
    assert 'aria-describedby="fault-password"' in answer.text
    assert '<p class="fault" id="fault-password" role="alert">This password is too common.</p>' in answer.text
    again = Page(answer.text).form("/register")
    sent = again.data(("name", "Zoe"), ("password", PASSWORD))
    assert browser.client.post(again.action, data=sent).status_code == 200


def test_times_are_those_of_the_browser(started: Started) -> None:  # noqa: F811
    """A script tells the zone; a name that nobody knows changes nothing."""
    anne, path = started.anne, started.path(AOR)
    for zone, told in (("Asia/Tokyo", "JST"), ("Nowhere/Land", "UTC")):
        anne.browser.client.set_cookie("zone", zone)
        assert told in anne.read(f"{path}/chronicle").text


def test_turning_points_are_the_largest_gains_on_the_others() -> None:
    """Three of them, in their order, each with the versions for the replay."""
    page = TablePage("g", "", (), {}, {}, 0, labels_for("struggle_of_empires@1", "russia", "prussia"))
    points = [(0, 0), (9, 0), (10, 1), (10, 20), (15, 20), (15, 21)]
    turns = [
        {"title": f"War {n}", "first": 10 * n, "last": 10 * n + 9, "figures": [{"points": a}, {"points": b}]}
        for n, (a, b) in enumerate(points)
    ]
    with Flask("x").test_request_context():
        found = find_turning_points(page, turns)
    assert [(each.title, each.since, each.version) for each in found] == [
        ("War 1", 9, 19),
        ("War 3", 29, 39),
        ("War 4", 39, 49),
    ]
    assert found[1].text == "Prussia goes up by 19 points, and nobody else goes up."
    with Flask("x").test_request_context():
        losses = find_turning_points(page, [{**turns[0], "figures": [{"points": -3}, {"points": -9}]}])
    assert losses == []


def test_a_list_of_figures_is_named_by_its_words() -> None:
    """The word of each object names its row; two rows with one word keep their numbers."""
    shares = [{"empire": "russia", "points": 98}, {"empire": "france", "points": 0}]
    assert _key_rows(shares) == {"russia": {"points": 98}, "france": {"points": 0}}
    for kept in ([shares[0], shares[0]], [1, 2], [], 7):
        assert _key_rows(kept) == kept


def test_a_list_of_things_says_what_each_does() -> None:
    """Neither the word that all answers share, nor a few things, nor the same sentence for all."""
    labels = labels_for("struggle_of_empires@1", "russia", "prussia")
    tiles = ["reserve", "banking", "militia", "industry"]
    lines = find_lines(labels, tiles)
    assert len(set(lines)) == len(tiles)
    assert all(lines)
    assert find_lines(labels, [{"unit": "army", "tile": tile} for tile in tiles]) == lines
    assert find_lines(labels, tiles[:3]) == [""] * 3
    assert find_lines(labels, ["russia", "prussia", "spain", "france"]) == [""] * 4


def test_the_only_tile_of_its_kind_says_what_it_does() -> None:
    """Not the unit, nor the kind of move."""
    labels = labels_for("struggle_of_empires@1", "russia", "prussia")
    assert find_line(labels, [["type", "use_tile", False], ["tile", "improved_agriculture", True]]).startswith("Once a")
    assert not find_line(labels, [["type", "reserve", False], ["unit", "army", True]])


def ask_of(*labels: str, cost: str = "", field: str = "territory") -> Question:
    options = [OptionShown(label, f'"{label}"', cost) for label in labels]
    return Question(field, "Which one?", "one", groups=[("", options)])


def test_what_all_options_share_is_told_once_in_the_question() -> None:
    """Their price, and the thing that they count; not the price of kinds of moves, which stay where they are."""
    spied = share_cost(ask_of("France", "Spain", cost="2000 Brz"))
    assert spied.title == "Which one? (2000 Brz)"
    assert [each.cost for _, some in spied.groups for each in some] == ["", ""]
    kinds = ask_of("Build", "Attack", cost="1 action", field="type")
    assert share_cost(kinds) == kinds
    counted = share_unit(ask_of(*(f"{number} trading posts" for number in range(10, 16))))
    assert [each.label for _, some in counted.groups for each in some] == [str(number) for number in range(10, 16)]
    assert share_unit(ask_of("1 army", "2 armies", "3 armies", "4 forts", "5 forts")).groups[0][1][0].label == "1 army"


def test_words_with_which_all_moves_begin_stand_above_them() -> None:
    told = ("Build the palace in Moscow", "Build the palace in Kiev")
    moves = [WholeMove(each, "[]", kind="Build a palace", rest=each) for each in told]
    asked = Prompt(whole=moves)
    assert asked.shared == "Build the palace in"
    assert [each.label for each in asked.list_told()] == ["Moscow", "Kiev"]
    plays = [WholeMove(each, "[]", kind="Choose a power", rest=each) for each in ("Play France", "Play Spain")]
    assert Prompt(whole=plays).shared == ""
    answers = [WholeMove(each, "[]", kind="What?", rest=each, is_answer=True) for each in told]
    assert Prompt(whole=answers).shared == ""


def test_a_question_tells_its_purpose_before_its_answers(started: Started) -> None:  # noqa: F811
    """Below the question itself, in the first screen."""
    path = started.path("seven_empires@1")
    stranger = started.anne.browser
    stranger.client.delete_cookie("help", domain="localhost")
    asked = started.anne.read(path).text.partition("data-ask>")[2]
    assert asked.index('class="purpose"') < asked.index("<button")
