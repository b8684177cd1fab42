"""A game in memory, with every version, for simulations, scenarios, tests and offline replay."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Generic

from domain.errors import RuleError, StaleVersion
from domain.kernel.game.command import Command
from domain.kernel.game.deadlines import parse_time_control
from domain.kernel.game.director_commands import Extend, Hold, Look, Rewind
from domain.kernel.game.game import Game
from domain.kernel.game.game_fold import active_versions, state_known_to
from domain.kernel.game.play_commands import Lapse, Play, Resolve
from domain.kernel.game.record_builder import CommandContext, Transition
from domain.kernel.game.table_commands import Close, Join, Leave, Open, Start, Vacate
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draws import DrawSource
from domain.kernel.rules.flow import Decision, S
from domain.kernel.rules.meta import Meta
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Json, Seat


def one_day_pace(meta: Meta) -> Json:
    """Return the pace of one day per decision."""
    return {"seconds": dict.fromkeys(sorted({*meta.clocks.values(), "move"}), 24 * 3600)}


class InMemoryGame(Generic[S]):
    """A game opened, joined by one player per seat, and started; by default with a day for each decision.

    With `start=False` it waits for its Start. `terms` are members of the record `opened`.
    """

    def __init__(
        self,
        rules: Ruleset[S],
        seats: int,
        seed: bytes,
        *,
        options: Mapping[str, Json] | None = None,
        game: str = "match",
        source: DrawSource | None = None,
        patch: Json = None,
        pace: Json = None,
        terms: Mapping[str, Json] | None = None,
        start: bool = True,
    ) -> None:
        self.rules, self.seed, self.source = rules, seed, source
        self.now = 0
        self.records: list[Record] = []
        self.games: list[Game[S]] = []
        time_control = parse_time_control(rules.meta, one_day_pace(rules.meta) if pace is None else pace)
        body = {"pace": time_control.to_json(), **(terms or {})}
        self._append(Open(game, rules.make_table(seats, options), body).execute(rules, self.context))
        for seat in range(seats):
            self.execute(Join(seat, f"p{seat}"))
        if start:
            self.execute(Start(patch))

    def fork(self) -> InMemoryGame[S]:
        """Return an independent copy to play on from here."""
        other = copy.copy(self)
        other.records = list(self.records)
        other.games = list(self.games)
        return other

    @property
    def context(self) -> CommandContext:
        """Return the context of the next command: seed, time and source."""
        return CommandContext(self.seed, self.now, "", self.source, self._require_game_at)

    def _require_game_at(self, to: int) -> Game[S]:
        if to not in self.active_versions():
            raise RuleError("not_on_line", "", {"to": to})
        return self.game_at(to)

    @property
    def game(self) -> Game[S]:
        """Return the newest version."""
        return self.games[-1]

    @property
    def state(self) -> S:
        """Return the state of the newest version."""
        return self.game.state

    def known_to(self, seat: Seat) -> S:
        """Return the state folded from the facts alone that the seat may read."""
        return state_known_to(self.rules, self.records, seat)

    def decisions(self) -> list[Decision]:
        """Return the open decisions."""
        return decisions(self.rules, self.state, self.game.lasting.rewinds.count)

    def game_at(self, version: int) -> Game[S]:
        """Return the game after a version."""
        return self.games[version - 1]

    def active_versions(self) -> list[int]:
        """Return the active versions."""
        return active_versions(self.records)

    def execute(self, command: Command) -> Record:
        """Execute a command and return its record; raise as the command does."""
        return self._append(command.execute(self.rules, self.game, self.context))

    def _append(self, transition: Transition[S]) -> Record:
        self.records.append(transition.record)
        self.games.append(transition.game)
        self.now += 1000
        return transition.record

    def play(
        self,
        seat: Seat,
        *moves: Json,
        decision: str | None = None,
        expected: int | None = None,
        director: bool = False,
    ) -> Record:
        """Play a move or an atomic list; raise as `Play`, and StaleVersion."""
        if expected not in (None, self.game.version):
            raise StaleVersion(expected or 0, self.game.version)
        return self.execute(Play(seat, moves, decision, "director" if director else "seat"))

    def lapse(self, decision: str | None = None, seats: Sequence[Seat] = ()) -> Record:
        """Miss the deadline of the open decision (or of this one): time goes on until the defaults are due."""
        decision_id, game = decision or self._open_decision(), self.game
        owing = [s for s in (game.state.top.owing if game.frames else ()) if not seats or s in seats]
        due = game.due_times([s for s in owing if s not in game.state.vacant])
        self.now = max([self.now, *due.values(), *(game.timing.banks[s].hold_end for s in owing)])
        return self.execute(Lapse(decision_id, seats))

    def resolve(self, decision: str | None = None) -> Record:
        """Let the engine do the due batch work."""
        return self.execute(Resolve(decision or self._open_decision()))

    def _open_decision(self) -> str:
        if not self.state.frames:
            raise RuleError("game_over")
        return self.decisions()[0].id

    def rewind(self, to: int, fresh: bool = False, seat: Seat | None = None) -> Record:
        """Go back to an active version; by the director unless a seat is named."""
        return self.execute(Rewind(to, "director" if seat is None else "seat", seat, fresh=fresh))

    def leave(self, seat: Seat, hold: int = 0) -> Record:
        """Let the player of a seat leave; the seat is held for `hold` seconds."""
        return self.execute(Leave(seat, hold))

    def vacate(self, seat: Seat) -> Record:
        """Let time go on until the hold of the seat has ended, and vacate it."""
        self.now = max(self.now, self.game.timing.banks[seat].hold_end)
        return self.execute(Vacate(seat))

    def hold(self, seat: Seat, seconds: int) -> Record:
        """Let the director hold a seat."""
        return self.execute(Hold(seat, seconds))

    def join(self, seat: Seat, player: str) -> Record:
        """Seat a player on a vacant seat."""
        return self.execute(Join(seat, player))

    def look(self) -> Record:
        """Let the director look at hidden information."""
        return self.execute(Look())

    def extend(self, ms: int, decision: str | None = None) -> Record:
        """Let the director move the deadline of the open decision."""
        return self.execute(Extend(decision or self._open_decision(), ms))

    def close(self, reason: str = "finished") -> Record:
        """Close the game and reveal the seed."""
        return self.execute(Close(reason))


AnyInMemoryGame = InMemoryGame[Any]
"""An in-memory game of any rules."""
