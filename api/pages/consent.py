"""Allowing a program of others what it asks for: the authorization endpoint of OAuth 2."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from flask import Response, g, request

from api.http import public_url
from api.http.problems import Problem
from api.oauth.authorization_server import filter_scopes, server
from api.pages.login import log_in_first
from api.pages.session import current_account, render_page, session_owner
from api.services import services
from domain.accounts.accounts import Account
from domain.accounts.oauth_clients import OAuthClient

MAX_QUERY_BYTES = 6000
"""Bytes of what a client asks: the answer holds its `state`, and the address of the login page all of it."""


def authorize() -> Response:
    """Ask the person whether the client may have what it asks for; what they say goes to the client."""
    client = _find_client()
    asked = server().create_oauth2_request(None)
    try:
        if request.args.get("response_type") != "code" or "request" in request.args:
            raise _invalid_request()
        grant = server().get_consent_grant(asked)
    except OAuth2Error as error:
        return _redirect_error(error)
    if session_owner() is None:
        return log_in_first()
    if request.method == "GET":
        return _show_consent(client, current_account(), asked.scope)
    return _answer_consent(grant, asked)


def _find_client() -> OAuthClient:
    """Who asks, if they may be answered at that address. Else nobody is sent anywhere; raises Problem."""
    if len(request.query_string) > MAX_QUERY_BYTES:
        raise Problem("uri_too_long")
    twice = [name for name in ("client_id", "redirect_uri") if len(request.args.getlist(name)) != 1]
    found = None if twice else server().query_client(request.args["client_id"])
    if found is None:
        raise Problem("unknown_client")
    if not found.check_redirect_uri(request.args["redirect_uri"]):
        raise Problem("unknown_redirect")
    client: OAuthClient = found.client
    return client


def _invalid_request() -> OAuth2Error:
    return InvalidRequestError("The only response_type is 'code', and all is asked in parameters.")


def _redirect_error(error: OAuth2Error) -> Response:
    """To the client, with what was wrong, as if the person had never been asked."""
    g.problem = error.error
    told = {"error": error.error, "error_description": error.description or ""}
    return redirect_to_client({name: said for name, said in told.items() if said})


def redirect_to_client(told: dict[str, str]) -> Response:
    """Back to the client, by the address that it has named and that is registered."""
    redirect, state = request.args["redirect_uri"], request.args.getlist("state")
    answer = told | ({"state": state[0]} if len(state) == 1 and state[0] else {}) | {"iss": public_url.base_url()}
    mark = "&" if urlsplit(redirect).query else "?"
    return Response(status=303, headers={"Location": redirect + mark + urlencode(answer)})


def _show_consent(client: OAuthClient, me: Account, scope: str) -> Response:
    if me.state == "banned":
        raise Problem("account_banned")
    redirect = request.args["redirect_uri"]
    owner = services().account_store.accounts.find(client.account)
    return render_page(
        "consent",
        client=client,
        owner=owner.name if owner else "",
        scopes=filter_scopes(me, scope),
        host=urlsplit(redirect).netloc,
        query=request.query_string.decode(),
        # Where a form leads to counts as well, wherever the answer sends the browser on.
        targets=(_origin(redirect),),
    )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    # A policy cannot name an IPv6 address.
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def _answer_consent(grant: object, asked: object) -> Response:
    me = current_account()
    if me.state == "banned":
        raise Problem("account_banned")
    agrees = request.form.get("answer") == "allow"
    made: Response = server().create_authorization_response(asked, me if agrees else None, grant)
    made.status_code = 303
    return made
