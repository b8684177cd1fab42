"""Calls of the API's own routes by pages, in this process, with the rights of the visitor's session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flask import current_app, g, request
from werkzeug.test import Client

from api.http import i18n
from api.http.problems import CODES, Problem
from api.openapi.smorest import ROLE_HEADER
from api.pages.session import session_token
from api.services import Doc, unwrap_proxy
from domain.types import Json


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


def ask(method: str, path: str, body: Json = None, *, role: str = "", **headers: str) -> Answer:
    """Return the API's answer to a request in the visitor's name. `role` selects one of several roles at a table."""
    sent = {name.replace("_", "-"): value for name, value in headers.items() if value}
    sent["Accept-Language"] = i18n.request_language()
    sent |= {"Authorization": f"Bearer {token}"} if (token := session_token()) else {}
    sent |= {ROLE_HEADER: role} if role else {}
    return _ask(method, path, body, sent)


def _ask(method: str, path: str, body: Json, sent: dict[str, str]) -> Answer:
    options: dict[str, Any] = {"environ_base": {"REMOTE_ADDR": request.remote_addr or ""}}
    options |= {} if method == "GET" else {"json": {} if body is None else body}
    app = unwrap_proxy(current_app)
    with app.app_context():  # the page's `g` is not the call's
        response = Client(app, use_cookies=False).open(
            f"/v1{path}", method=method, base_url=f"{request.scheme}://localhost/", headers=sent, **options
        )
        is_json = (response.mimetype or "").endswith("json")
        doc = response.get_json(force=True) if is_json else {"text": response.get_data(as_text=True)}
    return Answer(response.status_code, doc, dict(response.headers))


def require(method: str, path: str, body: Json = None, *, role: str = "", **headers: str) -> Doc:
    """Return the document of a route. Raise RefusedCall."""
    answer = ask(method, path, body, role=role, **headers)
    if answer.status >= 400:
        g.problem = answer.code
        raise RefusedCall(answer)
    return answer.doc
