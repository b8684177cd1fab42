"""Logging in and out, opening an account, and showing what is dangerous that it is really oneself."""

from __future__ import annotations

import orjson
from flask import Flask, Response, g, request

from api import authentication, authorization
from api.authentication import Entry, Second, SecondMissing
from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem
from api.pages.session import (
    bearer,
    device,
    here,
    in_words,
    kept_in,
    let_in,
    let_out,
    loaded,
    onward,
    page,
    read,
    sent_on,
    show,
    somebody,
    visitor,
)
from api.response_builders import forgotten
from api.routes.accounts import accounts
from api.schemas.accounts import LoginSchema, NewAccountSchema, ProofSchema
from api.services import Doc, services
from domain.accounts.account_tables import digest

LABEL = "browser"
"""What devices that come by a page are called."""

_HALF = "second factor"


def install(app: Flask) -> None:
    """The pages."""
    app.add_url_rule("/login", "pages.login", page(login), methods=["GET", "POST"])
    app.add_url_rule("/login/factor", "pages.factor", page(factor), methods=["POST"])
    app.add_url_rule("/login/passkey", "pages.passkey", page(passkey), methods=["POST"])
    app.add_url_rule("/register", "pages.register", page(register), methods=["GET", "POST"])
    app.add_url_rule("/proof", "pages.proof", page(proof), methods=["GET", "POST"])
    app.add_url_rule("/logout", "pages.logout", page(logout), methods=["POST"])


def log_in_first() -> Response:
    """To the page of logging in, and back."""
    return show_login(here())


def show_login(target: str, problem: Doc | None = None, status: int = 200, name: str = "") -> Response:
    """The page on which people log in; `target` is where they want to go."""
    opens = services().settings.registration != "closed"
    passkeys = challenge() if status != 429 else ""
    return show(
        "login", status, script=True, target=target, problem=problem, name=name, opens=opens, challenge=passkeys
    )


def challenge() -> str:
    """What the script of the page passes to the browser."""
    return orjson.dumps(services().people.passkeys.ask(public_url.address())).decode()


def login() -> Response:
    """Log in with name and password."""
    target = onward(request.values.get("next", ""))
    if request.method == "GET":
        return sent_on(target) if visitor() else show_login(target)
    asked = {name: request.form.get(name, "") for name in ("name", "password")}
    try:
        body = loaded(LoginSchema(), **asked)
        entry = authentication.by_password(body["name"], body["password"], device(), Second())
    except SecondMissing as missing:
        return _ask_second(missing, target)
    except Problem as problem:
        return show_login(target, in_words(problem), problem.status, asked["name"][:200])
    return _entered(entry, target)


def _entered(entry: Entry, target: str) -> Response:
    """A new session, whatever there was; the one before ends."""
    if before := visitor():
        services().people.credentials.end(before.account, before.credential)
    device_token = services().people.credentials.device(entry.account.id)
    return let_in(sent_on(target), authentication.begin(entry, LABEL), device_token)


def _ask_second(missing: SecondMissing, target: str, problem: Doc | None = None, status: int = 200) -> Response:
    said = {"account": missing.account.id, "kept": digest(missing.kept), "target": target}
    half = services().people.forms.seal(bearer(), _HALF, said)
    kinds = missing.members["factors"]
    return show(
        "factor", status, script=True, half=half, kinds=kinds, challenge=challenge(), problem=problem, target=target
    )


def factor() -> Response:
    """Show the second factor, after the password."""
    people = services().people
    half = people.forms.open(bearer(), _HALF, request.form.get("half", ""))
    account = people.accounts.find(half["account"]) if half else None
    if half is None or account is None or digest(people.credentials.password(account.id)) != half["kept"]:
        raise Problem("form_stale")
    kept, target = people.credentials.password(account.id), onward(half["target"])
    try:
        return _entered(authentication.by_second(account, kept, device(), _second()), target)
    except Problem as problem:
        missing = SecondMissing(account, kept, people.factors.kinds(account.id))
        return _ask_second(missing, target, in_words(problem), problem.status)


def _second() -> Second:
    answer = request.form.get("passkey", "")
    return Second(request.form.get("code", "")[:40], read(answer) if answer else None)


def passkey() -> Response:
    """Log in with a passkey alone."""
    target = onward(request.form.get("next", ""))
    try:
        return _entered(authentication.by_passkey(read(request.form.get("passkey", ""))), target)
    except Problem as problem:
        return show_login(target, in_words(problem), problem.status)


def register() -> Response:
    """Open an account."""
    target = onward(request.values.get("next", ""))
    asked = {name: request.form.get(name, "") for name in ("name", "password", "invitation")}
    if services().settings.registration == "closed":
        raise Problem("registration_closed")
    if request.method == "GET":
        return show("register", target=target, name="", invited=_invited())
    try:
        told, _ = accounts.opened(loaded(NewAccountSchema(), label=LABEL, **asked))
    except Problem as problem:
        said = in_words(problem)
        return show(
            "register", problem.status, target=target, name=asked["name"][:40], invited=_invited(), problem=said
        )
    return let_in(show("codes", codes=told["codes"], target=target), told["token"], told["device"])


def _invited() -> bool:
    return services().settings.registration == "invitation"


def prove_first(view_target: str) -> Response | None:
    """The page that asks for the password again, where it was not shown lately."""
    try:
        authorization.fresh()
    except Problem:
        return show_proof(view_target)
    return None


def show_proof(target: str, problem: Doc | None = None, status: int = 200) -> Response:
    """The page on which a password is shown again."""
    kinds = services().people.factors.kinds(somebody().id)
    return show(
        "proof",
        status,
        script=True,
        target=target,
        kinds=kinds,
        problem=problem,
        challenge=challenge() if kinds else "",
    )


def proof() -> Response:
    """Show the password again, and the second factor of who has one."""
    target = onward(request.values.get("next", ""))
    if visitor() is None:
        return show_login(target)
    if request.method == "GET":
        return show_proof(target)
    try:
        authorization.prove(loaded(ProofSchema(), password=request.form.get("password", ""))["password"], _second())
    except Problem as problem:
        return show_proof(target, in_words(problem), problem.status)
    return kept_in(sent_on(target), authorization.renew())


def logout() -> Response:
    """Log out this browser."""
    if who := visitor():
        people = services().people
        people.credentials.end(who.account, who.credential)
        people.journal.keep(security_log.journaled(who.account, "logout", rate_limits.network()))
        g.holder = None
    return let_out(forgotten(sent_on("/login")))
