"""What is seen: boards now and then, decisions, standings, and all at once for a client that comes back."""

from __future__ import annotations

from dataclasses import replace

import orjson
from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.problems import Problem, lost
from api.openapi.smorest import Blueprint, fails
from api.response_builders import OWN, PRIVATE, answer, head_of, missing_game, table, tagged, wait
from api.schemas.history_responses import ResumeSchema, ScoresSchema
from api.schemas.play_responses import BoardPartsSchema, BoardSchema, DecisionsSchema
from api.schemas.query_args import BoardArgs, PartsArgs, WaitArgs
from api.services import Doc, services
from api.visibility import sight
from domain.kernel.game.game import AnyGame, state_for
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.types import Json, Viewer
from projections import documents
from projections.loaded_game import Known, folded
from projections.reader import Board

room = Blueprint("boards", __name__, url_prefix="/v1/games", description="What each viewer may see.")

_MEMBERS = frozenset(BoardSchema().fields)
_TAG = {"ETag": {"schema": {"type": "string"}}, "Annals-Version": {"schema": {"type": "string"}}}


def board_of(game: str, viewer: Viewer) -> Board:
    """The rendered board; raises Problem."""
    found = services().reader.board(game, viewer, inside=authorization.inside(game), whole=rate_limits.telling_again)
    if found is None:
        raise missing_game(game)
    return found


@room.route("/<game:game>/board", methods=["GET"])
@authorization.seen_by
@fails(304, 403, 404, 503)
@room.arguments(BoardArgs, location="query")
@room.response(200, BoardSchema, headers=_TAG)
@room.doc(operationId="board")
def board(args: Doc, game: str) -> Response:
    """Read the board.

    A seat's token shows `own` besides. The tag is opaque; a version of the game is in `Annals-Version`.
    """
    doc, version, cache = _asked(args, game)
    return tagged(doc, version, cache)


def _asked(args: Doc, game: str) -> tuple[bytes, int, str]:
    """The board of now or of then, its version, and for how long it holds."""
    if "version" in args:
        return past(game, args["version"], authorization.viewer()), args["version"], OWN
    wait(args["wait"])
    found = board_of(game, authorization.viewer())
    return found.doc, found.version, PRIVATE


@room.route("/<game:game>/board/parts", methods=["GET"])
@authorization.seen_by
@fails(304, 403, 404, 503)
@room.arguments(PartsArgs, location="query")
@room.response(200, BoardPartsSchema, headers=_TAG)
@room.doc(operationId="board_parts")
def board_parts(args: Doc, game: str) -> Response:
    """Read some members of the board alone.

    `fields=decisions,public.regions.india` gives `parts` with these two; null where the board has no such place.
    """
    raw, version, cache = _asked(args, game)
    doc = orjson.loads(raw)
    wanted = dict.fromkeys(args["members"].split(","))
    if unknown := [path for path in wanted if path.partition(".")[0] not in _MEMBERS]:
        told = [{"at": "/fields", "message": Message("A board has no member {name}.", name=unknown[0])}]
        raise Problem("invalid_query", errors=told)
    head = {name: doc[name] for name in ("game", "viewer", "version")}
    parts = {path: _at(doc, path.split(".")) for path in wanted}
    return tagged(orjson.dumps(head | {"parts": parts}, option=orjson.OPT_SORT_KEYS), version, cache)


def _at(doc: Json, path: list[str]) -> Json:
    """What stands at a place of a document; None where there is no such place."""
    for name in path:
        if isinstance(doc, dict):
            doc = doc.get(name)
        elif isinstance(doc, list) and name.isdecimal() and int(name) < len(doc):
            doc = doc[int(name)]
        else:
            return None
    return doc


# --- the past --------------------------------------------------------------------------------------------------


