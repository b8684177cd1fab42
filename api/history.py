"""What has happened: timeline, records, exports, and going back."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from flask import Response

from api import auth
from api.answers import RecordsSchema, RewoundSchema, TimelineSchema
from api.conditional import command, missing_game, table, wait, wanted, written
from api.games import paged, terms
from api.openapi import Blueprint, fails
from api.problems import Problem, language
from api.schemas import MoveHeaders, PageArgs, RewindSchema, TimelineArgs
from api.services import Doc, Services, services
from domain.commands import Answer
from domain.errors import RuleError, StaleVersion
from domain.ids import Json, Seat, Viewer
from domain.kernel import export
from domain.kernel.consent import Motion, agreed, motion
from domain.kernel.fold import Position
from domain.kernel.record import Record, visible_packs
from domain.kernel.ruleset import Ruleset

room = Blueprint("history", __name__, url_prefix="/v1/games", description="What has happened, and going back.")

NDJSON = "application/x-ndjson"
_PAGE = {"Link": {"schema": {"type": "string"}}}


# --- reading ---------------------------------------------------------------------------------------------------


def _next(path: str, last: int, head: int, **kept: Json) -> str | None:
    return None if last >= head else f"{path}?" + urlencode({"after": last, **kept})


def entries(s: Services, game: str, viewer: Viewer, after: int, limit: int, lang: str) -> list[Doc]:
    """Entries of the timeline in one language, rewinds with their reasons."""
    found = [_in_language(e, lang) for e in s.reader.timeline(game, viewer, after, limit)]
    for entry in found:
        if entry.get("kind") == "rewound":
            entry["reason"] = _reason(s, game, entry["version"])
    return found


def _in_language(entry: Doc, lang: str) -> Doc:
    spoken = entry | {"text": entry["text"][lang]}
    if "own" in entry:
        spoken["own"] = [own | {"text": own["text"][lang]} for own in entry["own"]]
    return spoken


def _reason(s: Services, game: str, version: int) -> str | None:
    hashed = [r.body.get("reason", "") for r in s.ledger.read(game, version - 1, version)]
    return s.access.said(hashed[0]) if hashed and hashed[0] else None


@room.route("/<game:game>/timeline", methods=["GET"])
@auth.seen_by
@fails(403, 404, 503)
@room.arguments(TimelineArgs, location="query")
@room.response(200, TimelineSchema, headers=_PAGE)
@room.doc(operationId="timeline")
def timeline(args: Doc, game: str) -> Response:
    """Read what happened, as facts and as sentences; undone moves stay readable."""
    wait(args["wait"])
    summary = services().reader.game(game)
    if summary is None:
        raise missing_game(game)
    after, limit, lang = args["after"], args["limit"], args.get("lang") or language()
    found = entries(services(), game, auth.viewer(), after, limit, lang)
    last = found[-1]["version"] if found else after
    return paged(found, _next(f"/v1/games/{game}/timeline", last, summary["version"], limit=limit, lang=lang))


@room.route("/<game:game>/records", methods=["GET"])
@fails(404, 503)
@room.arguments(PageArgs, location="query")
@room.response(200, RecordsSchema, headers=_PAGE)
@room.doc(operationId="records")
def records(args: Doc, game: str) -> Response:
    """Read the public parts of the records, which form the hash chain."""
    wait(args["wait"])
    s, after, limit = services(), args["after"], args["limit"]
    head = s.ledger.head(game)
    if not head:
        raise missing_game(game)
    found = s.ledger.read(game, after, after + limit)
    last = found[-1].version if found else after
    return paged([r.public for r in found], _next(f"/v1/games/{game}/records", last, head, limit=limit))


@room.route("/<game:game>/export", methods=["GET"])
@auth.seen_by
@fails(403, 404)
@room.response(200, {"type": "string"}, content_type=NDJSON)
@room.doc(operationId="export")
def export_game(game: str) -> Response:
    """Take the game as a file that can be proved offline.

    One JSON object a line: a header, then the records with the packs that the viewer may read; once closed, with all.
    """
    found = services().ledger.read(game)
    if not found:
        raise missing_game(game)
    made = Response(export.dump(found, auth.viewer()), content_type=NDJSON)
    made.headers["Cache-Control"] = "private, no-store"
    made.headers["Content-Disposition"] = f'attachment; filename="{game}.annals"'
    return made


# --- going back ------------------------------------------------------------------------------------------------


@room.route("/<game:game>/rewinds", methods=["POST"])
@auth.signed
@fails(403, 404, 409, 412, 428)
@room.arguments(RewindSchema)
@room.arguments(MoveHeaders, location="headers")
@room.response(201, RewoundSchema)
@room.doc(operationId="rewind")
def rewind(body: Doc, headers: Doc, game: str) -> Response:
    """Go back to a version; nothing is deleted.

    A seat may where the table and the rules let it, and where nobody else has learnt or done anything since; else the
    answer is 409 `consent_missing` with the motion. A director may always, and gives the reason.
    """
    expected = wanted(headers["match"])
    if expected is None:
        raise Problem("precondition_required", "Send If-Match with the version that was seen.")
    rules, position = table(game)
    seat, named = auth.principal().seat, command(headers["key"])
    if seat is None:
        stored = _directed(game, body, expected, named)
    else:
        stored = _asked(rules, position, seat, body, expected, named)
    return written(stored, {"to": body["to"]})


def _directed(game: str, body: Doc, expected: int, named: str | None) -> Answer:
    """The reason is kept beside the records, which hold its hash. A repetition finds the hash that was stored."""
    s = services()
    before = s.ledger.command(game, named) if named else None
    if before:
        (record,) = s.ledger.read(game, before.first - 1, before.first)
        reason = str(record.body.get("reason", ""))
        if body["reason"] and s.access.said(reason) not in (None, body["reason"]):
            raise Problem("idempotency_key_reused")
    else:
        reason = s.access.keep(auth.principal().player, body["reason"]) if body["reason"] else ""
    return s.commands.rewind(game, body["to"], expected, reason=reason, fresh=body["fresh"], command=named)


def _asked(rules: Ruleset[Any], p: Position[Any], seat: Seat, body: Doc, expected: int, named: str | None) -> Answer:
    s = services()
    if body["fresh"] or body["reason"]:
        raise Problem("directors_only", "A reason and fresh chance are the director's.")
    if named is None or s.ledger.command(p.game, named) is None:
        _check_motion(rules, p, seat, body["to"], expected)
    return s.commands.rewind(p.game, body["to"], expected, by="seat", seat=seat, command=named)


def _check_motion(rules: Ruleset[Any], p: Position[Any], seat: Seat, to: int, expected: int) -> None:
    """Asked twice: on what the seat may read, so that a refusal tells nothing, and on all, which is what counts."""
    if expected != p.version:
        raise StaleVersion(expected, p.version)
    if p.status != "running":
        raise RuleError("game_over" if p.status in ("over", "closed") else "not_running", "", {"status": p.status})
    policy = terms(p.game).get("undo", "consent")
    found = services().ledger.read(p.game, upto=p.version)
    seen = motion(rules, p, [_readable(r, seat) for r in found], to, seat, policy)
    _check_consent(seen)
    _check_consent(motion(rules, p, found, to, seat, policy))


def _check_consent(found: Motion) -> None:
    try:
        agreed(found, ())
    except RuleError as error:
        raise RuleError(error.code, error.rule, error.detail | {"motion": found.to_json()}) from None


def _readable(record: Record, seat: Seat) -> Record:
    return Record(record.public, visible_packs(record, seat))
