"""Calls of the routes of tournaments: the tournament, and commands under the request's conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TypeVar, overload

from api import authorization
from api.caller_keys import command_key, person_key
from api.event_stakes import list_related
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.response_builders import if_match_version, json_response
from api.schemas.tournament_responses import TournamentWrittenDoc
from api.services import services
from domain.command_handler import CommandResult
from domain.errors import RuleError, StoreUnavailable
from domain.service.database import Statement
from domain.service.idempotency_keys import IdempotencyKey
from domain.tournament_handler import TournamentConditions
from domain.tournaments.aggregate.basic_commands import TournamentCommand
from domain.tournaments.aggregate.tournament import Tournament
from domain.types import Doc
from projections.tournament_views import list_people

Written = TypeVar("Written", bound=TournamentWrittenDoc)


def load_tournament(tournament: str) -> Tournament:
    """Return a tournament. Raise UnknownTournament."""
    return services().tournaments.load(tournament)


def find_stage(t: Tournament, args: Doc) -> int:
    """Return the stage of a query, by default the current one. Raise Problem before its beginning."""
    stage: int = args.get("stage", len(t.stages))
    if stage > len(t.stages):
        raise Problem("not_found")
    return stage


def load_ranked(tournament: str, stage: int, round_: int) -> Tournament:
    """Return the tournament as of a round's official standings. Raise Problem without them."""
    with rate_limits.whole_game_slot():
        found = services().tournaments.load_ranked(tournament, stage, round_)
    if found is None:
        raise Problem("not_found")
    return found


def execute_for_caller(
    tournament: str,
    command: TournamentCommand,
    headers: Doc,
    reason: str = "",
    *,
    more: Sequence[Statement] = (),
    slot: rate_limits.GateContext = nullcontext,
    preliminaries: Callable[[Tournament], Sequence[TournamentCommand]] = lambda _: (),
    people: Sequence[str] = (),
) -> CommandResult:
    """Execute a command under the request's conditions; a reason is stored beside the record, with `more`.

    Every route goes this way: no command of an officer escapes the question of a stake. `slot`: the gate's
    context for a long command. `preliminaries`: as in TournamentConditions. `people`: ids of the person behind the
    command, and of related ones, if the caller only accepts it.
    """
    s, hashed, rows = services(), "", list[Statement]()
    if reason:
        hashed, rows = s.seat_tokens.texts.insert_text(authorization.current_account().player, reason)
    return s.tournaments.handle(
        tournament,
        command,
        TournamentConditions(
            expected=if_match_version(headers.get("match", "")),
            reason=hashed,
            people=people or (*own_players(), *list_related(authorization.credential_owner().account)),
            idempotency_key=tournament_key(headers["key"], tournament),
            extra_statements=lambda _: [*rows, *more],
            slot=slot,
            preliminaries=preliminaries,
        ),
    )


def check_for_caller(tournament: str, command: TournamentCommand, headers: Doc) -> None:
    """Raise as the same command would under the request's conditions, and store nothing."""
    people = (*own_players(), *list_related(authorization.credential_owner().account))
    expected = if_match_version(headers.get("match", ""))
    services().tournaments.check(tournament, command, TournamentConditions(expected=expected, people=people))


def list_person(player: str) -> list[str]:
    """Return all player ids of a person, and of those to whom the person has declared a relation."""
    accounts = services().account_store.accounts
    account = accounts.find_by_player(player)
    return [*accounts.list_alike([player]), *(list_related(account.id) if account else ())]


def tournament_key(key: str, tournament: str) -> IdempotencyKey | None:
    """Return the key of a command of the caller's account, which has its keys for all tournaments together."""
    account = authorization.credential_owner().account
    return command_key(
        services().seat_tokens.command_id("tournament", tournament, account, key), tournament, person_key(key)
    )


def confirm_tournament_write(result: CommandResult) -> TournamentWrittenDoc:
    """Return tournament, version, head and position of a write, and signal new records."""
    s = services()
    if not result.replayed:
        s.notify_appended(result.position)
    head = result.records[-1].hash
    return {"tournament": result.aggregate, "version": result.versions[-1], "head": head, "position": result.position}


def describe_version(tournament: str, version: int) -> TournamentWrittenDoc:
    """Return the members of a write for a version of a tournament."""
    ledger = services().ledger
    (record,) = ledger.read(tournament, version - 1, version)
    return {
        "tournament": tournament,
        "version": version,
        "head": record.hash,
        "position": ledger.position(tournament, version) or 0,
    }


@overload
def written_response(
    result: CommandResult, doc: None = None, status: int = 201
) -> JsonResponse[TournamentWrittenDoc]: ...


@overload
def written_response(result: CommandResult, doc: Written, status: int = 201) -> JsonResponse[Written]: ...


def written_response(
    result: CommandResult, doc: TournamentWrittenDoc | None = None, status: int = 201
) -> JsonResponse[TournamentWrittenDoc]:
    """Return the response to a write. `doc` says more than `confirm_tournament_write`."""
    written = confirm_tournament_write(result) if doc is None else doc
    version, position = str(written["version"]), str(result.position)
    response = json_response(written, status, Annals_Version=version, Annals_Position=position)
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


def require_one_division(t: Tournament) -> None:
    """Raise RuleError if the caller has entered another division of a tournament."""
    head = load_tournament(t.terms.division_of) if t.terms.division_of else t
    for other in (head.id, *head.divisions) if head.divisions else ():
        found = load_tournament(other) if other not in (t.id, head.id) else head
        if other != t.id and not found.is_over and found.find_entrant(own_players()) is not None:
            raise RuleError("division_entered", "", {"tournament": other})


def own_players() -> tuple[str, ...]:
    """Return all player ids of the caller."""
    return tuple(authorization.player_ids())


def entrant_names(t: Tournament) -> dict[str, str]:
    """Return player -> name of the organiser, the entrants and their substitutes, if given."""
    return services().seat_tokens.texts.list_names(list_people(t))
