"""Documents are declared once: views and builders have the declared types, and the OpenAPI document follows."""

from __future__ import annotations

import ast
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest
from marshmallow import Schema, ValidationError

from api import schemas
from api.http.json_responses import JsonResponse
from api.response_builders import json_response
from api.schemas.document_schemas import SentDocument, component_of, schema_of
from api.schemas.problem_responses import StatusDoc
from api.schemas.request_fields import RequestSchema
from domain.kernel.schema.document_members import JsonSchema, component
from domain.types import Doc, Json
from projections.game_documents import PauseDoc
from tests.api.conftest import ROOT, Site


class InnerDoc(TypedDict):
    seat: int


class OuterDoc(TypedDict):
    """A document for tests."""

    game: Annotated[str, "Its id."]
    place: int | None
    kind: Literal["one", "some"]
    word: NotRequired[Annotated[str | None, ("here", "there"), "Where it is."]]
    inner: list[InnerDoc]
    draws: NotRequired[list[tuple[str, Json]]]
    viewer: int | str
    figures: dict[str, int]
    options: Doc
    move: NotRequired[Annotated[Json, component("Move")]]
    free: Annotated[Json, JsonSchema({"type": "object"})]


OUTER = {
    "game": "g",
    "place": None,
    "kind": "one",
    "inner": [{"seat": 0}],
    "viewer": "public",
    "figures": {"a": 1},
    "options": {},
    "free": {},
}


def test_a_schema_has_the_members_of_the_declaration() -> None:
    schema = schema_of(OuterDoc)()
    assert schema.load({**OUTER, "later": 1}) == OUTER
    for name in ("game", "place", "inner"):
        with pytest.raises(ValidationError, match=name):
            schema.load({key: value for key, value in OUTER.items() if key != name})
    wrongs: list[Doc] = [
        {"kind": "none"},
        {"word": "nowhere"},
        {"game": None},
        {"inner": [{}]},
        {"figures": {"a": "b"}},
    ]
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            schema.load({**OUTER, **wrong})
    assert schema.load({**OUTER, "word": None})["word"] is None
    assert type(schema).__doc__ == "A document for tests."
    assert schema_of(OuterDoc) is schema_of(OuterDoc)


def test_a_component_is_named_after_its_declaration() -> None:
    assert component_of(OuterDoc) == "Outer"


def test_a_view_names_its_documents_in_its_return_type() -> None:
    def view() -> JsonResponse[OuterDoc] | JsonResponse[InnerDoc]:
        raise NotImplementedError

    view.__annotations__["return"] = JsonResponse[OuterDoc] | JsonResponse[InnerDoc]
    assert SentDocument(view).to_marshmallow() is schema_of(OuterDoc)
    assert SentDocument(view, -1).to_marshmallow() is schema_of(InnerDoc)


def test_no_response_is_described_by_hand() -> None:
    """Requests have schemas of their own, and problems one that lets any member pass."""
    modules = [import_module(f"api.schemas.{found.name}") for found in iter_modules(schemas.__path__)]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    found = {kind.__name__ for kind in classes if issubclass(kind, Schema) and not issubclass(kind, RequestSchema)}
    by_hand = {name for name in found if not name.endswith("Headers")}
    assert by_hand == {"Schema", "DocumentSchema", "FaultSchema", "FailedCheckSchema", "ProblemSchema"}


def test_no_view_sends_json_that_nothing_declares() -> None:
    """The documents below `/.well-known` and the answers to a client that registers itself have the forms of others."""
    found = {
        node.name
        for path in (ROOT / "api/routes").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or ast.Constant("")) == "Response"
        if any("json_response(" in ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Call))
    }
    assert found == {"log_keys", "oauth_metadata", "agents_metadata", "_register_client", "_refuse_client"}


def test_every_document_of_json_comes_from_a_declaration(site: Site) -> None:
    """Components that no view declares belong to requests, rulesets, records, streams, webhooks or problems."""
    spec = site.get("/openapi.json").json
    sent = set()
    for view in site.app.view_functions.values():
        if "JsonResponse[" in str(getattr(view, "__annotations__", {}).get("return")):
            sent.add(SentDocument(view).to_marshmallow().__name__.removesuffix("Schema"))
    answers = {
        answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for item in spec["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "$ref" in answer.get("content", {}).get("application/json", {}).get("schema", {})
    }
    assert len(sent) > 100
    assert answers - sent == {"DryRun", "RewindPreview", "RulingPreview"}  # the second documents of their views


class TestMistakes:
    """mypy names each of them: an ignore that none needs is an error of its own."""

    def test_a_view_with_a_misspelt_member(self, site: Site) -> None:
        def misspelt() -> JsonResponse[StatusDoc]:
            return json_response({"state": "ok"})  # type: ignore[typeddict-item, typeddict-unknown-key]

        def another() -> JsonResponse[StatusDoc]:
            return json_response({"status": "well"})  # type: ignore[typeddict-item]

        def untyped(found: Doc) -> JsonResponse[StatusDoc]:
            return json_response(found)  # type: ignore[arg-type]

        def other() -> JsonResponse[StatusDoc]:
            response: JsonResponse[InnerDoc] = json_response({"seat": 0})
            return response  # type: ignore[return-value]

        with site.app.test_request_context():
            assert [view().json for view in (misspelt, another, other)] == [
                {"state": "ok"},
                {"status": "well"},
                {"seat": 0},
            ]
            assert untyped({"a": 1}).json == {"a": 1}

    def test_a_builder_with_a_misspelt_member(self) -> None:
        pause: PauseDoc = {"since": 0, "until": None, "move": True}  # type: ignore[typeddict-item, typeddict-unknown-key]
        with pytest.raises(KeyError):
            _ = pause["moves"]

    def test_a_reader_of_a_misspelt_member(self) -> None:
        pause: PauseDoc = {"since": 0, "until": None, "moves": True}
        with pytest.raises(KeyError):
            _ = pause["move"]  # type: ignore[typeddict-item]
