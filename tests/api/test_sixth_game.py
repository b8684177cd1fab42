"""A game unknown to the pages is played to its end on them, with a presentation and without one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from api.documents.presentations import load_presentation
from api.pages.player_view.view_nodes import count_leaves
from domain.ruleset_registry import RulesetRegistry
from tests import toy
from tests.api.conftest import Site, make_site
from tests.api.game_pages import Page, Person
from tests.api.test_game_pages import person

NAME = toy.RULESET.meta.ruleset


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with closing(make_site(tmp_path, RulesetRegistry([toy.RULESET]))) as made:
        yield made


@pytest.fixture(params=[True, False], ids=["with a presentation", "with none"])
def is_presented(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(
            "api.pages.common.presentation.load_presentation",
            lambda package: load_presentation("" if package == "tests.toy" else package),
        )
    return bool(request.param)


def test_a_sixth_game_is_played_to_its_end_on_the_pages(site: Site, is_presented: bool) -> None:
    people = [person(site, name) for name in ("Anne", "Bea")]
    path = _start(people)
    told = [_read(each, path, seat) for seat, each in enumerate(people)]
    while "The game is over." not in told[0]:
        asked = next(seat for seat, html in enumerate(told) if Page(html).question())
        assert people[asked].decide(path).status_code == 200
        told = [_read(each, path, seat) for seat, each in enumerate(people)]
        assert ('class="window"' in told[0]) == (is_presented and "A card face down" in told[0])
    assert "A card face down" not in told[0]
    assert ('class="picture track"' in told[0], 'class="cards"' in told[0]) == (is_presented, is_presented)
    assert bool(re.search(r'class="place land tint-\d"', told[0])) == is_presented
    assert '<ol class="places">' in told[0]
    assert "You have won" in told[0] + told[1]
    assert all("You have won" in html or "You have come in place 2 of 2" in html for html in told)
    _play_again(people, path)


def _play_again(people: list[Person], path: str) -> None:
    """One of them opens the next game by a button, and the other finds it."""
    answer = people[0].send(Page(people[0].read(path).text).act("rematch"))
    assert answer.status_code == 303
    assert "(you)" in people[0].read(str(answer.headers["Location"])).text
    assert "To the next game of this table" in people[1].read(path).text


def _start(people: list[Person]) -> str:
    form = Page(people[0].read(f"/games/new?ruleset={NAME}").text).form("/games/new", "")
    chosen = [("seats", "2"), ("undo", "none"), ("listing", "public"), ("pace", "none"), ("join", "yes")]
    made = people[0].send(form, *chosen)
    path = re.search(r"/games/[0-9a-f-]{36}", made.headers.get("Location", ""))
    assert path, made.text
    assert people[1].send(Page(people[1].read(path[0]).text).act("join", seat="1")).status_code == 303
    assert people[0].send(Page(people[0].read(path[0]).text).act("start")).status_code == 303
    return path[0]


def _read(reader: Person, path: str, seat: int) -> str:
    """The page of the table. It shows all that the seat may know."""
    html: str = reader.read(path).text
    board: Any = reader.api.get(f"{path}/board", Annals_Role=str(seat)).json
    shown = html[html.index('id="part-') :]
    assert len(Page(shown).leaves) == count_leaves(board["public"]) + count_leaves(board.get("own") or {})
    return html
