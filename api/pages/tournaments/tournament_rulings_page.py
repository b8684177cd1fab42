"""Rulings of a tournament on pages: officers rule after a look at the effect, entrants appeal, others answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import NamedTuple

from flask import Response, g, request

from api.http.problems import Problem
from api.pages.account.login import show_login
from api.pages.common import clocks
from api.pages.common.form_keys import goes_back, list_kept_fields, new_form_key, read_form_key
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, RefusedCall, ask, read_document
from api.pages.common.labels import Labels
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.pages.tournaments.tournament_pages import TournamentShown, load_tournament
from api.schemas.tournament_responses import TournamentRulingsDoc
from api.tournament_rights import list_answerable, list_appealable, list_restorable
from domain.tournaments.aggregate.tournament import MAX_NUMBER
from domain.tournaments.aggregate.tournament_appeal_commands import OUTCOMES
from domain.tournaments.aggregate.tournament_ruling_commands import ANNULMENTS, EXCLUSIONS, MAX_PENALTY
from domain.tournaments.sizes import MAX_SEATS
from domain.types import MAX_INT, Doc
from projections.tournament_documents import RoundDoc

MAX_STAGE = 99
RULINGS = ("placed", "annulled", "penalised", "excluded", "restored")


class RulingAct(NamedTuple):
    """Path below the tournament, and body of an act; `effect` is the ETag of a shown ruling."""

    path: str
    body: Doc
    effect: str = ""


def show_rulings(tournament: str) -> Response:
    """Show the rulings of a tournament with their appeals, and the forms of the visitor."""
    return _render(load_tournament(tournament))


def act_on_rulings(tournament: str) -> Response:
    """Show the effect of an act; once it is confirmed, carry it out."""
    if session_owner() is None:
        return show_login(f"/tournaments/{tournament}/rulings")
    name, key, page = request.form.get("act", ""), read_form_key(), load_tournament(tournament)
    if name not in _ACTS:
        raise Problem("form_stale")
    if goes_back():
        return _render(page)
    act = _ACTS[name]()
    if request.form.get("sure") != "yes":
        return _preview(page, name, act)
    answer = ask("POST", f"{page.address}{act.path}", act.body, Idempotency_Key=key, If_Match=act.effect)
    if answer.status >= 400:
        return _render(page, answer)
    return redirect(f"{page.address}/rulings")


def _preview(page: TournamentShown, name: str, act: RulingAct) -> Response:
    """Show the members of a record before it is made, and the places moved by a ruling."""
    effect = ask("POST", f"{page.address}{act.path}?dry_run=1", act.body) if name == "rule" else Answer(200, {})
    if effect.status >= 400:
        return _render(page, effect)
    return render_games_page(
        "tournament_ruling_preview",
        page=page,
        act=act.body.get("act", name),
        members={each: value for each, value in act.body.items() if each not in ("act", "reason", "places")},
        reason=act.body.get("reason", ""),
        seats=_list_seats(page, act.body) if "table" in act.body else (),
        moved=effect.doc.get("moved"),
        advancing=effect.doc.get("advancing"),
        fields=list_kept_fields(),
        effect=effect.headers.get("ETag", ""),
    )


def _list_seats(page: TournamentShown, ruling: Doc) -> list[tuple[str, str, int]]:
    """Return entrant, power (empty if unknown) and new place (0 for none) of each seat at a legal table."""
    number, pod = map(int, ruling["table"].split("."))
    stage = ruling.get("stage") or page.doc["stage"]
    table = read_document(RoundDoc, f"{page.address}/stages/{stage}/rounds/{number}")["pods"][pod - 1]
    game = ask("GET", f"/games/{table['game']}") if table["game"] else Answer(404, {})
    powers: Doc = game.doc.get("powers", {}) if game.status < 400 else {}
    labels = Labels.of_table({**game.doc, "names": {}}, page.labels.texts.lang) if powers else page.labels
    return [
        (page.entrant(entrant), labels.short_seat(seat) if str(seat) in powers else "", place)
        for seat, (entrant, place) in enumerate(zip_longest(table["entrants"], ruling.get("places", ()), fillvalue=0))
    ]


def _render(page: TournamentShown, refused: Answer | None = None) -> Response:
    """Show the rulings; after a refusal, and back from the preview, the form has what was sent."""
    if refused:
        g.problem = refused.code
    found, owner = read_document(TournamentRulingsDoc, f"{page.address}/rulings"), session_owner()
    tournament = page.doc["tournament"]
    return render_games_page(
        "tournament_rulings",
        refused.status if refused else 200,
        page=page,
        doc=page.doc,
        rulings=found["items"],
        names=found["names"],
        appealable=list_appealable(tournament, page.players),
        answerable=list_answerable(tournament, page.players, owner.account) if owner else (),
        restorable=list_restorable(tournament, page.players, owner.account) if owner else (),
        sent=request.form,
        annulments=ANNULMENTS,
        exclusions=EXCLUSIONS,
        key=new_form_key(),
        times=clocks.Times.of_visitor(),
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )


# --- acts


def _read_reason() -> Doc:
    return {"reason": read_text("reason")}


def _read_choice(name: str, choices: tuple[str, ...]) -> str:
    value = request.form.get(name, "")
    if value not in choices:
        raise Problem("form_stale")
    return value


def _read_table() -> Doc:
    return {"table": request.form.get("table", "").strip()[:9]}


def _read_places() -> Doc:
    """Return places by seat; words other than numbers of seats make none."""
    words = request.form.get("places", "").replace(",", " ").split()[:MAX_SEATS]
    places = [parse_number(word, MAX_SEATS, 1) for word in words]
    return {"places": [] if None in places else places}


def _rule() -> RulingAct:
    act = _read_choice("ruling_act", RULINGS)
    members: dict[str, Callable[[], Doc]] = {
        "placed": lambda: _read_table() | _read_places(),
        "annulled": lambda: _read_table() | {"how": _read_choice("how", ANNULMENTS)},
        "penalised": lambda: {
            "entrant": read_number("entrant", MAX_NUMBER),
            "ticks": read_number("ticks", MAX_PENALTY, 1),
        },
        "excluded": lambda: {
            "entrant": read_number("entrant", MAX_NUMBER),
            "results": _read_choice("results", EXCLUSIONS),
        },
        "restored": lambda: {"ruling": read_number("ruling", MAX_INT, 1)},
    }
    stage = {"stage": read_number("stage", MAX_STAGE, 1)} if request.form.get("stage") else {}
    body = {"act": act, **stage, **members[act](), **_read_reason()}
    return RulingAct("/rulings", body, request.form.get("effect", "")[:80])


def _appeal() -> RulingAct:
    return RulingAct("/appeals", {"ruling": read_number("ruling", MAX_INT, 1), **_read_reason()})


def _answer() -> RulingAct:
    ruling = read_number("ruling", MAX_INT, 1)
    return RulingAct(f"/appeals/{ruling}/answer", {"outcome": _read_choice("outcome", OUTCOMES), **_read_reason()})


_ACTS: dict[str, Callable[[], RulingAct]] = {"rule": _rule, "appeal": _appeal, "answer": _answer}
