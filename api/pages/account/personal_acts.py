"""Forms for the acts of an account: each is one request of the API, and its page shows a refusal.

A page names its acts. A refused form keeps what was typed, with the reason beside its field. After an act the page is
loaded anew and says so. Acts that need a recent password have their forms once it is confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flask import Response, g, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.account.login import show_login, show_proof
from api.pages.common import clocks
from api.pages.common.form_keys import new_form_key, read_form_key
from api.pages.common.in_process import Answer, RefusedCall, ask
from api.pages.common.session import localize_problem, redirect, render_games_page, session_owner
from api.services import services
from domain.accounts.sessions import FRESH
from domain.kernel.text.message_catalog import Message
from domain.types import Doc

FIELDS = {
    "weak_password": "password",
    "name_taken": "name",
    "unfit_name": "name",
    "unknown_account": "name",
    "webhook_refused": "url",
}
"""Code of a refusal -> its field of the form."""

_PLAYER = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)
_GAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


class ActRequest(NamedTuple):
    """A request of the API. `role`: that of the visitor at its table."""

    method: str
    path: str
    body: Doc | None = None
    role: str = ""


@dataclass(frozen=True)
class Refusal:
    """A refused act: the problem, and messages by field of its form."""

    act: str
    doc: Doc
    status: int
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ActPage:
    """A page with forms. `done`: act -> sentence after it. `shown`: act -> page with a secret."""

    address: str
    acts: Mapping[str, Callable[[], ActRequest]]
    done: Mapping[str, Message]
    show: Callable[[ActPage, Refusal | None], Response]
    shown: Mapping[str, Callable[[Answer], Response]] = field(default_factory=dict)
    fields: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Act and code of a refusal -> field, beside FIELDS."""
    is_public: bool = False
    """True if also visitors without a login see the page."""

    def respond(self, act: str = "") -> Response:
        """Show the page, or carry out the act of its form, named by the address."""
        is_asked = request.method == "GET"
        if session_owner() is None and not (self.is_public and is_asked):
            return show_login(self.address)
        if is_asked:
            return redirect(self.address) if act else self.show(self, None)
        return self._act(act)

    def _act(self, act: str) -> Response:
        key = read_form_key()
        if act not in self.acts:
            raise Problem("form_stale")
        wanted = self.acts[act]()
        answer = ask(wanted.method, wanted.path, wanted.body, role=wanted.role, Idempotency_Key=key)
        if answer.code == "password_required":
            return show_proof(self.address)
        if answer.status >= 400:
            return self.show(self, self._refuse(act, answer))
        if act in self.shown:
            return self.shown[act](answer)
        return redirect(f"{self.address}?done={act}")

    def _refuse(self, act: str, answer: Answer) -> Refusal:
        """Return the refusal of an act, with its messages beside the fields of the form."""
        g.problem = answer.code
        doc = localize_problem(RefusedCall(answer))
        found = {each["at"].split("/")[1]: each["message"] for each in doc.get("errors", ()) if each["at"].count("/")}
        faults = {name: text for name, text in found.items() if name}
        name = self.fields.get((act, answer.code)) or FIELDS.get(answer.code, "")
        if name and not faults:
            faults[name] = doc.get("detail") or f"{doc['title']}."
        return Refusal(act, doc, answer.status, faults)


def render_acts(template: str, page: ActPage, refusal: Refusal | None, /, **values: Any) -> Response:
    """Render a page with forms; after a refusal, its form keeps the sent values."""
    faults = refusal.faults if refusal else {}
    done = page.done.get(request.args.get("done", ""))
    return render_games_page(
        template,
        refusal.status if refusal else 200,
        address=page.address,
        done=i18n.translate(done, i18n.request_language()) if done else "",
        refused=refusal.act if refusal else "",
        sent=request.form if refusal else {},
        faults=faults,
        key=new_form_key(),
        is_fresh=is_fresh(),
        times=clocks.Times.of_visitor(),
        problem=refusal.doc if refusal and not set(faults) & set(request.form) else None,
        **values,
    )


def is_fresh() -> bool:
    """Return True if the visitor's password was checked recently."""
    owner = session_owner()
    return owner is not None and services().account_store.clock() - owner.proved < FRESH


# --- fields ----------------------------------------------------------------------------------------------------


def read_id(name: str = "id") -> str:
    """Return an id in a hidden field. Raise Problem for a foreign form."""
    return _read_matching(_ID, name)


def read_player(name: str = "player") -> str:
    """Return a player's id in a hidden field. Raise Problem for a foreign form."""
    return _read_matching(_PLAYER, name)


def read_game(name: str = "game") -> str:
    """Return a game's id in a hidden field. Raise Problem for a foreign form."""
    return _read_matching(_GAME, name)


def _read_matching(pattern: re.Pattern[str], name: str) -> str:
    text = request.form.get(name, "")
    if not pattern.fullmatch(text):
        raise Problem("form_stale")
    return text


def require_sure(name: str) -> None:
    """Raise Problem unless the box of an irreversible act is ticked: browsers ask for it."""
    if request.form.get(name) != "yes":
        raise Problem("form_stale")
