"""The page of programs: personal tokens, own clients, and grants to clients."""

from __future__ import annotations

from flask import Response, request

from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_id, render_acts
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, read_document
from api.pages.common.numbers import parse_number
from api.pages.common.session import render_games_page
from api.schemas.accounts import PersonalTokensDoc
from api.schemas.oauth_clients import ClientsDoc, GrantsDoc
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import GRANT_TYPES
from domain.kernel.text.message_catalog import Message

ADDRESS = "/account/programs"


def show_programs(act: str = "") -> Response:
    """Show and change tokens, clients and grants."""
    return _PAGE.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    return render_acts(
        "programs",
        page,
        refusal,
        tokens=read_document(PersonalTokensDoc, "/me/tokens")["items"],
        clients=read_document(ClientsDoc, "/me/clients")["items"],
        grants=read_document(GrantsDoc, "/me/grants")["items"],
        scopes=SCOPES,
        grant_types=GRANT_TYPES,
    )


def _make_token() -> ActRequest:
    body = {
        "label": read_text("label"),
        "scopes": request.form.getlist("scopes"),
        "days": parse_number(request.form.get("days", ""), 9999) or 0,
    }
    return ActRequest("POST", "/me/tokens", body)


def _read_client() -> dict[str, object]:
    return {
        "name": read_text("name"),
        "redirects": read_text("redirects").split(),
        "grant_types": request.form.getlist("grant_types"),
        "scopes": request.form.getlist("scopes"),
    }


def _make_client() -> ActRequest:
    is_confidential = request.form.get("confidential") == "yes"
    return ActRequest("POST", "/me/clients", {**_read_client(), "confidential": is_confidential})


def _show_token(answer: Answer) -> Response:
    return render_games_page("secret", kind="token", secret=answer.doc["token"], target=ADDRESS)


def _show_client(answer: Answer) -> Response:
    name = answer.doc.get("id") or read_id()
    return render_games_page("secret", kind="client", name=name, secret=answer.doc.get("secret", ""), target=ADDRESS)


_PAGE = ActPage(
    ADDRESS,
    {
        "token": _make_token,
        "rotate": lambda: ActRequest("POST", f"/me/tokens/{read_id()}/rotations"),
        "revoke": lambda: ActRequest("DELETE", f"/me/tokens/{read_id()}"),
        "client": _make_client,
        "change": lambda: ActRequest("PUT", f"/me/clients/{read_id()}", _read_client()),
        "secret": lambda: ActRequest("POST", f"/me/clients/{read_id()}/secrets"),
        "remove": lambda: ActRequest("DELETE", f"/me/clients/{read_id()}"),
        "grant": lambda: ActRequest("DELETE", f"/me/grants/{read_id()}"),
    },
    {
        "revoke": Message("The token opens nothing any more."),
        "change": Message("The program is changed."),
        "remove": Message("The program is removed, and all that people allowed it has ended."),
        "grant": Message("The program has no access any more."),
    },
    _show,
    {"token": _show_token, "rotate": _show_token, "client": _show_client, "secret": _show_client},
)
