"""Calls of the API's own routes by pages, in this process, with the rights of the visitor's session."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, TypeVar, cast
from urllib.parse import unquote

import msgspec
from flask import current_app, g, request
from werkzeug.datastructures import Headers
from werkzeug.test import run_wsgi_app

from api.http import i18n
from api.http.problems import CODES, Problem
from api.openapi.smorest import ROLE_HEADER
from api.pages.common.session import guest_principals, guest_tables, session_owner, session_token
from api.services import unwrap_proxy
from domain.types import Doc, Json

Document = TypeVar("Document")


@dataclass(frozen=True)
class Answer:
    """Answer of a route."""

    status: int
    doc: Doc
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Return the code of a problem, or an empty string."""
        return str(self.doc.get("code", "")) if self.status >= 400 else ""


class RefusedCall(Problem):
    """The API refused a call that the page cannot do without. The problem is in the visitor's language already."""

    def __init__(self, answer: Answer) -> None:
        code = answer.code or "internal_error"
        super().__init__(code, kind="" if code in CODES else "refused", status=answer.status)
        self.answer = answer
        self.headers = {"Retry-After": after} if (after := answer.headers.get("Retry-After")) else {}

    def to_document(self, instance: str = "", lang: str = i18n.DEFAULT_LANGUAGE) -> Doc:
        """Return the API's document."""
        return self.answer.doc


def ask_publicly(path: str) -> Answer:
    """Return the API's answer to somebody without an account."""
    return _ask("GET", path, None, {"Accept-Language": i18n.request_language()})


def ask(method: str, path: str, body: Json = None, *, role: str = "", token: str = "", **headers: str) -> Answer:
    """Return the API's answer to a request in the visitor's name. `role` selects one of several roles at a table.

    `token`: of another session than the visitor's, such as one that has just begun.
    """
    sent = {name.replace("_", "-"): value for name, value in headers.items() if value}
    sent["Accept-Language"] = i18n.request_language()
    token = token or session_token() or _guest_token(path, role)
    sent |= {"Authorization": f"Bearer {token}"} if token else {}
    sent |= {ROLE_HEADER: role} if role else {}
    return _ask(method, path, body, sent)


def _guest_token(path: str, role: str) -> str:
    """Return the token of a visitor without an account for a request: of its table and role, or of the same person."""
    tables = guest_tables()
    if not tables or session_owner() is not None:
        return ""
    parts = path.partition("?")[0].split("/")
    if parts[1:] in (["games"], ["me", "games"]):  # to open one more table as the same person, and to list theirs
        return next((token for game in reversed(tables) for token in guest_principals(game)), "")
    if parts[1] != "games":
        return ""
    found = sorted(guest_principals(parts[2]).items(), key=lambda pair: pair[1].seat is None)
    return next((token for token, principal in found if role in ("", str(principal.role))), "")


def _ask(method: str, path: str, body: Json, sent: dict[str, str]) -> Answer:
    app = unwrap_proxy(current_app)
    with app.app_context():  # the page's `g` is not the call's
        parts, status, headers = run_wsgi_app(app.wsgi_app, _make_environ(method, f"/v1{path}", body, sent))
        data = b"".join(parts)
    found = Headers(headers)
    is_json = found.get("Content-Type", "").partition(";")[0].endswith(("/json", "+json"))
    doc = msgspec.json.decode(data) if is_json else {"text": data.decode()}
    return Answer(int(status[:3]), doc, dict(found))


def _make_environ(method: str, target: str, body: Json, sent: dict[str, str]) -> dict[str, Any]:
    """Return the WSGI environment of a call. A builder of environments would take as long as some answers."""
    path, _, query = target.partition("?")
    data = b"" if method == "GET" else msgspec.json.encode({} if body is None else body)
    environ = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(path).encode().decode("latin-1"),  # as WSGI wants it
        "QUERY_STRING": query.encode().decode("latin-1"),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "443" if request.scheme == "https" else "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": request.remote_addr or "",
        "HTTP_HOST": "localhost",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": request.scheme,
        "wsgi.input": BytesIO(data),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    if method != "GET":
        environ |= {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(data))}
    return environ | {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in sent.items()}


def require(method: str, path: str, body: Json = None, *, role: str = "", **headers: str) -> Doc:
    """Return the document of a route. Raise RefusedCall."""
    answer = ask(method, path, body, role=role, **headers)
    if answer.status >= 400:
        g.problem = answer.code
        raise RefusedCall(answer)
    return answer.doc


def read_document(declaration: type[Document], path: str, *, role: str = "") -> Document:
    """Return the document of a route, as `declaration` declares it. Raise RefusedCall."""
    return cast(Document, require("GET", path, role=role))
