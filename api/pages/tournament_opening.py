"""Opening a tournament from an example: the visitor chooses one, sees its terms, and opens it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from flask import Response, g, request

from api.http.problems import Problem
from api.pages.form_keys import goes_back, list_kept_fields, new_form_key, read_form_key
from api.pages.in_process import Answer, RefusedCall, ask, require
from api.pages.login import show_login
from api.pages.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.tournament_terms import TermsShown
from api.services import Doc

ADDRESS = "/tournaments/new"


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
    chosen, key = request.form.get("example", ""), read_form_key()
    if not (chosen.isdecimal() and chosen.isascii() and len(chosen) < 3 and int(chosen) < len(load_examples())):
        raise Problem("form_stale")
    title = request.form.get("title", "").strip()[:80]
    listing = "unlisted" if request.form.get("unlisted") == "yes" else "public"
    body = {**load_examples()[int(chosen)], "title": title, "listing": listing}
    if request.form.get("sure") != "yes":
        return _render(body, chosen)
    answer = ask("POST", "/tournaments", body, Idempotency_Key=key)
    if answer.status >= 400:
        return _render(refused=answer)
    return redirect(f"/tournaments/{answer.doc['tournament']}")


def _render(body: Doc | None = None, chosen: str = "", refused: Answer | None = None) -> Response:
    if refused:
        g.problem = refused.code
    return render_games_page(
        "new_tournament",
        refused.status if refused else 200,
        examples=load_examples(),
        titles={each["name"]: each["title"] for each in require("GET", "/rulesets")["items"]},
        chosen=chosen,
        body=body,
        terms=TermsShown.of_body(body) if body else None,
        key=new_form_key(),
        sent=request.form,
        fields=list_kept_fields(),
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )
