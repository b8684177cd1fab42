"""Errors as application/problem+json (RFC 9457) with stable codes."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import quote

import msgspec
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from api.http import strict_json
from api.http.i18n import DEFAULT_LANGUAGE, request_language, translate_messages
from api.http.request_log import write_log
from api.services import services
from domain import errors
from domain.errors import AnnalsError, RuleError
from domain.kernel.schema.canonical_json import plain_text
from domain.kernel.text.message_catalog import Message, load_texts
from domain.types import Doc, Json, is_import_id

MEDIA = "application/problem+json"

LONGEST_TEXT = 300
"""Longest text in a problem, characters. Longer ones contain client input and are cut."""

BEARER_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="annals"'}
"""Header of 401 responses."""

CODES: Mapping[str, tuple[int, str]] = {
    "bad_request": (400, "The request is not well-formed"),
    "tls_required": (400, "This port requires TLS: use https"),
    "not_json": (400, "The body is not JSON"),
    "duplicate_key": (400, "Duplicate key in an object"),
    "number_out_of_range": (400, "Number out of range"),
    "lone_surrogate": (400, "Invalid Unicode in a string"),
    "too_deep": (400, "The body is nested too deeply"),
    "unauthenticated": (401, "A valid token is required"),
    "forbidden": (403, "Not allowed"),
    "other_table": (403, "The token belongs to another game"),
    "directors_only": (403, "Only the director may do this"),
    "director_plays": (403, "A director with a seat cannot see hidden data or move for other seats"),
    "director_ruled": (403, "A director who has made a ruling in this game cannot take a seat in it"),
    "lent_token": (403, "A token that a director has replaced has no vote"),
    "director_looked": (403, "A director who has seen hidden data cannot take a seat at this table"),
    "director_related": (403, "An officer cannot see hidden data of a table where a declared relation plays"),
    "seats_only": (403, "Only a seat's player may do this"),
    "not_your_seat": (403, "The token belongs to another seat"),
    "not_invited": (403, "You need an invitation to take a seat"),
    "not_admitted": (403, "The director of this table does not admit you"),
    "programs_not_allowed": (403, "The terms of this event allow no programs"),
    "suggestions_off": (403, "This table gives no suggestions"),
    "not_asked": (403, "This seat's consent is not needed"),
    "not_at_table": (403, "The account has no such role at this table"),
    "accounts_only": (403, "Only an account may do this"),
    "session_required": (403, "This requires a session, not a personal token"),
    "password_required": (403, "Enter your password again"),
    "second_factor_required": (403, "A second factor is required"),
    "factor_missing": (403, "Set up two-factor authentication to use this role"),
    "form_stale": (403, "The form has expired: reload the page"),
    "scope_missing": (403, "The token lacks the required scope"),
    "role_missing": (403, "The account lacks the required role"),
    "account_suspended": (403, "The account is suspended"),
    "account_banned": (403, "The account is banned"),
    "registration_closed": (403, "Registration is closed"),
    "wrong_credentials": (403, "Wrong name, password or code"),
    "log_not_signed": (403, "No known key of this log has signed the checkpoint"),
    "not_found": (404, "Nothing found at this URL"),
    "no_checkpoint": (404, "No checkpoint of the log has been signed yet"),
    "unknown_log": (404, "This witness has no checkpoint of such a log"),
    "unknown_game": (404, "No such game"),
    "unknown_tournament": (404, "No such tournament"),
    "unknown_ruleset": (404, "No such ruleset"),
    "unknown_account": (404, "No such account"),
    "unknown_client": (404, "No such client"),
    "unknown_redirect": (404, "The client has not registered this address"),
    "method_not_allowed": (405, "This method is not allowed here"),
    "not_a_participant": (403, "Only players of this table write here"),
    "too_long": (422, "The message is too long"),
    "refused": (409, "Refused by the rules"),
    "ruling_refused": (409, "The rules do not allow this ruling"),
    "decision_closed": (409, "The decision is no longer open"),
    "scores_hidden": (409, "The standings are not public yet"),
    "motion_open": (409, "Another undo request is open"),
    "too_many_rewinds": (409, "Too many undo requests for this version"),
    "owner_present": (409, "The owner of the table is present"),
    "account_has_seat": (409, "The player of this seat logs in with an account and needs no token"),
    "too_many_proposals": (409, "Too many open proposals of this seat"),
    "proposal_closed": (409, "This proposal is already closed"),
    "is_analysis": (409, "This game is an analysis of another one"),
    "motions_spent": (409, "Your seat's requests in this game are used up"),
    "motion_expired": (409, "Not all seats have agreed in time"),
    "motion_closed": (409, "This undo request is already closed"),
    "declined": (409, "A seat has declined"),
    "name_taken": (409, "The name is taken"),
    "not_claimable": (409, "This token cannot be claimed"),
    "event_code_refused": (409, "The code is unknown, used or over"),
    "last_admin": (409, "There would be no administrator left"),
    "seat_reserved": (409, "The seat is reserved for another player"),
    "names_hidden": (409, "This table hides who plays there until the game is closed"),
    "address_unset": (409, "The operator has not set this service's public URL"),
    "public_client": (409, "The client has no secret"),
    "too_many": (409, "The limit is reached"),
    "mail_off": (409, "This service sends no mail"),
    "webhook_off": (409, "The webhook is switched off"),
    "precondition_failed": (412, "The document is not the one named in If-Match"),
    "stale_version": (412, "The game has moved on"),
    "body_too_large": (413, "The body is too large"),
    "uri_too_long": (414, "The URL is too long"),
    "unsupported_media_type": (415, "The body must be application/json"),
    "unsupported_encoding": (415, "The body must not be compressed"),
    "invalid_body": (422, "The body does not match its schema"),
    "import_not_closed": (422, "The file is not the whole export of a closed game"),
    "import_not_proved": (422, "The file does not verify"),
    "import_too_long": (422, "The file takes too long to verify"),
    "push_refused": (422, "Keys of a browser not allowed"),
    "webhook_refused": (422, "Webhook URL or event type not allowed"),
    "unknown_field": (422, "The body has an unknown field"),
    "invalid_query": (422, "A query parameter is not valid"),
    "invalid_headers": (422, "A header is not valid"),
    "weak_password": (422, "The password is too easy to guess"),
    "unfit_name": (422, "This account name is not allowed"),
    "role_required": (422, "You have several roles at this table: name one"),
    "invalid_table": (422, "The ruleset does not allow such a table"),
    "invalid_tournament": (422, "The terms of the tournament do not add up"),
    "unknown_version": (422, "The game has no such version"),
    "unknown_position": (422, "The log has no such position"),
    "log_inconsistent": (422, "The proof does not show that the log has only grown"),
    "idempotency_key_reused": (422, "The key was used with another request"),
    "precondition_required": (428, "A version or a decision is required"),
    "too_many_requests": (429, "Too many requests"),
    "headers_too_large": (431, "The headers are too large"),
    "internal_error": (500, "Internal error"),
    "record_damaged": (503, "A record of the game is damaged"),
    "store_unavailable": (503, "The storage does not answer now"),
    "views_behind": (503, "The views are not up to date yet"),
    "too_many_streams": (503, "Too many open streams"),
    "too_many_connections": (503, "Too many open connections from your network"),
    "busy": (503, "Server busy, try again"),
    "not_ready": (503, "The service is not ready"),
    "not_answering": (503, "The service does not answer now"),
}
"""Code -> status and title. Rule refusals have their own codes, with status 409."""

REFUSAL_STATUS = {
    "malformed_move": 422,
    "conflict_of_interest": 403,
    "preview_stale": 412,
    "bid_invalid": 422,
    "schedule_invalid": 422,
    "timetable_invalid": 422,
}
"""Code of a refusal -> status, where it is not 409."""

_FORM_TITLES = {
    "malformed_move": Message("The move is not well-formed"),
    "bid_invalid": Message("The bid is not well-formed"),
    "schedule_invalid": Message("The rule is not well-formed"),
    "timetable_invalid": Message("The timetable does not fit"),
}

_BY_STATUS = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    414: "uri_too_long",
    415: "unsupported_media_type",
    422: "invalid_body",
    429: "too_many_requests",
    431: "headers_too_large",
}


_SECRET_MEMBERS = (
    *(
        "code",
        "current",
        "device",
        "explanation",
        "factor",
        "invitation",
        "label",
        "name",
        "nonce",
        "password",
        "reason",
        "said",
        "text",
        "token",
    ),
)
"""Body members to redact from logs."""

_SHORTEST_SECRET = 8
"""Do not redact shorter strings: they occur everywhere."""


class Problem(Exception):
    """An error response. `detail` is a sentence for people; `members` are for programs.

    Title, detail and every `Message` in a member are sent in the client's language.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        kind: str = "",
        status: int = 0,
        headers: Mapping[str, str] | None = None,
        **members: Json,
    ) -> None:
        super().__init__(code)
        known, title = CODES[kind or code]
        self.code, self.status = code, status or known
        self.title = Message(title)
        self.detail = Message.from_text(detail)
        self.headers = dict(headers or {})
        self.members = members

    def to_document(self, instance: str = "", lang: str = DEFAULT_LANGUAGE) -> Doc:
        """Return the problem as a JSON document. `instance` is the path of the request, if known."""
        body: Doc = {"type": f"/v1/problems/{self.code}", "title": self.title, "status": self.status}
        body |= {"code": self.code} | ({"detail": self.detail} if self.detail else {})
        document: Doc = _truncate(translate_messages(body | self.members, lang))
        return document | ({"instance": quote(instance)} if 0 < len(instance) <= LONGEST_TEXT else {})

    def response(self) -> Response:
        """Return the problem as an HTTP response."""
        answer = Response(
            msgspec.json.encode(self.to_document(request.path, request_language()), enc_hook=plain_text),
            self.status,
            content_type=MEDIA,
        )
        answer.headers.extend(self.headers)
        answer.headers["Cache-Control"] = "no-store"
        g.problem = self.code
        return answer


