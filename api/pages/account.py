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
from api.pages.session import in_words, let_out, loaded, read, sent_on, show, somebody, visitor
from api.routes.accounts import second_factors
from api.routes.oauth.grants import withdraw
from api.schemas.second_factors import NewPasskeySchema
from api.services import services
from domain.accounts.accounts import Account

ACCOUNT = "/account"

_ID = re.compile(PasskeyConverter.regex + "|")
"""The longest of all ids; an authenticator has none."""


def account() -> Response:
    """All that is one's own."""
    who = visitor()
    if who is None:
        return log_in_first()
    people = services().people
    return show(
        "account",
        sessions=people.credentials.sessions(who.account),
        current=who.credential,
        tokens=people.credentials.tokens(who.account),
        grants=people.grants.of(who.account),
        factors=people.factors.of(who.account),
        codes=people.credentials.left(who.account),
    )


def end() -> Response:
    """End a session, a token, a grant or a second factor of one's own."""
    who = visitor()
    if who is None:
        return log_in_first()
    what, id_ = request.form.get("what", ""), request.form.get("id", "")
    if what not in _ENDS or not _ID.fullmatch(id_):
        raise Problem("form_stale")
    if what in ("totp", "passkey") and (asked := prove_first(ACCOUNT)):
        return asked
    _ENDS[what](somebody(), id_)
    made = sent_on(ACCOUNT)
    return let_out(made) if (what, id_) == ("session", who.credential) else made


def _end_session(me: Account, id_: str) -> None:
    people = services().people
    if not id_ or not people.credentials.end(me.id, id_):
        raise Problem("not_found")
    people.journal.keep(security_log.journaled(me.id, "logout", rate_limits.network()))


def _end_token(me: Account, id_: str) -> None:
    people = services().people
    if not people.credentials.revoke(me.id, id_):
        raise Problem("not_found")
    people.journal.keep(security_log.journaled(me.id, "token_revoked", rate_limits.network(), id_))


_ENDS: dict[str, Callable[[Account, str], None]] = {
    "session": _end_session,
    "token": _end_token,
    "grant": lambda me, id_: withdraw(me.id, id_),
    "totp": lambda _, __: second_factors.remove("totp", ""),
    "passkey": lambda _, id_: second_factors.remove("passkey", id_),
}


def totp() -> Response:
    """Set up an authenticator: its secret, then a code of it."""
    if visitor() is None:
        return log_in_first()
    if asked := prove_first(ACCOUNT):
        return asked
    if "code" not in request.form:
        return show("totp", setup=second_factors.proposed())
    try:
        second_factors.confirm(request.form["code"][:20])
    except Problem as problem:
        return show("totp", problem.status, setup=None, problem=in_words(problem))
    return sent_on(ACCOUNT)


def passkeys() -> Response:
    """Add a passkey."""
    if visitor() is None:
        return log_in_first()
    if asked := prove_first(ACCOUNT):
        return asked
    if "passkey" not in request.form:
        me = somebody()
        options = services().people.passkeys.invite(me.id, me.name, public_url.address())
        return show("passkey", script=True, challenge=orjson.dumps(options).decode())
    label = request.form.get("label", "").strip()
    named = {"label": label} if label else {}
    body = loaded(NewPasskeySchema(), passkey=read(request.form["passkey"]), **named)
    second_factors.added(body["label"], body["passkey"])
    return sent_on(ACCOUNT)
