"""A person who reads pages and fills in their forms, and knows no rules."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from werkzeug.datastructures import MultiDict

from domain.kernel.game.play_commands import Resolve
from domain.kernel.rules.decide import decisions
from tests.api.conftest import Site
from tests.api.members import Member
from tests.api.oauth.browser import Browser
from workers.context import set_context
from workers.jobs.bot_moves import play_bots

Pairs = list[tuple[str, str]]


@dataclass
class PageForm:
    """A form with all that can be sent with it."""

    action: str
    fields: Pairs = field(default_factory=list)
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, value and class of each."""
    checks: Pairs = field(default_factory=list)
    numbers: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, least and greatest value."""

    def data(self, *more: tuple[str, str]) -> MultiDict[str, str]:
        sent = {name for name, _ in more}
        return MultiDict([*((name, value) for name, value in self.fields if name not in sent), *more])


class Page(HTMLParser):
    """The forms, the texts and the leaves of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self.texts: list[str] = []
        self.leaves: list[str] = []
        self.asks: list[tuple[str, str, str, str]] = []
        """Buttons outside of their form: its id, name, value and label."""
        self._open: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in ("input", "meta", "link", "br"):
            self._open.append((tag, found.get("class", "")))
        if tag == "span" and found.get("class") == "v":
            self.leaves.append("")
        if tag == "form":
            self.forms.append(PageForm(found["action"]))
        elif tag == "button" and "form" in found:
            self.asks.append((found["form"], found["name"], found["value"], found.get("aria-label", "")))
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append((found.get("name", ""), found.get("value", ""), found.get("class", "")))
        elif tag == "input" and self.forms:
            self._input(self.forms[-1], found)

    def _input(self, form: PageForm, found: dict[str, str]) -> None:
        if found.get("type") == "checkbox" and "name" in found:
            form.checks.append((found["name"], found["value"]))
        elif found.get("type") == "number":
            form.numbers.append((found["name"], int(found.get("min") or 0), int(found.get("max") or 0)))
        elif "name" in found:
            form.fields.append((found["name"], found.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if text := data.strip():
            self.texts.append(text)
            if self._open and self._open[-1] == ("span", "v"):
                self.leaves[-1] = text

    def form(self, end: str, button: str = "") -> PageForm:
        """The first form to a path with this end, with a button of this name."""
        names = [form for form in self.forms if form.action.endswith(end)]
        return next(form for form in names if not button or button in [name for name, _, _ in form.buttons])

    def question(self) -> PageForm | None:
        """The form that asks, or that makes the move; those of an order sheet have nothing to choose."""
        forms = [form for form in self.forms if re.fullmatch("/games/.*/play", form.action)]
        asking = [form for form in forms if form.numbers or form.checks or any(name for name, _, _ in form.buttons)]
        return next((form for form in asking if not {"back", "keep"} & {name for name, _, _ in form.buttons}), None)

    def act(self, act: str, **fields: str) -> PageForm:
        """The form of a command of the table."""
        wanted = {("act", act), *fields.items()}
        return next(form for form in self.forms if wanted <= set(form.fields))


@dataclass
class Person:
    """Somebody with a browser."""

    site: Site
    browser: Browser
    member: Member | None = None
    rng: random.Random = field(default_factory=lambda: random.Random(5))

    @property
    def api(self) -> Member:
        """The same person with a program."""
        assert self.member is not None
        return self.member

    def read(self, path: str, **headers: str) -> Any:
        answer = self.browser.get(path.partition("#")[0], **headers)
        assert answer.status_code == 200, answer.text
        return answer

    def send(self, form: PageForm, *more: tuple[str, str]) -> Any:
        return self.browser.client.post(form.action, data=form.data(*more))

    def follow(self, answer: Any) -> Any:
        """The page to which an answer leads."""
        return self.read(answer.headers["Location"]) if answer.status_code == 303 else answer

    def play_now(self, ruleset: str) -> str:
        """The path of a new game against bots."""
        form = Page(self.read("/play").text).form("/play", "ruleset")
        answer = self.send(form, ("ruleset", ruleset))
        assert answer.status_code == 303, answer.text
        path = str(answer.headers["Location"]).partition("?")[0]
        move_bots(self.site, path.rpartition("/")[2])
        return path

    def answer(self, form: PageForm) -> Any:
        """An answer to a question: one that brings the game on is preferred."""
        named = [button for button in form.buttons if button[0] not in ("", "preset")]
        more: Pairs = [(name, str(lo)) for name, lo, _ in form.numbers]
        if "amount" in dict(more):  # one of the rows, so that the form says something
            more[0] = ("amount", str(min(form.numbers[0][1] + 1, form.numbers[0][2])))
        more += self.rng.sample(form.checks, len(form.checks) // 2)
        if named:
            ending = [button for button in named if button[2] == "ends"]
            more.append(self.rng.choice(ending or named)[:2])
        return self.send(form, *more)

    def decide(self, path: str, most: int = 40) -> Any:
        """The page after one whole decision by forms."""
        answer = self.read(path)
        for _ in range(most):
            form = Page(answer.text).question()
            assert form is not None, answer.text
            answer = self.answer(form)
            assert answer.status_code in (200, 303), answer.text
            if has_moved(answer):
                move_bots(self.site, path.rpartition("/")[2])
                return self.follow(answer)
            answer = self.follow(answer)
        raise AssertionError("there is no end of questions")


def has_moved(answer: Any) -> bool:
    """Whether an answer has made a move: the page then waits for its position."""
    return "?wait=" in answer.headers.get("Location", "")


def move_bots(site: Site, game: str) -> None:
    """Work of bots and of the engine, until a person is asked."""
    set_context(site.context)
    for _ in range(200):
        now = site.services.commands.game(game)
        rules = site.services.registry.get(now.ruleset)
        found = decisions(rules, now.state, now.lasting.rewinds.count)
        if not found or now.status != "running":
            return
        if found[0].engine:
            site.services.commands.handle(game, Resolve(found[0].id))
        else:
            play_bots(game, found[0].id)
        site.ring()
        if site.services.commands.game(game).version == now.version:
            return
