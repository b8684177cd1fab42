"""Settings: flags before the environment before defaults, clear refusals, and no secret in sight."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from deploy.config.settings import SettingsError, load_settings
from deploy.runtime import binaries, embedded_redis
from tests.deploy.harness import call

SECRET = "5ec2e7" * 10 + "0000"


def test_without_anything_it_is_sqlite_in_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = load_settings({}, {})
    assert found.data == tmp_path / "var"
    assert found.ledger_url == f"sqlite:///{tmp_path}/var/ledger.sqlite"
    assert found.sqlite
    assert (found.port, found.workers, found.redis_url) == (8000, 1, "")


def test_flags_come_before_the_environment(tmp_path: Path) -> None:
    env = {"ANNALS_DATA": "/elsewhere", "ANNALS_PORT": "1", "ANNALS_WORKERS": "3", "ANNALS_LOG_LEVEL": "INFO"}
    found = load_settings({"data": str(tmp_path), "port": 0, "workers": None}, env)
    assert (found.data, found.port, found.workers, found.log_level) == (tmp_path, 0, 3, "info")


def test_an_empty_variable_counts_as_none() -> None:
    assert load_settings({}, {"ANNALS_PORT": "", "ANNALS_REDIS_URL": ""}).port == 8000


def test_with_postgresql_log_and_views_are_in_one_database() -> None:
    found = load_settings({}, {"ANNALS_DATABASE_URL": "postgres://u:p@host/name"})
    assert found.ledger_url == found.views_url == "postgresql://u:p@host/name"
    assert not found.sqlite


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ANNALS_DATABASE_URL", "mysql://root:secret@host/name"),
        ("ANNALS_REDIS_URL", "http://:secret@host"),
        ("ANNALS_KEY", "secret"),
        ("ANNALS_PORT", "secret"),
        ("ANNALS_PORT", "65536"),
        ("ANNALS_WORKERS", "0"),
        ("ANNALS_PUMPS", "2"),
        ("ANNALS_PARTS", "secret"),
        ("ANNALS_LOG_LEVEL", "secret"),
        ("ANNALS_RATE", "secret"),
        ("ANNALS_RATE", "-1"),
        ("ANNALS_TABLES", "0"),
        ("ANNALS_ACCOUNTS", "0"),
        ("ANNALS_STREAMS", "secret"),
        ("ANNALS_STREAMS", "2001"),
        ("ANNALS_SHARED_NETWORKS", "192.0.2.0/24; secret"),
        ("ANNALS_SHARED_NETWORKS", "192.0.2.1/24"),
        ("ANNALS_REGISTRATION", "everybody"),
        ("ANNALS_PLAIN_HTTP", "1"),
        ("ANNALS_STORES", "secret"),
        ("ANNALS_STORES_CA", "/secret"),
        ("ANNALS_HSTS", "secret"),
        ("ANNALS_WORKER", "secret"),
        ("ANNALS_SECOND_FACTOR", "member"),
        ("ANNALS_PUBLIC_URL", "http://play.example"),
        ("ANNALS_PUBLIC_URL", "https://secret@play.example"),
        ("ANNALS_PUBLIC_URL", "https://play.example/path"),
        ("ANNALS_PUBLIC_URL", "https://Play.example"),
        ("ANNALS_PUBLIC_URL", "play.example"),
        ("ANNALS_ORIGINS", "play.example"),
        ("ANNALS_ORIGINS", "https://play.example/"),
        ("ANNALS_ORIGINS", "https://Play.example"),
        ("ANNALS_ORIGINS", "https://a.example https://b.example"),
        ("ANNALS_ORIGINS", "*, https://a.example"),
        ("ANNALS_TRUSTED_PROXIES", "127.0.0.1, secret"),
        ("ANNALS_TRUSTED_PROXIES", "192.0.2.1/24"),
        ("ANNALS_TRUSTED_PROXIES", "127.0.0.1; }"),
        ("ANNALS_SCRUB", "-1"),
        ("ANNALS_BACKUP_DAYS", "secret"),
        ("ANNALS_ARCHIVE_DAYS", "-1"),
        ("ANNALS_TALK_DAYS", "-1"),
        ("ANNALS_BACKUP", "/"),
    ],
)
def test_nonsense_is_refused_by_name_and_not_repeated(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({}, {variable: value})
    assert "secret" not in str(refused.value)
    assert variable.removeprefix("ANNALS_").lower().replace("_", " ") in str(refused.value).lower().replace("_", " ")


@pytest.mark.parametrize("path", ["/annals", "/annals/", "/a/b"])
def test_a_service_below_a_path_is_told_what_it_needs(path: str) -> None:
    with pytest.raises(SettingsError, match="a URL without a path is expected"):
        load_settings({}, {"ANNALS_PUBLIC_URL": f"https://play.example{path}"})


@pytest.mark.parametrize("name", ["DATA", "BACKUP", "TLS_CERT", "STORES_CA"])
def test_the_home_of_nobody_is_refused_by_name(name: str) -> None:
    with pytest.raises(SettingsError, match=f"ANNALS_{name} names a file that cannot be read"):
        load_settings({}, {"ANNALS_STORES": "verified", f"ANNALS_{name}": "~nobody-of-that-name/there"})


def test_no_secret_is_shown() -> None:
    env = {
        "ANNALS_DATABASE_URL": "postgresql://u:hidden@host/name",
        "ANNALS_REDIS_URL": "redis://:hidden@host",
        "ANNALS_KEY": SECRET,
        "ANNALS_METRICS_TOKEN": "hidden",
    }
    shown = repr(load_settings({}, env))
    assert "hidden" not in shown
    assert SECRET not in shown


def test_a_child_is_told_the_same_settings(tmp_path: Path) -> None:
    env = {"ANNALS_KEY": SECRET, "ANNALS_REDIS_URL": "redis://h", "ANNALS_ORIGINS": "https://a, https://b"}
    env |= {"ANNALS_ARCHIVE_DAYS": "30", "ANNALS_TALK_DAYS": "30", "ANNALS_ACCOUNTS": "60", "ANNALS_STREAMS": "90"}
    env |= {"ANNALS_WORKER": "no"}
    env |= {"ANNALS_SHARED_NETWORKS": "192.0.2.0/24, 2001:db8::/48"}
    env |= {"ANNALS_SCRUB": "7", "ANNALS_BACKUP": str(tmp_path.with_name("copies")), "ANNALS_BACKUP_DAYS": "3"}
    found = load_settings(
        {"data": str(tmp_path), "port": 17}, env | {"ANNALS_RATE": "2.5", "ANNALS_METRICS_TOKEN": "t"}
    )
    assert load_settings({}, found.to_environ()) == found
    assert found.origins == ("https://a", "https://b")
    shared = load_settings({}, {"ANNALS_DATABASE_URL": "postgresql://h/n", "ANNALS_PUMPS": "3", "ANNALS_PARTS": "9"})
    assert (shared.pumps, shared.parts, load_settings({}, shared.to_environ())) == (3, 9, shared)


@pytest.mark.parametrize(("text", "origins"), [("", ("*",)), ("*", ("*",)), ("none", ()), ("http://[::1]:8", None)])
def test_other_origins_are_all_or_none_or_named(text: str, origins: tuple[str, ...] | None) -> None:
    found = load_settings({}, {"ANNALS_ORIGINS": text})
    assert found.origins == ((text,) if origins is None else origins)
    assert load_settings({}, found.to_environ()).origins == found.origins


def test_trusted_proxies_are_networks() -> None:
    found = load_settings({}, {"ANNALS_TRUSTED_PROXIES": "192.0.2.1, 198.51.100.0/24,2001:DB8::/32 "})
    assert found.trusted_proxies == ("192.0.2.1/32", "198.51.100.0/24", "2001:db8::/32")
    assert load_settings({}, found.to_environ()).trusted_proxies == found.trusted_proxies


# --- the key and the folder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "annals.example"])  # noqa: S104 - nothing listens
def test_network_is_served_without_tls_only_where_that_is_said(host: str) -> None:
    plain = {"ANNALS_HOST": host}
    with pytest.raises(SettingsError, match="ANNALS_PLAIN_HTTP=yes"):
        load_settings({}, plain).check_transport()
    for enough in (
        {"ANNALS_TLS_CERT": "c", "ANNALS_TLS_KEY": "k"},
        {"ANNALS_TRUSTED_PROXIES": "192.0.2.9"},
        {"ANNALS_PLAIN_HTTP": "yes"},
        {"ANNALS_HOST": "127.0.0.1"},
        {"ANNALS_HOST": "::1"},
        {"ANNALS_HOST": "localhost"},
    ):
        load_settings({}, plain | enough).check_transport()


def test_a_service_does_not_start_where_tokens_would_be_read(tmp_path: Path) -> None:
    for command in ("serve", "api"):
        done = call(command, "--data", str(tmp_path), "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - it is refused
        assert done.returncode == 2
        assert "in the clear" in done.stderr


def test_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    found = load_settings({"data": str(tmp_path)}, {})
    key = found.load_key()
    assert len(key) == 32
    assert found.load_key() == key
    assert stat.S_IMODE(found.key_file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_lost_key_is_not_replaced_once_there_is_a_ledger(tmp_path: Path) -> None:
    assert call("migrate", "--data", str(tmp_path)).returncode == 0
    (tmp_path / "key").unlink()
    refused = call("migrate", "--data", str(tmp_path))
    assert refused.returncode == 2
    assert "key is missing" in refused.stderr
    assert not (tmp_path / "key").exists()


def test_a_broken_key_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("no key\n")
    with pytest.raises(SettingsError, match="64 hex digits"):
        load_settings({"data": str(tmp_path)}, {}).load_key()


def test_a_given_key_makes_no_file(tmp_path: Path) -> None:
    assert load_settings({"data": str(tmp_path)}, {"ANNALS_KEY": SECRET}).load_key() == bytes.fromhex(SECRET)
    assert not list(tmp_path.iterdir())


def test_a_folder_keeps_its_name_in_leases(tmp_path: Path) -> None:
    first, second = (load_settings({"data": str(tmp_path)}, {}).load_node_name() for _ in range(2))
    assert first == second
    assert len(first) <= 80


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = call("migrate", "--data", str(tmp_path / "file" / "data"))
    assert refused.returncode == 2
    assert "cannot be made" in refused.stderr


# --- the server of our own -------------------------------------------------------------------------------------


def test_long_path_moves_socket_to_short_folder_of_this_user(tmp_path: Path) -> None:
    near = embedded_redis.server_socket(Path("/data"))
    assert near == Path("/data/redis/socket")
    far = [embedded_redis.server_socket(tmp_path / ("x" * 90) / name) for name in "aab"]
    assert far[0] == far[1] != far[2]
    assert all(len(os.fsencode(path)) <= binaries.MAX_SOCKET_PATH for path in far)
    assert stat.S_IMODE(far[0].parent.stat().st_mode) == 0o700


def test_a_folder_that_others_can_write_is_not_used_for_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path)[:1] + "tmp")
    monkeypatch.setattr(os, "getuid", lambda: 4242424242 % 2**31)
    with pytest.raises(SettingsError, match="not a folder for this user alone"):
        embedded_redis.server_socket(tmp_path / ("x" * 90))


def test_without_any_server_the_refusal_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SettingsError, match="ANNALS_REDIS_URL"):
        embedded_redis.find_server()


def test_without_the_package_a_server_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "redis-server").touch(0o755)
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded_redis.find_server() == str(tmp_path / "redis-server")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything in it is tried."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SettingsError, match="cannot be written"):
        load_settings({"data": str(tmp_path)}, {}).make_data_folder()


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("", ""),
        ("https://play.example", "https://play.example"),
        ("https://play.example/", "https://play.example"),
        ("https://play.example:443", "https://play.example"),
        ("https://play.example:8443", "https://play.example:8443"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_address_is_as_browsers_write_it(value: str, known: str) -> None:
    assert load_settings({}, {"ANNALS_PUBLIC_URL": value}).public_url == known
