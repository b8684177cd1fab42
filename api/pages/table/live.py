"""Streams of pages: they say that a table has changed, or one of a list, and the page fetches itself anew."""

from __future__ import annotations

from flask import Response

from api import authorization
from api.documents.my_tables import TableOwner
from api.documents.talk import find_stream_reader
from api.http.problems import Problem
from api.pages.common.in_process import require
from api.pages.common.session import session_owner
from api.pages.table.table_page import find_role
from api.routes.stream import make_page_subscriber, start_stream
from api.services import services
from api.streams.game_source import ChangeSource, ModeratorPermit, PageViewKey, RolePermit
from api.streams.source import Permit
from api.streams.table_sources import ONLY_VIEW, AccountPermit, ListChangeSource


def follow_own_tables() -> Response:
    """Stream the changes of the visitor's tables to a page with their list. Raise Problem."""
    owner = session_owner()
    if owner is None:
        raise Problem("unauthenticated")
    source = ListChangeSource(services(), TableOwner(account=owner.account))
    return start_stream(make_page_subscriber(source, ONLY_VIEW, AccountPermit(services(), owner)), owner.account)


def follow_table(game: str) -> Response:
    """Stream the changes of a table to its page.

    A stream may end at any time, and the page opens it again. Its events have no contents: `version` and `votes`, a
    digest of the open questions; `talk`, the place of the last message. A page in the background closes it.
    """
    principal, _ = find_role(game)
    table = require("GET", f"/games/{game}", role=str(principal.role) if principal else "")
    owner = session_owner()
    permit: Permit | None = RolePermit(services(), principal) if principal else None
    if permit is None and owner and authorization.is_moderator(owner):  # who sees past a delay, as on the page
        permit = ModeratorPermit(services(), owner)
    reader = find_stream_reader(game, principal)
    subscriber = make_page_subscriber(ChangeSource(services(), game), PageViewKey(permit is not None, reader), permit)
    plays = principal is not None and principal.seat is not None and table["status"] == "running"
    return start_stream(subscriber, owner.account if owner else None, plays=plays)
