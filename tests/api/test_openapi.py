"""The document that describes the API, the pages that show it, and docs/http.md tell all there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from api.http.problems import CODES
from api.openapi.components import _ComponentBuilder
from api.schemas.schema_builder import component_name, object_of, simplify, superset
from domain.kernel.game.command import TABLE_CODES
from domain.kernel.rules.ruleset import COMMON_CODES
from domain.tournaments.aggregate.basic_commands import TOURNAMENT_CODES
from tests.api.conftest import CATALOGUE, ROOT, Site, refused

GAME_CODES = {code for name in CATALOGUE.names() for code in CATALOGUE.get(name).meta.codes}
OPEN = {"/v1/games", "/v1/games/batches", "/v1/games/{game}/seats", "/v1/accounts", "/v1/sessions", "/v1/recovery"}
OPEN |= {"/v1/passkey-challenges", "/v1/passkey-sessions", "/v1/recovery/mails"}
OF_OTHERS = {"/v1/witness/add-checkpoint"}
"""With the form of C2SP, for programs that know no tokens."""
OPEN |= OF_OTHERS
PLAIN = {"/", "/v1/openapi.json", "/v1/docs", "/v1/docs/start.js", "/v1/docs/assets/{name}"}
PAGES = {
    "/login",
    "/login/factor",
    "/login/passkey",
    "/logout",
    "/recovery",
    "/register",
    "/proof",
    "/device",
    "/oauth/authorize",
    "/mail/end",
}
PAGES |= {
    "/account",
    "/account/end",
    "/account/totp",
    "/account/passkeys",
    "/pages/style.css",
    "/pages/passkey.js",
    "/pages/push.js",
    "/pages/live.js",
    "/pages/map.js",
    "/pages/names.js",
    "/pages/talk.css",
    "/pages/talk.js",
    "/pages/map.css",
    "/pages/widgets.css",
    "/pages/rules.js",
    "/pages/replay.js",
    "/pages/pieces.svg",
    "/pages/icon.svg",
    "/pages/icon_maskable.svg",
    "/pages/icon_180.png",
    "/pages/icon_192.png",
    "/pages/icon_512.png",
    "/pages/icon_maskable_512.png",
    "/pages/app.js",
    "/pages/handover.js",
    "/pages/{lang}.webmanifest",
    "/worker.js",
    "/pages/maps/{ruleset}/{lang}/{digest}.svg",
}
PAGES |= {
    "/account/settings",
    "/account/claims",
    "/play",
    "/games",
    "/games/new",
    "/games/absence",
    "/games/imports",
    "/desk",
    "/tournaments",
    "/tournaments/new",
}
PAGES |= {"/games/mine/live", "/install", "/offline", "/hand-over", "/account/hand-over"}
PAGES |= {
    f"/games/{{game}}{page}"
    for page in (
        "",
        "/chronicle",
        "/replay",
        "/board.svg",
        "/board.png",
        "/charts",
        "/rules",
        "/rules/index",
        "/invitation",
        "/play",
        "/commands",
        "/desk",
        "/live",
        "/talk",
        "/talk/mailbox",
        "/talk/disclosures/{disclosure}",
        "/regions/{region}",
    )
}
EVENT_PAGES = ("", "/acts", "/places", "/rulings", "/meetings", "/entrants/{entrant}", "/desk", "/import")
PAGES |= {f"/tournaments/{{tournament}}{page}" for page in EVENT_PAGES}
PAGES |= {"/tournaments/code", "/ratings", "/ratings/{family}", "/ratings/{family}/players/{player}"}
ACT_PAGES = (
    "/account/notices",
    "/account/people",
    "/account/programs",
    "/account/security",
    "/desk/all",
    "/games/invitations",
    "/games/rematch",
    "/games/{game}/around",
    "/moderation",
    "/players/{player}",
    "/tournaments/{tournament}/around",
)
PAGES |= {f"{page}{act}" for page in ACT_PAGES for act in ("", "/{act}")}
PAGES |= {
    "/account/data",
    "/account/data/file",
    "/account/erased",
    "/learn/{ruleset}",
    "/learn/{ruleset}/exercises/{number}",
    "/learn/{ruleset}/game",
    "/learn/{ruleset}/game/play",
    "/learn/{ruleset}/rules",
    "/learn/{ruleset}/rules/index",
    "/pages/shelf/{ruleset}.svg",
}
OAUTH = {
    *("/oauth/token", "/oauth/revoke", "/oauth/device", "/oauth/register", "/.well-known/oauth-authorization-server"),
    *("/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"),
}
LOG = {"/.well-known/annals-log-keys", "/.well-known/annals-log-policy"}
"""Not below /v1, so that they are found where such things are looked for."""


STATIC = re.compile(r"/pages/(?:\w+\.(?:css|js|svg|png)|\{lang\}\.webmanifest)|/worker\.js")


@pytest.fixture
def spec(site: Site) -> dict[str, Any]:
    found: dict[str, Any] = site.get("/openapi.json").json
    return found


def operations(spec: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    methods = ("get", "post", "put", "delete")
    return {(path, m): doc for path, item in spec["paths"].items() for m, doc in item.items() if m in methods}


def test_it_is_valid_openapi_31(spec: dict[str, Any]) -> None:
    validate(spec)
    assert spec["openapi"] == "3.1.0"


def test_every_route_is_documented(site: Site, spec: dict[str, Any]) -> None:
    served = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {(p, m) for p, m in served if p not in PLAIN | PAGES | OAUTH | LOG} == set(operations(spec))


def test_address_is_built_although_nothing_was_compiled(site: Site) -> None:
    urls, game = site.app.url_map.bind("annals.example"), "0" * 8 + "-0000-0000-0000-" + "0" * 12
    found = {rule.rule: rule.endpoint for rule in site.app.url_map.iter_rules()}
    assert urls.build(found["/v1/games/<game:game>/board"], {"game": game}) == f"/v1/games/{game}/board"
    assert urls.build(found["/v1/games"], {"free": "1"}) == "/v1/games?free=1"


def test_every_operation_says_what_it_needs(spec: dict[str, Any]) -> None:
    found = operations(spec)
    assert len({doc["operationId"] for doc in found.values()}) == len(found)
    for (path, method), doc in found.items():
        assert doc["summary"], path
        assert "security" in doc, path
        assert "default" in doc["responses"], path
        if method in ("post", "put", "delete") and path not in OPEN:
            assert doc["security"] == [{"token": []}], path
        if "requestBody" in doc:
            media = "text/plain" if path in OF_OTHERS else "application/json"
            assert list(doc["requestBody"]["content"]) == [media]


def test_request_may_name_its_role_beside_all_else_that_it_says(spec: dict[str, Any]) -> None:
    found = {key: [p["name"] for p in doc.get("parameters", ())] for key, doc in operations(spec).items()}
    assert "Annals-Role" in found["/v1/games/{game}/moves", "post"]
    assert {"after", "limit", "lang", "Annals-Role"} <= set(found["/v1/games/{game}/timeline", "get"])
    assert "Annals-Role" not in found["/v1/games", "get"]
    assert "x-annals-role" not in str(spec)


def test_moves_are_one_union_per_ruleset(spec: dict[str, Any]) -> None:
    schemas = spec["components"]["schemas"]
    known = set()
    for name in CATALOGUE.names():
        mapping = schemas[component_name(name, "move")]["discriminator"]["mapping"]
        assert set(mapping) == {k for k, m in CATALOGUE.get(name).moves.items() if m.admission.by != "engine"}
        known |= set(mapping)
    assert set(schemas["Move"]["discriminator"]["mapping"]) == known


def objects(part: Any) -> Iterator[dict[str, Any]]:
    """Every object within a document."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from objects(inner)


