"""Everything that can go wrong, as application/problem+json (RFC 9457) with a stable code."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import quote

import orjson
from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException

from api.http import strict_json
from api.http.i18n import DEFAULT, language, translated
from api.http.request_log import say
from api.services import Doc, services
from domain import errors
from domain.errors import AnnalsError, RuleError
from domain.kernel.text.message_catalog import Message, texts
from domain.types import Json

MEDIA = "application/problem+json"

MOST = 300
"""Characters of one text in a problem; what is longer was sent by the client."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="annals"'}
"""What an answer 401 asks for."""

CODES: Mapping[str, tuple[int, str]] = {
    "bad_request": (400, "The request is not well-formed"),
    "tls_required": (400, "This port speaks TLS: ask with https"),
    "not_json": (400, "The body is not JSON"),
    "duplicate_key": (400, "A key comes twice in an object"),
    "number_out_of_range": (400, "A number is none that every reader keeps exactly"),
    "lone_surrogate": (400, "A string is not text"),
    "too_deep": (400, "The body is nested too deeply"),
    "unauthenticated": (401, "A valid token is required"),
    "forbidden": (403, "Not allowed"),
    "other_table": (403, "The token belongs to another game"),
    "directors_only": (403, "Only the director may do this"),
    "director_plays": (403, "A director who holds a seat does not look, and moves for nobody"),
    "director_looked": (403, "A director who has looked at what is hidden takes no seat at that table"),
    "seats_only": (403, "Only a seat may do this"),
    "not_your_seat": (403, "The token belongs to another seat"),
    "not_invited": (403, "Taking a seat needs an invitation"),
    "not_admitted": (403, "The director of this table does not admit you"),
    "not_asked": (403, "This seat need not agree"),
    "not_at_table": (403, "The account has no such role at this table"),
    "accounts_only": (403, "Only an account may do this"),
    "session_required": (403, "This needs a session, and no personal token"),
    "password_required": (403, "The password must be shown again"),
    "second_factor_required": (403, "A second factor must be shown"),
    "factor_missing": (403, "The role needs a second factor"),
    "form_stale": (403, "The form is not of this page: load it again"),
    "scope_missing": (403, "The token is not for this"),
    "role_missing": (403, "The account has not the role that this needs"),
    "account_suspended": (403, "The account is suspended"),
    "account_banned": (403, "The account is banned"),
    "registration_closed": (403, "Nobody may open an account here"),
    "wrong_credentials": (403, "Name and password, or code, do not fit together"),
    "not_found": (404, "There is nothing here"),
    "unknown_game": (404, "No such game"),
    "unknown_ruleset": (404, "No such ruleset"),
    "unknown_account": (404, "No such account"),
    "unknown_client": (404, "No such client"),
    "unknown_redirect": (404, "The client has not registered this address"),
    "method_not_allowed": (405, "This cannot be done here"),
    "refused": (409, "Refused by the rules"),
    "ruling_refused": (409, "The rules do not allow this ruling"),
    "decision_closed": (409, "The decision is not open any more"),
    "scores_hidden": (409, "The standings are not public yet"),
    "motion_open": (409, "Another motion waits for consents"),
    "too_many_rewinds": (409, "Too many rewinds of this version were asked for"),
    "motion_closed": (409, "The motion is decided already"),
    "declined": (409, "A seat has declined"),
    "name_taken": (409, "The name is taken"),
    "not_claimable": (409, "That is no seat that could be claimed"),
    "last_admin": (409, "There would be no administrator left"),
    "seat_reserved": (409, "The seat is kept for somebody else"),
    "address_unset": (409, "The operator has not named the address of this service"),
    "public_client": (409, "The client has no secret"),
    "too_many": (409, "There are too many of these already"),
    "mail_off": (409, "This service sends no mail"),
    "webhook_off": (409, "The webhook is switched off"),
    "precondition_failed": (412, "The document is not the one that was named"),
    "stale_version": (412, "The game has moved on"),
    "body_too_large": (413, "The body is too large"),
    "uri_too_long": (414, "The address is too long"),
    "unsupported_media_type": (415, "The body must be application/json"),
    "unsupported_encoding": (415, "The body must not be compressed"),
    "invalid_body": (422, "The body does not fit its schema"),
    "webhook_refused": (422, "Nothing is sent to such an address, or told of such events"),
    "unknown_field": (422, "The body has a field that is not known"),
    "invalid_query": (422, "A query parameter does not fit"),
    "invalid_headers": (422, "A header does not fit"),
    "weak_password": (422, "The password is too easy to guess"),
    "unfit_name": (422, "An account cannot be called that"),
    "role_required": (422, "The account has several roles at this table: name one"),
    "invalid_table": (422, "The ruleset does not allow such a table"),
    "unknown_version": (422, "The game has no such version"),
    "unknown_position": (422, "The log has no such position"),
    "idempotency_key_reused": (422, "The key was used with another request"),
    "precondition_required": (428, "Name the version or the decision"),
    "too_many_requests": (429, "Too many requests"),
    "headers_too_large": (431, "The headers are too large"),
    "internal_error": (500, "Something is wrong with the service"),
    "record_damaged": (503, "A record of the game is damaged"),
    "store_unavailable": (503, "The store does not answer now"),
    "views_behind": (503, "The views have not read that far"),
    "too_many_streams": (503, "No further stream can be opened now"),
    "busy": (503, "Too much of this is being done at once"),
    "not_ready": (503, "The service is not ready"),
    "not_answering": (503, "The service does not answer now"),
}
"""Code -> status and title. Refusals of the rules have codes of their own, with status 409."""

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


