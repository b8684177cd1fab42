"""Proof on demand: the service checks a game as anyone can who has its export."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, missing_game
from api.schemas.history_responses import AuditSchema
from api.services import Doc, services
from api.visibility import sight
from domain.errors import VerificationError
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.types import PUBLIC

room = Blueprint("audit", __name__, url_prefix="/v1/games", description="Proof.")


@room.route("/<game:game>/audit", methods=["GET"])
@authorization.seen_by
@fails(403, 404)
@room.response(200, AuditSchema)
@room.doc(operationId="audit")
@rate_limits.whole_game()
def audit(game: str) -> Response:
    """Have the game proved: the hash chain, seals and boards; once closed also every draw and every move."""
    s = services()
    try:
        found = s.ledger.read(game, upto=sight(game).upto)
        if not found:
            raise missing_game(game)
        rules = s.catalogue.get(found[0].body["ruleset"])
        report = verify(rules, export.parse(export.dump(found, PUBLIC)))
    except VerificationError as error:
        s.inspect(game)
        fault: Doc = {"code": error.code, "version": error.version, "detail": error.detail}
        return answer({"proved": False, "fault": fault})
    return answer({"proved": True, "report": report.to_json()})
