"""Authorization endpoint of OAuth 2: the page to allow or refuse a client.

The URL of the page's form ends with a stamp for the request and the scopes that the page shows. An answer counts only
for these.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from flask import Response, g, request

from api.http import public_url
from api.http.problems import Problem
from api.oauth.authorization_server import filter_scopes, server
from api.pages.account.login import log_in_first
from api.pages.common.session import current_account, form_owner, render_page, session_owner
from api.routes.agents import FOREIGN_RESOURCE, are_own_resources
from api.services import services
from domain.accounts.accounts import Account
from domain.accounts.oauth_clients import OAuthClient

MAX_QUERY_BYTES = 6000
"""Longest query string. The redirect repeats its `state`, the login page's URL all of it."""

_STAMP = "shown"
"""Query parameter of the form's URL with the stamp."""

_STAMP_BYTES = len(f"&{_STAMP}=") + 96
"""Size of this parameter."""


class InvalidTargetError(OAuth2Error):
    """The request is for a resource of another service (RFC 8707)."""

    error = "invalid_target"
    description = FOREIGN_RESOURCE


def authorize() -> Response:
    """Ask for consent, and redirect the answer to the client."""
    client = _find_client()
    oauth_request = server().create_oauth2_request(None)
    try:
        if request.args.get("response_type") != "code" or "request" in request.args:
            raise _invalid_request()
        if not are_own_resources(request.args.getlist("resource")):
            raise InvalidTargetError
        grant = server().get_consent_grant(oauth_request)
    except OAuth2Error as error:
        return _redirect_error(error)
    if session_owner() is None:
        return log_in_first()
    if request.method == "GET":
        return _show_consent(client, current_account(), oauth_request.scope)
    return _answer_consent(grant, oauth_request, oauth_request.scope)


def _find_client() -> OAuthClient:
    """Return the client of the request. Raise Problem if client or redirect URI is unknown: no redirect then."""
    if len(request.query_string) > MAX_QUERY_BYTES + (_STAMP_BYTES if request.method == "POST" else 0):
        raise Problem("uri_too_long")
    not_once = [name for name in ("client_id", "redirect_uri") if len(request.args.getlist(name)) != 1]
    found = None if not_once else server().query_client(request.args["client_id"])
    if found is None:
        raise Problem("unknown_client")
    if not found.check_redirect_uri(request.args["redirect_uri"]):
        raise Problem("unknown_redirect")
    client: OAuthClient = found.client
    return client


def _invalid_request() -> OAuth2Error:
    return InvalidRequestError("The response_type must be 'code', and request objects are not supported.")


def _redirect_error(error: OAuth2Error) -> Response:
    """Redirect an error to the client without asking for consent."""
    g.problem = error.error
    params = {"error": error.error, "error_description": error.description or ""}
    return redirect_to_client({name: said for name, said in params.items() if said})


def redirect_to_client(params: dict[str, str]) -> Response:
    """Redirect to the client's registered URL with these query parameters."""
    redirect, state = request.args["redirect_uri"], request.args.getlist("state")
    answer = params | ({"state": state[0]} if len(state) == 1 and state[0] else {}) | {"iss": public_url.base_url()}
    separator = "&" if urlsplit(redirect).query else "?"
    return Response(status=303, headers={"Location": redirect + separator + urlencode(answer)})


def _show_consent(client: OAuthClient, me: Account, scope: str) -> Response:
    if me.state == "banned":
        raise Problem("account_banned")
    account_store, redirect = services().account_store, request.args["redirect_uri"]
    owner, scopes = account_store.accounts.find(client.account), filter_scopes(me, scope)
    stamp = account_store.signed_forms.sign(form_owner(), _describe_consent(scopes))
    return render_page(
        "consent",
        client=client,
        owner=owner.name if owner else "",
        scopes=scopes,
        host=urlsplit(redirect).netloc,
        query=f"{request.query_string.decode()}&{_STAMP}={stamp}",
        # Browsers apply form-action to the redirect after the form as well.
        targets=(_origin(redirect),),
    )


def _describe_consent(scopes: Sequence[str]) -> str:
    """Return the action for which the form is stamped: the request's parameters and the scopes that the page shows."""
    asked = [parameter for parameter in request.args.items(multi=True) if parameter[0] != _STAMP]
    return json.dumps(["consent", asked, list(scopes)])


def _origin(address: str) -> str:
    parts = urlsplit(address)
    # A Content-Security-Policy cannot name an IPv6 address.
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def _answer_consent(grant: object, oauth_request: object, scope: str) -> Response:
    me = current_account()
    if me.state == "banned":
        raise Problem("account_banned")
    action, stamp = _describe_consent(filter_scopes(me, scope)), request.args.getlist(_STAMP)[-1:]
    if not stamp or not services().account_store.signed_forms.is_signed(form_owner(), action, stamp[0]):
        raise Problem("form_stale")
    agrees = request.form.get("answer") == "allow"
    response: Response = server().create_authorization_response(oauth_request, me if agrees else None, grant)
    response.status_code = 303
    return response
