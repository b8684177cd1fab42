"""Logging in and out, opening an account, and showing what is dangerous that it is really oneself."""

from __future__ import annotations

import orjson
from flask import Flask, Response, g, request

from api import authentication, authorization
from api.authentication import SecondFactorProof, SecondFactorRequired, VerifiedLogin
from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem
from api.pages.session import (
    clear_session_cookie,
    current_account,
    current_url,
    device_token,
    form_owner,
    load_form,
    localize_problem,
    page,
    parse_json_object,
    redirect,
    render_page,
    safe_target,
    session_owner,
    set_login_cookies,
    set_session_cookie,
)
from api.response_builders import clear_site_data
from api.routes.accounts import accounts
from api.schemas.accounts import LoginSchema, NewAccountSchema, ProofSchema
from api.services import Doc, services
from domain.service.token_text import hash_secret

LABEL = "browser"
"""What devices that come by a page are called."""

_PENDING_LOGIN = "second factor"


def register_pages(app: Flask) -> None:
    """The pages."""
    app.add_url_rule("/login", "pages.login", page(login), methods=["GET", "POST"])
    app.add_url_rule("/login/factor", "pages.factor", page(factor), methods=["POST"])
    app.add_url_rule("/login/passkey", "pages.passkey", page(passkey), methods=["POST"])
    app.add_url_rule("/register", "pages.register", page(register), methods=["GET", "POST"])
    app.add_url_rule("/proof", "pages.proof", page(proof), methods=["GET", "POST"])
    app.add_url_rule("/logout", "pages.logout", page(logout), methods=["POST"])


def log_in_first() -> Response:
    """To the page of logging in, and back."""
    return show_login(current_url())


def show_login(target: str, problem: Doc | None = None, status: int = 200, name: str = "") -> Response:
    """The page on which people log in; `target` is where they want to go."""
    opens = services().settings.registration != "closed"
    passkeys = passkey_challenge() if status != 429 else ""
    return render_page(
        "login", status, script=True, target=target, problem=problem, name=name, opens=opens, challenge=passkeys
    )


def passkey_challenge() -> str:
    """What the script of the page passes to the browser."""
    return orjson.dumps(services().account_store.passkeys.request_options(public_url.base_url())).decode()


def login() -> Response:
    """Log in with name and password."""
    target = safe_target(request.values.get("next", ""))
    if request.method == "GET":
        return redirect(target) if session_owner() else show_login(target)
    asked = {name: request.form.get(name, "") for name in ("name", "password")}
    try:
        body = load_form(LoginSchema(), **asked)
        entry = authentication.verify_password_login(
            body["name"], body["password"], device_token(), SecondFactorProof()
        )
    except SecondFactorRequired as missing:
        return _show_second_factor(missing, target)
    except Problem as problem:
        return show_login(target, localize_problem(problem), problem.status, asked["name"][:200])
    return _finish_login(entry, target)


def _finish_login(entry: VerifiedLogin, target: str) -> Response:
    """A new session, whatever there was; the one before ends."""
    if before := session_owner():
        services().account_store.sessions.end(before.account, before.credential)
    device_token = services().account_store.sessions.make_device_token(entry.account.id)
    return set_login_cookies(redirect(target), authentication.start_session(entry, LABEL), device_token)


def _show_second_factor(
    missing: SecondFactorRequired, target: str, problem: Doc | None = None, status: int = 200
) -> Response:
    said = {"account": missing.account.id, "kept": hash_secret(missing.password_hash), "target": target}
    half = services().account_store.signed_forms.seal(form_owner(), _PENDING_LOGIN, said)
    kinds = missing.members["factors"]
    return render_page(
        "factor",
        status,
        script=True,
        half=half,
        kinds=kinds,
        challenge=passkey_challenge(),
        problem=problem,
        target=target,
    )


def factor() -> Response:
    """Show the second factor, after the password."""
    people = services().account_store
    half = people.signed_forms.open(form_owner(), _PENDING_LOGIN, request.form.get("half", ""))
    account = people.accounts.find(half["account"]) if half else None
    if (
        half is None
        or account is None
        or hash_secret(people.credentials.find_password_hash(account.id)) != half["kept"]
    ):
        raise Problem("form_stale")
    kept, target = people.credentials.find_password_hash(account.id), safe_target(half["target"])
    try:
        return _finish_login(
            authentication.verify_pending_login(account, kept, device_token(), _read_second_factor()), target
        )
    except Problem as problem:
        missing = SecondFactorRequired(account, kept, people.second_factors.list_kinds(account.id))
        return _show_second_factor(missing, target, localize_problem(problem), problem.status)


def _read_second_factor() -> SecondFactorProof:
    answer = request.form.get("passkey", "")
    return SecondFactorProof(request.form.get("code", "")[:40], parse_json_object(answer) if answer else None)


def passkey() -> Response:
    """Log in with a passkey alone."""
    target = safe_target(request.form.get("next", ""))
    try:
        return _finish_login(
            authentication.verify_passkey_login(parse_json_object(request.form.get("passkey", ""))), target
        )
    except Problem as problem:
        return show_login(target, localize_problem(problem), problem.status)


def register() -> Response:
    """Open an account."""
    target = safe_target(request.values.get("next", ""))
    asked = {name: request.form.get(name, "") for name in ("name", "password", "invitation")}
    if services().settings.registration == "closed":
        raise Problem("registration_closed")
    if request.method == "GET":
        return render_page("register", target=target, name="", invited=_needs_invitation())
    try:
        told, _ = accounts.register_account(load_form(NewAccountSchema(), label=LABEL, **asked))
    except Problem as problem:
        said = localize_problem(problem)
        return render_page(
            "register",
            problem.status,
            target=target,
            name=asked["name"][:40],
            invited=_needs_invitation(),
            problem=said,
        )
    return set_login_cookies(render_page("codes", codes=told["codes"], target=target), told["token"], told["device"])


def _needs_invitation() -> bool:
    return services().settings.registration == "invitation"


def prove_first(view_target: str) -> Response | None:
    """The page that asks for the password again, where it was not shown lately."""
    try:
        authorization.require_fresh_password()
    except Problem:
        return show_proof(view_target)
    return None


def show_proof(target: str, problem: Doc | None = None, status: int = 200) -> Response:
    """The page on which a password is shown again."""
    kinds = services().account_store.second_factors.list_kinds(current_account().id)
    return render_page(
        "proof",
        status,
        script=True,
        target=target,
        kinds=kinds,
        problem=problem,
        challenge=passkey_challenge() if kinds else "",
    )


def proof() -> Response:
    """Show the password again, and the second factor of who has one."""
    target = safe_target(request.values.get("next", ""))
    if session_owner() is None:
        return show_login(target)
    if request.method == "GET":
        return show_proof(target)
    try:
        authorization.verify_session_password(
            load_form(ProofSchema(), password=request.form.get("password", ""))["password"], _read_second_factor()
        )
    except Problem as problem:
        return show_proof(target, localize_problem(problem), problem.status)
    return set_session_cookie(redirect(target), authorization.renew_session())


def logout() -> Response:
    """Log out this browser."""
    if who := session_owner():
        people = services().account_store
        people.sessions.end(who.account, who.credential)
        people.audit_log.store(security_log.audit_statements(who.account, "logout", rate_limits.client_network()))
        g.owner = None
    return clear_session_cookie(clear_site_data(redirect("/login")))
