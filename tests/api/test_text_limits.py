"""A limit of a text is told and counted alike: in characters, by the API's document, by the service and by pages."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from marshmallow import ValidationError

from api.pages.common.form_texts import count_units
from api.schemas.request_fields import VisibleText
from tests.api.conftest import ROOT, Site, refused
from tests.api.game_pages import Page
from tests.api.members import PASSWORD, register
from tests.api.messages import _schemas
from tests.api.test_tournament_pages import person
from tests.api.test_tournaments import BODY

SIGNS = {
    "of two UTF-16 units": "\U0001f600",
    "of two characters in NFC": "\u0958",
    "of four bytes": "\U00020000",
    "of one byte": "x",
}
"""One character each."""

FIELD = re.compile(r'<input [^>]*?name="(\w+)"[^>]*?maxlength="(?:{{ count_units\((\d+)\) }}|(\d+))"')

ASCII = {
    "code",
    "event_code",
    "factor",
    "invitation",
    "nonce",
    "nonce_hash",
    "places",
    "rule",
    "table",
    "token",
    "wish",
    "zone",
}
"""Fields for signs of one unit each."""

LOGIN = 200
"""Characters of the field for a name or a key at the login."""

LOGINS = {("login.html", "name"), ("recovery.html", "name")}
"""Templates with such a field."""

SEARCH = {"title": 60}
"""Characters of a field that only looks for something."""


def list_texts(app: Flask) -> dict[str, tuple[VisibleText, int]]:
    """Each text of a request with the limit that the API's document tells."""
    found = {}
    for schema in _schemas(app):
        for name, member in schema.fields.items():
            if isinstance(member, VisibleText):
                found[f"{type(schema).__name__}.{name}"] = (member, member.metadata["maxLength"])
    return found


@pytest.mark.parametrize("kind", SIGNS)
def test_every_text_is_counted_as_the_document_tells(site: Site, kind: str) -> None:
    texts = list_texts(site.app)
    assert len({most for _, most in texts.values()}) > 3
    for name, (member, most) in texts.items():
        assert member.deserialize(SIGNS[kind] * most), name
        with pytest.raises(ValidationError, match=str(most)):
            member.deserialize(SIGNS[kind] * (most + 1))


def test_every_field_of_a_page_holds_what_the_service_takes(site: Site) -> None:
    limits: dict[str, set[int]] = {"password": {256}, "person": {40}}
    searches = {("moderation.html", "name"): 200, ("rules.html", "find"): 60}  # the first also takes ids
    for name, (_, most) in list_texts(site.app).items():
        limits.setdefault(name.rpartition(".")[2], set()).add(most)
    for path in sorted((ROOT / "api/pages/templates").glob("*.html")):
        for name, characters, units in FIELD.findall(path.read_text("utf-8")):
            if name in ASCII:
                assert units, (path.name, name)
            elif characters and (path.name, name) not in LOGINS:
                wanted = {SEARCH[name]} if path.name == "lobby.html" else limits.get(name, set())
                assert int(characters) in wanted | {searches.get((path.name, name))}, (path.name, name)
            else:
                assert int(characters) == LOGIN, (path.name, name)
    assert count_units(40) == len(("\U0001f600" * 40).encode("utf-16-le")) // 2


def test_no_text_of_a_form_is_cut(site: Site) -> None:
    """One over the limit is refused with its sentence, and the form still has it."""
    host = person(site, "Organiser")
    made = host.api.post("/tournaments", BODY).json
    path = f"/tournaments/{made['tournament']}"
    smile = "\U0001f600"
    form = Page(host.read(path).text)
    assert host.send(form.act("label"), ("title", smile * 80)).status_code == 303
    assert host.api.get(path).json["title"] == smile * 80
    answer = host.send(Page(host.read(path).text).act("label"), ("title", smile * 81))
    assert answer.status_code == 422
    assert "Between 1 and 80 characters are expected." in answer.text
    assert smile * 81 in answer.text
    game = host.api.post("/games", {"ruleset": "orders@1", "seats": 2}).json["game"]
    desk = f"/games/{game}/desk"
    for seat in (0, 1):
        site.post(f"/games/{game}/seats", {"seat": seat, "name": f"P{seat}"})
    asked = host.send(Page(host.read(desk).text).act("start"), ("reason", smile * 501))
    answer = host.send(Page(asked.text).act("start", sure="yes"))
    assert (answer.status_code, smile * 501 in answer.text) == (422, True)
    asked = host.send(Page(host.read(desk).text).act("start"), ("reason", "e\u0301" * 500))  # in NFC 500
    assert host.send(Page(asked.text).act("start", sure="yes")).status_code == 303


def test_name_of_most_characters_is_taken_by_page_as_by_the_api(site: Site) -> None:
    first, second = "\U00020000" * 40, "\U00020001" * 40
    register(site, first)
    refused(site.post("/accounts", {"name": first + "x", "password": PASSWORD}), 422, "invalid_body")
    client = site.app.test_client(use_cookies=True)
    form = Page(client.get("/register").text).form("/register")
    sent = form.data(("name", second), ("password", PASSWORD))
    assert client.post("/register", data=sent).status_code == 200
