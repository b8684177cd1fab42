"""The library's authorization server over our tables: which client asks, what a code or token stands for.

The library reads requests, authenticates clients, checks PKCE and writes errors as the RFCs say. What it is to write
down is written where it says `save_token`, in one transaction.
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
from api.services import Doc, services
from domain.accounts.accounts import Account
from domain.accounts.credential_tables import SCOPES
from domain.accounts.oauth_clients import OAuthClient
from domain.accounts.oauth_devices import PACE, SECONDS, DeviceLogin
from domain.accounts.oauth_grants import ACCESS_SECONDS, AuthorizationCode, RefreshToken, ReusedCredential
from domain.types import Json

AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
"""How clients prove themselves: by a secret, or if they have none not at all."""

_CLIENT_ID = re.compile(r"[0-9a-f]{16}")
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")

# The library writes tokens into its lines for those who look for faults.
logging.getLogger("authlib").setLevel(logging.WARNING)


# --- what the library asks of our rows -------------------------------------------------------------------------


@dataclass(frozen=True)
class ClientAdapter(ClientMixin):
    """A client as the library asks about it."""

    client: OAuthClient

    def get_client_id(self) -> str:
        return self.client.id

    def get_default_redirect_uri(self) -> None:
        """Each request names its own."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        asked = (scope or "").split() or ["read"]
        return " ".join(known for known in SCOPES if known in asked) if set(asked) <= set(self.client.scopes) else None

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
    token: RefreshToken

    def check_client(self, client: ClientAdapter) -> bool:
        return self.token.client == client.client.id

    def get_scope(self) -> str:
        return " ".join(self.token.scopes)


@dataclass(frozen=True)
class _DeviceAdapter(DeviceCredentialMixin):
    device: DeviceLogin

    def get_client_id(self) -> str:
        return self.device.client

    def get_scope(self) -> str:
        return " ".join(self.device.scopes)

    def get_user_code(self) -> str:
        """The library hands it back to whoever looks for the answer: the row has it already."""
        return ""

    def is_expired(self) -> bool:
        return services().account_store.device_logins.is_expired(self.device)


def _find_granting_account(account: str) -> Account:
    """Who has allowed it; raises for somebody who may allow nothing any more."""
    found = services().account_store.accounts.find(account)
    if found is None or found.state in ("banned", "erased"):
        raise InvalidGrantError
    return found


def _revoke_reused(found: ReusedCredential) -> NoReturn:
    """Two have the same code or token: one of them has stolen it, and nobody knows which."""
    people = services().account_store
    people.oauth_grants.revoke_grant(found.account, found.grant)
    people.audit_log.record(found.account, "grant_reused", rate_limits.client_network(), found.grant)
    security_log.log_event("account_changed", account=found.account, what="grant_reused")
    raise InvalidGrantError


# --- codes, tokens, devices ------------------------------------------------------------------------------------


class _S256(CodeChallenge):
    """PKCE by its safe method alone, and for every client."""

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        asked = grant.request.payload
        if any(len(asked.datalist.get(name, ())) != 1 for name in ("code_challenge", "code_challenge_method")):
            raise InvalidRequestError("A 'code_challenge' with 'code_challenge_method' is required, each once.")
        if asked.data["code_challenge_method"] != "S256" or not _CHALLENGE.fullmatch(asked.data["code_challenge"]):
            raise InvalidRequestError("The 'code_challenge' must be of the method S256.")


