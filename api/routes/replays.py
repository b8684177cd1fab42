"""Route for the replay of a game: its boards one after the other, as changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec
from flask import Response, request, stream_with_context

from api import authorization
from api.documents.timeline import add_texts
from api.http import rate_limits
from api.http.i18n import request_language
from api.http.problems import Problem, damaged_record_problem
from api.openapi.smorest import Blueprint, also_media_types
from api.response_builders import missing_game, retry_after_inspection, visible_head, wait_for_views
from api.schemas.query_args import ReplayArgs, StreamHeaders
from api.schemas.schema_builder import array_of, ref
from api.services import services
from api.streams.events import FORMATS, NDJSON, SSE, Event, make_event
from api.streams.json_patches import make_board_patch
from domain.errors import AnnalsError
from domain.types import DIRECTOR, Doc, Json, Viewer
from projections import documents
from projections.board_reader import merge_entries
from projections.game_documents import EntryDoc
from projections.loaded_game import LoadedGame

bp = Blueprint("replay", __name__, url_prefix="/v1/games", description="Replays of games.")

PAGE = 50
"""Versions made at a time: other readers of whole games have their turn in between."""

_REPLAY = {"type": "string", "contentMediaType": SSE.media, "contentSchema": array_of(ref("ReplayEvent"))}
_LINES = {NDJSON.media: {"type": "string", "description": "The same events, a JSON document a line."}}


@bp.operation(
    "GET",
    "/<game:game>/replay",
    "game_replay",
    access=authorization.optional_role,
    errors=(403, 404, 503),
    query=ReplayArgs,
    response=_REPLAY,
    content_type=SSE.media,
)
@bp.arguments(StreamHeaders, location="headers")
@also_media_types(_LINES)
@retry_after_inspection
def replay(args: Doc, headers: Doc, game: str) -> Response:
    """Replay a game, as one stream.

    Events: `board` (the complete document at version `from`), `step` (each later version: the board's changes, chapter
    and sentences), `end` (version `to` is reached), `bye` (go on from the last id). The id of an event is its version.
    """
    wait_for_views(args["wait"])
    first, last = _select_versions(args, headers["last"], game)
    form = FORMATS[request.accept_mimetypes.best_match(FORMATS, default=SSE.media)]
    chunks = _Replay(game, first, last).read_events()
    beginning = next(chunks)  # its errors are answered as problems
    body = (form.encode_all(events) for events in _chain(beginning, chunks))
    response = Response(stream_with_context(body), content_type=form.media)
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _select_versions(args: Doc, last_id: str, game: str) -> tuple[int, int]:
    """Return the versions of the first and the last board. Raise Problem."""
    head, damaged = visible_head(game)
    summary = services().reader.find_summary(
        game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
    )
    if not head or summary is None:
        raise missing_game(game)
    seen = min(head, summary["version"])
    resumed = int(last_id) if last_id.isascii() and last_id.isdigit() and len(last_id) < 10 else 0
    first = resumed or args["first"]
    last: int = args["last"] if "last" in args else max(seen, first)
    if damaged and last > head:
        raise damaged_record_problem(head + 1)
    if not first <= last <= seen:
        raise Problem("unknown_version", version=seen)
    return first, last


def _chain(beginning: Sequence[Event], chunks: Iterator[Sequence[Event]]) -> Iterator[Sequence[Event]]:
    yield beginning
    yield from chunks


class _Replay:
    """The events of a replay for the caller."""

    def __init__(self, game: str, first: int, last: int) -> None:
        self._game, self._first, self._last = game, first, last
        self._viewer: Viewer = authorization.viewer()
        self._lang = request_language()
        self._gate = rate_limits.gate_context()
        summary = services().reader.find_summary(
            game, inside=authorization.has_live_view(game), gate=rate_limits.archived_game_slot
        )
        if summary is None:
            raise missing_game(game)
        self._summary = summary
        self._board: Doc = {}

    def read_events(self) -> Iterator[Sequence[Event]]:
        """Yield events, some versions at a time. Raise Problem or AnnalsError before the first ones only."""
        sent, history = self._first, services().history
        with self._gate():
            loaded = history.load_for(self._game, sent, self._viewer)
            read_page = self._entry_reader()
        doc = documents.build_board(loaded, self._viewer)
        self._board = msgspec.json.decode(doc)
        yield [Event("board", doc, sent)]
        games = (loaded for _, loaded in history.iterate_for(self._game, sent, self._last, self._viewer))
        while sent < self._last:
            upto = min(sent + PAGE, self._last)
            try:
                with self._gate():
                    entries = add_texts(services(), self._summary, read_page(sent, upto), self._lang)
                    pairs = zip(entries, islice(games, upto - sent), strict=True)
                    events = [self._make_step(*pair) for pair in pairs]
            except (Problem, AnnalsError):  # too many at once, or a record that has become unreadable
                yield [make_event("bye", {"version": sent})]
                return
            sent = upto
            yield events
        yield [make_event("end", {"version": sent})]

    def _entry_reader(self) -> Callable[[int, int], list[Doc]]:
        """Return a function from two versions to the viewer's timeline after the one, up to the other.

        The timeline of an archived game is not stored: it is made from the records, page by page.
        """
        reader, history = services().reader, services().history
        if not services().ledger.is_archived(self._game):
            return lambda after, upto: reader.read_timeline(self._game, self._viewer, after, upto - after)
        before = history.load_for(self._game, self._first, DIRECTOR)
        whole = history.iterate_for(self._game, self._first, self._last, DIRECTOR)

        def make_page(after: int, upto: int) -> list[Doc]:
            nonlocal before
            rows = []
            for record, loaded in islice(whole, upto - after):
                entries = documents.build_entries(record, before, loaded)
                audiences = sorted(entries, reverse=True)
                rows += [(record.version, key, documents.encode_document(entries[key])) for key in audiences]
                before = loaded
            return merge_entries(rows, self._viewer)

        return make_page

    def _make_step(self, entry: EntryDoc, loaded: LoadedGame) -> Event:
        raw = documents.build_board(loaded, self._viewer)
        board = msgspec.json.decode(raw)
        patch = make_board_patch(self._board, board, len(raw))
        self._board = board
        version = loaded.game.version
        step: Json = {name: entry.get(name) for name in ("version", "kind", "at", "chapter", "text", "headings")}
        step["undone"] = entry.get("undone", False)
        step["own"] = [line for part in entry.get("own", ()) for line in part["text"]]
        step |= {"board": board} if patch is None else {"patch": patch}
        return make_event("step", step, version)
