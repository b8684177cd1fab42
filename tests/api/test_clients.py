"""Clients in Python that are generated from the document: made without a complaint, and able to read real games."""

from __future__ import annotations

import compileall
import importlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator, ValidationError, validators
from pydantic_core import SchemaValidator, core_schema

from api.schemas.schema_builder import component_name
from tests.api.conftest import Doc, make_site
from tests.api.played import CATALOGUE, Played, once, published
from tests.api.player import play

pytestmark = pytest.mark.xdist_group("generated clients")  # the games are played once, and nobody waits


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Doc]]:
    """Component -> documents of real games."""

    def make(folder: Path) -> None:
        (folder / "documents.json").write_text(json.dumps(Played(folder).found), "utf-8")

    found: dict[str, list[Doc]] = json.loads((once(tmp_path_factory, "played", make) / "documents.json").read_text())
    return found


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory)


@pytest.fixture(scope="module")
def spec(document: Path) -> Doc:
    found: Doc = json.loads(document.read_bytes())
    return found


def generated(*command: str) -> str:
    """What a generator says."""
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def imported(folder: Path, name: str) -> ModuleType:
    """A module that lies in a folder."""
    sys.path.insert(0, str(folder))
    return importlib.import_module(name)


def by_discriminator(validator: Any, members: object, doc: Any, schema: Doc) -> Iterator[ValidationError]:
    """`oneOf` as a reader of discriminators takes it: a hundred times faster than trying all."""
    union = schema["discriminator"]
    place = union["mapping"].get(doc.get(union["propertyName"])) if isinstance(doc, dict) else None
    if {"$ref": place} in schema["oneOf"]:
        yield from validator.descend(doc, {"$ref": place})
    else:
        yield ValidationError(f"no such {union['propertyName']}")


extend: Any = validators.extend  # without types
Validator = extend(Draft202012Validator, {"oneOf": by_discriminator})


def test_every_document_is_what_its_schema_says(documents: dict[str, list[Doc]], spec: Doc) -> None:
    for name, docs in documents.items():
        schema = {"$ref": f"#/components/schemas/{name}", "components": spec["components"]}
        for doc in docs:
            Validator(schema).validate(doc)


# --- datamodel-code-generator ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(document: Path, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The models of pydantic."""

    def make(folder: Path) -> None:
        options = {
            "--input": str(document),
            "--input-file-type": "openapi",
            "--output": str(folder / "annals_models.py"),
            "--output-model-type": "pydantic_v2.BaseModel",
            "--target-python-version": "3.11",
            "--enum-field-as-literal": "all",
            "--formatters": "builtin",
        }
        assert generated("datamodel_code_generator", *(part for option in options.items() for part in option)) == ""

    return imported(once(tmp_path_factory, "models", make), "annals_models")


def test_models_read_every_document_and_lose_nothing(documents: dict[str, list[Doc]], models: ModuleType) -> None:
    for name, docs in documents.items():
        model = getattr(models, name)
        for doc in docs:
            read = model.model_validate(doc)
            assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == doc, name


def test_models_tell_unions_apart(documents: dict[str, list[Doc]], models: ModuleType) -> None:
    for board in documents["Board"]:
        assert type(models.Board.model_validate(board).root) is getattr(
            models, component_name(board["ruleset"], "board")
        )
    facts = [fact for page in documents["Timeline"] for entry in page["items"] for fact in entry["facts"]]
    asked = next(fact for fact in facts if fact["t"] == "asked")
    assert type(models.Fact.model_validate(asked).root) is models.AskedFact
    assert (
        type(models.StruggleOfEmpires1Move.model_validate({"type": "pass"}).root) is models.StruggleOfEmpires1PassMove
    )
    event = next(e for e in documents["StreamEvent"] if e["event"] == "end")
    assert type(models.StreamEvent.model_validate(event).root) is models.EndEvent


# --- openapi-python-client -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client(document: Path, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The package that was generated."""

    def make(folder: Path) -> None:
        package, config = folder / "annals_generated", folder / "config.yaml"
        # Lines of JSON are no JSON, and a feed is none; nobody reads the files, so none need be beautiful.
        as_text = "application/x-ndjson: text/plain, application/atom+xml: text/plain"
        as_bytes = "text/plain: application/octet-stream"  # the generator knows no text as a body
        config.write_text(f"content_type_overrides: {{{as_text}, {as_bytes}}}\npost_hooks: []\n", "utf-8")
        options = ["--path", str(document), "--output-path", str(package), "--config", str(config)]
        said = generated("openapi_python_client", "generate", *options, "--meta", "none", "--fail-on-warning")
        assert said.strip() == f"Generating {package}"
        assert compileall.compile_dir(package, quiet=1)

    return imported(once(tmp_path_factory, "client", make), "annals_generated")


