"""How the service speaks to its stores: secrets from files, passwords that change, certificates that are checked."""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from deploy.config import environment
from deploy.config.settings import SettingsError, load_settings
from deploy.runtime import logging_setup
from domain.errors import StoreUnavailable
from domain.ledger import Ledger
from projections.view_store import ViewStore
from tests.deploy.certificates import authority
from tests.deploy.harness import Table, call, serving
from tests.postgres import new_server as new_postgres
from tests.postgres import postgres_server, postgres_url
from tests.valkey import new_server
from workers.signals import connect

__all__ = ["postgres_server", "postgres_url"]

KEY = "5ec2e7" * 10 + "0000"
VALUES = {
    "ANNALS_DATABASE_URL": "postgresql://u:hidden@host/name",
    "ANNALS_MIGRATE_URL": "postgresql://o:hidden@host/name",
    "ANNALS_REDIS_URL": "redis://:hidden@host",
    "ANNALS_KEY": KEY,
    "ANNALS_NEW_KEY": KEY[::-1],
    "ANNALS_SIGNING_KEY": KEY[1:] + KEY[:1],
    "ANNALS_METRICS_TOKEN": "hidden",
    "ANNALS_SMTP": "smtps://u:hidden@host",
}
BESIDE = {"ANNALS_MAIL_FROM": "annals@example.org", "ANNALS_PUBLIC_URL": "https://example.org"}
"""What goes with one of them."""


class TestSecretsFromFiles:
    @pytest.fixture
    def files(self, tmp_path: Path) -> dict[str, str]:
        """A file for each secret, as an orchestrator mounts them."""
        for name, value in VALUES.items():
            (tmp_path / name).write_text(f"{value}\n")
        return {f"{name}_FILE": str(tmp_path / name) for name in VALUES}

    def test_each_secret_may_be_given_so(self, files: dict[str, str]) -> None:
        assert set(VALUES) == set(environment.SECRETS)
        assert load_settings({}, files | BESIDE) == load_settings({}, VALUES | BESIDE)

    @pytest.mark.parametrize("name", environment.SECRETS)
    def test_both_are_refused(self, files: dict[str, str], name: str) -> None:
        with pytest.raises(SettingsError, match=f"{name} and {name}_FILE are both given") as refused:
            load_settings({}, files | {name: VALUES[name]})
        assert "hidden" not in str(refused.value)

    @pytest.mark.parametrize(
        "held", [b"", b" \n", b"first hidden\nsecond", b"\xff\xfe", b"a\x00b", b"hidden" * 10_000], ids=repr
    )
    def test_a_file_that_holds_no_line_is_refused(self, tmp_path: Path, held: bytes) -> None:
        (tmp_path / "secret").write_bytes(held)
        with pytest.raises(SettingsError, match="ANNALS_METRICS_TOKEN_FILE names a file that does not hold") as refused:
            load_settings({}, {"ANNALS_METRICS_TOKEN_FILE": str(tmp_path / "secret")})
        assert "hidden" not in str(refused.value)

    @pytest.mark.parametrize("name", environment.SECRETS)
    def test_a_secret_in_the_place_of_its_file_is_not_repeated(self, name: str) -> None:
        with pytest.raises(SettingsError, match=f"{name}_FILE names a file that cannot be read") as refused:
            load_settings({}, {f"{name}_FILE": VALUES[name]})
        assert not any(secret in str(refused.value) for secret in ("hidden", KEY, KEY[::-1]))

    @pytest.mark.parametrize(
        "path", ["~nobody-of-that-name/hidden", "hidden\x00", "x" * 5000], ids=["home", "nul", "long"]
    )
    def test_what_is_no_path_is_said_and_not_repeated(self, path: str) -> None:
        with pytest.raises(SettingsError, match="ANNALS_KEY_FILE names a file that cannot be read") as refused:
            load_settings({}, {"ANNALS_KEY_FILE": path})
        assert path not in str(refused.value)

    @pytest.mark.parametrize("end", ["", "\n", "\r\n", " \n\n"], ids=repr)
    def test_the_end_of_its_line_is_no_part_of_a_secret(self, tmp_path: Path, end: str) -> None:
        (tmp_path / "secret").write_bytes(f"a b{end}".encode())
        assert load_settings({}, {"ANNALS_METRICS_TOKEN_FILE": str(tmp_path / "secret")}).metrics_token == "a b"

    def test_one_that_cannot_be_read_stops_the_start(self, tmp_path: Path) -> None:
        for wrong in (tmp_path / "none", tmp_path):
            done = call("serve", "--data", str(tmp_path / "data"), "--port", "0", ANNALS_KEY_FILE=str(wrong))
            assert done.returncode == 2
            assert "ANNALS_KEY_FILE" in done.stderr
            assert "cannot be read" in done.stderr
            assert not (tmp_path / "data").exists()

    def test_a_game_is_played_with_a_key_from_a_file(self, tmp_path: Path) -> None:
        """Which is made nowhere else; the file is read once, by whoever is started."""
        (tmp_path / "key").write_text(f"{KEY}\n")
        data = tmp_path / "data"
        with serving(data, ANNALS_KEY_FILE=str(tmp_path / "key")) as service:
            (tmp_path / "key").unlink()
            table = Table(service).open()
            table.turn()
        assert not (data / "key").exists()
        done = call("doctor", "--data", str(data), ANNALS_KEY=KEY)
        assert "the master key is not" not in done.stdout + done.stderr

    def test_they_are_hidden_from_logs_and_told_to_children_once(self, files: dict[str, str]) -> None:
        others = {name: value for name, value in os.environ.items() if name not in environment.SECRETS}
        with mock.patch.dict(os.environ, others | files | BESIDE, clear=True):
            found = load_settings()
            assert [name for name in files if name in os.environ] == []
            assert logging_setup.redact(f"{KEY} and hidden") == "... and ..."
            assert load_settings() == found


