"""Authorization of requests by the token in their Authorization header.

A seat's or director's token has one role in one game. An account's session or personal token has all roles of the
account in the game of the URL; a header selects one of several.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import wraps
from typing import Any, TypeVar

from flask import g, request

from api import authentication
from api.authentication import SecondFactorProof
from api.http import login_throttle, rate_limits
from api.http.problems import BEARER_CHALLENGE, Problem
from api.openapi.smorest import ROLE_HEADER, ROLE_MARK, read_json_body
from api.services import ApiServices, services, unwrap_proxy
from domain.accounts.accounts import ROLES, Account
from domain.accounts.credential_tables import CredentialOwner
from domain.accounts.sessions import FRESH
from domain.errors import StoreUnavailable, UnknownGame
from domain.kernel.text.message_catalog import Message
from domain.service.principals import Principal
from domain.types import DIRECTOR, PUBLIC, Json, Seat, Viewer

View = TypeVar("View", bound=Callable[..., Any])

ROLE_PATTERN = re.compile(r"[0-9]{1,2}|director", re.ASCII)

READ_SCOPES = ("read", "play", "direct")
"""Scopes with read access to the account's own seats. Playing and directing include reading."""

_SUFFICIENT_SCOPES = {"read": READ_SCOPES, "talk:read": ("talk:read", "talk:write")}
"""Scopes that each include another one."""


def authenticate_bearer() -> Principal | CredentialOwner | None:
    """Return the owner of the bearer token, or None without a token. Raise Problem for an invalid one."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    caller = _find_token_owner(token.strip()) if scheme.lower() == "bearer" else None
    if caller is None:
        rate_limits.charge_request(None)
        raise Problem("unauthenticated", "The token is unknown, expired or replaced.", headers=BEARER_CHALLENGE)
    rate_limits.charge_request(caller.account if isinstance(caller, CredentialOwner) else caller.token)
    return caller


def _find_token_owner(token: str) -> Principal | CredentialOwner | None:
    s = services()
    if token.startswith(("ans_", "anp_")):
        return s.account_store.credentials.find_owner(token)
    if token.startswith("ano_"):
        return s.account_store.oauth_grants.find_owner(token)
    return s.seat_tokens.authenticate(token)


def _guard(
    view: View, required: bool, check: Callable[[Principal | CredentialOwner, Json], None], *, table: bool = False
) -> View:
    """Return the view behind a check of the caller, and add its security to the API document.

    `check` gets the caller and the game of the URL, and may raise Problem. With `table`, the role header is read.
    """
    doc = deepcopy(getattr(view, "_apidoc", {}))
    takes_body = any(each["in"] == "json" for each in doc.get("arguments", {}).get("parameters", ()))

    def authorize(game: Json) -> None:
        caller, context, headers = authenticate_bearer(), unwrap_proxy(g), request.headers
        context.owner = context.principal = None
        if table and not ROLE_PATTERN.fullmatch(headers.get(ROLE_HEADER, "0")):
            raise Problem(
                "invalid_headers",
                errors=[{"at": f"/{ROLE_HEADER}", "message": Message("A seat's number, or `director`.")}],
            )
        if caller is None:
            rate_limits.charge_request(None)
            if required or (table and ROLE_HEADER in headers):
                raise Problem("unauthenticated", headers=BEARER_CHALLENGE)
        else:
            check(caller, game)

    @wraps(view)
    def guarded(*args: object, **kwargs: object) -> object:
        try:
            authorize(kwargs.get("game"))
        except StoreUnavailable:
            if takes_body:
                _check_media_type()
            raise
        return view(*args, **kwargs)

    security: list[dict[str, Json]] = [{"token": []}] if required else [{}, {"token": []}]
    manual = doc.setdefault("manual_doc", {})
    manual.setdefault("security", security)
    if table:
        manual[ROLE_MARK] = True
    vars(guarded)["_apidoc"] = doc  # flask-smorest keeps its documentation there
    vars(guarded)["guarded"] = True
    return guarded  # type: ignore[return-value] # the view with the same signature


def _check_media_type() -> None:
    """Raise Problem for a body that is not plain JSON: a fault of the request, unlike that of the store."""
    if request.mimetype == "application/json" and "Content-Encoding" not in request.headers:
        return
    try:
        read_json_body(request)
    except Problem:
        rate_limits.charge_request(None)
        raise


# --- at a table ------------------------------------------------------------------------------------------------


def require_role(view: View) -> View:
    """Require a role in the game of the URL. Place it directly under the route: it must run first."""
    return _guard(view, True, lambda found, game: _authorize_at_table(found, game, required=True), table=True)


def optional_role(view: View) -> View:
    """Use the token's role in the game, or the public view without a token."""
    return _guard(view, False, lambda found, game: _authorize_at_table(found, game, required=False), table=True)


