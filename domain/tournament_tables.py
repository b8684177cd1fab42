"""Tables of a tournament: the games of its pods, each made once, and the results of those that have closed.

A game's id follows from its pod, so that a call that was cut off anywhere finds what it has made when it is repeated,
and another one at the same time meets it. Everything here may raise StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from domain.command_handler import CommandHandler
from domain.errors import RuleError
from domain.kernel.game.table_commands import Join, Start
from domain.ledger import Ledger
from domain.service.principals import Role
from domain.service.seat_tokens import SeatTokens
from domain.tournament_handler import TournamentHandler
from domain.tournaments.aggregate.basic_commands import TournamentCommand, Withdraw
from domain.tournaments.aggregate.clock_commands import time_table_limit
from domain.tournaments.aggregate.elsewhere_commands import PlaceElsewhere
from domain.tournaments.aggregate.pod_seating import build_seated
from domain.tournaments.aggregate.queue_commands import QUEUE_ROUND, LeaveQueue, ServeQueue
from domain.tournaments.aggregate.result_commands import (
    AddTable,
    AddTables,
    AnnulPod,
    Report,
    check_bids_closed,
    check_round_may_begin,
    is_legal_pod,
    require_round,
)
from domain.tournaments.aggregate.stage import PodTable
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_ruling_commands import RecuseOfficer
from domain.tournaments.attendance import count_lapses, count_shares, find_left_seats, list_decisions
from domain.tournaments.terms import ALL, BY_DRAW, QUEUED
from domain.types import DIRECTOR

PlacesReader = Callable[[str], Sequence[tuple[int | None, int | None]] | None]
"""Return place and points by seat of a game whose end everybody may know, None for any other.

