"""Going back: a rewind is asked for, agreed to where others are concerned, and done by a worker."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.undo_requests import asked_for, shown, standing, status, visible
from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, command, missing_game, table, terms, wanted
from api.schemas.play_responses import MotionSchema, RewindDocSchema, RewindsSchema
from api.schemas.query_args import MoveHeaders
from api.schemas.request_bodies import ConsentSchema, RewindSchema
from api.services import Doc, services
from api.visibility import sight
from domain.errors import RuleError, StaleVersion
from domain.kernel.game.game import AnyGame
from domain.kernel.game.undo import may_undo, motion, public_draws, seen, undone
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.service.job_requests import Errand, new_id
from domain.service.seat_tokens import Principal
from domain.types import Seat

room = Blueprint("rewinds", __name__, url_prefix="/v1/games", description="Going back.")

PRIVATE = "private, no-cache"
_PAGE = 50
_MOST = 20
"""Rewinds of one version that may stand: a worker does one of them, and all others fail."""
_PLACE = {"Location": {"schema": {"type": "string"}, "description": "The job, or the motion that seats must agree to."}}


# --- asking ----------------------------------------------------------------------------------------------------


@room.route("/<game:game>/rewinds", methods=["POST"])
@authorization.signed
@fails(403, 404, 409, 412, 428)
@room.arguments(RewindSchema)
@room.arguments(MoveHeaders, location="headers")
@room.response(202, RewindDocSchema, headers=_PLACE)
@room.doc(operationId="rewind")
def rewind(body: Doc, headers: Doc, game: str) -> Response:
    """Ask to go back to a version; nothing is deleted.

    A worker does it on the version that is named, or not at all. A seat may ask where the table and the rules let it;
    if others have learnt or done anything since, the request becomes a motion that they must agree to. A director may
    always, and gives the reason.
    """
    expected = wanted(headers["match"])
    if expected is None:
        raise Problem("precondition_required", "Send If-Match with the version that was seen.")
    s, who, named = services(), authorization.principal(), command(headers["key"])
    rules, now = table(game)
    if who.seat is not None and (body["fresh"] or body["reason"]):
        raise Problem("directors_only", "A reason and fresh chance are the director's.")
    id_ = new_id("rewind", named[:24] if named else "")
    before = s.errands.find(id_)
    if before is not None:
        return _accepted(_repeated(before, who, expected, body), replayed=True)
    if named and s.ledger.command(game, named):
        raise Problem("idempotency_key_reused")
    gone, consents = _wish(rules, now, who.seat, body["to"], expected)
    _may_ask(game, expected)
    reason = s.access.keep(who.player, body["reason"]) if body["reason"] else ""
    args = {"to": body["to"], "seat": who.seat, "fresh": body["fresh"], "reason": reason}
    args |= {"undone": [r.version for r in gone], "draws": public_draws(gone)}
    asked = s.errands.ask(Errand(id_, "rewind", game, expected, args, consents, s.clock()))
    if asked is None:
        raise Problem("motion_open")
    s.stir(game)
    return _accepted(_repeated(asked, who, expected, body))


def _may_ask(game: str, version: int) -> None:
    asked = services().errands.rewinds(game, _PAGE)
    if sum(e.version == version and e.outcome is None and not e.declined for e in asked) >= _MOST:
        raise Problem("too_many_rewinds")


@rate_limits.whole_game()
def _wish(
    rules: AnyRuleset, p: AnyGame, seat: Seat | None, to: int, expected: int
) -> tuple[list[Record], tuple[Seat, ...]]:
    """What it would undo, and who must agree; raises where that can be refused at once."""
    if expected != p.version:
        raise StaleVersion(expected, p.version)
    if p.status != "running":
        raise RuleError("game_over" if p.status in ("over", "closed") else "not_running", "", {"status": p.status})
    records = services().ledger.read(p.id, upto=p.version)
    gone = undone(records, to)
    if seat is None:
        return gone, ()
    # First on what the seat may read, so that a refusal tells nothing. What others keep to themselves counts when they
    # are asked; where nobody is, it counts now.
    policy = terms(p.id).get("undo", "consent")
    found = motion(rules, p, [seen(r, seat) for r in records], to, seat, policy)
    return gone, (motion(rules, p, records, to, seat, policy) if found.free else found).consents


def _repeated(found: Errand, who: Principal, expected: int, body: Doc) -> Errand:
    """The errand if it is what this request asks for; the reason is known only by its hash, and can be erased."""
    args = found.args or {}
    same = (args["to"], args["seat"], args["fresh"], found.version) == (body["to"], who.seat, body["fresh"], expected)
    said = services().access.said(args["reason"]) if args["reason"] else ""
    if not same or (said is not None and said != body["reason"]):
        raise Problem("idempotency_key_reused")
    return found


def _accepted(errand: Errand, *, replayed: bool = False) -> Response:
    """What was asked for, which never changes."""
    job = f"/v1/jobs/{errand.id}"
    made = answer(asked_for(errand), 202, Location=_address(errand) if errand.asked else job)
    if replayed:
        made.headers["Idempotency-Replayed"] = "true"
    return made


def _address(errand: Errand) -> str:
    return f"/v1/games/{errand.game}/rewinds/{errand.id}"


# --- reading ---------------------------------------------------------------------------------------------------


def _find(game: str, rewind: str) -> Errand:
    found = services().errands.find(rewind)
    if found is None or found.game != game or not visible(found):
        raise Problem("not_found")
    return found


@room.route("/<game:game>/rewinds", methods=["GET"])
@authorization.seen_by
@fails(403, 404)
@room.response(200, RewindsSchema)
@room.doc(operationId="rewinds")
def rewinds(game: str) -> Response:
    """Read which rewinds were asked for, the newest first, and what has become of them."""
    s = services()
    if not s.ledger.version(game):
        raise missing_game(game)
    who, whole = authorization.asking(), rate_limits.passage()
    asked = s.errands.rewinds(game, _PAGE, sight(game).upto)
    items = [shown(s, errand, who, whole) for errand in asked]
    return answer({"items": items}, cache=PRIVATE)


@room.route("/<game:game>/rewinds/<rewind:rewind>", methods=["GET"])
@authorization.seen_by
@fails(403, 404)
@room.response(200, MotionSchema)
@room.doc(operationId="get_rewind")
def get_rewind(game: str, rewind: str) -> Response:
    """Read a rewind that was asked for: what it undoes, who must agree, who has."""
    return answer(shown(services(), _find(game, rewind), authorization.asking(), rate_limits.passage()), cache=PRIVATE)


# --- agreeing --------------------------------------------------------------------------------------------------


@room.route("/<game:game>/rewinds/<rewind:rewind>/consents", methods=["POST"])
@authorization.signed
@fails(403, 404, 409)
@room.arguments(ConsentSchema)
@room.response(200, MotionSchema)
@room.doc(operationId="consent")
def consent(body: Doc, game: str, rewind: str) -> Response:
    """Agree to a motion, or decline it, which ends it. Whoever has moved it may withdraw it by declining.

    With the last consent it is queued. Saying the same again changes nothing.
    """
    s, seat, errand = services(), authorization.seat(), _find(game, rewind)
    args, agrees = errand.args or {}, body["agrees"]
    if seat not in errand.asked and (agrees or seat != args["seat"]):
        raise Problem("not_asked")
    if seat not in (errand.agreed if agrees else errand.declined):
        if status(s, errand)[0] != "open":
            raise Problem("motion_closed")
        if agrees:
            _may_agree(errand, seat)
        s.errands.consent(errand.id, seat, agrees=agrees)
        s.stir(game)
    return answer(standing(s, _find(game, rewind)))


@rate_limits.whole_game()
def _may_agree(errand: Errand, seat: Seat) -> None:
    """A seat that has done what is never undone cannot agree, and is the only one to be told."""
    rules, _ = table(errand.game)
    records = services().ledger.read(errand.game, upto=errand.version)
    gone = [seen(r, seat) for r in undone(records, (errand.args or {})["to"])]
    may_undo(rules, gone, seat, terms(errand.game).get("undo", "consent"))
