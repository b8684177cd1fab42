"""Routes for imports: exports of closed games as games for analysis, which nobody can change."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from functools import wraps
from uuid import UUID

from flask import Flask, Response, current_app, request

from api import authorization
from api.authorization import View
from api.http import rate_limits
from api.http.json_responses import JsonResponse
from api.http.problems import Problem
from api.http.proof_memory import ProofMemory, digest_of
from api.openapi.smorest import Blueprint, string_headers
from api.response_builders import PRIVATE, json_response
from api.routes.games import charge_quota
from api.schemas.request_bodies import ImportSchema
from api.schemas.table_responses import ImportDoc, ImportsDoc
from api.services import services
from domain.errors import VerificationError
from domain.kernel.proof import verify
from domain.kernel.records import export
from domain.kernel.records.export import Export
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.ledger.imported_games import MOST_EACH, ImportedGame
from domain.types import MAX_WORD, Doc

LATEST = 32_503_680_000_000
"""Start of the year 3000, ms: calendars end, and deadlines follow the last record."""

MAX_SECONDS = 20.0
"""Longest time for deciding the moves of a file again."""

_VERDICTS = "annals.imports"

bp = Blueprint("imports", __name__, url_prefix="/v1/imports", description="Games from export files.")


def import_to_json(found: ImportedGame) -> ImportDoc:
    """Return an imported game as its account sees it."""
    return {"game": found.game, "ruleset": found.ruleset, "version": found.version, "at": found.at}


def register(app: Flask) -> None:
    """Add the memory of proofs to the application."""
    app.extensions[_VERDICTS] = ProofMemory[str | Problem]()


def _require_importer(view: View) -> View:
    """Require an account that may direct, and only then accept a body as long as an export."""

    @wraps(view)
    def wrapper(*args: object, **kwargs: object) -> object:
        request.max_content_length = services().settings.max_import_body
        return view(*args, **kwargs)

    return authorization.require_directing_account(wrapper)  # type: ignore[return-value] # the same signature


@bp.operation(
    "POST",
    "",
    "import_game",
    access=_require_importer,
    errors=(403, 404, 409),
    body=ImportSchema,
    status=201,
    response_headers=string_headers("Location"),
)
def import_game(body: Doc) -> JsonResponse[ImportDoc]:
    """Import the export of a closed game, as a game for analysis that nobody can change.

    Everything in the file is proved as by `annals verify`: chain, seals, boards, every draw and every move. Its people
    become nobody here. The game is in no list, has no result, and sends no notice. The same file again is the same
    game. Delete it when you like.
    """
    s, account = services(), authorization.credential_owner().account
    data = body["export"].encode()
    if len(data) > s.settings.max_import:
        raise Problem("body_too_large")
    digest = digest_of(data)
    game = _find_import(account, digest)
    if not game:
        with rate_limits.long_work_slot():
            game = _find_import(account, digest) or _add_import(account, data, digest)
    found = next((each for each in s.ledger.imports.list_by_account(account) if each.game == game), None)
    if found is None:  # deleted meanwhile
        raise Problem("unknown_game")
    return json_response(import_to_json(found), 201, Location=f"/v1/games/{game}")


def _find_import(account: str, digest: bytes) -> str:
    """Return the account's game from a file with a proof, or an empty string. Raise Problem for a false file."""
    verdict = _verdicts().find(digest)
    if isinstance(verdict, Problem):
        raise copy(verdict)
    game = _make_id(account, verdict) if verdict else ""
    return game if game and services().ledger.version(game) else ""


def _add_import(account: str, data: bytes, digest: bytes) -> str:
    """Add the game of a file to the account's imports, after a proof unless the file has one. Raise Problem."""
    s, verdicts = services(), _verdicts()
    try:
        found = export.parse(data) if verdicts.find(digest) else _prove(data)
    except Problem as problem:
        if problem.code != "import_too_long":  # the machine may be less busy another time
            verdicts.remember(digest, copy(problem))  # the raised one holds the file, by its traceback
        raise
    head = found.records[-1].hash
    verdicts.remember(digest, head)
    game = _make_id(account, head)
    if not s.ledger.version(game):
        charge_quota("tables")
        if not s.ledger.imports.add(game, account, found, s.clock()):
            raise Problem("too_many", Message("An account has {most} imported games at most.", most=MOST_EACH))
    return game


def _verdicts() -> ProofMemory[str | Problem]:
    """Return the memory of proofs: the hash of the last record, or the fault."""
    found: ProofMemory[str | Problem] = current_app.extensions[_VERDICTS]
    return found


def _prove(data: bytes) -> Export:
    """Return the export of a closed game after its proof. Raise Problem, with the first fault of the file."""
    try:
        found = export.parse(data)
        if found.records[-1].kind != "closed" or found.damaged or len(found.game) > MAX_WORD:
            raise Problem("import_not_closed")
        rules = services().registry.get(found.ruleset)
        verify.verify(rules, found, replayer=_replay_in_time)
        _check_times(found)
    except VerificationError as error:
        fault = {"code": error.code, "version": error.version, "detail": error.detail}
        detail = Message("Version {version} has the fault {code}.", version=error.version, code=error.code)
        raise Problem("import_not_proved", detail, fault=fault) from error
    return found


def _check_times(found: Export) -> None:
    """Raise VerificationError `malformed` for a record of a time that no calendar could write."""
    for record in found.records:
        if record.time > LATEST:
            raise VerificationError("malformed", record.version, "the record is of a time after the year 2999")


def _replay_in_time(rules: AnyRuleset, found: Export, seed: bytes) -> verify.ReplayCounts:
    return verify.replay(rules, found, seed, progress=_make_timer())


def _make_timer() -> Callable[[int], None]:
    end = time.monotonic() + MAX_SECONDS

    def check_time(_: int) -> None:
        if time.monotonic() > end:
            raise Problem("import_too_long")

    return check_time


def _make_id(account: str, head: str) -> str:
    """Return the id of an imported game: a UUID of version 5, the same for the same file and account."""
    made = services().seat_tokens.make_token("import", account, head).game
    return str(UUID(bytes=UUID(made).bytes, version=5))


@bp.operation(
    "GET",
    "",
    "imports",
    access=authorization.require_account,
    errors=(403,),
)
def imports() -> JsonResponse[ImportsDoc]:
    """Return the games that you have imported, the latest first."""
    found = services().ledger.imports.list_by_account(authorization.credential_owner().account)
    return json_response({"items": [import_to_json(each) for each in found]}, cache=PRIVATE)


@bp.operation(
    "DELETE",
    "/<game:game>",
    "delete_import",
    access=authorization.require_account,
    errors=(403, 404),
    status=204,
)
def delete_import(game: str) -> Response:
    """Delete a game that you have imported. Forks of it stay."""
    s = services()
    if not s.ledger.imports.delete(game, authorization.credential_owner().account):
        raise Problem("unknown_game")
    s.ledger.scrub_deleted_pages()
    return Response(status=204)
