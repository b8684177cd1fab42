"""The question to a visitor: the answers so far, the next question, the dry run of a finished move."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from api.pages.common.in_process import Answer, ask
from api.pages.common.labels import Labels, capital
from api.pages.decision.help_shown import Term, find_line, find_lines, list_terms
from api.pages.decision.map_starts import StartFinder, locate_pieces
from api.pages.decision.move_choices import (
    BuilderState,
    OptionShown,
    Picks,
    Question,
    WholeMove,
    find_owners,
    name_answers,
    parse,
    share_cost,
    share_unit,
    show_question,
)
from api.pages.decision.number_forms import NumberForm, Numbers, find_beside, find_form
from api.pages.decision.option_folds import Fold, fold_question, fold_whole
from api.pages.decision.order_sheet import list_moves
from api.pages.decision.why_not import Missing, Reason, list_closed_kinds, list_missing
from api.pages.table.table_page import TablePage
from domain.types import Doc, Json

LEAST_SHARED = 3
"""Least words of the common beginning of all moves."""


@dataclass
class Prompt:
    """The question to the visitor, and notes on the answers so far."""

    step: BuilderState | None = None
    question: Question | None = None
    whole: Sequence[WholeMove] = ()
    form: NumberForm | None = None
    beside: NumberForm | None = None
    """Form below the question, in place of some of its kinds of moves."""
    is_filled: bool = False
    """True if the form shows numbers from the visitor."""
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
    advice: Doc | None = None
    """The suggested move that is previewed, or why there is none."""
    reason: Reason | None = None
    """Why one of them is not offered."""

    @property
    def kind(self) -> str:
        """Return the name of all whole moves if they differ in their members alone, or an empty text."""
        kinds = {move.kind if move.rest else "" for move in self.whole}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def shared(self) -> str:
        """Return the common beginning of all whole moves of one kind; an empty text for less than three words."""
        told = [move.rest.split(" ") for move in self.whole if not move.ends]
        if not self.kind or len(told) < 2 or self.whole[0].is_answer:
            return ""
        words = [each[0] for each in takewhile(lambda each: len({*each}) == 1, zip(*told, strict=False))]
        return " ".join(words) if len(words) >= LEAST_SHARED and all(len(each) > len(words) for each in told) else ""

    def list_told(self) -> list[OptionShown]:
        """Return the whole moves in words, without their common beginning, and without ends."""
        moves, shared = [move for move in self.whole if not move.ends], self.shared
        cut = len(shared) + 1 if shared else 0
        told = [capital(move.rest[cut:]) if self.kind else move.label for move in moves]
        return [OptionShown(text, move.path, line=move.line) for text, move in zip(told, moves, strict=True)]

    @property
    def is_begun(self) -> bool:
        """Return True if the visitor has given an answer or reads a reason: the page keeps it."""
        picks = self.step.picks if self.step else None
        if self.reason is not None or self.advice is not None or self.is_filled:
            return True
        return picks is not None and bool(
            picks.at or picks.replaces is not None or any(not each.forced for each in picks.trail)
        )

    def list_about(self, decision: Doc | None) -> Json:
        """Return what the question is about: the answers so far, and what the decision answers."""
        return [*(self.step.picks.values if self.step else ()), (decision or {}).get("context")]

    @property
    def ending(self) -> list[OptionShown]:
        """Return the whole moves that end the turn."""
        return [OptionShown(move.label, move.path, ends=True) for move in self.whole if move.ends]

    def folds(self, labels: Labels) -> list[Fold]:
        """Return the folds of the options, or none for a short question."""
        return fold_question(labels, self.question) if not self.whole else [] if self.kind else fold_whole(self.whole)

    def terms(self, labels: Labels) -> list[Term]:
        """Return the things among the offered answers, each with a sentence about it."""
        groups = self.question.groups if self.question else ()
        shown = [each for _, options in groups for each in options]
        said = {*(each.line for each in shown), *(move.line for move in self.whole)}
        values = [*(each.value for each in shown), *(move.path for move in self.whole)]
        return [term for term in list_terms(labels, map(parse, values)) if term.line["text"] not in said]

    def answers(self, labels: Labels) -> list[tuple[str, str, bool]]:
        """Return the answers so far in words: question, answer, and True for a forced one."""
        return name_answers(labels, self.step.picks.trail) if self.step else []


def new_picks(page: TablePage) -> Picks:
    """Return no answers yet to the open decision."""
    return Picks((page.decision or {}).get("id", ""), secrets.token_urlsafe(18))


def ask_first(page: TablePage) -> Prompt:
    """Return the first question for the visitor's seat, with the whole moves if they are few."""
    return ask_next(page, page.builder.advance(new_picks(page)))


def resume_move(page: TablePage, picks: Picks) -> Prompt | None:
    """Return the next question of a half-made move, or None if the game has moved on."""
    if not (page.must_decide or page.may_decide) or picks.decision != (page.decision or {}).get("id"):
        return None
    asked = ask_next(page, page.builder.advance(picks))
    return asked if asked.refusal is None else None


