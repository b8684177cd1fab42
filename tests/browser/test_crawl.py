"""Pages with something on them, in a browser with scripts: as everybody, in both languages, without an error."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import dataclass, field

import pytest

from tests.browser.conftest import Scenario
from tests.browser.test_pages import PASSWORD, SOE, tournament  # noqa: F401 - a fixture
from tests.deploy.harness import Doc, Service

pytestmark = [
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there"),
    pytest.mark.xdist_group("browser"),
]

PEOPLE = ("Hall Host", "Hall Anne", "Hall Bruno", "Hall Zoe")
"""An officer, two players and somebody without a part."""


@dataclass
class Hall:
    """Tables of which each waits for the officer in another way."""

    service: Service
    tokens: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in PEOPLE:
            made = self.service.http.post("/accounts", json={"name": name, "password": PASSWORD}).json()
            self.tokens[name] = made["token"]
        self.table(start=False, seats=1)
        self.table(start=False)
        self.ask("DELETE", f"{self.table()}/seats/0", who="Hall Anne")
        self.ask("POST", f"{self.table()}/proposals", {"act": "close"}, "Hall Anne")
        self.ask("POST", f"{self.table()}/pauses", {"reason": "The lights are out."})
        self.ask("POST", f"{self.table()}/close", {"reason": "annulled", "explanation": "The board fell."})
        self.table(pace={"seconds": {"move": 1}, "grace": 300})
        table = self.table()
        version = self.ask("PUT", f"{table}/seats/0/hold", {"seconds": 60})["version"]
        self.ask("POST", f"{table}/appeals", {"version": version, "reason": "I was not asked."}, "Hall Bruno")
        self.table()
        time.sleep(2)  # a deadline passes, and the views show it

    def ask(self, method: str, path: str, body: Doc | None = None, who: str = "Hall Host") -> Doc:
        headers = {"Authorization": f"Bearer {self.tokens[who]}", "Annals-Role": "director"}
        headers |= {} if who == "Hall Host" else {"Annals-Role": str(("Hall Anne", "Hall Bruno").index(who))}
        answer = self.service.http.request(method, path, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        found: Doc = answer.json()
        return found

    def table(self, *, start: bool = True, seats: int = 2, **terms: object) -> str:
        """The path of a table with this many players."""
        headers = {"Authorization": f"Bearer {self.tokens['Hall Host']}"}
        made = self.service.http.post("/games", json={"ruleset": SOE, "seats": 2, **terms}, headers=headers).json()
        path = f"/games/{made['game']}"
        for seat, name in enumerate(("Hall Anne", "Hall Bruno")[:seats]):
            headers = {"Authorization": f"Bearer {self.tokens[name]}"}
            assert self.service.http.post(f"{path}/seats", json={"seat": seat}, headers=headers).status_code == 201
        if start:
            self.ask("POST", f"{path}/start", {})
        self.paths.append(path)
        return path


@pytest.fixture(scope="module")
def hall(service: Service) -> Hall:
    return Hall(service)


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("name", ["", "Hall Host", "Hall Anne", "Hall Zoe"])
def test_every_page_opens_in_a_browser(
    scenario: Scenario,
    hall: Hall,
    tournament: str,  # noqa: F811 - the fixture
    name: str,
    lang: str,
) -> None:
    pages = ["/", "/games", "/tournaments", "/ratings", *hall.paths, tournament, f"{tournament}/rulings"]
    pages += ["/desk", "/account", *(f"{path}/desk" for path in hall.paths)] if name == "Hall Host" else []
    given = {
        "pages": pages,
        "depth": 1 if name == "Hall Host" else 0,
        "folder": os.environ.get("ANNALS_TEST_SHOTS", ""),
    }
    given["folder"] = given["folder"] if name == "Hall Host" else ""
    found = scenario("crawling", name=name, password=PASSWORD, lang=lang, **given)
    assert found["count"] >= len(pages)
    assert not found["sideways"]
