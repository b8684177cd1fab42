"""What all pages share: who looks at them, what their forms carry, and how they are shown.

A page knows people by a cookie, which counts for pages alone: the API never looks at it. Whatever a form changes, the
form must have been given to the same visitor for the same thing.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson
from flask import Response, g, request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from marshmallow import Schema, ValidationError

from api.http import i18n, problems, public_url, rate_limits
from api.http.problems import Problem
from api.openapi.smorest import validation_problem
from api.services import Doc, services
from domain.accounts.accounts import Account
from domain.accounts.credential_tables import CredentialOwner
from domain.accounts.sessions import ABSOLUTE
from domain.errors import AnnalsError
from domain.kernel.text.message_catalog import Message
from domain.types import Json

View = TypeVar("View", bound=Callable[..., Any])

SESSION_COOKIE, VISIT_COOKIE, DEVICE_COOKIE = "annals_session", "annals_visit", "annals_device"
"""Cookies, whose names begin with `__Host-` where there is TLS: no other host and no other path can set them."""

DEVICE_SECONDS = 365 * 86_400
"""For how long a browser is known again, seconds."""

SIGNATURE_FIELD = "form"
"""The field of a form that shows that it is ours."""

FORM = "application/x-www-form-urlencoded"
HTML = "text/html; charset=utf-8"

REDIRECT_TARGETS = ("/oauth/authorize", "/device", "/account")
"""Pages to which one may be sent on after logging in."""

_POLICY = (
    "default-src 'none'; style-src 'self'; {script}form-action 'self'{targets}; frame-ancestors 'none'; base-uri 'none'"
)
_FOLDER = Path(__file__).parent


# --- who looks at it -------------------------------------------------------------------------------------------


def page(view: View, *, signed: bool = True) -> View:
    """A page: finds out who looks at it, checks the form that is sent, and shows problems as pages.

    Without `stamped` any form will do, since the address alone says what may be done.
    """

    @functools.wraps(view)
    def render(*args: Any, **kwargs: Any) -> Response:
        try:
            g.owner = _find_session_owner()
            rate_limits.charge_request(g.owner.account if g.owner else None)
            if request.method == "POST" and signed:
                _check_form()
            made: Response = view(*args, **kwargs)
        except Problem as problem:
            made = problem_page(problem)
        except AnnalsError as error:
            made = problem_page(problems.problem_of_error(error))
        return _set_visit_cookie(made)

    vars(render)["any_query"] = True
    return render  # type: ignore[return-value] # the view with the same signature


def _cookie(name: str) -> str:
    return f"__Host-{name}" if public_url.is_secure() else name


def _find_session_owner() -> CredentialOwner | None:
    token = request.cookies.get(_cookie(SESSION_COOKIE), "")
    found = services().account_store.credentials.find_owner(token) if token.startswith("ans_") else None
    return found if found and found.session else None


def session_owner() -> CredentialOwner | None:
    """Who is logged in."""
    found: CredentialOwner | None = g.owner
    return found


def current_account() -> Account:
    """The account of whoever is logged in, where one is needed."""
    found = services().account_store.accounts.find(g.owner.account)
    if found is None:
        raise Problem("unknown_account")
    return found


def set_login_cookies(made: Response, token: str, device: str) -> Response:
    """The same answer with the cookie of a session, and one by which the browser is known when it comes again."""
    set_session_cookie(made, token)
    _set_cookie(made, DEVICE_COOKIE, device, DEVICE_SECONDS)
    return made


def set_session_cookie(made: Response, token: str) -> Response:
    """The same answer with the cookie of a session."""
    _set_cookie(made, SESSION_COOKIE, token, int(ABSOLUTE / 1000))
    return made


def device_token() -> str:
    """What this browser was given when it was logged in before: others who guess at the name do not slow it down."""
    return request.cookies.get(_cookie(DEVICE_COOKIE), "")[:100]


def clear_session_cookie(made: Response) -> Response:
    """The same answer with nobody logged in."""
    _set_cookie(made, SESSION_COOKIE, "", 0)
    return made


def _set_cookie(made: Response, name: str, value: str, seconds: int | None) -> None:
    # Lax: whoever is sent here by a program of others is to be known, and nothing but forms of ours changes anything.
    made.set_cookie(
        _cookie(name), value, seconds, path="/", secure=public_url.is_secure(), httponly=True, samesite="Lax"
    )


# --- forms -----------------------------------------------------------------------------------------------------


def form_owner() -> str:
    """To whom a form is given: a session, or before there is one a visit of this browser."""
    if g.owner:
        return f"session {g.owner.credential}"
    if "visit" not in g:
        known = request.cookies.get(_cookie(VISIT_COOKIE), "")
        g.visit = known if len(known) == 43 else secrets.token_urlsafe(32)
    return f"visit {g.visit}"


def _set_visit_cookie(made: Response) -> Response:
    if "visit" in g and request.cookies.get(_cookie(VISIT_COOKIE)) != g.visit:
        _set_cookie(made, VISIT_COOKIE, g.visit, None)
    return made


def _sign_form(action: str) -> str:
    return services().account_store.signed_forms.sign(form_owner(), action)


def _check_form() -> None:
    """Raises Problem for what no form of ours has sent, or one that was given to somebody else."""
    foreign = request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")
    if request.mimetype != FORM:
        raise Problem("unsupported_media_type")
    if foreign or not services().account_store.signed_forms.is_signed(
        form_owner(), request.path, request.form.get(SIGNATURE_FIELD, "")
    ):
        raise Problem("form_stale")


def load_form(schema: Schema, **given: Json) -> Doc:
    """What a form has sent, checked as the API checks it; raises Problem."""
    try:
        found: Doc = schema.load(given)
    except ValidationError as error:
        raise validation_problem(error.messages) from error
    return found


def parse_json_object(answer: str) -> Doc:
    """What the script of a page has sent; nothing for anything else."""
    try:
        found = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def safe_target(target: str) -> str:
    """Where one is sent after logging in: one of our pages, whatever was asked for."""
    parts = urlsplit(target)
    ours = not parts.scheme and not parts.netloc and parts.path in REDIRECT_TARGETS and "\\" not in target
    return target if ours and target.isprintable() and target.isascii() else "/account"


def current_url() -> str:
    """The address of this page, to come back to."""
    return request.full_path.rstrip("?")


def redirect(target: str) -> Response:
    """To another of our pages."""
    return Response(status=303, headers={"Location": target})


# --- how it is shown -------------------------------------------------------------------------------------------


@functools.cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _translate(lang: str, message: str | Message, **members: Json) -> str:
    return i18n.translate(Message(message, **members), lang)


def render_page(
    template: str, status: int = 200, /, *, targets: tuple[str, ...] = (), script: bool = False, **values: object
) -> Response:
    """A page in the client's language. Its forms go here, or on to `targets`; without `script` no script runs."""
    lang = i18n.request_language()
    known: dict[str, object] = {
        "lang": lang,
        "say": functools.partial(_translate, lang),
        "stamp": _sign_form,
        "me": current_account() if g.get("owner") else None,
        "problem": None,
        "script": script,
    }
    made = Response(_templates().get_template(f"{template}.html").render(known | values), status, content_type=HTML)
    scripts = "script-src 'self'; " if script else ""
    policy = _POLICY.format(script=scripts, targets="".join(f" {target}" for target in targets))
    made.headers["Content-Security-Policy"] = policy
    return made


def problem_page(problem: Problem) -> Response:
    """A problem as a page."""
    made = render_page("problem", problem.status, problem=localize_problem(problem))
    made.headers.extend({k: v for k, v in problem.headers.items() if k == "Retry-After"})
    return made


def localize_problem(problem: Problem) -> Doc:
    """A problem in the client's language; the lines of the service know it by its code."""
    g.problem = problem.code
    return problem.to_document(lang=i18n.request_language())


def static_file(name: str, media: str) -> Response:
    """One of our files."""
    made = Response((_FOLDER / "static" / name).read_bytes(), content_type=media)
    made.headers["Cache-Control"] = "public, max-age=300"
    return made
