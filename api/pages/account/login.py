"""Pages to log in and out, open an account, and confirm the password before sensitive changes."""

from __future__ import annotations

import msgspec
from flask import Flask, Response, g, request

from api import authentication, authorization
from api.authentication import SecondFactorProof, SecondFactorRequired, VerifiedLogin
from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem, problem_of_error
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import ask
from api.pages.common.session import (
    clear_session_cookie,
    current_account,
    current_url,
    device_token,
    forget_guest_tables,
    form_owner,
    guest_tables,
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
from api.schemas.accounts import ForgottenSchema, LoginSchema, NewAccountSchema, ProofSchema, RecoverySchema
from api.services import services
from domain.errors import AnnalsError
from domain.service.token_text import hash_secret
from domain.types import Doc

LABEL = "browser"
"""Label of sessions started on a page."""

_PENDING_LOGIN = "second factor"


def register_pages(app: Flask) -> None:
    """Register the pages of this module."""
    app.add_url_rule("/login", "pages.login", page(login), methods=["GET", "POST"])
    app.add_url_rule("/login/factor", "pages.factor", page(factor), methods=["POST"])
    app.add_url_rule("/login/passkey", "pages.passkey", page(passkey), methods=["POST"])
    app.add_url_rule("/recovery", "pages.recovery", page(recovery), methods=["GET", "POST"])
    app.add_url_rule("/register", "pages.register", page(register), methods=["GET", "POST"])
    app.add_url_rule("/proof", "pages.proof", page(proof), methods=["GET", "POST"])
    app.add_url_rule("/logout", "pages.logout", page(logout), methods=["POST"])


def log_in_first() -> Response:
    """Show the login page, with this page as the target."""
    return show_login(current_url())


def show_login(target: str, problem: Doc | None = None, status: int = 200, name: str = "") -> Response:
    """Show the login page. `target` is the path to go to afterwards."""
    opens = services().settings.registration != "closed"
    passkeys = passkey_challenge() if status != 429 else ""
    return render_page(
        "login", status, script=True, target=target, problem=problem, name=name, opens=opens, challenge=passkeys
    )


def passkey_challenge() -> str:
    """Return the passkey options for the page's script, as JSON."""
    return msgspec.json.encode(services().account_store.passkeys.request_options(public_url.base_url())).decode()


def login() -> Response:
    """Log in with name and password."""
    target = safe_target(request.values.get("next", "/"))
    if request.method == "GET":
        return redirect(target) if session_owner() else show_login(target)
    fields = {name: request.form.get(name, "") for name in ("name", "password")}
    try:
        body = load_form(LoginSchema(), **fields)
        entry = authentication.verify_password_login(
            body["name"], body["password"], device_token(), SecondFactorProof()
        )
    except SecondFactorRequired as missing:
        return _show_second_factor(missing, target)
    except Problem as problem:
        return show_login(target, localize_problem(problem), problem.status, fields["name"][:200])
    return _finish_login(entry, target)


def _finish_login(entry: VerifiedLogin, target: str) -> Response:
    """Start a session, end the browser's previous one, and redirect to the target."""
    if before := session_owner():
        services().account_store.sessions.end(before.account, before.credential)
    device_token = services().account_store.sessions.make_device_token(entry.account.id)
    token = authentication.start_session(entry, LABEL)
    _take_over_guest(token)
    return set_login_cookies(redirect(target), token, device_token)


def _take_over_guest(token: str) -> None:
    """Claim the games of this browser's guest for the account of a new session. After a refusal it keeps them."""
    tokens = [token for tables in guest_tables().values() for token in tables.values()]
    refused = False
    for each in tokens:
        if services().seat_tokens.authenticate(each) is not None:  # one claims all tables of the same guest
            refused |= ask("POST", "/me/claims", {"token": each}, token=token).status >= 400
    if not refused:
        forget_guest_tables()


def _show_second_factor(
    missing: SecondFactorRequired, target: str, problem: Doc | None = None, status: int = 200
) -> Response:
    """Show the form for the second factor, with the sealed state of the pending login."""
    pending = {"account": missing.account.id, "kept": hash_secret(missing.password_hash), "target": target}
    half = services().account_store.signed_forms.seal(form_owner(), _PENDING_LOGIN, pending)
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
    """Check the second factor, after the password."""
    account_store = services().account_store
    half = account_store.signed_forms.open(form_owner(), _PENDING_LOGIN, request.form.get("half", ""))
    account = account_store.accounts.find(half["account"]) if half else None
    if (
        half is None
        or account is None
        or hash_secret(account_store.credentials.find_password_hash(account.id)) != half["kept"]
    ):
        raise Problem("form_stale")
    password_hash, target = account_store.credentials.find_password_hash(account.id), safe_target(half["target"])
    try:
        return _finish_login(
            authentication.verify_pending_login(account, password_hash, device_token(), _read_second_factor()), target
        )
    except Problem as problem:
        missing = SecondFactorRequired(account, password_hash, account_store.second_factors.list_kinds(account.id))
        return _show_second_factor(missing, target, localize_problem(problem), problem.status)


def _read_second_factor() -> SecondFactorProof:
    """Return the second factor in the submitted form."""
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


def recovery() -> Response:
    """Set a new password with a recovery code, or have a code sent by mail."""
    if request.method == "GET":
        return _show_recovery()
    name = request.form.get("name", "")
    try:
        if request.form.get("act") == "mail":
            accounts.send_recovery_code(load_form(ForgottenSchema(), name=name)["name"])
            return _show_recovery(name=name, is_sent=True)
        fields = {field: request.form.get(field, "") for field in ("code", "password", "factor")}
        body = load_form(RecoverySchema(), name=name, label=LABEL, **fields)
        return _finish_login(accounts.recover_login(body), safe_target(""))
    except Problem as problem:
        return _show_recovery(problem.status, name=name, problem=localize_problem(problem))


def _show_recovery(status: int = 200, *, name: str = "", is_sent: bool = False, problem: Doc | None = None) -> Response:
    mails = bool(services().settings.mail)
    return render_page("recovery", status, name=name[:200], is_sent=is_sent, mails=mails, problem=problem)


def register() -> Response:
    """Open an account."""
    target = safe_target(request.values.get("next", "/"))
    fields = {name: request.form.get(name, "") for name in ("password", "invitation", "event_code")}
    fields["name"] = read_text("name")
    if services().settings.registration == "closed":
        raise Problem("registration_closed")
    if request.method == "GET":
        return _show_registration(target)
    try:
        doc, _ = accounts.register_account(load_form(NewAccountSchema(), label=LABEL, **fields))
    except Problem as problem:
        return _show_registration(target, fields["name"], problem)
    except AnnalsError as error:
        return _show_registration(target, fields["name"], problem_of_error(error))
    _take_over_guest(doc["token"])
    if fields["event_code"]:  # a claim code makes its entrant the account's own
        ask("POST", "/me/entries", {"code": fields["event_code"]}, token=doc["token"])
    g.owner = services().account_store.credentials.find_owner(doc["token"])  # the page has the menu of the account
    is_later = request.form.get("codes") == "later"  # beside a board: the page of the account has them
    shown = redirect(target) if is_later else render_page("codes", codes=doc["codes"], target=target)
    return set_login_cookies(shown, doc["token"], doc["device"])


def _show_registration(target: str, name: str = "", problem: Problem | None = None) -> Response:
    """Show the form for an account, with the reason of a refusal beside its field."""
    doc = localize_problem(problem) if problem else {}
    field = _REFUSED_FIELDS.get(problem.code, "") if problem else ""
    faults = {each["at"].removeprefix("/"): each["message"] for each in doc.get("errors", ())}
    faults = {each: text for each, text in faults.items() if each in ("name", "password", "invitation", "event_code")}
    faults |= {field: doc.get("detail") or f"{doc['title']}."} if field else {}
    return render_page(
        "register",
        problem.status if problem else 200,
        target=target,
        name=name,
        invited=_needs_invitation(),
        code=request.form.get("event_code", "")[:64],
        faults=faults,
        later=request.form.get("codes") == "later",
        problem=doc if problem and not faults else None,
    )


_REFUSED_FIELDS = {
    "weak_password": "password",
    "name_taken": "name",
    "unfit_name": "name",
    "not_invited": "invitation",
    "event_code_refused": "event_code",
}
"""Code of a refusal -> field of the form."""


def _needs_invitation() -> bool:
    """Return True if opening an account needs an invitation."""
    return services().settings.registration == "invitation"


def prove_first(view_target: str) -> Response | None:
    """Return the password form unless the password was checked recently."""
    try:
        authorization.require_fresh_password()
    except Problem:
        return show_proof(view_target)
    return None


def show_proof(target: str, problem: Doc | None = None, status: int = 200) -> Response:
    """Show the form to enter the password again."""
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
    """Check the password again, and the second factor if there is one."""
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
    if owner := session_owner():
        account_store = services().account_store
        account_store.sessions.end(owner.account, owner.credential)
        account_store.audit_log.store(
            security_log.audit_statements(owner.account, "logout", rate_limits.client_network())
        )
        g.owner = None
    return clear_session_cookie(clear_site_data(redirect("/login")))
