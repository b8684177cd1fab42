"""The documents of a table as a visitor may read them, in one of the visitor's roles."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from flask import request

from api.documents.playing_times import Length, find_length
from api.http import i18n
from api.pages.common.in_process import ask, require
from api.pages.common.labels import Labels, capital, mark_names, name_people
from api.pages.common.numbers import query_number
from api.pages.common.session import guest_principals, session_owner
from api.pages.decision.move_choices import Builder
from api.pages.decision.order_sheet import SheetShown, show_sheet
from api.pages.table.status_line import list_status
from api.services import services
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.message_catalog import Message
from domain.service.principals import Principal
from domain.types import MAX_INT, Doc

MOST_WAITED = 3
"""Players named in the bar."""

Page = TypeVar("Page", bound="TablePage")


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
    marked: Mapping[str, str] = field(default_factory=dict)
    """Name of a guest or bot -> its form on pages."""

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
        """Return the names of the seats that are waited for, or the number of many; the row of players marks them."""
        must = self.decision["must"] if self.decision else ()
        if len(must) > MOST_WAITED:
            told = Message("{count} players", count=len(must))
            return i18n.translate(told, self.labels.texts.lang)
        return self.labels.texts.grammar.join_list([self.labels.said_short(seat) for seat in must])

    @property
    def status_line(self) -> Sequence[tuple[str, str]]:
        """Return the figures for a decision: name and value."""
        return list(list_status(self.labels, self.board, self.seat))

    @property
    def holds_several(self) -> bool:
        """Return True if the visitor plays several seats."""
        return sum(role.isdecimal() for role in self.roles) > 1

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
        return [self.mark_names(line) for line in (*entry.get("text", ()), *own) if line]

    def tell_facts(self, entry: Doc) -> list[tuple[str, Doc | None]]:
        """Return the same sentences, each with the first fact that it tells, or None.

        Of a turn worked out from sheets the visitor's own part comes first: battles come before conquests.
        """
        found: list[tuple[str, Doc | None]] = []
        parts = (entry, *entry.get("own", ()))
        for part in reversed(parts) if entry["kind"] == "resolved" else parts:
            for line, place in zip(part.get("text", ()), part.get("tells", ()), strict=True):
                found += [(self.mark_names(line), None if place is None else part["facts"][place])] if line else []
        return found

    def mark_names(self, line: str) -> str:
        """Return a sentence of a document with guests' and bots' names in their forms, unless a power has one too."""
        powers = {self.labels.texts.word(power) for power in self.labels.names.powers.values()}
        for name, marked in self.marked.items():
            if name in line and name not in powers:
                line = marked.join(re.split(rf"(?<!\w){re.escape(name)}(?!\w)", line))
        return line

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
    def rules_address(self) -> str:
        """Return the address of the rules."""
        return f"{self.address}/rules"

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

    def load_scores(self) -> Sequence[Doc]:
        """Return the standings, as far as the visitor may know them."""
        found: Sequence[Doc] = ask("GET", f"/games/{self.game}/scores", role=self.role).doc.get("scores", ())
        return found

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
    return load_page(TablePage, game, wanted, position)


def load_page(kind: type[Page], game: str, wanted: str = "", position: int = 0) -> Page:
    """Return the same as a page of this kind."""
    principal, principals = find_role(game, wanted)
    role, roles = str(principal.role) if principal else "", [str(each.role) for each in principals]
    office = principal.office if principal else ""
    wait = position or query_number("wait", MAX_INT)
    query = f"?wait={wait}" if wait else ""
    summary = require("GET", f"/games/{game}{query}", role=role)
    labels = Labels.of_table(summary, i18n.request_language(), principal.seat if principal else None)
    marked = mark_names(summary, i18n.request_language())
    if principal and principal.seat is not None and (name := labels.number_seat(principal.seat)):
        you = i18n.translate(Message("(you)"), i18n.request_language())
        marked |= {each: f"{each} {you}" for each in (name, capital(name))}
    summary["names"] = name_people(summary, i18n.request_language())
    if summary["status"] == "open":
        return kind(game, role, roles, summary, {}, 0, labels, office, marked)
    resumed = require("GET", f"/games/{game}/resume{query}", role=role)
    return kind(game, role, roles, summary, resumed["board"], resumed["now"], labels, office, marked)


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