def test_every_union_of_objects_has_a_discriminator(spec: dict[str, Any]) -> None:
    schemas = spec["components"]["schemas"]
    for part in objects(spec):
        if isinstance(part.get("oneOf"), list):
            member, mapping = (part["discriminator"][k] for k in ("propertyName", "mapping"))
            assert {ref["$ref"] for ref in part["oneOf"]} == set(mapping.values())
            for value, place in mapping.items():
                schema = schemas[place.rsplit("/", 1)[1]]
                assert schema["properties"][member]["const"] == value
                assert member in schema["required"]
        many = [one for one in part.get("anyOf", ()) if "$ref" in one or one.get("type") == "object"]
        assert len(many) < 2, part
        assert "allOf" not in part


def test_what_has_few_values_lists_them(spec: dict[str, Any]) -> None:
    schemas = spec["components"]["schemas"]
    assert set(schemas["ProblemCode"]["enum"]) == {
        *CODES,
        *COMMON_CODES,
        *TABLE_CODES,
        *TOURNAMENT_CODES,
        *GAME_CODES,
    } - {"refused"}
    assert set(schemas["Record"]["discriminator"]["mapping"]) == set(schemas["Entry"]["properties"]["kind"]["enum"])
    for name in ("Summary", "Motion", "Job", "Orders1Board"):
        assert schemas[name]["properties"]["status"]["enum"], name


def test_nothing_that_may_be_left_out_has_a_default(spec: dict[str, Any]) -> None:
    """Some generators take it for a member that is always there."""
    members = [m for s in spec["components"]["schemas"].values() for m in s.get("properties", {}).values()]
    assert len(members) > 500
    assert not [m for m in members if "default" in m]


def test_no_pattern_looks_ahead_or_beyond_the_basic_plane(spec: dict[str, Any]) -> None:
    found = [part["pattern"] for part in objects(spec) if isinstance(part.get("pattern"), str)]
    assert len(found) > 10
    for pattern in found:
        assert not re.search(r"\(\?[=!<]|\\[pP1-9zZA]", pattern), pattern
        assert max(map(ord, pattern)) < 0x10000, pattern
        assert r"\ud800" not in pattern


