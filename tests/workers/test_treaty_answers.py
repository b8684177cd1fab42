"""Bots answer treaties from what their seats may know, once, and only when letters may be written."""

from __future__ import annotations

import pytest

from domain.errors import StoreUnavailable
from domain.talk.treaty_rules import choose_answer
from domain.types import Doc
from tests.api.conftest import Site, Table, site
from tests.api.test_talk_treaties import RULESET, propose, read
from workers.maintenance.treaty_answers import TreatyAnswers

__all__ = ["site"]


@pytest.fixture
def table(site: Site) -> Table:
    """A table of three whose seats 1 and 2 have bots."""
    made = site.post("/games", {"ruleset": RULESET, "seats": 3})
    table = Table(site, made.json["game"], made.json["token"], [])
    table.tokens = [table.post("/seats", {"seat": 0, "name": "Anne"}).json["token"]]
    for seat in (1, 2):
        assert table.post("/seats", {"seat": seat, "bot": "heuristic"}, table.director).status_code == 201
    assert table.post("/start", token=table.director).status_code == 201
    return table


@pytest.mark.parametrize(
    ("kind", "values", "leader", "answer"),
    [
        ("peace", {}, None, "accept"),
        ("peace", {}, 1, "accept"),
        ("truce_until", {"turn": 2}, 0, "decline"),
        ("attack_together", {"target": 2, "turn": 2}, 2, "accept"),
        ("attack_together", {"target": 2, "turn": 2}, 0, "decline"),
        ("keep_out_of", {"who": 0, "region": "baltic", "turn": 2}, 0, "accept"),
        ("keep_out_of", {"who": 1, "region": "baltic", "turn": 2}, None, "decline"),
        ("leave_me", {"region": "baltic", "turn": 2}, None, "decline"),
        ("give", {"who": 0, "to": 1, "amount": 3, "turn": 2}, None, "accept"),
        ("share_information", {"turn": 2}, None, "decline"),
    ],
)
def test_the_rule_is_the_declared_one(kind: str, values: Doc, leader: int | None, answer: str) -> None:
    assert choose_answer(1, 0, {"kind": kind, "values": values}, leader) == answer


def test_each_bot_answers_once_and_tells_the_streams(table: Table) -> None:
    propose(table, 0, "peace", 1, 2)
    told: list[str] = []
    answers = TreatyAnswers(table.site.context, told.append)
    assert answers.step() == 2
    assert answers.step() == 0
    assert TreatyAnswers(table.site.context, told.append).step() == 0
    assert told == [table.game] * 2
    treaty = read(table, 0, 1)["treaty"]
    assert treaty["answers"] == [{"seat": 1, "answer": "accept"}, {"seat": 2, "answer": "accept"}]
    assert [each["state"] for each in treaty["promises"]] == ["holds", "holds"]


def test_nothing_is_answered_after_the_close(table: Table) -> None:
    propose(table, 0, "peace", 1)
    table.post("/close", {"reason": "abandoned"}, table.director)
    assert TreatyAnswers(table.site.context, lambda _: None).step() == 0


def test_a_store_that_is_down_stops_nothing_else(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreUnavailable("down")

    monkeypatch.setattr(table.site.context.talk, "list_unanswered", fail)
    assert TreatyAnswers(table.site.context, lambda _: None).step() == 0
