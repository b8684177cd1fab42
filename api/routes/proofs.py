"""Routes for the log's Merkle root, and for inclusion and consistency proofs."""

from __future__ import annotations

from flask import Response

from api.http import rate_limits
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import json_response, missing_game, wait_for_views
from api.schemas.history_responses import HeadSchema, InclusionSchema
from api.schemas.query_args import ProofArgs, WaitArgs
from api.services import Doc, services
from api.visibility import visibility_of
from projections.merkle_proofs import Head

bp = Blueprint("log", __name__, url_prefix="/v1", description="Merkle root and proofs of the log.")


def _head_to_json(head: Head) -> Doc:
    return {"size": head.size, "position": head.position, "root": head.root.hex()}


@bp.operation("GET", "/log", "log_head", errors=(422, 503), query=ProofArgs, response=HeadSchema)
def log_head(args: Doc) -> Response:
    """Return the head of the log: the root of the Merkle tree (RFC 6962) over all records of all games.

    With `since`, the size of an earlier head, `path` proves that the log still contains everything in it.
    """
    rate_limits.charge_request(None)
    wait_for_views(args["wait"])
    proofs = services().reader.proofs
    if "since" not in args:
        return json_response(_head_to_json(proofs.head()))
    with rate_limits.whole_game_slot():
        found = proofs.prove_consistency(args["since"])
    if found is None:
        raise Problem("unknown_position")
    head, path = found
    return json_response({**_head_to_json(head), "path": [node.hex() for node in path]})


@bp.operation(
    "GET",
    "/games/<game:game>/records/<version:version>/proof",
    "proof",
    errors=(404, 503),
    query=WaitArgs,
    response=InclusionSchema,
)
def proof(args: Doc, game: str, version: int) -> Response:
    """Return the proof that the log of all games contains a record."""
    rate_limits.charge_request(None)
    wait_for_views(args["wait"])
    upto = visibility_of(game).upto
    found = None
    if upto is None or version <= upto:
        with rate_limits.whole_game_slot():
            found = services().reader.proofs.prove_inclusion(game, version)
    if found is None:
        raise missing_game(game) if not services().ledger.version(game) else Problem("not_found")
    doc: Doc = {"game": game, "version": version, "record": found.record, "leaf": found.leaf}
    return json_response({**doc, **_head_to_json(found.head), "path": [node.hex() for node in found.path]})
