"""Handler of the commands of tournaments, their only writer; as `CommandHandler` is for games."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from domain.errors import ServerReplaced, StaleVersion, UnknownTournament
from domain.kernel.records.record import Record
from domain.kernel.schema.json_codec import from_json
from domain.ledger import IdempotencyKey, Ledger
from domain.record_writer import (
    MAX_ATTEMPTS,
    CommandResult,
    ExtraStatements,
    RecentCache,
    RecordWriter,
    hash_fields,
    make_idempotency_key,
    no_statements,
)
from domain.ruleset_registry import RulesetRegistry
from domain.service.request_keys import RequestKey
from domain.service.seed_store import SeedStore
from domain.tournaments.draw import make_chain
from domain.tournaments.event import Tournament
from domain.tournaments.event_commands import TournamentCommand, TournamentContext, draft_opening
from domain.tournaments.event_fold import apply_tournament_record, fold_tournament, initial_tournament
from domain.tournaments.records import build_record
from domain.tournaments.terms import Terms, check_terms, terms_to_json
from domain.types import Json, is_tournament_id


def _make_salt() -> str:
    return secrets.token_hex(16)


@dataclass(frozen=True)
class _CachedTournament:
    """A tournament as known to this process after some version."""

    tournament: Tournament
    log_id: str

    @property
    def version(self) -> int:
        return self.tournament.version


@dataclass(frozen=True)
class _PendingTournamentCommand:
    """A command with the conditions of its execution."""

    tournament: str
    command: TournamentCommand
    expected: int | None
    reason: str
    people: Collection[str]
    key: IdempotencyKey | None
    extra_statements: ExtraStatements = field(repr=False)


class TournamentHandler(RecordWriter):
    """Loads tournaments, executes commands and appends their records.

    The chain of draws is the seed of the tournament: the seed store keeps its last secret. `clock` gives ms since 1970
    UTC. Each command may raise RuleError, UnknownTournament, StoreUnavailable, and with a key CommandReused.
    """

    def __init__(
        self,
        ledger: Ledger,
        registry: RulesetRegistry,
        seed_store: SeedStore,
        clock: Callable[[], int],
        keep: int = 32,
    ) -> None:
        super().__init__(ledger)
        self._registry, self._seed_store, self._clock = registry, seed_store, clock
        self._recent: RecentCache[_CachedTournament] = RecentCache(keep)
        self._ranked: RecentCache[_CachedTournament] = RecentCache(keep)

    def open(
        self,
        tournament: str,
        director: str,
        terms: Mapping[str, Json],
        *,
        idempotency_key: RequestKey | str | None = None,
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
        # Requests of earlier versions had no term `leavers`, and their repetitions stay equal.
        sent = {**doc, "table": {name: value for name, value in doc["table"].items() if name != "leavers"}}
        key = make_idempotency_key(idempotency_key, "Open", {"director": director, "terms": sent})

        def attempt() -> CommandResult:
            log_id = self._ledger.log_id
            if key and key.claim:
                key.claim.check(self._ledger.execute)
            first_secret = make_chain(self._seed_store.create(tournament), checked.chain)[0]
            draft = draft_opening(tournament, director, doc, first_secret)
            record = build_record(draft, 1, self._clock(), "", "director")
            after = _CachedTournament(initial_tournament(record), log_id)
            return self._store(tournament, key, extra_statements, after, (record,))

        return self.run_once(tournament, key, attempt)

    def handle(
        self,
        tournament: str,
        command: TournamentCommand,
        *,
        expected: int | None = None,
        reason: str = "",
        people: Collection[str] = (),
        idempotency_key: RequestKey | str | None = None,
        extra_statements: ExtraStatements = no_statements,
    ) -> CommandResult:
        """Execute a command; raise as the command does.

        `expected`: the only version to decide on (StaleVersion); without it a command that lost a race is decided
        again. `reason`: salted hash of a text beside the record. `people`: player ids of the person behind the command,
        and of related ones; empty for the service.
        """
        key = make_idempotency_key(idempotency_key, command.verb, hash_fields(command), expected)
        pending = _PendingTournamentCommand(tournament, command, expected, reason, people, key, extra_statements)
        return self.run_once(tournament, key, lambda: self._decide_and_append(pending))

    def now(self) -> int:
        """Return the time, ms since 1970 UTC."""
        return self._clock()

    def load(self, tournament: str) -> Tournament:
        """Return the newest version of a tournament; raise UnknownTournament."""
        return self._load(tournament).tournament

    def load_ranked(self, tournament: str, stage: int, round_: int) -> Tournament | None:
        """Return the tournament after the last ranking of a round, or None without one; raise UnknownTournament."""
        cached, key = self._load(tournament), f"{tournament} {stage}.{round_}"
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
        return self._ranked.remember(key, _CachedTournament(fold_tournament(records[:last]), cached.log_id)).tournament

    def _load(self, tournament: str) -> _CachedTournament:
        """Return the newest version, after reading only the records that this process does not know."""
        if not is_tournament_id(tournament):
            raise UnknownTournament(tournament)
        cached, log_id = self._recent.get(tournament), self._ledger.log_id
        if cached is None or cached.log_id != log_id:
            records = self._ledger.read(tournament)
            if not records:
                raise UnknownTournament(tournament)
            return self._recent.remember(tournament, _CachedTournament(fold_tournament(records), log_id))
        t = cached.tournament
        for record in self._ledger.read(tournament, after=t.version):
            t = apply_tournament_record(t, record)
        return self._recent.remember(tournament, _CachedTournament(t, log_id))

    def _decide_and_append(self, pending: _PendingTournamentCommand) -> CommandResult:
        for _ in range(MAX_ATTEMPTS):
            loaded = self._load(pending.tournament)
            if pending.expected is not None and pending.expected != loaded.version:
                raise StaleVersion(pending.expected, loaded.version)
            pending.command.check_person(loaded.tournament, pending.people)
            after, records = self._decide(loaded.tournament, pending)
            cached = _CachedTournament(after, loaded.log_id)
            try:
                return self._store(pending.tournament, pending.key, pending.extra_statements, cached, records)
            except ServerReplaced:
                continue
            except StaleVersion:
                if pending.expected is not None:
                    raise
        head = self._ledger.version(pending.tournament)
        raise StaleVersion(head - 1, head)

    def _decide(self, t: Tournament, pending: _PendingTournamentCommand) -> tuple[Tournament, tuple[Record, ...]]:
        now, chain = max(self._clock(), t.time), t.terms.chain
        context = TournamentContext(now, lambda draw: make_chain(self._seed_store.seed(t.id), chain)[draw], _make_salt)
        records = []
        for draft in pending.command.decide(replace(t, time=now), context):
            record = build_record(draft, t.version + 1, now, t.hash, pending.command.by, pending.reason)
            t = apply_tournament_record(t, record)
            records.append(record)
        return t, tuple(records)

    def _store(
        self,
        tournament: str,
        key: IdempotencyKey | None,
        extra_statements: ExtraStatements,
        after: _CachedTournament,
        records: tuple[Record, ...],
    ) -> CommandResult:
        expected = records[0].version - 1
        receipt = self._ledger.append(tournament, records, expected, key, extra_statements(records[0]), after.log_id)
        if receipt.replayed:
            return self.replay(tournament, receipt)
        self._recent.remember(tournament, after)
        return CommandResult(tournament, tuple(r.version for r in records), receipt.positions[-1], records)
