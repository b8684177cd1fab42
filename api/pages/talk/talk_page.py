"""The page of a table's talk: conversations, messages, and one's own notes. The table's page shows it in a panel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from flask import Response, request

from api.http.problems import Problem
from api.pages.account.login import show_login
from api.pages.common import clocks
from api.pages.common.form_keys import new_form_key, read_form_key
from api.pages.common.form_texts import read_text
from api.pages.common.in_process import RefusedCall, ask, require
from api.pages.common.labels import Labels
from api.pages.common.numbers import parse_number
from api.pages.common.session import (
    is_stranger,
    localize_problem,
    redirect,
    render_games_page,
    session_owner,
)
from api.pages.map.map_drawing import region_name
from api.pages.table.table_page import TablePage, load_table_page
from api.pages.talk.treaty_form import TreatyForm, load_form, read_answer, read_treaty
from domain.types import DIRECTOR, MAX_INT, Doc, Json

NEWEST = 50
"""Messages on a page."""

REPORTED = 6
"""Messages offered for a report: one, and those before it."""

_REPORT = re.compile(r"[0-9a-f]{24}", re.ASCII)


@dataclass(frozen=True)
class TalkShown:
    """Talk as a page shows it."""

    page: TablePage
    doc: Doc
    """The document of the API."""
    conversation: Doc | None
    """The open conversation; None: the list."""
    messages: Sequence[Doc] = ()
    notes: Sequence[Doc] = ()
    newest: Doc | None = None
    """The last message of others unread before."""
    draft: str = ""
    """A refused text."""
    form: TreatyForm | None = None
    """The form for a treaty, if the visitor has asked for it."""
    disclosures: Sequence[Doc] = ()
    """Messages shown to the visitor by participants."""
    reports: Sequence[Doc] | None = None
    """Reports of messages to settle; None: the visitor settles none."""
    to: int | None = None
    """Seat to which a letter is about to be written."""
    marked: Sequence[str] = ()
    """Regions of the message being written."""
    reply: int = 0
    """Place of the message to be answered."""

    @property
    def labels(self) -> Labels:
        """Return the names of the table."""
        return self.page.labels

    @property
    def list_address(self) -> str:
        """Return the address of the list."""
        return self.address_of("")

    def address_of(self, conversation: str, **query: Json) -> str:
        """Return the address of a conversation."""
        named = {"conversation": conversation, "as": self.page.role, **query}
        query_text = urlencode({name: value for name, value in named.items() if value})
        return f"{self.page.address}/talk" + (f"?{query_text}" if query_text else "")

    def name_others(self, conversation: Doc) -> str:
        """Return the names of the other seats of a letter."""
        seats = [seat for seat in conversation["seats"] if seat != self.doc["seat"]]
        return self.labels.texts.grammar.join_list([self.labels.short_seat(seat) for seat in seats])

    @property
    def addressees(self) -> list[int]:
        """Return the seats to which a letter may be written."""
        return [seat for seat in self.taken_seats if seat != self.doc["seat"]]

    @property
    def taken_seats(self) -> list[int]:
        """Return the seats with players."""
        return [each["seat"] for each in self.page.summary["seats"] if each["player"]]

    def around(self, message: Doc) -> list[Doc]:
        """Return a message with the five before it, as far as they are at hand."""
        readable = [each for each in self.messages if each["entry"] <= message["entry"] and each["text"]]
        return readable[-REPORTED:]

    @property
    def quoted(self) -> Doc | None:
        """Return the message to be answered."""
        return self.find(self.reply)

    def find(self, entry: int) -> Doc | None:
        """Return the message at a place, if it is at hand."""
        return next((each for each in self.messages if each["entry"] == entry), None)

    @property
    def regions(self) -> list[tuple[str, str]]:
        """Return the regions with their names, in the order of the names."""
        found = [(each, self.name_region(each)) for each in self.labels.rules.treaties.regions]
        return sorted(found, key=lambda each: each[1])

    def name_region(self, region: str) -> str:
        """Return the name of a region."""
        return region_name(self.labels.texts, region)

    @property
    def is_silenced(self) -> bool:
        """Return whether the visitor may write no words here for a time."""
        found = self.doc["silenced"]
        is_table = self.conversation is not None and self.conversation["kind"] == "table"
        return found is not None and (found["letters"] or is_table)

    @property
    def may_write(self) -> bool:
        """Return whether the visitor may write into the open conversation."""
        if self.conversation is None:
            return False
        return bool(self.doc["public" if self.conversation["kind"] == "table" else "private"])

    @property
    def may_propose(self) -> bool:
        """Return whether the rules of a running game know treaties."""
        return self.page.summary["status"] == "running" and bool(self.labels.rules.treaties.kinds)

    @property
    def last(self) -> int:
        """Return the place of the last message."""
        return max((each["last"]["entry"] for each in self.doc["conversations"] if each["last"]), default=0)


def _find_newest(doc: Doc) -> Doc | None:
    """Return the last message of others unread by the visitor."""
    unread = [each["last"] for each in doc["conversations"] if each["unread"] and not each["muted"]]
    texts = [each for each in unread if each and each["text"] and not each["own"]]
    return max(texts, key=lambda each: int(each["entry"]), default=None)


def show_talk(game: str) -> Response:
    """Show the conversations of a table, or one of them; its messages then count as read."""
    return _render(load_table_page(game))


def _render(page: TablePage, problem: Problem | None = None) -> Response:
    game, role = page.game, page.role
    wanted = request.values.get("conversation", "")
    doc = require("GET", f"/games/{game}/talk", role=role)
    found = next((each for each in doc["conversations"] if each["conversation"] == wanted), None)
    newest = _find_newest(doc)
    messages: Sequence[Doc] = ()
    if found is not None:
        before = parse_number(request.args.get("before", ""), MAX_INT) or MAX_INT
        query = urlencode({"conversation": wanted, "before": before, "limit": NEWEST})
        messages = require("GET", f"/games/{game}/talk/messages?{query}", role=role)["items"]
        if messages and found["unread"]:
            mark = {"conversation": wanted, "upto": messages[-1]["entry"]}
            ask("PUT", f"/games/{game}/talk/read", mark, role=role)
            doc["unread"] -= 0 if found["muted"] else found["unread"]
            found["unread"] = 0
    notes = ask("GET", f"/games/{game}/notes", role=role).doc.get("items", ()) if session_owner() else ()
    draft = request.form.get("text", "") if problem else ""
    form = load_form(page, doc, found)
    disclosures = () if found else ask("GET", f"/games/{game}/talk/disclosures", role=role).doc.get("items", ())
    reports = None
    if not found and role == DIRECTOR:
        reports = ask("GET", f"/games/{game}/talk/reports", role=role).doc.get("items")
    return render_games_page(
        "talk",
        problem.status if problem else 200,
        page=page,
        labels=page.labels,
        summary=page.summary,
        shown=TalkShown(
            page,
            doc,
            found,
            messages,
            notes,
            newest,
            draft,
            form,
            disclosures,
            reports,
            _read_addressee(),
            _read_regions(),
            _read_reply(),
        ),
        has_reported=request.args.get("done") == "report",
        key=new_form_key(),
        times=clocks.Times.of_visitor(),
        problem=localize_problem(problem) if problem else None,
    )


def _read_regions() -> list[str]:
    """Return the regions that are chosen for the map."""
    return [*dict.fromkeys(filter(None, request.values.getlist("region")))]


def _read_addressee() -> int | None:
    return parse_number(request.args.get("to", ""), 99)


def _read_reply() -> int:
    return parse_number(request.values.get("reply", ""), MAX_INT) or 0


def download_mailbox(game: str) -> Response:
    """Return the visitor's mailbox as a file."""
    page = load_table_page(game)
    found = require("GET", f"/games/{game}/talk/mailbox", role=page.role)
    return _send_file(found["text"], "mailbox.jsonl")


