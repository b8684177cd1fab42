"""What was appended stays as it was written: the database refuses everything else, whoever asks."""

from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from domain.service.idempotency_keys import IdempotencyKey
from tests.contracts.context import KEY, game, record, records
from tests.contracts.test_archive import chained

ASKED = IdempotencyKey("a", "hash")


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """Two records of one game, and the command that brought them."""
    ledger.append(game(), records(1, 2), 0, ASKED)
    return ledger


CHANGES = [
    "UPDATE records SET state = 'x'",
    "UPDATE records SET originator_version = originator_version + 10",
    "DELETE FROM records",
    "DELETE FROM records WHERE originator_version = 2",
    "UPDATE commands SET body_hash = 'other'",
    "DELETE FROM commands",
]
REPLACED = [
    "INSERT OR REPLACE INTO records SELECT rowid, originator_id, originator_version, topic, 'x' FROM records",
    "INSERT OR REPLACE INTO records SELECT rowid, originator_id, originator_version + 10, topic, 'x' FROM records",
    "INSERT OR REPLACE INTO commands SELECT game, id, 'other', 1, 1 FROM commands",
]


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_changes_or_removes_a_row(filled: Ledger, change: str) -> None:
    with pytest.raises(StoreUnavailable, match="append-only"):
        filled.execute(change)
    assert filled.read(game()) == records(1, 2)
    assert filled.find_command(game(), "a") is not None


@pytest.mark.parametrize("change", REPLACED)
def test_nothing_replaces_a_row_on_sqlite(tmp_path: Path, change: str) -> None:
    """REPLACE deletes without any trigger for deletions."""
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger'}")
    ledger.migrate()
    ledger.append(game(), records(1, 2), 0, ASKED)
    with pytest.raises(StoreUnavailable, match="append-only"):
        ledger.execute(change)
    assert ledger.read(game()) == records(1, 2)
    ledger.close()


def test_nothing_empties_a_table_on_postgresql(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url)
    ledger.migrate()
    for table in ("records", "commands", "archive", "repairs"):
        with pytest.raises(StoreUnavailable, match="append-only"):
            ledger.execute(f"TRUNCATE {table}")
    ledger.close()


class TestRepairs:
    def test_a_repair_changes_the_log_and_says_why(self, filled: Ledger) -> None:
        with filled.repair.transaction("version 2 is put back", "its bytes had rotted") as execute:
            execute("DELETE FROM records WHERE originator_version = ?", (2,))
        assert filled.version(game()) == 1
        ((what, why, who),) = filled.execute("SELECT what, why, who FROM repairs")
        assert (what, why) == ("version 2 is put back", "its bytes had rotted")
        assert who

    def test_after_it_the_log_is_closed_again(self, filled: Ledger) -> None:
        with filled.repair.transaction("nothing", "a rehearsal"):
            pass
        assert filled.admin.has_append_triggers()
        with pytest.raises(StoreUnavailable, match="append-only"):
            filled.execute("DELETE FROM records")
        filled.append(game(), [record(3)], 2)

    def test_one_that_fails_has_not_happened(self, filled: Ledger) -> None:
        def fail() -> None:
            with filled.repair.transaction("all is removed", "a mistake") as execute:
                execute("DELETE FROM records", ())
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert filled.read(game()) == records(1, 2)
        assert filled.execute("SELECT * FROM repairs") == []
        assert filled.admin.has_append_triggers()

    def test_meanwhile_it_is_open_to_nobody_else(self, filled: Ledger, url: str) -> None:
        other = Ledger.open(url.replace("?", "?options=-c%20lock_timeout%3D100&") if "postgres" in url else url)
        with filled.repair.transaction("nothing", "a rehearsal") as execute:
            execute("SELECT 1", ())
            if "postgres" in url:  # on SQLite nobody else writes at all
                with pytest.raises(StoreUnavailable, match="append-only"):
                    other.execute("DELETE FROM records")
        assert other.read(game()) == records(1, 2)
        other.close()

    @pytest.mark.parametrize("change", ["UPDATE repairs SET why = 'no'", "DELETE FROM repairs"])
    def test_what_was_repaired_stays_written_down(self, filled: Ledger, change: str) -> None:
        with (
            filled.repair.transaction("nothing", "a rehearsal") as execute,
            pytest.raises(Exception, match="append-only"),
        ):
            execute(change, ())
        with filled.repair.transaction("nothing", "a rehearsal"):
            pass
        with pytest.raises(StoreUnavailable, match="append-only"):
            filled.execute(change)

    @pytest.mark.parametrize(("what", "why"), [("", "why"), ("what", "")])
    def test_it_says_what_and_why(self, filled: Ledger, what: str, why: str) -> None:
        with pytest.raises(ValueError, match="why"), filled.repair.transaction(what, why):
            pass


