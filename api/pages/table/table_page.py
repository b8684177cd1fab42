"""The documents of a table as a visitor may read them, in one of the visitor's roles."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from flask import request

from api.documents.playing_times import Length, find_length
from api.http import i18n
from api.pages.common.in_process import require
from api.pages.common.labels import Labels, name_people
from api.pages.common.numbers import query_number
from api.pages.common.session import guest_principals, session_owner
from api.pages.decision.move_choices import Builder
from api.pages.decision.order_sheet import SheetShown, show_sheet
from api.services import services
from domain.kernel.game.seat_players import is_bot
from domain.service.principals import Principal
from domain.types import MAX_INT, Doc


@dataclass
class TablePage:
    """The documents of a table as the visitor may read them."""

    game: str
    role: str
    roles: Sequence[str]
    summary: Doc
    board: Doc
    now: int
    labels: Labels
    office: str = ""
    """The visitor's role as an officer, or empty."""

    @property
    def seat(self) -> int | None:
        """Return the visitor's seat in this role."""
        return int(self.role) if self.role.isdecimal() else None

    @property
    def decision(self) -> Doc | None:
        """Return the decision on top."""
        return next(iter(self.board.get("decisions", ())), None)

    @property
    def must_decide(self) -> bool:
        """Return True if the visitor's seat owes the open decision."""
        return self.decision is not None and self.seat in self.decision["must"]

    @property
    def may_decide(self) -> bool:
        """Return True if the visitor's seat may answer the open decision."""
        return self.decision is not None and self.seat is not None and self.seat in self.decision["may"]

    @property
    def waiting(self) -> str:
        """Return the names of the seats that are waited for."""
        must = self.decision["must"] if self.decision else ()
        return self.labels.texts.grammar.join_list([self.labels.seat(seat) for seat in must])

    @property
    def vacancies(self) -> list[Doc]:
        """Return the seats of the running game for the visitor to take: free ones, or their own after misses."""
        if self.summary["status"] != "running":
            return []
        seats = [each for each in self.summary["seats"] if not each["player"] or each.get("absent")]
        return [each for each in seats if self.seat in (None, each["seat"])]

    def tell(self, entry: Doc) -> list[str]:
        """Return the sentences of an entry of the chronicle: what all may know, then what the visitor alone knows."""
        own = [line for part in entry.get("own", ()) for line in part["text"]]
        return [line for line in (*entry.get("text", ()), *own) if line]

    @property
    def is_alone(self) -> bool:
        """Return True if nobody else plays at the running table: the other seats are vacant, or have bots."""
        if self.summary["status"] != "running" or self.seat is None:
            return False
        others = [each for each in self.summary["seats"] if each["seat"] != self.seat]
        return all(each["vacant"] or not each["player"] or is_bot(each["player"]) for each in others)

    @property
    def takes_advice(self) -> bool:
        """Return True if the visitor may ask the bot for a move of the open decision."""
        return self.must_decide and "tournament" not in self.summary and bool(self.summary.get("suggestions"))

    @property
    def length(self) -> Length | None:
        """Return the usual length of such a game, or None."""
        longest = max(self.summary["pace"]["seconds"].values(), default=0)
        package = self.labels.rules.package
        return find_length(self.summary["ruleset"], package, len(self.summary["seats"]), longest)

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"/games/{self.game}"

    @property
    def question_address(self) -> str:
        """Return the address of the question to the visitor in this role."""
        return f"{self.address}{f'?as={self.role}' if len(self.roles) > 1 else ''}#move"

    @property
    def audit(self) -> str:
        """Return the address of the proof of the draws, or an empty text where not everybody may read it."""
        return f"/v1/games/{self.game}/audit" if self.summary["listing"] == "public" else ""

    @property
    def builder(self) -> Builder:
        """Return the move builder."""
        return Builder(self.game, self.role, self.labels)

    def show_sheet(self) -> SheetShown | None:
        """Return the visitor's order sheet, or None."""
        own = self.board.get("own")
        if self.summary["status"] != "running" or self.decision is None or self.seat is None or not own:
            return None
        return show_sheet(self.labels, own, self.decision, self.seat, secrets.token_urlsafe(18))

    def waits_for_programs(self) -> bool:
        """Return True if only bots and the engine are waited for."""
        if self.summary["status"] != "running" or self.decision is None or self.must_decide:
            return False
        players = {each["seat"]: each["player"] for each in self.summary["seats"]}
        return all(is_bot(players[seat]) for seat in self.decision["must"])


def load_table_page(game: str, wanted: str = "", position: int = 0) -> TablePage:
    """Return the documents of a table, in the wanted role if the visitor has it. Raise RefusedCall.

    `position`: wait until the views contain it.
    """
    principal, principals = find_role(game, wanted)
    role, roles = str(principal.role) if principal else "", [str(each.role) for each in principals]
    office = principal.office if principal else ""
    wait = position or query_number("wait", MAX_INT)
    query = f"?wait={wait}" if wait else ""
    summary = require("GET", f"/games/{game}{query}", role=role)
    labels = Labels.of_table(summary, i18n.request_language(), principal.seat if principal else None)
    summary["names"] = name_people(summary, i18n.request_language())
    if summary["status"] == "open":
        return TablePage(game, role, roles, summary, {}, 0, labels, office)
    resumed = require("GET", f"/games/{game}/resume{query}", role=role)
    return TablePage(game, role, roles, summary, resumed["board"], resumed["now"], labels, office)


def find_role(game: str, wanted: str = "") -> tuple[Principal | None, Sequence[Principal]]:
    """Return the visitor's role at a table, and all of them: the seat first, unless the request names another.

    The API selects by a header, so the page does not have to guess from its answers.
    """
    owner, s = session_owner(), services()
    if owner is None:
        found = [*guest_principals(game).values()]
    else:
        players = s.account_store.accounts.list_players(owner.account)
        found = s.seat_tokens.list_principals(game, players, owner.account, owner.credential)
    roles = sorted(found, key=lambda each: (each.seat is None, str(each.role)))
    wanted = wanted or request.values.get("as", "")
    return next((each for each in roles if str(each.role) == wanted), next(iter(roles), None)), roles
