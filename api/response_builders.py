"""Response builders: JSON, ETags, pages, writes, and reads with a wait for the views."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar, overload
from urllib.parse import urlencode

import msgspec
from flask import Response, g

from api.http import rate_limits
from api.http.conditional import conditional
from api.http.json_responses import JsonResponse
from api.http.problems import Problem, damaged_record_problem
from api.schemas.common_documents import PageDoc, WrittenDoc
from api.services import services
from api.visibility import visibility_of
from domain.command_handler import CommandResult
from domain.errors import StoreDamaged, UnknownGame, VerificationError
from domain.kernel.game.game import AnyGame
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.types import DIRECTOR, Doc, Json, is_import_id

Found = TypeVar("Found")
Document = TypeVar("Document")
Page = TypeVar("Page", bound=PageDoc)
Written = TypeVar("Written", bound=WrittenDoc)
View = TypeVar("View", bound=Callable[..., Any])

PRIVATE = "private, no-cache"
NO_STORE = "no-store"
ONE_DAY = "public, max-age=86400"
"""Cache-Control for documents with an ETag, unchanged between releases of the service."""
IMMUTABLE = "public, max-age=31536000, immutable"
"""Cache-Control for public documents without later changes."""
PRIVATE_IMMUTABLE = "private, max-age=31536000, immutable"
"""Cache-Control for documents without later changes, visible to the caller only."""


def paginate(
    items: Sequence[Found], limit: int, path: str, cursor: Callable[[Found], object], **query: str
) -> tuple[Sequence[Found], str | None]:
    """Return one page of items, and the next page's URL or None.

    Read one item more than `limit`. `cursor` maps the last item of a page to the start of the next one; `query` holds
    query parameters for the next URL, without empty ones.
    """
    if len(items) <= limit:
        return items, None
    more = {name: value for name, value in query.items() if value}
    return items[:limit], f"{path}?" + urlencode({**more, "limit": limit, "cursor": cursor(items[limit - 1])})


class ChangeCursor(NamedTuple):
    """Position of a client in a list by last change, the latest first: its order changes while the client reads."""

    before: int = 0
    """Only changes before this place; 0 begins a pass."""
    since: int = 0
    """Only changes after this place: a later pass lists what changed during the one before."""
    top: int = 0
    """The latest place when this pass began; 0 if unknown."""

    @classmethod
    def of_args(cls, args: Doc) -> ChangeCursor:
        """Return the cursor of a request's query."""
        return cls(args["cursor"], args["since"], args["top"])


def paginate_changes(
    read: Callable[[int, int, int], Sequence[tuple[int, Found]]], at: ChangeCursor, limit: int, path: str, **query: str
) -> tuple[list[Found], str | None]:
    """Return one page of tables, and the next page's URL or None.

    `read(before, since, limit)` returns tables with the place of their last change, the latest change first. A table
    that changes between two pages moves to the top of the list. So a pass is followed by another one over the changes
    since it began: a client that follows `next` to its end has seen every table, some of them twice.
    """
    items = read(at.before, at.since, limit + 1)
    top = at.top if at.before else (items[0][0] if items else 0)
    more: dict[str, object] = {name: value for name, value in query.items() if value} | {"limit": limit}
    if len(items) > limit:
        places = {"cursor": items[limit - 1][0], "since": at.since, "top": top}
        next_query = urlencode(more | {name: place for name, place in places.items() if place})
        return [table for _, table in items[:limit]], f"{path}?{next_query}"
    has_changed = at.before and top and read(0, top, 1)
    next_url = f"{path}?" + urlencode(more | {"since": top}) if has_changed else None
    return [table for _, table in items], next_url


def page_response(doc: Page) -> JsonResponse[Page]:
    """Return a page as JSON, with a Link header for the next page."""
    response = json_response(doc, cache=PRIVATE)
    if next_url := doc["next"]:
        response.headers["Link"] = f'<{next_url}>; rel="next"'
    return response


def json_response(doc: Document, status: int = 200, cache: str = NO_STORE, **headers: str) -> JsonResponse[Document]:
    """Return a JSON document with sorted keys: repeated requests get the same bytes.

    Underscores in header names become hyphens.
    """
    response: JsonResponse[Document] = JsonResponse(canonical(doc), status, content_type="application/json")
    response.headers.add("Cache-Control", cache)
    for name, value in headers.items():
        response.headers.add(name.replace("_", "-"), value)
    return response


def etag_response(
    raw: bytes, version: int | None = None, cache: str = PRIVATE, media: str = "application/json"
) -> JsonResponse[Json]:
    """Return an encoded document with a strong ETag of its bytes, or 304 if the client has it."""
    response: JsonResponse[Json] = JsonResponse(raw, content_type=media)
    response.set_etag(hashlib.blake2b(raw, digest_size=16).hexdigest())
    response.headers["Cache-Control"] = cache
    if version is not None:
        response.headers["Annals-Version"] = str(version)
    conditional(response)
    return response