def _truncate(value: Json) -> Json:
    """Return the value with long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "..."
    if isinstance(value, dict):
        return {name: _truncate(part) for name, part in value.items()}
    return [_truncate(part) for part in value] if isinstance(value, list | tuple) else value


def refusal_sentence(code: str, figures: Doc) -> str:
    """Return the refusal's sentence in the words of the current game and language."""
    return load_texts(_game_package(), request_language()).refusal(code, figures) or ""


def _game_package() -> str:
    """Return the package with the current game's texts, or an empty string outside a game."""
    arguments = request.view_args or {}
    if "tournament" in arguments:
        return "domain.tournaments"
    game = arguments.get("game")
    with suppress(AnnalsError):  # texts are optional: keep the first error
        for record in services().ledger.read(game, 0, 1) if game else ():
            return services().registry.get(record.body["ruleset"]).package
    return ""


def _refusal_problem(error: RuleError) -> Problem:
    also = [{"code": code, "rule": rule} for code, rule in error.also]
    members: Doc = {"rule": error.rule, "figures": error.detail} | ({"also": also} if also else {})
    status = REFUSAL_STATUS.get(error.code, 409)
    problem = Problem(error.code, refusal_sentence(error.code, error.detail), kind="refused", status=status, **members)
    if not error.rule:  # an act of the table, or the form of a move
        problem.title = _FORM_TITLES.get(error.code, Message("Not possible now"))
    return problem