Places are None in a game that was closed without a result.
"""

MOST_FROM_QUEUE = 20
"""Most tables of a queue made at once."""

_VERSION_MASK = 0xF << 76


def new_tournament_id(seat_tokens: SeatTokens, *request: str) -> str:
    """Return the id of the tournament that a request opens, the same for a repeated one, or without one a random id."""
    made = UUID(seat_tokens.make_token(*(("tournament", *request) if request else ())).game)
    return str(UUID(int=made.int & ~_VERSION_MASK | 8 << 76))


class TournamentTables:
    """Makes the games of pods, and reports their results."""

    def __init__(
        self,
        ledger: Ledger,
        tournaments: TournamentHandler,
        commands: CommandHandler,
        seat_tokens: SeatTokens,
        list_inactive: Callable[[Sequence[str]], set[str]],
    ) -> None:
        """Take everything that it needs; `list_inactive` returns the players without an account in good standing."""
        self._ledger, self._tournaments = ledger, tournaments
        self._commands, self._seat_tokens, self._list_inactive = commands, seat_tokens, list_inactive

    def make_tables(
        self, tournament: str, stage: int, round_: int, most: int, before_each: Callable[[], object] = lambda: None
    ) -> int:
        """Make up to `most` missing tables of a round, and return the number of those still missing.

        Raise RuleError if the round may not begin, or takes bids.
        """
        t = self._tournaments.load(tournament)
        check_round_may_begin(t, stage, round_)
        if t.terms.stages[stage - 1].seating != BY_DRAW:
            check_bids_closed(t, stage, round_, self._tournaments.now())
        t = self._withdraw_gone(t, stage, round_)
        play = t.stages[stage - 1]
        pods = range(1, len(play.rounds[round_ - 1].pods) + 1)
        missing = [pod for pod in pods if (round_, pod) not in play.tables]
        commands = [self._plan_table(t, stage, round_, pod) for pod in missing[:most]]
        tables = [command for command in commands if isinstance(command, AddTable)]
        if tables:
            self._commands.prepare_openings([command.game for command in tables])
        for command in tables:
            before_each()
            self._open_game(t, stage, command.game, command.entrants)
        if commands:
            with _tolerate("already_tabled"):
                self._tournaments.handle(tournament, AddTables(tuple(commands)))
        return len(missing[most:])

    def serve_queue(self, tournament: str, *, most: int = MOST_FROM_QUEUE) -> None:
        """Make up to `most` of the tables due from the queue of a ladder or arena.

        Raise RuleError unless the current stage has one.
        """
        self.end_waiting_of_gone(tournament)
        with _tolerate("not_queued"):
            self._tournaments.handle(tournament, ServeQueue())
        t = self._tournaments.load(tournament)
        if t.play.rounds:
            with _tolerate("already_tabled"):
                self.make_tables(tournament, len(t.stages), QUEUE_ROUND, most)

    def end_waiting_of_gone(self, tournament: str) -> None:
        """End the waiting of everybody in a queue whose account is erased, banned or suspended."""
        t = self._tournaments.load(tournament)
        for player in self._list_gone(t, tuple(t.play.queue)):
            self.end_waiting(tournament, [player])

    def _withdraw_gone(self, t: Tournament, stage: int, round_: int) -> Tournament:
        """Withdraw everybody with an erased, banned or suspended account, and without a table in a round.

        Return the tournament afterwards.
        """
        play = t.stages[stage - 1]
        pods = range(1, len(play.rounds[round_ - 1].pods) + 1)
        missing = [pod for pod in pods if (round_, pod) not in play.tables]
        return self._withdraw(t, self._list_gone(t, [e for pod in missing for e in t.list_present(stage, round_, pod)]))

    def plan_withdrawals(self, t: Tournament) -> list[TournamentCommand]:
        """Return the withdrawals of all candidates of a draw with an erased, banned or suspended account."""
        candidates = [e for e in sorted({*t.commitments, *t.participants}) if t.entrants[e].is_active]
        return [Withdraw((player,)) for player in self._list_gone(t, candidates)]

    def plan_queue_departures(self, t: Tournament) -> list[TournamentCommand]:
        """Return the departures of everybody in a queue with an erased, banned or suspended account."""
        return [LeaveQueue((player,)) for player in self._list_gone(t, tuple(t.play.queue))]

    def _list_gone(self, t: Tournament, entrants: Sequence[int]) -> list[str]:
        """Return the player ids of those with an erased, banned or suspended account; imported entrants have none."""
        people = [t.entrants[entrant].player for entrant in entrants]
        inactive = self._list_inactive(people)
        if inactive:
            inactive -= {*self._seat_tokens.event_people.list_unclaimed(t.id)}
        return [player for player in people if player in inactive]

    def _withdraw(self, t: Tournament, players: Sequence[str]) -> Tournament:
        """Withdraw these people, and return the tournament afterwards."""
        for player in players:
            with _tolerate("not_entered", "wrong_status"):  # by another call, or the event has ended
                self._tournaments.handle(t.id, Withdraw((player,)))
        return self._tournaments.load(t.id) if players else t

    def leave(self, tournament: str, players: Sequence[str]) -> int:
        """Withdraw a person with these player ids, and end the person's office there.

        Return the position of the last record; 0 without one. It can be called again after an interruption.
        """
        t, position = self._tournaments.load(tournament), 0
        commands: list[TournamentCommand] = [RecuseOfficer(player) for player in players if player in t.officers]
        if t.find_entrant(players) is not None:
            commands.insert(0, Withdraw(tuple(players)))
        for command in commands:
            with _tolerate("not_entered", "no_officer", "wrong_status"):  # by another call, or the event has ended
                position = self._tournaments.handle(tournament, command).position
        return position

    def end_waiting(self, tournament: str, players: Sequence[str]) -> int:
        """End the waiting of a person with these player ids; return the position of the record, or 0 without one."""
        try:
            return self._tournaments.handle(tournament, LeaveQueue(tuple(players))).position
        except RuleError:  # a table has been made, or the event is over
            return 0

    def _plan_table(self, t: Tournament, stage: int, round_: int, pod: int) -> TournamentCommand:
        """Return the command that tells of the pod's game, or of its table elsewhere, or that too few are left."""
        if not is_legal_pod(t, stage, (round_, pod)):
            return AnnulPod(stage, round_, pod)
        entrants = t.list_present(stage, round_, pod)
        if t.wants_seats(stage, (round_, pod)):
            entrants = tuple(build_seated(t, stage, (round_, pod), entrants)["entrants"])
        if t.terms.elsewhere == ALL:
            return PlaceElsewhere(stage, round_, pod, entrants)
        return AddTable(stage, round_, pod, self._derive_game(t, stage, round_, pod, entrants), entrants)

    def _derive_game(self, t: Tournament, stage: int, round_: int, pod: int, entrants: tuple[int, ...]) -> str:
        """Return the id of a pod's game: nobody guesses that of an unlisted one.

        Another draw of the round, or another attempt, has others. A queue's pods are never drawn again.
        """
        play, is_queued = t.stages[stage - 1], t.terms.stages[stage - 1].format in QUEUED
        draw = 0 if is_queued else play.find_draw(round_).number + 1
        numbers = (stage, round_, pod, play.attempt_at((round_, pod)), draw, *entrants)
        place = tuple(map(str, numbers))
        return self._seat_tokens.make_token("tournament-table", t.id, *place).game

    def _open_game(self, t: Tournament, stage: int, game: str, entrants: tuple[int, ...]) -> None:
        """Open the game with its people seated, and start it, unless it is done."""
        terms, tokens = t.terms, self._seat_tokens
        people = [t.entrants[entrant].player for entrant in entrants]
        holders: list[tuple[Role, str]] = [(DIRECTOR, t.director), *enumerate(people)]
        self._commands.open(
            game,
            terms.ruleset,
            len(entrants),
            terms.options,
            body=terms.table | ({"time_limit": limit} if (limit := time_table_limit(t, stage)) else {}),
            followed_by=[*(Join(seat, player) for seat, player in enumerate(people)), Start()],
            idempotency_key="tournament-table",
            extra_statements=lambda _: [
                row
                for role, player in holders
                for row in tokens.issue(game, role, player, tokens.make_token().token, account=True)
            ],
        )

    def report_results(
        self, tournament: str, stage: int, round_: int, read_places: PlacesReader, only: int = 0
    ) -> list[int]:
        """Report the results of closed games, once more after a change, and return their pods.

        `only`: the pod to look at; 0 for all of the round.
        """
        t, reported = self._tournaments.load(tournament), []
        play = require_round(t, stage, round_)
        for (number, pod), table in sorted(play.tables.items()):
            if number != round_ or not table.is_reported_by_game or only not in (0, pod):
                continue
            is_known = table.result is not None and table.result["version"] == self._ledger.version(table.game)
            if is_known or (rows := read_places(table.game)) is None:
                continue
            game = self._commands.game(table.game)
            whole = [(place, own) for place, own in rows if place is not None and own is not None]
            has_result = len(whole) == len(rows)
            places = tuple(place for place, _ in whole) if has_result else ()
            points = tuple(own for _, own in whole) if has_result else ()
            attendance = self._read_attendance(t, stage, table) if has_result else ((), (), ())
            command = Report(stage, round_, pod, table.game, game.version, game.hash, places, points, *attendance)
            with _tolerate("already_reported"):
                self._tournaments.handle(tournament, command)
            reported.append(pod)
        return reported

    def _read_attendance(
        self, t: Tournament, stage: int, table: PodTable
    ) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...], tuple[int, ...]]:
        """Return the share of decisions of each seat's entrant, the missed deadlines by seat, and the seats left."""
        people = [t.entrants[e].deciders for e in table.entrants]
        records = self._ledger.read(table.game)
        decisions = list_decisions(records)
        left = find_left_seats(records, people) if t.terms.stages[stage - 1].wanted_bye is not None else ()
        return count_shares(decisions, people), count_lapses(decisions, len(people)), left


@contextmanager
def _tolerate(*codes: str) -> Iterator[None]:
    """Suppress a refusal with one of these codes: another call has done the same."""
    try:
        yield
    except RuleError as error:
        if error.code not in codes:
            raise