_SECRETS = (
    *(
        "code",
        "current",
        "device",
        "factor",
        "invitation",
        "label",
        "name",
        "nonce",
        "password",
        "reason",
        "said",
        "token",
    ),
)
"""Members of bodies that stand in no log."""

_GUESSED = 8
"""Shorter texts are no secrets of ours, and stand everywhere."""


class Problem(Exception):
    """An answer that is no success. `detail` is a sentence for people, `members` are for programs.

    Title and detail are messages of the service, which are told in the client's language; so is every `Message` that
    stands in a member.
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
        self.title, self.detail = Message(title), Message.of(detail)
        self.headers, self.members = dict(headers or {}), members

    def doc(self, instance: str = "", lang: str = DEFAULT) -> Doc:
        """The problem as a document in a language; `instance` is the path of what it is about, if that is known."""
        body: Doc = {"type": f"/v1/problems/{self.code}", "title": self.title, "status": self.status}
        body |= {"code": self.code} | ({"detail": self.detail} if self.detail else {})
        told: Doc = _short(translated(body | self.members, lang))
        return told | ({"instance": quote(instance)} if 0 < len(instance) <= MOST else {})

    def response(self) -> Response:
        """The problem as it is sent."""
        answer = Response(orjson.dumps(self.doc(request.path, language())), self.status, content_type=MEDIA)
        answer.headers.extend(self.headers)
        answer.headers["Cache-Control"] = "no-store"
        g.problem = self.code
        return answer


def _short(value: Json) -> Json:
    """The same with long texts cut off."""
    if isinstance(value, str):
        return value if len(value) <= MOST else value[:MOST] + "..."
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, list | tuple) else value


def sentence(code: str, figures: Doc) -> str:
    """What a refusal says to people, in the words of the game at hand."""
    return texts(_package(), language()).say(f"refusal.{code}", figures) or ""


def _package() -> str:
    """Where the texts of the game at hand are; of none, outside a game."""
    game = (request.view_args or {}).get("game")
    with suppress(AnnalsError):  # words are not worth another failure
        for opened in services().ledger.read(game, 0, 1) if game else ():
            return services().catalogue.get(opened.body["ruleset"]).package
    return ""


def _refusal(error: RuleError) -> Problem:
    also = [{"code": code, "rule": rule} for code, rule in error.also]
    members: Doc = {"rule": error.rule, "figures": error.detail} | ({"also": also} if also else {})
    status = 422 if error.code == "malformed_move" else 409
    return Problem(error.code, sentence(error.code, error.detail), kind="refused", status=status, **members)


_PLAIN: Mapping[type[AnnalsError], str] = {
    errors.CommandReused: "idempotency_key_reused",
    errors.UnknownGame: "unknown_game",
    errors.UnknownRuleset: "unknown_ruleset",
}

_DOUBTFUL = (
    errors.GameDamaged,
    errors.StoreDamaged,
    errors.UnknownGame,
    errors.UnknownKind,
    errors.VerificationError,
    errors.WrongKey,
)
"""What may be told of a game because its bytes have changed."""


_PASSING: Mapping[type[AnnalsError], str] = {
    errors.Busy: "busy",
    errors.ServerReplaced: "store_unavailable",
    errors.StoreUnavailable: "store_unavailable",
    errors.ViewsDamaged: "store_unavailable",
}


def of_error(error: AnnalsError) -> Problem:
    """The problem that tells a client of an error of the domain."""
    if isinstance(error, _DOUBTFUL) and (found := damaged(error)):
        return found
    if code := _PLAIN.get(type(error)):
        return Problem(code)
    if code := _PASSING.get(type(error)):
        return Problem(code, headers={"Retry-After": "1"})
    match error:
        case RuleError():
            return _refusal(error)
        case errors.DecisionClosed():
            return Problem("decision_closed", decision=error.decision)
        case errors.NotSeated():
            return Problem("unauthenticated", "The token was replaced.", headers=CHALLENGE)
        case errors.StaleVersion():
            return Problem("stale_version", expected=error.expected, version=error.version)
        case errors.InvalidTable():
            return Problem("invalid_table", error.reason, errors=[{"at": error.pointer, "message": error.reason}])
        case errors.AccountError():
            return Problem(error.code, error.detail)
    return _broken(error)


def damaged(error: Exception | None = None) -> Problem | None:
    """The problem for a game whose record or seed is damaged, where that is why something has failed."""
    game = (request.view_args or {}).get("game")
    if not isinstance(game, str):
        return None
    with suppress(AnnalsError):  # what has failed first is told
        version = error.version if isinstance(error, errors.GameDamaged) else services().inspect(game)
        if version is not None:
            return lost(version)
    return None


def lost(version: int) -> Problem:
    """The problem for what comes after the records that are sound. Nothing that the client does can help."""
    said = "An operator must bring the game back; until then it can be read up to `readable`."
    told: Doc = {"version": version, "readable": version - 1} if version else {"version": version}
    return Problem("record_damaged", said, headers={"Retry-After": "60"}, **told)


def of_http(error: HTTPException) -> Problem:
    """The problem for what Flask itself refuses."""
    code = _BY_STATUS.get(error.code or 500, "internal_error")
    allowed = getattr(error, "valid_methods", None)
    headers = {"Allow": ", ".join(sorted(allowed))} if allowed else {}
    return Problem(code, headers=headers, status=error.code or 500)


def _broken(error: Exception) -> Problem:
    """A fault of ours: told in the log, with the request's id, and to the client without any particulars."""
    # As text: some renderers would add the values of variables, and a token may be among them.
    trace = "".join(traceback.format_exception(error))
    for text in _secrets():
        trace = trace.replace(text, "...")
    say("annals.http", "error", "fault", request_id=g.get("request_id"), trace=trace)
    return Problem("internal_error", request=g.get("request_id", ""))


def _secrets() -> list[str]:
    """What this request has sent that no line may hold, should an exception's message repeat it."""
    token = request.headers.get("Authorization", "").rpartition(" ")[2]
    found = [token, request.headers.get("Idempotency-Key", ""), *request.cookies.values(), *request.args.values()]
    found += request.form.values()
    with suppress(strict_json.StrictJsonError, HTTPException):
        body = strict_json.parse(request.get_data())
        found += [str(body.get(name, "")) for name in _SECRETS] if isinstance(body, dict) else []
    return [text for text in found if len(text) >= _GUESSED]


def install(app: Flask) -> None:
    """Every error becomes a problem."""
    app.register_error_handler(Problem, lambda error: error.response())
    app.register_error_handler(AnnalsError, lambda error: of_error(error).response())
    app.register_error_handler(Exception, lambda error: (damaged() or _broken(error)).response())
