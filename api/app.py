"""The application: rooms, and what holds for every request."""

from __future__ import annotations

from flask import Flask

from api import addresses, attempts, events, limits, logs, openapi, problems
from api.routes import (
    audit,
    boards,
    director,
    docs,
    games,
    health,
    history,
    jobs,
    moves,
    players,
    proofs,
    rewinds,
    rulesets,
    stream,
)
from api.routes.people import accounts, me, moderation, sessions, tokens
from api.services import EXTENSION, Services, Settings

__all__ = ["Services", "Settings", "create_app"]

ROOMS = (
    games.room,
    moves.room,
    boards.room,
    history.room,
    rewinds.room,
    jobs.room,
    stream.room,
    director.room,
    audit.room,
    proofs.room,
    rulesets.room,
    players.room,
    accounts.room,
    sessions.room,
    tokens.room,
    me.room,
    moderation.room,
    health.room,
)


def create_app(services: Services) -> Flask:
    """The API over these services; a WSGI application that shares nothing with another one."""
    app = Flask("annals", static_folder=None)
    app.extensions[EXTENSION] = services
    app.config["MAX_CONTENT_LENGTH"] = services.settings.max_body
    app.url_map.redirect_defaults = False
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # it would send clients to whatever host they have named
    logs.install(app)
    events.install(app)
    problems.install(app)
    limits.install(app)
    attempts.install(app)
    health.install(app)
    stream.install(app)
    addresses.install(app)
    docs.install(app)
    openapi.install(app, services.catalogue, *ROOMS)
    return app
