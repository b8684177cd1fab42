"""Calls of the routes of tournaments: the tournament, the caller's office, commands under the request's conditions."""

from __future__ import annotations

from contextlib import suppress

from flask import Response

from api import authorization
from api.caller_keys import command_key, person_key
from api.http import security_log
from api.http.problems import Problem
from api.response_builders import if_match_version, json_response
from api.services import Doc, services
from domain.command_handler import CommandResult
from domain.errors import RuleError, StoreUnavailable
from domain.kernel.text.message_catalog import Message
from domain.service.database import Statement
from domain.service.request_keys import RequestKey
from domain.tournaments.event import Tournament
from domain.tournaments.event_commands import TournamentCommand

_ONLY_FOR = {
    ("organiser",): Message("Only the organiser may do this"),
    ("organiser", "deputy"): Message("Only the organiser or a deputy may do this"),
    ("organiser", "deputy", "arbiter"): Message("Only the officers of the tournament may do this"),
}
"""Offices -> title of a refusal."""


def load_tournament(tournament: str) -> Tournament:
    """Return a tournament. Raise UnknownTournament."""
    return services().tournaments.load(tournament)


def find_office(t: Tournament) -> tuple[str, str] | None:
    """Return the caller's player id and office: `organiser`, `deputy` or `arbiter`; None for others."""
    offices = {**t.officers, t.director: "organiser"}
    return next(((player, offices[player]) for player in authorization.player_ids() if player in offices), None)


def require_office(tournament: str, *offices: str, or_stand_in: bool = True) -> tuple[Tournament, str]:
    """Return a tournament and the caller's player id.

    Raise Problem unless the caller has one of these offices, or may stand in for the organiser and does.
    """
    t = load_tournament(tournament)
    found = find_office(t)
    if found is not None and found[1] in offices:
        return t, found[0]
    if or_stand_in and "organiser" in offices and _may_stand_in(t, found):
        player = found[0] if found else authorization.current_account().player
        security_log.log_event("organiser_replaced", tournament=t.id, player=player)
        return t, player
    refused = Problem("directors_only")
    refused.title = _ONLY_FOR[offices]
    raise refused


def _may_stand_in(t: Tournament, found: tuple[str, str] | None) -> bool:
    """Return whether a caller with this office has the rights of the organiser.

    Deputies and moderators do, once the organiser's account is erased, banned or suspended.
    """
    may = (found is not None and found[1] == "deputy") or authorization.is_moderator(authorization.credential_owner())
    return may and not services().account_store.accounts.is_active(t.director)


def require_director(tournament: str) -> Tournament:
    """Return a tournament of the caller. Raise Problem unless the caller is its organiser, or a deputy."""
    return require_office(tournament, "organiser", "deputy")[0]


def execute_for_caller(tournament: str, command: TournamentCommand, headers: Doc, reason: str = "") -> CommandResult:
    """Execute a command under the request's conditions; a reason is stored beside the record."""
    s, hashed, rows = services(), "", list[Statement]()
    if reason:
        hashed, rows = s.seat_tokens.texts.insert_text(authorization.current_account().player, reason)
    return s.tournaments.handle(
        tournament,
        command,
        expected=if_match_version(headers.get("match", "")),
        reason=hashed,
        idempotency_key=tournament_key(headers["key"], tournament),
        extra_statements=lambda _: rows,
    )


def tournament_key(key: str, tournament: str) -> RequestKey | None:
    """Return the key of a command of the caller's account, which has its keys for all tournaments together."""
    account = authorization.credential_owner().account
    return command_key(
        services().seat_tokens.command_id("tournament", tournament, account, key), tournament, person_key(key)
    )


def confirm_tournament_write(result: CommandResult) -> Doc:
    """Return tournament, version, head and position of a write, and signal new records."""
    s = services()
    if not result.replayed:
        s.notify_appended(result.position)
    head = result.records[-1].hash
    return {"tournament": result.game, "version": result.versions[-1], "head": head, "position": result.position}


def written_response(result: CommandResult, status: int = 201, **more: object) -> Response:
    """Return the response to a write."""
    doc = confirm_tournament_write(result) | more
    response = json_response(doc, status, Annals_Version=str(doc["version"]), Annals_Position=str(result.position))
    if result.replayed:
        response.headers["Idempotency-Replayed"] = "true"
    return response


def open_queue_tables(tournament: str) -> None:
    """Open the games of new tables from a queue; the worker does the rest."""
    s = services()
    with suppress(RuleError, StoreUnavailable):
        s.tournament_tables.serve_queue(tournament)
    if position := s.ledger.position(tournament, s.ledger.version(tournament)):
        s.notify_appended(position)


def own_players() -> tuple[str, ...]:
    """Return all player ids of the caller."""
    return tuple(authorization.player_ids())


def entrant_names(t: Tournament) -> dict[str, str]:
    """Return player -> name of the organiser and the entrants, if given."""
    return services().seat_tokens.texts.list_names([t.director, *(each.player for each in t.entrants)])
