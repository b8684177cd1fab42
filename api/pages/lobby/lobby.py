"""The first page, the lobby, new tables, and a game against bots at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from flask import Response, request

from api.documents.playing_times import Length, find_length
from api.http import i18n, public_url
from api.http.problems import Problem
from api.pages.account.login import log_in_first
from api.pages.common import clocks
from api.pages.common.form_keys import new_form_key, read_form_key
from api.pages.common.in_process import RefusedCall, ask, read_document, require
from api.pages.common.labels import Labels
from api.pages.common.numbers import parse_number
from api.pages.common.presentation import load_members
from api.pages.common.session import (
    guest_principals,
    guest_tables,
    keep_guest_token,
    localize_problem,
    redirect,
    render_games_page,
    session_owner,
)
from api.pages.lobby.daily_exercise import DailyExercise, find_daily
from api.pages.lobby.game_cards import list_cards
from api.pages.lobby.ruleset_options import read_options, show_options
from api.schemas.accounts import MyChallengeDoc, MyChallengesDoc
from api.schemas.history_responses import RulesetDoc, RulesetLineDoc, RulesetsDoc
from api.schemas.table_responses import LobbyDoc, MyGamesDoc
from api.services import services
from domain.bots import HEURISTIC
from domain.kernel.game.seat_players import is_bot
from domain.kernel.text.message_catalog import Message, load_texts
from domain.types import DIRECTOR, Doc, Json

STATUSES = ("open", "running", "closed")
MOST_SHOWN = 20
"""Tables in a list of the first page and of the lobby."""

_WORD = re.compile(r"[a-z][a-z0-9_]{0,60}@[1-9][0-9]{0,5}", re.ASCII)


@dataclass(frozen=True)
class TableShown:
    """A table in a list. `event`: its tournament and place there, or empty."""

    doc: Doc
    labels: Labels
    event: str = ""

    @property
    def name(self) -> str:
        """Return the table's own title, or its place in a tournament, or the game's title."""
        return str(self.doc.get("title") or self.event or self.labels.title())

    @property
    def players(self) -> str:
        """Return the names of the seats of people, and the number of bots."""
        taken = [each for each in self.doc["seats"] if each["player"]]
        people = [self.labels.seat(each["seat"]) for each in taken if not is_bot(each["player"])]
        bots = len(taken) - len(people)
        told = Message("{count} {count#bot|bots}", count=bots)
        return ", ".join(people + ([i18n.translate(told, self.labels.texts.lang)] if bots else []))

    @property
    def length(self) -> Length | None:
        """Return the usual length of such a game, for a table that has not begun."""
        longest = max(self.doc["pace"]["seconds"].values(), default=0)
        return find_length(self.doc["ruleset"], self.labels.rules.package, len(self.doc["seats"]), longest)

    @property
    def is_due(self) -> bool:
        """Return True if a decision or a vote of the visitor's is open."""
        return bool(self.doc.get("turn") or self.doc.get("votes"))

    @property
    def free(self) -> int:
        """Return the number of free seats."""
        return len(self._free_seats)

    @property
    def free_names(self) -> str:
        """Return the names of the free seats."""
        return ", ".join(map(self.labels.short_seat, self._free_seats))

    @property
    def _free_seats(self) -> list[int]:
        return [each["seat"] for each in self.doc["seats"] if not each["player"] or each.get("absent")]

    @property
    def waiting(self) -> str:
        """Return the names of the seats that are waited for."""
        return ", ".join(self.labels.short_seat(seat) for seat in self.doc["waiting_for"])


def index(other: Callable[[], Response]) -> Response:
    """Show the first page to a browser, and `other` to a program."""
    if "text/html" not in [kind for kind, _ in request.accept_mimetypes]:
        return other()
    return show_home()


def show_home() -> Response:
    """Show what waits for the visitor, or what can be done here."""
    mine = list_own_tables()
    due, own = [table for table in mine if table.is_due], {table.doc["game"] for table in mine}
    return render_games_page(
        "home",
        wide=True,
        mine=mine,
        due=sorted(due, key=lambda table: (table.doc["left"] is None, table.doc["left"] or 0)),
        running=[each for each in _public_tables("running", 5) if each.doc["game"] not in own],
        open=_public_tables("open", 10, free="1"),
        cards=[] if session_owner() else list_cards(_rulesets()),
        daily=_find_daily(),
        invitations=list_invitations(),
        key=new_form_key(),
        times=clocks.Times.of_visitor(),
    )