class _CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def generate_authorization_code(self) -> str:
        return services().account_store.oauth_grants.make_code()

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        people, asked = services().account_store, request.payload
        client, account = request.client.client, request.user
        logged = security_log.audit_statements(
            account.id, "grant_made", rate_limits.client_network(), f"{client.name}: {request.scope}"
        )
        challenge = asked.data["code_challenge"]
        scopes = filter_scopes(account, request.scope)
        session = authorization.credential_owner().credential
        people.oauth_grants.store_code(
            code, account.id, client.id, scopes, asked.redirect_uri, challenge, logged, session
        )

    def query_authorization_code(self, code: str, client: ClientAdapter) -> _CodeAdapter | None:
        found = services().account_store.oauth_grants.find_code(code, client.client.id)
        if isinstance(found, ReusedCredential):
            _revoke_reused(found)
        return _CodeAdapter(found) if found else None

    def delete_authorization_code(self, authorization_code: _CodeAdapter) -> None:
        """It was used up with what it gave."""

    def authenticate_user(self, authorization_code: _CodeAdapter) -> Account:
        return _find_granting_account(authorization_code.code.account)


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = AUTH_METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> _RefreshAdapter | None:
        found = services().account_store.oauth_grants.find_refresh_token(refresh_token)
        if isinstance(found, ReusedCredential):
            _revoke_reused(found)
        return _RefreshAdapter(found) if found else None

    def authenticate_user(self, refresh_token: _RefreshAdapter) -> Account:
        return _find_granting_account(refresh_token.token.account)

    def revoke_old_credential(self, refresh_token: _RefreshAdapter) -> None:
        """It was used up with what it gave."""


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
        return str(request.form["token"])  # which kind it is shows on it, whatever the hint

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
        told = {"device_code": device, "user_code": code, "verification_uri": f"{public_url.base_url()}/device"}
        return 200, {**told, "expires_in": SECONDS, "interval": PACE}, [("Content-Type", "application/json")]


class _Issuer(IssuerParameter):
    def get_issuer(self) -> str:
        return public_url.base_url()


def filter_scopes(account: Account, scope: str) -> list[str]:
    """Of the scopes that were asked for those that the account can give: `admin` needs a role."""
    return [word for word in scope.split() if word != "admin" or account.has_role("moderator")]


# --- the server ------------------------------------------------------------------------------------------------


class _Request(FlaskOAuth2Request):
    """A request as people have sent it, whatever stands between."""

    def __init__(self) -> None:
        OAuth2Request.__init__(self, request.method, f"{public_url.base_url()}{request.path}", headers=request.headers)
        self._request, self.payload = request, FlaskOAuth2Payload(request)


class Server(AuthorizationServer):
    """Codes with PKCE, refresh tokens, devices, and giving tokens back."""

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
        people = services().account_store
        client = people.oauth_clients.find(client_id) if _CLIENT_ID.fullmatch(client_id) else None
        owner = people.accounts.find(client.account) if client else None
        return ClientAdapter(client) if client and owner and owner.state != "banned" else None

    def save_token(self, token: Doc, request: OAuth2Request) -> None:
        """The tokens themselves are made and written here, or what was shown for them is none any more."""
        grants, client = services().account_store.oauth_grants, request.client
        # The client may have been given fewer meanwhile.
        scopes = [scope for scope in token["scope"].split() if scope in client.client.scopes]
        if code := request.authorization_code:
            made = grants.make_tokens()
            done = grants.exchange_code(replace(code.code, scopes=tuple(scopes)), made, ())
        elif refresh := request.refresh_token:
            made = grants.make_tokens(refresh.token.grant)
            done = grants.exchange_refresh_token(refresh.token, made, scopes)
        else:
            made = grants.make_tokens()
            device = replace(request.credential.device, scopes=tuple(scopes))
            done = services().account_store.device_logins.exchange(device, made, grants, ())
        if not done:
            raise InvalidGrantError
        token |= {"access_token": made.access, "scope": " ".join(scopes)}
        if client.check_grant_type(_RefreshGrant.GRANT_TYPE):
            token["refresh_token"] = made.refresh

    def create_oauth2_request(self, request: object) -> OAuth2Request:
        return request if isinstance(request, OAuth2Request) else _Request()

    def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
        """Nobody listens."""

    def handle_response(self, status_code: int, payload: Json, headers: Json) -> Response:
        made: Response = super().handle_response(status_code, payload, headers)
        made.headers["Cache-Control"] = "no-store"
        return made

    def handle_error_response(self, request: OAuth2Request, error: Any) -> Response:
        g.problem = error.error
        made: Response = super().handle_error_response(request, error)
        return made


def _token_fields(scope: str, **_: object) -> Doc:
    known = [word for word in SCOPES if word in scope.split()]
    return {"token_type": "Bearer", "expires_in": ACCESS_SECONDS, "scope": " ".join(known)}


@functools.cache
def server() -> Server:
    """One for the process: it knows nothing of any application."""
    return Server()