@rate_limits.whole_game()
def past(game: str, version: int, viewer: Viewer) -> bytes:
    """The board as it was after a version, made only from what the viewer may read."""
    head, damaged = head_of(game)
    if damaged and version > head:
        raise lost(head + 1)
    if not head:
        raise missing_game(game)
    if not 0 < version <= head:
        raise Problem("unknown_version", version=head)
    records = services().ledger.read(game, upto=version)
    return documents.board(_known(records, viewer), viewer)


def known_at(records: list[Record]) -> Known:
    """What the read side knew of a game after its last record."""
    return folded(services().catalogue, records)


def seen_table(game: str) -> tuple[AnyRuleset, AnyGame]:
    """The rules of a game, and the game as whoever asks may know it; raises UnknownGame, and Problem."""
    rules, p = table(game)
    upto = sight(game).upto
    if upto is None or upto >= p.version:
        return rules, p
    if not upto:
        raise missing_game(game)
    with rate_limits.whole_game():
        return rules, known_at(services().ledger.read(game, upto=upto)).game


def _known(records: list[Record], viewer: Viewer) -> Known:
    known = known_at(records)
    if known.game.status == "closed":
        return known
    state = state_for(known.rules, records, viewer)
    return replace(known, game=replace(known.game, state=state))


# --- decisions, standings, coming back -------------------------------------------------------------------------


@room.route("/<game:game>/decisions", methods=["GET"])
@authorization.seen_by
@fails(304, 403, 404, 503)
@room.arguments(WaitArgs, location="query")
@room.response(200, DecisionsSchema, headers=_TAG)
@room.doc(operationId="decisions")
def decisions(args: Doc, game: str) -> Response:
    """Read what is to be decided, by whom, and until when."""
    wait(args["wait"])
    found = board_of(game, authorization.viewer())
    doc = orjson.loads(found.doc)
    shown = {k: doc[k] for k in ("game", "version", "viewer", "decisions")}
    return tagged(orjson.dumps(shown), found.version)


@room.route("/<game:game>/resume", methods=["GET"])
@authorization.seen_by
@fails(403, 404, 503)
@room.arguments(WaitArgs, location="query")
@room.response(200, ResumeSchema)
@room.doc(operationId="resume")
def resume(args: Doc, game: str) -> Response:
    """Read all that a client needs that comes back."""
    wait(args["wait"])
    s = services()
    position = s.reader.position()
    found = board_of(game, authorization.viewer())
    doc = orjson.loads(found.doc)
    body = {"game": game, "version": found.version, "position": position, "now": s.clock()}
    return answer(body | {"board": doc, "decisions": doc["decisions"]}, cache="private, no-store")


@room.route("/<game:game>/scores", methods=["GET"])
@authorization.seen_by
@fails(403, 404, 409)
@room.arguments(WaitArgs, location="query")
@room.response(200, ScoresSchema)
@room.doc(operationId="scores")
def scores(args: Doc, game: str) -> Response:
    """Read the standings, or the final table.

    Before the end they are made from what the viewer may read; where that is not enough they are hidden. A game that
    was closed before its end has no final table: `ending` says why.
    """
    wait(args["wait"])
    rules, p = seen_table(game)
    doc: Doc = {"game": game, "version": p.version, "final": p.finished, "ending": p.ending, "scores": []}
    if p.status == "running":
        doc["scores"] = _seen_standings(rules, p, authorization.viewer())
    elif p.finished:
        doc["scores"] = _standings(rules, p)
    return answer(doc, cache=PRIVATE)


def _standings(rules: AnyRuleset, p: AnyGame) -> list[Json]:
    return [s.to_json() for s in rules.scores(p.state)]


@rate_limits.whole_game()
def _seen_standings(rules: AnyRuleset, p: AnyGame, viewer: Viewer) -> list[Json]:
    state = state_for(rules, services().ledger.read(p.id, upto=p.version), viewer)
    try:
        return _standings(rules, replace(p, state=state))
    except Exception as error:
        raise Problem("scores_hidden") from error
