"""Allowing a device that has no browser what it asks for: its code is typed here."""

from __future__ import annotations

from flask import Response, request

from api import authorization
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.pages.login import log_in_first
from api.pages.session import in_words, show, somebody, visitor
from api.services import services
from domain.accounts.oauth_clients import Client
from domain.accounts.oauth_devices import Device


def device() -> Response:
    """Type the code that a device shows, and say whether it may have what it asks for."""
    if visitor() is None:
        return log_in_first()
    if request.method == "GET":
        return show("device")
    code = request.form.get("code", "")[:40]
    try:
        found, client = _typed(code)
    except Problem as problem:
        return show("device", problem.status, problem=in_words(problem))
    answer = request.form.get("answer", "")
    return _answered(found, client, answer == "allow") if answer else _ask(found, client, code)


def _typed(code: str) -> tuple[Device, Client]:
    """What is asked for by that code; who guesses waits longer and longer. Raises Problem."""
    people, me = services().people, somebody()
    if me.state == "banned":
        raise Problem("account_banned")
    with login_throttle.guessing(f"device codes of {me.id}", at=rate_limits.address()):
        found = people.devices.typed(code)
        client = people.clients.find(found.client) if found else None
        if found is None or client is None:
            raise Problem("wrong_credentials", "No device waits with that code.")
    return found, client


def _ask(found: Device, client: Client, code: str) -> Response:
    owner = services().people.accounts.find(client.account)
    scopes = _given(found)
    return show("device_consent", client=client, owner=owner.name if owner else "", scopes=scopes, code=code)


def _given(found: Device) -> list[str]:
    from api.oauth.authorization_server import allowed_to  # noqa: PLC0415 - few processes ever need the library

    return allowed_to(somebody(), " ".join(found.scopes))


def _answered(found: Device, client: Client, agrees: bool) -> Response:
    people, me = services().people, somebody()
    scopes = _given(found)
    what = "grant_made" if agrees else "grant_refused"
    logged = security_log.journaled(me.id, what, rate_limits.network(), f"{client.name}: {' '.join(scopes)}")
    if not people.devices.answer(
        found, me.id, scopes, logged, allowed=agrees, session=authorization.holding().credential
    ):
        raise Problem("form_stale")
    return show("device_done", agrees=agrees, client=client)
