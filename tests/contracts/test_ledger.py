"""Append, read, versions and commands: the same on every store."""

import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import psycopg
import pytest

from domain.errors import CommandReused, StaleVersion, StoreUnavailable, UnknownGame, UnknownKind
from domain.kernel.records.record import Record
from domain.ledger import CommandRow, Ledger, LogEntry, Receipt, postgres
from domain.ledger.mapper import pack
from domain.service.idempotency_keys import IdempotencyKey
from tests.contracts import context
from tests.contracts.context import game, record, records
from tests.damage import overwrite

ALICE, BOB = IdempotencyKey("alice", "a"), IdempotencyKey("bob", "b")
A_GAME = UUID("c7ddf459-874a-4f57-85ea-33c1ad2fb603")
UNKNOWN = ["", "match", str(A_GAME).upper(), A_GAME.hex, f"{{{A_GAME}}}", A_GAME.urn, str(A_GAME)]


class TestOpening:
    @pytest.mark.parametrize(
        "address",
        ["", "l.db", "mysql://host/db", "sqlite:", "sqlite:///", "sqlite://host/l.db", "sqlite:///l.db?mode=memory"],
    )
    def test_only_the_two_kinds_of_address_are_known(self, address: str) -> None:
        with pytest.raises(ValueError, match="address"):
            Ledger.open(address)

    def test_a_path_may_hold_any_character(self, tmp_path: Path) -> None:
        path = tmp_path / "a b?c#d%20é.sqlite"
        ledger = Ledger.open(f"sqlite:///{quote(str(path))}")
        ledger.migrate()
        assert ledger.append(game(), [record(1)], 0).last == 1
        ledger.close()
        assert path.exists()

    def test_without_migrating_there_is_no_store(self, url: str) -> None:
        for use in (lambda: Ledger.open(url).version(game()), lambda: Ledger.open(url).append(game(), [record(1)], 0)):
            with pytest.raises(StoreUnavailable):
                use()

    def test_opening_makes_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(StoreUnavailable):
            Ledger.open(f"sqlite:///{tmp_path}/ledger.sqlite").read(game())
        assert list(tmp_path.iterdir()) == []

    def test_ledger_opened_too_early_works_once_tables_are_there(self, url: str) -> None:
        early = Ledger.open(url)
        with pytest.raises(StoreUnavailable):
            early.append(game(), [record(1)], 0)
        Ledger.open(url).migrate()
        assert early.append(game(), [record(1)], 0).positions == (1,)
        early.close()

    def test_the_file_can_be_read_by_its_owner_alone(self, tmp_path: Path) -> None:
        Ledger.open(f"sqlite:///{tmp_path}/ledger.sqlite").migrate()
        assert stat.S_IMODE((tmp_path / "ledger.sqlite").stat().st_mode) == 0o600

    def test_migrating_again_changes_nothing(self, ledger: Ledger) -> None:
        ledger.append(game(), [record(1)], 0, ALICE)
        ledger.migrate()
        assert ledger.version(game()) == 1

    def test_a_closed_ledger_opens_again_when_used(self, ledger: Ledger) -> None:
        ledger.append(game(), [record(1)], 0)
        ledger.close()
        assert ledger.version(game()) == 1

    def test_in_memory_it_lives_as_long_as_the_object(self) -> None:
        ledger = Ledger.open("sqlite://")
        ledger.migrate()
        ledger.append(game(), records(1, 2), 0, ALICE)
        assert (ledger.version(game()), len(ledger.log(0, 9))) == (2, 2)
        ledger.close()


