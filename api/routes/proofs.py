"""Routes for the log of all games: its head, signed checkpoints, tiles, proofs, and the verifier in one file."""

from __future__ import annotations

import functools
import hashlib
import re

from flask import Response, request

from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint
from api.response_builders import IMMUTABLE, ONE_DAY, etag_response, json_response, missing_game, wait_for_views
from api.schemas.history_responses import HeadDoc, InclusionDoc, TreeDoc
from api.schemas.query_args import ProofArgs, WaitArgs
from api.services import services
from api.shipped_files import VERIFIER
from api.visibility import visibility_of
from domain.transparency.checkpoint_store import StoredCheckpoint
from domain.transparency.signed_note import SignedNote
from domain.transparency.tlog_proof import TlogProof
from domain.types import Doc
from projections.merkle_proofs import TILE, Head

NOTE = "text/plain; charset=utf-8"
BYTES = "application/octet-stream"
FEW_SECONDS = "public, max-age=2"
"""Cache-Control of the newest checkpoint."""
TILE_PATH = re.compile(
    r"(?P<level>entries|[0-9]|[1-5][0-9]|6[0-3])/(?P<number>(?:x[0-9]{3}/){0,5}[0-9]{3})(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)

bp = Blueprint("log", __name__, url_prefix="/v1", description="Merkle root, checkpoints and proofs of the log.")


def _head_to_json(head: Head) -> TreeDoc:
    return {"size": head.size, "position": head.position, "root": head.root.hex()}


@functools.cache
def _verifier() -> bytes:
    return VERIFIER.read_bytes()


def verifier_hash() -> str:
    """Return the SHA-256 of the verifier's file, hex."""
    return hashlib.sha256(_verifier()).hexdigest()


@bp.operation(
    "GET",
    "/log",
    "log_head",
    errors=(422, 503),
    query=ProofArgs,
)
def log_head(args: Doc) -> JsonResponse[HeadDoc]:
    """Return the head of the log: the root of the Merkle tree (RFC 6962) over all records of all games.

    With `since`, the size of an earlier head, `path` proves that the log still contains everything in it. With `size`,
    the size of a signed checkpoint, the head is the checkpoint's. `verifier` is the SHA-256 of the one-file verifier.
    """
    rate_limits.charge_request(None)
    wait_for_views(args["wait"])
    proofs, size = services().reader.proofs, args.get("size", 0)
    if size > _signed_size():
        raise Problem("unknown_position")
    if "since" not in args:
        return json_response({**_head_to_json(proofs.head(size)), "verifier": verifier_hash()})
    with rate_limits.whole_game_slot():
        found = proofs.prove_consistency(args["since"], size)
    if found is None:
        raise Problem("unknown_position")
    head, path = found
    return json_response({**_head_to_json(head), "path": [node.hex() for node in path], "verifier": verifier_hash()})


def _signed_size() -> int:
    shown = services().checkpoints.public
    return shown.size if shown else 0


def _shown_checkpoint() -> StoredCheckpoint:
    shown = services().checkpoints.public
    if shown is None:
        raise Problem("no_checkpoint")
    return shown


@bp.operation(
    "GET",
    "/log/checkpoint",
    "log_checkpoint",
    errors=(404, 503),
    response={"type": "string"},
    content_type="text/plain",
)
def log_checkpoint() -> Response:
    """Return the newest signed checkpoint of the log: a note with its name, size and root, and their signatures.

    Its form is https://c2sp.org/tlog-checkpoint. Its size never shrinks. Keep one, and compare it with one that
    somebody else has been given.
    """
    return etag_response(_shown_checkpoint().note.encode(), cache=FEW_SECONDS, media=NOTE)


@bp.operation(
    "GET",
    "/log/tile/<path:tile>",
    "log_tile",
    errors=(404, 503),
    response={"type": "string", "format": "binary"},
    content_type=BYTES,
)
def log_tile(tile: str) -> Response:
    """Return a tile of the log's Merkle tree, or an entry bundle: the hashes of 256 records in their order.

    The paths and forms are those of https://c2sp.org/tlog-tiles, with the prefix `/v1/log`. An entry is the hash of a
    record's public part, 32 bytes.
    """
    match = TILE_PATH.fullmatch(tile)
    if match is None:
        raise Problem("not_found")
    number, width = int(re.sub(r"[x/]", "", match["number"])), int(match["width"] or TILE)
    level = 0 if match["level"] == "entries" else int(match["level"])
    is_partial = match["width"] is not None
    if (is_partial and width >= TILE) or number * TILE + width > _signed_size() >> (8 * level):
        raise Problem("not_found")
    proofs = services().reader.proofs
    data = proofs.entries(number, width) if match["level"] == "entries" else proofs.tile(level, number, width)
    if data is None:
        raise Problem("not_found")
    return Response(data, content_type=BYTES, headers={"Cache-Control": IMMUTABLE})


@bp.operation("GET", "/games/<game:game>/records/<version:version>/proof", "proof", errors=(404, 503), query=WaitArgs)
def proof(args: Doc, game: str, version: int) -> JsonResponse[InclusionDoc] | Response:
    """Return the proof that the log of all games contains a record.

    With `Accept: text/plain` it is a `tlog-proof` (https://c2sp.org/tlog-proof) with the newest signed checkpoint, for
    the verifier in one file. A record is in a checkpoint about a second after it is in the log.
    """
    rate_limits.charge_request(None)
    wait_for_views(args["wait"])
    return prove_record(game, version, visibility_of(game).upto)


def prove_record(game: str, version: int, upto: int | None = None) -> JsonResponse[InclusionDoc] | Response:
    """Return the proof of a record of a game or tournament, up to a version that the caller may see."""
    as_text = request.accept_mimetypes.best_match(["application/json", "text/plain"]) == "text/plain"
    checkpoint = _shown_checkpoint() if as_text else None
    found, size = None, checkpoint.size if checkpoint else 0
    if upto is None or version <= upto:
        with rate_limits.whole_game_slot():
            found = services().reader.proofs.prove_inclusion(game, version, size)
    if found is None:
        raise missing_game(game) if not services().ledger.version(game) else Problem("not_found")
    if checkpoint:
        text = str(TlogProof(found.leaf, found.path, SignedNote.parse(checkpoint.note)))
        return Response(text, content_type=NOTE, headers={"Cache-Control": "no-cache", "Vary": "Accept"})
    doc: InclusionDoc = {
        **_head_to_json(found.head),
        "path": [node.hex() for node in found.path],
        "game": game,
        "version": version,
        "record": found.record,
        "leaf": found.leaf,
    }
    response = json_response(doc)
    response.vary.add("Accept")
    return response


@bp.operation("GET", "/verifier.py", "verifier", response={"type": "string"}, content_type="text/x-python")
def verifier() -> Response:
    """Return the verifier in one file: it checks exports, proofs and checkpoints with Python 3.11 alone.

    Its SHA-256 is in `/v1/log` and in the changelog of each release. Take it from a person of your trust.
    """
    return etag_response(_verifier(), cache=ONE_DAY, media="text/x-python; charset=utf-8")
