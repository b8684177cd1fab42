"""A game in memory with joint chance (decision 48): its seats, simulated, add a nonce each to every round of draws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from domain.errors import NeedsChance
from domain.kernel.game.command import Command
from domain.kernel.game.in_memory_game import InMemoryGame
from domain.kernel.records.record import Record
from domain.kernel.rules.draws import NoChance
from domain.kernel.rules.flow import State
from domain.kernel.rules.joint_chance import ChanceRound, JointTranscript, commit_to_nonce, round_source
from domain.kernel.rules.ruleset import Ruleset
from domain.types import Seat

S = TypeVar("S", bound=State)


def derive_nonce(secret: bytes, seat: Seat, number: int) -> str:
    """Return the nonce of a seat for a round, hex: a client keeps one secret alone."""
    return hashlib.sha256(secret + f"|{seat}|{number}".encode()).hexdigest()


class JointChanceGame(InMemoryGame[S]):
    """Fixes each command before the nonces of its round are shown, and keeps the transcript of the rounds.

    `secret` gives all nonces. `withholds` tells whether a seat withholds its nonce of a round.
    """

    def __init__(
        self,
        rules: Ruleset[S],
        seats: int,
        seed: bytes,
        secret: bytes,
        *,
        withholds: Callable[[Seat, int], bool] = lambda _, __: False,
        game: str = "match",
        **terms: Any,
    ) -> None:
        self.secret, self.withholds = secret, withholds
        self.contributors = frozenset(range(seats))
        self.transcript = JointTranscript(game, self._commit(game, 1), ())
        super().__init__(rules, seats, seed, game=game, source=NoChance(), **terms)

    def execute(self, command: Command) -> Record:
        """Execute a command; where it draws, play a round first."""
        try:
            return super().execute(command)
        except NeedsChance:  # the move is fixed; now the seats show their nonces
            return self._play_round(command)

    def _play_round(self, command: Command) -> Record:
        game, number = self.transcript.game, len(self.transcript.rounds) + 1
        withheld = tuple(seat for seat in sorted(self.contributors) if self.withholds(seat, number))
        nonces = {s: derive_nonce(self.secret, s, number) for s in sorted(self.contributors) if s not in withheld}
        self.source = round_source(self.seed, game, number, nonces)
        try:
            record = super().execute(command)
        finally:
            self.source = NoChance()
        self.contributors -= set(withheld)
        played = ChanceRound(number, record.version, nonces, withheld, self._commit(game, number + 1))
        self.transcript = self.transcript._replace(rounds=(*self.transcript.rounds, played))
        return record

    def _commit(self, game: str, number: int) -> dict[Seat, str]:
        nonces = {seat: derive_nonce(self.secret, seat, number) for seat in sorted(self.contributors)}
        return {seat: commit_to_nonce(game, seat, number, nonce) for seat, nonce in nonces.items()}
