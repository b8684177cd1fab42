"""Handler of the commands of tournaments, their only writer; as `CommandHandler` is for games."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.errors import UnknownTournament
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import from_json
from domain.ledger import Ledger
from domain.record_writer import (
    CommandResult,
    Conditions,
    ExtraStatements,
    RecentCache,
    RecordWriter,
    make_idempotency_key,
    no_statements,
    require_expected,
)
from domain.ruleset_registry import RulesetRegistry
from domain.service.idempotency_keys import IdempotencyKey
from domain.service.seed_store import SeedStore
from domain.tournaments.aggregate.basic_commands import TournamentCommand, TournamentContext, draft_opening
from domain.tournaments.aggregate.tournament import Tournament
from domain.tournaments.aggregate.tournament_fold import apply_tournament_record, fold_tournament, initial_tournament
from domain.tournaments.draw import make_chain
from domain.tournaments.records import build_record
from domain.tournaments.terms import Terms, check_terms, terms_to_json
from domain.types import Json, is_tournament_id


def _make_salt() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True)
class _DecidedTournament:
    """A tournament as known to this process after some version."""

    tournament: Tournament
    log_id: str

    @property
    def version(self) -> int:
        return self.tournament.version


@dataclass(frozen=True, kw_only=True)
class TournamentConditions(Conditions):
    """Conditions of a command on a tournament."""

    reason: str = ""
    """Salted hash of a text beside the record."""
    people: Collection[str] = ()
    """Player ids of the person behind the command, and of related ones; empty for the service."""
    preliminaries: Callable[[Tournament], Sequence[TournamentCommand]] = lambda _: ()
    """Returns commands of the service to decide first. A refusal of the command itself stores none of them."""


UNCONDITIONAL = TournamentConditions()


class TournamentHandler(RecordWriter[_DecidedTournament, TournamentCommand, TournamentConditions]):
    """Loads tournaments, executes commands and appends their records.

    The chain of draws is the seed of the tournament: the seed store keeps its last secret. `clock` gives ms since 1970
    UTC. Each command may raise RuleError, UnknownTournament, StoreUnavailable, and with a key CommandReused.
    """

    decides_on_cached = False

    def __init__(
        self,
        ledger: Ledger,
        registry: RulesetRegistry,
        seed_store: SeedStore,
        clock: Callable[[], int],
        keep: int = 32,
    ) -> None:
        super().__init__(ledger, keep)
        self._registry, self._seed_store, self._clock = registry, seed_store, clock
        self._ranked: RecentCache[_DecidedTournament] = RecentCache(keep)

    def open(
        self,
        tournament: str,
        director: str,
        terms: Mapping[str, Json],
        *,
        idempotency_key: IdempotencyKey | str | None = None,
        extra_statements: ExtraStatements = no_statements,
    ) -> CommandResult:
        """Open a tournament with terms in the form of `Terms`.

        Raise FormError, TournamentError, UnknownRuleset and InvalidTable for terms that cannot be, and StaleVersion if
        the tournament exists.
        """
        checked = check_terms(from_json(Terms, dict(terms)))
        rules = self._registry.get(checked.ruleset)
        for seats in range(checked.least, checked.most + 1):
            rules.make_table(seats, checked.options)
        doc = terms_to_json(checked)
        # Requests of earlier versions had neither of these terms, and their repetitions stay equal.
        defaulted = {"leavers": doc["table"].get("leavers"), "talk": rules.meta.talk.default}
        table = {name: value for name, value in doc["table"].items() if defaulted.get(name) != value}
        sent = {**doc, "table": table}
        key = make_idempotency_key(idempotency_key, "Open", {"director": director, "terms": sent})

        def attempt() -> CommandResult:
            log_id = self._ledger.log_id
            self._check_claim(key)
            first_secret = make_chain(self._seed_store.create(tournament), checked.chain)[0]
            draft = draft_opening(tournament, director, doc, first_secret)
            record = build_record(draft, 1, self._clock(), "", "director")
            after = _DecidedTournament(initial_tournament(record), log_id)
            return self._store(tournament, key, extra_statements, after, (record,))

        return self._run_once(tournament, key, attempt)

    def handle(
        self, tournament: str, command: TournamentCommand, conditions: TournamentConditions = UNCONDITIONAL
    ) -> CommandResult:
        """Execute a command; raise as the command does, and as the conditions say."""
        return self._handle(tournament, command, conditions)

    def check(self, tournament: str, command: TournamentCommand, conditions: TournamentConditions) -> None:
        """Raise as `handle` does, and store nothing."""
        self._decide(self._load(tournament, newest=True), command, conditions, None)

    def now(self) -> int:
        """Return the time, ms since 1970 UTC."""
        return self._clock()

    def load(self, tournament: str) -> Tournament:
        """Return the newest version of a tournament; raise UnknownTournament."""
        return self._load(tournament, newest=True).tournament

    def load_ranked(self, tournament: str, stage: int, round_: int) -> Tournament | None:
        """Return the tournament after the last ranking of a round, or None without one; raise UnknownTournament."""
        cached, key = self._load(tournament, newest=True), f"{tournament} {stage}.{round_}"
        rankings = cached.tournament.stages[stage - 1].rankings if stage <= len(cached.tournament.stages) else ()
        if round_ > len(rankings):
            return None
        official, known = rankings[round_ - 1], self._ranked.get(key)
        if known and known.log_id == cached.log_id and known.tournament.stages[stage - 1].rankings[-1] == official:
            return known.tournament
        records = self._ledger.read(tournament, upto=cached.version)
        last = max(
            n for n, record in enumerate(records, 1) if record.kind.endswith(".ranked") and record.body == official
        )
        return self._ranked.remember(key, _DecidedTournament(fold_tournament(records[:last]), cached.log_id)).tournament

    def _load(self, id_: str, *, newest: bool) -> _DecidedTournament:
        tournament = id_
        if not is_tournament_id(tournament):
            raise UnknownTournament(tournament)
        cached, log_id = self._recent.get(tournament), self._ledger.log_id
        if cached is None or cached.log_id != log_id:
            records = self._ledger.read(tournament)
            if not records:
                raise UnknownTournament(tournament)
            return self._recent.remember(tournament, _DecidedTournament(fold_tournament(records), log_id))
        t = cached.tournament
        for record in self._ledger.read(tournament, after=t.version) if newest else ():
            t = apply_tournament_record(t, record)
        return self._recent.remember(tournament, _DecidedTournament(t, log_id))

    def _decide(
        self,
        loaded: _DecidedTournament,
        command: TournamentCommand,
        conditions: TournamentConditions,
        key: IdempotencyKey | None,
    ) -> tuple[_DecidedTournament, Sequence[Record]]:
        del key  # records of tournaments do not name their command
        now = max(self._clock(), loaded.tournament.time)
        ahead, _ = self._decide_preliminaries(loaded, conditions)
        command.check_person(ahead.tournament, conditions.people, now)
        command.check(ahead.tournament, now)
        with conditions.slot():
            loaded = self._load(loaded.tournament.id, newest=True)  # others may have changed it meanwhile
            require_expected(conditions, loaded)
            ahead, first = self._decide_preliminaries(loaded, conditions)
            command.check_person(ahead.tournament, conditions.people, now)
            after, records = self._decide_one(ahead, command, conditions.reason)
            return after, [*first, *records]

    def _decide_preliminaries(
        self, loaded: _DecidedTournament, conditions: TournamentConditions
    ) -> tuple[_DecidedTournament, Sequence[Record]]:
        found: list[Record] = []
        for command in conditions.preliminaries(loaded.tournament):
            loaded, records = self._decide_one(loaded, command)
            found += records
        return loaded, found

    def _decide_one(
        self, loaded: _DecidedTournament, command: TournamentCommand, reason: str = ""
    ) -> tuple[_DecidedTournament, Sequence[Record]]:
        t, chain = loaded.tournament, loaded.tournament.terms.chain
        now = max(self._clock(), t.time)
        context = TournamentContext(now, lambda draw: make_chain(self._seed_store.seed(t.id), chain)[draw], _make_salt)
        records = []
        for draft in command.decide(replace(t, time=now), context):
            record = build_record(draft, t.version + 1, now, t.hash, command.by, reason)
            t = apply_tournament_record(t, record)
            records.append(record)
        return _DecidedTournament(t, loaded.log_id), records
