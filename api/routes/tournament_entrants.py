"""Routes of the entrants of a tournament: enter and withdraw, check in, show nonces."""

from __future__ import annotations

from contextlib import nullcontext

from api import authorization
from api.agent_requests import refuse_agent_in_event
from api.documents.event_desk import find_numbers
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.openapi.smorest import Blueprint
from api.routes.games import charge_quota
from api.routes.rating_lists import rate_entrant
from api.schemas.query_args import AgentMoveHeaders, MoveHeaders
from api.schemas.tournament_responses import PhaseChangedDoc, TournamentEnteredDoc, TournamentWrittenDoc
from api.schemas.tournament_schemas import (
    CheckInSchema,
    EnterSchema,
    PhaseSchema,
    TournamentNonceSchema,
    WantedByeSchema,
)
from api.services import services
from api.tournament_calls import (
    confirm_tournament_write,
    execute_for_caller,
    load_tournament,
    open_queue_tables,
    own_players,
    require_one_division,
    written_response,
)
from api.tournament_rights import require_right
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CheckInOther,
    CloseCheckIn,
    Enter,
    OpenCheckIn,
    ShowNonce,
    WantBye,
    Withdraw,
)
from domain.tournaments.aggregate.queue_commands import CloseQueue, JoinQueue, LeaveQueue, OpenQueue
from domain.types import Doc

bp = Blueprint(
    "tournament_entrants",
    __name__,
    url_prefix="/v1/tournaments/<tournament:tournament>",
    description="Entrants of a tournament: enter, check in.",
)


@bp.operation(
    "POST",
    "/entrants",
    "enter_tournament",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=AgentMoveHeaders,
    status=201,
)
def enter_tournament(_: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentEnteredDoc]:
    """Enter, with your account. Beyond the capacity you are on the waiting list.

    You may enter a Swiss event up to the draw of its middle round, rounded down (the second of five): rounds missed
    count 0. After a withdrawal you come back under your number. Your account must be in good standing.

    With a rating band (`band`) your rating must be inside (409 `rating_barred`); the record has it.
    """
    authorization.require_good_standing()
    t = load_tournament(tournament)
    refuse_agent_in_event(headers, t)
    require_one_division(t)
    charge_quota("seats")
    player = authorization.current_account().player
    command = Enter(player, own_players(), rated=rate_entrant(t, player))
    stored = execute_for_caller(tournament, command, headers)
    return written_response(stored, {**confirm_tournament_write(stored), "entrant": stored.records[0].body["entrant"]})


@bp.operation(
    "DELETE",
    "/entrants/me",
    "withdraw_from_tournament",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
)
def withdraw_from_tournament(headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Withdraw. Your results stand, and you get no further table. Leave your seat yourself at those that you have."""
    ended = services().seat_tokens.substitutes.end_all(tournament, own_players())
    return written_response(execute_for_caller(tournament, Withdraw(own_players()), headers, more=ended), status=200)


@bp.operation(
    "POST",
    "/entrants/me/byes",
    "want_bye",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=WantedByeSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def want_bye(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Want a bye in a round of a Swiss event. No bye is forced on others for your sake.

    It is worth what the terms say (`wanted_bye`), by default nothing.
    """
    return written_response(execute_for_caller(tournament, WantBye(own_players(), body["round"]), headers))


@bp.operation(
    "POST",
    "/queue",
    "queue_for_table",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def queue_for_table(_: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Wait for a table of a ladder or arena. It is made once as many wait as the preferred number of seats.

    After the `patience` of the stage it is made for the least number. You may wait while you play fewer tables than
    `concurrent`. Your account must be in good standing.
    """
    authorization.require_good_standing()
    load_tournament(tournament)
    charge_quota("seats")
    preliminaries = services().tournament_tables.plan_queue_departures
    stored = execute_for_caller(tournament, JoinQueue(own_players()), headers, preliminaries=preliminaries)
    response = written_response(stored)
    if len(stored.versions) > 1:
        open_queue_tables(tournament)
    return response


@bp.operation(
    "DELETE",
    "/queue",
    "leave_queue",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    headers=MoveHeaders,
)
def leave_queue(headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Wait no longer for a table."""
    return written_response(execute_for_caller(tournament, LeaveQueue(own_players()), headers), status=200)


@bp.operation(
    "POST",
    "/checkin",
    "check_in",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=CheckInSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def check_in(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Check in for the draw, if you like with the hash of a nonce, so that nobody can foresee the draw.

    If you have missed it, and the round is drawn, this brings you back for the next draw.
    """
    return written_response(execute_for_caller(tournament, CheckIn(own_players(), body["nonce_hash"]), headers))


@bp.operation(
    "POST",
    "/entrants/<entrant:entrant>/checkin",
    "check_in_entrant",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=EnterSchema,
    body_required=False,
    headers=MoveHeaders,
    status=201,
)
def check_in_entrant(_: Doc, headers: Doc, tournament: str, entrant: int) -> JsonResponse[TournamentWrittenDoc]:
    """Check in a present entrant, or bring one back for the next draw, as an officer. The record names you."""
    officer = require_right(tournament, "check_in_entrant")[1]
    return written_response(execute_for_caller(tournament, CheckInOther(entrant, officer), headers))


@bp.operation(
    "POST",
    "/nonce",
    "show_tournament_nonce",
    access=authorization.require_playing_account,
    errors=(403, 404, 409, 412),
    body=TournamentNonceSchema,
    headers=MoveHeaders,
    status=201,
)
def show_tournament_nonce(body: Doc, headers: Doc, tournament: str) -> JsonResponse[TournamentWrittenDoc]:
    """Show your nonce, once the check-in has closed. One that is not shown counts as empty."""
    return written_response(execute_for_caller(tournament, ShowNonce(own_players(), body["nonce"]), headers))


@bp.operation(
    "POST",
    "/phases",
    "change_phase",
    access=authorization.require_directing_account,
    errors=(403, 404, 409, 412),
    body=PhaseSchema,
    headers=MoveHeaders,
    status=201,
)
def change_phase(body: Doc, headers: Doc, tournament: str) -> JsonResponse[PhaseChangedDoc]:
    """Open the check-in of your tournament (`checking`), or close it (`drawing`): nonces are shown then.

    You may open another one before each further draw. Without it, the same entrants go on, with their nonces. The queue
    of a ladder or arena takes nobody once it is closed (`queue_closed`), until you open it again (`queue_open`). If
    those present make no tables, you learn at once with which numbers of entrants the draw works.
    """
    t = require_right(tournament, "change_phase")[0]
    tables = services().tournament_tables
    preliminaries = tables.plan_withdrawals if body["phase"] == "drawing" else (lambda _: [])
    # A check-in after the nonces needs to know that no draw is possible: that is a search.
    slot = rate_limits.gate_context(is_long=True) if t.status == "drawing" else nullcontext
    stored = execute_for_caller(tournament, _PHASES[body["phase"]], headers, slot=slot, preliminaries=preliminaries)
    doc: PhaseChangedDoc = {**confirm_tournament_write(stored)}
    if body["phase"] == "drawing":
        nearest = find_numbers(load_tournament(tournament))
        doc |= {"works": not nearest, "nearest": nearest}
    return written_response(stored, doc)


_PHASES = {
    "checking": OpenCheckIn(),
    "drawing": CloseCheckIn(),
    "queue_closed": CloseQueue(),
    "queue_open": OpenQueue(),
}
