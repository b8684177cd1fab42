"""Pages of games: a person plays by forms, and sees what a client sees, and no more."""

from __future__ import annotations

import ast
import functools
import gzip
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from markupsafe import Markup, escape

from api.pages.common.in_process import Answer as Told
from api.pages.common.in_process import ask as known
from api.pages.common.labels import Labels
from api.pages.common.presentation import load_members
from api.pages.common.session import safe_target
from api.pages.decision import move_choices, why_not
from api.pages.decision.move_choices import (
    Builder,
    BuilderState,
    Pick,
    Picks,
    WholeMove,
    find_owners,
    parse,
    show_question,
)
from api.pages.map.missing_places import find_places
from api.pages.player_view import kept_panels
from api.pages.player_view.view_nodes import build_node, count_leaves
from api.pages.rules.rules import read_blocks
from api.pages.table import picks_cookie
from api.streams.events import PAGE_SSE
from domain.accounts.page_visits import VISIT_MS
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.text.message_catalog import LANGUAGES, load_texts
from domain.ruleset_registry import load_shipped
from tests.api import messages
from tests.api.conftest import ROOT, Site, Table, make_site
from tests.api.game_pages import Page, PageForm, Person, has_moved, move_bots
from tests.api.members import PASSWORD, register
from tests.api.oauth.browser import Browser
from tests.api.streaming import Answer, scope
from tests.rulesets import GAMES

CATALOGUE = load_shipped()
NAMES = CATALOGUE.names()
SOE = "struggle_of_empires@1"


def person(site: Site, name: str = "Anne") -> Person:
    """Somebody who is logged in."""
    member = register(site, name)
    browser = Browser(site)
    assert browser.log_in(name).status_code == 303
    return Person(site, browser, member)


class Started:
    """A game of each ruleset against bots, on one site."""

    def __init__(self, site: Site) -> None:
        self.site, self.anne = site, person(site)
        self.member = self.anne.api
        self.paths: dict[str, str] = {}

    def path(self, name: str) -> str:
        if name not in self.paths:
            self.paths[name] = self.anne.play_now(name)
        return self.paths[name]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with closing(make_site(tmp_path_factory.mktemp("pages"), CATALOGUE)) as site:
        yield Started(site)


# --- playing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_decision_of_every_game_is_made_by_forms(started: Started, name: str) -> None:
    path = started.path(name)
    ledger, game = started.site.services.ledger, path.rpartition("/")[2]
    before = ledger.version(game)
    page = started.anne.decide(path)
    assert "<h1>" in page.text
    assert ledger.version(game) > before


def test_a_first_round_is_played_by_forms_alone(tmp_path: Any) -> None:
    """From the account to round 2 of the first War, without a call of the API."""
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        browser = Browser(site)
        form = Page(browser.get("/register?next=/play").text).form("/register")
        codes = browser.client.post(form.action, data=form.data(("name", "Zoe"), ("password", PASSWORD)))
        assert 'href="/play"' in codes.text
        zoe = Person(site, browser, None)
        path = zoe.play_now(SOE)
        for _ in range(40):
            if "War 1, round 2" in zoe.decide(path).text:
                break
        else:
            raise AssertionError("no second round")


@pytest.fixture
def duel(site: Site) -> tuple[Person, str, Table]:
    """Anne in seat 0 of a game of orders with guests in the others."""
    anne = person(site)
    made = site.post("/games", {"ruleset": SOE, "seats": 2, "options": {"first_player": 0}}).json
    table = Table(site, made["game"], made["token"], [])
    path = f"/games/{made['game']}"
    page = Page(anne.read(path).text)
    assert anne.send(page.act("join", seat="0")).status_code == 303
    table.tokens = ["", site.post(f"/games/{table.game}/seats", {"seat": 1, "name": "Bea"}).json["token"]]
    assert anne.send(Page(anne.read(path).text).act("start")).status_code == 303
    return anne, path, table


