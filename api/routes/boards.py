"""Routes for current and past boards, open decisions, scores, and one document for returning clients."""

from __future__ import annotations

import re

import msgspec

from api import authorization
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem, damaged_record_problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import (
    PRIVATE,
    PRIVATE_IMMUTABLE,
    etag_response,
    json_response,
    load_table,
    missing_game,
    tagged_response,
    visible_head,
    wait_for_views,
)
from api.schemas.history_responses import ResumeDoc, ScoresDoc
from api.schemas.play_responses import BoardPartsDoc, DecisionsDoc
from api.schemas.query_args import BoardArgs, PartsArgs, WaitArgs
from api.services import services
from api.visibility import visibility_of
from domain.kernel.game.game import AnyGame
from domain.kernel.game.rulings import final_scores
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import AnyRuleset, AnyScore, ScoreDoc
from domain.kernel.text.message_catalog import Message
from domain.types import DIRECTOR, Doc, Json, Viewer
from projections import documents
from projections.board_reader import Board
from projections.game_documents import BoardDoc
from projections.loaded_game import LoadedGame, load_game

bp = Blueprint(
    "boards", __name__, url_prefix="/v1/games", description="Boards, decisions and scores, as each viewer may see them."
)

_MEMBERS = frozenset(BoardDoc.__annotations__)
_ETAG_HEADERS = string_headers("ETag", "Annals-Version")


def load_board(game: str, viewer: Viewer) -> Board:
    """Return the rendered board for a viewer. Raise Problem."""
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
    response_headers=_ETAG_HEADERS,
)
def board(args: Doc, game: str) -> JsonResponse[BoardDoc]:
    """Return the board.

    With a seat's token it includes `own`. The ETag is opaque; the version of the game is in `Annals-Version`.
    """
    doc, version, cache = _select_board(args, game)
    return etag_response(doc, version, cache)


def _select_board(args: Doc, game: str) -> tuple[bytes, int, str]:
    """Return the current or the requested past board, its version, and its Cache-Control value."""
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
    response_headers=_ETAG_HEADERS,
)
def board_parts(args: Doc, game: str) -> JsonResponse[BoardPartsDoc]:
    """Return selected members of the board.

    `fields=decisions,public.regions.india` gives `parts` with these two, and null for a path not on the board.
    """
    raw, version, cache = _select_board(args, game)
    doc: BoardDoc = msgspec.json.decode(raw)
    paths = dict.fromkeys(args["members"].split(","))
    if unknown := [path for path in paths if path.partition(".")[0] not in _MEMBERS]:
        errors = [{"at": "/fields", "message": Message("A board has no member {name}.", name=unknown[0])}]
        raise Problem("invalid_query", errors=errors)
    parts: BoardPartsDoc = {
        "game": doc["game"],
        "viewer": doc["viewer"],
        "version": doc["version"],
        "parts": {path: _value_at(doc, path.split(".")) for path in paths},
    }
    return etag_response(msgspec.json.encode(parts, order="sorted"), version, cache)


_INDEX = re.compile(r"[0-9]{1,6}", re.ASCII)


def _value_at(doc: Json, path: list[str]) -> Json:
    """Return the value at a path in a document, or None."""
    for name in path:
        if isinstance(doc, dict):
            doc = doc.get(name)
        elif isinstance(doc, list) and _INDEX.fullmatch(name) and int(name) < len(doc):
            doc = doc[int(name)]
        else:
            return None
    return doc


# --- past boards -----------------------------------------------------------------------------------------------


@rate_limits.whole_game_slot()
def build_past_board(game: str, version: int, viewer: Viewer) -> bytes:
    """Return the board after a version, built only from records and packs visible to the viewer."""
    check_past_version(game, version, *visible_head(game))
    return documents.build_board(services().history.load_for(game, version, viewer), viewer)


def check_past_version(game: str, version: int, head: int, damaged: bool) -> None:
    """Raise Problem unless the caller may see a version of the game; `head` and `damaged` as from `visible_head`."""
    if damaged and version > head:
        raise damaged_record_problem(head + 1)
    if not head:
        raise missing_game(game)
    if not 0 < version <= head:
        raise Problem("unknown_version", version=head)