def write_talk(game: str) -> Response:
    """Carry out a form of the page: write, mute, or keep a note."""
    if is_stranger(game):
        return show_login(f"/games/{game}/talk")
    page = load_table_page(game)
    acts = {"say": _say, "mute": _mute, "note": _keep_note, "disclose": _disclose}
    acts |= {"report": _report, "settle": _settle, "silence": _silence}
    act = acts.get(request.form.get("act", ""))
    if act is None:
        raise Problem("form_stale")
    try:
        conversation = act(page)
    except RefusedCall as problem:
        return _render(page, problem)
    done = "report" if act is _report else ""
    query = {n: value for n, value in (("conversation", conversation), ("as", page.role), ("done", done)) if value}
    if place := request.form.get("place", ""):
        return redirect(f"{page.address}/regions/{quote(place, safe='')}")
    return redirect(f"{page.address}/talk" + (f"?{urlencode(query)}" if query else ""))


def _say(page: TablePage) -> str:
    """Send a message; return its conversation."""
    form, role = request.form, page.role
    seats = [seat for each in form.getlist("to") if (seat := parse_number(each, 99)) is not None]
    wanted = form.get("conversation", "")
    if wanted and wanted != "table":
        doc = require("GET", f"/games/{page.game}/talk", role=role)
        known = next((each for each in doc["conversations"] if each["conversation"] == wanted), None)
        if known is None:
            raise Problem("form_stale")
        seats = known["seats"]
    version = parse_number(form.get("version", ""), MAX_INT)
    treaty, answer = read_treaty(form), read_answer(form)
    body: Doc = {"to": [] if answer else seats, "text": form.get("text", ""), "version": version}
    body |= {"treaty": treaty, "answer": answer}
    quote = parse_number(form.get("reply", ""), MAX_INT)
    body |= {"regions": _read_regions(), "quotes": [quote] if quote else []}
    sent = require("POST", f"/games/{page.game}/talk/messages", body, role=role, Idempotency_Key=read_form_key())
    return str(sent["conversation"])