def test_a_client_opens_reads_and_is_refused(tmp_path: Path, client: ModuleType) -> None:
    """Over its own calls, on the application itself."""
    site = make_site(tmp_path, CATALOGUE)
    table = site.table("struggle_of_empires@1", 3)
    play(table, random.Random(7), 20)

    def call(where: str, token: str = "", **args: Any) -> Any:
        base = "http://annals"
        caller = client.AuthenticatedClient(base, token) if token else client.Client(base)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(transport=httpx.WSGITransport(app=site.app), base_url=base, headers=headers) as http:
            operation = importlib.import_module(f"annals_generated.api.{where}")
            return operation.sync(client=caller.set_httpx_client(http), **args)

    models = importlib.import_module("annals_generated.models")
    board = call("boards.board", table.tokens[0], game=table.game)
    assert isinstance(board, models.StruggleOfEmpires1Board)
    assert board.to_dict() == table.get("/board", 0).json
    timeline = call("history.timeline", game=table.game, limit=200)
    assert timeline.to_dict() == table.get("/timeline?limit=200").json
    kinds = {type(fact) for entry in timeline.items for fact in entry.facts}
    assert {models.AskedFact, models.PowerChosenFact, models.StruggleOfEmpires1UnitPlacedFact} <= kinds
    lost = call("boards.board", game="00000000-0000-0000-0000-000000000000")
    assert isinstance(lost, models.Problem)
    assert lost.code is models.ProblemCode.UNKNOWN_GAME
    opened = call("games.open_game", body=models.NewGame(ruleset="struggle_of_empires@1", seats=2))
    assert isinstance(opened, models.NewGameDoc)
    site.close()


# --- parts of a document, as docs/clients/behaviour.md lists them ------------------------------------------------

SMALL = Path(__file__).with_name("pets.json")
"""A valid document with a discriminator, a default and a pattern, none of which ours needs."""


def test_openapi_python_client_passes_over_discriminator(tmp_path: Path) -> None:
    options = ["--path", str(SMALL), "--output-path", str(tmp_path / "annals_pets"), "--meta", "none"]
    (tmp_path / "config.yaml").write_text("post_hooks: []\n", "utf-8")
    generated("openapi_python_client", "generate", *options, "--config", str(tmp_path / "config.yaml"))
    models = imported(tmp_path, "annals_pets.models")
    operation = importlib.import_module("annals_pets.api.pets.pet")
    client = importlib.import_module("annals_pets").Client("http://pets")
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"type": "dog", "name": "rex"}))
    with httpx.Client(transport=answer, base_url="http://pets") as http:
        found = operation.sync(client=client.set_httpx_client(http))
    assert type(found) is models.Cat, "the first that reads"
    assert models.Dog.from_dict({"type": "dog", "name": "rex"}).to_dict() == {"type": "dog", "name": "rex"}
    assert models.Dog("dog").to_dict() == {"type": "dog", "legs": 4}, "it sends a default"


def test_datamodel_code_generator_reads_all_three(tmp_path: Path) -> None:
    options = ["--output", str(tmp_path / "annals_pets_models.py"), "--output-model-type", "pydantic_v2.BaseModel"]
    target = ["--input-file-type", "openapi", "--target-python-version", "3.11", "--formatters", "builtin"]
    generated("datamodel_code_generator", "--input", str(SMALL), *options, *target)
    models = imported(tmp_path, "annals_pets_models")
    dog = models.Pet.model_validate({"type": "dog"}).root
    assert (type(dog), dog.legs) == (models.Dog, 4)
    with pytest.raises(ValueError, match="pattern"):
        models.Dog(type="dog", name="rex")


# --- patterns --------------------------------------------------------------------------------------------------


def patterns(part: object) -> set[str]:
    """Those in a document."""
    if isinstance(part, list):
        return {found for each in part for found in patterns(each)}
    if not isinstance(part, dict):
        return set()
    own = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    return own | {found for each in part.values() for found in patterns(each)}


def test_rust_reads_every_pattern(spec: Doc) -> None:
    found = patterns(spec)
    assert len(found) > 10
    for pattern in found:
        SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
