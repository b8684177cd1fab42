"""Numbers of any length, wherever a request has a place for one, and things that another request deletes meanwhile.

Both end with a refusal: no request ends with an internal error.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from domain.accounts import passwords
from domain.ledger.imported_games import ImportedGames
from tests.api.conftest import ROOT, Site, make_site
from tests.api.members import register
from tests.api.player import play
from tests.api.test_crawl import Crawler, Form
from tests.api.test_officer_forms import full_ledger
from tests.api.world import CATALOGUE, World

NUMBERS = ("9" * 5000, "0001" + "9" * 5000, "-" + "9" * 5000, "9" * 17, "-1", "\u0663", "\u00b2", "1e999", "0x10", "")

READS = re.compile(
    r"""request\.(?:args|values|form)(?:\.get\(|\[)f?"([\w.]+)"|(?:read_number|query_number|_read_small|_read_version)\(f?"([\w.]+)"""
)
"""Names of fields in the source of the pages."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patched, closing(make_site(tmp_path_factory.mktemp("w"), CATALOGUE)) as site:
        patched.setattr(passwords, "TIMES", 1)
        patched.setattr(passwords, "MEMORY", 8)
        yield World(site)


def list_fields() -> list[str]:
    """The names of all fields that the pages read."""
    found = {
        name for path in (ROOT / "api/pages").rglob("*.py") for pair in READS.findall(path.read_text()) for name in pair
    }
    return sorted(found - {""})


def fill_path(rule: str, world: World) -> str:
    """The address of a rule with ids of the world."""
    table, event = world.tables["asking"].game, world.events["contested"].rpartition("/")[2]
    ids = {"game": table, "tournament": event, "ruleset": "orders@1", "family": "orders", "seat": "1", "version": "2"}
    player = world.people["Anne"].api.doc["player"]
    ids |= {"player": player, "stage": "1", "round": "1", "lang": "en"}
    return re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", lambda found: ids.get(found[1], "0" * 16), rule)


# --- numbers ---------------------------------------------------------------------------------------------------


def test_numbers_of_any_length_in_queries_of_pages_are_refused(world: World) -> None:
    names, faults, host = list_fields(), [], world.host.browser.client
    assert {"after", "round", "seat", "version", "wait"} <= set(names)
    rules = [
        rule
        for rule in world.site.app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and not rule.rule.startswith("/v1") and not rule.rule.endswith("/live")
    ]
    for place, rule in enumerate(rules):
        for number in (NUMBERS * 2)[place % len(NUMBERS) :][:3]:  # each of them at many pages
            address = f"{fill_path(rule.rule, world)}?{urlencode(dict.fromkeys(names, number))}"
            if host.get(address).status_code >= 500:
                faults.append((rule.rule, number[:9]))
    assert not faults


def test_numbers_of_any_length_in_queries_are_refused(world: World) -> None:
    faults, document = [], world.site.get("/openapi.json").json
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if not isinstance(operation, dict) or "operationId" not in operation or path.endswith("/stream"):
                continue
            given = [*operation.get("parameters", ()), *methods.get("parameters", ())]
            resolved = [
                document["components"]["parameters"][p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in given
            ]
            for place, parameter in enumerate(resolved):
                for number in (NUMBERS * 2)[place % len(NUMBERS) :][:3]:
                    answer = _send(world, path, method, parameter, number)
                    if answer.status_code >= 500:
                        faults.append((method, path, parameter["name"], number[:9], answer.status_code))
    assert not faults


def _send(world: World, path: str, method: str, parameter: dict[str, Any], number: str) -> Any:
    """The answer to a request of the organiser with a number in one of its places."""
    name, place = parameter["name"], parameter["in"]
    template = path.replace("{", "<").replace("}", ">")
    address = fill_path(template.replace(f"<{name}>", quote(number)) if place == "path" else template, world)
    headers = {"Authorization": f"Bearer {world.host.api.token}"}
    headers |= (
        {name: f'"{number}"' if name.startswith("If-") else number} if place == "header" and number.isascii() else {}
    )
    query = {name: number} if place == "query" else {}
    sent: dict[str, Any] = {} if method in ("get", "delete") else {"json": {}}
    with pytest.MonkeyPatch.context() as patched, full_ledger(patched):
        answer = world.site.client.open(
            address, method=method.upper(), query_string=query, headers=headers, buffered=True, **sent
        )
    return answer if answer.status_code != 503 else world.site.client.get("/v1/health/live")


class _Sender(Crawler):
    """Somebody who sends each form with a number of any length in each of its fields."""

    def _post(self, form: Form, button: tuple[str, str], source: str) -> None:
        given = {name: value for name, value in reversed(form.fields) if name} | (
            {button[0]: button[1]} if button[0] else {}
        )
        shape = (re.sub("[0-9a-f-]{36}", "", form.action), button, given.get("act"), given.get("ruling_act"))
        if shape in self._sent or form.action == "/logout":
            return
        self._sent.add(shape)
        for name in {*given, "seat", "version"} - {"form", "act", "key", "sure"}:
            for number in NUMBERS[:4]:
                answer = self.client.post(form.action, data=given | {name: number}, headers=self.headers)
                if answer.status_code >= 500 and answer.status_code != 503:
                    self.faults.append(f"{form.action} {given.get('act')}: {name}={number[:9]}: {answer.status_code}")


@pytest.mark.parametrize("name", ["Organiser", "Anne"])
def test_numbers_of_any_length_in_forms_are_refused(world: World, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sender = _Sender(world, name, "en")
    tables = ("open", "running", "paused", "ruled", "finished", "struggle_of_empires@1")
    events = ("registering", "drawn", "bidding", "contested", "ladder")
    paths = [f"/games/{world.tables[each].game}{page}" for each in tables for page in ("", "/desk")]
    paths += [f"{world.events[each]}{page}" for each in events for page in ("", "/rulings")]
    with full_ledger(monkeypatch):
        for path in (
            *paths,
            "/games/new",
            "/tournaments/new",
            "/account",
            "/desk",
            "/games/imports",
            "/play",
            "/device",
        ):
            answer = sender.client.get(path, headers=sender.headers)
            if answer.status_code == 200:
                sender._known = set()
                sender._read(answer, path)
    assert not sender.faults, "\n".join(sender.faults)


# --- things that another request deletes -----------------------------------------------------------------------


class _Vanishing:
    """An import that its owner deletes after so many reads of a request."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, game: str, delete: Callable[[], object]) -> None:
        self.left, self._game, self._delete = -1, game, delete
        for name in ("version", "read_records", "head"):
            if hasattr(ImportedGames, name):
                monkeypatch.setattr(ImportedGames, name, self._count(getattr(ImportedGames, name)))

    def _count(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._game in args:
                self.left -= 1
                if self.left == 0:
                    self._delete()
            return method(*args, **kwargs)

        return call


@pytest.fixture
def closed(site: Site) -> str:
    """The export of a closed game."""
    table = site.table("windows@1", 3)
    play(table, random.Random(2), 9)
    assert table.post("/close", {"reason": "void"}, table.director).status_code == 201
    return str(table.get("/export").text)


READS_OF_A_REQUEST = 7
"""Most reads of an import before which it is deleted."""


def test_an_import_that_is_deleted_meanwhile_is_not_found(
    site: Site, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anne = register(site, "Anne")
    game = anne.post("/imports", {"export": closed}).json["game"]
    vanishing = _Vanishing(monkeypatch, game, lambda: site.services.ledger.imports.delete(game, anne.id))
    rules = [rule for rule in site.app.url_map.iter_rules() if "<game:game>" in rule.rule]
    paths = sorted(
        {rule.rule for rule in rules if "GET" in (rule.methods or ()) and not rule.rule.endswith(("/stream", "/live"))}
    )
    asked = [("GET", path) for path in paths] + [("POST", "/v1/games/<game:game>/forks")]
    faults = []
    for method, rule in asked:
        path = rule.replace("<game:game>", game).replace("<version:version>", "3").replace("<seat:seat>", "0")
        for reads in range(1, READS_OF_A_REQUEST):
            vanishing.left = -1
            anne.post("/imports", {"export": closed})
            site.services.history._pasts.clear()
            vanishing.left = reads
            sent = {"json": {"version": 4}} if method == "POST" else {}
            headers = {"Authorization": f"Bearer {anne.token}"}
            answer = site.client.open(path, method=method, headers=headers, **sent)
            if answer.status_code >= 500:
                faults.append((method, rule, reads, answer.status_code, answer.text[-300:]))
            if vanishing.left > 0:  # it was not deleted: the request reads less often
                break
    assert not faults
