"""The answers of a half-made move between two pages: sealed, in a cookie of the pages of their table."""

from __future__ import annotations

from flask import Response

from api.pages.common.session import form_owner, is_stranger, redirect, set_table_cookie, table_cookie
from api.pages.decision.move_choices import Pick, Picks
from api.pages.table.table_page import TablePage
from api.services import services
from domain.types import Doc

COOKIE = "annals_picks"

SECONDS = 86_400
"""Longest life of a half-made move, seconds."""

MOST_BYTES = 3800
"""Most bytes of the sealed answers: a browser takes 4096 with name and attributes."""


def keep_picks(page: TablePage, picks: Picks, position: int = 0) -> Response | None:
    """Return the way to the next question, with the answers so far in the cookie, or None if they do not fit.

    `position`: wait until the views contain it.
    """
    response = redirect(f"{page.address}?wait={position}#move" if position else page.question_address)
    if picks.replaces is None and not picks.at and all(pick.forced for pick in picks.trail):
        return forget_picks(response, page)
    sealed = services().account_store.signed_forms.seal(form_owner(), _use(page), dump_picks(picks), SECONDS * 1000)
    if len(sealed) > MOST_BYTES:
        return None
    return set_table_cookie(response, COOKIE, sealed, page.address, SECONDS)


def dump_picks(picks: Picks) -> Doc:
    """Return answers as a cookie has them."""
    trail = [[pick.field, pick.value, pick.forced] for pick in picks.trail]
    return {"decision": picks.decision, "key": picks.key, "trail": trail, "replaces": picks.replaces, "at": picks.at}


def load_picks(state: Doc) -> Picks:
    """Return the answers in a cookie."""
    trail = tuple(Pick(field, value, forced) for field, value, forced in state["trail"])
    return Picks(state["decision"], state["key"], trail, state["replaces"], tuple(state.get("at", ())))


def recall_picks(page: TablePage) -> Picks | None:
    """Return the answers in the cookie, perhaps to an earlier decision, or None."""
    text = table_cookie(COOKIE)
    if not text or is_stranger(page.game):
        return None
    state = services().account_store.signed_forms.open(form_owner(), _use(page), text)
    return None if state is None else load_picks(state)


def forget_picks(response: Response, page: TablePage) -> Response:
    """Delete the cookie if there is one."""
    return set_table_cookie(response, COOKIE, "", page.address, 0) if table_cookie(COOKIE) else response


def _use(page: TablePage) -> str:
    return f"picks|{page.game}|{page.role}"
