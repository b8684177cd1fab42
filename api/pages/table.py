"""The page of a table: what is to be decided, the seats, the sight, the chronicle, the scores."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from flask import Response, request

from api.http import i18n
from api.pages import clocks
from api.pages.agreements import DURATIONS, tell_act
from api.pages.board_picture import is_public
from api.pages.builder import Builder, BuilderState, Picks, Question, WholeMove, find_owners, show_question
from api.pages.geometry import load_geometry
from api.pages.in_process import Answer, ask, require
from api.pages.labels import Labels
from api.pages.link_card import show_card
from api.pages.map_view import Offers, find_offers, show_map
from api.pages.missing_places import find_places
from api.pages.node_html import NodeWriter
from api.pages.numbers import query_number
from api.pages.order_sheet import SheetShown, list_moves, show_sheet
from api.pages.session import render_games_page, session_owner
from api.pages.shown_parts import show_parts
from api.pages.sight import show_window
from api.pages.why_not import Missing, Reason, list_closed_kinds, list_missing
from api.services import Doc, services
from domain.errors import StoreUnavailable
from domain.service.principals import Principal
from domain.types import MAX_INT, Json
from projections.documents import is_paused

NEWEST = 12
"""Versions of the chronicle on the page of a table."""

SLICE, MOST_SLICES = 200, 10
"""Entries of the timeline in one request, and requests for one's own last move."""

REFRESH_SECONDS = 4
"""Pause after which a page asks again while only programs are waited for."""


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
        return all(each["vacant"] or not each["player"] or each["player"].startswith("bot-") for each in others)

    @property
    def address(self) -> str:
        """Return the address of the page."""
        return f"/games/{self.game}"

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
        players = {each["seat"]: each["player"] or "" for each in self.summary["seats"]}
        return all(players[seat].startswith("bot-") for seat in self.decision["must"])


def load_table(game: str, wanted: str = "", position: int = 0) -> TablePage:
    """Return the documents of a table, in the wanted role if the visitor has it. Raise RefusedCall.

    `position`: wait until the views contain it.
    """
    principal, principals = find_role(game, wanted)
    role, roles = str(principal.role) if principal else "", [str(each.role) for each in principals]
    office = principal.office if principal else ""
    wait = position or query_number("wait", MAX_INT)
    query = f"?wait={wait}" if wait else ""
    summary = require("GET", f"/games/{game}{query}", role=role)
    labels = Labels.of_table(summary, i18n.request_language())
    if summary["status"] == "open":
        return TablePage(game, role, roles, summary, {}, 0, labels, office)
    resumed = require("GET", f"/games/{game}/resume{query}", role=role)
    return TablePage(game, role, roles, summary, resumed["board"], resumed["now"], labels, office)


def find_role(game: str, wanted: str = "") -> tuple[Principal | None, Sequence[Principal]]:
    """Return the visitor's role at a table, and all of them: the seat first, unless the request names another.

    The API selects by a header, so the page does not have to guess from its answers.
    """
    owner = session_owner()
    if owner is None:
        return None, ()
    s = services()
    players = s.account_store.accounts.list_players(owner.account)
    found = s.seat_tokens.list_principals(game, players, owner.account, owner.credential)
    roles = sorted(found, key=lambda each: (each.seat is None, str(each.role)))
    wanted = wanted or request.values.get("as", "")
    return next((each for each in roles if str(each.role) == wanted), next(iter(roles), None)), roles


# --- the page --------------------------------------------------------------------------------------------------


def show_table(game: str) -> Response:
    """Show a table."""
    return render_table(load_table(game))


