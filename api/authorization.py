"""Who asks: tokens come in the Authorization header, never in an address.

A seat's or a director's token names one role at one table. An account's session or personal token stands for whatever
the account is at the table that the address names; where that is several things, a header says which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, TypeVar

from flask import g, request

from api import authentication
from api.authentication import Second
from api.http import login_throttle, rate_limits
from api.http.problems import CHALLENGE, Problem
from api.openapi.smorest import ROLE, ROLE_MARK
from api.services import Services, itself, services
from domain.accounts.accounts import ROLES, Account
from domain.accounts.credentials import FRESH, Holder
from domain.errors import UnknownGame
from domain.kernel.game.game import AnyGame
from domain.kernel.text.message_catalog import Message
from domain.service.seat_tokens import Principal
from domain.types import DIRECTOR, PUBLIC, Json, Seat, Viewer

View = TypeVar("View", bound=Callable[..., Any])

ROLE_FORM = re.compile(r"[0-9]{1,2}|director", re.ASCII)

READING = ("read", "play", "direct")
"""Scopes that let one read what one's own seat sees: who plays must."""


def bearer() -> Principal | Holder | None:
    """Who the header names; None without one. Raises Problem for a token that opens nothing."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    found = _holding(token.strip()) if scheme.lower() == "bearer" else None
    if found is None:
        rate_limits.spend(None)
        raise Problem("unauthenticated", "The token is unknown, has ended, or was replaced.", headers=CHALLENGE)
    rate_limits.spend(found.account if isinstance(found, Holder) else found.token)
    return found


def _holding(token: str) -> Principal | Holder | None:
    s = services()
    if token.startswith(("ans_", "anp_")):
        return s.people.credentials.holder(token)
    if token.startswith("ano_"):
        return s.people.grants.holder(token)
    return s.access.authenticate(token)


def _guard(view: View, needed: bool, enter: Callable[[Principal | Holder, Json], None], *, table: bool = False) -> View:
    """`enter` looks at who asks and at the game of the address, and may raise Problem; at a `table` roles matter."""

    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        found, noted, headers = bearer(), itself(g), request.headers
        noted.holder = noted.principal = None
        if table and not ROLE_FORM.fullmatch(headers.get(ROLE, "0")):
            raise Problem(
                "invalid_headers", errors=[{"at": f"/{ROLE}", "message": Message("A seat's number, or `director`.")}]
            )
        if found is None:
            rate_limits.spend(None)
            if needed or (table and ROLE in headers):
                raise Problem("unauthenticated", headers=CHALLENGE)
        else:
            enter(found, kwargs.get("game"))
        return view(*args, **kwargs)

    doc = deepcopy(getattr(view, "_apidoc", {}))
    security: list[dict[str, Json]] = [{"token": []}] if needed else [{}, {"token": []}]
    manual = doc.setdefault("manual_doc", {})
    manual.setdefault("security", security)
    if table:
        manual[ROLE_MARK] = True
    vars(guarded)["_apidoc"] = doc  # flask-smorest keeps its documentation there
    vars(guarded)["guarded"] = True
    return guarded  # type: ignore[return-value] # the view with the same signature


# --- at a table ------------------------------------------------------------------------------------------------


def signed(view: View) -> View:
    """Only with a role at the game in the address. Stands directly under the route, so that it is asked first."""
    return _guard(view, True, lambda found, game: _sit(found, game, needed=True), table=True)


def seen_by(view: View) -> View:
    """With a token of the game, as its seat; without one, as the public."""
    return _guard(view, False, lambda found, game: _sit(found, game, needed=False), table=True)


def _sit(found: Principal | Holder, game: Json, *, needed: bool) -> None:
    noted, asked = itself(g), game or request.args.get("game", "")
    if isinstance(found, Holder):
        if not asked:
            raise Problem(
                "invalid_query", errors=[{"at": "/game", "message": Message("An account says at which table.")}]
            )
        noted.holder, noted.placed = found, True
        acts = _acting(found, asked, needed=needed)
    else:
        if asked:
            at_table(found, asked)
        _as_named(found)
        acts = found
    noted.principal = acts
    if acts:  # without a game in the address it is a ticket, which lets one read
        reads = request.method in ("GET", "HEAD") or not game
        _within("read" if reads else "direct" if acts.role == DIRECTOR else "play")


def _acting(holder: Holder, game: str, *, needed: bool) -> Principal | None:
    """What an account is at a table: its one role, or the one that the header names; None for one of the public."""
    s, named = services(), request.headers.get(ROLE)
    found = s.access.here(game, s.people.accounts.players(holder.account), holder.account, holder.credential)
    if len(found) > 1 and named is None:
        raise Problem("role_required", roles=[who.role for who in found])
    chosen = next((who for who in found if named is None or str(who.role) == named), None)
    if chosen is None and (needed or named is not None):
        if not s.ledger.version(game):
            raise UnknownGame(game)
        raise Problem("not_at_table")
    return chosen


def _as_named(found: Principal) -> None:
    """A seat's token has one role; a header that names another one is a mistake."""
    named = request.headers.get(ROLE)
    if named is not None and named != str(found.role):
        raise Problem("not_at_table", "The token has another role.")


