"""The move builder and dry runs of a lesson: the rules themselves, in memory, with the answers that a table gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.documents.move_answers import MoveTeller, preview_to_json
from api.http.problems import problem_of_error
from api.pages.common.in_process import Answer
from api.pages.common.session import localize_problem
from api.pages.decision.move_choices import MOST_AHEAD, MOST_MOVES, Builder, Picks
from domain.errors import AnnalsError
from domain.kernel.game.game import AnyGame
from domain.kernel.game.play_commands import require_open_decision
from domain.kernel.narration.move_sentences import MoveSentences, number_alike
from domain.kernel.narration.sentences import fact_sentences
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import query_answers
from domain.kernel.rules.flow import State
from domain.queries import check_moves, list_further_answers, list_moves, preview_moves
from domain.types import Json, Seat


@dataclass(frozen=True)
class LessonBuilder(Builder):
    """The move builder of a version of a lesson."""

    played: AnyGame
    records: Sequence[Record]
    seat: Seat

    @property
    def _sentences(self) -> MoveSentences[State]:
        labels = self.labels
        return MoveSentences(labels.rules, labels.texts, labels.names, self.seat, self.played.state)

    def _ask(self, decision: str, picks: Sequence[Json], query: str = "") -> Answer:
        rules, state, made = self.labels.rules, self.played.state, list(picks)
        try:
            require_open_decision(rules, self.played, decision)
            answers, step = query_answers(rules, state, self.seat, made)
        except AnnalsError as error:
            return _refuse(error)
        teller = MoveTeller(rules, state, self._sentences)
        doc = {"version": self.played.version, "decision": decision, **teller.answer_to_json(answers, step)}
        if query:
            further = list_further_answers(rules, state, self.seat, made, MOST_AHEAD)
            doc["ahead"] = list(teller.further_to_json(made, answers, step, further))
        return Answer(200, doc)

    def list_moves(self, picks: Picks) -> Answer:
        """Return all moves after the picks."""
        moves, count = list_moves(self.labels.rules, self.played.state, self.seat, picks.values, MOST_MOVES)
        return Answer(
            200, {"moves": moves, "count": count, "texts": number_alike(list(map(self._sentences.move, moves)))}
        )

    def preview(self, decision: str, moves: Sequence[Json]) -> Answer:
        """Return the dry run of moves. All of a lesson can be taken back."""
        rules, labels = self.labels.rules, self.labels
        try:
            check_moves(rules, self.played, self.seat, list(moves), decision, None, self.played.time)
        except AnnalsError as error:
            return _refuse(error)
        found = preview_moves(
            rules, self.records, self.seat, list(moves), lambda facts: fact_sentences(labels.texts, labels.names, facts)
        )
        return Answer(200, {**preview_to_json(found, "alone", labels.texts), "depends": False})


def _refuse(error: AnnalsError) -> Answer:
    problem = problem_of_error(error)
    return Answer(problem.status, localize_problem(problem))
