"""The application: rooms, and what holds for every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flask import Flask

from api.http import login_throttle, problems, rate_limits, request_log, security_log, url_converters
from api.openapi import smorest
from api.pages import blueprints
from api.routes import (
    audit,
    batches,
    boards,
    challenges,
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
from api.routes.accounts import accounts, mail, me, moderation, second_factors, sessions, social, tokens, webhooks
from api.routes.oauth import clients, endpoints, grants
from api.services import EXTENSION, Services, Settings
from api.streams.asgi import Streams, believe

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["Services", "Settings", "create_app", "create_streams"]

ROOMS = (
    games.room,
    moves.room,
    boards.room,
    history.room,
    batches.room,
    challenges.room,
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
    social.room,
    webhooks.room,
    mail.room,
    moderation.room,
    clients.room,
    grants.room,
    second_factors.room,
    health.room,
)


def create_streams(services: Services, told: Callable[[WSGIEnvironment], None] = believe) -> Streams:
    """The process for streams, over an API of its own; `told` puts what the front says into a request."""
    return Streams(create_app(services), told)


class _Api(Flask):
    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing here is a coroutine, which Flask would ask of every function before each request."""
        return func


def create_app(services: Services) -> Flask:
    """The API over these services; a WSGI application that shares nothing with another one."""
    app = _Api("annals", static_folder=None)
    app.extensions[EXTENSION] = services
    app.config["MAX_CONTENT_LENGTH"] = services.settings.max_body
    app.url_map.redirect_defaults = False
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # it would send clients to whatever host they have named
    request_log.install(app)
    security_log.install(app)
    problems.install(app)
    rate_limits.install(app)
    login_throttle.install(app)
    health.install(app)
    stream.install(app)
    url_converters.install(app)
    docs.install(app)
    endpoints.install(app)
    blueprints.install(app)
    smorest.install(app, services.catalogue, *ROOMS)
    return app