def _within(scope: str) -> None:
    """Raises unless whoever shows an account's token may do what is of that scope, at a table."""
    found = holder()
    if found is None:
        return
    if not set(found.scopes) & set(READING if scope == "read" else (scope,)):
        raise Problem("scope_missing", scope=scope)
    if scope != "read" and found.state == "banned":
        raise Problem("account_banned")
    if scope == "direct" and found.state != "active":
        raise Problem("account_suspended")


def open_to_all(view: View) -> View:
    """Whoever asks, and whatever token is sent: it counts for the address."""

    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        rate_limits.spend(None)
        return view(*args, **kwargs)

    return guarded  # type: ignore[return-value] # the view with the same signature


def inside(game: str) -> bool:
    """Whether whoever asks sees at once what is played there: has a seat, directs, or moderates.

    Where no token is asked for, one that opens nothing counts for nothing.
    """
    if "principal" not in g and "holder" not in g:
        _regard()
    who, found = asking(), holder()
    if who is not None:
        return who.game == game
    return found is not None and (moderates(found) or ("placed" not in g and _sits(found, game)))


def _regard() -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    found = _holding(token.strip()) if scheme.lower() == "bearer" else None
    g.holder, g.principal = (found, None) if isinstance(found, Holder) else (None, found)


def _sits(found: Holder, game: str) -> bool:
    s = services()
    here = s.access.here(game, s.people.accounts.players(found.account), found.account, found.credential)
    return bool(here and set(found.scopes) & set(READING))


def moderates(found: Holder) -> bool:
    """Whether the account is a moderator's or an administrator's, and was shown for that."""
    known = "admin" in found.scopes and found.state == "active"
    return known and ROLES.index(found.role) >= ROLES.index("moderator") and _keeps_well(found)


# --- as a person -----------------------------------------------------------------------------------------------


def known(scope: str) -> Callable[[View], View]:
    """With any token, or none: it tells which person asks. An account's must be for that scope."""
    return lambda view: _guard(view, False, lambda found, _: _name(found, scope))


def person(view: View) -> View:
    """With any token: it tells which person asks."""
    return _guard(view, True, lambda found, _: _name(found, "read"))


def playing(view: View) -> View:
    """The same for what a player does; an account's token must be for that."""
    return _guard(view, True, lambda found, _: _name(found, "play"))


def _name(found: Principal | Holder, scope: str) -> None:
    if isinstance(found, Holder):
        g.holder = found
        _within(scope)
    else:
        g.principal = found


def mine(view: View) -> View:
    """With an account's session, or a personal token: to read, or for whoever plays."""
    return _guard(view, True, lambda found, _: _own(found))


def own(view: View) -> View:
    """With an account's session alone: what a personal token must not be able to change or read."""
    return _guard(view, True, lambda found, _: _own(found, session=True))


def staff(role: str) -> Callable[[View], View]:
    """With a session of an account that has the role, or its personal token that is for `admin`."""
    return lambda view: _guard(view, True, lambda found, _: _own(found, role=role))


def _own(found: Principal | Holder, *, session: bool = False, role: str = "") -> None:
    if not isinstance(found, Holder):
        raise Problem("accounts_only")
    if session and not found.session:
        raise Problem("session_required")
    g.holder = found
    if role:
        if "admin" not in found.scopes:
            raise Problem("scope_missing", scope="admin")
        if ROLES.index(found.role) < ROLES.index(role) or found.state != "active":
            raise Problem("role_missing", role=role)
        _well_kept(found)
    elif not set(found.scopes) & set(READING):
        raise Problem("scope_missing", scope="read")


