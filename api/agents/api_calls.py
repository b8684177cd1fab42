"""Calls of the HTTP API by tools, in this process or across the network."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlencode

from domain.types import Doc, Json

DIRECTOR = "director"

MOST_ROLES = 100
"""Tables per caller with a remembered role."""


@dataclass(frozen=True)
class ApiAnswer:
    """Answer of a route of the API."""

    status: int
    doc: Doc
    """The document; of other media, its text as `text`."""
    retry_after: str = ""
    """Seconds to wait after a refusal, or an empty string."""

    @property
    def code(self) -> str:
        """Return the code of a refusal, or an empty string."""
        return str(self.doc.get("code", "")) if self.status >= 400 else ""


class SendRequest(Protocol):
    """Sends one request below `/v1` with the caller's token."""

    def __call__(self, method: str, path: str, body: Json, headers: dict[str, str]) -> ApiAnswer:
        """Return the API's answer. Raise ConnectionError if there is none."""
        ...


class ToolRefusal(Exception):
    """The API refused a request of a tool."""

    def __init__(self, answer: ApiAnswer) -> None:
        super().__init__(answer.code)
        self.answer = answer


@dataclass
class ApiCalls:
    """The API as one caller sees it. With several roles at a table, a seat goes before the director."""

    send: SendRequest
    roles: dict[str, str] = field(default_factory=dict)
    """Table -> the caller's role, where it has several. Without it each request would be sent twice."""

    def get(self, path: str, *, game: str = "", role: str = "", **query: Json) -> Doc:
        """Return a document. Raise ToolRefusal."""
        sent = {name: value for name, value in query.items() if value is not None}
        return self._ask("GET", path + (f"?{urlencode(sent)}" if sent else ""), None, game, role)

    def write(
        self, path: str, body: Doc, *, game: str = "", role: str = "", method: str = "POST", version: int | None = None
    ) -> Doc:
        """Send a write with a key of its own, and return its answer. Raise ToolRefusal.

        With a version, the write counts only at that version of the table.
        """
        return self._ask(method, path, body, game, role, version)

    def _ask(self, method: str, path: str, body: Json, game: str, role: str, version: int | None = None) -> Doc:
        role = role or self.roles.get(game, "")
        headers = {"Annals-Role": role} if role else {}
        headers |= {} if version is None else {"If-Match": f'"{version}"'}
        if method != "GET":
            headers["Idempotency-Key"] = secrets.token_hex(16)
        answer = self.send(method, path, body, headers)
        if answer.code == "role_required" and not role:
            if len(self.roles) >= MOST_ROLES:
                self.roles.clear()
            self.roles[game] = _prefer_seat(answer.doc.get("roles", []))
            return self._ask(method, path, body, game, self.roles[game], version)
        if answer.code == "not_at_table" and self.roles.pop(game, "") == role != "":  # it had that role before
            return self._ask(method, path, body, game, "", version)
        if answer.status >= 400:
            raise ToolRefusal(answer)
        return answer.doc


def _prefer_seat(roles: list[Json]) -> str:
    """Return the first seat among the roles, else the first role."""
    seats = [each for each in roles if isinstance(each, int)]
    return str(min(seats)) if seats else str(roles[0] if roles else DIRECTOR)
