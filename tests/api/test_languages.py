"""Whatever the service says to clients it says in their language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from api.http.i18n import preferred_language, translate
from domain.accounts.personal_tokens import MOST_TOKENS
from domain.games.common.validators import Either
from domain.kernel.schema.validators import ANY_INT, Boolean, IntegerRange, ListOf, MapOf, ObjectOf, Validator, Word
from domain.kernel.text.message_catalog import LANGUAGES, PLACE, Message, load_texts
from domain.kernel.text.package_data import load
from tests.api import messages
from tests.api.conftest import Doc, Reply, Site, Table
from tests.api.members import PASSWORD, register
from tests.rulesets import GAMES

FRENCH: Mapping[str, str] = load("api", "texts/fr.json")

ALIKE = frozenset({"{count} {count#option|options}"})
"""Messages that are the same in both languages."""


def _places(template: str) -> set[str]:
    """Members that a template names."""
    found = list(PLACE.finditer(template))
    asked = {m["form"].partition("@")[2] for m in found if m["form"] and "@" in m["form"]}
    return {m["member"].partition(".")[0] for m in found} | asked


@pytest.mark.xdist_group("catalogue")  # read once
class TestTheCatalogue:
    @pytest.fixture
    def said(self, site: Site) -> Mapping[str, str]:
        return messages.of_libraries(site.app).messages | messages.told().messages

    def test_whatever_is_said_can_be_translated(self, site: Site) -> None:
        """A text that is put together in English has no form in another language."""
        faults = [*messages.told().faults, *messages.of_libraries(site.app).faults]
        assert not faults, "\n".join(faults)

    def test_every_message_has_a_french_form(self, said: Mapping[str, str]) -> None:
        missing = [f"{place}: no French for {message!r}" for message, place in said.items() if message not in FRENCH]
        assert not missing, "\n".join(["api/texts/fr.json lacks texts", *missing])

    def test_no_french_form_is_of_nothing(self, said: Mapping[str, str]) -> None:
        idle = [message for message in FRENCH if message not in said and message not in messages.LATER]
        assert not idle, "\n".join(["nothing says", *idle])

    def test_french_is_not_english(self) -> None:
        assert {message for message, text in FRENCH.items() if text == message} == ALIKE

    def test_the_places_are_the_same(self) -> None:
        differing = [message for message, text in FRENCH.items() if _places(message) != _places(text)]
        assert not differing, "\n".join(["places differ in the French of", *differing])

    def test_both_are_sentences_or_neither(self) -> None:
        """A title has no full stop, in neither language."""
        assert [m for m, text in FRENCH.items() if m.endswith(".") != text.endswith(".")] == []

    def test_marks_have_the_spaces_of_the_language(self) -> None:
        """They are put in for the writer."""
        assert translate(Message("{what} is expected", what="x"), "fr") == "attendu\u00a0: x"
        assert not [text for text in FRENCH.values() if re.search("[\u00a0\u202f]", text)]


class TestMessages:
    def test_members_are_filled_in(self) -> None:
        told = Message("More than {most} levels.", most=64)
        assert [translate(told, lang) for lang in LANGUAGES] == ["More than 64 levels.", "Plus de 64 niveaux."]

    def test_messages_stand_in_messages(self) -> None:
        told = Message("{what} is expected", what=Message("an integer from {lo} to {hi}", lo=0, hi=20_000))
        assert translate(told, "en") == "an integer from 0 to 20,000 is expected"
        assert translate(told, "fr") == "attendu\u00a0: un entier de 0 à 20\u202f000"

    @pytest.mark.parametrize("text", ["{most}", "[a]", "a. b", "Extra data", "  ", "«x»?", "de l'x : {y~a|b}"])
    @pytest.mark.parametrize("lang", LANGUAGES)
    def test_what_a_client_has_sent_stays_as_it_is(self, text: str, lang: str) -> None:
        """It is no template, and no message, whatever it looks like."""
        assert text in translate(Message("The key {key} is repeated.", key=text), lang)

    def test_what_has_no_form_stays_english(self) -> None:
        assert translate("Something new.", "fr") == "Something new."

    @pytest.mark.parametrize(
        ("shape", "value"),
        [
            (IntegerRange(1, 2), 3),
            (ANY_INT, "x"),
            (Boolean(), 1),
            (Word(), ""),
            (Word(("a", "b")), "c"),
            (ListOf(IntegerRange(), 1, 2), []),
            (MapOf(IntegerRange(), 1), {"a": 1, "b": 2}),
            (MapOf(IntegerRange()), {"": 1}),
            (ObjectOf({"a": IntegerRange()}), 1),
            (ObjectOf({"a": IntegerRange()}), {}),
            (ObjectOf({}), {"a": 1}),
            (Either(Word(("random",)), IntegerRange(0, 6)), "x"),
        ],
    )
    def test_what_a_shape_expects_is_a_message(self, shape: Validator, value: Any) -> None:
        fault = shape.find_error(value, "")
        assert fault is not None
        assert translate(fault[1], "fr") != str(fault[1]) == translate(fault[1], "en")


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("", "en"),
        ("fr", "fr"),
        ("fr-CA, en;q=0.5", "fr"),
        ("fr;q=0.4, en;q=0.5", "en"),
        ("de, fr;q=0.1", "fr"),
        ("FR", "fr"),
        ("fr;q=0", "en"),
        ("en;q=0, *", "fr"),
        ("*, fr;q=0.5", "en"),
        ("fr, *;q=0.5", "fr"),
        ("fr, en", "fr"),
        ("en, fr", "en"),
        ("de", "en"),
        ("fry", "en"),
        ("x" * 8000, "en"),
        (";;q=,,fr", "fr"),
        ("fr;q=nan", "en"),
    ],
)
def test_the_language_of_greatest_weight(header: str, lang: str) -> None:
    assert preferred_language(parse_accept_header(header, LanguageAccept)) == lang


# --- problems, asked for in both languages ---------------------------------------------------------------------


Ask = Callable[[Table, Mapping[str, str]], Reply]


def _raw(path: str, body: str, **more: str) -> Ask:
    return lambda t, headers: t.site.client.post(
        f"/v1{path}",
        data=body.encode("utf-8", "surrogatepass"),
        headers={"Content-Type": "application/json", **headers, **more},
    )


def _get(path: str, who: int | str | None = None) -> Ask:
    return lambda t, headers: t.site.get(path.replace("GAME", t.path), t.token(who), **headers)


def _post(path: str, body: Any = None, who: int | str | None = None, **more: str) -> Ask:
    return lambda t, headers: t.site.post(path.replace("GAME", t.path), body, t.token(who), **headers, **more)


TABLE: Doc = {"ruleset": "struggle_of_empires@1", "seats": 3}
NOWHERE = "/games/00000000-0000-4000-8000-000000000000"
ASKED: Mapping[str, Ask] = {
    "no JSON": _raw("/games", "{1"),
    "no UTF-8": _raw("/games", '{"a": "\udc80"}'),
    "empty": _raw("/games", ""),
    "twice": _raw("/games", '{"a": 1, "a": 2}'),
    "NaN": _raw("/games", '{"a": NaN}'),
    "2^53": _raw("/games", f'{{"a": {2**53}}}'),
    "1e999": _raw("/games", '{"a": 1e999}'),
    "half": _raw("/games", '{"a": "\\ud800"}'),
    "deep": _raw("/games", "[" * 65 + "]" * 65),
    "text": _raw("/games", "a", **{"Content-Type": "text/plain"}),
    "gzip": _raw("/games", "a", **{"Content-Encoding": "gzip"}),
    "no object": _raw("/games", "[]"),
    "unknown field": _post("/games", {**TABLE, "more": 1}),
    "missing": _post("/games", {}),
    "types": _post("/games", {**TABLE, "seats": "3", "several": 1, "options": [], "undo": "x", "listing": None}),
    "bounds": _post("/games", {**TABLE, "seats": 101, "hold": -1, "name": "\n"}),
    "members": _post("/games", {**TABLE, "options": {str(i): 1 for i in range(101)}}),
    "seats": _post("/games", {**TABLE, "seats": 9}),
    "option": _post("/games", {**TABLE, "options": {"more": 1}}),
    "value": _post("/games", {**TABLE, "options": {"first_player": "me"}}),
    "powers": _post("/games", {**TABLE, "options": {"powers": ["france"]}}),
    "pace": _post("/games", {**TABLE, "pace": "fast"}),
    "pace's form": _post("/games", {**TABLE, "pace": {}}),
    "pace's class": _post("/games", {**TABLE, "pace": {"seconds": {"x": 1}}}),
    "pace's bank": _post("/games", {**TABLE, "pace": {"seconds": {}, "bank": -1}}),
    "ruleset": _post("/games", {**TABLE, "ruleset": "nothing@1"}),
    "key": _post("/games", TABLE, Idempotency_Key="short"),
    "token": _post("GAME/moves", {"move": {}}, None),
    "neither": _post("GAME/moves", {}, 0),
    "precondition": _post("GAME/moves", {"move": {"type": "pass"}}, 0),
    "long list": _post("GAME/moves", {"moves": [{}] * 51}, 0),
    "malformed": _post("GAME/moves", {"move": {"type": "order"}, "decision": "0-1"}, 0),
    "closed": _post("GAME/moves", {"move": {"type": "order", "to": "t01", "units": 1}, "decision": "0-99"}, 0),
    "stale": _post("GAME/moves", {"move": {"type": "order"}}, 0, If_Match='"1"'),
    "no seat named": _post("GAME/moves", {"move": {}}, "director"),
    "another seat": _post("GAME/moves", {"move": {}, "seat": 1}, 0),
    "directors": _post("GAME/close", {"reason": "void"}, 0),
    "no reason": _post("GAME/close", {"reason": "tired"}, "director"),
    "seats alone": _post("GAME/vacations", {"days": 1}, "director"),
    "vacation": _post("GAME/vacations", {"days": 1}, 0),
    "version": _post("GAME/rewinds", {"to": 1}, 0),
    "fresh": _post("GAME/rewinds", {"to": 1, "fresh": True}, 0, If_Match='"4"'),
    "joining": _post("GAME/seats", {}),
    "no game": _get(NOWHERE),
    "nothing": _get("/nothing"),
    "method": _post("/rulesets"),
    "query": _get("/rulesets?more=1"),
    "query twice": _get("/games?limit=1&limit=2"),
    "no number": _get("/games?limit=x"),
    "language": _get("/rulesets?lang=de"),
    "past": _get("GAME/board?version=999"),
    "position": _get("GAME?wait=999999"),
    "no ruleset": _get("/rulesets/nothing@1"),
    "no rules": _get("/rulesets/orders@1/rules"),
    "no data": _get("/rulesets/orders@1/data"),
    "no geometry": _get("/rulesets/orders@1/geometry"),
    "no code": _get("/problems/nothing"),
    "no job": _get("/jobs/rewind-000000000000000000000000"),
    "password's length": _post("/accounts", {"name": "Anne", "password": "short"}),
    "password's limit": _post("/accounts", {"name": "Anne", "password": "x" * 257}),
    "common password": _post("/accounts", {"name": "Anne", "password": "password123"}),
    "password's name": _post("/accounts", {"name": "Anneanne", "password": "Anne Anne"}),
    "name's letters": _post("/accounts", {"name": "77", "password": PASSWORD}),
    "name's script": _post("/accounts", {"name": "Ann\u0435", "password": PASSWORD}),
    "login": _post("/sessions", {"name": "", "password": PASSWORD}),
    "credentials": _post("/sessions", {"name": "Anne", "password": PASSWORD}),
    "no account": _get("/me", 0),
    "role": lambda t, headers: t.site.get(t.path, t.token(0), Annals_Role="king", **headers),
    "ticket": _get("GAME/stream?ticket=old"),
}


@pytest.fixture
def orders(site: Site) -> Table:
    return site.table("orders@1", 3)


@pytest.mark.parametrize("name", ASKED)
def test_a_problem_is_told_in_the_language_asked_for(orders: Table, name: str) -> None:
    told = {}
    for lang in LANGUAGES:
        answer = ASKED[name](orders, {"Accept-Language": lang})
        assert answer.mimetype == "application/problem+json", answer.text
        assert answer.headers["Content-Language"] == lang
        assert "Accept-Language" in answer.headers["Vary"]
        told[lang] = answer.json
    _same(told["en"], told["fr"])


TOLD_ACCOUNTS: Mapping[str, tuple[str, str, Any]] = {
    "another name": ("POST", "/games", {**TABLE, "name": "Bea"}),
    "no role": ("GET", "/accounts?name=Anne", None),
    "about nobody": ("POST", "/reports", {"said": "It was so."}),
    "a name that is taken": ("PUT", "/me/name", {"name": "Bea"}),
    "no name": ("PUT", "/me/name", {"name": "7"}),
    "days": ("POST", "/me/tokens", {"label": "a bot", "scopes": ["read"], "days": 366}),
    "scopes": ("POST", "/me/tokens", {"label": "a bot", "scopes": ["all"]}),
    "no seat": ("POST", "/me/claims", {"token": "nobody's"}),
    "no proof": ("POST", "/me/proofs", {"password": "another"}),
}


@pytest.mark.parametrize("name", TOLD_ACCOUNTS)
def test_so_is_what_an_account_may_not(site: Site, name: str) -> None:
    register(site, "Bea")
    anne, (method, path, body) = register(site), TOLD_ACCOUNTS[name]
    told = {}
    for lang in LANGUAGES:
        headers = {"Authorization": f"Bearer {anne.token}", "Accept-Language": lang}
        answer = site.client.open(f"/v1{path}", method=method, json=body, headers=headers)
        assert answer.mimetype == "application/problem+json", answer.text
        assert answer.headers["Content-Language"] == lang
        told[lang] = answer.json
    _same(told["en"], told["fr"])


def test_an_account_has_no_endless_tokens(site: Site) -> None:
    """What the store of accounts refuses says its figures."""
    anne = register(site)
    for _ in range(MOST_TOKENS):
        anne.personal("read")
    refusals = [
        anne.post("/me/tokens", {"label": "a bot", "scopes": ["read"]}, Accept_Language=lang) for lang in LANGUAGES
    ]
    assert [answer.json["detail"] for answer in refusals] == [
        f"An account has {MOST_TOKENS} tokens at most.",
        f"Un compte a {MOST_TOKENS} jetons au plus.",
    ]


def _same(english: Doc, french: Doc) -> None:
    """The same problem, each of its texts in another language."""
    assert english["code"] == french["code"]
    assert _words(english).keys() == _words(french).keys()
    assert [at for at, text in _words(english).items() if text == _words(french)[at]] == []
    assert _others(english) == _others(french)


def _words(problem: Doc) -> dict[str, str]:
    """All that is text for people, by where it stands."""
    found: dict[str, str] = {name: problem[name] for name in ("title", "detail") if name in problem}
    found |= {f"{i}{e['at']}": e["message"] for i, e in enumerate(problem.get("errors", ()))}
    figures = problem.get("figures", {})
    return found | ({"expected": figures["expected"]} if "expected" in figures else {})


def _others(problem: Doc) -> Doc:
    """What is for programs, which no language changes."""
    kept = {name: value for name, value in problem.items() if name not in ("title", "detail", "errors", "figures")}
    return kept | {"at": [e["at"] for e in problem.get("errors", ())]}


# --- what is no problem ----------------------------------------------------------------------------------------


def test_titles_of_rulesets(site: Site) -> None:
    """By header or by query, which comes first; another language is another document."""
    found = [site.get("/rulesets", Accept_Language="fr"), site.get("/rulesets?lang=fr", Accept_Language="en")]
    english = site.get("/rulesets")
    titles = {
        answer.headers["Content-Language"]: {r["title"] for r in answer.json["items"]} for answer in [english, *found]
    }
    assert "Struggle of Empires" in titles["en"]
    assert "Luttes impériales" in titles["fr"]
    assert found[0].data == found[1].data
    assert found[0].headers["ETag"] == found[1].headers["ETag"] != english.headers["ETag"]
    assert site.get("/rulesets", Accept_Language="fr", If_None_Match=english.headers["ETag"]).status_code == 200
    assert site.get("/rulesets", Accept_Language="fr", If_None_Match=found[0].headers["ETag"]).status_code == 304


@pytest.mark.parametrize("code", ["stale_version", "seat_taken", "malformed_move", "insufficient_funds"])
def test_what_a_code_means(site: Site, code: str) -> None:
    """Of the service, of all tables, of all games and of one."""
    english, french = (site.get(f"/problems/{code}?lang={lang}").json for lang in LANGUAGES)
    assert english.pop("title") != french.pop("title")
    assert english == french


def test_answers_that_are_the_same_for_all_name_no_language(orders: Table) -> None:
    assert "Content-Language" not in orders.get("/board").headers
    assert "Content-Language" not in orders.site.get("/rulesets/struggle_of_empires@1/data").headers


def test_a_job_that_failed_says_why_in_both_languages(orders: Table) -> None:
    """It is told when it is read, not when it failed."""
    started = orders.version
    assert orders.move(0, {"type": "order", "to": "t01", "units": 1}).status_code == 201
    orders.site.asleep = True
    asked = orders.post("/rewinds", {"to": started}, orders.director, If_Match=f'"{orders.version}"')
    assert orders.site.put(f"{orders.path}/seats/0/hold", {"seconds": 60}, orders.director).status_code == 200
    assert asked.status_code == 202, asked.text
    job = asked.headers["Location"].removeprefix("/v1")
    told = [orders.site.get(job, Accept_Language=lang) for lang in LANGUAGES]
    assert [answer.headers["Content-Language"] for answer in told] == list(LANGUAGES)
    assert [answer.json["problem"]["title"] for answer in told] == ["The game has moved on", "La partie a avancé"]


@pytest.mark.parametrize("rules", [entry.rules for entry in GAMES], ids=lambda rules: rules.meta.ruleset)
def test_options_and_their_values_have_names_in_both_languages(rules: Any) -> None:
    for lang in LANGUAGES:
        said = load_texts(rules.package, lang)
        keys = ["title", *(f"option.{name}" for name in rules.meta.options)]
        keys += [f"word.{word}" for o in rules.meta.options.values() for word in _values(o.validator.schema())]
        assert [key for key in keys if not said.label(key)] == []


def _values(schema: Any) -> set[str]:
    """All words that a value may be or hold."""
    if isinstance(schema, list):
        return set().union(*map(_values, schema))
    if not isinstance(schema, dict):
        return set()
    own = {value for value in schema.get("enum", ()) if isinstance(value, str)}
    return own | set().union(*(_values(part) for part in schema.values()))
