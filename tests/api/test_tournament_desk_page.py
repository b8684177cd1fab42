"""The desk as a page: each thing that waits has its sentence, and a link to where an officer sees to it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from api.documents import desk as document
from api.pages.desk.desk_needs import _NEEDS, _PROPOSALS, NEED_TITLES
from api.schemas.query_args import NEEDS
from domain.kernel.game.proposals import ACTS
from tests.api.conftest import Site, Table
from tests.api.game_pages import Page, Person
from tests.api.members import timed
from tests.api.test_staff import PACE
from tests.api.test_tournament_pages import person

LANGUAGES = ("en", "fr")
ROW = re.compile(r'<li><span>(.*?)</span> <a class="button quiet" href="(.*?)">(.*?)</a></li>')


@pytest.fixture
def olga(site: Site) -> Person:
    timed(site)
    return person(site, "Olga")


def table_of(olga: Person, *, start: bool = True, seats: int = 2, **terms: Any) -> Table:
    made = olga.api.post("/games", {"ruleset": "orders@1", "seats": 2, "pace": PACE, **terms}).json
    table = Table(olga.site, made["game"], olga.api.token, [])
    table.tokens += [
        table.post("/seats", {"seat": seat, "name": f"Guest {seat}"}).json["token"] for seat in range(seats)
    ]
    if start:
        assert table.post("/start", {}, olga.api.token).status_code == 201
    return table


def read_needs(olga: Person, table: Table, lang: str = "en", query: str = "") -> list[tuple[str, str]]:
    """Sentences and addresses of what waits at a table; each address has what it names."""
    text = olga.read(f"/desk?lang={lang}{query}").text
    block = text.partition(f'<h2><a href="/games/{table.game}/desk">')[2].partition("<h2>")[0]
    for _, address, _ in ROW.findall(block):
        parts = urlsplit(address.replace("&amp;", "&"))
        shown = olga.read(parts._replace(fragment="").geturl()).text
        assert not parts.fragment or f'id="{parts.fragment}"' in shown, address
    return [(sentence, address) for sentence, address, _ in ROW.findall(block)]


def test_every_need_and_every_proposal_has_its_words() -> None:
    assert tuple(NEED_TITLES) == tuple(_NEEDS) == NEEDS
    assert _PROPOSALS.keys() == ACTS.keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_waits_is_told_in_a_sentence_with_a_link(olga: Person, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    site = olga.site
    unstarted, full = table_of(olga, start=False, seats=1), table_of(olga, start=False)
    left, asking, paused, ruled, appealed, late = (table_of(olga) for _ in range(6))
    site.delete(f"{left.path}/seats/0", left.tokens[0])
    proposal = asking.post("/proposals", {"act": "close"}, asking.tokens[0]).json["id"]
    assert paused.post("/pauses", {}, olga.api.token).status_code == 201
    assert ruled.post("/close", {"reason": "annulled"}, olga.api.token).status_code == 201
    held = site.put(f"{appealed.path}/seats/1/hold", {"seconds": 60}, olga.api.token).json["version"]
    made = appealed.post("/appeals", {"version": held, "reason": "I was not asked"}, appealed.tokens[0])
    assert made.status_code == 201
    site.work()
    wanted = [
        (unstarted, [f"/games/{unstarted.game}/desk#act-bot", f"{unstarted.path}?as=director#seats"]),
        (full, [f"{full.path}/desk#act-start"]),
        (left, [f"{left.path}/desk#act-bot"]),
        (asking, [f"{asking.path}?as=director#vote-{proposal}"]),
        (paused, [f"{paused.path}/desk#act-resume"]),
        (ruled, [f"{ruled.path}/desk#act-withdraw"]),
        (appealed, [f"{appealed.path}/desk#act-answer"]),
        (late, []),
    ]
    found = {table.game: read_needs(olga, table, lang) for table, _ in wanted}
    assert {game: [address for _, address in told] for game, told in found.items()} == {
        table.game: addresses for table, addresses in wanted
    }
    (told,) = found[appealed.game]
    assert told[0].startswith(
        {
            "en": "Guest 0 (guest) appeals against the decision of version",
            "fr": "Guest 0 (invité) fait appel de la décision de la",
        }[lang]
    )
    deadline = late.get("/decisions").json["decisions"][0]["deadline"]
    monkeypatch.setattr(document, "SILENT_MS", 0)
    object.__setattr__(site.services, "clock", lambda: deadline)
    site.remake()
    olga.browser.client = site.app.test_client(use_cookies=True)
    assert olga.browser.log_in("Olga").status_code == 303
    assert [address for _, address in read_needs(olga, late, lang, "&needs=late")] == [
        f"{late.path}/desk#act-extend",
        f"{late.path}/desk",
    ]


def test_an_appeal_is_answered_from_the_desk(olga: Person) -> None:
    table = table_of(olga)
    held = olga.site.put(f"{table.path}/seats/1/hold", {"seconds": 60}, olga.api.token).json["version"]
    table.post("/appeals", {"version": held, "reason": "I was not asked"}, table.tokens[0])
    path = f"{table.path}/desk"
    page = Page(olga.read(path).text)
    assert any("I was not asked" in text for text in page.texts)
    answer = (("version", str(held)), ("outcome", "overturned"), ("reason", "Rule 4"))
    asked = olga.send(page.act("answer"), *answer)
    assert {"the decision is overturned", str(held), "Rule 4"} <= set(Page(asked.text).texts)
    assert table.get("/appeals").json["items"][0]["status"] == "open"
    assert olga.send(Page(asked.text).act("answer", sure="yes")).status_code == 303
    assert table.get("/appeals").json["items"][0]["status"] == "overturned"
    assert "act-answer" not in olga.read(path).text


def test_who_may_not_act_is_led_to_the_table(olga: Person) -> None:
    ada, table = person(olga.site, "Ada"), table_of(olga)
    assert table.post("/officers", {"name": "Ada", "role": "arbiter"}, olga.api.token).status_code == 202
    assert ada.api.put(f"/me/offices/{table.game}", {}).status_code == 200
    olga.site.delete(f"{table.path}/seats/0", table.tokens[0])
    assert [address for _, address in read_needs(ada, table)] == [f"{table.path}?as=director"]
