"""The page of a table: what is to be decided, the seats, the sight, the chronicle, the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flask import Response

from api.http import i18n
from api.pages.common import clocks
from api.pages.common.agreements import DURATIONS, tell_act
from api.pages.common.form_keys import new_form_key
from api.pages.common.geometry import load_geometry
from api.pages.common.in_process import ask
from api.pages.common.presentation import load_sheet
from api.pages.common.session import render_games_page, session_owner
from api.pages.decision.help_shown import show_help
from api.pages.decision.map_starts import locate_pieces
from api.pages.lobby.link_card import show_card
from api.pages.map.board_picture import is_public
from api.pages.map.map_view import MapView, Offers, find_offers, show_map
from api.pages.map.missing_places import find_places
from api.pages.player_view.kept_panels import show_parts
from api.pages.player_view.node_html import NodeWriter, write_die
from api.pages.player_view.view_nodes import show_window
from api.pages.table.charts import HEIGHT, LEFT, RIGHT, WIDTH
from api.pages.table.chronicle import NEWEST, digest_since_visit, list_told, newest_entries
from api.pages.table.gazette import Gazette, find_news, list_figure_changes, list_fought, show_battles
from api.pages.table.order_forms import show_orders
from api.pages.table.picks_cookie import forget_picks, recall_picks
from api.pages.table.player_row import list_players
from api.pages.table.prompt import Prompt, ask_first, resume_move
from api.pages.table.result import show_result
from api.pages.table.table_page import TablePage, load_table_page
from api.services import services
from domain.kernel.game.record_builder import has_talk
from domain.kernel.text.message_catalog import Message
from domain.lookahead import can_look_ahead
from domain.types import Doc
from projections.documents import is_paused

ANNOUNCEMENTS = 3
"""Newest announcements of an event shown at its tables."""

REFRESH_SECONDS = 4
"""Pause after which a page asks again while only programs are waited for."""

SLOW = 3_600
"""Least seconds for a decision, if players are away meanwhile."""


# --- the page --------------------------------------------------------------------------------------------------


def show_table(game: str) -> Response:
    """Show a table, with the question of a half-made move if there is one."""
    page = load_table_page(game)
    picks = recall_picks(page)
    if picks is None:
        return render_table(page)
    if asked := resume_move(page, picks) if page.summary["status"] == "running" else None:
        return render_table(page, asked)
    if not picks.trail:  # nothing was answered
        return forget_picks(render_table(page), page)
    return forget_picks(render_table(page, _tell_moved_on(page)), page)


def _tell_moved_on(page: TablePage) -> Prompt:
    """Return the question after a half-made move that is void, with the sentence about it."""
    is_asked = page.summary["status"] == "running" and (page.must_decide or page.may_decide)
    asked = ask_first(page) if is_asked else Prompt()
    fits_no_more = Message("The game has moved on: your answers no longer fit.")
    nothing = Message("The game has moved on: your answers were not sent, and nothing is asked of you now.")
    asked.note = i18n.translate(fits_no_more if is_asked else nothing, i18n.request_language())
    return asked


def render_table(page: TablePage, asked: Prompt | None = None, status: int = 200) -> Response:
    """Render a table, with the question that is asked."""
    summary, labels = page.summary, page.labels
    running = summary["status"] == "running"
    if asked is None and running and (page.must_decide or page.may_decide):
        asked = ask_first(page)
    (entries, battles), digest = newest_entries(page), digest_since_visit(page)
    news = find_news(page, entries, battles)
    earlier = _load_earlier(page, news if asked is None or not asked.is_begun else None)
    if news and earlier:
        news.changes = list_figure_changes(page, earlier)
    blocked = is_paused(summary, page.now) and not summary["pause"]["moves"]
    offers = offer_regions(page, None if blocked else asked)
    missing = asked.missing if asked and not blocked else ()
    places = find_places(labels, page.board, page.seat, missing, asked.list_about(page.decision) if asked else None)
    parts = show_parts(labels, page.board, page.audit, places) if page.board else []
    fight = next((each for each in show_battles(page, battles) if each.doc["open"]), None) if page.board else None
    titles = next((part.titles for part in parts if part.name == "public"), {})
    votes = list_votes(page)
    own_votes = [each for each in votes if page.seat in each["consents"] and page.seat not in each["agreed"]]
    result = show_result(page)
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
        write_die=write_die,
        map=show_table_map(page, offers, earlier),
        news=news,
        fight=fight,
        fought=list_fought([*([fight] if fight else []), *(news.battles if news and earlier else ())]),
        players=list_players(page) if running else (),
        offer_ids=offers.ids,
        asks_region=offers.are_asked,
        has_picture=is_public(summary, 0),
        card=show_card(summary, labels),
        looks_ahead=can_look_ahead(summary["ruleset"]) and not summary.get("origin"),
        sheet=page.show_sheet(),
        orders=show_orders(page),
        offers_push=offers_push(page, entries),
        help=show_help(labels, page.decision["kind"]) if page.decision and asked and asked.step else None,
        entries=list_told(page, entries),
        digest=digest,
        undo=_undo_version(page, entries),
        votes=votes,
        own_votes=own_votes,
        result=result,
        chart_size=(WIDTH, HEIGHT, LEFT, RIGHT),
        key=new_form_key() if result and result.again == "again" else "",
        talk=ask("GET", f"/games/{page.game}/talk", role=page.role).doc if has_talk(summary) else None,
        announcements=_list_announcements(page),
        times=clocks.Times.of_visitor(page.now),
        tell_act=tell_act,
        durations=DURATIONS,
        refresh=REFRESH_SECONDS if page.waits_for_programs() and (asked is None or asked.step is None) else 0,
        refreshed=page.address + (f"?as={page.role}" if page.role else ""),
        position=clocks.seat_due(page.decision, page.seat),
        paused=is_paused(summary, page.now),
        blocked=blocked,
    )


def offers_push(page: TablePage, entries: Sequence[Doc]) -> bool:
    """Return whether to offer messages on this device: after a move in a slow game, to a person told on none."""
    s, owner = services(), session_owner()
    if owner is None or page.seat is None or page.must_decide or s.settings.webhooks == "none":
        return False
    seconds = page.summary["pace"]["seconds"].values()
    is_slow = page.summary["status"] == "running" and min(seconds, default=SLOW) >= SLOW
    has_moved = any(each["kind"] == "moved" and each["seat"] == page.seat for each in entries)
    return is_slow and has_moved and not s.notifications.push_devices.list_by_account(owner.account)


def _list_announcements(page: TablePage) -> Sequence[Doc]:
    """Return the newest words of the event's officers to all, and to this table."""
    place = page.summary.get("tournament")
    if place is None:
        return ()
    found = ask("GET", f"/tournaments/{place['tournament']}/announcements?game={page.game}")
    return list(found.doc.get("items", ()))[:ANNOUNCEMENTS]


