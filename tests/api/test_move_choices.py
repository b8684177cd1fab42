"""Answers of the move builder in submitted forms."""

from __future__ import annotations

import pytest

from api.http.problems import Problem
from api.pages.decision.move_choices import Pick, Picks
from tests.api.conftest import Site

KEY = "k" * 24


def read(site: Site, number: str) -> Picks:
    form = {"key": KEY, "field": "amount", "number": number}
    with site.app.test_request_context("/games/x/play", method="POST", data=form):
        return Picks.from_form()


@pytest.mark.parametrize(("typed", "number"), [("5", 5), ("05", 5), ("007", 7), ("0", 0), ("-3", -3)])
def test_a_number_is_read_as_people_type_it(site: Site, typed: str, number: int) -> None:
    assert read(site, typed).trail == (Pick("amount", number),)


def test_an_empty_field_is_no_answer(site: Site) -> None:
    assert read(site, "").trail == ()


@pytest.mark.parametrize("typed", ["5.5", "five", "9" * 30, "[]"])
def test_what_is_no_number_is_refused(site: Site, typed: str) -> None:
    with pytest.raises(Problem):
        read(site, typed)
