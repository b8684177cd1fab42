"""Pages to allow a device without a browser: its user code is entered here."""

from __future__ import annotations

from flask import Response, request

from api import authorization
from api.http import login_throttle, rate_limits, security_log
from api.http.problems import Problem
from api.pages.account.login import log_in_first
from api.pages.common.session import current_account, localize_problem, render_page, session_owner
from api.services import services
from domain.accounts.oauth_clients import OAuthClient
from domain.accounts.oauth_devices import DeviceLogin


def device() -> Response:
    """Enter a device's code, then allow or refuse its request."""
    if session_owner() is None:
        return log_in_first()
    if request.method == "GET":
        return render_page("device")
    code = request.form.get("code", "")[:40]
    try:
        found, client = _find_device(code)
    except Problem as problem:
        return render_page("device", problem.status, problem=localize_problem(problem))
    answer = request.form.get("answer", "")
    return _answer_consent(found, client, answer == "allow") if answer else _show_consent(found, client, code)


def _find_device(code: str) -> tuple[DeviceLogin, OAuthClient]:
    """Return the waiting device login and client for a user code. Raise Problem.

    Each wrong code makes the next attempt wait longer.
    """
    account_store, me = services().account_store, current_account()
    if me.state == "banned":
        raise Problem("account_banned")
    with login_throttle.throttled(f"device codes of {me.id}", address=rate_limits.client_address()):
        found = account_store.device_logins.find_by_code(code)
        client = account_store.oauth_clients.find(found.client) if found else None
        if found is None or client is None:
            raise Problem("wrong_credentials", "No device is waiting with this code.")
    return found, client


def _show_consent(found: DeviceLogin, client: OAuthClient, code: str) -> Response:
    owner = services().account_store.accounts.find(client.account)
    scopes = _grantable_scopes(found)
    return render_page("device_consent", client=client, owner=owner.name if owner else "", scopes=scopes, code=code)


def _grantable_scopes(found: DeviceLogin) -> list[str]:
    from api.oauth.authorization_server import filter_scopes  # noqa: PLC0415 - few processes ever need the library

    return filter_scopes(current_account(), " ".join(found.scopes))


def _answer_consent(found: DeviceLogin, client: OAuthClient, agrees: bool) -> Response:
    account_store, me = services().account_store, current_account()
    scopes = _grantable_scopes(found)
    what = "grant_made" if agrees else "grant_refused"
    audit_rows = security_log.audit_statements(
        me.id, what, rate_limits.client_network(), f"{client.name}: {' '.join(scopes)}"
    )
    if not account_store.device_logins.answer(
        found, me.id, scopes, audit_rows, allowed=agrees, session=authorization.credential_owner().credential
    ):
        raise Problem("form_stale")
    return render_page("device_done", agrees=agrees, client=client)
