"""A guided first game: the page of a table in memory, with one step of the lesson above its question.

The learner's step and half-made move are in a sealed cookie of these pages. Nothing is stored, and a page costs its
visitor as much as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from flask import Response, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.form_keys import new_form_key
from api.pages.common.in_process import Answer
from api.pages.common.numbers import parse_number
from api.pages.common.session import redirect, set_table_cookie, table_cookie
from api.pages.decision.move_choices import Builder, Picks
from api.pages.lessons.lesson_builder import LessonBuilder
from api.pages.lessons.position_page import load_position, read_board, render_position
from api.pages.table.gazette import MOST_CARDS, Gazette, NewsLine, list_figure_changes, show_battles
from api.pages.table.picks_cookie import MOST_BYTES, dump_picks, load_picks
from api.pages.table.play import PlayedTable, take_answer
from api.pages.table.prompt import Prompt, ask_first, resume_move
from api.pages.table.table import offer_regions, show_table_map
from api.services import services
from domain.errors import UnknownRuleset
from domain.kernel.game.game import AnyGame
from domain.kernel.narration.sentences import SeatNames
from domain.kernel.records.audience import ALL_KEY, may_read
from domain.kernel.text.message_catalog import Message
from domain.lessons import Lesson, LessonStep, StepWords, fill_figures, load_lesson
from domain.types import Doc, Json
from projections.documents import add_text, build_battles, build_entries
from projections.loaded_game import LoadedGame

COOKIE = "annals_lesson"

SECONDS = 60 * 86_400
"""Time for which a browser keeps the place in a lesson, seconds."""

_OWNER = "lesson"
"""Owner of the seal: the place in a lesson stays with the browser, also after a login."""

MOST_TOLD = 12
"""Most sentences of what came of a move; of more, the last ones."""


@dataclass
class LessonPage(PlayedTable):
    """A step of a lesson as the learner reads it."""

    lesson: Lesson = field(kw_only=True)
    number: int = 0
    """The step, from 0."""
    is_lost: bool = False
    """True if the browser's place in the lesson was of no use."""
    picks: Picks | None = None
    """Answers of a half-made move."""

    @property
    def step(self) -> LessonStep:
        """Return the step."""
        return self.lesson.steps[self.number]

    @property
    def current_game(self) -> AnyGame:
        """Return the game as this step shows it."""
        return self.lesson.match.game_at(self.lesson.versions[self.number])

    @property
    def address(self) -> str:
        """Return the address of the lesson."""
        return f"/learn/{self.summary['ruleset']}/game"

    @property
    def rules_address(self) -> str:
        """Return the address of the rules."""
        return f"/learn/{self.summary['ruleset']}/rules"

    @property
    def takes_advice(self) -> bool:
        """Return False: the step tells the move."""
        return False

    @property
    def builder(self) -> Builder:
        """Return the move builder."""
        records = self.lesson.match.records[: self.current_game.version]
        return LessonBuilder(self.game, self.role, self.labels, self.current_game, records, self.lesson.file.seat)

    @property
    def words(self) -> StepWords:
        """Return the words of the step, with the figures of the board in them."""
        words = self.step.words[self.labels.texts.lang]
        figures = {name: self._say_figure(value) for name, value in self.lesson.read_figures(self.number).items()}
        return StepWords(words.title, fill_figures(words.text, figures), fill_figures(words.wait, figures))

    def _say_figure(self, value: Json) -> str:
        return self.labels.texts.grammar.number(value) if isinstance(value, int) else self.labels.option("", value)

    def load_scores(self) -> Sequence[Doc]:
        """Return the standings."""
        return [dict(score.to_json()) for score in self.labels.rules.scores(self.current_game.state)]

    def ask(self) -> Prompt | None:
        """Return the first question of a step with a move, or None."""
        return ask_first(self) if self.step.moves else None

    def render(self, asked: Prompt | None, status: int = 200) -> Response:
        """Return the page with a question, or with the way to the next step."""
        return _render(self, asked, status)

    def keep(self, picks: Picks, position: int = 0) -> Response | None:
        """Return the way to the next question with the answers so far kept, or None if they do not fit."""
        return None if position else self._keep_place(redirect(self.question_address), self.number, picks)

    def forget(self, response: Response) -> Response:
        """Forget the answers so far."""
        return self._keep_place(response, self.number)

    def make(self, picks: Picks, moves: Sequence[Json]) -> Answer:
        """Go on with the lesson's own moves; tell of any others what they would do, and why the lesson waits."""
        tried = self.builder.preview(picks.decision, moves)
        if tried.status >= 400 or self.lesson.is_expected(self.number, moves):
            return tried if tried.status >= 400 else Answer(200, {"position": self.number + 1})
        told = tried.doc.get("told") or [f"{self.labels.sentence(self.labels.move(moves[-1])).rstrip('.')}."]
        allowed = Message(
            "The rules allow this: {told} The lesson waits: {wait}", told=" ".join(told), wait=self.words.wait
        )
        return Answer(409, {"title": "", "detail": i18n.translate(allowed, i18n.request_language())})

    def lead_on(self, made: Answer) -> Response:
        """Lead to the step after a move."""
        return self.lead_to(int(made.doc["position"]))

    def catch_up(self, picks: Picks, refusal: Answer) -> Response:
        """Lead to the step of the newest page: the form was of another one."""
        return redirect(self.question_address)

    def find_repeat(self, picks: Picks, count: int = 1) -> Answer | None:
        """Return None: a repeated form is that of another step."""
        return None

    def lead_to(self, number: int) -> Response:
        """Lead to a step."""
        return self._keep_place(redirect(self.question_address), min(max(number, 0), len(self.lesson.steps) - 1))

    def _keep_place(self, response: Response, number: int, picks: Picks | None = None) -> Response:
        """Keep a step in the browser; the answers only if they fit."""
        ruleset = self.summary["ruleset"]
        state = {"lesson": self.lesson.digest, "step": number, "picks": dump_picks(picks) if picks else None}
        forms = services().account_store.signed_forms
        sealed = forms.seal(_OWNER, _use(ruleset), state, SECONDS * 1000)
        if len(sealed) > MOST_BYTES:
            return self._keep_place(response, number)
        return set_table_cookie(response, COOKIE, sealed, self.address, SECONDS)

    def find_news(self) -> Gazette | None:
        """Return what has come of the learner's last move, or None."""
        told, match, since = self.labels.texts, self.lesson.match, self.lesson.find_start(self.number)
        namer = SeatNames(told, self.labels.names.powers, {})
        entries = [_load_entry(self.lesson, version) for version in range(since + 1, self.current_game.version + 1)]
        battles = build_battles(match.rules, entries, told, lambda _: namer)
        cards = [replace(each, is_on_map=False) for each in show_battles(self, [dict(each) for each in battles])][
            :MOST_CARDS
        ]
        on_cards = {line for each in battles for line in each["sentences"]}
        texts = [dict(add_text(match.rules, entry, told, namer)) for entry in entries]
        lines = [line for entry in texts for line in self.tell(entry) if line not in on_cards]
        if not cards and not lines:
            return None
        changes = list_figure_changes(self, self.load_earlier())
        fought = [NewsLine(each.doc["told"], each) for each in cards]
        return Gazette(since, False, [*fought, *map(NewsLine, lines[-MOST_TOLD:])], changes=changes)

    def load_earlier(self) -> Doc:
        """Return the board before the news."""
        match = self.lesson.match
        return read_board(match.rules, match.game_at(self.lesson.find_start(self.number)), self.lesson.file.seat)


