"""Opening a tournament from an example: the visitor chooses one, sees its terms, sets another pace, and opens it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from flask import Response, request

from api.http.problems import Problem, problem_of_error
from api.paces import parse_pace
from api.pages.account.login import show_login
from api.pages.common.form_keys import goes_back, list_kept_fields, new_form_key, read_form_key
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import RefusedCall, ask, read_document
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.lobby.pace_form import PaceForm, read_pace
from api.pages.tournaments.tournament_terms import TermsShown, list_bots, list_elsewhere
from api.schemas.history_responses import RulesetsDoc
from api.services import services
from domain.accounts.account_settings import list_time_zones
from domain.errors import InvalidTable
from domain.kernel.game.deadlines import MAX_LAST_TURN
from domain.tournaments.terms import BOTS, ELSEWHERE
from domain.types import Doc

ADDRESS = "/tournaments/new"
MOST_MINUTES = 100_000
"""Longest time of a table in the form, minutes."""

_CHOICES = {"elsewhere": ELSEWHERE, "bots": BOTS}
"""Terms to choose in the form, with their values."""


@functools.cache
def load_examples() -> list[Doc]:
    """Return the bodies of the events in docs/tournaments.md."""
    found: list[Doc] = json.loads((Path(__file__).parent / "tournament_examples.json").read_text("utf-8"))
    return found


def open_from_example() -> Response:
    """Show the examples; then the terms of one; then open it."""
    if session_owner() is None:
        return show_login(ADDRESS)
    if request.method == "GET" or goes_back():
        return _render()
    chosen, key = read_number("example", len(load_examples()) - 1), read_form_key()
    title = read_text("title")
    listing = "unlisted" if request.form.get("unlisted") == "yes" else "public"
    example = load_examples()[chosen]
    labels = TermsShown.of_body(example).labels
    pace = read_pace(labels, example["table"]["pace"])
    minutes = parse_number(request.form.get("minutes", ""), MOST_MINUTES, 1)
    last = parse_number(request.form.get("last_turn", ""), MAX_LAST_TURN // 60)
    limit = {"time_limit": minutes * 60} if minutes else {}
    limit |= {"last_turn": last * 60} if minutes and last else {}
    terms = {name: request.form[name] for name in _CHOICES if request.form.get(name) in _CHOICES[name]}
    body = {**example, **terms, "listing": listing, "table": {**example["table"], "pace": pace, **limit}}
    del body["title"]
    body |= {"title": title} if title else {}
    shown = TermsShown(body, labels)
    try:
        parse_pace(labels.rules.meta, pace, services().clock())
    except InvalidTable as error:
        return _render(shown, problem_of_error(error))
    if request.form.get("sure") != "yes":
        return _render(shown, is_sound=True)
    answer = ask("POST", "/tournaments", body, Idempotency_Key=key)
    if answer.status >= 400:
        return _render(refused=RefusedCall(answer))
    return redirect(f"/tournaments/{answer.doc['tournament']}")


def _render(terms: TermsShown | None = None, refused: Problem | None = None, *, is_sound: bool = False) -> Response:
    """Show the examples, or the terms of one: those that are sound can be opened."""
    return render_games_page(
        "new_tournament",
        refused.status if refused else 200,
        examples=load_examples(),
        titles={each["name"]: each["title"] for each in read_document(RulesetsDoc, "/rulesets")["items"]},
        terms=terms,
        is_sound=is_sound,
        paces=PaceForm(terms.labels) if terms else None,
        elsewhere=list_elsewhere(),
        bots=list_bots(),
        zones=sorted(list_time_zones()),
        key=new_form_key(),
        sent=request.form,
        fields=list_kept_fields(),
        problem=localize_problem(refused) if refused else None,
    )
