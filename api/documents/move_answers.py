"""Answers of the move builder and of dry runs, with their sentences in one language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from api.schemas.play_responses import BuilderAnswerDoc, DryRunDoc, FurtherAnswerDoc
from domain.kernel.narration.move_sentences import MoveSentences, find_move_type, option_key
from domain.kernel.rules.choices import Answers, Choice, ChoiceDoc
from domain.kernel.rules.flow import State
from domain.kernel.rules.ruleset import AnyRuleset
from domain.kernel.schema.canonical_json import canonical
from domain.kernel.text.message_catalog import Texts
from domain.queries import MovePreview
from domain.types import Doc, Json


@dataclass(frozen=True)
class MoveTeller:
    """Answers of the move builder to a seat."""

    rules: AnyRuleset
    state: State
    sentences: MoveSentences[State]

    def answer_to_json(self, answers: Doc, step: Choice | Json) -> BuilderAnswerDoc:
        """Return an answer of the builder: a question or a finished move."""
        if isinstance(step, Choice):
            return {"choice": self._choice_to_json(answers, step), "move": None, "text": None}
        doc: BuilderAnswerDoc = {"choice": None, "move": step, "text": self.sentences.move(step)}
        if loan := self.sentences.loan(step):
            doc["loan"] = loan
        return doc

    def further_to_json(
        self, picks: list[Json], answers: Doc, step: Choice | Json, further: Answers
    ) -> Iterator[FurtherAnswerDoc]:
        """Yield the answers to further picks, each after those to fewer picks."""
        known = {canonical(picks): (answers, step)}
        for made, after in further:
            before, choice = known[canonical(made[:-1])]
            given = {**before, choice.field: made[-1]} if isinstance(choice, Choice) else before
            known[canonical(made)] = given, after
            yield {"picks": made, **self.answer_to_json(given, after)}

    def _choice_to_json(self, answers: Doc, choice: Choice) -> ChoiceDoc:
        """Return the choice with its text, the text keys of its options, and their texts."""
        kind = find_move_type(self.rules, self.state.top.kind, answers)
        doc = choice.to_json()
        if asked := self.sentences.question(kind, choice.field, answers):
            doc["text"] = asked
        texts = self.sentences.options(kind, choice.field, choice.values, answers)
        for option, text in zip(doc.get("options", ()), texts, strict=True):
            if key := option_key(choice.field, option["value"]):
                option["label"] = key
            if text:
                option["text"] = text
        return doc


def preview_to_json(preview: MovePreview, undo: Literal["alone", "consent", "never"], texts: Texts) -> DryRunDoc:
    """Return the consequences of moves, without those not known."""
    doc: DryRunDoc = {"legal": True, "undo": undo}
    if preview.chance is not None:
        doc["chance"] = preview.chance
    if preview.barrier is not None:
        doc["barrier"] = preview.barrier
    if preview.facts is not None:
        doc["facts"] = preview.facts
    drawn = _tell_draw(texts, preview.draw)
    if drawn is not None or preview.told is not None:
        doc["told"] = preview.told or [] if drawn is None else [drawn]
    if preview.depends:
        doc["depends"] = True
    return doc


def _tell_draw(texts: Texts, label: str) -> str | None:
    """Return the sentence of the first draw of a move, or None if the texts do not name it."""
    return texts.render("line.chance", {"drawn": label}) if texts.get(f"word.{label}") else None
