"""The page of the people around an account: blocked ones, related ones, reports, and watched tables."""

from __future__ import annotations

from flask import Response

from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_game, read_player, render_acts
from api.pages.common.in_process import read_document
from api.pages.common.session import session_owner
from api.pages.lobby.lobby import show_tables
from api.schemas.accounts import BlocksDoc
from api.schemas.table_responses import LobbyDoc, RelatedDoc
from api.services import services
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

ADDRESS = "/account/people"


def show_people(act: str = "") -> Response:
    """Show and end blocks, relations and watched tables, and show the outcome of reports."""
    return _PAGE.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    owner, s = session_owner(), services()
    related = read_document(RelatedDoc, "/me/relations")["players"]
    reports = s.account_store.reports.list_by_account(owner.account) if owner else []
    names = s.seat_tokens.texts.list_names([*related, *(each.player for each in reports if each.player)])
    return render_acts(
        "people",
        page,
        refusal,
        blocks=read_document(BlocksDoc, "/me/blocks")["items"],
        related=related,
        names=names,
        reports=reports,
        watching=show_tables(read_document(LobbyDoc, "/me/watching")["items"]),
    )


def relate(player: str, *, ends: bool = False) -> ActRequest:
    """Declare a relation to one more person, or end one: the API takes the whole list."""
    before = read_document(RelatedDoc, "/me/relations")["players"]
    others = [each for each in before if each != player]
    body: Doc = {"players": others if ends else [*others, player]}
    return ActRequest("PUT", "/me/relations", body)


_PAGE = ActPage(
    ADDRESS,
    {
        "unblock": lambda: ActRequest("DELETE", f"/me/blocks/{read_player()}"),
        "unrelate": lambda: relate(read_player(), ends=True),
        "unwatch": lambda: ActRequest("DELETE", f"/me/watching/{read_game()}"),
    },
    {
        "unblock": Message("This person may invite you again, and join your tables."),
        "unrelate": Message("The relation is ended."),
        "unwatch": Message("You no longer watch this table."),
    },
    _show,
)
