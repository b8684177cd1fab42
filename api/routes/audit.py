"""Route of the audit: the service verifies a game like any holder of its export."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.http import rate_limits
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, missing_game
from api.schemas.history_responses import AuditSchema
from api.services import Doc, services
from api.visibility import visibility_of
from domain.errors import VerificationError
from domain.kernel.proof.verify import verify
from domain.kernel.records import export
from domain.types import PUBLIC

bp = Blueprint("audit", __name__, url_prefix="/v1/games", description="Verification of a game.")


@bp.operation(
    "GET", "/<game:game>/audit", "audit", access=authorization.optional_role, errors=(403, 404), response=AuditSchema
)
@rate_limits.whole_game_slot()
def audit(game: str) -> Response:
    """Verify the game: hash chain, seals and boards; after its close also every draw and every move."""
    s = services()
    try:
        found = s.ledger.read_original(game, upto=visibility_of(game).upto)
        if not found:
            raise missing_game(game)
        rules = s.registry.get(found[0].body["ruleset"])
        report = verify(rules, export.parse(export.dump(found, PUBLIC)))
    except VerificationError as error:
        s.inspector.inspect(game)
        fault: Doc = {"code": error.code, "version": error.version, "detail": error.detail}
        return json_response({"proved": False, "fault": fault})
    return json_response({"proved": True, "report": report.to_json()})
