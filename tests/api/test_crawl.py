"""Every page, link and form of a world, as everybody, in both languages, without scripts.

The ledger takes nothing meanwhile, so that a form changes no table and no event: an act that nobody refuses ends with
503. Every branch of every template is rendered on the way.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urlencode, urljoin, urlsplit

import flask
import pytest
from flask import Flask, Response
from jinja2 import Environment, nodes

from api.pages.common import session
from domain.accounts import passwords
from domain.errors import StoreUnavailable
from domain.kernel.text.message_catalog import LANGUAGES
from domain.ledger import Ledger
from tests.api.conftest import ROOT, make_site
from tests.api.test_officer_forms import FILLED
from tests.api.world import CATALOGUE, ROLES, World

STARTS = (
    *("/", "/games", "/games/new", "/games/imports", "/play", "/desk", "/tournaments", "/tournaments/new", "/ratings"),
    *("/account", "/login", "/register", "/device", "/proof", "/nowhere"),
)

TEMPLATES = ROOT / "api/pages/templates"

NOT_VISITED = {
    "pages.answer": "no page links to the address of an answer, a history may: tests/api/test_game_pages.py",
    "pages.command": "likewise",
    "pages.erased": "it follows an erasure: tests/api/test_account_pages.py",
    "pages.end": "it ends what the crawler needs: tests/api/oauth/test_pages.py",
    "pages.factor": "it asks for a second factor: tests/api/oauth/test_second_factors.py",
    "pages.live": "a stream: tests/api/test_stream.py",
    "pages.live_tables": "a stream: tests/api/test_stream_tables.py",
    "pages.take_over": "a link of another device leads there: tests/api/test_hand_over.py",
    "pages.logout": "it ends the login: tests/api/oauth/test_pages.py",
    "pages.reopen_lesson": "as pages.answer: tests/api/test_lesson_page.py",
    "pages.mail_end": "its address is in a mail: tests/notifications/test_mail.py",
    "pages.play_lesson": "the first step asks nothing: tests/api/test_lesson_page.py",
    "pages.png": "link cards name it: tests/api/test_map_pages.py",
    "pages.offline": "a worker shows it without a net: tests/browser/test_pocket.py",
    "pages.passkey": "it asks for a passkey: tests/api/oauth/test_passkeys.py",
}
"""Pages that no crawl sees -> the reason."""

EXERCISE = re.compile(r"[^/]+/exercises/\d+$")
"""Exercises are alike: tests/api/test_exercise_page.py reads them all."""

BY_CHANCE = ("decision.html", "map.html")
"""Templates of questions and maps, of which chance shows a part: tests/api/test_game_pages.py plays games."""

SEEN_ELSEWHERE = {
    "desk.html: each in offers": "an office offered to the deputy, whose crawl is a long one",
    'notices.html: each in push["items"]': "a browser of somebody's: tests/api/test_push.py",
    "region.html: id, name, contents in card.neighbours": "cards of regions: tests/api/test_map_starts.py",
    "region.html: name, value in card.figures": "cards of regions: tests/api/test_map_starts.py",
    "moderation.html: message in each.reported.messages": "reports: tests/api/test_talk_page.py",
    "moderation.html: writer in each.reported.writers if writer.seat == message.seat": "tests/api/test_talk_page.py",
    "talk_view.html: place in each.quotes": "tests/api/test_talk_page.py",
    "talk_view.html: region in each.regions": "tests/api/test_talk_page.py",
    "table.html: each in announcements": "tests/api/test_announcements.py",
    "standing_orders.html: act in order.acts[-3:]": "moves of orders: tests/api/test_standing_orders.py",
    "standing_orders.html: order in orders.ended": "ended orders: tests/api/test_standing_orders.py",
    "tournament.html: each in announcements": "tests/api/test_announcements.py",
    "tournament.html: pod in round.pods if pod.game": "tests/api/test_announcements.py",
    "lesson.html: line in news.lines if not line.battle": "moves of a lesson: tests/api/test_lesson_page.py",
    "talk_conduct.html: each in shown.around(message)": "reports: tests/api/test_talk_page.py",
    "talk_conduct.html: each in shown.reports": "reports: tests/api/test_talk_page.py",
    "talk_treaty.html: each in form.hours": "treaties: tests/api/test_talk_page.py",
    "talk_treaty.html: each in found.answers": "treaties: tests/api/test_talk_page.py",
    "talk_treaty.html: field in form.chosen.fields": "treaties: tests/api/test_talk_page.py",
    "talk_treaty.html: kept in found.promises if kept.seat == each.seat": "treaties: tests/api/test_talk_page.py",
    "talk_treaty.html: option in field.options": "treaties: tests/api/test_talk_page.py",
    "talk_treaty.html: seat in form.to": "treaties: tests/api/test_talk_page.py",
    "tournament_meetings.html: other, tables in cross.list_met(one)": "tests/api/test_tournament_pages.py",
    "battle.html: dice in side.doc.dice": "battles: tests/api/test_table_at_a_glance.py",
    "battle.html: n in dice": "battles: tests/api/test_table_at_a_glance.py",
    "battle.html: side in battle.sides": "battles: tests/api/test_table_at_a_glance.py",
    "replay.html: battle in battles": "battles: tests/api/test_table_at_a_glance.py",
    "table.html: each in news.changes": "reports: tests/api/test_table_at_a_glance.py",
    "table.html: each in result.turning": "the end of a game: tests/api/test_table_at_a_glance.py",
    "lesson.html: battle in news.battles": "steps after a move: tests/api/test_lesson_page.py",
    "lesson.html: each in news.changes": "steps after a move: tests/api/test_lesson_page.py",
    "look.html: part in parts": "a look at all secrets: tests/api/test_account_pages.py",
    "desk_outcome.html: each in items": "an act at all tables: tests/api/test_account_pages.py",
    "moderation.html: each in log": "an administrator: tests/api/test_account_pages.py",
    "notices.html: each in chats": "group chats: tests/api/test_account_pages.py",
    "notices.html: each in deliveries": "deliveries: tests/api/test_account_pages.py",
    "absence.html: each in items": "the answer to a form: tests/api/test_absence.py",
    "account.html: each in factors": "a second factor: tests/api/oauth/test_second_factors.py",
    "codes.html: code in codes": "a second factor: tests/api/oauth/test_second_factors.py",
    "order_sheet.html: name, value in sheet.balance": "order sheets: tests/api/test_game_pages.py",
    "order_sheet.html: order in sheet.orders": "order sheets: tests/api/test_game_pages.py",
    "replay.html: line in changes": "steps of a replay: tests/api/test_replays.py",
    "table.html: line in asked.since": "a question of an older version: tests/api/test_game_pages.py",
    "table.html: line in turn.rulings | default([]) + turn.lines + turn.standings": "tests/api/test_game_pages.py",
    "table.html: turn in digest.turns": "a digest since the last visit: tests/api/test_game_pages.py",
    "table.html: member, title in window.links": "a decision about the board: tests/api/test_game_pages.py",
    "tournament.html: each in round.byes": "byes: tests/api/test_tournament_pages.py",
    "tournament.html: each in standings.unranked": "ladders: tests/api/test_ladders.py",
    "tournament.html: one, other, how in round.together": "relations: tests/api/test_tournament_pages.py",
    "tournament_desk.html: each in entrants": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.steps": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.appeals": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in tables.tables": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: one in each.entrants": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: seat in each.empty if seat < each.entrants | length": "tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.check_in.missing": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.bids": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.byes": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.substitutes": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_desk.html: each in desk.withdrawals": "the desk of an event: tests/api/test_event_desk.py",
    "tournament_clock.html: start in doc.timetable.starts": "a timetable: tests/api/test_tournament_changes.py",
    "tournament_clock.html: each, sentences in page.term_changes": "terms: tests/api/test_tournament_changes.py",
    "tournament_clock.html: line in sentences": "terms: tests/api/test_tournament_changes.py",
    "tournament_list.html: each in lines": "a list of entrants: tests/api/test_entry_offers.py",
    "tournament_list.html: name, value in fields": "a list of entrants: tests/api/test_entry_offers.py",
    "tournament_around.html: each in desk.offers": "people of an event: tests/api/test_entry_offers.py",
    "tournament_around.html: each in desk.unclaimed": "people of an event: tests/api/test_entry_offers.py",
    "tournament.html: each in offers": "offers: tests/api/test_entry_offers.py",
    "tournament.html: each in divisions": "divisions: tests/api/test_tournament_divisions.py",
    "tournament_elsewhere.html: entrant in pod.entrants": "tests/api/test_tournament_elsewhere.py",
    "tournament_elsewhere.html: entrant in pod.scores.missing": "tests/api/test_tournament_elsewhere.py",
    "tournament_elsewhere.html: pod in round.pods if pod.elsewhere and not pod.reported and not pod.annulled": (
        "tests/api/test_tournament_elsewhere.py"
    ),
    "tournament_elsewhere.html: pod in round.pods if not pod.game and not pod.elsewhere and not pod.annulled": (
        "tests/api/test_tournament_elsewhere.py"
    ),
    "desk.html: each in events": "offers: tests/api/test_entry_offers.py",
    "tournament_ruling_preview.html: each in advancing": "two stages: tests/api/test_tournament_rulings_page.py",
}
"""Loops of templates that no crawl fills -> the test that does."""

SAMPLES = 1
"""Links of one form that are followed, such as those to the versions of one table."""

ALIKE = 4
"""Tables and events at which a form is sent whose answer is a whole page."""
_ALIKE = re.compile("/(?:desk|acts)$|/around/")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|imported-\d+")

ENDS = {"/logout", "/account/end", "/account/security/log_out", "/account/security/erase", "/account/notices/remove"}
"""Forms that end what the crawler needs: the login."""

FAULTS = {
    "a placeholder": re.compile(r"\{\w*[}:#]|\{\{|\}\}|\{%"),
    "a value of the program": re.compile(r"\b(None(?!\.)|null|undefined|NaN|True|False)\b|<\w+ object at"),
    "a raw key": re.compile(r"\b[a-z]+_[a-z0-9_]+\b|\b(?:word|fact|move|decision|refusal|option)\.[a-z]\w*"),
}

CODES_OF_FAULTS = ("has the fault cut_off", "a le défaut cut_off")
"""Codes that a page tells: docs/audit.md lists those of a file that proves nothing."""


@dataclass
class Form:
    """A form with all that can be sent with it."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class Reader(HTMLParser):
    """Links, forms, ids and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.texts: list[str] = []
        self.ids: set[str] = set()
        self._select: str | None = None
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in ("input", "meta", "link", "br", "use", "path"):
            self._open.append(tag)
        self.ids |= {found["id"]} if "id" in found else set()
        self.texts += [found[name] for name in ("title", "aria-label", "alt", "placeholder") if name in found]
        if tag in ("a", "use", "link", "img", "script") and found.keys() & {"href", "src"}:
            self.links.append(found.get("href") or found["src"])
        elif found.get("property") == "og:image":
            self.links.append(found["content"])
        elif tag == "form":
            self.forms.append(Form(found.get("action", ""), found.get("method", "get").lower()))
        elif self.forms:
            self._read_field(tag, found, self.forms[-1])

    def _read_field(self, tag: str, found: dict[str, str], form: Form) -> None:
        name = found.get("name", "")
        if tag == "input" and name and found.get("type") != "file":
            form.fields.append((name, found.get("value", "")))
        elif tag == "button" and "form" not in found:
            form.buttons.append((name, found.get("value", "")))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            form.fields.append((self._select, found.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
        while tag in self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not {"code", "script", "style", "textarea"} & set(self._open):
            self.texts.append(" ".join(data.split()))


@dataclass
class Seen:
    """Notes of all crawls in one language."""

    world: World
    lang: str
    pages: set[str]
    endpoints: set[str]
    loops: set[str]
    _faults: dict[str, list[str]] = field(default_factory=dict)

    def crawl(self, name: str) -> list[str]:
        """The faults that somebody comes upon. Everybody crawls once."""
        if name not in self._faults:
            crawler = Crawler(self.world, name, self.lang)
            crawler.crawl()
            self._faults[name] = crawler.faults
        return self._faults[name]

    def crawl_all(self) -> None:
        """Crawl as all whose pages differ: the deputy's are the organiser's."""
        for name in ROLES:
            if name != "Deputy":
                self.crawl(name)


_LOOP = re.compile(r"{% for (.*?) %}")


def list_loops(tree: nodes.Template, source: str, name: str) -> Iterator[tuple[nodes.For, str]]:
    """Return the loops of a template, each with its name: the template and the statement."""
    lines, before = source.splitlines(), Counter[int]()
    for node in tree.find_all(nodes.For):
        statements = _LOOP.findall(lines[node.lineno - 1])
        yield node, f"{name}: {statements[before[node.lineno] % len(statements)]}"
        before[node.lineno] += 1


class Marking(Environment):
    """Templates that note each of their loops when its body is rendered."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: set[str] = set()
        self.globals["mark_loop"] = self._mark

    def _mark(self, loop: str) -> str:
        self.seen.add(loop)
        return ""

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node, loop in list(list_loops(tree, source, str(name))):
            call = nodes.Call(nodes.Name("mark_loop", "load"), [nodes.Const(loop)], [], None, None)
            node.body.insert(0, nodes.Output([call]).set_lineno(node.lineno, override=True))
        return tree


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=pytest.mark.xdist_group(f"crawl {each}")) for each in LANGUAGES]
)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """All that the crawls of everybody in a language have seen."""
    with pytest.MonkeyPatch.context() as patched, closing(make_site(tmp_path_factory.mktemp("w"), CATALOGUE)) as site:
        patched.setattr(passwords, "TIMES", 1)
        patched.setattr(passwords, "MEMORY", 8)
        world = World(site)
        patched.setattr(Ledger, "append", _refuse)
        patched.setattr(session, "Environment", Marking)
        session._templates.cache_clear()
        templates = session._templates()
        assert isinstance(templates, Marking)
        pages = {rule.endpoint for rule in site.app.url_map.iter_rules() if _is_page(rule.endpoint)}
        yield Seen(world, request.param, pages, _note_pages(site.app), templates.seen)
    session._templates.cache_clear()


