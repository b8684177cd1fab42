"""What is seen: boards now and then, decisions, standings, and all at once for a client that comes back."""

from __future__ import annotations

from dataclasses import replace

import orjson
from flask import Response

from api import authorization
from api.http import rate_limits
from api.http.problems import Problem, damaged_record_problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import (
    PRIVATE,
    PRIVATE_IMMUTABLE,
    etag_response,
    json_response,
    load_table,
    missing_game,
    visible_head,
    wait_for_views,
)
from api.schemas.history_responses import ResumeSchema, ScoresSchema
from api.schemas.play_responses import BoardPartsSchema, BoardSchema, DecisionsSchema
from api.schemas.query_args import BoardArgs, PartsArgs, WaitArgs
from api.services import Doc, services
from api.visibility import visibility_of
from domain.kernel.game.game import AnyGame, state_known_to
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.types import Json, Viewer
from projections import documents
from projections.board_reader import Board
from projections.loaded_game import LoadedGame, load_game

bp = Blueprint("boards", __name__, url_prefix="/v1/games", description="What each viewer may see.")

_MEMBERS = frozenset(BoardSchema().fields)
_ETAG_HEADERS = string_headers("ETag", "Annals-Version")


def load_board(game: str, viewer: Viewer) -> Board:
    """The rendered board; raises Problem."""
    found = services().reader.find_board(
        game, viewer, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
    )
    if found is None:
        raise missing_game(game)
    return found


@bp.operation(
    "GET",
    "/<game:game>/board",
    "board",
    access=authorization.optional_role,
    errors=(304, 403, 404, 503),
    query=BoardArgs,
    response=BoardSchema,
    response_headers=_ETAG_HEADERS,
)
def board(args: Doc, game: str) -> Response:
    """Read the board.

    A seat's token shows `own` besides. The tag is opaque; a version of the game is in `Annals-Version`.
    """
    doc, version, cache = _select_board(args, game)
    return etag_response(doc, version, cache)


def _select_board(args: Doc, game: str) -> tuple[bytes, int, str]:
    """The board of now or of then, its version, and for how long it holds."""
    if "version" in args:
        return build_past_board(game, args["version"], authorization.viewer()), args["version"], PRIVATE_IMMUTABLE
    wait_for_views(args["wait"])
    found = load_board(game, authorization.viewer())
    return found.doc, found.version, PRIVATE


@bp.operation(
    "GET",
    "/<game:game>/board/parts",
    "board_parts",
    access=authorization.optional_role,
    errors=(304, 403, 404, 503),
    query=PartsArgs,
    response=BoardPartsSchema,
    response_headers=_ETAG_HEADERS,
)
def board_parts(args: Doc, game: str) -> Response:
    """Read some members of the board alone.

    `fields=decisions,public.regions.india` gives `parts` with these two; null where the board has no such place.
    """
    raw, version, cache = _select_board(args, game)
    doc = orjson.loads(raw)
    wanted = dict.fromkeys(args["members"].split(","))
    if unknown := [path for path in wanted if path.partition(".")[0] not in _MEMBERS]:
        told = [{"at": "/fields", "message": Message("A board has no member {name}.", name=unknown[0])}]
        raise Problem("invalid_query", errors=told)
    head = {name: doc[name] for name in ("game", "viewer", "version")}
    parts = {path: _value_at(doc, path.split(".")) for path in wanted}
    return etag_response(orjson.dumps(head | {"parts": parts}, option=orjson.OPT_SORT_KEYS), version, cache)


def _value_at(doc: Json, path: list[str]) -> Json:
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


@rate_limits.whole_game_slot()
def build_past_board(game: str, version: int, viewer: Viewer) -> bytes:
    """The board as it was after a version, made only from what the viewer may read."""
    head, damaged = visible_head(game)
    if damaged and version > head:
        raise damaged_record_problem(head + 1)
    if not head:
        raise missing_game(game)
    if not 0 < version <= head:
        raise Problem("unknown_version", version=head)
    records = services().ledger.read(game, upto=version)
    return documents.build_board(_load_for_viewer(records, viewer), viewer)


def load_from_records(records: list[Record]) -> LoadedGame:
    """What the read side knew of a game after its last record."""
    return load_game(services().registry, records)


def load_visible_table(game: str) -> tuple[AnyRuleset, AnyGame]:
    """The rules of a game, and the game as whoever asks may know it; raises UnknownGame, and Problem."""
    rules, p = load_table(game)
    upto = visibility_of(game).upto
    if upto is None or upto >= p.version:
        return rules, p
    if not upto:
        raise missing_game(game)
    with rate_limits.whole_game_slot():
        return rules, load_from_records(services().ledger.read(game, upto=upto)).game


def _load_for_viewer(records: list[Record], viewer: Viewer) -> LoadedGame:
    known = load_from_records(records)
    if known.game.status == "closed":
        return known
    state = state_known_to(known.rules, records, viewer)
    return replace(known, game=replace(known.game, state=state))


# --- decisions, standings, coming back -------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/<game:game>/decisions",
    "decisions",
    access=authorization.optional_role,
    errors=(304, 403, 404, 503),
    query=WaitArgs,
    response=DecisionsSchema,
    response_headers=_ETAG_HEADERS,
)
def decisions(args: Doc, game: str) -> Response:
    """Read what is to be decided, by whom, and until when."""
    wait_for_views(args["wait"])
    found = load_board(game, authorization.viewer())
    doc = orjson.loads(found.doc)
    shown = {k: doc[k] for k in ("game", "version", "viewer", "decisions")}
    return etag_response(orjson.dumps(shown), found.version)


@bp.operation(
    "GET",
    "/<game:game>/resume",
    "resume",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=WaitArgs,
    response=ResumeSchema,
)
def resume(args: Doc, game: str) -> Response:
    """Read all that a client needs that comes back."""
    wait_for_views(args["wait"])
    s = services()
    position = s.reader.read_position()
    found = load_board(game, authorization.viewer())
    doc = orjson.loads(found.doc)
    body = {"game": game, "version": found.version, "position": position, "now": s.clock()}
    return json_response(body | {"board": doc, "decisions": doc["decisions"]}, cache="private, no-store")


@bp.operation(
    "GET",
    "/<game:game>/scores",
    "scores",
    access=authorization.optional_role,
    errors=(403, 404, 409),
    query=WaitArgs,
    response=ScoresSchema,
)
def scores(args: Doc, game: str) -> Response:
    """Read the standings, or the final table.

    Before the end they are made from what the viewer may read; where that is not enough they are hidden. A game that
    was closed before its end has no final table: `ending` says why.
    """
    wait_for_views(args["wait"])
    rules, p = load_visible_table(game)
    doc: Doc = {"game": game, "version": p.version, "final": p.is_finished, "ending": p.ending, "scores": []}
    if p.status == "running":
        doc["scores"] = _viewer_scores(rules, p, authorization.viewer())
    elif p.is_finished:
        doc["scores"] = _scores_to_json(rules, p)
    return json_response(doc, cache=PRIVATE)


def _scores_to_json(rules: AnyRuleset, p: AnyGame) -> list[Json]:
    return [s.to_json() for s in rules.scores(p.state)]


@rate_limits.whole_game_slot()
def _viewer_scores(rules: AnyRuleset, p: AnyGame, viewer: Viewer) -> list[Json]:
    state = state_known_to(rules, services().ledger.read(p.id, upto=p.version), viewer)
    try:
        return _scores_to_json(rules, replace(p, state=state))
    except Exception as error:
        raise Problem("scores_hidden") from error