_ERROR_CODES: Mapping[type[AnnalsError], str] = {
    errors.CommandReused: "idempotency_key_reused",
    errors.ScoresHidden: "scores_hidden",
    errors.UnknownGame: "unknown_game",
    errors.UnknownRuleset: "unknown_ruleset",
    errors.UnknownTournament: "unknown_tournament",
}

_MAYBE_DAMAGED = (
    errors.GameDamaged,
    errors.StoreDamaged,
    errors.UnknownGame,
    errors.UnknownKind,
    errors.VerificationError,
    errors.WrongKey,
)
"""Errors with damaged bytes as a possible cause."""


_TEMPORARY_CODES: Mapping[type[AnnalsError], str] = {
    errors.Busy: "busy",
    errors.ServerReplaced: "store_unavailable",
    errors.StoreUnavailable: "store_unavailable",
    errors.ViewsDamaged: "store_unavailable",
}


def problem_of_error(error: AnnalsError) -> Problem:
    """Return the problem for a domain error."""
    if isinstance(error, _MAYBE_DAMAGED) and (problem := damage_problem(error)):
        return problem
    if code := _ERROR_CODES.get(type(error)):
        return Problem(code)
    if code := _TEMPORARY_CODES.get(type(error)):
        return Problem(code, headers={"Retry-After": "1"})
    match error:
        case RuleError():
            return _refusal_problem(error)
        case errors.DecisionClosed():
            return Problem("decision_closed", decision=error.decision)
        case errors.NotSeated():
            return Problem("unauthenticated", "The token was replaced.", headers=BEARER_CHALLENGE)
        case errors.StaleVersion():
            return Problem("stale_version", expected=error.expected, version=error.version)
        case errors.InvalidTable() | errors.TournamentError() | errors.FormError():
            return _form_problem(error)
        case errors.AccountError():
            return Problem(error.code, error.detail)
    return _internal_error(error)


