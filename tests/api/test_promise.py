"""What clients were promised stays; what goes away says so long before."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Response

from api import app
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, deprecated
from api.schemas.query_args import LangArgs
from tests.api.conftest import Doc, Site, refused
from tests.api.promise import Comparison, bare, differing, document, promised

pytestmark = pytest.mark.xdist_group("document")  # made once

MOVES = "/v1/games/{game}/moves"


@pytest.fixture(scope="module")
def now() -> Doc:
    return document()


def test_nothing_that_was_promised_is_gone(now: Doc) -> None:
    """After an addition: `python -m tests.api.promise` promises it as well."""
    assert not list(Comparison(promised(), now).broken())


def test_what_there_is_was_promised(now: Doc) -> None:
    """`python -m tests.api.promise` promises an addition; a name that is gone also needs a decision record."""
    assert not list(differing(bare(promised()), bare(now)))


def _schema(doc: Doc, name: str) -> Doc:
    found: Doc = doc["components"]["schemas"][name]
    return found


def _query(doc: Doc) -> list[Doc]:
    found: list[Doc] = doc["paths"]["/v1/games"]["get"]["parameters"]
    return found


BREACHES: dict[str, tuple[Callable[[Doc], Any], str]] = {
    "a path": (lambda doc: doc["paths"].pop(MOVES), "POST /v1/games/{game}/moves: gone"),
    "a name": (lambda doc: doc["paths"][MOVES]["post"].update(operationId="x"), "another operationId"),
    "a token": (lambda doc: doc["paths"]["/v1/games"]["post"].update(security=[{"token": []}]), "needs a token"),
    "an answer": (lambda doc: doc["paths"][MOVES]["post"]["responses"].pop("201"), "moves 201: gone"),
    "a parameter": (lambda doc: _query(doc).pop(), "no parameter"),
    "a parameter that is needed": (lambda doc: _query(doc)[0].update(required=True), "needs parameter"),
    "a member of answers": (lambda doc: _schema(doc, "Egc1Board")["properties"].pop("at"), "Egc1Board/at: gone"),
    "a member that may be missing": (
        lambda doc: _schema(doc, "Egc1Board")["required"].remove("at"),
        "Egc1Board/at: may be",
    ),
    "a member of requests": (lambda doc: _schema(doc, "NewGame")["properties"].pop("undo"), "NewGame/undo: gone"),
    "a member that is needed": (lambda doc: _schema(doc, "NewGame")["required"].append("undo"), "NewGame/undo: needed"),
    "a type": (lambda doc: _schema(doc, "Egc1Board")["properties"]["at"].update(type="string"), "type 'integer'"),
    "a value": (lambda doc: _schema(doc, "ProblemCode")["enum"].remove("not_json"), "no value ['not_json']"),
    "a bound": (lambda doc: _schema(doc, "NewGame")["properties"]["seats"].update(maximum=9), "maximum 100 is 9"),
    "a pattern": (lambda doc: _schema(doc, "NewGame")["properties"]["ruleset"].update(pattern="a"), "pattern"),
    "a move": (
        lambda doc: _schema(doc, "Move")["discriminator"]["mapping"].pop("annex"),
        "no alternative annex",
    ),
    "a member of a move": (lambda doc: _schema(doc, "Egc1AnnexMove")["properties"].popitem(), "gone"),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_what_is_broken_is_seen(now: Doc, breach: str) -> None:
    changed, (change, told) = deepcopy(now), BREACHES[breach]
    change(changed)
    found = list(Comparison(now, changed).broken())
    assert any(told in place for place in found), found


def test_what_is_added_breaks_nothing(now: Doc) -> None:
    changed = deepcopy(now)
    changed["paths"]["/v1/more"] = changed["paths"]["/v1/games"]
    _schema(changed, "Egc1Board")["properties"]["more"] = {"type": "string"}
    _schema(changed, "Egc1Board")["required"].append("more")
    _schema(changed, "NewGame")["properties"]["more"] = {"type": "string"}
    _schema(changed, "ProblemCode")["enum"].append("more")
    _schema(changed, "NewGame")["properties"]["seats"].update(maximum=1000)
    _query(changed).append({"in": "query", "name": "more", "schema": {"type": "string"}})
    assert not list(Comparison(now, changed).broken())


def test_what_goes_away_says_so_with_every_answer(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    bp = Blueprint("old", __name__, url_prefix="/v1/old")

    @bp.operation("GET", "/<word>", "old")
    @deprecated(date(2030, 1, 2), date(2031, 1, 2), "/v1/new")
    def old(word: str) -> Response:
        """Go away."""
        if word == "none":
            raise Problem("not_found")
        return Response(word)

    monkeypatch.setattr(app, "BLUEPRINTS", (*app.BLUEPRINTS, bp))
    site.remake()
    for answer in (site.get("/old/some"), site.get("/old/none")):
        assert answer.headers["Deprecation"] == "@1893542400"
        assert answer.headers["Sunset"] == "Thu, 02 Jan 2031 00:00:00 GMT"
        assert answer.headers["Link"] == '</v1/new>; rel="successor-version"'
    refused(site.get("/old/none"), 404, "not_found")
    assert site.get("/openapi.json").json["paths"]["/v1/old/{word}"]["get"]["deprecated"] is True
    assert "Sunset" not in site.get("/games").headers


def test_names_do_not_follow_the_version_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 has another name for the status of refused arguments, which the library would take."""
    named = SimpleNamespace(name="UNPROCESSABLE_CONTENT", value=422)
    monkeypatch.setattr("flask_smorest.arguments.http", SimpleNamespace(HTTPStatus=lambda _: named))
    view = Blueprint("made", "made").arguments(LangArgs, location="query")(lambda _: None)
    assert vars(view)["_apidoc"]["arguments"]["responses"] == {422: "UNPROCESSABLE_ENTITY"}