def require_talk(view: View) -> View:
    """Require a person of the game of the URL, now or before; an account's token needs the scope `talk:write`."""
    return _guard(
        view, True, lambda found, game: _authorize_at_table(found, game, required=False, scope="talk:write"), table=True
    )


def optional_talk(view: View) -> View:
    """Use the token's role in the game; an account's token needs the scope `talk:read`, and none is a spectator."""
    return _guard(
        view, False, lambda found, game: _authorize_at_table(found, game, required=False, scope="talk:read"), table=True
    )


def _authorize_at_table(caller: Principal | CredentialOwner, game: Json, *, required: bool, scope: str = "") -> None:
    context, game_id = unwrap_proxy(g), game or request.args.get("game", "")
    if isinstance(caller, CredentialOwner):
        if not game_id:
            raise Problem(
                "invalid_query", errors=[{"at": "/game", "message": Message("Required with an account's token.")}]
            )
        context.owner, context.placed = caller, True
        principal = _resolve_role(caller, game_id, required=required)
    else:
        if game_id:
            check_token_game(caller, game_id)
        _check_role_header(caller)
        principal = caller
    context.principal = principal
    if scope:
        check_scope(scope)
        return
    if principal:  # requests without a game are for tickets: they grant reading
        reads = request.method in ("GET", "HEAD") or not game
        check_scope("read" if reads else "direct" if principal.role == DIRECTOR else "play")
        note_look(principal)


def note_look(principal: Principal) -> None:
    """Note that a person looks at a table, so that the next mail about it may be sent."""
    if services().settings.mail and not principal.lent:
        with suppress(StoreUnavailable):  # a later look notes it too
            services().notifications.unread_mail.mark_seen(principal.game, principal.player)


def _resolve_role(owner: CredentialOwner, game: str, *, required: bool) -> Principal | None:
    """Return the account's role in a game, or None for a spectator.

    Several roles need the header to select one.
    """
    s, role = services(), request.headers.get(ROLE_HEADER)
    principals = s.seat_tokens.list_principals(
        game, s.account_store.accounts.list_players(owner.account), owner.account, owner.credential
    )
    if len(principals) > 1 and role is None:
        raise Problem("role_required", roles=[who.role for who in principals])
    chosen = next((who for who in principals if role is None or str(who.role) == role), None)
    if chosen is None and (required or role is not None):
        if not s.ledger.version(game):
            raise UnknownGame(game)
        raise Problem("not_at_table")
    return chosen


def _check_role_header(principal: Principal) -> None:
    """Raise Problem if the header names a role other than the seat token's."""
    role = request.headers.get(ROLE_HEADER)
    if role is not None and role != str(principal.role):
        raise Problem("not_at_table", "The token has another role.")


def check_scope(scope: str) -> None:
    """Raise Problem if an account's token lacks the scope, or the account's state forbids it."""
    owner = optional_owner()
    if owner is None:
        return
    if not set(owner.scopes) & set(_SUFFICIENT_SCOPES.get(scope, (scope,))):
        raise Problem("scope_missing", scope=scope)
    if scope not in ("read", "talk:read") and owner.state == "banned":
        raise Problem("account_banned")
    if scope == "direct" and owner.state != "active":
        raise Problem("account_suspended")


def public(view: View) -> View:
    """Allow every caller. A token is ignored; the request counts for the client's address."""

    @wraps(view)
    def guarded(*args: object, **kwargs: object) -> object:
        rate_limits.charge_request(None)
        return view(*args, **kwargs)

    return guarded  # type: ignore[return-value] # the view with the same signature


def has_live_view(game: str) -> bool:
    """Return True if the caller sees the game without the spectators' delay: a player, director or moderator.

    An invalid token counts as no token on routes with optional tokens.
    """
    if "principal" not in g and "owner" not in g:
        _load_optional_token()
    principal, owner = optional_principal(), optional_owner()
    if principal is not None:
        return principal.game == game
    return owner is not None and (is_moderator(owner) or ("placed" not in g and _has_table_role(owner, game)))


