"""Closed games rest in compressed pieces, and are read as before, on every store."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent

from domain.command_handler import CommandHandler, new_game_id
from domain.errors import StaleVersion, StoreUnavailable, VerificationError, WrongKey
from domain.kernel.game.play_commands import Play
from domain.kernel.game.table_commands import Close, Join, Start
from domain.kernel.records.export import dump
from domain.kernel.records.record import Record
from domain.ledger import Ledger, LogEntry
from domain.ledger import archive as archives
from domain.ledger.store import Store
from domain.service.database import Execute
from domain.service.seed_store import SeedStore
from tests.contracts import context
from tests.damage import overwrite, spoil

ORDER = {"type": "order", "to": "t01", "units": 1}
WHY = "it was closed long ago"


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger that seals."""
    ledger = Ledger.open(url, context.KEY)
    ledger.migrate()
    yield ledger
    ledger.close()


def played(ledger: Ledger, moves: int = 4, *, closed: bool = True) -> str:
    """A game with secrets."""
    made, game = (
        CommandHandler(ledger, context.CATALOGUE, SeedStore(ledger, ledger.keys), lambda: next(context._CLOCK)),
        new_game_id(),
    )
    made.open(game, "orders@1", 3, {})
    for seat in range(3):
        made.handle(game, Join(seat, f"p{seat}"))
    made.handle(game, Start())
    for n in range(moves):
        made.handle(game, Play(0, [ORDER if n < 2 else {"type": "reopen" if n % 2 else "submit"}]))
    if closed:
        made.handle(game, Close("abandoned", "director"))
    return game


def leaves(ledger: Ledger, game: str) -> dict[int, str]:
    return {r.version: r.hash for r in ledger.read(game)}


def archive(ledger: Ledger, game: str) -> int:
    return ledger.repair.archive_game(game, leaves(ledger, game), WHY)


def log(ledger: Ledger) -> list[tuple[LogEntry, str, bytes]]:
    """All that the log says, as any reader of it sees it."""
    return [(e, e.hash, dump([e.record]) if e.version == 1 else b"") for e in ledger.log(0, 10_000)]


def size(ledger: Ledger) -> int:
    """Bytes of what records say."""
    ((rows,),) = ledger.execute("SELECT sum(length(state)) FROM records")
    ((pieces,),) = ledger.execute("SELECT coalesce(sum(length(piece)), 0) FROM archive")
    return int(rows) + int(pieces)


class TestReading:
    def test_everything_is_read_as_before(self, ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """In pieces of three records, so that each read begins and ends somewhere in one."""
        monkeypatch.setattr(archives, "CHUNK_RECORDS", 3)
        one, other = played(ledger), played(ledger, closed=False)
        before = ledger.read(one), log(ledger), ledger.version(one), [ledger.position(one, v) for v in range(12)]
        assert archive(ledger, one) == 10
        for reader in (ledger, Ledger.open(url, context.KEY)):
            assert (ledger.read(one), log(reader), reader.version(one)) == before[:3]
            assert [reader.position(one, v) for v in range(12)] == before[3]
            assert [reader.read(one, a, b) for a in range(10) for b in range(a, 11)] == [
                before[0][a:b] for a in range(10) for b in range(a, 11)
            ]
            reader.close()
        assert [e.archived for e in ledger.log(0, 100)] == [True] * 10 + [False] * (len(before[1]) - 10)
        assert (ledger.is_archived(one), ledger.is_archived(other)) == (True, False)

    def test_it_takes_less(self, ledger: Ledger) -> None:
        game = played(ledger, 100)
        before = size(ledger)
        archive(ledger, game)
        assert size(ledger) < before / 2

    def test_pages_are_free_for_others_on_sqlite(self, tmp_path: Path) -> None:
        """Those of the games that were played at the same time are as full as before."""
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}", context.KEY)
        ledger.migrate()
        game, other = played(ledger, 300), played(ledger, 20, closed=False)

        def used() -> int:
            ((pages,),) = ledger.execute(
                "SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"
            )
            return int(pages)

        before = used()
        archive(ledger, game)
        assert used() < before * 0.7
        assert len(ledger.read(other)) == 25
        assert ledger.admin.list_integrity_errors(60) == []
        ledger.close()

    def test_positions_are_not_given_again(self, ledger: Ledger) -> None:
        """Neither those of the newest records, which an empty end of a table would give to the next."""
        game = played(ledger)
        last = ledger.log(0, 1000)[-1].position
        archive(ledger, game)
        assert ledger.append(context.game(), [context.record(1)], 0).positions[0] > last

    def test_packs_rest_sealed(self, ledger: Ledger, url: str) -> None:
        game = played(ledger)
        archive(ledger, game)
        for (piece,) in ledger.execute("SELECT piece FROM archive"):
            assert b"units" not in bytes(piece)
        without = Ledger.open(url)
        with pytest.raises(WrongKey):
            without.read(game)
        without.close()

    def test_without_a_key_a_ledger_is_archived_too(self, url: str) -> None:
        plain = Ledger.open(url)
        plain.migrate()
        game = new_game_id()
        plain.append(game, chained(), 0)
        before = plain.read(game)
        archive(plain, game)
        assert plain.read(game) == before
        plain.close()

    def test_a_large_record_has_a_piece_of_its_own(self, url: str) -> None:
        plain, game = Ledger.open(url), new_game_id()
        plain.migrate()
        plain.append(game, chained(["é\n" * 2_000_000, "", ""]), 0)
        before = plain.read(game)
        archive(plain, game)
        assert plain.read(game) == before
        assert [tuple(row) for row in plain.execute("SELECT first_version, last_version FROM archive ORDER BY 1")] == [
            (1, 1),
            (2, 4),
        ]
        plain.close()


