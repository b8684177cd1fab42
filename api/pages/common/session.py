"""Shared by all pages: session cookies, signed forms, and rendering.

A page identifies people by a cookie. The API ignores this cookie. Every form carries a signature for one visitor and
one action.
"""

from __future__ import annotations

import functools
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from flask import Response, g, request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from marshmallow import Schema, ValidationError

from api.http import i18n, problems, public_url, rate_limits
from api.http.problems import Problem
from api.openapi.smorest import validation_problem
from api.pages.common.clocks import Times
from api.pages.common.form_texts import count_units
from api.pages.common.preferences import current_preferences, load_preferences
from api.pages.common.static_files import FOLDER, hash_build, static_address
from api.services import services
from domain.accounts.accounts import Account
from domain.accounts.credential_tables import CredentialOwner
from domain.accounts.sessions import ABSOLUTE
from domain.errors import AnnalsError
from domain.kernel.text.message_catalog import Message
from domain.service.principals import Principal
from domain.types import Doc, Json

View = TypeVar("View", bound=Callable[..., Any])

SESSION_COOKIE, VISIT_COOKIE, DEVICE_COOKIE = "annals_session", "annals_visit", "annals_device"
GUEST_COOKIE = "annals_guest"
"""Cookie names. Over TLS they have the prefix `__Host-`: no other host and no other path can set them."""

DEVICE_SECONDS = 365 * 86_400
"""Lifetime of the device cookie in seconds."""

GUEST_SECONDS = 60 * 86_400
"""Lifetime of the cookie with a guest's tokens in seconds."""

MOST_GUEST_TABLES = 4
"""Tables of a guest in a browser: the newest ones."""

SIGNATURE_FIELD = "form"
"""Form field with the signature."""

FORM = "application/x-www-form-urlencoded"
HTML = "text/html; charset=utf-8"

_TARGETS = re.compile(
    r"/|/play|/desk(/all)?|/games(/new|/invitations|/rematch|/[0-9a-f-]{36}(/around)?)?|/tournaments(/code|/[0-9a-f-]{36}(/around|/desk)?)?"
    r"|/oauth/authorize|/device|/account(/security|/notices|/programs|/people|/data)?|/moderation"
    r"|/players/[A-Za-z0-9_-]{1,80}",
    re.ASCII,
)
"""Paths allowed as targets after a login."""

_GUEST_TOKEN = r"[0-9a-f-]{36}~(?:[0-9]{1,2}|director)~anl_[A-Za-z0-9_-]{10,200}"  # noqa: S105 - a shape
_GUEST = re.compile(rf"{_GUEST_TOKEN}(?:\.{_GUEST_TOKEN})*", re.ASCII)

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; {script}form-action 'self'{targets}; "
    "frame-ancestors 'none'; base-uri 'none'"
)
_GAMES_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types annals annals-worker"
)
"""Policy of the pages of games."""


# --- visitor ---------------------------------------------------------------------------------------------------


def page(view: View, *, signed: bool = True, media: str = FORM) -> View:
    """Wrap a view as a page: identify the visitor, check the submitted form, and render problems.

    With `signed=False`, any form is accepted: the URL itself grants the action. `media`: the media type of the form.
    """

    @functools.wraps(view)
    def render(*args: Any, **kwargs: Any) -> Response:
        try:
            g.owner = _find_session_owner()
            load_preferences(g.owner)
            rate_limits.charge_request(g.owner.account if g.owner else None)
            if request.method == "POST" and signed:
                _check_form(media)
            response: Response = view(*args, **kwargs)
        except Problem as problem:
            response = problem_page(problem)
        except AnnalsError as error:
            response = problem_page(problems.problem_of_error(error))
        return _set_guest_cookie(_set_visit_cookie(response))

    vars(render)["any_query"] = True
    return render  # type: ignore[return-value] # the view with the same signature


def _cookie(name: str) -> str:
    return f"__Host-{name}" if public_url.is_secure() else name