def _refuse(*_: Any, **__: Any) -> None:
    raise StoreUnavailable("it takes nothing")


def _is_page(endpoint: str) -> bool:
    """Acts of a person have a test of their own: tests/api/test_account_pages.py."""
    return endpoint == "index" or (endpoint.startswith("pages.") and not endpoint.endswith(".act"))


def _note_pages(app: Flask) -> set[str]:
    """The endpoints that answer with a page from now on."""
    found: set[str] = set()

    def note(response: Response) -> Response:
        if flask.request.url_rule and response.status_code in (200, 303, 503):
            found.add(str(flask.request.endpoint))
        return response

    app.after_request_funcs.setdefault(None, []).append(note)
    return found


class Crawler:
    """Somebody who follows every link and sends every form."""

    def __init__(self, world: World, name: str, lang: str) -> None:
        self.starts = (*STARTS, *world.paths)
        self.client = world.people[name].browser.client
        self.headers = {"Accept-Language": lang, "Accept": "text/html"}
        self.faults: list[str] = []
        self._known: set[str] = set()
        self._shapes: Counter[object] = Counter()
        self._sent: set[object] = set()
        self._alike: Counter[object] = Counter()
        self._ids: dict[str, set[str]] = {}
        self._anchors: list[tuple[str, str, str]] = []
        self._waiting: deque[tuple[str, str]] = deque()

    def crawl(self) -> None:
        for path in self.starts:
            self._add(path, "")
        while self._waiting:
            path, source = self._waiting.popleft()
            self._get(path, source)
        for path, anchor, source in self._anchors:
            if path in self._ids and anchor not in self._ids[path]:
                self.faults.append(f"{source}: nothing at {path}#{anchor}")

    def _add(self, address: str, source: str) -> None:
        parts = urlsplit(urljoin(source or "/", address))
        if parts.netloc not in ("", "localhost") or parts.scheme not in ("", "http"):
            return
        path, anchor = urldefrag(parts._replace(scheme="", netloc="").geturl())
        if anchor and not anchor.startswith("vote-"):  # its vote may be over since
            self._anchors.append((path, anchor, source))
        query = tuple(sorted(pair.partition("=")[0] for pair in parts.query.split("&")))
        place = EXERCISE.sub("", parts.path), query
        if path in self._known or self._shapes[place] >= SAMPLES:
            return
        self._known.add(path)
        self._shapes[place] += 1
        self._waiting.append((path, source))

    def _get(self, path: str, source: str) -> None:
        answer = self.client.get(path, headers=self.headers)
        if answer.status_code in (302, 303):
            self._add(answer.headers["Location"], path)
            return
        may_fail = path in self.starts or path.endswith("/rules")  # rulesets of the tests have none
        if answer.status_code != 200 and not (may_fail and answer.status_code in (401, 403, 404)):
            self.faults.append(f"GET {path} from {source}: {answer.status_code} {_problem(answer)}")
        self._read(answer, path)

    def _read(self, answer: Any, path: str) -> None:
        if answer.mimetype != "text/html" or path.startswith("/v1"):
            return
        page = Reader(answer.text)
        if answer.status_code == 200:
            self._ids[path] = page.ids
        for text in page.texts if "/rules" not in path else ():  # they tell programs of ids
            self.faults += [
                f"{path}: {kind}: {text}" for kind, fault in FAULTS.items() if fault.search(_drop_codes(text))
            ]
        for link in page.links:
            if not link.startswith("#"):
                self._add(link, path)
            elif link[1:] not in page.ids and "<svg" not in answer.text:
                self.faults.append(f"{path}: nothing at {link}")
        for form in page.forms:
            self._send(form, path)

    def _send(self, form: Form, source: str) -> None:
        if form.method == "get":
            self._add(f"{form.action}?{urlencode(form.fields)}", source)
            return
        for button in form.buttons or [("", "")]:
            self._post(form, button, source)

    def _post(self, form: Form, button: tuple[str, str], source: str) -> None:
        given = {name: value for name, value in reversed(form.fields) if name}  # the first option of a choice
        shape = (
            form.action,
            button,
            *(given.get(name, "") for name in ("act", "ruling_act", "sure", "proposal", "kind")),
        )
        kind = tuple(_ID.sub("", str(part)) for part in shape)
        is_alike = bool(_ALIKE.search(form.action)) and self._alike[kind] >= ALIKE
        if form.action in ENDS or shape in self._sent or is_alike:
            return
        self._sent.add(shape)
        self._alike[kind] += 1
        filled = {name: value or FILLED.get(name, "") for name, value in given.items()}
        filled |= {button[0]: button[1]} if button[0] else {}
        answer = self.client.post(form.action, data=filled, headers=self.headers)
        if answer.status_code >= 500 and answer.status_code != 503:
            self.faults.append(f"POST {form.action} {filled} from {source}: {answer.status_code} {_problem(answer)}")
        elif answer.status_code == 303:
            self._add(answer.headers["Location"], source)
        else:
            self._read(answer, form.action)


def _drop_codes(text: str) -> str:
    return "" if any(code in text for code in CODES_OF_FAULTS) else text


def _problem(answer: Any) -> str:
    return " ".join(re.findall(r"<p>(.*?)</p>", answer.text.partition('class="problem"')[2])[:2]) or answer.text[:80]


@pytest.mark.parametrize("name", ROLES)
def test_every_page_link_and_form_holds(seen: Seen, name: str) -> None:
    faults = seen.crawl(name)
    assert not faults, "\n".join(dict.fromkeys(faults))


def test_every_page_is_visited(seen: Seen) -> None:
    seen.crawl_all()
    assert sorted(seen.pages - seen.endpoints) == sorted(NOT_VISITED)


def test_no_list_is_seen_empty_alone(seen: Seen) -> None:
    """The body of each loop of each template is rendered."""
    seen.crawl_all()
    loops = {
        loop
        for path in TEMPLATES.glob("*.html")
        if path.name not in BY_CHANCE
        for _, loop in list_loops(
            Environment(autoescape=True).parse(path.read_text("utf-8")), path.read_text("utf-8"), path.name
        )
    }
    assert not sorted(loops - seen.loops - SEEN_ELSEWHERE.keys())
    assert SEEN_ELSEWHERE.keys() <= loops
