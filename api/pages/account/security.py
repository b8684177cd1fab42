"""Pages of an account's name, password and recovery codes, of its stored data, and of its end."""

from __future__ import annotations

import re

import msgspec
from flask import Response, request

from api.http import i18n
from api.pages.account.login import log_in_first
from api.pages.account.personal_acts import ActPage, ActRequest, Refusal, render_acts, require_sure
from api.pages.common import clocks
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import Answer, read_document
from api.pages.common.session import (
    clear_session_cookie,
    redirect,
    render_games_page,
    session_owner,
    set_login_cookies,
)
from api.response_builders import clear_site_data
from api.schemas.accounts import LogDoc, MyDataDoc
from api.services import services
from domain.kernel.text.message_catalog import Message

ADDRESS = "/account/security"

LOG_WORDS = {
    "opened": Message("account opened"),
    "login": Message("logged in"),
    "login_refused": Message("login refused"),
    "logout": Message("logged out"),
    "factor_added": Message("second factor added"),
    "factor_refused": Message("second factor refused"),
    "factor_removed": Message("second factor removed"),
    "password_changed": Message("password changed"),
    "password_refused": Message("password refused"),
    "recovered": Message("new password by a code"),
    "recovery_refused": Message("recovery code refused"),
    "recovery_mailed": Message("recovery code sent by mail"),
    "recovery_issued": Message("recovery code given by the operator"),
    "recovery_codes_made": Message("new recovery codes"),
    "renamed": Message("name changed"),
    "claimed": Message("games of a guest claimed"),
    "link_made": Message("link for another device made"),
    "link_used": Message("another device logged in by a link"),
    "token_made": Message("personal token made"),
    "token_rotated": Message("personal token replaced"),
    "token_revoked": Message("personal token revoked"),
    "client_registered": Message("program registered"),
    "client_changed": Message("program changed"),
    "client_removed": Message("program removed"),
    "client_secret_made": Message("new secret of a program"),
    "grant_made": Message("program allowed"),
    "grant_refused": Message("program refused"),
    "grant_ended": Message("access of a program revoked"),
    "grant_reused": Message("access of a program used twice"),
    "mail_changed": Message("mail settings changed"),
    "mail_confirmed": Message("mail address confirmed"),
    "mail_off": Message("mail ended by its link"),
    "mail_removed": Message("mail address removed"),
    "webhook_made": Message("webhook made"),
    "webhook_changed": Message("webhook changed"),
    "webhook_removed": Message("webhook removed"),
    "push_made": Message("browser told by push"),
    "push_removed": Message("browser told no more"),
    "push_off": Message("browser ended its push messages"),
    "webhook_rotated": Message("new secret of a webhook"),
    "chat_set": Message("group chat named"),
    "chat_removed": Message("group chat removed"),
    "calendar_key_made": Message("address of the calendar made"),
    "calendar_key_revoked": Message("address of the calendar revoked"),
    "credentials_ended": Message("logged out everywhere by an administrator"),
    "suspended": Message("suspended"),
    "banned": Message("banned"),
    "lifted": Message("suspension lifted"),
    "role_given": Message("role given"),
    "judged": Message("standing of an account changed"),
    "gave_role": Message("role of an account changed"),
    "ended_credentials": Message("account logged out everywhere"),
    "invited": Message("invitation to open accounts made"),
    "report_settled": Message("report settled"),
    "silenced": Message("words in talk stopped for a time"),
    "silence_lifted": Message("words in talk allowed again"),
    "silenced_seat": Message("a player's words to a table stopped for a time"),
    "uncovered": Message("asked who plays under a hidden name"),
    "silence_lifted_seat": Message("a player's words to a table allowed again"),
}
"""Kind of an entry of the audit log -> its words."""

_CURSOR = re.compile(r"[0-9a-f]{1,40}", re.ASCII)


def show_security(act: str = "") -> Response:
    """Show and change name, password and codes, log out everywhere, or erase the account."""
    return _PAGE.respond(act)


def _show(page: ActPage, refusal: Refusal | None) -> Response:
    owner = session_owner()
    store = services().account_store
    return render_acts(
        "security",
        page,
        refusal,
        codes=store.recovery_codes.count(owner.account) if owner else 0,
        kinds=store.second_factors.list_kinds(owner.account) if owner else (),
    )


def _change_password() -> ActRequest:
    names = ("current", "password", "factor")
    return ActRequest("POST", "/me/password", {name: request.form.get(name, "") for name in names})


def _erase() -> ActRequest:
    require_sure("erase")
    return ActRequest("DELETE", "/me")


def _keep_login(answer: Answer) -> Response:
    """Go on in the session in place of all others."""
    return set_login_cookies(redirect(f"{ADDRESS}?done=password"), answer.doc["token"], answer.doc["device"])


def _show_codes(answer: Answer) -> Response:
    return render_games_page("codes", codes=answer.doc["codes"], target=ADDRESS)


def _end_login(_: Answer) -> Response:
    return clear_session_cookie(clear_site_data(redirect("/login")))


def _tell_end(_: Answer) -> Response:
    return clear_session_cookie(clear_site_data(redirect("/account/erased")))


def tell_erased() -> Response:
    """Say that the account is gone."""
    return render_games_page("erased")


_PAGE = ActPage(
    ADDRESS,
    {
        "name": lambda: ActRequest("PUT", "/me/name", {"name": read_text("name")}),
        "password": _change_password,
        "codes": lambda: ActRequest("POST", "/me/recovery-codes"),
        "log_out": lambda: ActRequest("DELETE", "/me/sessions"),
        "erase": _erase,
    },
    {
        "name": Message("Your name is changed. You log in with the new one."),
        "password": Message("Your password is changed. All other devices are logged out."),
    },
    _show,
    {"password": _keep_login, "codes": _show_codes, "log_out": _end_login, "erase": _tell_end},
    {("password", "wrong_credentials"): "current", ("password", "second_factor_required"): "factor"},
)


# --- stored data -----------------------------------------------------------------------------------------------


def show_data() -> Response:
    """Show a link to the stored data, and the newest entries of the account's log."""
    if session_owner() is None:
        return log_in_first()
    cursor = request.args.get("cursor", "")
    query = f"&cursor={cursor}" if _CURSOR.fullmatch(cursor) else ""
    found = read_document(LogDoc, f"/me/audit?limit=50{query}")
    more = re.search(r"cursor=([0-9a-f]+)", found["next"] or "")
    times = clocks.Times.of_visitor()
    return render_games_page(
        "account_data",
        entries=[{**each, "what": name_entry(each["what"], times.lang)} for each in found["items"]],
        more=more[1] if more else "",
        times=times,
    )


def name_entry(what: str, lang: str) -> str:
    """Return the kind of an entry of the audit log in words."""
    word = LOG_WORDS.get(what)
    return i18n.translate(word, lang) if word else what


def download_data() -> Response:
    """Send all stored data as a file."""
    if session_owner() is None:
        return log_in_first()
    data: MyDataDoc = read_document(MyDataDoc, "/me/data")
    response = Response(msgspec.json.format(msgspec.json.encode(data), indent=1), content_type="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="annals.json"'
    response.headers["Cache-Control"] = "no-store"
    return response
