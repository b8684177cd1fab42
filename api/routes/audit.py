"""Proof on demand: the service checks a game as anyone can who has its export."""

from __future__ import annotations

from flask import Response

from api import auth, limits
from api.answers import AuditSchema
from api.openapi import Blueprint, fails
from api.replies import answer, missing_game
from api.services import Doc, services
from api.spectating import sight
from domain.errors import VerificationError
from domain.ids import PUBLIC
from domain.kernel import export
from domain.kernel.verify import verify

room = Blueprint("audit", __name__, url_prefix="/v1/games", description="Proof.")


@room.route("/<game:game>/audit", methods=["GET"])
@auth.seen_by
@fails(403, 404)
@room.response(200, AuditSchema)
@room.doc(operationId="audit")
@limits.whole_game()
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
