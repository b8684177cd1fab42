"""Routes for a game's past: timeline, digest, records, exports."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from io import SEEK_END, BytesIO
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import urlencode

import msgspec
from flask import Response, request
from werkzeug.wsgi import wrap_file

from api import authorization
from api.documents.timeline import build_chronicle
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import (
    DAMAGED_HEADER,
    PRIVATE,
    immutable_cache,
    json_response,
    missing_game,
    page_response,
    retry_after_inspection,
    visible_head,
    wait_for_views,
)
from api.routes.boards import check_past_version, load_board
from api.schemas.history_responses import BoardChangesDoc, DigestDoc, DigestTurnDoc, RecordsDoc, TimelineDoc
from api.schemas.query_args import BoardChangesArgs, DigestArgs, PageArgs, TimelineArgs
from api.services import services
from api.streams.json_patches import make_board_patch
from api.visibility import visibility_of
from domain.kernel.narration.chapters import turn_title
from domain.kernel.narration.turn_digests import LEVELS, Digest
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.rules.ruleset import Chapter
from domain.kernel.text.message_catalog import Texts, load_texts
from domain.types import DIRECTOR, Doc, Json, Viewer
from projections import documents
from projections.chronicler import Chronicler
from projections.documents import chapter_to_json
from projections.game_documents import BoardDoc, ChapterDoc, StoredSummaryDoc

bp = Blueprint("history", __name__, url_prefix="/v1/games", description="Timeline, records and exports.")

NDJSON = "application/x-ndjson"
RECORDS_PER_SLICE = 500
"""Records of an export in memory at a time."""
MAX_IN_MEMORY = 2**20
"""Bytes of an export in memory. Longer exports go to a temporary file."""
_LINK = string_headers("Link")
_DAMAGED = string_headers(DAMAGED_HEADER)
EXPORT = {
    "type": "string",
    "description": "The first line is an `ExportHeader`, the last an `ExportTrailer`, each between an `ExportRecord`.",
}


# --- reading ---------------------------------------------------------------------------------------------------


def _next_url(path: str, last: int, head: int, **kept: Json) -> str | None:
    """Return the URL of the next page, or None at the head."""
    return None if last >= head else f"{path}?" + urlencode({"after": last, **kept})


@bp.operation(
    "GET",
    "/<game:game>/timeline",
    "timeline",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=TimelineArgs,
    response_headers=_LINK,
)
def timeline(args: Doc, game: str) -> JsonResponse[TimelineDoc]:
    """Return the game's records as facts and sentences, and the battles in them. Undone moves stay in the list."""
    wait_for_views(args["wait"])
    summary = services().reader.find_summary(
        game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
    )
    if summary is None:
        raise missing_game(game)
    after, limit, lang = args["after"], args["limit"], request_language()
    found, battles = build_chronicle(
        services(), summary, authorization.viewer(), after, limit, lang, rate_limits.archived_game_slot
    )
    last = found[-1]["version"] if found else after
    return page_response(
        {
            "items": found,
            "next": _next_url(f"/v1/games/{game}/timeline", last, summary["version"], limit=limit, lang=lang),
            "battles": battles,
        }
    )


@bp.operation(
    "GET",
    "/<game:game>/digest",
    "digest",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=DigestArgs,
)
@retry_after_inspection
def digest(args: Doc, game: str) -> JsonResponse[DigestDoc]:
    """Return a summary of each turn since a version, for absent players: conquests, battles, standings.

    It uses only what the viewer may see. Undone moves are left out.
    """
    wait_for_views(args["wait"])
    s, lang, after = services(), request_language(), args["after"]
    summary = s.reader.find_summary(game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot)
    if summary is None:
        raise missing_game(game)
    head = visibility_of(game).upto
    head = s.ledger.version(game) if head is None else head
    if after > head:
        raise Problem("unknown_version", version=head)
    with rate_limits.whole_game_slot():
        turns = _digest_turns(summary, after, head, head, lang, args["level"])
    return json_response({"game": game, "version": head, "after": after, "turns": turns}, cache=PRIVATE)


def _digest_turns(
    summary: StoredSummaryDoc, after: int, upto: int, head: int, lang: str, level: str
) -> list[DigestTurnDoc]:
    """Return the digest of the records after a version, up to another, for the caller: one document a turn."""
    if after == upto:
        return []
    game, s = summary["game"], services()
    rules, viewer = s.registry.get(summary["ruleset"]), authorization.viewer()
    (last,) = s.ledger.read(game, upto - 1, upto)
    viewer = DIRECTOR if last.kind == "closed" else viewer
    if upto == head:
        outline = s.outlines.load(game, last, viewer, delayed=visibility_of(game).upto is not None)
    else:
        outline = s.outlines.load_since(game, after, upto, viewer, delayed=visibility_of(game).upto is not None)
    before = s.outlines.figures(outline, game, after, viewer) if after else ()
    words = load_texts(rules.package, lang)
    bodies = [command.members for command in outline.commands if command.version > after]
    chronicler = Chronicler.prepare(s.seat_tokens.texts, summary, words, bodies)
    return [
        _turn_to_json(words, digest)
        for digest in s.digest_renderer.render(rules, chronicler, outline, level, after, before)
    ]


def _turn_to_json(words: Texts, digest: Digest) -> DigestTurnDoc:
    title, chapter = _head_turn(words, digest.chapter)
    return {
        "title": title,
        "chapter": chapter,
        "first": digest.first,
        "last": digest.last,
        "lines": list(digest.lines),
        "standings": list(digest.standings),
        "rulings": list(digest.rulings),
        "figures": [dict(each) for each in digest.figures],
    }


@functools.lru_cache(2048)
def _head_turn(words: Texts, chapter: Chapter) -> tuple[str, ChapterDoc]:
    """Return title and chapter of a digest."""
    return turn_title(words, chapter), chapter_to_json(words, chapter)


