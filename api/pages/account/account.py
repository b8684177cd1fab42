"""Account pages: settings, sessions, and second factors."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
from flask import Response, request

from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem
from api.http.url_converters import PasskeyConverter
from api.pages.account.login import log_in_first, prove_first
from api.pages.common.in_process import RefusedCall, ask
from api.pages.common.preferences import read_settings
from api.pages.common.qr_codes import build_qr_code
from api.pages.common.session import (
    clear_session_cookie,
    current_account,
    load_form,
    localize_problem,
    parse_json_object,
    redirect,
    render_page,
    session_owner,
)
from api.routes.accounts import second_factors
from api.schemas.second_factors import NewPasskeySchema
from api.services import services
from domain.accounts.account_settings import list_time_zones
from domain.accounts.accounts import Account

ACCOUNT = "/account"

_ID = re.compile(PasskeyConverter.regex + "|")
"""The longest of all id patterns. An authenticator has no id."""


def show_account() -> Response:
    """Show settings, sessions and second factors."""
    owner = session_owner()
    if owner is None:
        return log_in_first()
    account_store = services().account_store
    return render_page(
        "account",
        sessions=account_store.sessions.list_sessions(owner.account),
        current=owner.credential,
        factors=account_store.second_factors.list_factors(owner.account),
        codes=account_store.recovery_codes.count(owner.account),
        zones=sorted(list_time_zones()),
    )


def change_settings() -> Response:
    """Store the settings for pages, and the time zone."""
    owner = session_owner()
    if owner is None:
        return log_in_first()
    store, zone = services().account_store.settings, request.form.get("zone", "")
    if zone not in list_time_zones():
        raise Problem("form_stale")
    store.save_zone(owner.account, zone)
    store.save_page_settings(owner.account, read_settings(request.form.to_dict()))
    return redirect(ACCOUNT)


def claim_games() -> Response:
    """Claim the games of a guest by the guest's token."""
    if session_owner() is None:
        return log_in_first()
    if form := prove_first(ACCOUNT):
        return form
    if "token" not in request.form:
        return render_page("claim")
    answer = ask("POST", "/me/claims", {"token": request.form["token"].strip()[:100]})
    if answer.status >= 400:
        return render_page("claim", answer.status, problem=localize_problem(RefusedCall(answer)))
    return redirect("/games")


def end_access() -> Response:
    """End a session or second factor of the account."""
    owner = session_owner()
    if owner is None:
        return log_in_first()
    what, id_ = request.form.get("what", ""), request.form.get("id", "")
    if what not in _END_FUNCTIONS or not _ID.fullmatch(id_):
        raise Problem("form_stale")
    if what in ("totp", "passkey") and (form := prove_first(ACCOUNT)):
        return form
    _END_FUNCTIONS[what](current_account(), id_)
    response = redirect(ACCOUNT)
    return clear_session_cookie(response) if (what, id_) == ("session", owner.credential) else response


def _end_session(me: Account, id_: str) -> None:
    account_store = services().account_store
    if not id_ or not account_store.sessions.end(me.id, id_):
        raise Problem("not_found")
    account_store.audit_log.store(security_log.audit_statements(me.id, "logout", rate_limits.client_network()))


_END_FUNCTIONS: dict[str, Callable[[Account, str], None]] = {
    "session": _end_session,
    "totp": lambda _, __: second_factors.remove_factor("totp", ""),
    "passkey": lambda _, id_: second_factors.remove_factor("passkey", id_),
}


def set_up_totp() -> Response:
    """Set up an authenticator: show its secret, then check a code."""
    if session_owner() is None:
        return log_in_first()
    if form := prove_first(ACCOUNT):
        return form
    if "code" not in request.form:
        setup = second_factors.propose_totp()
        return render_page("totp", setup=setup, code=build_qr_code(setup.uri))
    try:
        second_factors.confirm_totp_code(request.form["code"][:20])
    except Problem as problem:
        return render_page("totp", problem.status, setup=None, problem=localize_problem(problem))
    return redirect(ACCOUNT)


def add_passkey() -> Response:
    """Add a passkey."""
    if session_owner() is None:
        return log_in_first()
    if form := prove_first(ACCOUNT):
        return form
    if "passkey" not in request.form:
        me = current_account()
        options = services().account_store.passkeys.creation_options(me.id, me.name, public_url.base_url())
        return render_page("passkey", script=True, challenge=msgspec.json.encode(options).decode())
    label = request.form.get("label", "").strip()
    label_field = {"label": label} if label else {}
    body = load_form(NewPasskeySchema(), passkey=parse_json_object(request.form["passkey"]), **label_field)
    second_factors.add_passkey(body["label"], body["passkey"])
    return redirect(ACCOUNT)