def preview_move(page: TablePage, step: BuilderState) -> Answer:
    """Return the dry run of a finished move: its consequences, as far as the seat may know them."""
    return page.builder.preview(step.picks.decision, list_moves(page.labels, step.picks, step.move))


def suggest(page: TablePage) -> Prompt:
    """Return the bot's move for the open decision, with its reason, to be made with one tap."""
    found, picks = ask("GET", f"/games/{page.game}/suggestion", role=page.role), new_picks(page)
    if found.status >= 400 or found.doc["move"] is None:
        asked = ask_first(page)
        asked.refusal, asked.advice = (found.doc, None) if found.status >= 400 else (None, found.doc)
        return asked
    step = BuilderState(picks, Answer(200, found.doc | {"choice": None}))
    preview = preview_move(page, step)
    return Prompt(step, preview=preview.doc, advice=found.doc) if preview.status < 400 else Prompt(refusal=preview.doc)


def find_begun(page: TablePage, step: BuilderState) -> Question | None:
    """Return the question about the places chosen on the map, or None."""
    return StartFinder(page.builder, step, locate_pieces(page.labels.rules.package, page.board)).find()


def ask_next(page: TablePage, step: BuilderState, given: Numbers | None = None) -> Prompt:
    """Return the next question of a step. `given`: numbers for its form."""
    if step.answer.status >= 400:
        return Prompt(refusal=step.answer.doc)
    if step.move is not None:
        preview = preview_move(page, step)
        return Prompt(refusal=preview.doc) if preview.status >= 400 else Prompt(step, preview=preview.doc)
    if step.picks.at:
        if begun := find_begun(page, step):
            return Prompt(step, begun)
        step = replace(step, picks=replace(step.picks, at=()))
    if page.seat is not None and (form := find_form(page.builder, step, page.board, page.seat, given)):
        missing = list_missing(page.labels, page.board, step)
        return Prompt(step, form=form, missing=missing, is_filled=given is not None)
    return _ask_options(page, step, given)


def _ask_options(page: TablePage, step: BuilderState, given: Numbers | None) -> Prompt:
    """Return a question of options: as whole moves, with the next answers, or alone; and the form beside it."""
    whole = page.builder.list_whole_moves(step)
    owners = find_owners(page.board["public"])
    question = page.builder.open_options(step) if not whole else None
    if question is None and step.choice and not whole:
        shown = page.builder.tell_kinds(step, show_question(page.labels, step.choice, owners))
        question = share_unit(share_cost(shown))
    opened = [] if whole else [after for _, after in page.builder.next_questions(step)]
    missing = list_missing(page.labels, page.board, step, whole, opened)
    whole, question = _explain_whole(page.labels, whole), _explain_options(page.labels, question)
    closed = list_closed_kinds(page.labels, page.board, missing)
    beside = find_beside(page.builder, step, given) if question else None
    if question and beside:
        question = _leave_out(question, beside)
    filled = beside is not None and given is not None
    return Prompt(step, question, whole, None, beside, filled, missing=missing, closed_kinds=closed)


def _explain_whole(labels: Labels, whole: Sequence[WholeMove]) -> list[WholeMove]:
    """Return whole moves with the effect of the thing in each."""
    paths = [parse(move.path) for move in whole]
    kinds = Counter(path[0][1] for path in paths if path)
    told = zip(paths, find_lines(labels, paths), strict=True)
    lines = [line or (find_line(labels, path) if path and kinds[path[0][1]] == 1 else "") for path, line in told]
    return [replace(move, line=line) for move, line in zip(whole, lines, strict=True)]


def _explain_options(labels: Labels, question: Question | None) -> Question | None:
    """Return a question with the effect of the thing in each option."""
    if question is None:
        return None
    found = dict[str, str]()
    asked = [options for _, options in question.groups]
    for some in asked if question.kind == "paths" else [[each for options in asked for each in options]]:
        values = [parse(each.value) for each in some]
        is_lone = question.kind == "paths" and len(values) == 1
        lines = [find_line(labels, values[0])] if is_lone else find_lines(labels, values)
        found |= {each.value: line for each, line in zip(some, lines, strict=True)}
    groups = [(name, [replace(each, line=found[each.value]) for each in some]) for name, some in question.groups]
    return replace(question, groups=groups)


def _leave_out(question: Question, beside: NumberForm) -> Question:
    """Return the question without the kinds of moves of a form beside it."""
    kinds = {parse(row.path)[0][1] for _, rows in beside.groups for row in rows}

    def is_kept(option: OptionShown) -> bool:
        value = parse(option.value)
        return (value[0][1] if question.kind == "paths" else value) not in kinds

    groups = [(name, [each for each in options if is_kept(each)]) for name, options in question.groups]
    return replace(question, groups=[(name, options) for name, options in groups if options])