def load_from_records(records: list[Record]) -> LoadedGame:
    """Return the game as the read side knows it after the last of these records."""
    return load_game(services().registry, records)


def load_visible_table(game: str) -> tuple[AnyRuleset, AnyGame]:
    """Return the rules of a game and the game as far as the caller may see it. Raise UnknownGame or Problem."""
    rules, p = load_table(game)
    upto = visibility_of(game).upto
    if upto is None or upto >= p.version:
        return rules, p
    if not upto:
        raise missing_game(game)
    with rate_limits.whole_game_slot():
        return rules, services().history.load_for(game, upto, DIRECTOR).game


# --- decisions, scores, resume ---------------------------------------------------------------------------------


@bp.operation(
    "GET",
    "/<game:game>/decisions",
    "decisions",
    access=authorization.optional_role,
    errors=(304, 403, 404, 503),
    query=WaitArgs,
    response_headers=_ETAG_HEADERS,
)
def decisions(args: Doc, game: str) -> JsonResponse[DecisionsDoc]:
    """Return the open decisions, the seats that owe them, and their deadlines."""
    wait_for_views(args["wait"])
    found = load_board(game, authorization.viewer())
    doc: BoardDoc = msgspec.json.decode(found.doc)
    part: DecisionsDoc = {
        "game": doc["game"],
        "version": doc["version"],
        "viewer": doc["viewer"],
        "decisions": doc["decisions"],
    }
    return tagged_response(part, found.version)


@bp.operation(
    "GET", "/<game:game>/resume", "resume", access=authorization.optional_role, errors=(403, 404, 503), query=WaitArgs
)
def resume(args: Doc, game: str) -> JsonResponse[ResumeDoc]:
    """Return everything a returning client needs: board, decisions, version, log position and time."""
    wait_for_views(args["wait"])
    s = services()
    position = s.reader.read_position()
    found = load_board(game, authorization.viewer())
    board: BoardDoc = msgspec.json.decode(found.doc)
    doc: ResumeDoc = {
        "game": game,
        "version": found.version,
        "position": position,
        "now": s.clock(),
        "board": board,
        "decisions": board["decisions"],
    }
    return json_response(doc, cache="private, no-store")


@bp.operation(
    "GET", "/<game:game>/scores", "scores", access=authorization.optional_role, errors=(403, 404, 409), query=WaitArgs
)
def scores(args: Doc, game: str) -> JsonResponse[ScoresDoc]:
    """Return the standings, or the final scores of a finished game.

    Before the end, standings use only what the viewer may see. Where that is not enough, they are hidden. A game closed
    early has none, unless a ruling ranks it; see `ending`.
    """
    wait_for_views(args["wait"])
    rules, p = load_visible_table(game)
    final = final_scores(rules, p) if p.status == "closed" else []
    scores = [_final_to_json(p, score) for score in final]
    doc: ScoresDoc = {
        "game": game,
        "version": p.version,
        "final": bool(scores),
        "ending": documents.build_ending(p),
        "scores": scores,
    }
    if p.status in ("running", "over"):
        doc["scores"] = _viewer_scores(rules, p, authorization.viewer())
    return json_response(doc, cache=PRIVATE)


def _final_to_json(p: AnyGame, score: AnyScore) -> ScoreDoc:
    """Return a line of the final table, with what a ruling says about the seat."""
    doc, ruling = score.to_json(), p.reversible.ruling
    if ruling is not None:
        doc["forfeited"] = score.seat in ruling.forfeits
        if score.seat in ruling.penalties:
            doc["penalty"] = ruling.penalties[score.seat]
    return doc


@rate_limits.whole_game_slot()
def _viewer_scores(rules: AnyRuleset, p: AnyGame, viewer: Viewer) -> list[ScoreDoc]:
    """Return the standings of a running game from the viewer's state. Raise ScoresHidden if that is not enough."""
    known = services().history.load_for(p.id, p.version, viewer).game
    return [score.to_json() for score in rules.scores(known.state)]