class TestPasswordsThatChange:
    def test_a_password_of_redis_is_read_anew(self, tmp_path: Path) -> None:
        passfile = tmp_path / "redis"
        passfile.write_text("first one\n")
        with new_server() as server, connect(server.url, 2) as admin:
            admin.config_set("requirepass", "first one")
            with connect(f"{server.url}?passfile={passfile}", 2) as client:
                assert client.ping()
                admin.execute_command("AUTH", "first one")
                admin.config_set("requirepass", "second one")
                admin.client_kill_filter(skipme=True, _type="normal")
                passfile.write_text("second one\n")
                assert client.ping()
                passfile.unlink()
                client.connection_pool.disconnect()
                with pytest.raises(Exception, match="cannot be read") as refused:
                    client.ping()
                assert "second" not in str(refused.value)
            admin.config_set("requirepass", "")

    def test_a_user_of_redis_may_have_one(self, tmp_path: Path) -> None:
        (tmp_path / "redis").write_text("a secret")
        with new_server() as server, connect(server.url, 2) as admin:
            admin.execute_command("ACL", "SETUSER", "annals", "on", ">a secret", "+@all")
            url = server.url.replace("unix://", "unix://annals@") + f"?passfile={tmp_path / 'redis'}&db=0"
            with connect(url, 2) as client:
                assert client.acl_whoami() == "annals"

    def test_a_password_of_postgresql_is_read_anew(self, tmp_path: Path) -> None:
        """The file is the driver's own: HOST:PORT:DATABASE:USER:PASSWORD."""
        passfile = tmp_path / "pgpass"

        def keep(password: str) -> None:
            passfile.write_text(f"*:*:*:service:{password}\n")
            passfile.chmod(0o600)

        with new_postgres() as server:
            with psycopg.connect(server.dsn, autocommit=True) as db:
                db.execute("CREATE ROLE service LOGIN SUPERUSER PASSWORD 'first'")
            (server.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
            server.call("pg_ctl", "reload")
            keep("first")
            ledger = Ledger.open(f"postgresql:///postgres?host={server.folder}&user=service&passfile={passfile}")
            ledger.migrate()
            with psycopg.connect(server.dsn, autocommit=True) as db:
                db.execute("ALTER ROLE service PASSWORD 'second'")
                keep("second")
                db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service'")
            assert ledger.log(0, 10) == []
            ledger.close()


class TestVerifiedStores:
    ENV = {"ANNALS_STORES": "verified"}  # noqa: RUF012 - read alone

    @pytest.fixture
    def trusting(self, tmp_path: Path) -> dict[str, str]:
        return {**self.ENV, "ANNALS_STORES_CA": str(authority(tmp_path / "ours").file)}

    @pytest.mark.parametrize(
        ("variable", "url"),
        [
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?sslmode=require"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?sslmode=disable"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?sslmode=verify-ca"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?sslmode=verify-full&sslmode=allow"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?ssl%6dode=prefer"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?ssl=true"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?gssencmode=prefer"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?sslmode=verify-full&gssencmode=require"),
            ("ANNALS_MIGRATE_URL", "postgresql://o:hidden@host/name?gssencmode=disable&gssenc%6dode=prefer"),
            ("ANNALS_DATABASE_URL", "postgresql://u:hidden@host/name?nonsense=hidden"),
            ("ANNALS_MIGRATE_URL", "postgresql://o:hidden@host/name?sslmode=require"),
            ("ANNALS_REDIS_URL", "redis://:hidden@host"),
            ("ANNALS_REDIS_URL", "rediss://:hidden@host?ssl_cert_reqs=none"),
            ("ANNALS_REDIS_URL", "rediss://:hidden@host?ssl_cert_reqs=optional"),
            ("ANNALS_REDIS_URL", "rediss://:hidden@host?ssl_cert_reqs=required&ssl_cert_reqs=none"),
            ("ANNALS_REDIS_URL", "rediss://:hidden@host?ssl_check_hostname=false"),
        ],
    )
    def test_an_address_that_asks_for_less_is_refused(self, trusting: dict[str, str], variable: str, url: str) -> None:
        whole = {"ANNALS_DATABASE_URL": "postgresql://u@host/name", **trusting, variable: url}
        with pytest.raises(SettingsError, match=variable) as refused:
            load_settings({}, whole)
        assert "hidden" not in str(refused.value)

    def test_an_address_that_says_nothing_asks_for_all(self, trusting: dict[str, str]) -> None:
        env = {
            "ANNALS_DATABASE_URL": "postgresql://u:p@host/name",
            "ANNALS_MIGRATE_URL": "postgresql://o:p@host/name?connect_timeout=3",
            "ANNALS_REDIS_URL": "rediss://:p@host/0",
        }
        found = load_settings({}, env | trusting)
        for url in (found.ledger_url, found.views_url, found.migrate_url):
            asked = conninfo_to_dict(url)
            assert (asked["sslmode"], asked["sslrootcert"]) == ("verify-full", trusting["ANNALS_STORES_CA"])
            assert asked["gssencmode"] == "disable", "a ticket of Kerberos would take the place of the certificate"
        redis = parse_qs(urlsplit(found.redis_url).query)
        assert (redis["ssl_cert_reqs"], redis["ssl_ca_certs"]) == (["required"], [trusting["ANNALS_STORES_CA"]])
        assert load_settings({}, found.to_environ()) == load_settings({}, {**env, **trusting, "ANNALS_MIGRATE_URL": ""})

    def test_an_authority_must_be_named_and_be_there(self, tmp_path: Path) -> None:
        postgres = {"ANNALS_DATABASE_URL": "postgresql://u@host/name"}
        with pytest.raises(SettingsError, match="ANNALS_STORES_CA must name"):
            load_settings({}, postgres | self.ENV)
        with pytest.raises(SettingsError, match="ANNALS_STORES_CA: there is no file"):
            load_settings({}, postgres | self.ENV | {"ANNALS_STORES_CA": str(tmp_path / "none")})
        with pytest.raises(SettingsError, match="goes with ANNALS_STORES=verified"):
            load_settings({}, {"ANNALS_STORES_CA": str(tmp_path)})
        with pytest.raises(SettingsError, match="ANNALS_STORES: one of given, verified"):
            load_settings({}, {"ANNALS_STORES": "yes"})

    def test_what_stays_on_this_machine_needs_none(self) -> None:
        assert load_settings({}, self.ENV).sqlite
        assert load_settings({}, self.ENV | {"ANNALS_REDIS_URL": "unix:///run/redis"}).redis_url == "unix:///run/redis"

    def test_a_socket_of_postgresql_needs_no_authority(self, postgres_url: str) -> None:
        found = load_settings({}, self.ENV | {"ANNALS_DATABASE_URL": postgres_url})
        assert conninfo_to_dict(found.ledger_url)["sslmode"] == "verify-full", "wherever else it may lead"
        ledger, views = Ledger.open(found.ledger_url), ViewStore(found.views_url)
        ledger.migrate()
        views.migrate()
        ledger.close()
        views.close()

    def test_redis_needs_a_certificate_for_its_name(self, tmp_path: Path) -> None:
        ours, others = authority(tmp_path / "ours"), authority(tmp_path / "others")
        with new_server() as server:
            for signer, host, fits in ((ours, "localhost", True), (others, "localhost", False), (ours, "other", False)):
                with over_tls(server.folder / "socket", *signer.certify(host)) as port:
                    env = {**self.ENV, "ANNALS_STORES_CA": str(ours.file)}
                    url = load_settings({}, env | {"ANNALS_REDIS_URL": f"rediss://localhost:{port}"}).redis_url
                    with connect(url, 5) as client:
                        assert answers(client.ping) is fits, (signer.folder.name, host)

    def test_postgresql_needs_a_certificate_for_its_name(self, tmp_path: Path, postgres_url: str) -> None:
        """By the ledger, and by the views, whose library reads the address anew."""
        ours, others = authority(tmp_path / "ours"), authority(tmp_path / "others")
        there = conninfo_to_dict(postgres_url)
        path = Path(str(there["host"])) / ".s.PGSQL.5432"
        for signer, host, fits in ((ours, "localhost", True), (others, "localhost", False), (ours, "other", False)):
            with over_tls(path, *signer.certify(host), asked=8) as port:
                env = {**self.ENV, "ANNALS_STORES_CA": str(ours.file)}
                url = f"postgresql://postgres@localhost:{port}/{there['dbname']}?connect_timeout=3"
                found = load_settings({}, env | {"ANNALS_DATABASE_URL": url})
                ledger, views = Ledger.open(found.ledger_url), ViewStore(found.views_url)
                assert answers(ledger.migrate) is fits, (signer.folder.name, host)
                assert answers(views.migrate) is fits, (signer.folder.name, host)
                ledger.close()
                views.close()


def answers(call: Callable[[], object]) -> bool:
    try:
        call()
    except (StoreUnavailable, OSError, psycopg.Error):
        return False
    except Exception as error:
        if type(error).__module__.startswith("redis."):
            return False
        raise
    return True


@contextmanager
def over_tls(path: Path, cert: Path, key: Path, asked: int = 0) -> Iterator[int]:
    """The port of a relay that speaks TLS and passes on what it hears to a socket.

    A client of PostgreSQL asks first, in so many bytes, whether there is TLS.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    def serve(raw: socket.socket) -> None:
        with suppress(OSError), raw, socket.socket(socket.AF_UNIX) as behind:
            raw.settimeout(10)
            if asked and raw.recv(asked):
                raw.sendall(b"S")
            with context.wrap_socket(raw, server_side=True) as client:
                behind.connect(str(path))
                while True:
                    ready = [client] if client.pending() else select.select([client, behind], (), (), 10)[0]
                    for each in ready:
                        said = each.recv(65536)
                        (behind if each is client else client).sendall(said)
                        if not said:
                            return

    def listen() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