def show_table_map(page: TablePage, offers: Offers, earlier: Doc | None) -> MapView | None:
    """Return the map; with an earlier board also its changes since, and the orders carried out until a new one."""
    shown = show_map(page.labels, page.board, page.seat, offers)
    before = show_map(page.labels, earlier, page.seat, Offers()) if shown and earlier else None
    if shown is None or before is None:
        return shown
    shown.mark_changes(before)
    form = load_sheet(page.labels.rules.package)
    is_begun = form is not None and form.list_orders(page.board.get("own") or {})
    return shown if is_begun else replace(shown, arrows=before.arrows, are_past=bool(before.arrows))


def _load_earlier(page: TablePage, news: Gazette | None) -> Doc | None:
    """Return the board before the news, or None."""
    answer = ask("GET", f"/games/{page.game}/board?version={news.since}", role=page.role) if news else None
    return answer.doc if answer and answer.status < 400 else None


def offer_regions(page: TablePage, asked: Prompt | None) -> Offers:
    """Return the regions of the map in the question to the visitor."""
    geometry = load_geometry(page.labels.rules.package)
    if geometry is None or asked is None:
        return Offers()
    at = asked.step.picks.at if asked.step else ()
    located = locate_pieces(page.labels.rules.package, page.board) if at else {}
    chosen = {located.get(each, each) for each in at}
    answers = [asked.step.picks.values, asked.step.move] if asked.step else []
    return find_offers(asked.question, asked.whole, geometry.regions, asked.missing, chosen, answers)


def _undo_version(page: TablePage, entries: Sequence[Doc]) -> int | None:
    """Return the version before the visitor's last move if that is among the newest records, or None."""
    if page.seat is None or page.summary["status"] != "running" or page.summary["undo"] not in ("free", "consent"):
        return None
    newest = [e for e in entries if e["version"] > page.summary["version"] - NEWEST]
    own = [e for e in newest if e["kind"] == "moved" and e["seat"] == page.seat and not e.get("undone")]
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
