"""The page around a table: its people, its notices, and acts of its officers apart from play."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

from flask import Response, request

from api.documents.contested_acts import list_appealable
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, render_acts
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, ask
from api.pages.common.numbers import parse_number, read_number
from api.pages.common.session import render_games_page, session_owner
from api.pages.player_view.kept_panels import show_parts
from api.pages.table.table_page import TablePage, load_table_page
from api.services import services
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, MAX_INT, Doc


def show_around(game: str, act: str = "") -> Response:
    """Show people and notices of a table, and carry out the act of a form."""
    table = load_table_page(game)
    path = f"/games/{game}"
    page = ActPage(
        f"{path}/around",
        {
            "watch": lambda: ActRequest("PUT", f"/me/watching/{game}"),
            "unwatch": lambda: ActRequest("DELETE", f"/me/watching/{game}"),
            "report": lambda: ActRequest("POST", "/reports", {"game": game, "said": read_text("said")}),
            "chat": lambda: ActRequest("PUT", f"/games/{game}/chat", _read_chat(), table.role),
            "no_chat": lambda: ActRequest("DELETE", f"/games/{game}/chat", None, table.role),
            "card": lambda: ActRequest("PUT", f"/games/{game}/card", _read_card(), DIRECTOR),
            "no_card": lambda: ActRequest("DELETE", f"/games/{game}/card"),
            "invite": lambda: ActRequest("POST", f"/games/{game}/challenges", _read_invitation(), DIRECTOR),
            "recall": lambda: ActRequest("DELETE", f"/games/{game}/challenges?{_read_invited()}", None, DIRECTOR),
            "token": lambda: ActRequest("POST", f"/games/{game}/seats/{read_number('seat', 99)}/tokens", {}, DIRECTOR),
            "inherit": lambda: ActRequest("POST", f"/games/{game}/inheritance", {}, DIRECTOR),
            "look": lambda: ActRequest("POST", f"/games/{game}/looks", {}, DIRECTOR),
            "appeal": lambda: ActRequest("POST", f"/games/{game}/appeals", _read_appeal(), table.role),
        },
        {
            "watch": Message("The table is among your people and tables that you watch."),
            "unwatch": Message("You no longer watch this table."),
            "report": Message("The moderators have your report. You read its outcome among your people."),
            "chat": Message("The chat is told whose turn it is from now on."),
            "no_chat": Message("The chat is told nothing any more."),
            "card": Message("Title and note are saved."),
            "no_card": Message("Title and note are removed."),
            "invite": Message("The invitation is sent. Nobody can tell from here if the account exists."),
            "recall": Message("The invitation is withdrawn."),
            "inherit": Message("The table is yours now."),
            "appeal": Message("Your appeal is recorded. An officer answers it."),
        },
        partial(_show, table),
        {"token": partial(_show_token, f"{path}/around"), "look": partial(_show_look, table)},
        {("invite", "unknown_seat"): "seat", ("invite", "seat_taken"): "seat"},
        is_public=True,
    )
    return page.respond(act)


def _show(table: TablePage, page: ActPage, refusal: Refusal | None) -> Response:
    owner, s = session_owner(), services()
    game = table.game
    chat = ask("GET", f"/games/{game}/chat", role=table.role) if table.role else None
    roles = set(table.roles)
    invites = DIRECTOR in roles
    sent = ask("GET", f"/games/{game}/challenges", role=DIRECTOR) if invites else None
    accounts = s.account_store.accounts
    return render_acts(
        "around",
        page,
        refusal,
        page=table,
        summary=table.summary,
        people=[
            each | {"is_bot": is_bot(each["player"]), "is_guest": accounts.find_holder(each["player"]) is None}
            for each in table.summary["seats"]
            if each["player"]
        ],
        watches=owner is not None and game in s.account_store.social_graph.list_watched(owner.account),
        chat=chat.doc if chat and chat.status < 400 else None,
        may_invite=sent is not None and sent.status < 400,
        invitations=sent.doc.get("items", ()) if sent and sent.status < 400 else (),
        is_officer=invites,
        appealable=[(each, str(each)) for each in list_appealable(s, game, table.seat)]
        if table.seat is not None
        else [],
    )


def _read_appeal() -> Doc:
    return {"version": read_number("version", MAX_INT, 1), "reason": read_text("reason")}


def _show_look(table: TablePage, answer: Answer) -> Response:
    """Show the board with all hidden data."""
    return render_games_page(
        "look", wide=True, page=table, parts=show_parts(table.labels, answer.doc["board"], table.audit)
    )


def _read_chat() -> Doc:
    return {"url": read_text("url"), "language": request.form.get("language", "")}


def _read_card() -> Doc:
    found = {name: read_text(name) for name in ("title", "note")}
    return {name: text for name, text in found.items() if text}


def _read_invitation() -> Doc:
    seat = parse_number(request.form.get("seat", ""), 99)
    days = parse_number(request.form.get("days", ""), 30) or 7
    return {"name": read_text("name"), "days": days} | ({} if seat is None else {"seat": seat})


def _read_invited() -> str:
    """Return the query with an invited person, by name or player id."""
    return urlencode({"to": request.form.get("to", "")[:200]})


def _show_token(address: str, answer: Answer) -> Response:
    return render_games_page("secret", kind="seat", secret=answer.doc["token"], target=address)
