"""Route of the audit: the service verifies a game like any holder of its export."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, current_app

from api import authorization
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.proof_memory import ProofMemory, digest_of
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, missing_game
from api.schemas.history_responses import AuditDoc, AuditFaultDoc
from api.services import services
from api.visibility import visibility_of
from domain.errors import VerificationError
from domain.kernel.proof.verify import VerificationReport, verify
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.types import PUBLIC

_REPORTS = "annals.audits"

bp = Blueprint("audit", __name__, url_prefix="/v1/games", description="Verification of a game.")


@bp.operation(
    "GET",
    "/<game:game>/audit",
    "audit",
    access=authorization.optional_role,
    errors=(403, 404),
)
@rate_limits.whole_game_slot()
def audit(game: str) -> JsonResponse[AuditDoc]:
    """Verify the game: hash chain, seals and boards; after its close also every draw and every move."""
    s = services()
    try:
        found = s.ledger.read_original(game, upto=visibility_of(game).upto)
        if not found:
            raise missing_game(game)
        report = _prove(found)
    except VerificationError as error:
        s.inspector.inspect(game)
        fault: AuditFaultDoc = {"code": error.code, "version": error.version, "detail": error.detail}
        return json_response({"proved": False, "fault": fault})
    return json_response({"proved": True, "report": report.to_json()})


def _prove(records: Sequence[Record]) -> VerificationReport:
    """Return the report on records; a proof of the same bytes is not repeated. Raise VerificationError."""
    data = export.dump(records, PUBLIC)
    digest, reports = digest_of(data), _reports()
    report = reports.find(digest)
    if report is None:
        report = verify(services().registry.get(records[0].body["ruleset"]), export.parse(data))
        reports.remember(digest, report)
    return report


def _reports() -> ProofMemory[VerificationReport]:
    found: ProofMemory[VerificationReport] = current_app.extensions[_REPORTS]
    return found


def register(app: Flask) -> None:
    """Add the memory of proofs to the application."""
    app.extensions[_REPORTS] = ProofMemory[VerificationReport]()