def load_optional_owner() -> CredentialOwner | None:
    """Return the owner of an account's token on a public route, or None: a wrong token is none."""
    if "owner" not in g:
        _load_optional_token()
    return optional_owner()


def _load_optional_token() -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    caller = _find_token_owner(token.strip()) if scheme.lower() == "bearer" else None
    is_owner = isinstance(caller, CredentialOwner)
    g.owner = caller if is_owner else None
    g.principal = None if is_owner else caller


def _has_table_role(owner: CredentialOwner, game: str) -> bool:
    s = services()
    principals = s.seat_tokens.list_principals(
        game, s.account_store.accounts.list_players(owner.account), owner.account, owner.credential
    )
    return bool(principals and set(owner.scopes) & set(READ_SCOPES))


def is_moderator(owner: CredentialOwner) -> bool:
    """Return True if a moderator or administrator uses a token with the `admin` scope."""
    known = "admin" in owner.scopes and owner.state == "active"
    return known and ROLES.index(owner.role) >= ROLES.index("moderator") and _has_required_second_factor(owner)


# --- as a person -----------------------------------------------------------------------------------------------


def optional_person(scope: str) -> Callable[[View], View]:
    """Identify the person by any token, or none. An account's token needs the scope."""
    return lambda view: _guard(view, False, lambda found, _: _authorize_person(found, scope))


def require_person(view: View) -> View:
    """Require any valid token, to identify the person."""
    return _guard(view, True, lambda found, _: _authorize_person(found, "read"))


def require_player(view: View) -> View:
    """Require any token of a person. An account's token needs the scope `play`."""
    return _guard(view, True, lambda found, _: _authorize_person(found, "play"))


def _authorize_person(caller: Principal | CredentialOwner, scope: str) -> None:
    if isinstance(caller, CredentialOwner):
        g.owner = caller
        check_scope(scope)
    else:
        g.principal = caller


_STORING = ("POST", "PUT", "PATCH")
"""Methods that require good standing. DELETE only takes back what the account gave or stored."""


def require_account(view: View) -> View:
    """Require an account's session or personal token with a read scope, to store something also good standing."""
    return _guard(view, True, lambda found, _: _authorize_account(found))


def require_directing_account(view: View) -> View:
    """Require an account's session or token with the scope `direct`, in good standing."""
    return _guard(view, True, lambda found, _: _authorize_account(found, scope="direct"))


def require_playing_account(view: View) -> View:
    """Require an account's session or token with the scope `play`; a banned account is refused."""
    return _guard(view, True, lambda found, _: _authorize_account(found, scope="play"))


def require_session(view: View) -> View:
    """Require an account's session, to store something also good standing.

    Personal tokens must not read or change this data.
    """
    return _guard(view, True, lambda found, _: _authorize_account(found, session=True))


def require_session_in_any_standing(view: View) -> View:
    """Require an account's session, for writes that a suspended or banned account may do."""
    return _guard(view, True, lambda found, _: _authorize_account(found, session=True, any_standing=True))


def require_staff(role: str) -> Callable[[View], View]:
    """Require a session of an account with this role, or its personal token with the scope `admin`."""
    return lambda view: _guard(view, True, lambda found, _: _authorize_account(found, role=role))


def _authorize_account(
    caller: Principal | CredentialOwner,
    *,
    session: bool = False,
    role: str = "",
    any_standing: bool = False,
    scope: str = "",
) -> None:
    if not isinstance(caller, CredentialOwner):
        raise Problem("accounts_only")
    if session and not caller.session:
        raise Problem("session_required")
    g.owner = caller
    if role:
        if "admin" not in caller.scopes:
            raise Problem("scope_missing", scope="admin")
        if ROLES.index(caller.role) < ROLES.index(role) or caller.state != "active":
            raise Problem("role_missing", role=role)
        _require_second_factor(caller)
    elif scope:
        check_scope(scope)
    elif not set(caller.scopes) & set(READ_SCOPES):
        raise Problem("scope_missing", scope="read")
    elif request.method in _STORING and not any_standing:
        require_good_standing()


def _require_second_factor(owner: CredentialOwner) -> None:
    """Raise Problem if the role requires a second factor and the account has none."""
    if not _has_required_second_factor(owner):
        raise Problem("factor_missing")


