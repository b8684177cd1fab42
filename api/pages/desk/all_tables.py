"""The page of acts at all tables of an officer at once: a pause, its end, and the offer of a role."""

from __future__ import annotations

from flask import Response, request

from api.documents.desk import load_summaries
from api.http.problems import Problem, problem_of_error
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, render_acts
from api.pages.common import clocks
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, read_document, require
from api.pages.common.session import localize_problem, render_games_page
from api.pages.lobby.lobby import show_tables
from api.schemas.table_responses import MyOfficesDoc
from api.services import services
from domain.errors import RuleError
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

ADDRESS = "/desk/all"


def act_at_all_tables(act: str = "") -> Response:
    """Show the forms, and carry an act out at all tables."""
    return _PAGE.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    items = read_document(MyOfficesDoc, "/me/offices")["items"]
    return render_acts("desk_all", page, refusal, tables=_name_tables([each["game"] for each in items]))


def _name_tables(games: list[str]) -> dict[str, str]:
    """Return the names of unfinished tables, by game."""
    summaries = load_summaries(services(), games)
    return {table.doc["game"]: table.name for table in show_tables(summaries)}


def _read_reason() -> Doc:
    text = read_text("reason")
    return {"reason": text} if text else {}


def _pause() -> ActRequest:
    text = request.form.get("until", "")
    until = clocks.Times.of_visitor().read_local(text) if text else None
    if text and until is None:
        raise Problem("form_stale")
    body: Doc = {"moves": request.form.get("moves") == "yes", **_read_reason()} | ({"until": until} if until else {})
    return ActRequest("POST", "/me/pauses", body)


def _offer() -> ActRequest:
    form = request.form
    body = {"name": read_text("name"), "role": form.get("role", "")[:20], "games": form.getlist("games")}
    return ActRequest("POST", "/me/officers", {**body, **_read_reason()})


def _show_outcome(answer: Answer) -> Response:
    """Tell for each table if the act was carried out; further tables follow in further requests."""
    items = list(answer.doc["items"])
    wanted = _PAGE.acts[(request.view_args or {})["act"]]()
    while answer.doc["more"]:
        doc = require("POST", wanted.path, {**(wanted.body or {}), "after": items[-1]["game"]})
        answer = Answer(200, doc)
        items += doc["items"]
    faults = {each["refused"]: _tell_refusal(each["refused"]) for each in items if each["refused"]}
    tables = _name_tables([each["game"] for each in items])
    return render_games_page("desk_outcome", items=items, tables=tables, faults=faults)


def _tell_refusal(code: str) -> str:
    """Return the reason why a table refuses the act."""
    doc = localize_problem(Problem("internal_error") if code == "record_damaged" else problem_of_error(RuleError(code)))
    return str(doc.get("detail") or doc["title"])


_PAGE = ActPage(
    ADDRESS,
    {
        "pause": _pause,
        "resume": lambda: ActRequest("POST", "/me/resumptions", _read_reason()),
        "offer": _offer,
    },
    {"offer": Message("The role is offered at these tables.")},
    _show,
    {"pause": _show_outcome, "resume": _show_outcome},
    {("offer", "not_found"): "name"},
)
