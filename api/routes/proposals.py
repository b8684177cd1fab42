"""Routes for proposals: what a director alone does elsewhere, players agree on."""

from __future__ import annotations

from api import authorization
from api.caller_keys import mark_replayed, role_key
from api.documents.motion_limits import UNLIMITED_ACTS, check_motions_left
from api.documents.proposals import new_proposal_to_json, proposal_status, proposal_to_json
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.paces import parse_pace
from api.response_builders import if_match_version, json_response, load_table, missing_game
from api.schemas.play_responses import ProposalDoc, ProposalsDoc
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import ConsentSchema, NewProposalSchema
from api.seating import check_bot
from api.services import services
from api.visibility import visibility_of
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.record_builder import voting_seats
from domain.kernel.rules.ruleset import AnyRuleset
from domain.service.job_requests import JobRequest, new_id
from domain.types import Doc, Seat

bp = Blueprint("proposals", __name__, url_prefix="/v1/games", description="Agreements of players.")

PRIVATE = "private, no-cache"
_PAGE_SIZE = 50
MAX_OPEN = 5
"""Open proposals of one seat at a table."""
_LOCATION = {"Location": {"schema": {"type": "string"}, "description": "URL of the proposal."}}


@bp.operation(
    "POST",
    "/<game:game>/proposals",
    "propose",
    access=authorization.require_role,
    errors=(403, 404, 409, 412),
    body=NewProposalSchema,
    headers=MoveHeaders,
    status=202,
    response_headers=_LOCATION,
)
def propose(body: Doc, headers: Doc, game: str) -> JsonResponse[ProposalDoc]:
    """Propose to end the game, to move or hold a deadline, to free a seat, to set another pace, or to name an officer.

    The other people at the table must agree. A seat that neither answers nor plays for a week has no vote. A worker
    executes the proposal as soon as nobody is missing, on the game as it is then. One refusal ends it, and you withdraw
    it by declining. Nobody is asked at a table where you are the only person. After three declined or expired requests
    of a seat it proposes only to resume the game or to name an officer.
    """
    s, seat = services(), _voter()
    rules, now = load_table(game)
    key = role_key(headers["key"])
    id_ = new_id("proposal", key.id[:24] if key else "")
    if key:
        key.check(s.ledger.execute)
    act = {name: value for name, value in body.items() if value is not None}
    before = s.job_requests.find(id_)
    is_new = before is None
    if is_new:
        if (expected := if_match_version(headers["match"])) not in (None, now.version):
            raise StaleVersion(expected or 0, now.version)
        _check_act(rules, now, act)
        _check_limit(game, seat)
        allowance = None if act["act"] in UNLIMITED_ACTS else check_motions_left(s, game, seat)
        players = {str(s): player.id for s, player in now.players.items()}
        args: Doc = {"seat": seat, "act": act, "players": players}
        args |= {"pace": parse_pace(rules.meta, act["pace"], s.clock()).to_json()} if act["act"] == "pace" else {}
        request = JobRequest(id_, "proposal", game, now.version, args, tuple(voting_seats(now, seat)), s.clock())
        before = s.job_requests.submit(request, key, allowance)
        s.notify_changed(game)
    if before is None:
        raise Problem("too_many_proposals")
    sent = {"seat": seat, "act": act}
    if {name: (before.args or {})[name] for name in sent} != sent:
        raise Problem("idempotency_key_reused")
    response = json_response(new_proposal_to_json(before), 202, Location=f"/v1/games/{game}/proposals/{id_}")
    if not is_new:
        mark_replayed(response)
    return response


def _voter() -> Seat:
    """Return the caller's seat. A director could have a replaced token, so it only declines. Raise Problem."""
    if authorization.principal().lent:
        raise Problem("lent_token")
    return authorization.seat()


def _check_act(rules: AnyRuleset, now: AnyGame, act: Doc) -> None:
    """Raise what can be refused at once. The command itself is checked when it is executed."""
    if now.status != "running":
        raise RuleError("game_over" if now.status in ("over", "closed") else "not_running", "", {"status": now.status})
    if "seat" in act and act["seat"] >= now.table.seats:
        raise RuleError("unknown_seat", "", {"seats": now.table.seats})
    if "until" in act and act["until"] <= services().clock():
        raise RuleError("time_passed", "", {"now": services().clock()})
    if act["act"] == "appoint" and services().account_store.accounts.find_by_player(act["player"]) is None:
        raise Problem("unknown_account")
    if act["act"] == "seat_bot":
        check_bot(rules, now, act["bot"])


def _check_limit(game: str, seat: Seat) -> None:
    s = services()
    standing = [
        request
        for request in s.job_requests.list_proposals(game, _PAGE_SIZE)
        if (request.args or {})["seat"] == seat and proposal_status(s, request)[0] == "open"
    ]
    if len(standing) >= MAX_OPEN:
        raise Problem("too_many_proposals")


@bp.operation("GET", "/<game:game>/proposals", "proposals", access=authorization.optional_role, errors=(403, 404))
def proposals(game: str) -> JsonResponse[ProposalsDoc]:
    """Return the game's proposals and their status, newest first. Spectators with a delay see none."""
    s = services()
    if not s.ledger.version(game):
        raise missing_game(game)
    found = [] if visibility_of(game).upto is not None else s.job_requests.list_proposals(game, _PAGE_SIZE)
    return json_response({"items": [proposal_to_json(s, request) for request in found]}, cache=PRIVATE)


@bp.operation(
    "GET",
    "/<game:game>/proposals/<proposal:proposal>",
    "get_proposal",
    access=authorization.optional_role,
    errors=(403, 404),
)
def get_proposal(game: str, proposal: str) -> JsonResponse[ProposalDoc]:
    """Return a proposal: the command, the seats to consent, and their answers."""
    return json_response(proposal_to_json(services(), _find_proposal(game, proposal)), cache=PRIVATE)


def _find_proposal(game: str, proposal: str) -> JobRequest:
    found = services().job_requests.find(proposal)
    if found is None or found.game != game or visibility_of(game).upto is not None:
        raise Problem("not_found")
    return found


@bp.operation(
    "POST",
    "/<game:game>/proposals/<proposal:proposal>/consents",
    "answer_proposal",
    access=authorization.require_role,
    errors=(403, 404, 409),
    body=ConsentSchema,
)
def answer_proposal(body: Doc, game: str, proposal: str) -> JsonResponse[ProposalDoc]:
    """Agree to a proposal or decline it. One refusal ends it; its author withdraws it by declining.

    With the last consent, the command is queued. Repeating an answer changes nothing.
    """
    s, agrees, request = services(), body["agrees"], _find_proposal(game, proposal)
    seat = _voter() if agrees else authorization.seat()
    args, player = request.args or {}, authorization.principal().player
    if seat not in request.asked and (agrees or seat != args["seat"]):
        raise Problem("not_asked")
    if agrees and args.get("players", {}).get(str(seat), player) != player:
        raise Problem("not_asked", "Another person had this seat at the time of the proposal.")
    if seat not in (request.agreed if agrees else request.declined):
        if proposal_status(s, request)[0] != "open":
            raise Problem("proposal_closed")
        s.job_requests.consent(request.id, seat, agrees=agrees)
        s.notify_changed(game)
    return json_response(proposal_to_json(s, _find_proposal(game, proposal)))
