"""Import of entrants on a page: a list is read, each line is shown with its reason, and then it is stored as a whole.

A code of an event is entered here, too: it makes an imported entrant one's own.
"""

from __future__ import annotations

from flask import Response, g, request

from api.documents.entrant_lists import COLUMNS, MOST_LINES
from api.http.problems import Problem
from api.pages.account.login import log_in_first, show_login
from api.pages.common.form_keys import goes_back, new_form_key, read_form_key
from api.pages.common.in_process import Answer, RefusedCall, ask
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.tournaments.tournament_pages import TournamentShown, load_tournament

CODE_ADDRESS = "/tournaments/code"


def import_list(tournament: str) -> Response:
    """Show the form for a list; check the list; store it once it is confirmed, and show the codes."""
    if session_owner() is None:
        return show_login(f"/tournaments/{tournament}")
    page = load_tournament(tournament)
    if not page.may("import_entrants"):
        raise Problem("directors_only")
    if request.method == "GET":
        return _show_form(page)
    if goes_back():
        return _show_form(page, request.form.get("csv", ""))
    key, file = read_form_key(), request.files.get("file")
    text = (file.read().decode(errors="replace") if file else "") or request.form.get("csv", "")
    is_sure = request.form.get("sure") == "yes"
    path = f"{page.address}/entrants/imports" + ("" if is_sure else "?dry_run=1")
    answer = ask("POST", path, {"csv": text}, Idempotency_Key=key)
    if answer.status >= 400:
        return _show_form(page, text, answer)
    lines, key = answer.doc["lines"], new_form_key()
    return render_games_page(
        "tournament_list",
        page=page,
        lines=lines,
        refused=[each for each in lines if each["state"] == "refused"],
        is_stored=is_sure,
        csv=text,
        key=key,
        fields=[("key", key), ("csv", text)],
    )


def _show_form(page: TournamentShown, text: str = "", refused: Answer | None = None) -> Response:
    if refused:
        g.problem = refused.code
    return render_games_page(
        "tournament_import",
        refused.status if refused else 200,
        page=page,
        csv=text,
        columns=COLUMNS,
        most=MOST_LINES,
        key=new_form_key(),
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )


def use_code() -> Response:
    """Show the field for a code of an event, and use a code."""
    if session_owner() is None:
        return log_in_first()
    if request.method == "GET":
        return render_games_page("tournament_code", code="", problem=None)
    code = request.form.get("code", "").strip()[:64]
    answer = ask("POST", "/me/entries", {"code": code})
    if answer.status < 400:
        return redirect(f"/tournaments/{answer.doc['tournament']}")
    g.problem = answer.code
    problem = localize_problem(RefusedCall(answer))
    return render_games_page("tournament_code", answer.status, code=code, problem=problem)
