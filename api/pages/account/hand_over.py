"""Pages to move a login to another device: a link and its QR code here, one press there.

The secret stands behind the `#` of the link: no browser sends this part. It arrives in the body of a form.
"""

from __future__ import annotations

from flask import Response, request

from api.http import public_url, rate_limits, security_log
from api.http.problems import Problem, problem_of_error
from api.pages.account.login import LABEL, log_in_first, prove_first
from api.pages.common.qr_codes import build_qr_code
from api.pages.common.session import (
    localize_problem,
    redirect,
    render_page,
    session_owner,
    set_login_cookies,
)
from api.services import services
from domain.accounts.session_links import LASTS
from domain.accounts.sessions import SessionRequest
from domain.errors import AccountError
from domain.service.database import Statement

HERE, THERE = "/account/hand-over", "/hand-over"
"""Address of the page with a link, and of the page behind the link."""

_MOST_SIGNS = 400


def show_link() -> Response:
    """Show a link and its QR code, to log another device in."""
    owner = session_owner()
    if owner is None:
        return log_in_first()
    if form := prove_first("/account"):
        return form
    made = security_log.audit_statements(owner.account, "link_made", rate_limits.client_network())
    secret = services().account_store.session_links.issue(owner.account, owner.credential, made)
    link = f"{public_url.base_url()}{THERE}#{secret}"
    return render_page("hand_over", link=link, code=build_qr_code(link), minutes=LASTS // 60_000)


def take_over() -> Response:
    """Ask for a link's secret, and log this browser in by it."""
    if request.method == "GET":
        return _ask_secret()
    before = session_owner()
    try:
        account, token = _use(request.form.get("secret", ""))
    except AccountError as error:
        problem = problem_of_error(error)
        return _ask_secret(Problem(problem.code, "This link is over, or it was used before. Make a new one."))
    sessions = services().account_store.sessions
    if before is not None:
        sessions.end(before.account, before.credential)
    return set_login_cookies(redirect("/"), token, sessions.make_device_token(account))


def _use(typed: str) -> tuple[str, str]:
    """Return the account and the new session's token; a whole link is typed as well. Raise AccountError."""

    def audit(account: str) -> list[Statement]:
        return [*security_log.audit_statements(account, "link_used", rate_limits.client_network(), LABEL)]

    secret = typed[:_MOST_SIGNS].rpartition("#")[2].strip()
    wanted = SessionRequest("", LABEL, (), rate_limits.address_family())
    return services().account_store.session_links.use(secret, wanted, audit)


def _ask_secret(problem: Problem | None = None) -> Response:
    doc = localize_problem(problem) if problem else None
    return render_page("take_over", problem.status if problem else 200, script=True, problem=doc)