@dataclass
class Prompt:
    """The question to the visitor, and notes on the answers so far."""

    step: BuilderState | None = None
    question: Question | None = None
    whole: Sequence[WholeMove] = ()
    preview: Doc | None = None
    refusal: Doc | None = None
    note: str = ""
    cause: str = ""
    """Code of the change of the game that made the answers void."""
    since: Sequence[str] = ()
    """Sentences of the chronicle since the version of the form."""
    missing: Missing = ()
    """Values missing from the question."""
    closed_kinds: Sequence[tuple[str, str]] = ()
    """Kinds of moves of this decision among them: as sent by a form, and in words."""
    reason: Reason | None = None
    """Why one of them is not offered."""

    @property
    def kind(self) -> str:
        """Return the name of all whole moves if they differ in their members alone, or an empty text."""
        kinds = {move.kind if move.rest else "" for move in self.whole}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def is_begun(self) -> bool:
        """Return True if the visitor has given an answer or reads a reason: the page keeps it."""
        picks = self.step.picks if self.step else None
        if self.reason is not None:
            return True
        return picks is not None and (picks.replaces is not None or any(not each.forced for each in picks.trail))

    def list_about(self, decision: Doc | None) -> Json:
        """Return what the question is about: the answers so far, and what the decision answers."""
        return [*(self.step.picks.values if self.step else ()), (decision or {}).get("context")]

    def answers(self, labels: Labels) -> list[tuple[str, str, bool]]:
        """Return the answers so far in words: question, answer, and True for a forced one."""
        trail = self.step.picks.trail if self.step else ()
        return [(labels.holder(p.field, p.value), labels.option(p.field, p.value), p.forced) for p in trail]


def new_picks(page: TablePage) -> Picks:
    """Return no answers yet to the open decision."""
    return Picks((page.decision or {}).get("id", ""), secrets.token_urlsafe(18))


def ask_first(page: TablePage) -> Prompt:
    """Return the first question for the visitor's seat, with the whole moves if they are few."""
    return ask_next(page, page.builder.advance(new_picks(page)))


def preview_move(page: TablePage, step: BuilderState) -> Answer:
    """Return the dry run of a finished move: its consequences of a finished move, as far as the seat may know them."""
    body = {"moves": list_moves(page.labels, step.picks, step.move), "decision": step.picks.decision}
    return ask("POST", f"/games/{page.game}/moves?dry_run=1", body, role=page.role)


def ask_next(page: TablePage, step: BuilderState) -> Prompt:
    """Return the next question of a step."""
    if step.answer.status >= 400:
        return Prompt(refusal=step.answer.doc)
    if step.move is not None:
        return Prompt(step, preview=preview_move(page, step).doc)
    whole = page.builder.list_whole_moves(step)
    owners = find_owners(page.board["public"])
    question = show_question(page.labels, step.choice, owners) if step.choice and not whole else None
    missing = list_missing(page.labels, page.board, step, whole)
    closed = list_closed_kinds(page.labels, page.board, missing)
    return Prompt(step, question, whole, missing=missing, closed_kinds=closed)


def render_table(page: TablePage, asked: Prompt | None = None, status: int = 200) -> Response:
    """Render a table, with the question that is asked."""
    summary, labels = page.summary, page.labels
    running = summary["status"] == "running"
    if asked is None and running and (page.must_decide or page.may_decide):
        asked = ask_first(page)
    entries, digest = _newest_entries(page), _digest_since_visit(page)
    blocked = is_paused(summary, page.now) and not summary["pause"]["moves"]
    offers = _find_offers(page, None if blocked else asked)
    missing = asked.missing if asked and not blocked else ()
    places = find_places(labels, page.board, page.seat, missing, asked.list_about(page.decision) if asked else None)
    parts = show_parts(labels, page.board, page.audit, places) if page.board else []
    titles = next((part.titles for part in parts if part.name == "public"), {})
    stopped = summary["status"] in ("over", "closed")
    return render_games_page(
        "table",
        status,
        wide=True,
        page=page,
        labels=labels,
        asked=asked,
        summary=summary,
        decision=page.decision,
        parts=parts,
        window=show_window(labels, page.decision, titles) if running else None,
        write_node=NodeWriter(labels.texts.lang).write_node,
        map=show_map(labels, page.board, page.seat, offers),
        offer_ids=offers.ids,
        has_picture=is_public(summary, 0),
        card=show_card(summary, labels),
        sheet=page.show_sheet(),
        entries=entries,
        digest=digest,
        undo=_undo_version(page, entries),
        votes=list_votes(page),
        scores=ask("GET", f"/games/{page.game}/scores", role=page.role).doc if stopped else None,
        times=clocks.Times.of_visitor(page.now),
        tell_act=tell_act,
        durations=DURATIONS,
        refresh=REFRESH_SECONDS if page.waits_for_programs() and (asked is None or asked.step is None) else 0,
        refreshed=page.address + (f"?as={page.role}" if page.role else ""),
        position=clocks.seat_due(page.decision, page.seat),
        paused=is_paused(summary, page.now),
        blocked=blocked,
    )