class TestAppendAndRead:
    def test_records_come_back_complete_and_in_order(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 3), 0)
        ledger.append(game(), records(4, 1), 3)
        assert ledger.read(game()) == records(1, 4)

    def test_a_part_of_the_stream_can_be_read(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 5), 0)
        assert ledger.read(game(), after=3) == records(4, 2)
        assert ledger.read(game(), after=1, upto=3) == records(2, 2)
        assert ledger.read(game(), after=5) == []

    def test_games_do_not_mix(self, ledger: Ledger) -> None:
        ledger.append(game(1), records(1, 2), 0)
        ledger.append(game(2), records(1, 1), 0)
        assert (ledger.version(game(1)), ledger.version(game(2))) == (2, 1)

    @pytest.mark.parametrize("name", UNKNOWN, ids=repr)
    def test_an_unknown_game_has_no_records(self, ledger: Ledger, name: str) -> None:
        assert (ledger.version(name), ledger.read(name), ledger.find_command(name, "x")) == (0, [], None)

    @pytest.mark.parametrize("name", UNKNOWN[:-1], ids=repr)
    def test_a_name_that_is_no_canonical_uuid_takes_no_records(self, ledger: Ledger, name: str) -> None:
        with pytest.raises(UnknownGame):
            ledger.append(name, [record(1)], 0)

    def test_an_append_answers_the_positions_of_its_records(self, ledger: Ledger) -> None:
        first = ledger.append(game(1), records(1, 2), 0)
        second = ledger.append(game(2), records(1, 3), 0)
        assert (first.first, first.last, second.first, second.last) == (1, 2, 1, 3)
        entries = ledger.log(0, 100)
        assert [(e.position, e.game, e.version) for e in entries] == [
            *((p, game(1), v) for p, v in zip(first.positions, (1, 2), strict=True)),
            *((p, game(2), v) for p, v in zip(second.positions, (1, 2, 3), strict=True)),
        ]

    @pytest.mark.parametrize("wrong", [[], [record(2)], [record(1), record(3)], [record(1), record(1)]])
    def test_records_that_do_not_follow_expected_version_are_bug(self, ledger: Ledger, wrong: list[Record]) -> None:
        with pytest.raises(ValueError, match="follow"):
            ledger.append(game(), wrong, 0)

    def test_a_large_record_and_odd_text_are_kept(self, ledger: Ledger) -> None:
        odd = record(1, ["\x00", "é", "\U0001f3b2", "x" * 1_000_000])
        ledger.append(game(), [odd], 0)
        assert ledger.read(game()) == [odd]