def _find_daily() -> DailyExercise | None:
    rulesets = [each["name"] for each in _rulesets()]
    return find_daily(rulesets, datetime.now(UTC).date())


def list_invitations() -> list[MyChallengeDoc]:
    """Return the open invitations to the visitor, none without a login."""
    return read_document(MyChallengesDoc, "/me/challenges")["items"] if session_owner() else []


def find_lengths(invitations: Iterable[MyChallengeDoc]) -> dict[str, Length | None]:
    """Return the usual length of the game of each invitation, by its id."""
    answers = [ask("GET", f"/games/{each['game']}") for each in invitations]
    tables = show_tables(each.doc for each in answers if each.status < 400)
    return {str(each.doc["game"]): each.length for each in tables}


def list_own_tables(*statuses: str) -> list[TableShown]:
    """Return the visitor's tables of these statuses, also a guest's: those where something is due first."""
    if session_owner() is None and not any(map(guest_principals, guest_tables())):
        return []
    items = read_document(MyGamesDoc, "/me/games?limit=100")["items"]
    tables = show_tables(each for each in items if each["status"] in (statuses or ("open", "running")))
    return sorted(tables, key=lambda t: (not t.is_due, t.doc["left"] is None, t.doc["left"] or 0))


def _public_tables(status: str, limit: int, **query: str) -> list[TableShown]:
    return show_tables(
        read_document(LobbyDoc, "/games?" + urlencode({"status": status, "limit": limit, **query}))["items"]
    )


def show_tables(items: Iterable[Json]) -> list[TableShown]:
    """Return summaries as a list shows them, with their places in tournaments."""
    lang, items = i18n.request_language(), list(items)
    events = sorted({each["tournament"]["tournament"] for each in items if "tournament" in each})
    cards = services().seat_tokens.texts.list_cards(events)
    return [_show_one(each, Labels.of_table(each, lang), cards) for each in items]


def _show_one(doc: Doc, labels: Labels, cards: Mapping[str, tuple[str, str]]) -> TableShown:
    """Return a table in a list. `cards`: title and note by tournament."""
    place = doc.get("tournament")
    if not place:
        return TableShown(doc, labels)
    title = cards.get(place["tournament"], ("", ""))[0] or labels.title()
    return TableShown(doc, labels, f"{title}, {place['round']}.{place['pod']}")


def show_lobby() -> Response:
    """Show the visitor's tables, and the public ones by status."""
    ruleset, title = request.args.get("ruleset", ""), request.args.get("title", "")[:60]
    query = {"ruleset": ruleset} if _WORD.fullmatch(ruleset) else {}
    sections = {status: _public_tables(status, MOST_SHOWN, **query) for status in STATUSES}
    sections["vacant"] = _public_tables("running", MOST_SHOWN, free="1", **query)
    wanted = title.casefold()
    mine, finished = list_own_tables(), list_own_tables("over", "closed")

    own = {table.doc["game"] for table in mine}

    def select(tables: list[TableShown]) -> list[TableShown]:
        return [t for t in tables if ruleset in ("", t.doc["ruleset"]) and wanted in t.name.casefold()]

    return render_games_page(
        "lobby",
        wide=True,
        mine=select(mine),
        finished=select(finished)[:MOST_SHOWN],
        sections={
            status: [t for t in some if wanted in t.name.casefold() and t.doc["game"] not in own]
            for status, some in sections.items()
        },
        rulesets=_rulesets(),
        ruleset=ruleset,
        table_title=title,
        invitations=list_invitations(),
        key=new_form_key(),
        times=clocks.Times.of_visitor(),
    )


def _rulesets() -> list[RulesetLineDoc]:
    return read_document(RulesetsDoc, "/rulesets")["items"]


# --- new tables ------------------------------------------------------------------------------------------------


