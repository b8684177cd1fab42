"""Tournaments as aggregates, for tests: terms, ids and people."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.kernel.schema.json_codec import from_json
from domain.tournament_handler import TournamentHandler
from domain.tournaments.aggregate.basic_commands import (
    CheckIn,
    CloseCheckIn,
    Draw,
    Enter,
    OpenCheckIn,
    ShowNonce,
    TournamentCommand,
    TournamentContext,
    draft_opening,
)
from domain.tournaments.aggregate.result_commands import AddTable, AnnulPod, Rank, Report, is_legal_pod
from domain.tournaments.aggregate.stage import TablePlace
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record, initial_tournament
from domain.tournaments.aggregate.tournament_proof import export_lines
from domain.tournaments.draw import commit_nonce, make_chain
from domain.tournaments.records import build_record
from domain.tournaments.scoring import rank_points
from domain.tournaments.terms import Terms, check_terms, terms_to_json

TERMS: dict[str, Any] = {
    "ruleset": "orders@1",
    "least": 3,
    "most": 3,
    "preferred": 3,
    "options": {},
    "table": {"pace": None, "undo": "free", "listing": "public"},
    "listing": "public",
    "stages": [{"format": "league", "rounds": 2}],
    "reveal": 60,
}


def tournament_id(number: int = 1) -> str:
    """Return an id in the form of those of tournaments."""
    return f"00000000-0000-8000-8000-{number:012x}"


def drawn(handler: TournamentHandler, people: int = 9, tournament: str = "", **terms: Any) -> Tournament:
    """Return a tournament after its draw; every third entrant has sent a nonce."""
    made = tournament or tournament_id()
    handler.open(made, "organiser", {**TERMS, **terms})
    for entrant in range(people):
        handler.handle(made, Enter(f"p{entrant}"))
    handler.handle(made, OpenCheckIn())
    for entrant in range(people):
        handler.handle(made, CheckIn((f"p{entrant}",), "" if entrant % 3 else commit_nonce(f"wind {entrant}")))
    handler.handle(made, CloseCheckIn())
    for entrant in range(0, people, 3):
        handler.handle(made, ShowNonce((f"p{entrant}",), f"wind {entrant}"))
    handler.handle(made, Draw(1, 1))
    return handler.load(made)


class EventInMemory:
    """A tournament that is run without a store: commands are decided and folded, the clock goes on by a millisecond."""

    def __init__(self, number: int = 1, **terms: Any) -> None:
        self.now = 1_000
        self.chain = make_chain(b"the last secret of a chain......", 64)
        doc = terms_to_json(check_terms(from_json(Terms, {**TERMS, **terms})))
        draft = draft_opening(tournament_id(number), "organiser", doc, self.chain[0])
        self.records = [build_record(draft, 1, self.now, "", "director")]
        self.t = initial_tournament(self.records[0])

    def act(self, *commands: TournamentCommand) -> Tournament:
        """Execute commands one after the other; raise as they do."""
        for command in commands:
            self.now += 1
            reason = "" if command.by != "director" else "0" * 8
            context = TournamentContext(self.now, self.chain.__getitem__, self._make_salt)
            for draft in command.decide(replace(self.t, time=self.now), context):
                record = build_record(draft, self.t.version + 1, self.now, self.t.hash, command.by, reason)
                self.t = apply_tournament_record(self.t, record)
                self.records.append(record)
        return self.t

    def _make_salt(self) -> str:
        return f"{self.now:032x}"

    def draw_first(self, people: int) -> Tournament:
        """Enter people, check them in, and draw the first round."""
        self.act(*(Enter(f"p{n}") for n in range(people)), OpenCheckIn())
        self.act(*(CheckIn((f"p{n}",), "" if n % 3 else commit_nonce(f"wind {n}")) for n in range(people)))
        self.act(CloseCheckIn(), *(ShowNonce((f"p{n}",), f"wind {n}") for n in range(0, people, 3)))
        return self.act(Draw(1, 1))

    def play_round(self, stage: int, round_: int, chance: random.Random) -> Tournament:
        """Make the tables of a drawn round, report results by chance, and rank it."""
        self.make_tables(stage, round_)
        play = self.t.stages[stage - 1]
        for place, table in sorted(play.tables.items()):
            if place[0] == round_ and not table.annulled and not table.result:
                self.report(stage, place, [chance.randrange(9) for _ in table.entrants])
        return self.act(Rank(stage, round_))

    def make_tables(self, stage: int, round_: int) -> None:
        """Make the tables of a round, with a name in place of a game."""
        play = self.t.stages[stage - 1]
        for pod in range(1, len(play.rounds[round_ - 1].pods) + 1):
            if (round_, pod) in play.tables:
                continue
            present = self.t.list_present(stage, round_, pod)
            is_legal = is_legal_pod(self.t, stage, (round_, pod))
            game = f"{stage}.{round_}.{pod}.{play.attempt_at((round_, pod))}"
            made = AddTable(stage, round_, pod, game, present) if is_legal else AnnulPod(stage, round_, pod)
            self.act(made)

    def report(self, stage: int, place: TablePlace, points: Sequence[int]) -> None:
        """Report a table with these game points."""
        table = self.t.stages[stage - 1].tables[place]
        self.act(Report(stage, *place, table.game, 9, "0" * 64, rank_points(points), tuple(points)))

    def export(self) -> bytes:
        """Return the export."""
        return b"".join(export_lines(self.records[0], self.records[-1], self.records))