def _has_required_second_factor(owner: CredentialOwner) -> bool:
    least = services().settings.second_factor
    required = least in ROLES and ROLES.index(owner.role) >= ROLES.index(least)
    return not required or bool(services().account_store.second_factors.list_kinds(owner.account))


def optional_owner() -> CredentialOwner | None:
    """Return the account token's owner, or None for guests and anonymous callers."""
    owner: CredentialOwner | None = g.get("owner")
    return owner


def credential_owner() -> CredentialOwner:
    """Return the account token's owner on routes with a required account."""
    owner: CredentialOwner = g.owner
    return owner


def current_account() -> Account:
    """Return the caller's account. Raise Problem if it no longer exists."""
    account = services().account_store.accounts.find(credential_owner().account)
    if account is None:
        raise Problem("unknown_account")
    return account


def require_good_standing() -> None:
    """Raise Problem if the caller's account is suspended or banned."""
    owner = optional_owner()
    if owner and owner.state != "active":
        raise Problem(f"account_{owner.state}")


def require_fresh_password() -> None:
    """Raise Problem unless the password was checked recently in this session."""
    owner = credential_owner()
    if not owner.session:
        raise Problem("session_required")
    if services().account_store.clock() - owner.proved >= FRESH:
        raise Problem("password_required", "Send it to POST /v1/me/proofs, or log in again.")


def verify_session_password(password: str, second_factor: SecondFactorProof) -> str:
    """Return the stored hash of a correct password. Raise Problem if password or second factor fail."""
    s, owner = services(), credential_owner()
    with login_throttle.throttled(f"session {owner.credential}"):
        password_hash = s.account_store.credentials.find_password_hash(owner.account)
        if not s.account_store.passwords.matches(password_hash, password):
            s.account_store.audit_log.record(owner.account, "password_refused", rate_limits.client_network())
            raise Problem("wrong_credentials", "Wrong password.")
        authentication.check_second_factor(current_account(), password_hash, second_factor)
    return password_hash


def renew_session() -> str:
    """Return a new token for the session after a password check. The old token is revoked."""
    token = services().account_store.sessions.renew(credential_owner().credential)
    if not token:
        raise Problem("unauthenticated", "The session has ended.", headers=BEARER_CHALLENGE)
    return token


def end_presented_session() -> None:
    """End the session in the request's header, if any, after a new login."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    owner = services().account_store.credentials.find_owner(token.strip()) if scheme.lower() == "bearer" else None
    if owner and owner.session:
        services().account_store.sessions.end(owner.account, owner.credential)


def player_ids() -> list[str]:
    """Return all player ids of the caller: none for anonymous callers and for tokens lent by a director."""
    owner, principal = optional_owner(), optional_principal()
    if owner is not None:
        return services().account_store.accounts.list_players(owner.account)
    return [principal.player] if principal and not principal.lent else []


def is_still_valid(s: ApiServices, principal: Principal) -> bool:
    """Return True if the role and the credential behind it are still valid."""
    return s.seat_tokens.is_current(principal) and (
        not principal.credential or s.account_store.is_credential_alive(principal.credential)
    )


# --- what routes ask -------------------------------------------------------------------------------------------


def check_token_game(principal: Principal, game: str) -> None:
    """Raise Problem or UnknownGame unless the token belongs to this game."""
    if principal.game == game:
        return
    if not services().ledger.version(game):
        raise UnknownGame(game)
    raise Problem("other_table")


def optional_principal() -> Principal | None:
    """Return the caller's role at the table, or None for spectators."""
    principal: Principal | None = g.get("principal")
    return principal


def principal() -> Principal:
    """Return the caller's role on routes with a required role."""
    found: Principal = g.principal
    return found


def seat_guard() -> tuple[Seat, str] | None:
    """Return the caller's seat and player id, or None for a director. Commands fail once the seat changes hands."""
    caller = principal()
    return None if caller.seat is None else (caller.seat, caller.player)


def viewer() -> Viewer:
    """Return the viewer for the caller's board."""
    found = optional_principal()
    return PUBLIC if found is None else found.viewer


def seat() -> Seat:
    """Return the caller's seat. Raise Problem for a director."""
    found = principal().seat
    if found is None:
        raise Problem("seats_only")
    return found