def test_a_ledger_of_before_gets_its_guards_when_it_is_migrated(ledger: Ledger) -> None:
    rows = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
    drop = "DROP TRIGGER {0}"
    if postgres := "Postgres" in type(ledger._connection.open()).__name__:
        rows = "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
        drop = "DROP TRIGGER {0} ON {1}"
    for name, table in ledger.execute(rows):
        ledger.execute(drop.format(name, table))
    assert not ledger.admin.has_append_triggers(), postgres
    ledger.migrate()
    assert ledger.admin.has_append_triggers()


def test_triggers_of_others_are_named(ledger: Ledger) -> None:
    assert ledger.admin.list_foreign_triggers() == []
    make = ["CREATE TRIGGER foreign_one AFTER INSERT ON records BEGIN SELECT 1; END"]
    if "Postgres" in type(ledger._connection.open()).__name__:
        make = [
            "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER foreign_one AFTER INSERT ON public.seeds FOR EACH ROW EXECUTE FUNCTION nothing()",
            "CREATE RULE foreign_rule AS ON DELETE TO public.seeds DO INSTEAD NOTHING",
        ]
    for statement in make:
        ledger.execute(statement)
    assert ledger.admin.list_foreign_triggers() == ["foreign_one", "foreign_rule"][: max(len(make) - 1, 1)]
    assert ledger.admin.has_append_triggers()