class TestForms:
    def test_a_closed_game_is_played_on_for_oneself(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        version = str(table.version)
        assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
        opened = anne.send(Page(anne.read(path).text).act("fork"), ("version", version))
        assert opened.status_code == 303, opened.text
        page = anne.read(opened.headers["Location"])
        assert f"An analysis of another game, from its version {version} on." in page.text
        assert "<strong>Your decision" in page.text

    def test_second_click_opens_one_analysis_and_undoes_one_move(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        anne.decide(path)
        undo = Page(anne.read(path).text).act("undo")
        assert [anne.send(undo).status_code for _ in range(2)] == [303, 303]
        assert len(table.get("/rewinds", "director").json["items"]) == 1
        assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
        form = Page(anne.read(path).text).act("fork")
        opened = [anne.send(form, ("version", "4")).headers["Location"].partition("?")[0] for _ in range(2)]
        assert opened[0] == opened[1] != path

    def test_before_one_asks_to_go_back_one_reads_what_that_undoes(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        before = table.version
        anne.decide(path)
        form = Page(anne.read(path).text).act("undo", preview="yes")
        shown = anne.send(form, ("to", str(before)))
        page = Page(shown.text)
        assert shown.status_code == 200
        assert {"This would be undone:", "Go back"} <= {*page.texts}
        assert "There is no way forward again" in shown.text
        assert table.get("/rewinds", "director").json["items"] == []
        assert anne.send(page.act("undo", to=str(before))).status_code == 303
        assert len(table.get("/rewinds", "director").json["items"]) == 1

    def test_an_old_page_takes_nothing_back_that_it_has_not_shown(self, duel: tuple[Person, str, Table]) -> None:
        """Whatever somebody else has done meanwhile stays."""
        anne, path, table = duel
        anne.decide(path)
        undo = Page(anne.read(path).text).act("undo")
        assert table.post("/pauses", {"reason": "a call"}, table.director).status_code == 201
        version = table.version
        assert anne.send(undo).status_code == 412
        assert table.get("/rewinds", "director").json["items"] == []
        assert table.version == version

    def test_a_second_click_makes_one_move(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        before, pick = table.version, form.buttons[0][:2]
        answers = [anne.send(form, pick) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 303]
        assert answers[0].headers["Location"] == answers[1].headers["Location"]
        assert table.version == before + 1
        assert anne.send(form, form.buttons[1][:2]).status_code == 409

    def test_a_form_that_is_older_than_the_game_says_so(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        assert anne.send(form, form.buttons[0][:2]).status_code == 303
        assert table.move(1, {"type": "choose_power", "power": "spain"}).status_code == 201
        while not (again := Page(anne.read(path).text).question()):
            raise AssertionError("Anne places first")
        answer = anne.send(form, form.buttons[2][:2])
        assert answer.status_code == 409
        assert "The game has moved on" in answer.text
        assert again.action == form.action

    def test_what_was_played_is_taken_back(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        page = anne.decide(path)
        assert anne.send(Page(page.text).act("undo")).status_code == 303
        assert table.get("/records").json["items"][-1]["kind"] == "rewound"
        told = anne.read(path + "/chronicle").text
        assert re.search(r"undone.*<s>", told, re.DOTALL)
        assert Page(anne.read(path).text).question() is not None

    def test_nothing_is_done_without_the_form_s_mark(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        before = table.version
        form.fields = [(name, value) for name, value in form.fields if name != "form"]
        assert anne.send(form, form.buttons[0][:2]).status_code == 403
        for other in ("/play", "/games/new", path + "/commands"):
            assert anne.browser.client.post(other, data={"act": "concede", "ruleset": SOE}).status_code == 403
        assert table.version == before

    def test_a_dry_run_says_what_happens(self, duel: tuple[Person, str, Table]) -> None:
        anne, _, table = duel
        body = {"move": {"type": "choose_power", "power": "france"}, "decision": table.decision}
        told = [
            anne.api.post(f"{table.path}/moves?dry_run=1", body, Accept_Language=lang).json["told"]
            for lang in LANGUAGES
        ]
        assert [line.replace("\u2060", "") for (line, *_) in told] == ["Anne plays France.", "Anne joue la France."]

    def test_value_that_is_not_offered_tells_rule_that_forbids_it(
        self, duel: tuple[Person, str, Table], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(move_choices, "MOST_OPENED", 0)
        anne, path, table = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        assert anne.send(form, form.buttons[0][:2]).status_code == 303
        assert table.move(1, {"type": "choose_power", "power": "spain"}).status_code == 201
        form = Page(anne.read(path).text).question()
        assert form is not None
        asked = anne.follow(anne.send(form, form.buttons[0][:2]))
        why, before = Page(asked.text).forms, table.version
        form = next(each for each in why if each.action == form.action and not each.buttons[0][0])
        told = anne.send(form, ("why", '["region","home_britain"]'))
        assert told.status_code == 200
        assert re.search(r"A home country is not possible here.*rules#SOE-3\.6", told.text, re.DOTALL)
        kept = Page(told.text).question()
        assert kept is not None
        assert dict(kept.fields)["picks"] == dict(form.fields)["picks"] == '[["unit","army",false]]'
        moves = anne.send(form, ("why", '["type","attack"]')).text
        assert "This move does not answer what is being decided" in moves
        for odd in ('["region","atlantis"]', '["region","north_america"]', "7", "{"):
            assert anne.send(form, ("why", odd)).status_code == 403
        assert table.version == before

    def test_others_vote_on_what_is_asked(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        proposed = table.post("/proposals", {"act": "close"}, table.tokens[1])
        assert proposed.status_code == 202, proposed.text
        page = Page(anne.read(path).text)
        assert anne.send(page.act("vote", agrees="yes")).status_code == 303
        page = Page(anne.read(path).text)
        assert "The game is over." in page.texts

    def test_what_no_form_of_ours_sends_is_refused(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, _ = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        for name, value in (("picks", "{"), ("picks", "[1]"), ("key", "short"), ("pick", "{"), ("path", "1")):
            form_fields = [(n, v) for n, v in form.fields if n != name]
            answer = anne.browser.client.post(form.action, data=dict([*form_fields, (name, value)]))
            assert answer.status_code in (400, 403, 409, 422), (name, value)
        assert anne.send(form, ("pick", '"atlantis"')).status_code == 409


@pytest.mark.parametrize("odd", ["\u0142\u00f3d\u017a", "a b", "%C3", "50%25", "a?b=c"])
def test_a_name_in_an_address_may_have_any_letters(site: Site, odd: str) -> None:
    """It reaches the API as it is."""
    answer = person(site).browser.get(f"/ratings/{quote(odd)}", Accept="text/html")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")


def test_a_table_is_opened_by_its_form(site: Site) -> None:
    anne = person(site)
    form = Page(anne.read("/games/new?ruleset=" + SOE).text).form("/games/new", "")
    chosen = [("seats", "2"), ("option.first_player", "1"), ("option.power_assignment", "random"), ("undo", "free")]
    assert re.search(r"<details><summary>[^<]*</summary>\s*<label>", anne.read("/games/new?ruleset=" + SOE).text)
    answer = anne.send(
        form, *chosen, ("listing", "invitation"), ("pace", "live"), ("join", "yes"), ("standing_orders", "shown")
    )
    assert answer.status_code == 200, answer.text
    address = re.search(r"/games/([0-9a-f-]{36})/invitation\?invitation=[\w-]+", answer.text)
    assert address
    doc = anne.api.get("/games/" + address[1], Annals_Role="0").json
    assert (doc["listing"], doc["undo"], doc["pace"]["seconds"]["move"]) == ("invitation", "free", 300)
    assert "send them the address of this page" not in anne.read("/games/" + address[1]).text
    assert doc["standing_orders"] == "shown"
    assert (doc["options"]["first_player"], doc["options"]["power_assignment"]) == (1, "random")
    bea = person(site, "Bea")
    assert bea.send(Page(bea.read(address[0]).text).act("join")).status_code == 303
    assert anne.send(Page(anne.read(f"/games/{address[1]}").text).act("start")).status_code == 303
    wrong = anne.send(form, *chosen, ("listing", "public"), ("pace", "never"))
    assert (wrong.status_code, 'class="problem"' in wrong.text) == (422, True)


# --- what is missing -------------------------------------------------------------------------------------------


def list_missing(html: str) -> set[str]:
    """The values in the list of reasons."""
    return {unescape(value) for value in re.findall(r'<option value="(\[[^"]*)"', html)}


@pytest.mark.parametrize("name", NAMES)
def test_no_option_leads_to_its_reason_where_it_is_shown(started: Started, name: str) -> None:
    """Kinds of moves beside the question, things on the board: by a button of the form with the list."""
    anne, path = started.anne, started.anne.play_now(name)
    asked: set[str] = set()
    answer = anne.read(path)
    for _ in range(60):
        page = Page(answer.text)
        asks = [(value, label) for form, field, value, label in page.asks if (form, field) == ("ask-why", "thing")]
        assert len(asks) == len(page.asks)
        assert {value for value, _ in asks} <= list_missing(answer.text)
        if new := [ask for ask in asks if json.loads(ask[0])[0] not in asked]:
            value, label = new[0]
            asked.add(json.loads(value)[0])
            quiet = [each for each in page.forms if each.buttons == [("", "", "quiet")]]
            why = next(each for each in quiet if "act" not in dict(each.fields))
            told = anne.send(why, ("why", '["type","nothing"]'), ("thing", value))
            assert told.status_code == 200, told.text
            reason = re.search(r'class="reason".*?<strong>(.*?)</strong>', told.text, re.DOTALL)
            assert reason
            thing, told_of = unescape(label).rpartition(":")[0].casefold(), unescape(reason[1]).casefold()
            assert thing in told_of or told_of in thing
            assert f'<option value="{escape(value)}" selected>' in told.text
        form = page.question()
        if form is None:
            break
        answer = anne.answer(form)
        if answer.status_code == 303:
            move_bots(started.site, path.rpartition("/")[2])
            answer = anne.follow(answer)
    assert asked, "nothing was missing"
    assert name != "age_of_reason@1" or "" in asked  # the cards in the hand, before a question about cards


def test_thing_in_hand_tells_which_moves_use_it_or_why_none(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = CATALOGUE.get("imperunde@1")
    texts = load_texts(rules.package, "en")
    labels = Labels(rules, texts, SeatNames(texts, {0: "russia"}, {}))
    choice = {"field": "type", "kind": "one", "options": [{"value": "pass"}, {"value": "play_card"}]}
    step = BuilderState(Picks("0-1", "k"), Told(200, {"choice": choice}))
    board = {"own": {"hand": ["sabotage"]}, "public": {}, "decisions": [{"kind": "card_window"}]}
    moves: list[dict[str, Any]] = []
    answers = {"all=1": Told(200, {"moves": moves, "count": 1}), "dry_run=1": Told(409, {"code": "no_target"})}
    monkeypatch.setattr(
        move_choices, "ask", lambda _, target, *args, **options: answers[target.partition("?")[2].partition("&")[0]]
    )
    monkeypatch.setattr(why_not, "_say", str)
    monkeypatch.setattr(Builder, "list_whole_moves", lambda *_: [])
    monkeypatch.setattr(Builder, "next_questions", lambda *_: [])

    def explain(*found: dict[str, Any], count: int | None = 1) -> Any:
        moves[:] = found
        answers["all=1"].doc["count"] = count
        return why_not.find_reason(Builder("g", "0", labels), board, step, ["", "sabotage"])

    assert ('["","sabotage"]', "Sabotage") in why_not.list_missing(labels, board, step)[-1][1]
    assert "Play a card" in explain({"type": "play_card", "card": "sabotage"}).sentence
    assert explain({"type": "play_card", "card": "smuggling"}).refusal == {"code": "no_target"}
    assert explain({"type": "pass"}).sentence == "None of your moves uses this now."
    assert "it depends on your other answers" in explain({"type": "pass"}, count=None).sentence
    offered = [WholeMove("", '[["card","sabotage",false]]')]
    assert [name for name, _ in why_not.list_missing(labels, board, step, offered)] == ["Action"]


def test_things_are_asked_for_at_one_place_each_own_one_first() -> None:
    rules = CATALOGUE.get("seven_empires@1")
    texts = load_texts(rules.package, "en")
    labels = Labels(rules, texts, SeatNames(texts, {0: "spain", 1: "france"}, {}))
    missing = [
        ("Units", [('["unit","artillery"]', "Artillery"), ('["unit","infantry"]', "Infantry")]),
        ("Regions", [('["region","london"]', "London")]),
        ("Moves", [('["type","deploy"]', "Deploy")]),
    ]
    supply = {"artillery": 1, "infantry": 2}
    public = {
        "units": {"london": {"france": {"artillery": 1}}},
        "deploy": "deploy",
        "empires": {"france": {"supply": supply}, "spain": {"supply": supply}},
    }
    told = {("public", "empires", "spain", "supply", unit, ""): f'["unit","{unit}"]' for unit in supply}
    assert find_places(labels, {"public": public}, 0, missing) == told
    hand = ("own", "hand", "1")
    board = {"public": public, "own": {"hand": ["x", "artillery"]}}
    assert find_places(labels, board, 0, missing)[hand] == '["unit","artillery"]'
    assert find_places(labels, {"public": public}, None, ()) == {}


def test_thing_is_asked_for_at_its_question_and_no_member() -> None:
    """The turn of 7 Empires has a member with the name of an action, and each empire has all actions."""
    rules = CATALOGUE.get("seven_empires@1")
    texts = load_texts(rules.package, "en")
    labels = Labels(rules, texts, SeatNames(texts, {}, {0: "Anne"}))
    markers = {"empire": "two", "move_fight": "three"}
    public = {
        "turn": {"action": None, "empire": None},
        "empires": {"france": {"markers": markers}, "spain": {"markers": markers}},
    }
    missing = [("Action", [(f'["action","{action}"]', action) for action in markers])]
    for about in ([{"empire": "spain"}], ["spain"]):
        places = find_places(labels, {"public": public}, 0, missing, about)
        assert [*places] == [("public", "empires", "spain", "markers", action, "") for action in markers]
    assert find_places(labels, {"public": {"turn": public["turn"]}}, 0, missing) == {}


def missing_from(ruleset: str, own: Any, field: str, *offered: str) -> dict[str, list[str]]:
    """The values missing from a first question of these words, by their kind."""
    rules = CATALOGUE.get(ruleset)
    texts = load_texts(rules.package, "en")
    choice = {"field": field, "kind": "one", "options": [{"value": word} for word in offered]}
    step = BuilderState(Picks("0-1", "k"), Told(200, {"choice": choice}))
    board = {"own": own, "public": {}, "decisions": [{"kind": "any"}]}
    found = why_not.list_missing(Labels(rules, texts, SeatNames(texts, {}, {})), board, step)
    return {kind: [parse(value)[1] for value, _ in values] for kind, values in found}


def test_word_of_two_lists_leads_to_values_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A palace is a way to deploy, and an action: the other actions are no ways to deploy."""
    monkeypatch.setattr(why_not, "_say", str)
    assert "Mode" not in missing_from("seven_empires@1", None, "mode", "each_city", "palace")
    assert sorted(missing_from("seven_empires@1", None, "unit", "two_master", "artillery")["Unit"]) == [
        "infantry",
        "three_master",
    ]


def test_what_a_person_holds_is_the_hand_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the discard pile, cards seen of others, an empire, or filed orders."""
    monkeypatch.setattr(why_not, "_say", str)
    own = {"hand": ["sabotage", "treason"], "seen": ["pirates"]}
    assert missing_from("imperunde@1", own, "type", "pass")["What you hold"] == ["sabotage", "treason"]
    assert missing_from("imperunde@1", own, "card", "treason")["Card"] == ["sabotage"]
    assert missing_from("imperunde@1", own, "card", "pirates")["Card"] == ["sabotage", "treason"]
    sheet = {"empire": "france", "sheet": {"orders": [{"domain": "logistics"}]}}
    assert "What you hold" not in missing_from("egc@1", sheet, "type", "submit")


def test_what_is_kept_is_bounded_by_its_number_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that picks were asked, and a panel with nothing to show, are smaller than their places in a cache."""
    monkeypatch.setattr(move_choices, "request_language", lambda: "en")
    many, texts = range(20_000), load_texts("", "en")
    kept = Builder("g", "0", Labels(CATALOGUE.get("egc@1"), texts, SeatNames(texts, {}, {})))
    for number in many:
        kept._keep(None, f"0-{number}", [], None)
        kept_panels._find(["bounded", number], lambda: kept_panels.ShownPanel("a", "A", Markup()))
    for cache in (move_choices._answers, kept_panels._shown):
        assert len(cache) <= move_choices.KEPT_BYTES / move_choices.ENTRY_BYTES < len(many)


def test_a_name_from_right_to_left_stands_alone_without_marks() -> None:
    texts = load_texts("", "en")
    labels = Labels(CATALOGUE.get("seven_empires@1"), texts, SeatNames(texts, {}, {0: "\u05d0\u05d1"}))
    assert (labels.short_seat(0), labels.seat(0)) == ("\u05d0\u05d1", "\u05d0\u05d1")


def test_words_in_list_are_told_without_names_of_their_members() -> None:
    rules = CATALOGUE.get("seven_empires@1")
    told = {
        "en": "London (three-master), York (infantry unit)",
        "fr": "Londres (trois-mâts), York (infanterie)",
    }
    for lang, words in told.items():
        texts = load_texts(rules.package, lang)
        labels = Labels(rules, texts, SeatNames(texts, {}, {}))
        units = [{"region": "london", "unit": "three_master"}, {"region": "york", "unit": "infantry"}]
        assert labels.describe("units", units) == words
        alike = [{"from": "london", "to": "york"}]
        assert labels.describe("ways", alike) == labels.describe("ways", alike[0])


def test_nobody_else_is_asked_why(duel: tuple[Person, str, Table]) -> None:
    anne, path, _ = duel
    assert Page(Person(anne.site, Browser(anne.site)).read(path).text).asks == []
    anne.decide(path)
    assert Page(anne.read(path).text).asks == []


# --- what is shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_sight_is_invisible(started: Started, name: str) -> None:
    path = started.path(name)
    board = started.member.get("/games/" + path.rpartition("/")[2] + "/board", Annals_Role="0").json
    page = Page(started.anne.read(path).text)
    assert len(page.leaves) == count_leaves(board["public"]) + count_leaves(board["own"])
    assert all(page.leaves)
    assert not [text for text in page.texts if re.search("[a-z]_[a-z]", text)]


@pytest.mark.parametrize("name", NAMES)
def test_pages_and_all_that_they_load_stay_small(started: Started, name: str) -> None:
    """100 kB for a first view with all files, 17.5 kB for an update, 40 kB for the geometry; compressed."""
    path = started.path(name)
    files = {path: started.anne.read(path).data}
    loaded = re.findall(rb'(?:src|href)="(/pages/[^"#]+)', files[path])
    files |= {each: started.anne.browser.get(each).data for each in map(bytes.decode, loaded)}
    assert {Path(urlsplit(each).path).suffix for each in files} == {"", ".css", ".js", ".svg", ".png", ".webmanifest"}
    sizes = {each: len(gzip.compress(data, 6)) for each, data in files.items()}
    assert sizes[path] < 17_500
    assert sum(sizes.values()) < 100_000, sizes
    geometry = started.member.get(f"/rulesets/{name}/geometry")
    assert geometry.status_code == 200
    assert len(gzip.compress(geometry.data, 6)) < 40_000


@functools.cache
def _english() -> set[str]:
    """Words of the interface in English."""
    found = messages.Told()
    for path in (ROOT / "api/pages/templates").glob("*.html"):
        messages.read_page(path, found)
    return {text for text in found.messages if "{" not in text}


@pytest.mark.parametrize("name", NAMES)
def test_a_french_page_has_no_english_word(started: Started, name: str) -> None:
    path = started.path(name)
    members = load_members(CATALOGUE.get(name).package)
    alike = {str(entry["fr"]).casefold() for entry in members.values()}
    english = {str(entry["en"]).casefold() for entry in members.values()} - alike
    others = ("/", "/games", "/play", "/tournaments/new") if name == SOE else ()
    for page in (path, path + "/chronicle", path + "/replay", path + "/charts", "/games/new?ruleset=" + name, *others):
        answer = started.anne.read(page, Accept_Language="fr", Accept="text/html")
        assert answer.headers["Content-Language"] == "fr"
        texts = Page(answer.text).texts
        assert set(texts) & _english() == set(), page
        assert not {text.casefold() for text in texts} & english, page
        assert not [text for text in texts if re.search(r"\w[:;](\s|$)|\w[?!](\s|$)", text)], page


@pytest.mark.parametrize("rules", [entry.rules for entry in GAMES], ids=lambda rules: rules.meta.ruleset)
def test_members_have_names_in_both_languages(rules: Any) -> None:
    """Those of sights, of moves and of contexts; a place where a number may be a seat says so."""
    parts = (*rules.view_types.values(), *rules.moves.values())
    found = {name.rstrip("_") for part in parts for name in getattr(part, "__struct_fields__", ())} - {"type"}
    texts = [load_texts(rules.package, lang) for lang in LANGUAGES]
    assert not [
        name for name in found - set(load_members(rules.package)) if not all(text.get(f"word.{name}") for text in texts)
    ]


def test_a_page_shows_what_a_client_may_read(site: Site) -> None:
    """In two games that differ in another seat's secret, a person reads the same bytes."""
    anne, told = person(site), []
    for units in (1, 2):
        made = site.post("/games", {"ruleset": "orders@1", "seats": 3}).json
        path = f"/games/{made['game']}"
        others = [site.post(path + "/seats", {"seat": seat, "name": f"P{seat}"}).json["token"] for seat in (0, 1)]
        assert anne.send(Page(anne.read(path).text).act("join", seat="2")).status_code == 303
        assert site.post(path + "/start", token=made["token"]).status_code == 201
        decision = site.get(path + "/decisions").json["decisions"][0]["id"]
        body = {"move": {"type": "order", "to": "t01", "units": units}, "decision": decision}
        assert site.post(path + "/moves", body, others[0]).status_code == 201
        pages = ("", "/chronicle", "/charts", "/replay", "/replay?version=4&since=1")
        html = "".join(anne.read(path + page).text for page in pages)
        html = html.replace(made["game"], "GAME")
        html = re.sub(r'(name="(?:form|key)" value=")[^"]*', r"\1", html)
        told.append(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d+ \w+ \d{4}, \d\d:\d\d UTC", "TIME", html))
    assert told[0] == told[1]


def test_pages_have_no_way_of_their_own_to_a_game() -> None:
    """They ask the routes; of the services they use those that say who asks and when, and the rulesets."""
    allowed = {"clock", "registry", "account_store", "settings", "seat_tokens", "notifications"}
    for path in sorted((ROOT / "api/pages").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("services()", "s"):
                assert node.attr in allowed, (path.name, node.attr)


# --- following -------------------------------------------------------------------------------------------------


class TestLive:
    def follow(self, site: Site, path: str, cookie: str = "") -> Answer:
        """The stream that the page of a table opens."""
        site.follow("/games/stream").close()  # starts the process for streams
        assert site.loop is not None
        assert site.streams is not None
        address = re.search(r'data-live="([^"]*)"', site.client.get(path, headers={"Cookie": cookie}).text)
        assert address is not None
        return Answer(site.loop, site.streams, scope(address[1], {"Cookie": cookie}))

    def test_a_page_is_told_that_its_table_has_changed_and_no_more(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        cookie = f"annals_session={anne.browser.cookie()}"
        with self.follow(anne.site, path, cookie) as own, self.follow(anne.site, path) as other:
            for each in (own, other):
                assert (each.status_code, each.mimetype) == (200, "text/event-stream")
                assert json.loads(each.until("\n\n", "data: {").rpartition("data: ")[2])["version"] == table.version
            anne.decide(path)
            assert f'"version":{table.version}' in own.until("event: change")
            table.post("/proposals", {"act": "close"}, table.tokens[1])
            told = other.until(f'"version":{table.version}', "event: change")
            assert set(json.loads(told.rpartition("data: ")[2])) == {"version", "votes"}
            anne.browser.client.post("/logout", data=Page(anne.read("/games").text).form("/logout").data())
            table.post("/proposals", {"act": "pause"}, table.tokens[1])
            assert "event: bye" in own.until("event: bye")

    def test_list_is_told_only_that_one_of_its_tables_has_news(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        with self.follow(anne.site, "/games", f"annals_session={anne.browser.cookie()}") as own:
            first = own.until("\n\n", "data: {").rpartition("data: ")[2]
            anne.decide(path)  # now another seat is waited for
            told = own.until("event: change", "data: {")
            mark = re.findall(r"data: (.*)", told)[-1]
            assert set(json.loads(first)) == {"version", "votes"}
            assert json.loads(mark) != json.loads(first)
            assert table.game not in told
        assert anne.site.client.get("/games/mine/live").status_code == 401

    def test_it_needs_the_streams_and_a_table_one_may_see(self, site: Site) -> None:
        table = site.table(SOE, 2)
        assert site.client.get(f"/games/{table.game}/live").status_code == 503
        assert site.client.get("/games/00000000-0000-4000-8000-000000000000/live").status_code == 404

    def test_answers_that_are_begun_are_marked_so_that_they_stay(self, started: Started) -> None:
        path = started.anne.play_now("egc@1")
        page = started.anne.read(path)
        assert "data-begun" not in page.text
        form = Page(page.text).question()
        assert form is not None
        told = started.anne.answer(form)
        assert has_moved(told) or "data-begun" in started.anne.follow(told).text


# --- browsers --------------------------------------------------------------------------------------------------


def test_a_browser_gets_a_page_and_a_program_the_documentation(site: Site) -> None:
    assert site.client.get("/").headers["Location"] == "/v1/docs"
    assert site.client.get("/", headers={"Accept": "*/*"}).status_code == 302
    page = site.client.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert 'href="/register?next=%2Fplay"' in page.text


@pytest.mark.parametrize("path", ["/gmaes", "/games/nothing", "/login/nowhere/at/all"])
def test_mistyped_address_is_a_page_or_a_problem(site: Site, path: str) -> None:
    shown = site.client.get(path, headers={"Accept": "text/html,*/*;q=0.8", "Accept-Language": "fr"})
    assert (shown.status_code, shown.mimetype) == (404, "text/html")
    assert '<html lang="fr"' in shown.text
    assert 'href="/"' in shown.text
    told = site.client.get(path, headers={"Accept": "*/*"})
    assert (told.status_code, told.json["code"]) == (404, "not_found")


def test_what_waits_stands_first(started: Started) -> None:
    path = started.path(SOE)
    texts = Page(started.anne.read("/", Accept="text/html").text).texts
    assert any(re.fullmatch(r"\d decisions? waits? for you", text) for text in texts)
    assert f'href="{path}#decision"' in started.anne.read("/", Accept="text/html").text


def test_pages_keep_nothing_and_run_nothing_of_others(started: Started) -> None:
    token = started.anne.browser.cookie()
    for path in ("/play", "/games", started.path(SOE), started.path("egc@1") + "/chronicle"):
        answer = started.anne.read(path)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"<script(?! src)|<style|\sstyle=|\son\w+=", answer.text)
        assert answer.text.count("<h1>") == 1
        assert token not in answer.text
        assert not re.findall(r'(?:src|href|action)="(?!/|#)', answer.text)


def test_strangers_watch_public_tables_and_log_in_there(site: Site) -> None:
    table = site.table(SOE, 2)
    page = site.client.get(f"/games/{table.game}")
    assert page.status_code == 200
    assert Page(page.text).question() is None
    assert urlencode({"next": f"/games/{table.game}"}) in page.text
    register(site)
    answer = Browser(site).log_in(target=f"/games/{table.game}")
    assert answer.headers["Location"] == f"/games/{table.game}"


@pytest.mark.parametrize(
    "target",
    ["/games/evil", "/games//evil.example", "/games/new/x", "/play/../v1", "//games", "/gamesx", "/games/1", "/ "],
)
def test_a_login_leads_to_no_other_place(target: str) -> None:
    assert safe_target(target) == "/account"
    own = ("/", "/play", "/games", "/games/new", "/games/00000000-0000-4000-8000-000000000000?as=1")
    assert [safe_target(path) for path in own] == list(own)


def test_every_rule_is_an_anchor(started: Started) -> None:
    for name in NAMES:
        text = (ROOT / "docs/rules" / f"{name.partition('@')[0]}.md").read_text("utf-8")
        numbers = set(re.findall(r"^- \*\*([A-Z0-9]+-[0-9.a-z]+)\*\*", text, re.MULTILINE))
        assert numbers <= {block.rule for block in read_blocks(text)}
    assert 'id="SOE-2.3"' in started.anne.read(started.path(SOE) + "/rules").text


# --- sheets, agreements, visits, preferences, officers ----------------------------------------------------------


class TestSheet:
    @pytest.fixture(autouse=True)
    def _one_question_at_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(move_choices, "MOST_OPENED", 0)

    def test_orders_are_listed_changed_put_last_and_cancelled(self, started: Started) -> None:
        anne, path = started.anne, started.path("egc@1")
        page = Page(anne.read(path).text)
        while page.question() and '"build"' not in [value for _, value, _ in page.question().buttons]:  # type: ignore[union-attr]
            page = Page(anne.decide(path).text)

        def orders() -> list[int]:
            board = started.member.get("/games/" + path.rpartition("/")[2] + "/board", Annals_Role="0").json
            return [order["n"] for order in board["own"]["sheet"]["orders"]]

        def finish(answer: Any) -> Any:
            while not has_moved(answer):
                form = Page(anne.follow(answer).text).question()
                assert form is not None
                answer = anne.answer(form)
            return answer

        before = orders()
        for _ in range(2):
            form = Page(anne.read(path).text).question()
            assert form is not None
            finish(anne.send(form, ("pick", '"build"')))
        first, second = orders()[len(before) :]
        shown = Page(anne.read(path).text)
        assert anne.send(shown.act("put_last", number=str(first))).status_code == 303
        assert orders()[-2:] == [second, second + 1]
        change = next(form for form in Page(anne.read(path).text).forms if ("replaces", str(second)) in form.fields)
        finish(anne.send(change))
        assert orders()[-2:] == [second + 1, second + 2]
        assert anne.send(Page(anne.read(path).text).act("cancel", number=str(second + 2))).status_code == 303
        assert orders()[-1] == second + 1
        assert anne.send(shown.act("cancel", number=str(first))).status_code == 403

    def test_orders_of_the_last_turn_are_copied_as_far_as_they_fit(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now("egc@1")
        game = path.rpartition("/")[2]

        def own() -> Any:
            return started.member.get(f"/games/{game}/board", Annals_Role="0").json["own"]["sheet"]["orders"]

        def pick(value: str) -> None:
            answer = anne.send(next(filter(None, [Page(anne.read(path).text).question()])), ("pick", value))
            while not has_moved(answer) and (form := Page(anne.follow(answer).text).question()):
                answer = anne.send(form, form.buttons[0][:2])  # the least number
            assert has_moved(answer)
            move_bots(anne.site, game)

        while 'name="pick" value="&#34;build&#34;"' not in anne.read(path).text:
            anne.decide(path)
        told = anne.send(Page(anne.read(path).text).act("copy"))
        assert "There is no earlier turn." in Page(told.text).texts
        pick('"set_ports"')  # stands already in the next turn: refused
        pick('"fund_expeditions"')
        before = own()
        pick('"submit_orders"')
        assert own() == []
        form = Page(anne.read(path).text).act("copy")
        for _ in range(2):  # a second click files nothing more
            texts = Page(anne.send(form).text).texts
            assert "1 of 2 orders of the last turn are filed again." in texts
        assert [{**order, "n": 0} for order in own()] == [{**order, "n": 0} for order in before[1:]]


def test_many_options_are_grouped_by_owner_and_kind(started: Started) -> None:
    with started.site.app.test_request_context():
        rules = CATALOGUE.get("egc@1")
        texts = load_texts(rules.package, "en")
        labels = Labels(rules, texts, SeatNames(texts, {0: "japan", 1: "russia"}, {}))
        places = ["alaska", "bengal", "congo", "peru", "chile", "japan", "persia", "korea", "punjab", "siam"]
        options = [{"value": place} for place in [None, *places, "egypt", "libya"]]
        owners = find_owners({"lands": {"persia": {"owner": 1}, "japan": {"owner": 0}, "korea": {}}, "turn": 1})
        groups = show_question(labels, {"field": "territory", "kind": "one", "options": options}, owners).groups
        assert [name for name, _ in groups][:3] == ["Japan", "Russia", "Africa"]
        assert [name for name, _ in groups][-1] == ""
        kinds = [{"value": kind} for kind in ("spy_empire", "build", "annex", *places)]
        named = show_question(labels, {"field": "type", "kind": "one", "options": kinds}).groups
        assert [name for name, _ in named][:3] == ["Money and works", "Protection", "Spies"]


class TestAgreements:
    def test_a_vote_says_in_words_what_is_proposed(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        for act, more in (("pace", [("pace", "live")]), ("remove", [("seat", "1")]), ("close", [])):
            assert anne.send(Page(anne.read(path).text).act("propose", proposal=act), *more).status_code == 303
        texts = Page(anne.read(path).text).texts
        assert {
            "Start every clock again, with 5 minutes for the longest decision.",
            "Remove Bea (guest) from the game.",
            "End the game now, without a result.",
        } <= set(texts)
        french = Page(anne.read(path, Accept_Language="fr").text).texts
        assert "Terminer la partie maintenant, sans résultat." in french
        assert [each["act"]["act"] for each in table.get("/proposals").json["items"]] == ["close", "remove", "pace"]

    def test_nobody_concedes_by_a_slip(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        form = Page(anne.read(path).text).act("concede")
        assert anne.send(form).status_code == 403
        assert anne.send(form, ("sure", "yes")).status_code == 303
        assert table.get("/records").json["items"][-1]["kind"] == "left"

    def test_a_guest_s_games_are_claimed_by_the_token(self, duel: tuple[Person, str, Table]) -> None:
        anne, path, table = duel
        zoe = person(anne.site, "Zoe")
        form = Page(zoe.send(Page(zoe.read("/account").text).form("/account/claims")).text).form("/account/claims")
        assert zoe.send(form, ("token", "none")).status_code == 409
        assert zoe.send(form, ("token", table.tokens[1])).headers["Location"] == "/games"
        assert "(you)" in Page(zoe.read(path).text).texts


def test_the_table_tells_what_is_new_since_the_last_visit(duel: tuple[Person, str, Table]) -> None:
    anne, path, _ = duel
    anne.decide(path)
    assert "Since your last visit" not in Page(anne.read(path).text).texts
    execute = anne.site.services.ledger.execute
    seen = anne.api.get("/me/data").json["visits"][path.rpartition("/")[2]]
    execute("UPDATE page_visits SET at = at - ?, seen = 4", (VISIT_MS + 1,))
    assert seen == 5
    for _ in range(2):
        text = anne.read(path).text
        assert "Since your last visit" in Page(text).texts
        assert 'href="#digest"' in text[text.index('id="decision"') :]
    assert anne.api.delete("/me").status_code == 204
    assert execute("SELECT * FROM page_visits") == []


def test_visits_to_the_tables_longest_unseen_are_forgotten(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domain.accounts.page_visits.MOST_TABLES", 2)
    person(site)
    visits, execute = site.services.account_store.page_visits, site.services.ledger.execute
    ((account,),) = execute("SELECT id FROM accounts")
    for game in "abc":
        execute("UPDATE page_visits SET at = at - 1")
        visits.note_look(account, game, 1)
    assert list(visits.list_visits(account)) == ["b", "c"]


def test_the_chronicle_begins_at_the_own_last_move(duel: tuple[Person, str, Table]) -> None:
    anne, path, table = duel
    before = len(re.findall('class="entry', anne.read(f"{path}/chronicle").text))
    anne.decide(path)
    assert f'href="{path}/chronicle?since=move"' in anne.read(path).text
    assert "Nothing has happened since." in Page(anne.read(f"{path}/chronicle?since=move").text).texts
    assert table.move(1, {"type": "choose_power", "power": "spain"}).status_code == 201
    text = anne.read(f"{path}/chronicle?since=move").text
    assert len(re.findall('class="entry', text)) == 1 < before


def test_pages_follow_the_settings_of_the_account(duel: tuple[Person, str, Table]) -> None:
    anne, path, table = duel
    wanted = [
        ("language", "fr"),
        ("zone", "Asia/Tokyo"),
        ("size", "large"),
        ("contrast", "high"),
        ("confirm", "always"),
    ]
    form = Page(anne.read("/account").text).form("/account/settings")
    assert anne.send(form, *wanted, ("motion", "wild")).headers["Location"] == "/account"
    kept = {name: value for name, value in wanted if name != "zone"}
    assert anne.api.get("/me/data").json["pages"] == kept
    text = anne.read(path).text
    assert '<html lang="fr" class="size-large contrast-high" ' in text
    assert "JST" in text
    question = Page(text).question()
    assert question is not None
    before = table.version
    asked = anne.send(question, question.buttons[0][:2])
    assert (has_moved(asked), table.version) == (False, before)
    confirm = Page(anne.follow(asked).text).question()
    assert confirm is not None
    assert anne.send(confirm, confirm.buttons[0][:2]).status_code == 303
    assert anne.send(form, ("zone", "Mars/Olympus")).status_code == 403


def test_an_officer_directs_from_the_desk(site: Site) -> None:
    zoe = person(site, "Zoe")
    body = {"ruleset": SOE, "seats": 2, "pace": "correspondence"}
    game = zoe.api.post("/games", body).json["game"]
    path = f"/games/{game}/desk"
    for seat in (0, 1):
        site.post(f"/games/{game}/seats", {"seat": seat, "name": f"P{seat}"})

    def act(name: str, *more: tuple[str, str], reason: str = "A reason.") -> int:
        before = zoe.api.get(f"/games/{game}").json["version"]
        asked = zoe.send(Page(zoe.read(path).text).act(name), *more, ("reason", reason))
        assert asked.status_code == 200
        assert {"The record will say:", "Zoe", reason} <= set(Page(asked.text).texts)
        assert zoe.api.get(f"/games/{game}").json["version"] == before
        return int(zoe.send(Page(asked.text).act(name, sure="yes")).status_code)

    acts = [
        ("start",),
        ("extend", ("seconds", "3600")),
        ("pause", ("until", "2031-01-01T12:00")),
        ("resume",),
        ("hold", ("seat", "0"), ("seconds", "3600")),
        ("close", ("ending", "adjudicated"), ("place.0", "2"), ("place.1", "1")),
        ("withdraw",),
        ("remove", ("seat", "0")),
        ("bot", ("seat", "0")),
    ]
    assert [act(*each) for each in acts] == [303] * len(acts)  # type: ignore[arg-type]
    records = zoe.api.get(f"/games/{game}/timeline", Annals_Role="director").json["items"]
    assert {each["officer"]["reason"] for each in records if each["version"] > 3} == {"A reason."}
    assert act("close", ("ending", "forfeited")) == 422
    assert "Struggle of Empires" in Page(zoe.read("/desk").text).texts
    anne = person(site)
    assert anne.browser.get(path).status_code == 403


def test_roles_are_offered_accepted_and_ended_by_forms(site: Site) -> None:
    zoe, anne = person(site, "Zoe"), person(site)
    game = zoe.api.post("/games", {"ruleset": SOE, "seats": 2}).json["game"]
    path = f"/games/{game}/desk"

    def act(name: str, *more: tuple[str, str]) -> int:
        asked = zoe.send(Page(zoe.read(path).text).act(name), *more)
        assert asked.status_code == 200, asked.text
        return int(zoe.send(Page(asked.text).act(name, sure="yes")).status_code)

    def officers() -> list[tuple[str, str, bool]]:
        items = zoe.api.get(f"/games/{game}/officers", Annals_Role="director").json["items"]
        return [(each["name"], each["office"], each["offered"]) for each in items][1:]

    offer = (("name", "Anne"), ("role", "deputy"), ("reason", "I travel."))
    assert act("appoint", *offer) == 303
    assert act("recall") == 303
    assert act("appoint", *offer) == 303
    assert officers() == [("Anne", "deputy", True)]
    page = Page(anne.read("/desk").text)
    assert {"Zoe offers you a role at a table: deputy.", "I travel."} <= set(page.texts)
    answer = anne.send(page.form("/desk", "act"), ("act", "accept"))
    assert answer.headers["Location"] == path
    assert officers() == [("Anne", "deputy", False)]
    assert act("dismiss") == 303
    assert officers() == []
    assert act("appoint", ("name", "Nobody")) == 422


# --- what a newcomer stumbled over -------------------------------------------------------------------------------


class TestNewcomers:
    def test_page_asks_again_also_where_it_was_opened_at_a_fragment(self, started: Started) -> None:
        """A browser only scrolls to an address that has one."""
        anne = started.anne
        found, path = [], ""
        for _ in range(8):  # until a bot begins
            answer = anne.send(Page(anne.read("/play").text).form("/play", "ruleset"), ("ruleset", SOE))
            path = str(answer.headers["Location"]).partition("?")[0]
            if found := re.findall(r'http-equiv="refresh" content="\d+;url=([^"]*)"', anne.follow(answer).text):
                break
        assert [url.partition("?")[0] for url in found] == [path]
        assert "#" not in found[0]

    def test_a_finished_game_is_found_again_and_its_rules_are_near(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now(SOE)
        page = anne.read(path).text
        assert f'href="{path}/rules"' in page
        form = Page(page).act("propose", proposal="close")
        assert anne.send(form, ("sure", "yes")).status_code == 303
        text = anne.read("/games").text
        assert path in text[text.index("Your finished games") :]

    def test_a_pause_is_told_where_one_decides(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now(SOE)
        assert anne.send(Page(anne.read(path).text).act("propose", proposal="pause")).status_code == 303
        text = anne.read(path).text
        assert "The game is paused." in text[text.index('id="decision"') : text.index('id="seats"')]
        assert Page(text).question() is None

    def test_an_old_question_is_not_called_untrue(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now(SOE)
        old = Page(anne.read(path).text).question()
        assert old is not None
        anne.decide(path)
        text = anne.answer(old).text
        assert "The game has moved on" in text or "<strong>Your decision" in text
        assert "was not offered" not in text

    def test_too_few_or_too_many_answers_are_told_by_their_number(self, started: Started) -> None:
        anne, path = started.anne, started.path("imperunde@1")
        form = Page(anne.read(path).text).question()
        while form and not (chosen := [button for button in form.buttons if '"set_auto_pass"' in button[1]]):
            anne.decide(path)
            form = Page(anne.read(path).text).question()
        assert form is not None
        several = Page(anne.follow(anne.send(form, chosen[0][:2])).text).question()
        assert several is not None
        assert "Choose at least 1." in anne.send(several).text
        many = several.checks * 2
        assert f"Choose at most {len(several.checks)}." in anne.send(several, *many).text
        assert "Choisissez-en au moins 1." in anne.send(replace(several, action=several.action + "?lang=fr")).text
        assert "was not offered" not in anne.send(several, *several.checks[:1]).text

    def test_the_own_records_are_told_where_one_reads_what_happened(self, started: Started) -> None:
        """A visitor reads the own sentences after those for all."""
        anne, path = started.anne, started.anne.play_now("egc@1")
        anne.decide(path)
        asked = anne.send(Page(anne.read(path).text).question() or PageForm(""), ("pick", '"recruit"'))
        anne.answer(Page(anne.follow(asked).text).question() or PageForm(""))
        address = f"/games/{path.rpartition('/')[2]}/timeline?limit=100"
        entries = started.member.get(address, Annals_Role="0").json["items"]
        own = {e["version"]: [line for part in e["own"] for line in part["text"]] for e in entries if e.get("own")}
        alone = next(e["version"] for e in entries if e["version"] in own and not e["text"])
        chronicle = anne.read(f"{path}/chronicle?after=0").text
        assert "<p></p>" not in chronicle
        texts = " ".join(Page(chronicle).texts)
        assert all(" ".join(lines) in texts for lines in own.values())
        replayed = Page(anne.read(f"{path}/replay?version={alone}").text).texts
        assert " ".join(own[alone]) in replayed
        assert "Nothing that you may know." not in replayed

    def test_a_turn_without_news_has_no_heading(self, monkeypatch: pytest.MonkeyPatch, started: Started) -> None:
        anne, path = started.anne, started.path(SOE)
        anne.read(path)
        started.site.services.ledger.execute("UPDATE page_visits SET at = at - ?, seen = 1", (VISIT_MS + 1,))
        empty = {"title": "Turn without news", "lines": [], "standings": []}
        turns = [empty | {"title": "Turn with news", "lines": ["A line."]}, empty]

        def ask(method: str, target: str, *args: Any, **options: Any) -> Told:
            is_digest = "/digest" in target
            return Told(200, {"after": 1, "turns": turns}) if is_digest else known(method, target, *args, **options)

        monkeypatch.setattr("api.pages.table.chronicle.ask", ask)
        texts = Page(anne.read(path).text).texts
        assert "Turn with news" in texts
        assert "Turn without news" not in texts

    def test_seats_have_names_on_boards(self) -> None:
        """Also in lists below the keys of a mapping, such as those of alliances."""
        rules = CATALOGUE.get(SOE)
        texts = load_texts(rules.package, "en")
        labels = Labels(rules, texts, SeatNames(texts, {0: "spain"}, {}))
        assert labels.describe("alliances", {"grey": [0]}).endswith("Spain")
        assert build_node(labels, "alliances", {"grey": [0]}).entries[0][1].entries[0][1].text == "Spain"

    def test_marks_of_the_rules_page_are_left_out(self) -> None:
        (block,) = read_blocks("See *Luttes* and [rulings](../rulings/x.md), `code`, 2*3.")
        assert block.text == "See Luttes and rulings, code, 2*3."


def test_answers_to_more_picks_are_kept_by_seat_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals are not kept, nor what has come after another move."""
    asked: list[str] = []
    answers = {"version": 7}

    def answer(_: str, path: str, body: Any, *, role: str) -> Told:
        asked.append(role)
        return Told(409 if body["picks"] == ["no"] else 200, {**answers, "choice": None, "move": {"by": role}})

    monkeypatch.setattr(move_choices, "ask", answer)
    monkeypatch.setattr(move_choices, "request_language", lambda: "en")
    game = secrets.token_hex(8)

    def pick(role: str, value: str, version: int = 7) -> Any:
        before = BuilderState(Picks("d", "k"), Told(200, {"version": version}))
        return Builder(game, role, None).go_on(before, Pick("to", value)).answer.doc["move"]  # type: ignore[arg-type]

    assert [pick("0", "yes"), pick("0", "yes"), pick("1", "yes")] == [{"by": "0"}, {"by": "0"}, {"by": "1"}]
    assert asked == ["0", "1"]
    for role, value, version in (("0", "no", 7), ("0", "yes", 6)):
        asked.clear()
        assert pick(role, value, version) == pick(role, value, version)
        assert asked == [role, role]


# --- half-made moves -------------------------------------------------------------------------------------------


class TestHalfMadeMoves:
    @pytest.fixture
    def placing(self, duel: tuple[Person, str, Table], monkeypatch: pytest.MonkeyPatch) -> tuple[Person, str, Table]:
        """Anne is asked for a unit, then for its region, as if there were too many for one list."""
        monkeypatch.setattr(move_choices, "MOST_OPENED", 0)
        anne, path, table = duel
        form = Page(anne.read(path).text).question()
        assert form is not None
        assert anne.send(form, form.buttons[0][:2]).status_code == 303
        assert table.move(1, {"type": "choose_power", "power": "spain"}).status_code == 201
        return duel

    def ask(self, anne: Person, path: str) -> PageForm:
        form = Page(anne.read(path).text).question()
        assert form is not None
        return form

    def test_answer_leads_to_next_question_at_a_blind_address(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, _ = placing
        first = self.ask(anne, path)
        answer = anne.send(first, first.buttons[0][:2])
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{path}#move")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Strict", f"Path={path}"} <= {*cookie.split("; ")}
        assert "army" not in cookie
        assert "unit" not in cookie
        second = self.ask(anne, path)  # and again after the page is opened anew
        assert dict(second.fields)["picks"] != dict(first.fields)["picks"]
        assert dict(self.ask(anne, path).fields)["key"] == dict(second.fields)["key"]

    def test_the_address_of_an_answer_leads_to_the_table(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, _ = placing
        for form in ("play", "commands"):
            answer = anne.browser.get(f"{path}/{form}")
            assert (answer.status_code, answer.headers["Location"]) == (303, f"{path}#move")

    def test_an_answer_is_given_anew_from_its_chip_on(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, _ = placing
        first = self.ask(anne, path)
        anne.send(first, first.buttons[0][:2])
        chips = Page(anne.read(path).text).form("/play", "keep")
        assert anne.send(chips, ("keep", "0")).status_code == 303
        again = self.ask(anne, path)
        assert dict(again.fields)["picks"] == dict(first.fields)["picks"]
        assert anne.browser.client.get_cookie(picks_cookie.COOKIE, path=path) is None

    def test_a_move_or_a_new_start_forgets_the_answers(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, _ = placing
        first = self.ask(anne, path)
        anne.send(first, first.buttons[0][:2])
        back = Page(anne.read(path).text).form("/play", "again")
        assert anne.send(back, ("again", "1")).status_code == 303
        assert dict(self.ask(anne, path).fields)["picks"] == dict(first.fields)["picks"]
        assert '<p class="note">The game has moved on' not in anne.decide(path).text

    def test_answers_to_earlier_decision_are_void_and_told_once(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, table = placing
        first = self.ask(anne, path)
        anne.send(first, first.buttons[0][:2])
        asked = {"decision": table.decision, "picks": ["army"]}
        region = anne.api.post(f"{table.path}/choices", asked, Annals_Role="0").json["choice"]["options"][0]["value"]
        body = {"move": {"type": "place_unit", "unit": "army", "region": region}, "decision": table.decision}
        assert anne.api.post(f"{table.path}/moves", body, Annals_Role="0").status_code == 201
        told = [anne.read(path).text for _ in range(2)]
        assert ["The game has moved on: your answers were not sent" in text for text in told] == [True, False]

    def test_answers_of_one_seat_are_nothing_to_another_visitor(self, placing: tuple[Person, str, Table]) -> None:
        anne, path, _ = placing
        first = self.ask(anne, path)
        anne.send(first, first.buttons[0][:2])
        sealed = anne.browser.client.get_cookie(picks_cookie.COOKIE, path=path)
        stranger = person(anne.site, "Carla")
        stranger.browser.client.set_cookie(picks_cookie.COOKIE, sealed.value, path=path)
        assert "data-begun" not in stranger.read(path).text

    def test_more_answers_than_cookie_holds_are_answered_as_before(
        self, placing: tuple[Person, str, Table], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        anne, path, _ = placing
        monkeypatch.setattr(picks_cookie, "MOST_BYTES", 10)
        first = self.ask(anne, path)
        answer = anne.send(first, first.buttons[0][:2])
        assert answer.status_code == 200
        assert Page(answer.text).question() is not None


class TestNumberForms:
    """Several numbers on one form: a division of points, and several moves of a kind."""

    def ask(self, anne: Person, path: str) -> PageForm:
        form = Page(anne.read(path).text).question()
        assert form is not None
        return form

    def send(self, anne: Person, form: PageForm, *numbers: int, **more: str) -> Any:
        return anne.send(form, *[("amount", str(number)) for number in numbers], *more.items())

    def test_points_are_divided_on_one_form(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now("egc@1")
        form = self.ask(anne, path)
        assert [name for name, _, _ in form.numbers] == ["amount"] * 9
        assert 'data-purse="18000"' in anne.read(path).text
        preset = next(value for name, value, _ in form.buttons if name == "preset")
        filled = self.send(anne, form, *[0] * 9, preset=preset).text
        assert [int(each) for each in re.findall(r'name="amount"[^>]* value="(\d+)"', filled)] == json.loads(preset)
        refused = self.send(anne, form, 18001, *[0] * 8)
        assert (refused.status_code, "take 1 more than there is" in refused.text) == (409, True)
        assert 'value="18001"' in refused.text
        pressed = [self.send(anne, form, *json.loads(preset)) for _ in range(2)]
        assert has_moved(pressed[0])
        assert pressed[1].status_code in (303, 409), "a second press makes nothing more, and fails with a word"
        assert "Orders of the turn" in Page(self.after_turn(anne, path)).texts

    def after_turn(self, anne: Person, path: str) -> str:
        move_bots(anne.site, path.rpartition("/")[2])
        return str(anne.read(path).text)

    def test_several_moves_of_a_kind_are_made_at_once(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now("egc@1")
        self.send(anne, self.ask(anne, path), *[0] * 9)
        self.after_turn(anne, path)
        asked = anne.send(self.ask(anne, path), ("pick", '"recruit"'))
        form = Page(anne.follow(asked).text).question()
        assert form is not None
        nothing = self.send(anne, form, *[0] * len(form.numbers))
        assert (nothing.status_code, "Enter a number in at least one row." in nothing.text) == (422, True)
        numbers = [1, *[0] * (len(form.numbers) - 1)]
        assert [has_moved(self.send(anne, form, *numbers)) for _ in range(2)] == [True, True]  # a second click
        board = anne.api.get(f"/games/{path.rpartition('/')[2]}/board", Annals_Role="0").json
        assert [each["divisions"] for each in board["own"]["sheet"]["orders"]] == [1]

    @pytest.mark.parametrize("amount", ["-1", "1.5", "9" * 5000, "x", str(2**53)])
    def test_a_number_that_is_none_is_refused(self, started: Started, amount: str) -> None:
        anne, path = started.anne, started.anne.play_now("egc@1")
        form = self.ask(anne, path)
        told = anne.send(form, ("amount", amount), *[("amount", "0")] * 8)
        assert told.status_code in (403, 409)
        assert anne.send(form, ("amount", "0")).status_code == 403


class TestGazette:
    def test_what_others_have_done_since_own_move_opens_the_page(
        self, duel: tuple[Person, str, Table], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(move_choices, "MOST_OPENED", 0)
        anne, path, table = duel
        assert "gazette" not in anne.read(path).text
        anne.decide(path)
        assert "gazette" in anne.read(path).text, "the own move's result"
        assert table.move(1, {"type": "choose_power", "power": "spain"}).status_code == 201
        text = anne.read(path).text
        opened = re.search(r'<details class="gazette"[^>]* open>(.*?)</div>\n</details>', text, re.DOTALL)
        assert opened is not None
        assert "Spain" in opened[1]
        form = Page(text).question()
        assert form is not None
        anne.send(form, form.buttons[0][:2])
        assert re.search(r'<details class="gazette" data-key="gazette-\d+">', anne.read(path).text)

    def test_turn_of_sealed_orders_is_told_without_notes(self, started: Started) -> None:
        anne, path = started.anne, started.anne.play_now("egc@1")
        text = ""
        while "gazette" not in text:
            text = anne.decide(path).text
        assert "submits its orders" not in text[text.index('aria-labelledby="chronicle"') :]


def test_stream_of_a_page_gives_signs_of_life_that_scripts_hear() -> None:
    """A browser's script hears no comments."""
    assert PAGE_SSE.keep_alive == b"event: alive\ndata:\n\n"
