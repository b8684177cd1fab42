"""A game in memory: for simulations, scenarios, tests and offline replay. Every version of it is kept."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Generic

from domain.errors import RuleError, StaleVersion
from domain.kernel.game.command import Act
from domain.kernel.game.deadlines import pace_of
from domain.kernel.game.director_commands import Extend, Hold, Look, Rewind
from domain.kernel.game.game import Game, line
from domain.kernel.game.play_commands import Lapse, Play, Resolve
from domain.kernel.game.record_builder import Moment, Step
from domain.kernel.game.table_commands import Close, Join, Leave, Open, Start, Vacate
from domain.kernel.records.record import Record
from domain.kernel.rules.decide import decisions
from domain.kernel.rules.draws import Source
from domain.kernel.rules.flow import Decision, S
from domain.kernel.rules.meta import Meta
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Json, Seat


def a_day(meta: Meta) -> Json:
    """The pace of a day for each decision."""
    return {"seconds": dict.fromkeys(sorted({*meta.clocks.values(), "move"}), 24 * 3600)}


class Match(Generic[S]):
    """Opened, joined by one player a seat, and started; unless another pace is given, with a day for each decision.

    With `start=False` it waits for its Start.
    """

    def __init__(
        self,
        rules: Ruleset[S],
        seats: int,
        seed: bytes,
        *,
        options: Mapping[str, Json] | None = None,
        game: str = "match",
        source: Source | None = None,
        patch: Json = None,
        pace: Json = None,
        start: bool = True,
    ) -> None:
        self.rules, self.seed, self.source = rules, seed, source
        self.now = 0
        self.records: list[Record] = []
        self.games: list[Game[S]] = []
        body = {"pace": pace_of(rules.meta, a_day(rules.meta) if pace is None else pace).to_json()}
        self._keep(Open(game, rules.table(seats, options), body).step(rules, self.moment))
        for seat in range(seats):
            self.do(Join(seat, f"p{seat}"))
        if start:
            self.do(Start(patch))

    def fork(self) -> Match[S]:
        """The same game, to be played on by itself."""
        other = copy.copy(self)
        other.records, other.games = list(self.records), list(self.games)
        return other

    @property
    def moment(self) -> Moment:
        """Seed, time and source of the next act."""
        return Moment(self.seed, self.now, "", self.source, self._past)

    def _past(self, to: int) -> Game[S]:
        if to not in self.line():
            raise RuleError("not_on_line", "", {"to": to})
        return self.at(to)

    @property
    def game(self) -> Game[S]:
        """The game as it is."""
        return self.games[-1]

    @property
    def state(self) -> S:
        """The state of the game as it is."""
        return self.game.state

    def decisions(self) -> list[Decision]:
        """What is open now."""
        return decisions(self.rules, self.state, self.game.rewinds)

    def at(self, version: int) -> Game[S]:
        """The game after that version."""
        return self.games[version - 1]

    def line(self) -> list[int]:
        """The versions that count."""
        return line(self.records)

    def do(self, act: Act) -> Record:
        """Whatever can be done; raises as the act does."""
        return self._keep(act.step(self.rules, self.game, self.moment))

    def _keep(self, step: Step[S]) -> Record:
        self.records.append(step.record)
        self.games.append(step.game)
        self.now += 1000
        return step.record

    def play(
        self,
        seat: Seat,
        *moves: Json,
        decision: str | None = None,
        expected: int | None = None,
        director: bool = False,
    ) -> Record:
        """A move or an atomic list; raises as `acts.Play`, and StaleVersion."""
        if expected not in (None, self.game.version):
            raise StaleVersion(expected or 0, self.game.version)
        return self.do(Play(seat, moves, decision, "director" if director else "seat"))

    def lapse(self, decision: str | None = None, seats: Sequence[Seat] = ()) -> Record:
        """The deadline of the open decision (or of this one) passes: time goes on until the defaults are due."""
        named, game = decision or self._open(), self.game
        owing = [s for s in (game.state.top.owing if game.frames else ()) if not seats or s in seats]
        due = game.dues([s for s in owing if s not in game.state.vacant])
        self.now = max([self.now, *due.values(), *(game.accounts[s].held for s in owing)])
        return self.do(Lapse(named, seats))

    def resolve(self, decision: str | None = None) -> Record:
        """The engine does the batch work that is due."""
        return self.do(Resolve(decision or self._open()))

    def _open(self) -> str:
        if not self.state.frames:
            raise RuleError("game_over")
        return self.decisions()[0].id

    def rewind(self, to: int, fresh: bool = False, seat: Seat | None = None) -> Record:
        """Back to a version of the line; by the director unless a seat is named."""
        return self.do(Rewind(to, "director" if seat is None else "seat", seat, fresh=fresh))

    def leave(self, seat: Seat, hold: int = 0) -> Record:
        """The player of a seat leaves; it is held for so many seconds."""
        return self.do(Leave(seat, hold))

    def vacate(self, seat: Seat) -> Record:
        """Time goes on until nobody has taken the seat while it was held."""
        self.now = max(self.now, self.game.accounts[seat].held)
        return self.do(Vacate(seat))

    def hold(self, seat: Seat, seconds: int) -> Record:
        """The director holds a seat."""
        return self.do(Hold(seat, seconds))

    def join(self, seat: Seat, player: str) -> Record:
        """Somebody takes a vacant seat."""
        return self.do(Join(seat, player))

    def look(self) -> Record:
        """The director looks at what is hidden."""
        return self.do(Look())

    def extend(self, ms: int, decision: str | None = None) -> Record:
        """The director moves the deadline of the open decision."""
        return self.do(Extend(decision or self._open(), ms))

    def close(self, reason: str = "finished") -> Record:
        """Show the seed."""
        return self.do(Close(reason))


AnyMatch = Match[Any]
"""Of whichever game."""