def _mute(page: TablePage) -> str:
    """Mute a conversation, or unmute it; return it."""
    conversation = request.form.get("conversation", "")
    body = {"conversation": conversation, "muted": request.form.get("muted") == "yes"}
    require("PUT", f"/games/{page.game}/talk/mutes", body, role=page.role)
    return conversation


def _disclose(page: TablePage) -> str:
    """Show a message to the table or to its officers; return its conversation."""
    form = request.form
    body = {"entries": [parse_number(form.get("entry", ""), MAX_INT) or 0], "to": form.get("audience", "")}
    require("PUT", f"/games/{page.game}/talk/disclosures", body, role=page.role)
    return form.get("conversation", "")


def _report(page: TablePage) -> str:
    """Report messages; return their conversation."""
    form = request.form
    entries = [number for each in form.getlist("reported") if (number := parse_number(each, MAX_INT))]
    body = {"entries": entries, "said": read_text("said")}
    key = read_form_key()
    require("POST", f"/games/{page.game}/talk/reports", body, role=page.role, Idempotency_Key=key)
    return form.get("conversation", "")


def _settle(page: TablePage) -> str:
    """Settle a report of messages, as an officer."""
    form = request.form
    report = form.get("report", "")
    if not _REPORT.fullmatch(report):
        raise Problem("form_stale")
    body = {"outcome": read_text("outcome"), "erase": form.get("erase") == "yes"}
    require("PUT", f"/games/{page.game}/talk/reports/{report}", body, role=page.role)
    return ""


def _silence(page: TablePage) -> str:
    """Stop a player's words to the table for a time, or end that, as an officer."""
    form = request.form
    seat = parse_number(form.get("seat", ""), 99) or 0
    hours = parse_number(form.get("hours", ""), 9999)
    if hours == 0:
        require("DELETE", f"/games/{page.game}/seats/{seat}/silence", role=page.role)
    else:
        body = {"hours": hours, "reason": read_text("reason")}
        require("PUT", f"/games/{page.game}/seats/{seat}/silence", body, role=page.role)
    return ""


def download_disclosure(game: str, disclosure: str) -> Response:
    """Return a disclosure as a file."""
    page = load_table_page(game)
    found = require("GET", f"/games/{game}/talk/disclosures/{disclosure}/file", role=page.role)
    return _send_file(found["text"], "disclosure.jsonl")


def _send_file(text: str, name: str) -> Response:
    response = Response(text, content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Cache-Control"] = "no-store"
    return response


def _keep_note(page: TablePage) -> str:
    """Keep the visitor's note about the table, or about a region of its map."""
    place, text = request.form.get("place", ""), request.form.get("text", "")
    require("PUT", f"/games/{page.game}/notes", {"text": text} | ({"place": place} if place else {}), role=page.role)
    return ""
