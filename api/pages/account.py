"""One's account: what is logged in, what may act for oneself, and what one proves oneself by."""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson
from flask import Response, request

from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem
from api.http.url_converters import PasskeyConverter
from api.pages.login import log_in_first, prove_first
from api.pages.session import (
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
from api.routes.oauth.grants import revoke_grant
from api.schemas.second_factors import NewPasskeySchema
from api.services import services
from domain.accounts.accounts import Account

ACCOUNT = "/account"

_ID = re.compile(PasskeyConverter.regex + "|")
"""The longest of all ids; an authenticator has none."""


def show_account() -> Response:
    """All that is one's own."""
    who = session_owner()
    if who is None:
        return log_in_first()
    people = services().account_store
    return render_page(
        "account",
        sessions=people.sessions.list_sessions(who.account),
        current=who.credential,
        tokens=people.personal_tokens.list_tokens(who.account),
        grants=people.oauth_grants.list_by_account(who.account),
        factors=people.second_factors.list_factors(who.account),
        codes=people.recovery_codes.count(who.account),
    )


def end_access() -> Response:
    """End a session, a token, a grant or a second factor of one's own."""
    who = session_owner()
    if who is None:
        return log_in_first()
    what, id_ = request.form.get("what", ""), request.form.get("id", "")
    if what not in _END_FUNCTIONS or not _ID.fullmatch(id_):
        raise Problem("form_stale")
    if what in ("totp", "passkey") and (asked := prove_first(ACCOUNT)):
        return asked
    _END_FUNCTIONS[what](current_account(), id_)
    made = redirect(ACCOUNT)
    return clear_session_cookie(made) if (what, id_) == ("session", who.credential) else made


def _end_session(me: Account, id_: str) -> None:
    people = services().account_store
    if not id_ or not people.sessions.end(me.id, id_):
        raise Problem("not_found")
    people.audit_log.store(security_log.audit_statements(me.id, "logout", rate_limits.client_network()))


def _end_token(me: Account, id_: str) -> None:
    people = services().account_store
    if not people.personal_tokens.revoke(me.id, id_):
        raise Problem("not_found")
    people.audit_log.store(security_log.audit_statements(me.id, "token_revoked", rate_limits.client_network(), id_))


_END_FUNCTIONS: dict[str, Callable[[Account, str], None]] = {
    "session": _end_session,
    "token": _end_token,
    "grant": lambda me, id_: revoke_grant(me.id, id_),
    "totp": lambda _, __: second_factors.remove_factor("totp", ""),
    "passkey": lambda _, id_: second_factors.remove_factor("passkey", id_),
}


def set_up_totp() -> Response:
    """Set up an authenticator: its secret, then a code of it."""
    if session_owner() is None:
        return log_in_first()
    if asked := prove_first(ACCOUNT):
        return asked
    if "code" not in request.form:
        return render_page("totp", setup=second_factors.propose_totp())
    try:
        second_factors.confirm_totp_code(request.form["code"][:20])
    except Problem as problem:
        return render_page("totp", problem.status, setup=None, problem=localize_problem(problem))
    return redirect(ACCOUNT)


def add_passkey() -> Response:
    """Add a passkey."""
    if session_owner() is None:
        return log_in_first()
    if asked := prove_first(ACCOUNT):
        return asked
    if "passkey" not in request.form:
        me = current_account()
        options = services().account_store.passkeys.creation_options(me.id, me.name, public_url.base_url())
        return render_page("passkey", script=True, challenge=orjson.dumps(options).decode())
    label = request.form.get("label", "").strip()
    named = {"label": label} if label else {}
    body = load_form(NewPasskeySchema(), passkey=parse_json_object(request.form["passkey"]), **named)
    second_factors.add_passkey(body["label"], body["passkey"])
    return redirect(ACCOUNT)
