"""The log of all games as one hash, and short proofs from it."""

from __future__ import annotations

from flask import Response

from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import answer, missing_game, wait
from api.schemas.history_responses import HeadSchema, InclusionSchema
from api.schemas.query_args import ProofArgs, WaitArgs
from api.services import Doc, services
from api.visibility import sight
from projections.merkle_proofs import Head

room = Blueprint("log", __name__, url_prefix="/v1", description="Proof.")


def _head(head: Head) -> Doc:
    return {"size": head.size, "position": head.position, "root": head.root.hex()}


@room.route("/log", methods=["GET"])
@fails(422, 503)
@room.arguments(ProofArgs, location="query")
@room.response(200, HeadSchema)
@room.doc(operationId="log_head")
def log_head(args: Doc) -> Response:
    """Read the head of the log: the root of the Merkle tree (RFC 6962) over all records of all games.

    `since` names the size of a head that was read before: `path` proves that everything in it still stands.
    """
    wait(args["wait"])
    proofs = services().reader.proofs
    if "since" not in args:
        return answer(_head(proofs.head()))
    found = proofs.consistency(args["since"])
    if found is None:
        raise Problem("unknown_position")
    head, path = found
    return answer({**_head(head), "path": [node.hex() for node in path]})


@room.route("/games/<game:game>/records/<version:version>/proof", methods=["GET"])
@fails(404, 503)
@room.arguments(WaitArgs, location="query")
@room.response(200, InclusionSchema)
@room.doc(operationId="proof")
def proof(args: Doc, game: str, version: int) -> Response:
    """Prove that a record stands in the log of all games."""
    wait(args["wait"])
    upto = sight(game).upto
    found = services().reader.proofs.inclusion(game, version) if upto is None or version <= upto else None
    if found is None:
        raise missing_game(game) if not services().ledger.version(game) else Problem("not_found")
    doc: Doc = {"game": game, "version": version, "record": found.record, "leaf": found.leaf}
    return answer({**doc, **_head(found.head), "path": [node.hex() for node in found.path]})