def new_table() -> Response:
    """Show the form for a new table, and open it."""
    if session_owner() is None:
        return log_in_first()
    ruleset = request.values.get("ruleset", "")
    if not _WORD.fullmatch(ruleset):
        return render_games_page("new_table", rulesets=_rulesets(), rules=None)
    rules = read_document(RulesetDoc, f"/rulesets/{ruleset}")
    if request.method == "POST":
        try:
            return _open(rules)
        except RefusedCall as problem:
            return _show_form(rules, problem)
    return _show_form(rules)


def _show_form(rules: RulesetDoc, problem: Problem | None = None) -> Response:
    package = services().registry.get(rules["name"]).package
    texts, members = load_texts(package, i18n.request_language()), load_members(package)
    return render_games_page(
        "new_table",
        problem.status if problem else 200,
        rules=rules,
        talk_rules=services().registry.get(rules["name"]).meta.talk,
        options=show_options(
            rules["options"], texts, request.form, [name for name, entry in members.items() if "seat" in entry]
        ),
        key=new_form_key(),
        times=clocks.Times.of_visitor(),
        sent=request.form,
        problem=localize_problem(problem) if problem else None,
    )


def _open(rules: RulesetDoc) -> Response:
    form = request.form
    body: dict[str, Json] = {
        "ruleset": rules["name"],
        "seats": parse_number(form.get("seats", ""), 999) or 0,
        "options": read_options(rules["options"], form),
        "undo": form.get("undo", ""),
        "listing": form.get("listing", ""),
        "pace": form.get("pace") or None,
        **{name: form[name] for name in ("talk", "papers", "after", "names", "standing_orders") if form.get(name)},
    }
    body |= {"suggestions": True} if form.get("suggestions") == "yes" else {}
    opened = require("POST", "/games", body, Idempotency_Key=read_form_key())
    game = opened["game"]
    if form.get("join") == "yes":
        opened = ask("POST", f"/games/{game}/seats", {}, Idempotency_Key=f"{read_form_key()}-own").doc | opened
    invitation = opened.get("invitation")
    if invitation:
        return render_games_page("invited", base=public_url.base_url(), game=game, invitation=invitation)
    return redirect(f"/games/{game}?wait={opened['position']}")


def play_now() -> Response:
    """Show the games to play against bots, and start one: also for a guest."""
    if request.method == "GET":
        return render_games_page(
            "play_now",
            wide=True,
            mine=list_own_tables(),
            cards=list_cards(_rulesets()),
            key=new_form_key(),
            times=clocks.Times.of_visitor(),
        )
    chosen = next((each for each in _rulesets() if each["name"] == request.form.get("ruleset")), None)
    if chosen is None:
        raise Problem("form_stale")
    level = next((each for each in reversed(chosen["bots"]) if each == request.form.get("level")), HEURISTIC)
    wanted = parse_number(request.form.get("seats", ""), 99) or 0
    seats = min(chosen["seats"], key=lambda count: (abs(count - wanted), count))
    started = open_against_bots(chosen["name"], seats, {}, read_form_key(), level)
    return redirect(f"/games/{started['game']}?wait={started['position']}#move")


def open_against_bots(ruleset: str, seats: int, options: Doc, key: str, level: str = HEURISTIC) -> Doc:
    """Open a table, give all seats but the first to bots of a level, and start. Return `game` and `position`."""
    body: Doc = {"ruleset": ruleset, "seats": seats, "listing": "unlisted", "options": options}
    body |= {"talk": "none"}  # bots do not talk
    opened = require("POST", "/games", body, Idempotency_Key=key)
    game = _keep_token(opened["game"], DIRECTOR, opened)
    for seat in range(1, seats):
        seated = {"seat": seat, "bot": level}
        require("POST", f"/games/{game}/seats", seated, role=DIRECTOR, Idempotency_Key=f"{key}-{seat}")
    taken = require("POST", f"/games/{game}/seats", {"seat": 0}, Idempotency_Key=f"{key}-own")
    _keep_token(game, "0", taken)
    started = require("POST", f"/games/{game}/start", role=DIRECTOR, Idempotency_Key=f"{key}-start")
    return {"game": game, "position": started["position"]}


def _keep_token(game: str, role: str, answer: Doc) -> str:
    """Keep the token of a guest in the browser, and return the game."""
    if "token" in answer:
        keep_guest_token(game, role, answer["token"])
    return game