class TestVersions:
    @pytest.mark.parametrize("expected", [0, 1, 3, 99])
    def test_another_head_than_expected_is_stale(self, ledger: Ledger, expected: int) -> None:
        ledger.append(game(), records(1, 2), 0)
        with pytest.raises(StaleVersion) as caught:
            ledger.append(game(), [record(expected + 1)], expected)
        assert (caught.value.expected, caught.value.version) == (expected, 2)
        assert ledger.read(game()) == records(1, 2)

    def test_stale_append_stores_none_of_its_records_and_no_command(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 2), 0)
        with pytest.raises(StaleVersion):
            ledger.append(game(), records(2, 5), 1, ALICE)
        assert (ledger.version(game()), ledger.find_command(game(), "alice"), len(ledger.log(0, 99))) == (2, None, 2)

    def test_waiting_appends_are_committed_as_if_alone(self, ledger: Ledger, url: str) -> None:
        """Among them one that repeats a command, one that is stale, and one whose row beside it cannot be written."""
        first = ledger.append(game(2), [record(1)], 0, ALICE)
        nowhere = [("INSERT INTO nowhere VALUES (?)", (1,))]
        works = [partial(ledger.append, game(n), [record(1)], 0, ALICE) for n in range(3, 9)]
        works.insert(2, partial(ledger.append, game(2), [record(2)], 1, ALICE))
        works.insert(4, partial(ledger.append, game(9), [record(5)], 4))
        works.insert(6, partial(ledger.append, game(9), [record(1)], 0, BOB, nowhere))
        results = committed_together(ledger, url, works)
        repeated, stale, broken = results.pop(2), results.pop(3), results.pop(4)
        assert repeated == Receipt(1, 1, first.positions, replayed=True)
        assert isinstance(stale, StaleVersion)
        assert isinstance(broken, StoreUnavailable)
        positions = [receipt.positions[0] for receipt in results if isinstance(receipt, Receipt)]
        entries = [e for e in ledger.log(first.positions[0], 20) if e.game != game(1)]
        assert [e.position for e in entries] == positions
        assert [e.game for e in entries] == [game(n) for n in range(3, 9)]
        assert ledger.find_command(game(9), BOB.id) is None

    @pytest.mark.parametrize(
        ("code", "alone"), [("23505", True), ("40001", True), ("40P01", True), ("54000", True), ("55P03", False)]
    )
    def test_what_the_server_has_undone_is_told_to_whom_it_belongs(
        self, postgres_url: str, code: str, *, alone: bool
    ) -> None:
        """Not so a lock that was waited for too long: each alone would wait as long again."""
        ledger = Ledger.open(postgres_url)
        ledger.migrate()
        raising = [(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$", ())]
        works = [partial(ledger.append, game(n), [record(1)], 0, ALICE) for n in range(2, 6)]
        works.insert(2, partial(ledger.append, game(9), [record(1)], 0, BOB, raising))
        first, *results = committed_together(ledger, postgres_url, works)
        broken = results.pop(1)
        assert isinstance(first, Receipt)
        assert isinstance(broken, StoreUnavailable | StaleVersion)
        assert [type(each) for each in results] == 3 * [Receipt if alone else StoreUnavailable]
        assert [ledger.version(game(n)) for n in (3, 4, 5, 9)] == [alone, alone, alone, 0]
        ledger.close()

    def test_who_freezes_in_transaction_keeps_nobody_from_appending(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor does one whose machine is gone: the server hears no more of either. What it had begun is undone."""
        monkeypatch.setattr(postgres, "IDLE_TIMEOUT", 0.5)
        with closing(Ledger.open(postgres_url)) as ledger, closing(Ledger.open(postgres_url)) as other:
            ledger.migrate()
            frozen, thawed = threading.Event(), threading.Event()

            def freeze(execute: Callable[..., object]) -> None:
                execute("INSERT INTO repairs (what, why) VALUES (?, '')", ("nothing",))
                frozen.set()
                thawed.wait(60)

            with ThreadPoolExecutor(1) as pool:
                first = pool.submit(ledger.run_in_append_order, freeze)
                assert frozen.wait(60)
                other.append(game(), [record(1)], 0)
                thawed.set()
                assert isinstance(first.exception(), StoreUnavailable)
            assert ledger.execute("SELECT count(*) FROM repairs") == [(0,)]
            ledger.append(game(), [record(2)], 1)

    def test_of_racing_threads_exactly_one_wins_each_version(self, ledger: Ledger) -> None:
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(lambda me: context.won(ledger, me, 15), range(8)))
        assert sorted(v for mine in won for v in mine) == list(range(1, 121))
        assert [r.body["note"] for r in ledger.read(game())] == [
            next(me for me in range(8) if v in won[me]) for v in range(1, 121)
        ]

    def test_of_racing_processes_exactly_one_wins_each_version(self, ledger: Ledger, url: str) -> None:
        won = context.together(3, context.win, url, 25)
        assert sorted(v for mine in won for v in mine) == list(range(1, 76))
        assert [r.body["note"] for r in ledger.read(game())] == [
            next(me for me in range(3) if v in won[me]) for v in range(1, 76)
        ]


class TestCommands:
    def test_an_accepted_command_is_found_with_what_it_stored(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 1), 0)
        receipt = ledger.append(game(), records(2, 2), 1, ALICE)
        assert ledger.find_command(game(), "alice") == CommandRow("alice", "a", 2, 3, receipt.positions)
        assert ledger.find_command(game(), "bob") is None
        assert ledger.find_command(game(2), "alice") is None

    def test_same_command_again_stores_nothing_same_answer(self, ledger: Ledger) -> None:
        first = ledger.append(game(), records(1, 2), 0, ALICE)
        ledger.append(game(), records(3, 1), 2, BOB)
        for expected in (0, 2, 3):
            again = ledger.append(game(), records(expected + 1, 1, "other"), expected, ALICE)
            assert (again.first, again.last, again.positions) == (first.first, first.last, first.positions)
            assert (first.replayed, again.replayed) == (False, True)
        assert ledger.read(game()) == records(1, 3)

    @pytest.mark.parametrize("expected", [0, 2, 9])
    def test_the_same_id_with_another_body_is_refused(self, ledger: Ledger, expected: int) -> None:
        ledger.append(game(), records(1, 2), 0, ALICE)
        with pytest.raises(CommandReused):
            ledger.append(game(), [record(expected + 1)], expected, IdempotencyKey("alice", "other"))
        assert ledger.version(game()) == 2

    def test_ids_are_each_games_own(self, ledger: Ledger) -> None:
        ledger.append(game(1), [record(1)], 0, ALICE)
        assert not ledger.append(game(2), [record(1)], 0, IdempotencyKey("alice", "other")).replayed

    def test_same_command_of_several_processes_is_stored_once(self, ledger: Ledger, url: str) -> None:
        answers = context.together(3, context.insist, url, 20)
        stored = [r.body["note"] for r in ledger.read(game())]
        assert stored == [f"c{n}" for n in range(20)]
        for n in range(20):
            assert {mine[n][0] for mine in answers} == {n + 1}
            assert [mine[n][1] for mine in answers].count(False) == 1


class TestOrdinaryTables:
    def test_a_statement_reads_and_writes(self, ledger: Ledger) -> None:
        insert = "INSERT INTO seeds VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        assert ledger.execute(insert, ("g", b"\x00\xff", b"box")) == []
        assert ledger.execute(insert, ("g", b"n", b"other")) == []
        rows = ledger.execute("SELECT game, nonce, box FROM seeds WHERE game = ?", ("g",))
        assert [(g, bytes(n), bytes(b)) for g, n, b in rows] == [("g", b"\x00\xff", b"box")]


class TestUnknownKinds:
    def spoil(self, ledger: Ledger, version: int) -> None:
        sql = "UPDATE records SET topic = ? WHERE originator_version = ?"
        overwrite(ledger, sql, ("game.melted@1", version))

    def test_a_game_with_an_unknown_kind_cannot_be_read(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 3), 0)
        self.spoil(ledger, 2)
        with pytest.raises(UnknownKind):
            ledger.read(game())

    def test_a_page_of_the_log_can_still_be_read_past_it(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 3), 0)
        self.spoil(ledger, 2)
        good, bad, later = ledger.log(0, 10)
        assert (good.record, later.record) == (record(1), record(3))
        with pytest.raises(UnknownKind):
            _ = bad.record
        assert (bad.game, bad.version) == (game(), 2)

    def test_an_unknown_kind_is_not_stored(self, ledger: Ledger) -> None:
        with pytest.raises(UnknownKind):
            ledger.append(game(), [record(1), Record({"v": 2, "kind": "melted"}, {})], 0, ALICE)
        assert (ledger.version(game()), ledger.find_command(game(), "alice")) == (0, None)


class TestTail:
    def test_page_begins_after_position_and_is_no_longer_than_asked(self, ledger: Ledger) -> None:
        ledger.append(game(), records(1, 5), 0)
        whole = ledger.log(0, 100)
        assert ledger.log(whole[1].position, 2) == whole[2:4]
        assert ledger.log(whole[-1].position, 100) == []

    def test_an_append_waits_until_the_one_before_is_visible(self, ledger: Ledger, url: str) -> None:
        with ThreadPoolExecutor(1) as pool:
            with unfinished_append(url):
                later = pool.submit(ledger.append, game(2), [record(1)], 0)
                time.sleep(0.2)
                assert ledger.log(0, 10) == []
                assert not later.done()
            later.result()
        assert [e.game for e in ledger.log(0, 10)] == [game(1), game(2)]

    def test_who_tails_log_misses_nothing_and_sees_positions_rise(self, ledger: Ledger, url: str) -> None:
        writers, count = 3, 120
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(context.together, writers, context.fill, url, count)
            seen: list[LogEntry] = []
            while len(seen) < writers * count:
                finished = writing.done()
                page = ledger.log(seen[-1].position if seen else 0, 7)
                assert page or not finished, "the log ends before the last record"
                seen += page
            written = writing.result()
        positions = [e.position for e in seen]
        assert positions == sorted(set(positions))
        for me, mine in enumerate(written):
            assert [e.position for e in seen if e.game == game(10 + me)] == mine
            assert [e.version for e in seen if e.game == game(10 + me)] == list(range(1, count + 1))


def committed_together(ledger: Ledger, url: str, works: Sequence[Callable[[], Receipt]]) -> list[object]:
    """What came of each: the first waits for somebody else's append, and the others for the first."""
    ledger.version(game())  # it connects
    waiting = ledger._connection._store._group_commit  # type: ignore[union-attr] # either store has one
    with ThreadPoolExecutor(len(works)) as threads, unfinished_append(url):
        found = []
        for before, work in enumerate(works):
            found.append(threads.submit(work))
            while not waiting._committing.locked() or len(waiting._waiting) < before:
                time.sleep(0.001)
    return [f.exception(20) or f.result(20) for f in found]


@contextmanager
def unfinished_append(url: str) -> Iterator[None]:
    """Somebody has stored a record of game 1, and commits at the end."""
    state = pack({"public": record(1).public, "packs": record(1).packs})
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as one:
            one.execute("BEGIN IMMEDIATE")
            row = (UUID(game(1)).hex, 1, "game.moved@1", state)
            one.execute("INSERT INTO records VALUES (NULL, ?, ?, ?, ?)", row)
            yield
            one.execute("COMMIT")
    else:
        with psycopg.connect(url) as other:
            call = "SELECT annals_append(%s, 0, ARRAY['game.moved@1'], %s, NULL, NULL)"
            other.execute(call, (UUID(game(1)), [state]))
            yield