def _well_kept(found: Holder) -> None:
    """Raises where a role asks for a second factor, and the account has none."""
    if not _keeps_well(found):
        raise Problem("factor_missing")


def _keeps_well(found: Holder) -> bool:
    least = services().settings.second_factor
    asked = least in ROLES and ROLES.index(found.role) >= ROLES.index(least)
    return not asked or bool(services().people.factors.kinds(found.account))


def holder() -> Holder | None:
    """The account that asks; None for a guest, and for nobody."""
    found: Holder | None = g.get("holder")
    return found


def holding() -> Holder:
    """The account that asks, where one is needed."""
    found: Holder = g.holder
    return found


def account() -> Account:
    """All that is known of the account that asks."""
    kept = services().people.accounts.find(holding().account)
    if kept is None:
        raise Problem("unknown_account")
    return kept


def in_good_standing() -> None:
    """Raises for an account that may not begin anything new."""
    found = holder()
    if found and found.state != "active":
        raise Problem(f"account_{found.state}")


def fresh() -> None:
    """Raises unless a password was shown for this session lately."""
    found = holding()
    if not found.session:
        raise Problem("session_required")
    if services().people.clock() - found.proved >= FRESH:
        raise Problem("password_required", "Show it to POST /v1/me/proofs, or log in again.")


def prove(password: str, second: Second) -> str:
    """What is kept of the password that is shown; raises Problem if it is not the account's, or not all of it."""
    s, found = services(), holding()
    with login_throttle.guessing(f"session {found.credential}"):
        kept = s.people.credentials.password(found.account)
        if not s.people.passwords.fits(kept, password):
            s.people.journal.write(found.account, "password_refused", rate_limits.network())
            raise Problem("wrong_credentials", "That is not the password.")
        authentication.shown(account(), kept, second)
    return kept


def renew() -> str:
    """After a password was shown for it: the session's new token; the one before opens nothing."""
    token = services().people.credentials.prove(holding().credential)
    if not token:
        raise Problem("unauthenticated", "The session has ended meanwhile.", headers=CHALLENGE)
    return token


def leave_behind() -> None:
    """Whoever is let in anew leaves the session that the request has shown, if it has shown any."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    found = services().people.credentials.holder(token.strip()) if scheme.lower() == "bearer" else None
    if found and found.session:
        services().people.credentials.end(found.account, found.credential)


def players() -> list[str]:
    """All ids by which records know whoever asks; none for a stranger, or for a token that speaks for no person."""
    found, seat_of = holder(), asking()
    if found is not None:
        return services().people.accounts.players(found.account)
    return [seat_of.player] if seat_of and not seat_of.lent else []


def lasts(s: Services, who: Principal) -> bool:
    """Whether the role, and the credential that was shown for it, still open anything."""
    return s.access.current(who) and (not who.credential or s.people.alive(who.credential))


# --- what routes ask -------------------------------------------------------------------------------------------


def at_table(principal: Principal, game: str) -> None:
    """Raises unless the token is of that game."""
    if principal.game == game:
        return
    if not services().ledger.version(game):
        raise UnknownGame(game)
    raise Problem("other_table")


def asking() -> Principal | None:
    """Who asks, where anybody may."""
    found: Principal | None = g.get("principal")
    return found


def principal() -> Principal:
    """Who asks, where a token is needed."""
    found: Principal = g.principal
    return found


def sitting() -> tuple[Seat, str] | None:
    """Who asks as a seat, for acts that count only while he sits there; None for a director."""
    who = principal()
    return None if who.seat is None else (who.seat, who.player)


def stand_apart(game: AnyGame) -> None:
    """Raises if whoever directs holds a seat at that table, with whatever token."""
    who = {principal().player, *players()}
    if any(p.id in who for p in game.players.values()):
        raise Problem("director_plays")


def viewer() -> Viewer:
    """Whose board is shown."""
    found = asking()
    return PUBLIC if found is None else found.viewer


def seat() -> Seat:
    """The seat that asks; raises for a director."""
    found = principal().seat
    if found is None:
        raise Problem("seats_only")
    return found
