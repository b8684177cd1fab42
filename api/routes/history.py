"""What has happened: timeline, records, exports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from io import SEEK_END, BytesIO
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import urlencode

from flask import Response, request
from werkzeug.wsgi import wrap_file

from api import authorization
from api.documents.timeline import entries, sentence_names
from api.http import rate_limits
from api.http.i18n import language
from api.http.problems import Problem
from api.openapi.smorest import Blueprint, fails
from api.response_builders import DAMAGED, PRIVATE, answer, fixed, head_of, judged, missing_game, paged, wait
from api.schemas.history_responses import DigestSchema, RecordsSchema, TimelineSchema
from api.schemas.query_args import DigestArgs, PageArgs, TimelineArgs
from api.services import Doc, services
from api.visibility import sight
from domain.kernel.narration.chapters import digests, tell, title
from domain.kernel.records import export
from domain.kernel.records.record import Record
from domain.kernel.text.message_catalog import texts
from domain.types import DIRECTOR, Json, Viewer
from projections.documents import chapter_told

room = Blueprint("history", __name__, url_prefix="/v1/games", description="What has happened.")

NDJSON = "application/x-ndjson"
SLICE = 500
"""Records of an export that are in memory at a time."""
LARGE = 2**20
"""Bytes of an export from which on it waits in a file until it is fetched."""
_PAGE = {"Link": {"schema": {"type": "string"}}}
_MARKED = {DAMAGED: {"schema": {"type": "string"}}}
EXPORT = {"type": "string", "description": "The first line is an `ExportHeader`, each further one an `ExportRecord`."}


# --- reading ---------------------------------------------------------------------------------------------------


def _next(path: str, last: int, head: int, **kept: Json) -> str | None:
    return None if last >= head else f"{path}?" + urlencode({"after": last, **kept})


@room.route("/<game:game>/timeline", methods=["GET"])
@authorization.seen_by
@fails(403, 404, 503)
@room.arguments(TimelineArgs, location="query")
@room.response(200, TimelineSchema, headers=_PAGE)
@room.doc(operationId="timeline")
def timeline(args: Doc, game: str) -> Response:
    """Read what happened, as facts and as sentences; undone moves stay readable."""
    wait(args["wait"])
    summary = services().reader.game(game, inside=authorization.inside(game))
    if summary is None:
        raise missing_game(game)
    after, limit, lang = args["after"], args["limit"], language()
    found = entries(services(), summary, authorization.viewer(), after, limit, lang, rate_limits.telling_again)
    last = found[-1]["version"] if found else after
    return paged(found, _next(f"/v1/games/{game}/timeline", last, summary["version"], limit=limit, lang=lang))


@room.route("/<game:game>/digest", methods=["GET"])
@authorization.seen_by
@fails(403, 404, 503)
@room.arguments(DigestArgs, location="query")
@room.response(200, DigestSchema)
@room.doc(operationId="digest")
def digest(args: Doc, game: str) -> Response:
    """Read what came of each turn since a version, for who was away: conquests, battles, and what each seat has.

    Told from what the viewer may read; what was undone is left out.
    """
    wait(args["wait"])
    s, lang, after = services(), language(), args["after"]
    summary = s.reader.game(game, inside=authorization.inside(game))
    if summary is None:
        raise missing_game(game)
    rules = s.catalogue.get(summary["ruleset"])
    words = texts(rules.package, lang)
    name = sentence_names(s, summary, words)
    with rate_limits.whole_game():
        records = s.ledger.read(game, upto=sight(game).upto)
        if after > len(records):
            raise Problem("unknown_version", version=len(records))
        viewer = DIRECTOR if records[-1].kind == "closed" else authorization.viewer()
        found = digests(rules, words, name, tell(rules, records, viewer, words, name, after))
    turns = [{**asdict(d), "title": title(words, d.chapter), "chapter": chapter_told(words, d.chapter)} for d in found]
    return answer({"game": game, "version": len(records), "after": after, "turns": turns}, cache=PRIVATE)


@room.route("/<game:game>/records", methods=["GET"])
@fails(404, 503)
@room.arguments(PageArgs, location="query")
@room.response(200, RecordsSchema, headers=_PAGE | _MARKED)
@room.doc(operationId="records")
@judged
def records(args: Doc, game: str) -> Response:
    """Read the public parts of the records, which form the hash chain.

    Of a game that is damaged those before the damaged version, which `Annals-Damaged` names.
    """
    rate_limits.spend(None)
    wait(args["wait"])
    s, after, limit = services(), args["after"], args["limit"]
    head, damaged = head_of(game)
    if not head:
        raise missing_game(game)
    found = s.ledger.read(game, after, min(after + limit, head))
    last = found[-1].version if found else after
    made = paged([r.public for r in found], _next(f"/v1/games/{game}/records", last, head, limit=limit))
    if damaged:
        made.headers[DAMAGED] = str(head + 1)
    elif last < head:  # later records join the last page alone
        made.headers["Cache-Control"] = fixed(game)
    return made


def _slices(game: str, head: int) -> Iterator[Record]:
    """The records of a game up to that version, a few in memory at a time."""
    for after in range(0, head, SLICE):
        yield from services().ledger.read(game, after, min(after + SLICE, head))


def _spooled(lines: Iterator[bytes]) -> IO[bytes]:
    """In a file that has no name, if it is large: however slowly it is fetched, and by how many, it takes no memory."""
    size, small = 0, []
    for line in lines:
        small.append(line)
        size += len(line)
        if size > LARGE:
            file = TemporaryFile()  # noqa: SIM115 - closed once it is sent
            file.writelines(small)
            file.writelines(lines)
            return file
    return BytesIO(b"".join(small))


@room.route("/<game:game>/export", methods=["GET"])
@authorization.seen_by
@fails(403, 404)
@room.response(200, EXPORT, content_type=NDJSON, headers=_MARKED)
@room.doc(operationId="export")
@judged
def export_game(game: str) -> Response:
    """Take the game as a file that can be proved offline.

    One JSON object a line: a header, then the records with the packs that the viewer may read; once closed, with all.
    Of a game that is damaged the records before the damaged version, which the header and `Annals-Damaged` name.
    """
    head, damaged = head_of(game)
    if not head:
        raise missing_game(game)
    with rate_limits.whole_game():
        made = sent(lines(game, head, authorization.viewer(), damaged=damaged), f"{game}.annals")
    closed = services().ledger.read(game, head - 1, head)[0].kind == "closed"
    made.headers["Cache-Control"] = fixed(game) if closed else "private, no-store"
    if damaged:
        made.headers[DAMAGED] = str(head + 1)
    return made


def lines(game: str, head: int, viewer: Viewer, *, damaged: bool = False) -> Iterator[bytes]:
    """The export of a game up to that version, as that viewer may read it."""
    ledger = services().ledger
    (first,), (last,) = ledger.read(game, 0, 1), ledger.read(game, head - 1, head)
    return export.lines(first, last, _slices(game, head), viewer, damaged=damaged)


def sent(found: Iterator[bytes], name: str) -> Response:
    """Lines of JSON as a file."""
    file = _spooled(found)
    made = Response(wrap_file(request.environ, file), content_type=NDJSON, direct_passthrough=True)
    made.content_length = file.seek(0, SEEK_END)
    file.seek(0)
    made.call_on_close(file.close)
    made.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return made