def test_every_example_is_valid(spec: dict[str, Any]) -> None:
    found = 0
    for part in objects(spec):
        for example in part["examples"] if isinstance(part.get("examples"), list) else ():
            Draft202012Validator({**part, "components": spec["components"]}).validate(example)
            found += 1
    assert found > 10


def test_it_is_sent_only_when_it_has_changed(site: Site) -> None:
    first = site.get("/openapi.json")
    again = site.get("/openapi.json", If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    refused(site.get("/openapi.json", If_Match='"other"'), 412, "precondition_failed")


def test_a_member_that_depends_on_another_says_so(spec: dict[str, Any]) -> None:
    tile = spec["components"]["schemas"]["StruggleOfEmpires1UseTileMove"]["properties"]
    assert tile["to"]["description"] == "Required with `tile` `mercenaries`, `pressgangs`."
    assert "pirates" in tile["tile"]["enum"]


def test_a_move_is_shown_without_what_only_its_mover_may_see(spec: dict[str, Any]) -> None:
    schemas = spec["components"]["schemas"]
    moves, shown = (schemas[f"Sealed1{name}"]["discriminator"]["mapping"] for name in ("Move", "ShownMove"))
    assert moves["commit"] != shown["commit"]
    whole, part = (schemas[m["commit"].rsplit("/", 1)[1]]["properties"] for m in (moves, shown))
    assert set(whole) - set(part) == {"card"}
    assert "end_turn" not in shown or shown["end_turn"] == moves["end_turn"]


def test_two_classes_of_one_name_are_not_mixed_up() -> None:
    book = _ComponentBuilder({})
    book.add_component("A", {"type": "string"})
    book.add_component("A", {"type": "string"})
    with pytest.raises(ValueError, match="two components"):
        book.add_component("A", {"type": "integer"})


class TestShapes:
    def test_members_are_required_only_where_all_require_them(self) -> None:
        one = object_of("", {"a": {"type": "string"}, "b": {"type": "string", "description": "x"}})
        two = object_of("", {"b": {"type": "string"}, "a": {"type": "integer"}}, c={"type": "null"})
        three = object_of("", {"b": {"type": "string"}}, a={"type": "string"})
        found = superset([one, two, three], "s")
        assert found["properties"] == {"a": {}, "b": {"type": "string"}, "c": {"type": "null"}}
        assert found["required"] == ["b"]

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"enum": ["a"], "title": "T"}, {"type": "string", "const": "a"}),
            ({"enum": [True]}, {"type": "boolean", "description": "Always `true`."}),
            ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]}),
            ({"anyOf": [{"$ref": "#/x"}, {"type": "null"}]}, {"anyOf": [{"$ref": "#/x"}, {"type": "null"}]}),
            ({"type": "array", "default": []}, {"type": "array", "items": {}}),
            ({"type": "object"}, {"type": "object", "additionalProperties": {}}),
            (
                {"type": "object", "properties": {"title": {"enum": ["a", "b"]}}, "additionalProperties": False},
                {"type": "object", "properties": {"title": {"enum": ["a", "b"], "type": "string"}}, "required": []},
            ),
        ],
    )
    def test_a_schema_is_told_in_its_plain_form(self, given: dict[str, Any], told: dict[str, Any]) -> None:
        assert simplify(given) == told


def test_the_pages_ask_no_other_host(site: Site) -> None:
    html = site.get("/docs").text
    assert re.findall(r'(?:src|href)="([^"]+)"', html)
    for address in [*re.findall(r'(?:src|href)="([^"]+)"', html), "/v1/openapi.json"]:
        assert address.startswith("/v1/")
        with site.client.get(address) as answer:
            assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["../__init__.py", "..%2f__init__.py", "%2e%2e/__init__.py", "nothing/../../__init__.py"]
)
def test_no_file_beside_those_of_the_pages_is_served(site: Site, path: str) -> None:
    """There is one of that name, a folder above."""
    assert resources.files("flask_swagger_ui").joinpath("__init__.py").is_file()
    refused(site.get(f"/docs/assets/{path}"), 404, "not_found")


def test_the_pages_on_http_tell_every_route_code_and_header(spec: dict[str, Any]) -> None:
    pages = ("http.md", "api/accounts.md", "api/company.md", "api/notices.md", "api/oauth.md", "api/tournaments.md")
    text = "\n".join((ROOT / "docs" / page).read_text("utf-8") for page in pages)
    for path, method in operations(spec):
        assert f"`{method.upper()} {path}`" in text, (method, path)
    for path in {path for path in {*PAGES, *OAUTH} if not STATIC.fullmatch(path)}:
        assert f" {path}`" in text, path
    for code in {*CODES, *COMMON_CODES, *TABLE_CODES, *TOURNAMENT_CODES} - {"refused"}:
        assert f"`{code}`" in text, code
    for code in CODES:
        assert code == "refused" or f"| {CODES[code][0]} | `{code}` |" in text, code
