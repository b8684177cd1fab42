"""The desk of a tournament on a page: what waits for its officers, each with its button."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Response, g, request

from api.pages.account.login import log_in_first
from api.pages.common import clocks
from api.pages.common.form_keys import new_form_key
from api.pages.common.in_process import Answer, RefusedCall, read_document
from api.pages.common.session import localize_problem, render_games_page, session_owner
from api.pages.tournaments.tournament_pages import TournamentShown, load_tournament
from api.schemas.tournament_responses import EventDeskDoc, EventTableDoc
from api.services import services
from domain.compat import cached_property

SOON = 15 * 60_000
"""A table ends soon: time left, ms."""
SILENT = 24 * 3_600_000
"""A table is silent: time since its last move, ms."""


@dataclass(frozen=True)
class DeskShown:
    """The desk of a tournament, its tables by urgency."""

    doc: EventDeskDoc

    @cached_property
    def tables(self) -> list[EventTableDoc]:
        """The tables made: first those in need of somebody, then by their end and their last move."""
        made = [each for each in self.doc["tables"] if each["game"] or each["state"] == "elsewhere"]
        return sorted(made, key=lambda e: (not self.is_due(e), e["ends_at"] or 0, e["moved_at"] or 0))

    def is_due(self, table: EventTableDoc) -> bool:
        """Return True for a table in need of somebody: closed, without a player, silent, or near its end."""
        return (
            table["state"] in ("closed", "ruled")
            or bool(table.get("scores"))
            or bool(table["empty"])
            or self.ends_soon(table)
            or self.is_silent(table)
        )

    def ends_soon(self, table: EventTableDoc) -> bool:
        """Return True if the time limit of a table ends soon."""
        return table["ends_at"] is not None and table["ends_at"] - self.doc["now"] < SOON

    def is_silent(self, table: EventTableDoc) -> bool:
        """Return True for a table in play without a move for a day."""
        moved = table["moved_at"]
        return table["state"] == "playing" and moved is not None and self.doc["now"] - moved > SILENT

    @property
    def is_clear(self) -> bool:
        """Return True if nothing waits."""
        doc = self.doc
        lists = (
            self.tables,
            doc["steps"],
            doc["bids"],
            doc["appeals"],
            doc["byes"],
            doc["substitutes"],
            doc["withdrawals"],
        )
        return not (any(lists) or doc["check_in"]["missing"] or doc["nonces"])


def show_event_desk(tournament: str) -> Response:
    """Show what waits for the officers of a tournament."""
    if session_owner() is None:
        return log_in_first()
    return render_event_desk(load_tournament(tournament))


def render_event_desk(page: TournamentShown, refused: Answer | None = None) -> Response:
    """Render the desk, with the refusal of an act if there is one. Raise RefusedCall for others than officers."""
    if refused:
        g.problem = refused.code
    desk = read_document(EventDeskDoc, f"{page.address}/desk")
    asked = [each["player"] for each in desk["substitutes"]]
    return render_games_page(
        "tournament_desk",
        refused.status if refused else 200,
        wide=True,
        page=page,
        doc=page.doc,
        desk=desk,
        shown="desk",
        tables=DeskShown(desk),
        names=services().seat_tokens.texts.list_names(asked),
        sent=request.form if refused else {},
        key=new_form_key(),
        times=clocks.Times.of_visitor(desk["now"]),
        problem=localize_problem(RefusedCall(refused)) if refused else None,
    )