def chained(notes: list[str] | None = None) -> list[Record]:
    """Records as any game might have them, the last one that closes it."""
    made: list[Record] = []
    for version, note in enumerate([*(notes or ["a", "b"]), "end"], 1):
        public = {"v": version, "kind": "moved", "at": version, "body": {"note": note}}
        made.append(Record(public | {"prev": made[-1].hash if made else ""}, {}))
    last = made.pop()
    return [*made, Record(last.public | {"kind": "closed"}, {})]


class TestArchiving:
    def test_again_changes_nothing(self, ledger: Ledger) -> None:
        game = played(ledger)
        archive(ledger, game)
        before = ledger.execute("SELECT * FROM archive")
        assert archive(ledger, game) == 0
        assert ledger.execute("SELECT * FROM archive") == before

    def test_it_stands_among_repairs_and_the_log_is_closed_after_it(self, ledger: Ledger) -> None:
        game = played(ledger)
        archive(ledger, game)
        assert ledger.execute("SELECT what, why FROM repairs") == [(f"10 records of {game} are archived", WHY)]
        assert ledger.admin.has_append_triggers()

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE archive SET piece = 'x'",
            "UPDATE archive SET first_version = 9",
            "DELETE FROM archive",
            "DELETE FROM records",
        ],
    )
    def test_the_database_refuses_to_change_it(self, ledger: Ledger, change: str) -> None:
        game = played(ledger)
        before = ledger.read(game)
        archive(ledger, game)
        with pytest.raises(StoreUnavailable, match="append-only"):
            ledger.execute(change)
        assert ledger.read(game) == before

    def test_a_game_that_is_not_closed_stays(self, ledger: Ledger) -> None:
        for game in (played(ledger, closed=False), new_game_id()):
            with pytest.raises(ValueError, match="closed"):
                archive(ledger, game)

    @pytest.mark.parametrize(
        ("known", "code"), [({3: "0" * 64}, "record_mismatch"), ({10: None}, "record_mismatch")], ids=str
    )
    def test_a_record_that_the_tree_does_not_prove_keeps_the_game(
        self, ledger: Ledger, known: Mapping[int, str], code: str
    ) -> None:
        game = played(ledger)
        before = ledger.execute("SELECT * FROM records")
        with pytest.raises(VerificationError) as refused:
            ledger.repair.archive_game(game, {**leaves(ledger, game), **known}, WHY)
        assert (refused.value.code, refused.value.version) == (code, *known)
        assert ledger.execute("SELECT * FROM records") == before
        assert ledger.execute("SELECT * FROM repairs") == []

    def test_a_record_that_cannot_be_read_keeps_the_game(self, ledger: Ledger) -> None:
        game = played(ledger)
        known = leaves(ledger, game)
        spoil(ledger, game, 4)
        with pytest.raises(VerificationError) as refused:
            ledger.repair.archive_game(game, known, WHY)
        assert refused.value.version == 4
        assert not ledger.is_archived(game)

    def test_what_changes_while_it_is_read_stays_as_it_is(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was verified is what is replaced, or nothing is."""
        game = played(ledger)
        pieces, known = archives.Archive.make_chunks, leaves(ledger, game)

        def meanwhile(*args: object) -> object:
            spoil(ledger, game, 7)
            return pieces(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(archives.Archive, "make_chunks", meanwhile)
        with pytest.raises(StaleVersion):
            ledger.repair.archive_game(game, known, WHY)
        assert not ledger.is_archived(game)
        assert [len(bytes(s)) > 33 for (s,) in ledger.execute("SELECT state FROM records")].count(False) == 1

    @pytest.mark.parametrize("stores", [0, 1, 5, 10])
    def test_killed_within_it_has_not_happened(self, ledger: Ledger, url: str, stores: int) -> None:
        """After so many of its ten records, or before the first: the next attempt does all of it."""
        game = played(ledger)
        before = ledger.read(game), ledger.execute("SELECT * FROM records")
        process, pipe = context.start(_killed, url, game, leaves(ledger, game), stores)
        with pytest.raises(EOFError):
            pipe.recv()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert (ledger.read(game), ledger.execute("SELECT * FROM records")) == before
        assert ledger.execute("SELECT * FROM archive") == ledger.execute("SELECT * FROM repairs") == []
        assert ledger.admin.has_append_triggers()
        assert archive(ledger, game) == 10
        assert ledger.read(game) == before[0]

    def test_a_full_disk_leaves_the_game_where_it_is(self, tmp_path: Path) -> None:
        """Whatever part of it fits; and once there is room it is moved."""
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}", context.KEY)
        ledger.migrate()
        game = played(ledger, 200)
        before, known = ledger.read(game), leaves(ledger, game)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        written = (tmp_path / "ledger-wal").stat().st_size
        for room in (0, 8192, 65536):
            resource.setrlimit(resource.RLIMIT_FSIZE, (written + room, hard))
            try:
                with pytest.raises(StoreUnavailable):
                    ledger.repair.archive_game(game, known, WHY)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            assert not ledger.is_archived(game)
            assert ledger.read(game) == before
            assert ledger.admin.has_append_triggers()
        assert archive(ledger, game) == len(before)
        assert ledger.read(game) == before
        ledger.close()

    def test_of_two_at_once_one_does_it(self, ledger: Ledger, url: str) -> None:
        game = played(ledger, 60)
        before = ledger.read(game)
        done = context.together(2, _archived, url, game, leaves(ledger, game))
        assert sorted(done) in ([0, 66], [-1, 66])
        assert ledger.read(game) == before

    def test_who_comes_second_is_told_that_somebody_was_faster(
        self, ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Both have read and proved the game; the store answers, so nobody waits for it."""
        game, other = played(ledger), Ledger.open(url, context.KEY)
        pieces, known = archives.Archive.make_chunks, leaves(ledger, game)

        def meanwhile(*args: object) -> object:
            monkeypatch.undo()
            assert other.repair.archive_game(game, known, WHY) == 10
            return pieces(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(archives.Archive, "make_chunks", meanwhile)
        with pytest.raises(StaleVersion):
            ledger.repair.archive_game(game, known, WHY)
        assert ledger.execute("SELECT count(*) FROM repairs") == [(1,)]
        assert ledger.admin.has_append_triggers()
        other.close()


class TestDamages:
    """A process that has read a piece remembers its lines, and sees all the same that the disk has changed."""

    def test_what_is_remembered_hides_nothing(self, ledger: Ledger) -> None:
        game = played(ledger)
        archive(ledger, game)
        before = ledger.read(game)
        ((piece,),) = ledger.execute("SELECT piece FROM archive")
        overwrite(ledger, "UPDATE archive SET piece = ?", (b"rotten",))
        with pytest.raises(VerificationError, match="unreadable"):
            ledger.read(game)
        overwrite(ledger, "UPDATE archive SET piece = ?", (bytes(piece),))
        assert ledger.read(game) == before

    def test_any_changed_byte_of_a_piece_makes_it_unreadable(self, ledger: Ledger) -> None:
        """Or are what they were: never others, and never an error that would stop whoever reads the whole log."""
        game = played(ledger)
        archive(ledger, game)
        before = ledger.read(game)
        ((piece,),) = ledger.execute("SELECT piece FROM archive")
        whole = bytes(piece)
        found: set[bool | str] = set()
        for at in (*range(40), *range(40, len(whole), 97), len(whole) - 1):
            for bit in (1, 128):
                changed = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
                overwrite(ledger, "UPDATE archive SET piece = ?", (changed,))
                try:
                    found.add(ledger.read(game) == before)
                except VerificationError as error:
                    found.add(error.code)
        assert found == {"unreadable"}

    def test_game_that_lost_all_pieces_is_archived_again(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        """Some of its records stand behind a stub then, and some do not."""
        monkeypatch.setattr(archives, "CHUNK_RECORDS", 5)
        game = played(ledger)
        before, known = ledger.read(game), leaves(ledger, game)
        archive(ledger, game)
        places = {version: ledger.position(game, version) or 0 for version in known}
        for first in (1, 6):
            overwrite(ledger, "DELETE FROM archive WHERE first_version = ?", (first,))
            ledger.repair.restore_records(
                game, [(r, r.hash, places[r.version]) for r in before[first - 1 : first + 4]], "it was lost"
            )
        assert ledger.read(game) == before
        assert not ledger.is_archived(game)
        assert ledger.repair.archive_game(game, known, WHY) == 10
        assert ledger.read(game) == before

    @pytest.mark.parametrize("cut", [0, 1, 4, 5, 40, -1])
    def test_a_piece_that_is_cut_off_is_unreadable(self, ledger: Ledger, cut: int) -> None:
        game = played(ledger)
        archive(ledger, game)
        ((piece,),) = ledger.execute("SELECT piece FROM archive")
        overwrite(ledger, "UPDATE archive SET piece = ?", (bytes(piece)[:cut],))
        with pytest.raises(VerificationError, match="unreadable"):
            ledger.read(game)

    @pytest.mark.parametrize(
        "change", ["last_version = 'x'", "last_version = 3", "last_version = 90", "first_version = 2", "game = 'x'"]
    )
    def test_a_column_that_has_changed_is_no_other_error(self, tmp_path: Path, change: str) -> None:
        """On SQLite a cell may hold whatever its bytes say."""
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}", context.KEY)
        ledger.migrate()
        game = played(ledger)
        archive(ledger, game)
        overwrite(ledger, f"UPDATE archive SET {change}")  # noqa: S608 - our own text
        with pytest.raises(VerificationError, match="unreadable"):
            ledger.read(game)
        ledger.close()

    @pytest.mark.parametrize("cell", ["NULL", "7", "10000000000000", "'text'", "1.5"])
    def test_a_piece_that_is_no_bytes_is_unreadable(self, tmp_path: Path, cell: str) -> None:
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}", context.KEY)
        ledger.migrate()
        game = played(ledger)
        archive(ledger, game)
        with ledger.repair.transaction("another table", "to hold what this one would not") as execute:
            execute("CREATE TABLE other AS SELECT * FROM archive", ())
            execute("DROP TABLE archive", ())
            execute("ALTER TABLE other RENAME TO archive", ())
            execute(f"UPDATE archive SET piece = {cell}", ())  # noqa: S608 - our own text
        with pytest.raises(VerificationError, match="unreadable"):
            ledger.read(game)
        ledger.close()


def _killed(pipe: Connection, url: str, game: str, known: dict[int, str], stores: int) -> None:
    ledger = Ledger.open(url, context.KEY)
    store = type(ledger._connection.open())

    def cut_off(self: Store, events: Sequence[tuple[StoredEvent, bytes]], execute: Execute) -> bool:
        whole(self, events[:stores], execute)
        os.kill(os.getpid(), signal.SIGKILL)
        return True

    whole = store.replace_states
    store.replace_states = cut_off  # type: ignore[method-assign] # within a process of its own
    pipe.send(ledger.repair.archive_game(game, known, WHY))


def _archived(_: int, url: str, game: str, known: dict[int, str]) -> int:
    ledger = Ledger.open(url, context.KEY)
    try:
        return ledger.repair.archive_game(game, known, WHY)
    except StaleVersion:
        return -1
    finally:
        ledger.close()