_FORM_CODES: Mapping[type[AnnalsError], str] = {
    errors.FormError: "invalid_body",
    errors.InvalidTable: "invalid_table",
    errors.TournamentError: "invalid_tournament",
}


def _form_problem(error: errors.InvalidTable | errors.TournamentError | errors.FormError) -> Problem:
    """Return the problem for a document with a fault at a known place."""
    members = [{"at": error.pointer, "message": error.reason}]
    return Problem(_FORM_CODES[type(error)], error.reason, errors=members)


def damage_problem(error: Exception | None = None) -> Problem | None:
    """Return the problem for a damaged game or a deleted import if it explains the failure, else None."""
    arguments = request.view_args or {}
    game = arguments.get("game", arguments.get("tournament"))
    if not isinstance(game, str):
        return None
    with suppress(AnnalsError):  # keep the first error
        if is_import_id(game):  # a file that was proved, and has no rows in the log
            return None if services().ledger.version(game) else Problem("unknown_game")
        version = error.version if isinstance(error, errors.GameDamaged) else services().inspector.inspect(game)
        if version is not None:
            return damaged_record_problem(version)
    return None


def damaged_record_problem(version: int) -> Problem:
    """Return the problem for a damaged record (0: the seed). Only an operator can repair it."""
    detail = "An operator must restore the game. Until then, versions up to `readable` can be read."
    members: Doc = {"version": version, "readable": version - 1} if version else {"version": version}
    return Problem("record_damaged", detail, headers={"Retry-After": "60"}, **members)


def problem_of_http_error(error: HTTPException) -> Problem:
    """Return the problem for an error raised by Flask."""
    code = _BY_STATUS.get(error.code or 500, "internal_error")
    allowed = getattr(error, "valid_methods", None)
    headers = {"Allow": ", ".join(sorted(allowed))} if allowed else {}
    return Problem(code, headers=headers, status=error.code or 500)


def _internal_error(error: Exception) -> Problem:
    """Log an unexpected error with the request id, and return a problem without details."""
    # As text: some log renderers add local variables, and those may contain a token.
    trace = "".join(traceback.format_exception(error))
    for text in _request_secrets():
        trace = trace.replace(text, "...")
    write_log("annals.http", "error", "fault", request_id=g.get("request_id"), trace=trace)
    return Problem("internal_error", request=g.get("request_id", ""))


def _request_secrets() -> list[str]:
    """Return the request's secret values, which an exception message might repeat."""
    token = request.headers.get("Authorization", "").rpartition(" ")[2]
    found = [token, request.headers.get("Idempotency-Key", ""), *request.cookies.values(), *request.args.values()]
    found += request.form.values()
    with suppress(strict_json.StrictJsonError, HTTPException):
        body = strict_json.parse(request.get_data())
        found += [str(body.get(name, "")) for name in _SECRET_MEMBERS] if isinstance(body, dict) else []
    return [text for text in found if len(text) >= _SHORTEST_SECRET]


def register(app: Flask) -> None:
    """Turn every error into a problem."""
    app.register_error_handler(Problem, lambda error: error.response())
    app.register_error_handler(AnnalsError, lambda error: problem_of_error(error).response())
    app.register_error_handler(Exception, lambda error: (damage_problem() or _internal_error(error)).response())
