"""Authlib's authorization server on the account tables: clients, codes, tokens, devices.

The library parses requests, authenticates clients, checks PKCE and builds errors as the RFCs define them. Everything is
stored in `Server.save_token`, in one transaction.
"""

from __future__ import annotations

import functools
import logging
import re
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.flask_oauth2.requests import FlaskOAuth2Payload, FlaskOAuth2Request
from authlib.oauth2.rfc6749 import (
    AuthorizationCodeMixin,
    ClientMixin,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    OAuth2Request,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialMixin
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Response, g, request

from api import authorization
from api.http import public_url, rate_limits, security_log
from api.services import services
from domain.accounts.accounts import Account
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import ITSELF, OAuthClient
from domain.accounts.oauth_devices import PACE, SECONDS, DeviceLogin
from domain.accounts.oauth_grants import ACCESS_SECONDS, AuthorizationCode, RefreshToken, ReusedCredential
from domain.types import Doc, Json

AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
"""Client authentication: by a secret, or none for public clients."""

_CLIENT_ID = re.compile(r"[0-9a-f]{16}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")

# The library logs tokens at debug level.
logging.getLogger("authlib").setLevel(logging.WARNING)


# --- adapters of stored rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClientAdapter(ClientMixin):
    """A client in the library's interface."""

    client: OAuthClient

    def get_client_id(self) -> str:
        return self.client.id

    def get_default_redirect_uri(self) -> None:
        """Return None: each request names its redirect URI."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        requested = (scope or "").split() or ["read"]
        return (
            " ".join(name for name in SCOPES if name in requested)
            if set(requested) <= set(self.client.scopes)
            else None
        )

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return self.client.allows_redirect(redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        return self.client.has_secret(client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return (method != "none") == self.client.is_confidential

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code" and self.check_grant_type(_CodeGrant.GRANT_TYPE)

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.client.grant_types


@dataclass(frozen=True)
class _CodeAdapter(AuthorizationCodeMixin):
    """An authorization code in the library's interface."""

    code: AuthorizationCode
    code_challenge_method = "S256"

    @property
    def code_challenge(self) -> str:
        return self.code.challenge

    def get_redirect_uri(self) -> str:
        return self.code.redirect

    def get_scope(self) -> str:
        return " ".join(self.code.scopes)


@dataclass(frozen=True)
class _RefreshAdapter:
    """A refresh token in the library's interface."""

    token: RefreshToken

    def check_client(self, client: ClientAdapter) -> bool:
        return self.token.client == client.client.id

    def get_scope(self) -> str:
        return " ".join(self.token.scopes)


@dataclass(frozen=True)
class _DeviceAdapter(DeviceCredentialMixin):
    """A device login in the library's interface."""

    device: DeviceLogin

    def get_client_id(self) -> str:
        return self.device.client

    def get_scope(self) -> str:
        return " ".join(self.device.scopes)

    def get_user_code(self) -> str:
        """Return an empty text: the library only passes it back to `query_user_grant`."""
        return ""

    def is_expired(self) -> bool:
        return services().account_store.device_logins.is_expired(self.device)


def _find_granting_account(account: str) -> Account:
    """Return the account behind a grant. Raise InvalidGrantError if it is banned or erased."""
    found = services().account_store.accounts.find(account)
    if found is None or found.state in ("banned", "erased"):
        raise InvalidGrantError
    return found


def _revoke_reused(found: ReusedCredential) -> NoReturn:
    """Revoke the grant of a reused code or token: one of its two users has stolen it."""
    account_store = services().account_store
    account_store.oauth_grants.revoke_grant(found.account, found.grant)
    account_store.audit_log.record(found.account, "grant_reused", rate_limits.client_network(), found.grant)
    security_log.log_event("account_changed", account=found.account, what="grant_reused")
    raise InvalidGrantError


# --- codes, tokens, devices ------------------------------------------------------------------------------------


class _S256(CodeChallenge):
    """PKCE for every client, only with the method S256."""

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        payload = grant.request.payload
        if any(len(payload.datalist.get(name, ())) != 1 for name in ("code_challenge", "code_challenge_method")):
            raise InvalidRequestError("A 'code_challenge' with 'code_challenge_method' is required, each once.")
        if payload.data["code_challenge_method"] != "S256" or not _CHALLENGE.fullmatch(payload.data["code_challenge"]):
            raise InvalidRequestError("The 'code_challenge_method' must be S256, with a challenge of that form.")


class _CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def generate_authorization_code(self) -> str:
        return services().account_store.oauth_grants.make_code()

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        account_store, payload = services().account_store, request.payload
        client, account = request.client.client, request.user
        audit_rows = security_log.audit_statements(
            account.id, "grant_made", rate_limits.client_network(), f"{client.name}: {request.scope}"
        )
        challenge = payload.data["code_challenge"]
        scopes = filter_scopes(account, request.scope)
        session = authorization.credential_owner().credential
        account_store.oauth_grants.store_code(
            code, account.id, client.id, scopes, payload.redirect_uri, challenge, audit_rows, session
        )

    def query_authorization_code(self, code: str, client: ClientAdapter) -> _CodeAdapter | None:
        found = services().account_store.oauth_grants.find_code(code, client.client.id)
        if isinstance(found, ReusedCredential):
            _revoke_reused(found)
        return _CodeAdapter(found) if found else None

    def delete_authorization_code(self, authorization_code: _CodeAdapter) -> None:
        """Do nothing: `save_token` has used up the code."""

    def authenticate_user(self, authorization_code: _CodeAdapter) -> Account:
        return _find_granting_account(authorization_code.code.account)


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> _RefreshAdapter | None:
        found = services().account_store.oauth_grants.find_refresh_token(refresh_token, self.request.client.client.id)
        if isinstance(found, ReusedCredential):
            _revoke_reused(found)
        return _RefreshAdapter(found) if found else None

    def authenticate_user(self, refresh_token: _RefreshAdapter) -> Account:
        return _find_granting_account(refresh_token.token.account)

    def revoke_old_credential(self, refresh_token: _RefreshAdapter) -> None:
        """Do nothing: `save_token` has used up the refresh token."""


class _DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def query_device_credential(self, device_code: str) -> _DeviceAdapter:
        found = services().account_store.device_logins.poll(device_code)
        if found is None or found.state == "spent":
            raise InvalidGrantError
        self._found = found
        return _DeviceAdapter(found)

    def query_user_grant(self, user_code: str) -> tuple[Account | None, bool] | None:
        found = self._found
        if found.state == "open":
            return None
        return (_find_granting_account(found.account), True) if found.state == "allowed" else (None, False)

    def should_slow_down(self, credential: _DeviceAdapter) -> bool:
        return credential.device.hasty


class _Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = AUTH_METHODS

    def authenticate_token(self, request: OAuth2Request, client: ClientAdapter) -> str:
        if "token" not in request.form:
            raise InvalidRequestError("Missing 'token' in request.")
        return str(request.form["token"])  # the token itself shows its kind, so the hint is ignored

    def revoke_token(self, token: str, request: OAuth2Request) -> None:
        services().account_store.oauth_grants.revoke_token(token, request.client.client.id)


class _Devices(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = AUTH_METHODS

    def create_endpoint_response(self, request: OAuth2Request) -> tuple[int, Doc, list[tuple[str, str]]]:
        client = self.authenticate_client(request)
        if not client.check_grant_type(_DeviceGrant.GRANT_TYPE):
            raise UnauthorizedClientError
        scope = client.get_allowed_scope(request.payload.scope)
        if scope is None:
            raise InvalidScopeError
        rate_limits.charge_quota("devices")
        device, code = services().account_store.device_logins.start(client.client.id, scope.split())
        codes = {"device_code": device, "user_code": code, "verification_uri": f"{public_url.base_url()}/device"}
        return 200, {**codes, "expires_in": SECONDS, "interval": PACE}, [("Content-Type", "application/json")]


class _Issuer(IssuerParameter):
    def get_issuer(self) -> str:
        return public_url.base_url()


def filter_scopes(account: Account, scope: str) -> list[str]:
    """Return the requested scopes the account can grant: `admin` needs a role."""
    return [word for word in scope.split() if word != "admin" or account.has_role("moderator")]


# --- the server ------------------------------------------------------------------------------------------------


class _Request(FlaskOAuth2Request):
    """A request with the public URL, independent of proxies."""

    def __init__(self) -> None:
        OAuth2Request.__init__(self, request.method, f"{public_url.base_url()}{request.path}", headers=request.headers)
        self._request = request
        self.payload = FlaskOAuth2Payload(request)


class Server(AuthorizationServer):
    """Authorization codes with PKCE, refresh tokens, device logins, and revocation."""

    def __init__(self) -> None:
        super().__init__()
        self.scopes_supported = SCOPES
        self.register_token_generator("default", _token_fields)
        self.register_grant(_CodeGrant, [_S256(required=True)])
        self.register_grant(_RefreshGrant)
        self.register_grant(_DeviceGrant)
        self.register_endpoint(_Revocation)
        self.register_endpoint(_Devices)
        self.register_extension(_Issuer())

    def query_client(self, client_id: str) -> ClientAdapter | None:
        account_store = services().account_store
        client = account_store.oauth_clients.find(client_id) if _CLIENT_ID.fullmatch(client_id) else None
        if client is None or client.account == ITSELF:
            return ClientAdapter(client) if client else None
        owner = account_store.accounts.find(client.account)
        return ClientAdapter(client) if owner and owner.state != "banned" else None

    def save_token(self, token: Doc, request: OAuth2Request) -> None:
        """Create and store the tokens. Raise InvalidGrantError if the code or token was used meanwhile."""
        grants, client = services().account_store.oauth_grants, request.client
        # The client may have lost scopes meanwhile.
        scopes = [scope for scope in token["scope"].split() if scope in client.client.scopes]
        tokens = grants.make_tokens()
        if code := request.authorization_code:
            done = grants.exchange_code(replace(code.code, scopes=tuple(scopes)), tokens, ())
        elif refresh := request.refresh_token:
            renewed = grants.exchange_refresh_token(refresh.token, scopes)
            done = renewed is not None
            if renewed:
                tokens, scopes = renewed.tokens, list(renewed.scopes)
                token["expires_in"] = renewed.seconds
        else:
            device = replace(request.credential.device, scopes=tuple(scopes))
            done = services().account_store.device_logins.exchange(device, tokens, grants, ())
        if not done:
            raise InvalidGrantError
        token |= {"access_token": tokens.access, "scope": " ".join(scopes)}
        if client.check_grant_type(_RefreshGrant.GRANT_TYPE):
            token["refresh_token"] = tokens.refresh

    def create_oauth2_request(self, request: object) -> OAuth2Request:
        return request if isinstance(request, OAuth2Request) else _Request()

    def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
        """Do nothing: no receiver uses the library's signals."""

    def handle_response(self, status_code: int, payload: Json, headers: Json) -> Response:
        response: Response = super().handle_response(status_code, payload, headers)
        response.headers["Cache-Control"] = "no-store"
        return response

    def handle_error_response(self, request: OAuth2Request, error: Any) -> Response:
        g.problem = error.error
        response: Response = super().handle_error_response(request, error)
        return response


def _token_fields(scope: str, **_: object) -> Doc:
    """Return the fields of a token response, with scopes in canonical order."""
    names = [word for word in SCOPES if word in scope.split()]
    return {"token_type": "Bearer", "expires_in": ACCESS_SECONDS, "scope": " ".join(names)}


@functools.cache
def server() -> Server:
    """Return the server of this process. It has no state of an application."""
    return Server()
