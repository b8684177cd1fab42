"""Exercises: a position of a recorded game, a question about it, and the answers that the rules give.

An answer is in the address, so nothing is kept, and an exercise can be passed on as a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flask import Response, request

from api.http import i18n
from api.http.problems import Problem
from api.pages.common.form_keys import new_form_key
from api.pages.common.geometry import load_geometry
from api.pages.common.numbers import parse_number
from api.pages.common.session import redirect
from api.pages.decision.why_not import find_words
from api.pages.lessons.position_page import load_position, render_position
from api.pages.map.map_view import Offers
from api.pages.table.table import show_table_map
from api.pages.table.table_page import TablePage
from api.services import services
from domain.errors import UnknownRuleset
from domain.exercises import Exercise, load_exercises
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.text.message_catalog import Message
from domain.types import Doc, Seat

_QUESTIONS = {
    "allowed": Message("Which of these can you do now?"),
    "refused": Message("Why can you not do this now?"),
    "count": Message("Who has the most points after this?"),
}


@dataclass(frozen=True)
class AnswerShown:
    """An answer of an exercise. `verdict` and `rule` are told once one has answered."""

    text: str
    verdict: str
    rule: str
    is_right: bool


@dataclass
class ExercisePage(TablePage):
    """An exercise as a player reads it."""

    exercise: Exercise = field(kw_only=True)
    number: int = field(kw_only=True)
    """The number of the exercise, from 1."""

    @property
    def address(self) -> str:
        """Return the address of the exercise."""
        return f"/learn/{self.summary['ruleset']}/exercises/{self.number}"

    @property
    def rules_address(self) -> str:
        """Return the address of the rules."""
        return f"/learn/{self.summary['ruleset']}/rules"

    @property
    def takes_advice(self) -> bool:
        """Return False: to find the answer is the exercise."""
        return False

    @property
    def question(self) -> str:
        """Return the question."""
        return _say(_QUESTIONS[self.exercise.spec.kind])

    @property
    def subject(self) -> str:
        """Return what the question is about, or an empty text."""
        spec = self.exercise.spec
        if spec.kind == "refused":
            return self._say_move(spec.moves[spec.asked])
        if spec.kind == "count" and (seat := self.exercise.following[0]) is not None:
            move = self._say_move(self.exercise.following[1])
            return _say(Message("{seat} plays next: {move}", seat=self._name_seat(seat), move=move))
        return _say(Message("The round ends now.")) if spec.kind == "count" else ""

    def load_scores(self) -> Sequence[Doc]:
        """Return the standings."""
        return [dict(score.to_json()) for score in self.labels.rules.scores(self.exercise.game.state)]

    def list_answers(self) -> list[AnswerShown]:
        """Return the answers in their order."""
        right = self.exercise.right
        shown = zip(self._list_texts(), self._list_verdicts(), self._list_rules(), strict=True)
        return [AnswerShown(*parts, number == right) for number, parts in enumerate(shown)]

    def _list_texts(self) -> list[str]:
        match self.exercise.spec.kind:
            case "count":
                return [self._name_seat(seat) for seat in range(self.exercise.count)]
            case "refused":
                return self._list_refusals()
        return list(map(self._say_move, self.exercise.spec.moves))

    def _list_verdicts(self) -> list[str]:
        match self.exercise.spec.kind:
            case "count":
                return [
                    _say(Message("{count} {count#point|points} after it", count=each)) for each in self.exercise.points
                ]
            case "refused":
                return [
                    _say(Message("That is why."))
                    if each == self.exercise.right
                    else _say(Message("That is said of another move: {move}", move=self._say_move(move)))
                    for each, move in enumerate(self.exercise.spec.moves)
                ]
        return [each or _say(Message("The rules allow this.")) for each in self._list_refusals()]

    def _list_refusals(self) -> list[str]:
        texts, namer = self.labels.texts, self.labels.names
        refusals = self.exercise.refusals
        return [texts.refusal(each.code, each.detail, namer) or "" if each else "" for each in refusals]

    def _list_rules(self) -> list[str]:
        is_cited = self.exercise.spec.kind in ("allowed", "refused")
        rules = [each.rule if each and is_cited else "" for each in self.exercise.refusals]
        return rules or [""] * self.exercise.count

    def _name_seat(self, seat: Seat) -> str:
        return self.labels.sentence(self.labels.short_seat(seat)).rstrip(".")

    def _say_move(self, move: Doc) -> str:
        return self.labels.sentence(self.labels.move(move))


def show_exercise(ruleset: str, number: int) -> Response:
    """Show an exercise, and with an answer what is right and why."""
    rules = _find_rules(ruleset)
    found = load_exercises(rules)
    if not found:
        return redirect(f"/learn/{ruleset}")
    if not 1 <= number <= len(found):
        raise Problem("not_found")
    exercise = found[number - 1]
    page = load_position(ExercisePage, rules, exercise.game, exercise.spec.seat, exercise=exercise, number=number)
    chosen = parse_number(request.args.get("answer", ""), exercise.count - 1)
    return render_position(
        "exercise",
        page,
        show_table_map(page, Offers(), None),
        _find_regions(page),
        asked=None,
        news=None,
        offer_ids=(),
        is_asked=page.decision is not None and page.must_decide,
        answers=page.list_answers(),
        key=new_form_key(),
        chosen=chosen,
        is_right=chosen == exercise.right,
        number=number,
        count=len(found),
    )


def _find_rules(ruleset: str) -> AnyRuleset:
    try:
        return services().registry.get(ruleset)
    except UnknownRuleset:
        raise Problem("unknown_ruleset") from None


def _find_regions(page: ExercisePage) -> set[str]:
    """Return the regions that the question names."""
    geometry = load_geometry(page.labels.rules.package)
    spec = page.exercise.spec
    shown = {"refused": [spec.moves[spec.asked]] if spec.moves else [], "count": [page.exercise.following[1]]}
    moves = shown.get(spec.kind, spec.moves)
    return set(find_words(list(moves))) & set(geometry.regions) if geometry else set()


def _say(message: Message) -> str:
    return i18n.translate(message, i18n.request_language())