def _find_session_owner() -> CredentialOwner | None:
    token = request.cookies.get(_cookie(SESSION_COOKIE), "")
    found = services().account_store.credentials.find_owner(token) if token.startswith("ans_") else None
    return found if found and found.session else None


def session_token() -> str:
    """Return the token of the visitor's session, or an empty string."""
    return request.cookies.get(_cookie(SESSION_COOKIE), "") if g.owner else ""


def session_owner() -> CredentialOwner | None:
    """Return the owner of the visitor's session, or None."""
    found: CredentialOwner | None = g.owner
    return found


def current_account() -> Account:
    """Return the visitor's account, on pages with a required login. Raise Problem."""
    found = services().account_store.accounts.find(g.owner.account)
    if found is None:
        raise Problem("unknown_account")
    return found


def set_login_cookies(response: Response, token: str, device: str) -> Response:
    """Set the cookies of a new session and of the browser's device token."""
    set_session_cookie(response, token)
    _set_cookie(response, DEVICE_COOKIE, device, DEVICE_SECONDS)
    return response


def set_session_cookie(response: Response, token: str) -> Response:
    """Set the session cookie."""
    _set_cookie(response, SESSION_COOKIE, token, int(ABSOLUTE / 1000))
    return response


def set_table_cookie(response: Response, name: str, value: str, path: str, seconds: int) -> Response:
    """Set a cookie for the pages of one table, which no other site sends; an empty value deletes it."""
    response.set_cookie(
        _table_cookie(name),
        value,
        seconds if value else 0,
        path=path,
        secure=public_url.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    return response


def table_cookie(name: str) -> str:
    """Return the value of a cookie for the pages of one table, or an empty string."""
    return request.cookies.get(_table_cookie(name), "")


def _table_cookie(name: str) -> str:
    """Return the full name: `__Host-` would require the path of all pages."""
    return f"__Secure-{name}" if public_url.is_secure() else name


def device_token() -> str:
    """Return the device token of an earlier login: with it, others' failed logins do not slow this one."""
    return request.cookies.get(_cookie(DEVICE_COOKIE), "")[:100]


def clear_session_cookie(response: Response) -> Response:
    """Delete the session cookie."""
    _set_cookie(response, SESSION_COOKIE, "", 0)
    return response


def _set_cookie(response: Response, name: str, value: str, seconds: int | None) -> None:
    # Lax: redirects from OAuth clients must find the session; changes need a signed form anyway.
    response.set_cookie(
        _cookie(name), value, seconds, path="/", secure=public_url.is_secure(), httponly=True, samesite="Lax"
    )


# --- guests ----------------------------------------------------------------------------------------------------


def guest_tables() -> dict[str, dict[str, str]]:
    """Return the tokens of a visitor without an account, by game and role: the oldest table first."""
    if "guest" not in g:
        g.guest = {} if g.get("owner") else _read_guest_cookie(request.cookies.get(_cookie(GUEST_COOKIE), ""))
    found: dict[str, dict[str, str]] = g.guest
    return found


def _read_guest_cookie(text: str) -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for each in text.split(".")[: 2 * MOST_GUEST_TABLES] if _GUEST.fullmatch(text) else ():
        game, role, token = each.split("~")
        tables.setdefault(game, {})[role] = token
    return tables


def keep_guest_token(game: str, role: str, token: str) -> None:
    """Keep a token of a visitor without an account in the browser, and forget the oldest table."""
    tables = guest_tables()
    tables.setdefault(game, {})[role] = token
    g.guest = dict([*tables.items()][-MOST_GUEST_TABLES:])
    g.guest_changed = True


def forget_guest_tables() -> None:
    """Forget all tokens of a visitor with an account."""
    g.guest = {}
    g.guest_changed = _cookie(GUEST_COOKIE) in request.cookies


def guest_principals(game: str) -> dict[str, Principal]:
    """Return the valid tokens of a visitor without an account at a table, with their principals."""
    known = g.setdefault("guest_roles", {})
    if game not in known:
        find = services().seat_tokens.authenticate
        found = {token: find(token) for token in guest_tables().get(game, {}).values()}
        known[game] = {token: each for token, each in found.items() if each is not None and each.game == game}
    principals: dict[str, Principal] = known[game]
    return principals


def is_stranger(game: str) -> bool:
    """Return True for a visitor without an account or a guest's token at a table: forms ask for a login first."""
    return session_owner() is None and not guest_principals(game)


def _set_guest_cookie(response: Response) -> Response:
    """Set the cookie of a guest if the tokens have changed."""
    if not g.get("guest_changed"):
        return response
    text = ".".join(
        f"{game}~{role}~{token}" for game, tokens in guest_tables().items() for role, token in tokens.items()
    )
    _set_cookie(response, GUEST_COOKIE, text, GUEST_SECONDS if text else 0)
    return response


# --- forms -----------------------------------------------------------------------------------------------------


def form_owner() -> str:
    """Return the owner of a form: the session, or this browser's visit before a login."""
    if g.owner:
        return f"session {g.owner.credential}"
    if "visit" not in g:
        known = request.cookies.get(_cookie(VISIT_COOKIE), "")
        g.visit = known if len(known) == 43 else secrets.token_urlsafe(32)
    return f"visit {g.visit}"


def _set_visit_cookie(response: Response) -> Response:
    """Set the visit cookie if this response uses a new visit."""
    if "visit" in g and request.cookies.get(_cookie(VISIT_COOKIE)) != g.visit:
        _set_cookie(response, VISIT_COOKIE, g.visit, None)
    return response


def _sign_form(action: str) -> str:
    return services().account_store.signed_forms.sign(form_owner(), action)


def _check_form(media: str) -> None:
    """Raise Problem for a form from another site, or signed for another visitor or action."""
    foreign = request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")
    if request.mimetype not in (FORM, media):
        raise Problem("unsupported_media_type")
    if foreign or not services().account_store.signed_forms.is_signed(
        form_owner(), request.path, request.form.get(SIGNATURE_FIELD, "")
    ):
        raise Problem("form_stale")


def load_form(schema: Schema, **values: Json) -> Doc:
    """Return form values checked by the API's schema. Raise Problem."""
    try:
        found: Doc = schema.load(values)
    except ValidationError as error:
        raise validation_problem(error.messages) from error
    return found


def parse_json_object(answer: str) -> Doc:
    """Return a JSON object sent by a page's script, or an empty one for anything else."""
    try:
        found = msgspec.json.decode(answer)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def safe_target(target: str) -> str:
    """Return the path to go to after a login, if it is one of our pages; else the account page."""
    parts = urlsplit(target)
    is_own = (
        target.startswith("/")
        and not parts.scheme
        and not parts.netloc
        and _TARGETS.fullmatch(parts.path)
        and "\\" not in target
    )
    return target if is_own and target.isprintable() and target.isascii() else "/account"


def current_url() -> str:
    """Return the path and query of this page."""
    return request.full_path.rstrip("?")


def redirect(target: str) -> Response:
    """Redirect to another of our pages."""
    return Response(status=303, headers={"Location": target})


# --- rendering -------------------------------------------------------------------------------------------------


@functools.cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["count_units"] = count_units
    found.globals["static"] = static_address
    return found


def _translate(lang: str, message: str | Message, **members: Json) -> str:
    if members or isinstance(message, Message):
        return i18n.translate(Message(message, **members), lang)
    return _translate_words(lang, message)


@functools.lru_cache(2000)  # a page has some seventy of them
def _translate_words(lang: str, message: str) -> str:
    return i18n.translate(Message(message), lang)


def render_page(
    template: str, status: int = 200, /, *, targets: tuple[str, ...] = (), script: bool = False, **values: object
) -> Response:
    """Render a page in the client's language.

    Forms may lead to this service and on to `targets`. Without `script`, no script may run.
    """
    lang = i18n.request_language()
    context: dict[str, object] = {
        "lang": lang,
        "say": functools.partial(_translate, lang),
        "stamp": functools.cache(_sign_form),  # most forms of a page have one path
        "me": current_account() if g.get("owner") else None,
        "is_guest": bool(guest_tables()),
        "may_register": services().settings.registration == "open",
        "problem": None,
        "script": script,
        "wide": False,
        "app": False,
        "worker": services().settings.worker,
        "here": current_url() if request.method == "GET" else request.path,
        "refresh": 0,
        "refreshed": current_url(),  # without a fragment: to the same address with one, browsers only scroll
        "preferences": current_preferences(),
    }
    response = Response(
        _templates().get_template(f"{template}.html").render(context | values), status, content_type=HTML
    )
    scripts = "script-src 'self'; " if script else ""
    policy = _POLICY.format(script=scripts, targets="".join(f" {target}" for target in targets))
    response.headers["Content-Security-Policy"] = policy
    return response


def render_fragment(template: str, lang: str, /, **values: Any) -> str:
    """Render a part of a page that is the same for all its readers."""
    say = functools.partial(_translate, lang)
    return _templates().get_template(f"{template}.html").render({"say": say, **values})


def render_games_page(template: str, status: int = 200, /, **values: Any) -> Response:
    """Render a page of games, under the policy of these pages."""
    saved = Times.of_visitor().point(int(time.time() * 1000))
    response = render_page(template, status, app=True, saved=saved, **values)
    response.headers["Content-Security-Policy"] = _GAMES_POLICY
    response.headers["Annals-Reader"] = _mark_reader()
    response.headers["Annals-Build"] = hash_build()
    return response


def _mark_reader() -> str:
    """Return a mark of the reader, by which the service worker keeps pages of different people apart."""
    owner = session_owner()
    guest = request.cookies.get(_cookie(GUEST_COOKIE), "")
    return services().account_store.signed_forms.mark_reader(f"session {owner.credential}" if owner else guest)


def render_macro(template: str, macro: str, lang: str, value: object, **context: object) -> Markup:
    """Return what a macro of a template makes of a value, in a language. It knows neither request nor visitor."""
    context |= {"lang": lang, "say": functools.partial(_translate, lang)}
    module = _templates().get_template(f"{template}.html").make_module(context)
    found: Markup = getattr(module, macro)(value)
    return found


def render_svg(template: str, **values: object) -> str:
    """Return a picture of its own: it loads nothing, and has its own style."""
    return _templates().get_template(template).render(**values)


def svg_response(svg: str) -> Response:
    """Return a picture under the policy of pictures."""
    response = Response(svg, content_type="image/svg+xml")
    response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # other pages may show it: it is public
    return response


def png_response(png: bytes) -> Response:
    """Return a picture that other pages may show: it is public."""
    response = Response(png, content_type="image/png")
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def static_text(name: str) -> str:
    """Return a static file as text."""
    return (FOLDER / "static" / name).read_text("utf-8")


def problem_page(problem: Problem) -> Response:
    """Render a problem as a page."""
    response = render_page("problem", problem.status, problem=localize_problem(problem))
    response.headers.extend({k: v for k, v in problem.headers.items() if k == "Retry-After"})
    return response


def show_problem_to_browsers(response: Response) -> Response:
    """Return a problem outside the API as a page if a browser asks, such as at a mistyped address."""
    is_ours = response.mimetype == problems.MEDIA and not request.path.startswith("/v1/")
    if not is_ours or "text/html" not in [kind for kind, _ in request.accept_mimetypes]:
        return response
    if "owner" not in g:
        g.owner = None
        with suppress(AnnalsError):  # a store that is away still gets its page
            g.owner = _find_session_owner()
            load_preferences(g.owner)
    shown = render_page("problem", response.status_code, problem=response.get_json())
    shown.headers.extend({k: v for k, v in response.headers.items() if k in ("Retry-After", "Allow")})
    shown.headers["Cache-Control"] = "no-store"
    return _set_visit_cookie(shown)


def localize_problem(problem: Problem) -> Doc:
    """Return a problem in the client's language, and note its code for the request log."""
    g.problem = problem.code
    return problem.to_document(lang=i18n.request_language())