class TestRoles:
    """On PostgreSQL who migrates owns the tables, and the service has no more rights than it needs."""

    @pytest.fixture
    def addresses(self, postgres_url: str) -> tuple[str, str]:
        """Of an owner who is no superuser, and of a service whose role is not there yet."""
        name = postgres_url.split("/")[3].partition("?")[0]
        with psycopg.connect(postgres_url, autocommit=True) as db:
            db.execute(f"CREATE ROLE owner_{name} LOGIN CREATEROLE")
            db.execute(f"ALTER DATABASE {name} OWNER TO owner_{name}")
            db.execute(f"ALTER SCHEMA public OWNER TO owner_{name}")
        owner, service = (postgres_url.replace("user=postgres", f"user={role}_{name}") for role in ("owner", "service"))
        return owner, f"{service}&password=a%20long%20secret"

    @pytest.fixture
    def service(self, addresses: tuple[str, str]) -> Ledger:
        owner = Ledger.open(addresses[0])
        owner.migrate()
        for _ in range(2):
            owner.admin.grant_service_role(addresses[1])
        owner.close()
        return Ledger.open(addresses[1])

    def test_the_service_appends_and_reads(self, service: Ledger) -> None:
        service.append(game(), records(1, 2), 0, ASKED)
        assert service.read(game()) == records(1, 2)
        assert service.execute("DELETE FROM seeds") == []
        service.run_in_append_order(lambda execute: None)
        assert service.admin.has_append_triggers()
        service.close()

    @pytest.mark.parametrize(
        "change",
        [
            *CHANGES,
            "TRUNCATE records",
            "INSERT INTO archive VALUES ('game', 1, 1, '')",
            "DROP TABLE commands",
            "ALTER TABLE records DISABLE TRIGGER ALL",
            "DROP TRIGGER annals_rows ON records",
            "DROP FUNCTION annals_refuse() CASCADE",
            "CREATE OR REPLACE FUNCTION annals_refuse() RETURNS trigger LANGUAGE sql AS ''",
            "CREATE TABLE other (id int)",
            "SET session_replication_role = replica",
            "INSERT INTO repairs (what, why) VALUES ('all', 'none')",
            "SET ROLE annals_repair",
        ],
    )
    def test_it_can_do_nothing_else_to_the_log(self, service: Ledger, change: str) -> None:
        service.append(game(), records(1, 2), 0, ASKED)
        with pytest.raises(StoreUnavailable, match=r"denied|owner|append-only"):
            service.execute(change)
        with pytest.raises(StoreUnavailable, match="denied"), service.repair.transaction("all", "none"):
            pass
        assert service.read(game()) == records(1, 2)
        service.close()

    def test_a_member_of_the_role_for_repairs_may(
        self, service: Ledger, addresses: tuple[str, str], postgres_url: str
    ) -> None:
        service.append(game(), records(1, 2), 0)
        service.close()
        with psycopg.connect(postgres_url, autocommit=True) as db:
            member = str(conninfo_to_dict(addresses[0])["user"]).replace("owner", "archivist")
            db.execute(f"CREATE ROLE {member} LOGIN")
            db.execute(f"GRANT annals_repair TO {member}")
        archivist = Ledger.open(addresses[0].replace("user=owner", "user=archivist"))
        with pytest.raises(StoreUnavailable, match="append-only"):
            archivist.execute("DELETE FROM records")
        with archivist.repair.transaction("version 2 is archived", "a table of a test") as execute:
            execute("DELETE FROM records WHERE originator_version = 2", ())
        assert archivist.execute("SELECT who FROM repairs") == [(member,)]
        for what, why in (("", "why"), ("what", " ")):
            with psycopg.connect(addresses[0].replace("user=owner", "user=archivist")) as db:
                db.execute("INSERT INTO repairs (what, why) VALUES (%s, %s)", (what, why))
                with pytest.raises(psycopg.errors.RestrictViolation):
                    db.execute("DELETE FROM records")
                db.rollback()
        for forged in ("who, what, why) VALUES ('somebody'", "transaction, what, why) VALUES ('9999999'"):
            with pytest.raises(StoreUnavailable, match="denied"):
                archivist.execute(f"INSERT INTO repairs ({forged}, 'what', 'why')")
        archivist.close()

    def test_who_repairs_archives_and_sees_nothing_else(
        self, service: Ledger, addresses: tuple[str, str], postgres_url: str
    ) -> None:
        """Neither seeds nor whatever the service keeps of people."""
        service.close()
        with psycopg.connect(postgres_url, autocommit=True) as db:
            member = str(conninfo_to_dict(addresses[0])["user"]).replace("owner", "keeper")
            db.execute(f"CREATE ROLE {member} LOGIN")
            db.execute(f"GRANT annals_repair TO {member}")
        service, archivist = (
            Ledger.open(url, KEY) for url in (addresses[1], addresses[0].replace("user=owner", "user=keeper"))
        )
        service.keys.check()  # the ring is begun with the first start
        made = chained()
        service.append(game(), made, 0)
        assert archivist.repair.archive_game(game(), {r.version: r.hash for r in made}, "it was closed long ago") == 3
        assert service.read(game()) == made
        archivist.repair.restore_records(game(), [(made[1], made[1].hash, 2)], "it had rotted")
        assert service.read(game()) == made
        for asked in (
            "SELECT * FROM seeds",
            "DELETE FROM damages",
            "DELETE FROM keyring",
            "UPDATE keyring SET mark = ''",
        ):
            with pytest.raises(StoreUnavailable, match="denied"):
                archivist.execute(asked)
        service.close()
        archivist.close()

    def test_the_password_of_a_new_role_is_not_told_to_the_server(self, service: Ledger, postgres_url: str) -> None:
        with psycopg.connect(postgres_url) as db:
            kept = db.execute("SELECT rolpassword FROM pg_authid WHERE rolname LIKE 'service%' ORDER BY oid DESC")
            ((password,), *_) = kept.fetchall()
        assert password.startswith("SCRAM-SHA-256$")
        service.close()

    @pytest.mark.parametrize("user", ["owner", ""])
    def test_the_two_must_be_named_and_differ(self, addresses: tuple[str, str], user: str) -> None:
        owner = Ledger.open(addresses[0])
        owner.migrate()
        with pytest.raises(StoreUnavailable, match="another"):
            owner.admin.grant_service_role(addresses[0] if user else "postgresql:///annals")
        owner.close()
