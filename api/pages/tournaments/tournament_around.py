"""The page around a tournament: officers, notices, files, and a bye on request."""

from __future__ import annotations

from functools import partial

from flask import Response, request

from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_player, render_acts
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, ask
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.session import render_games_page
from api.pages.tournaments.tournament_pages import TournamentShown, load_tournament
from api.schemas.tournament_schemas import MAX_RATING, MOST_HALL, MOST_HOURS
from api.services import services
from domain.kernel.text.message_catalog import Message
from domain.tournaments.aggregate.tournament import MAX_NUMBER
from domain.tournaments.designs import MAX_ROUNDS
from domain.types import Doc


def show_around(tournament: str, act: str = "") -> Response:
    """Show officers, notices and files of a tournament, and carry out the act of a form."""
    event = load_tournament(tournament)
    page = ActPage(
        f"/tournaments/{tournament}/around",
        {
            "officer": lambda: ActRequest("POST", f"/tournaments/{tournament}/officers", _read_officer()),
            "dismiss": lambda: ActRequest("DELETE", f"/tournaments/{tournament}/officers/{read_player()}"),
            "invite": lambda: ActRequest("POST", f"/tournaments/{tournament}/invitations", {"name": read_text("name")}),
            "recall": lambda: ActRequest("DELETE", f"/tournaments/{tournament}/offers/{read_player()}"),
            "code": lambda: ActRequest("PUT", f"/tournaments/{tournament}/code", _read_hall()),
            "no_code": lambda: ActRequest("DELETE", f"/tournaments/{tournament}/code"),
            "claim": lambda: ActRequest(
                "POST", f"/tournaments/{tournament}/entrants/{read_number('entrant', MAX_NUMBER)}/claims", {}
            ),
            "chat": lambda: ActRequest("PUT", f"/tournaments/{tournament}/chat", _read_chat()),
            "no_chat": lambda: ActRequest("DELETE", f"/tournaments/{tournament}/chat"),
            "adjourn": lambda: ActRequest(
                "POST",
                f"/tournaments/{tournament}/stages/{read_number('stage', 99, 1)}"
                f"/rounds/{read_number('round', MAX_ROUNDS, 1)}/adjournments",
                {"reason": text} if (text := read_text("reason")) else {},
            ),
            "bye": lambda: ActRequest("POST", f"/tournaments/{tournament}/entrants/me/byes", {}),
            "division": lambda: ActRequest("POST", f"/tournaments/{tournament}/divisions", _read_division()),
            "no_card": lambda: ActRequest("DELETE", f"/tournaments/{tournament}/card"),
        },
        {
            "officer": Message("The person is asked, and is an officer after a yes."),
            "invite": Message("The person is invited."),
            "recall": Message("The question is taken back."),
            "no_code": Message("The code is ended."),
            "dismiss": Message("The role is ended."),
            "chat": Message("The chat is told of draws, results and standings from now on."),
            "no_chat": Message("The chat is told nothing any more."),
            "adjourn": Message("The games of the round that were in play are ranked as they stand."),
            "bye": Message("You rest in the next round, if a bye is given."),
            "division": Message("The division is open. The page of the tournament leads to it."),
            "no_card": Message("Title and note are removed."),
        },
        partial(_show, event),
        dict.fromkeys(("code", "claim"), partial(_show_code, event)),
        {("officer", "not_found"): "name"},
        is_public=True,
    )
    return page.respond(act)


def _show(event: TournamentShown, page: ActPage, refusal: Refusal | None) -> Response:
    chat = ask("GET", f"/tournaments/{event.doc['tournament']}/chat") if event.may("tournament_chat") else None
    desk = ask("GET", f"/tournaments/{event.doc['tournament']}/desk") if event.may("invite_entrant") else None
    return render_acts(
        "tournament_around",
        page,
        refusal,
        page=event,
        doc=event.doc,
        names=services().seat_tokens.texts.list_names([each["player"] for each in event.doc["officers"]]),
        chat=chat.doc if chat and chat.status < 400 else None,
        desk=desk.doc if desk and desk.status < 400 else None,
        open_round=services().tournaments.load(event.doc["tournament"]).play.find_open_round() or 1,
    )


def _show_code(event: TournamentShown, answer: Answer) -> Response:
    """Show a new code, once."""
    return render_games_page("tournament_new_code", page=event, code=answer.doc)


def _read_hall() -> Doc:
    return {"people": read_number("people", MOST_HALL, 1), "hours": read_number("hours", MOST_HOURS, 1)}


def _read_division() -> Doc:
    """Return the name of a division, and its bounds of ratings if there are any."""
    bounds = {name: parse_number(request.form.get(name, ""), MAX_RATING // 100) for name in ("least", "most")}
    band = {name: value * 100 for name, value in bounds.items() if value is not None}
    return {"name": read_text("division"), **({"band": band} if band else {})}


def _read_officer() -> Doc:
    return {"name": read_text("name"), "office": request.form.get("office", "")[:20]}


def _read_chat() -> Doc:
    return {"url": read_text("url"), "language": request.form.get("language", "")}
