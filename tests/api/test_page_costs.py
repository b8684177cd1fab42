"""What pages cost, beside the documents that a client reads in their place. Ratios alone: machines differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import pytest

from api.pages.common.in_process import ask
from api.pages.decision import move_choices
from api.pages.player_view import kept_panels
from tests.api.conftest import make_site
from tests.api.game_pages import Page, Person
from tests.api.test_game_pages import CATALOGUE, person

REPEATS = 25


@pytest.fixture
def anne(tmp_path: Any) -> Iterator[Person]:
    with closing(make_site(tmp_path, CATALOGUE)) as site:
        yield person(site)


def measure(*calls: Callable[[], object]) -> list[list[float]]:
    """Seconds of many rounds of calls, by call: in turn, so that a busy machine slows all of them alike."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(REPEATS):
        for call, times in zip(calls, found, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return [times[1:] for times in found]  # the first one warms up


@dataclass(frozen=True)
class Reader:
    """A program that reads what a page shows."""

    anne: Person
    path: str

    def read_documents(self) -> None:
        """Each document of the page once, with the first question of the move builder."""
        api, table = self.anne.api, f"/games/{self.path.rpartition('/')[2]}"
        for part in ("", "/timeline?after=0", "/rewinds", "/proposals"):
            assert api.get(table + part, Annals_Role="0").status_code == 200
        decision = api.get(f"{table}/resume", Annals_Role="0").json["board"]["decisions"][0]["id"]
        asked = api.post(f"{table}/choices", {"decision": decision, "picks": []}, Annals_Role="0")
        assert asked.status_code == 200, asked.text


@pytest.fixture
def reader(anne: Person) -> Reader:
    return Reader(anne, anne.play_now("egc@1"))


@pytest.mark.parametrize("ruleset", ["egc@1", "imperunde@1"])
def test_a_page_costs_about_twice_its_documents(anne: Person, ruleset: str) -> None:
    """On a quiet machine 1.6 to 2.1 times: the largest map, and whole moves from thirteen questions."""
    reader = Reader(anne, anne.play_now(ruleset))
    documents, pages = measure(reader.read_documents, lambda: reader.anne.read(reader.path))
    assert median(pages) <= 2.3 * median(documents), (median(pages), median(documents))


@pytest.mark.parametrize("ruleset", CATALOGUE.names())
def test_the_first_page_of_a_decision_costs_little_more(anne: Person, ruleset: str) -> None:
    """With nothing kept at all 2.0 to 2.6 times on a quiet machine."""
    reader = Reader(anne, anne.play_now(ruleset))

    def read_first_page() -> None:
        move_choices._answers.clear()
        kept_panels._shown.clear()
        anne.read(reader.path)

    documents, pages = measure(reader.read_documents, read_first_page)
    assert median(pages) <= 3 * median(documents), (median(pages), median(documents))


@pytest.mark.parametrize("ruleset", CATALOGUE.names())
def test_a_page_of_a_decision_asks_the_builder_once(
    anne: Person, ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers to further picks come with the first one, and are kept for the next page."""
    path = anne.play_now(ruleset)
    asked: list[str] = []

    def count(method: str, target: str, *args: Any, **options: Any) -> Any:
        asked.append(target)
        return ask(method, target, *args, **options)

    monkeypatch.setattr(move_choices, "ask", count)
    for _ in range(4):
        for most in (1, 2):
            anne.read(path)
            assert len(asked) == most
        anne.decide(path)
        asked.clear()
        move_choices._answers.clear()


def test_an_answer_leads_to_the_next_question_in_time(reader: Reader) -> None:
    """Its slowest twentieth takes at most five times the documents."""
    form = Page(reader.anne.read(reader.path).text).question()
    assert form is not None
    pick = next(button[:2] for button in form.buttons if button[2] != "ends")
    documents, answers = measure(reader.read_documents, lambda: reader.anne.follow(reader.anne.send(form, pick)))
    slowest = quantiles(answers, n=20)[-1]
    assert slowest <= 5 * median(documents), (slowest, median(documents))