@bp.operation(
    "GET",
    "/<game:game>/board/changes",
    "board_changes",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=BoardChangesArgs,
)
@retry_after_inspection
def board_changes(args: Doc, game: str) -> JsonResponse[BoardChangesDoc]:
    """Return the difference between two boards, as a merge patch, and a digest of the versions between.

    `to` may be the earlier one: the patch then goes back. Where no patch saves anything, the answer has `board`.
    """
    wait_for_views(args["wait"])
    head, damaged = visible_head(game)
    summary = services().reader.find_summary(
        game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
    )
    if not head or summary is None:
        raise missing_game(game)
    before, after = args["before"], args.get("after", min(head, summary["version"]))
    viewer, lang = authorization.viewer(), request_language()
    first, last = sorted((before, after))
    for version in (before, after):
        check_past_version(game, version, head, damaged)
    with rate_limits.whole_game_slot():
        boards = {first: _load_board_at(summary, first, viewer)}
        turns = _digest_turns(summary, first, last, head, lang, LEVELS[1])  # folds on to the last version
        boards[last] = _load_board_at(summary, last, viewer)
    old, new = boards[before], boards[after]
    board: BoardDoc = msgspec.json.decode(new)
    patch = make_board_patch(msgspec.json.decode(old), board, len(new))
    doc: BoardChangesDoc = {"game": game, "viewer": board["viewer"], "from": before, "to": after, "turns": turns}
    if patch is None:
        doc["board"] = board
    else:
        doc["patch"] = patch
    return json_response(doc, cache=PRIVATE)


def _load_board_at(summary: StoredSummaryDoc, version: int, viewer: Viewer) -> bytes:
    """Return the board after a visible version, from the views if it is the newest of a game in play."""
    game = summary["game"]
    if version == summary["version"] and summary["status"] != "closed":
        found = load_board(game, viewer)
        if found.version == version:
            return found.doc
    return documents.build_board(services().history.load_for(game, version, viewer), viewer)


@bp.operation(
    "GET",
    "/<game:game>/records",
    "records",
    errors=(404, 503),
    query=PageArgs,
    response_headers=_LINK | _DAMAGED,
)
@retry_after_inspection
def records(args: Doc, game: str) -> JsonResponse[RecordsDoc]:
    """Return the public parts of the records. They form the hash chain.

    For a damaged game, only the records before the damaged version are returned; `Annals-Damaged` names that version.
    """
    rate_limits.charge_request(None)
    wait_for_views(args["wait"])
    s, after, limit = services(), args["after"], args["limit"]
    head, damaged = visible_head(game)
    if not head:
        raise missing_game(game)
    found = s.ledger.read_original(game, after, min(after + limit, head))
    last = found[-1].version if found else after
    response: JsonResponse[RecordsDoc] = page_response(
        {"items": [r.public for r in found], "next": _next_url(f"/v1/games/{game}/records", last, head, limit=limit)}
    )
    if damaged:
        response.headers[DAMAGED_HEADER] = str(head + 1)
    elif last < head:  # later records are added only to the last page
        response.headers["Cache-Control"] = immutable_cache(game)
    return response


def _read_in_slices(game: str, head: int) -> Iterator[Record]:
    """Yield the records of a game up to a version, few in memory at a time."""
    for after in range(0, head, RECORDS_PER_SLICE):
        yield from services().ledger.read_original(game, after, min(after + RECORDS_PER_SLICE, head))


def _spool(lines: Iterator[bytes]) -> IO[bytes]:
    """Return the lines as a file, unnamed on disk if large: slow downloads then take no memory."""
    size, small = 0, []
    for line in lines:
        small.append(line)
        size += len(line)
        if size > MAX_IN_MEMORY:
            file = TemporaryFile()  # noqa: SIM115 - closed once it is sent
            file.writelines(small)
            file.writelines(lines)
            return file
    return BytesIO(b"".join(small))


@bp.operation(
    "GET",
    "/<game:game>/export",
    "export",
    access=authorization.optional_role,
    errors=(403, 404),
    response=EXPORT,
    content_type=NDJSON,
    response_headers=_DAMAGED,
)
@retry_after_inspection
def export_game(game: str) -> Response:
    """Return the game as a file for offline verification.

    One JSON object a line: a header, then the records with the packs visible to you; all packs once the game is closed.
    For a damaged game, only the records before the damaged version are included; the header and `Annals-Damaged` name
    it.
    """
    head, damaged = visible_head(game)
    if not head:
        raise missing_game(game)
    with rate_limits.whole_game_slot():
        response = file_response(export_lines(game, head, authorization.viewer(), damaged=damaged), f"{game}.annals")
    closed = services().ledger.read(game, head - 1, head)[0].kind == "closed"
    response.headers["Cache-Control"] = immutable_cache(game) if closed else "private, no-store"
    if damaged:
        response.headers[DAMAGED_HEADER] = str(head + 1)
    return response


def export_lines(game: str, head: int, viewer: Viewer, *, damaged: bool = False) -> Iterator[bytes]:
    """Return the export lines of a game up to a version, as the viewer may see it."""
    ledger = services().ledger
    (first,), (last,) = ledger.read_original(game, 0, 1), ledger.read_original(game, head - 1, head)
    return export.lines(first, last, _read_in_slices(game, head), viewer, damaged=damaged)


def file_response(found: Iterator[bytes], name: str) -> Response:
    """Return JSON lines as a download."""
    file = _spool(found)
    response = Response(wrap_file(request.environ, file), content_type=NDJSON, direct_passthrough=True)
    response.content_length = file.seek(0, SEEK_END)
    file.seek(0)
    response.call_on_close(file.close)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
