"""Repairs: the only changes of stored records, each noted in the table `repairs` with its reason."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from eventsourcing.persistence import IntegrityError, StoredEvent

from domain.errors import StaleVersion, UnknownKind, VerificationError
from domain.kernel.records.record import Record
from domain.ledger.archive import INSERT, Archive, RecordLine, check_closed_game, stub
from domain.ledger.connection import StoreConnection
from domain.ledger.mapper import RecordMapper, StoredRecord
from domain.ledger.row_keys import check_place, key_of, place_of
from domain.ledger.store import Store
from domain.service.database import Execute

log = logging.getLogger("annals.security")


class LedgerRepair:
    """Restores damaged records and archives closed games. `load_keys` reads the key ring before a transaction."""

    def __init__(
        self, connection: StoreConnection, mapper: RecordMapper, archive: Archive, load_keys: Callable[[], None]
    ) -> None:
        self._connection, self._mapper, self._archive, self._load_keys = connection, mapper, archive, load_keys

    @contextmanager
    def transaction(self, what: str, why: str) -> Iterator[Execute]:
        """Open a transaction in which the log may be changed, for restoring and archiving only.

        Yields a function that runs a statement, `?` for each parameter. The table `repairs` notes `what` and `why` in
        the same transaction; an error rolls everything back. On PostgreSQL the role must own the tables or be a member
        of `annals_repair`.
        """
        with self._connection.use() as store, self._transaction(store, what, why) as execute:
            yield execute

    @contextmanager
    def _transaction(self, store: Store, what: str, why: str) -> Iterator[Execute]:
        if not (what and why):
            raise ValueError("a repair says what it does, and why")
        self._load_keys()
        with store.repair(what, why) as execute:
            yield execute
        log.warning("log_repaired: %s, because %s", what, why)

    def restore_records(self, game: str, records: Sequence[tuple[Record, str, int]], why: str) -> None:
        """Overwrite damaged records, all or none: nothing else ever replaces a stored record.

        Each record comes with its expected hash, from another source, and with the position at which a missing record
        is inserted. Raises VerificationError for a record with another hash or with packs that its public part has not
        sealed, and StaleVersion if its place is taken, unless by the same record under a changed name. A record of the
        archive stays archived, with its bytes behind the stub.
        """
        with self._connection.use() as store:
            events, archived = [], self._archive.has_game(game)
            for record, hashed, position in records:
                event = self._build_row(StoredRecord(key_of(game), record), hashed)
                event = replace(event, state=stub(hashed) + event.state) if archived else event
                events.append((event, position, self._is_misnamed(store, event, hashed, position)))
            try:
                what = f"versions {', '.join(str(r.version) for r, *_ in records)} of {game}"
                with self._transaction(store, what, why) as execute:
                    store.restore_records(events, execute)
            except IntegrityError as e:
                raise StaleVersion(0, store.version(key_of(game))) from e

    def _build_row(self, stored: StoredRecord, hashed: str) -> StoredEvent:
        """Return the row of a record, verified by reading it back."""
        event = self._mapper.to_stored_event(stored)
        restored = self._mapper.record(event)
        if restored.hash != hashed:
            raise VerificationError("record_mismatch", restored.version, "the tree has another")
        if not restored.has_valid_seals:
            raise VerificationError("pack_changed", restored.version, "its packs are not those that were sealed")
        return event

    def _is_misnamed(self, store: Store, event: StoredEvent, hashed: str, position: int) -> bool:
        """Return whether the row at that position holds the record under another game or version."""
        for row in store.notifications(position - 1, 1):
            if row.id != position or place_of(row) == place_of(event):
                return False
            try:
                restored = self._mapper.record(self._archive.restore_row(replace(event, state=row.state)))
            except (VerificationError, UnknownKind):
                return False
            return restored.hash == hashed and restored.has_valid_seals
        return False

    def archive_game(self, game: str, leaves: Mapping[int, str], why: str) -> int:
        """Move the contents of a closed game's records to the archive, all or none; return the number of records.

        `leaves` holds the expected hash of each version, from another source. Returns 0 for an archived game. Raises
        ValueError for a game that is not closed; VerificationError for a record with another hash, out of its chain, or
        with packs that its public part has not sealed; and StaleVersion if a record has changed meanwhile or another
        process has archived the game.
        """
        key = key_of(game)
        if self._archive.has_game(game):
            return 0
        with self._connection.use() as store:
            events = store.events(key)
            whole = [
                self._archive.restore_row(check_place(key, version, event)) for version, event in enumerate(events, 1)
            ]
            records = list(map(self._mapper.record, whole))
            check_closed_game(records, leaves)
            stubs = [(event, stub(record.hash)) for event, record in zip(events, records, strict=True)]
            pieces = list(
                self._archive.make_chunks(game, [RecordLine(*self._mapper.canonical_parts(event)) for event in whole])
            )
            try:
                with self._transaction(store, f"{len(events)} records of {game} are archived", why) as execute:
                    for piece in pieces:
                        execute(INSERT, (game, piece.first, piece.last, piece.data))
                    if not store.replace_states(stubs, execute):
                        raise StaleVersion(len(events), store.version(key))
            except IntegrityError as e:  # its pieces are there
                raise StaleVersion(len(events), store.version(key)) from e
        return len(events)