def tagged_response(doc: Document, version: int | None = None) -> JsonResponse[Document]:
    """Return a document as JSON with a strong ETag, or 304 if the client has it."""
    return etag_response(msgspec.json.encode(doc), version)


def if_match_version(match: str) -> int | None:
    """Return the version in If-Match, or None."""
    return None if not match else int(match.strip('"'))


def wait_for_views(position: int) -> None:
    """Wait until the views have read a log position. Raise Problem for an unknown position or on timeout."""
    s = services()
    if not position or s.reader.read_position() >= position:
        return
    if not s.ledger.log(position - 1, 1):
        raise Problem("unknown_position")
    if not s.reader.wait_for_position(position, s.settings.patience):
        raise Problem("views_behind", headers={"Retry-After": "1"})


def load_table(game: str) -> tuple[AnyRuleset, AnyGame]:
    """Return the rules of a game and the current game. Raise UnknownGame."""
    s = services()
    if is_import_id(game):
        return _load_imported(game)
    found = s.commands.game(game)
    return s.registry.get(found.ruleset), found


def _load_imported(game: str) -> tuple[AnyRuleset, AnyGame]:
    """Return an imported game, which no command can change."""
    s = services()
    if not (version := s.ledger.version(game)):
        raise UnknownGame(game)
    with rate_limits.whole_game_slot():
        found = s.history.load_for(game, version, DIRECTOR)
    return found.rules, found.game


def opening_terms(game: str) -> Doc:
    """Return the terms in the game's first record, or an empty document."""
    (first,) = services().ledger.read(game, 0, 1) or (None,)
    return first.body if first else {}


@overload
def write_response(
    result: CommandResult, doc: None = None, status: int = 201, **headers: str
) -> JsonResponse[WrittenDoc]: ...


@overload
def write_response(result: CommandResult, doc: Written, status: int = 201, **headers: str) -> JsonResponse[Written]: ...


def write_response(
    result: CommandResult, doc: WrittenDoc | None = None, status: int = 201, **headers: str
) -> JsonResponse[WrittenDoc]:
    """Return the response to a write, and signal new records. `doc` extends `confirm_write`."""
    written = confirm_write(result) if doc is None else doc
    version = str(written["version"])
    response = json_response(written, status, Annals_Version=version, Annals_Position=str(result.position), **headers)
    if result.replayed:
        response.headers["Idempotency-Replayed"] = "true"
    return response


def confirm_write(result: CommandResult) -> WrittenDoc:
    """Return game, version, head and position of a write, and signal new records."""
    if not result.replayed:
        services().notify_appended(result.position)
    g.position = result.position
    head = result.records[-1].hash
    return {"game": result.aggregate, "version": result.versions[-1], "head": head, "position": result.position}


def visible_head(game: str) -> tuple[int, bool]:
    """Return the newest version visible to the caller (0 for none), and True if the next one is damaged.

    Raise Problem if the first record is damaged.
    """
    s = services()
    head, damaged = s.ledger.head(game)
    if damaged == 1:
        raise damaged_record_problem(1)
    found = min(head, damaged - 1) if damaged else head
    limit = visibility_of(game).upto if head else None
    if limit is not None and limit < found:
        return limit, False
    return found, bool(damaged)


def immutable_cache(game: str) -> str:
    """Return the Cache-Control value for permanent parts of a game: private if others cannot see them yet.

    An imported game may be deleted.
    """
    if is_import_id(game):
        return PRIVATE
    return PRIVATE_IMMUTABLE if visibility_of(game).beyond_public else IMMUTABLE


DAMAGED_HEADER = "Annals-Damaged"
"""Response header with the first damaged version of an incomplete document."""


def retry_after_inspection(view: View) -> View:
    """Run a view over records again once, if an inspection finds the game damaged."""

    @wraps(view)
    def wrapper(*args: object, **kwargs: Json) -> object:
        try:
            return view(*args, **kwargs)
        except (StoreDamaged, VerificationError):
            if services().inspector.inspect(kwargs["game"] if "game" in kwargs else kwargs["tournament"]) is None:
                raise
            return view(*args, **kwargs)

    return wrapper  # type: ignore[return-value] # the view with the same signature


def views_behind_problem(game: str) -> Problem | None:
    """Return the problem for an existing game without views, or None for an unknown game."""
    head, damaged = services().ledger.head(game)
    if not head:
        return None
    if damaged == 1:  # the whole game is unreadable
        return damaged_record_problem(1)
    return Problem("views_behind", headers={"Retry-After": "1"})


def missing_game(game: str) -> Problem:
    """Return the problem for a game without views."""
    return views_behind_problem(game) or Problem("unknown_game")


def clear_site_data(response: Response) -> Response:
    """Tell the browser at logout to drop cache and storage of this service.

    Cookies end one by one. The device cookie stays: it grants no access.
    """
    response.headers["Clear-Site-Data"] = '"cache", "storage"'
    return response
