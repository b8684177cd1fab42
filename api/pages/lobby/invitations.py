"""Pages of invitations to tables, and of the next game with the same people."""

from __future__ import annotations

from flask import Response, request

from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_game, render_acts
from api.pages.common.in_process import Answer, ask
from api.pages.common.numbers import parse_number
from api.pages.common.session import redirect
from api.pages.lobby.lobby import find_lengths, list_invitations, list_own_tables
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

INVITATIONS, REMATCH = "/games/invitations", "/games/rematch"


def show_invitations(act: str = "") -> Response:
    """Show the visitor's invitations, and accept or decline one."""
    return _INVITATIONS.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    found = list_invitations()
    return render_acts("invitations", page, refusal, invitations=found, lengths=find_lengths(found))


def _accept() -> ActRequest:
    seat = parse_number(request.form.get("seat", ""), 99)
    return ActRequest("POST", f"/games/{read_game()}/seats", {} if seat is None else {"seat": seat})


def _go_to_table(answer: Answer) -> Response:
    game, position = answer.doc.get("game") or read_game(), answer.doc.get("position")
    return redirect(f"/games/{game}" + (f"?wait={position}" if position else ""))


_INVITATIONS = ActPage(
    INVITATIONS,
    {"accept": _accept, "decline": lambda: ActRequest("DELETE", f"/me/challenges/{read_game()}")},
    {"decline": Message("The invitation is declined.")},
    _show,
    {"accept": _go_to_table},
)


# --- rematches -------------------------------------------------------------------------------------------------


def play_again(act: str = "") -> Response:
    """Show the visitor's finished games with other people, and open the next one of the same people."""
    return _REMATCH.respond(act)


def _show_finished(page: ActPage, refusal: Refusal | None) -> Response:
    tables = [each for each in list_own_tables("over", "closed") if _has_company(each.doc)]
    return render_acts("rematch", page, refusal, tables=tables)


def _has_company(doc: Doc) -> bool:
    people = [each for each in doc["seats"] if each["player"] and not is_bot(each["player"])]
    return len(people) > 1 and "origin" not in doc


def _take_own_seat(answer: Answer) -> Response:
    """Take the seat reserved for the visitor at the next table, and go there."""
    if answer.doc.get("seat") is not None:
        answer = ask("POST", f"/games/{answer.doc['game']}/seats", {"seat": answer.doc["seat"]})
    return _go_to_table(answer) if answer.status < 400 else redirect(INVITATIONS)


_REMATCH = ActPage(
    REMATCH,
    {"rematch": lambda: ActRequest("POST", f"/games/{read_game()}/rematches", {})},
    {},
    _show_finished,
    {"rematch": _take_own_seat},
)
