"""What a client reads before it shows a game."""

from __future__ import annotations

import pytest

from tests.api.conftest import CATALOGUE, ROOT, Site, refused


def test_all_rulesets_are_listed(site: Site) -> None:
    found = site.get("/rulesets")
    assert [r["name"] for r in found.json["items"]] == CATALOGUE.names()
    assert found.headers["Cache-Control"] == "public, max-age=86400"
    assert site.get("/rulesets", If_None_Match=found.headers["ETag"]).status_code == 304


@pytest.mark.parametrize("name", CATALOGUE.names())
def test_a_ruleset_tells_all_that_a_client_needs(site: Site, name: str) -> None:
    """Options, moves with their schemas, and every code with its rule."""
    rules = CATALOGUE.get(name)
    doc = site.get(f"/rulesets/{name}").json
    assert set(doc["options"]) == set(rules.meta.options)
    assert set(doc["moves"]) == {k for k, m in rules.moves.items() if m.admission.by != "engine"}
    for kind, move in doc["moves"].items():
        for schema in move["schema"].get("oneOf", [move["schema"]]):
            assert schema["properties"]["type"]["const"] == kind
            assert "type" in schema["required"]
            assert schema["additionalProperties"] is False
    codes = {c["code"]: c for c in doc["codes"]}
    assert {c: codes[c]["rule"] for c in rules.meta.codes} == dict(rules.meta.codes)
    assert codes["not_your_decision"]["text"]


def test_words_in_both_languages(site: Site) -> None:
    texts = [site.get(f"/rulesets/struggle_of_empires@1/texts?lang={lang}").json for lang in ("en", "fr")]
    assert texts[0]["word.seat"] == "seat"
    assert texts[1]["word.seat"] == "joueur"
    assert len(texts[0]) > 50
    titles = [site.get(f"/rulesets/struggle_of_empires@1?lang={lang}").json["title"] for lang in ("en", "fr")]
    assert all(titles)


def test_the_rules_page_and_the_data(site: Site) -> None:
    page = site.get("/rulesets/struggle_of_empires@1/rules")
    assert page.mimetype == "text/markdown"
    assert page.data == (ROOT / "docs/rules/struggle_of_empires.md").read_bytes()
    assert "map" in site.get("/rulesets/struggle_of_empires@1/data").json
    refused(site.get("/rulesets/orders@1/rules"), 404, "not_found")
    refused(site.get("/rulesets/orders@1/data"), 404, "not_found")
    refused(site.get("/rulesets/orders@1/geometry"), 404, "not_found")
    site.remake(docs=None)
    refused(site.get("/rulesets/struggle_of_empires@1/rules"), 404, "not_found")


def test_the_geometry_is_kept_until_it_changes(site: Site) -> None:
    found = site.get("/rulesets/struggle_of_empires@1/geometry")
    assert set(found.json["regions"]) == {
        each["id"] for each in site.get("/rulesets/struggle_of_empires@1/data").json["map"]["regions"]
    }
    again = site.get("/rulesets/struggle_of_empires@1/geometry", If_None_Match=found.headers["ETag"])
    assert again.status_code == 304


def test_the_presentation_has_the_members_of_all_games(site: Site) -> None:
    found = site.get("/rulesets/struggle_of_empires@1/presentation")
    assert found.json["members"]["gold"]["fr"] == "or"
    assert found.json["map"]["layers"]
    again = site.get("/rulesets/struggle_of_empires@1/presentation", If_None_Match=found.headers["ETag"])
    assert again.status_code == 304
    assert set(site.get("/rulesets/orders@1/presentation").json) == {"members"}


def test_unknown_rulesets(site: Site) -> None:
    for path in ("", "/rules", "/data", "/geometry", "/presentation", "/texts"):
        refused(site.get(f"/rulesets/nothing@1{path}"), 404, "unknown_ruleset")


@pytest.mark.parametrize(
    ("code", "status"),
    [("stale_version", 412), ("malformed_move", 422), ("seat_taken", 409), ("insufficient_funds", 409)],
)
def test_every_code_is_explained_where_its_type_points(site: Site, code: str, status: int) -> None:
    doc = site.get(f"/problems/{code}").json
    assert (doc["code"], doc["status"]) == (code, status)
    if code == "insufficient_funds":
        assert doc["rules"]["orders@1"] == "OR-2"


def test_unknown_codes(site: Site) -> None:
    refused(site.get("/problems/nothing"), 404, "not_found")