def show_lesson(ruleset: str) -> Response:
    """Show the step at which the learner is."""
    page = _load_page(ruleset)
    if page is None:
        return redirect(f"/learn/{ruleset}")
    asked = resume_move(page, page.picks) if page.picks else None
    shown = page.render(asked or page.ask())
    return page.forget(shown) if page.is_lost else shown


def turn_lesson(ruleset: str) -> Response:
    """Go to the next step if nothing is to be done here, to the one before, or to the first one."""
    page, act = _load_page(ruleset), request.form.get("act", "")
    if page is None:
        return redirect(f"/learn/{ruleset}")
    if parse_number(request.form.get("step", ""), 99) != page.number:  # a second click, or an older page
        return redirect(page.question_address)
    if act not in ("next", "back", "again"):
        raise Problem("form_stale")
    if act == "next" and page.step.moves:
        return redirect(page.question_address)
    return page.lead_to({"next": page.number + 1, "back": page.number - 1, "again": 0}[act])


def play_lesson(ruleset: str) -> Response:
    """Take an answer to the question of a step."""
    page = _load_page(ruleset)
    if page is None:
        return redirect(f"/learn/{ruleset}")
    return take_answer(page) if page.step.moves else redirect(page.question_address)


def reopen_lesson(ruleset: str) -> Response:
    """Lead to the lesson from the address of a form's answer."""
    return redirect(f"/learn/{ruleset}/game#move")


def _use(ruleset: str) -> str:
    return f"lesson|{ruleset}"


def _load_page(ruleset: str) -> LessonPage | None:
    """Return the learner's step, or None for a ruleset without a lesson. Raise Problem."""
    try:
        lesson = load_lesson(services().registry.get(ruleset))
    except UnknownRuleset:
        raise Problem("unknown_ruleset") from None
    if lesson is None:
        return None
    kept = table_cookie(COOKIE)
    state = services().account_store.signed_forms.open(_OWNER, _use(ruleset), kept) if kept else None
    if state is not None and state["lesson"] == lesson.digest:
        return load_step(lesson, int(state["step"]), state["picks"])
    return load_step(lesson, 0, is_lost=bool(kept))


def load_step(lesson: Lesson, number: int, picks: Doc | None = None, *, is_lost: bool = False) -> LessonPage:
    """Return a step of a lesson as a page."""
    return load_position(
        LessonPage,
        lesson.match.rules,
        lesson.match.game_at(lesson.versions[number]),
        lesson.file.seat,
        lesson=lesson,
        number=number,
        is_lost=is_lost,
        picks=load_picks(picks) if picks else None,
    )


def _load_entry(lesson: Lesson, version: int) -> Doc:
    """Return a record as the learner may read it."""
    before, after = (LoadedGame(lesson.match.rules, lesson.match.game_at(each)) for each in (version - 1, version))
    parts = build_entries(lesson.match.records[version - 1], before, after)
    own = [part for key, part in parts.items() if key != ALL_KEY and may_read(key, lesson.file.seat)]
    return {**parts[ALL_KEY], **({"own": own} if own else {})}


def _render(page: LessonPage, asked: Prompt | None, status: int) -> Response:
    offers = offer_regions(page, asked)
    news = page.find_news() if asked is None or not asked.is_begun else None
    shown = show_table_map(page, offers, page.load_earlier() if news else None)
    return render_position(
        "lesson",
        page,
        shown,
        page.step.mark,
        status,
        asked=asked,
        step=page.step,
        is_asked=bool(page.step.moves),
        words=page.words,
        number=page.number + 1,
        count=len(page.lesson.steps),
        news=news,
        offer_ids=offers.ids,
        asks_region=offers.are_asked,
        help=None,  # the step tells what its decision is for
        sheet=page.show_sheet(),
        key=new_form_key(),
    )
