"""Routes of the witness: it cosigns checkpoints of other logs (https://c2sp.org/tlog-witness@v1.0.0)."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response, request

from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, read_raw_body
from api.response_builders import etag_response
from api.services import services
from domain.errors import NoteError
from domain.transparency.tlog_proof import AddCheckpoint
from domain.transparency.witness_store import SizeConflict
from domain.types import Doc

NOTE = "text/plain; charset=utf-8"
SIZE = "text/x.tlog.size"
FEW_SECONDS = "public, max-age=2"

_CODES: Mapping[str, str] = {
    "log_unknown": "unknown_log",
    "not_signed": "log_not_signed",
    "signature_false": "log_not_signed",
    "log_inconsistent": "log_inconsistent",
}
"""Code of an error -> code of the problem; any other request is no proper one (`bad_request`)."""

_TEXT = {"schema": {"type": "string"}}
_BODIES: Doc = {
    "requestBody": {"required": True, "content": {"text/plain": _TEXT}},
    "responses": {"409": {"description": "The size of the log as the witness knows it", "content": {SIZE: _TEXT}}},
}
"""Documentation of both texts."""

bp = Blueprint("witness", __name__, url_prefix="/v1/witness", description="A witness for the logs of others.")


@bp.operation(
    "POST",
    "/add-checkpoint",
    "add_checkpoint",
    errors=(400, 403, 404, 422, 503),
    response={"type": "string"},
    content_type="text/plain",
)
@bp.doc(**_BODIES)
def add_checkpoint() -> Response:
    """Cosign a checkpoint of a log that this service watches, and return signature lines.

    The body is that of https://c2sp.org/tlog-witness: `old SIZE`, the lines of a consistency proof, an empty line, and
    the signed checkpoint. If the witness knows the log at another size, the answer is 409 with that size as
    `text/x.tlog.size`.
    """
    rate_limits.charge_request(None)
    try:
        cosignatures = services().witness.cosign(_read_request(), services().clock())
    except SizeConflict as error:
        return Response(f"{error.size}\n", 409, content_type=SIZE, headers={"Cache-Control": "no-store"})
    except NoteError as error:
        raise Problem(_CODES.get(error.code, "bad_request")) from None
    body = "".join(f"{each}\n" for each in cosignatures)
    return Response(body, content_type=NOTE, headers={"Cache-Control": "no-store"})


@bp.operation(
    "GET",
    "/<origin:origin_hash>/checkpoint",
    "witnessed_checkpoint",
    errors=(404, 503),
    response={"type": "string"},
    content_type="text/plain",
)
def witnessed_checkpoint(origin_hash: str) -> Response:
    """Return the largest checkpoint of a log that this service has cosigned, with both signatures.

    `origin_hash` is the SHA-256 of the log's name, hex.
    """
    note = services().witness.find_note(origin_hash)
    if note is None:
        raise Problem("unknown_log")
    return etag_response(note.encode(), cache=FEW_SECONDS, media=NOTE)


def _read_request() -> AddCheckpoint:
    try:
        return AddCheckpoint.parse(read_raw_body(request).decode())
    except UnicodeDecodeError:
        raise NoteError("note_malformed") from None