def _find_offers(page: TablePage, asked: Prompt | None) -> Offers:
    """Return the regions of the map in the question to the visitor."""
    geometry = load_geometry(page.labels.rules.package)
    if geometry is None or asked is None:
        return Offers()
    return find_offers(asked.question, asked.whole, geometry.regions, asked.missing)


def _newest_entries(page: TablePage) -> list[Doc]:
    after = max(page.summary["version"] - NEWEST, 0)
    return list(require("GET", f"/games/{page.game}/timeline?after={after}", role=page.role)["items"])


def _digest_since_visit(page: TablePage) -> Doc | None:
    """Note the visit; return the digest of the versions since the last one, or None if nothing is new."""
    owner, version = session_owner(), page.summary["version"]
    if owner is None or not page.board or request.method != "GET":
        return None
    since = 0
    with suppress(StoreUnavailable):  # a store that takes no rows still shows the table
        since = services().account_store.page_visits.note_look(owner.account, page.game, version)
    if not 0 < since < version:
        return None
    answer = ask("GET", f"/games/{page.game}/digest?after={since}", role=page.role)
    if answer.status >= 400:
        return None
    told = [turn for turn in answer.doc["turns"] if any(turn.get(part) for part in ("rulings", "lines", "standings"))]
    return answer.doc | {"turns": told}


def _undo_version(page: TablePage, entries: Sequence[Doc]) -> int | None:
    """Return the version before the visitor's last move if that is among the newest records, or None."""
    if page.seat is None or page.summary["status"] != "running" or page.summary["undo"] not in ("free", "consent"):
        return None
    own = [e for e in entries if e["kind"] == "moved" and e["seat"] == page.seat and not e.get("undone")]
    return own[-1]["version"] - 1 if own else None


def list_votes(page: TablePage) -> list[Doc]:
    """Return the open undo requests and proposals, each with the visitor's part in it."""
    if page.summary["status"] not in ("open", "running"):
        return []
    found = []
    for kind in ("rewinds", "proposals"):
        answer = ask("GET", f"/games/{page.game}/{kind}", role=page.role)
        found += [each | {"kind": kind} for each in answer.doc.get("items", ()) if each.get("status") == "open"]
    return found


def show_chronicle(game: str) -> Response:
    """Show the chronicle of a table, a page of versions at a time: the whole one, or that since one's last move."""
    page = load_table(game)
    since_move = request.args.get("since") == "move"
    number = _find_own_move(page) if since_move else query_number("after", 999_999_999)
    found = require("GET", f"/games/{game}/timeline?limit={SLICE}&after={number}", role=page.role)
    entries = found["items"]
    more = entries[-1]["version"] if found.get("next") and entries else None
    times = clocks.Times.of_visitor()
    return render_games_page(
        "chronicle", wide=True, page=page, entries=entries, more=more, since_move=since_move, times=times
    )


def _find_own_move(page: TablePage) -> int:
    """Return the version of the newest move of the visitor's seat, or 0 if there is none nearby."""
    upto = page.summary["version"]
    for _ in range(MOST_SLICES if page.seat is not None else 0):
        after = max(upto - SLICE, 0)
        found = require("GET", f"/games/{page.game}/timeline?limit={SLICE}&after={after}", role=page.role)["items"]
        own = [e["version"] for e in found if e["kind"] == "moved" and e["seat"] == page.seat and not e.get("undone")]
        if own or not after:
            return max(own, default=0)
        upto = after
    return 0
