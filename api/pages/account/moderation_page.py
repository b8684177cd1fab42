"""The page of moderators and administrators: reports, accounts, invitations, and the log of all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from flask import Response, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, read_id, render_acts, require_sure
from api.pages.account.security import name_entry
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, ask, read_document
from api.pages.common.numbers import parse_number
from api.pages.common.session import current_account, render_games_page
from api.schemas.accounts import ComplaintsDoc, LogDoc, LogEntryDoc
from api.services import services
from domain.accounts.accounts import ROLES
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

ADDRESS = "/moderation"

_ACCOUNT = re.compile(r"[0-9a-f]{16}", re.ASCII)


def show_moderation(act: str = "") -> Response:
    """Show reports and accounts to a moderator, and act on them."""
    return _PAGE.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    if not current_account().has_role("moderator"):
        raise Problem("forbidden")
    is_admin = current_account().has_role("admin")
    wanted, settled = request.args.get("name", "")[:200], request.args.get("status") == "settled"
    reports = read_document(ComplaintsDoc, f"/reports?status={'settled' if settled else 'open'}&limit=50")["items"]
    found, fault = _find_account(wanted)
    names = services().seat_tokens.texts.list_names([each["player"] for each in reports if each["player"]])
    return render_acts(
        "moderation",
        page,
        refusal,
        is_admin=is_admin,
        reports=reports,
        names=names,
        settled=settled,
        wanted=wanted,
        found=found,
        fault_of_search=fault,
        roles=ROLES,
        log=_name_entries(
            read_document(LogDoc, "/audit?limit=50" + (f"&account={found['account']}" if found else ""))["items"]
        )
        if is_admin
        else (),
    )


def _name_entries(items: Sequence[LogEntryDoc]) -> list[Doc]:
    lang = i18n.request_language()
    return [{**each, "what": name_entry(each["what"], lang)} for each in items]


def _find_account(wanted: str) -> tuple[Doc | None, str]:
    """Return the account with a name, an account's id or a player's id, and why there is none."""
    if not wanted:
        return None, ""
    is_id = _ACCOUNT.fullmatch(wanted)
    answer = ask("GET", f"/accounts/{wanted}") if is_id else ask("GET", "/accounts?" + urlencode({"name": wanted}))
    if answer.status == 404:
        answer = ask("GET", "/accounts?" + urlencode({"player": wanted[:80]}))
    return (answer.doc, "") if answer.status < 400 else (None, f"{answer.doc['title']}.")


def _judge() -> ActRequest:
    form = request.form
    days = parse_number(form.get("days", ""), 366) or 7
    body: Doc = {
        "state": form.get("state", ""),
        "days": days,
        **({"reason": text} if (text := read_text("reason")) else {}),
    }
    return ActRequest("PUT", f"/accounts/{read_id()}/standing", body)


def _settle() -> ActRequest:
    erased: Doc = {"erase": True} if request.form.get("erase") == "yes" else {}
    return ActRequest("PUT", f"/reports/{read_id()}", {"outcome": read_text("outcome"), **erased})


def _silence() -> ActRequest:
    hours = parse_number(request.form.get("hours", ""), 9999)
    if hours == 0:
        return ActRequest("DELETE", f"/accounts/{read_id()}/silence")
    return ActRequest("PUT", f"/accounts/{read_id()}/silence", {"hours": hours, "reason": read_text("reason")})


def _end_credentials() -> ActRequest:
    require_sure("sure")
    return ActRequest("DELETE", f"/accounts/{read_id()}/credentials")


def _invite() -> ActRequest:
    numbers = {name: parse_number(request.form.get(name, ""), 9999) or 0 for name in ("uses", "days")}
    return ActRequest("POST", "/invitations", numbers)


def _show_invitation(answer: Answer) -> Response:
    return render_games_page("secret", kind="invitation", secret=answer.doc["invitation"], target=ADDRESS)


_PAGE = ActPage(
    ADDRESS,
    {
        "settle": _settle,
        "silence": _silence,
        "judge": _judge,
        "role": lambda: ActRequest("PUT", f"/accounts/{read_id()}/role", {"role": request.form.get("role", "")}),
        "credentials": _end_credentials,
        "invite": _invite,
    },
    {
        "settle": Message("The report is settled, and its author reads the outcome."),
        "judge": Message("The standing of the account is changed."),
        "silence": Message("It is done, and the player reads it beside the talk of each table."),
        "role": Message("The role of the account is changed."),
        "credentials": Message("The account is logged out everywhere, and its tokens are ended."),
    },
    _show,
    {"invite": _show_invitation},
)
