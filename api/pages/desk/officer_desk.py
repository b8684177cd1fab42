"""The desk of an officer: what waits at all tables, and the acts of an officer at one table, each with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import get_args
from urllib.parse import urlencode

from flask import Response, g, request

from api.documents.desk import load_summaries
from api.documents.desk_rights import DeskRights, find_desk_rights
from api.http import i18n
from api.http.problems import Problem
from api.pages.account.login import log_in_first, show_login
from api.pages.common import clocks
from api.pages.common.agreements import DURATIONS
from api.pages.common.form_keys import goes_back, list_kept_fields, new_form_key, read_form_key
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, RefusedCall, ask, read_document, require
from api.pages.common.numbers import read_number
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.desk.desk_needs import NEED_TITLES, DeskRow
from api.pages.lobby.lobby import TableShown, show_tables
from api.pages.table.table_page import TablePage, load_table_page
from api.schemas.query_args import NEEDS
from api.schemas.table_responses import MyOfficesDoc
from api.schemas.tournament_responses import EventOffersDoc, SubstitutionsDoc
from api.services import services
from domain.kernel.game.appeals import Outcome
from domain.types import DIRECTOR, MAX_INT, Doc, Json

_PLAYER = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
_CURSOR = re.compile(r"[0-9a-f-]{36}", re.ASCII)


def show_desk() -> Response:
    """Show the tables that the visitor directs, those where something waits first."""
    if session_owner() is None:
        return log_in_first()
    if request.method == "POST":
        return _answer_offer()
    needs, cursor = request.args.get("needs", ""), request.args.get("after", "")
    query = {"needs": needs} if needs in NEEDS else {}
    query |= {"cursor": cursor} if _CURSOR.fullmatch(cursor) else {}
    found = require("GET", "/me/desk?" + urlencode(query))
    times = clocks.Times.of_visitor(found["now"])
    tables = _load_tables([each["game"] for each in found["items"]])
    rows = [DeskRow(each, tables[each["game"]], times) for each in found["items"] if each["game"] in tables]
    rows.sort(key=lambda row: not row.entry["needs"])
    next_page = re.search(r"cursor=([0-9a-f-]{36})", found["next"] or "")
    return render_games_page(
        "desk",
        wide=True,
        desk=found,
        rows=rows,
        offers=read_document(MyOfficesDoc, "/me/offices")["offers"],
        events=read_document(EventOffersDoc, "/me/event-offers")["items"],
        questions=read_document(SubstitutionsDoc, "/me/substitutions")["offers"],
        needs=needs,
        titles=_list_titles(found["counts"], needs, times.lang),
        more=next_page[1] if next_page else "",
        times=times,
    )


def _list_titles(counts: Doc, chosen: str, lang: str) -> dict[str, str]:
    """Return the titles of the needs that some table has, and of the chosen one."""
    return {need: i18n.translate(title, lang) for need, title in NEED_TITLES.items() if counts[need] or need == chosen}


def _answer_offer() -> Response:
    """Accept or decline the role that is offered to the visitor at a table."""
    game, act = request.form.get("game", ""), request.form.get("act", "")
    methods = {"accept": "PUT", "decline": "DELETE"}
    if act not in methods or not _CURSOR.fullmatch(game):
        raise Problem("form_stale")
    path = f"/me/offices/{game}"
    query = "?" + urlencode({"role": request.form.get("role", "")[:20]}) if act == "decline" else ""
    require(methods[act], path + query)
    return redirect(f"/games/{game}/desk" if act == "accept" else "/desk")


def _load_tables(games: Sequence[str]) -> dict[str, TableShown]:
    """Return the tables as a list shows them, with the names of players. One that has just closed is not there."""
    return {table.doc["game"]: table for table in show_tables(load_summaries(services(), games))}


def direct(game: str) -> Response:
    """Show the acts of an officer at a table, and carry one out."""
    if session_owner() is None:
        return show_login(f"/games/{game}")
    page = load_table_page(game, DIRECTOR)
    if page.role != DIRECTOR:
        raise Problem("directors_only")
    if request.method == "GET" or goes_back():
        return _render(page)
    act, key = request.form.get("act", ""), read_form_key()
    if act not in _ACTS:
        raise Problem("form_stale")
    method, path, body = _ACTS[act](page)
    if request.form.get("sure") != "yes":
        return _preview(page, body)
    answer = ask(method, f"/games/{game}{path}", body, role=DIRECTOR, Idempotency_Key=key)
    if answer.status >= 400:
        return _render(page, answer)
    query = f"?wait={answer.doc['position']}" if "position" in answer.doc else ""
    return redirect(f"{page.address}/desk{query}")


def _preview(page: TablePage, body: Doc) -> Response:
    """Show the record of an act before it is done: its members in words, and the form to confirm it."""
    times, labels, words = clocks.Times.of_visitor(page.now), page.labels, page.labels.texts.word
    shown: dict[str, Callable[[Json], str]] = {
        "decision": lambda _: labels.decision((page.decision or {}).get("kind", "")),
        "seconds": times.duration,
        "until": times.point,
        "outcome": str,
        "moves": lambda value: words("yes" if value else "no"),
        "places": lambda value: ", ".join(f"{labels.seat(seat)} {place}" for seat, place in enumerate(value)),
        "forfeits": lambda value: ", ".join(map(labels.seat, value)) or words("none"),
    }
    seat = request.form.get("seat", "")
    known = {str(each["seat"]): labels.seat(each["seat"]) for each in page.summary["seats"]}
    return render_games_page(
        "direct_preview",
        page=page,
        act=request.form["act"],
        ending=request.form.get("ending", ""),
        seat=known.get(seat, ""),
        members={name: shown[name](value) for name, value in body.items() if name in shown},
        person=str(body.get("name") or request.form.get("person", "")[:80]),
        reason=body.get("explanation") or ("" if "explanation" in body else _read_reason().get("reason", "")),
        contested=read_number("version", MAX_INT, 1) if "outcome" in body else 0,
        role=body.get("role", ""),
        fields=list_kept_fields(),
    )


def _render(page: TablePage, refused: Answer | None = None) -> Response:
    if refused:
        g.problem = refused.code
    rights = _find_rights(page)
    appeals = ask("GET", f"/games/{page.game}/appeals", role=DIRECTOR).doc.get("items", ())
    return render_games_page(
        "direct",
        refused.status if refused else 200,
        wide=True,
        page=page,
        summary=page.summary,
        decision=page.decision,
        ruling=page.summary.get("ruling"),
        rights=rights,
        appeals=[each for each in appeals if each["status"] == "open"],
        answerable=rights.list_answerable(services().clock()),
        durations=DURATIONS,
        key=new_form_key(),
        times=clocks.Times.of_visitor(page.now),
        officers=ask("GET", f"/games/{page.game}/officers", role=DIRECTOR).doc.get("items", ()),
        sent=request.form,
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )


def _find_rights(page: TablePage) -> DeskRights:
    owner, s = session_owner(), services()
    players = s.account_store.accounts.list_players(owner.account) if owner else ()
    return find_desk_rights(s, page.game, page.office, players)


# --- acts: method, path and body of each ------------------------------------------------------------------------

Act = tuple[str, str, Doc]


def _read_reason(member: str = "reason") -> Doc:
    text = read_text("reason")
    return {member: text} if text else {}


def _read_until() -> Doc:
    """Return the point of time in the form, or nothing."""
    text = request.form.get("until", "")
    found = clocks.Times.of_visitor().read_local(text) if text else None
    if text and found is None:
        raise Problem("form_stale")
    return {"until": found} if found else {}


def _extend(page: TablePage) -> Act:
    amount = _read_until() or {"seconds": read_number("seconds", DURATIONS[-1])}
    decision = request.form.get("decision", "")[:40] or (page.decision or {}).get("id", "")
    return "POST", "/extensions", {"decision": decision, **amount, **_read_reason()}


def _pause(_: TablePage) -> Act:
    return "POST", "/pauses", {**_read_until(), "moves": request.form.get("moves") == "yes", **_read_reason()}


def _hold(_: TablePage) -> Act:
    amount = _read_until() or {"seconds": read_number("seconds", DURATIONS[-1])}
    return "PUT", f"/seats/{read_number('seat', 99)}/hold", {**amount, **_read_reason()}


def _remove(_: TablePage) -> Act:
    return "POST", f"/seats/{read_number('seat', 99)}/removals", _read_reason()


def _seat_bot(_: TablePage) -> Act:
    return "POST", "/seats", {"seat": read_number("seat", 99), "bot": "heuristic", **_read_reason()}


def _close(page: TablePage) -> Act:
    ending, form = request.form.get("ending", ""), request.form
    body: Doc = {"reason": ending, **_read_reason("explanation")}
    seats = [each["seat"] for each in page.summary["seats"]]
    if ending == "adjudicated":
        body["places"] = [read_number(f"place.{seat}", 100, 1) for seat in seats]
    if ending == "forfeited":
        body["forfeits"] = [seat for seat in seats if form.get(f"forfeit.{seat}") == "yes"]
    return "POST", "/close", body


def _withdraw(page: TablePage) -> Act:
    return "POST", f"/rulings/{(page.summary.get('ruling') or {}).get('version', 0)}/withdrawal", _read_reason()


def _answer(_: TablePage) -> Act:
    outcome = request.form.get("outcome", "")
    if outcome not in get_args(Outcome):
        raise Problem("form_stale")
    return "POST", f"/appeals/{read_number('version', MAX_INT, 1)}/answer", {"outcome": outcome, **_read_reason()}


def _appoint(_: TablePage) -> Act:
    body = {"name": read_text("name"), "role": request.form.get("role", "")[:20]}
    return "POST", "/officers", {**body, **_read_reason()}


def _read_player() -> str:
    player = request.form.get("player", "")
    if not _PLAYER.fullmatch(player):
        raise Problem("form_stale")
    return player


_ACTS: dict[str, Callable[[TablePage], Act]] = {
    "extend": _extend,
    "pause": _pause,
    "resume": lambda _: ("POST", "/resumptions", _read_reason()),
    "hold": _hold,
    "remove": _remove,
    "bot": _seat_bot,
    "close": _close,
    "withdraw": _withdraw,
    "answer": _answer,
    "appoint": _appoint,
    "dismiss": lambda _: ("POST", f"/officers/{_read_player()}/removals", _read_reason()),
    "recall": lambda _: ("DELETE", f"/officers/{_read_player()}/offer", {}),
    "start": lambda _: ("POST", "/start", _read_reason()),
}
