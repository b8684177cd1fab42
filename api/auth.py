"""Who asks: tokens come in the Authorization header, never in an address."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, TypeVar

from flask import g, request

from api import limits
from api.problems import CHALLENGE, Problem
from api.services import services
from domain.beside.access import Principal
from domain.errors import UnknownGame
from domain.ids import PUBLIC, Json, Seat, Viewer
from domain.kernel.game import AnyGame

View = TypeVar("View", bound=Callable[..., Any])


def bearer() -> Principal | None:
    """Who the header names; None without one. Raises Problem for a token that opens nothing."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    found = services().access.authenticate(token.strip()) if scheme.lower() == "bearer" else None
    if found is None:
        limits.spend(None)
        raise Problem("unauthenticated", "The token is unknown, or was replaced.", headers=CHALLENGE)
    return found


def _guard(view: View, needed: bool, here: bool) -> View:
    @wraps(view)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        found = bearer()
        limits.spend(found.token if found else None)
        if found is None and needed:
            raise Problem("unauthenticated", headers=CHALLENGE)
        if found is not None and here and "game" in kwargs:
            at_table(found, kwargs["game"])
        g.principal = found
        return view(*args, **kwargs)

    doc = deepcopy(getattr(view, "_apidoc", {}))
    security: list[dict[str, Json]] = [{"token": []}] if needed else [{}, {"token": []}]
    doc.setdefault("manual_doc", {}).setdefault("security", security)
    vars(guarded)["_apidoc"] = doc  # flask-smorest keeps its documentation there
    return guarded  # type: ignore[return-value] # the view with the same signature


def signed(view: View) -> View:
    """Only with a token of the game in the address. Stands directly under the route, so that it is asked first."""
    return _guard(view, needed=True, here=True)


def seen_by(view: View) -> View:
    """With a token of the game, as its seat; without one, as the public."""
    return _guard(view, needed=False, here=True)


def known(view: View) -> View:
    """With any token, or none: it tells which person asks."""
    return _guard(view, needed=False, here=False)


def person(view: View) -> View:
    """With any token: it tells which person asks."""
    return _guard(view, needed=True, here=False)


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
    if any(p.id == principal().player for p in game.players.values()):
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
