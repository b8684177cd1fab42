"""The Flask application: its blueprints and the handlers of every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flask import Flask

from api.http import login_throttle, problems, rate_limits, request_log, security_log, url_converters
from api.openapi import smorest
from api.pages import blueprints
from api.routes import (
    agents,
    announcements,
    audit,
    batches,
    boards,
    challenges,
    director,
    docs,
    entrant_cards,
    entry_offers,
    feeds,
    game_imports,
    games,
    health,
    history,
    jobs,
    leaving,
    log_policy,
    moves,
    pauses,
    players,
    proofs,
    proposals,
    rating_lists,
    replays,
    rewinds,
    rulesets,
    standing_orders,
    stream,
    table_appeals,
    table_chat,
    table_forks,
    table_officers,
    table_talk,
    talk_conduct,
    talk_disclosures,
    tournament_changes,
    tournament_chat,
    tournament_desk,
    tournament_divisions,
    tournament_elsewhere,
    tournament_entrants,
    tournament_files,
    tournament_followers,
    tournament_rounds,
    tournament_rulings,
    tournament_substitutes,
    tournaments,
    witness,
)
from api.routes.accounts import (
    accounts,
    mail,
    me,
    moderation,
    offices,
    push,
    second_factors,
    sessions,
    social,
    tokens,
    vacations,
    webhooks,
)
from api.routes.oauth import clients, endpoints, grants
from api.services import EXTENSION, ApiServices, ApiSettings
from api.streams.asgi import StreamApp, no_proxy_fix

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["AnnalsApp", "ApiServices", "ApiSettings", "create_app", "create_streams"]

BLUEPRINTS = (
    games.bp,
    leaving.bp,
    moves.bp,
    boards.bp,
    history.bp,
    feeds.bp,
    table_chat.bp,
    table_talk.bp,
    standing_orders.bp,
    talk_conduct.bp,
    talk_disclosures.bp,
    replays.bp,
    batches.bp,
    tournaments.bp,
    tournament_rounds.bp,
    tournament_chat.bp,
    tournament_changes.bp,
    tournament_divisions.bp,
    tournament_elsewhere.bp,
    tournament_desk.bp,
    tournament_rulings.bp,
    tournament_substitutes.bp,
    tournament_files.bp,
    tournament_entrants.bp,
    tournament_followers.bp,
    entrant_cards.bp,
    announcements.bp,
    entry_offers.bp,
    challenges.bp,
    table_forks.bp,
    game_imports.bp,
    proposals.bp,
    rewinds.bp,
    jobs.bp,
    stream.bp,
    director.bp,
    table_officers.bp,
    pauses.bp,
    table_appeals.bp,
    offices.bp,
    audit.bp,
    proofs.bp,
    witness.bp,
    rulesets.bp,
    players.bp,
    rating_lists.bp,
    accounts.bp,
    sessions.bp,
    tokens.bp,
    me.bp,
    vacations.bp,
    social.bp,
    webhooks.bp,
    push.bp,
    mail.bp,
    moderation.bp,
    clients.bp,
    grants.bp,
    second_factors.bp,
    health.bp,
)


def create_streams(services: ApiServices, proxy_fix: Callable[[WSGIEnvironment], None] = no_proxy_fix) -> StreamApp:
    """Return the ASGI application for streams, on top of its own Flask application.

    `proxy_fix` writes the values of the reverse proxy's headers into each request.
    """
    return StreamApp(create_app(services), proxy_fix)


class AnnalsApp(Flask):
    """The WSGI application."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return `func` unchanged: no view is a coroutine, and Flask would check each function on every request."""
        return func


def create_app(services: ApiServices) -> AnnalsApp:
    """Return the API as a WSGI application over these services. Applications share no state."""
    app = AnnalsApp("annals", static_folder=None)
    app.extensions[EXTENSION] = services
    app.config["MAX_CONTENT_LENGTH"] = services.settings.max_body
    app.url_map.redirect_defaults = False
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # its redirects would use the client's Host header
    request_log.register(app)
    security_log.register(app)
    problems.register(app)
    rate_limits.register(app)
    login_throttle.register(app)
    health.register(app)
    stream.register(app)
    agents.register(app)
    url_converters.register(app)
    game_imports.register(app)
    audit.register(app)
    docs.register(app)
    endpoints.register(app)
    log_policy.register(app)
    blueprints.register(app)
    smorest.register(app, services.registry, *BLUEPRINTS)
    return app
