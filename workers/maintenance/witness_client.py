"""Requests to a witness (https://c2sp.org/tlog-witness@v1.0.0): one POST within a time limit, a bounded answer."""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.errors import NoteError
from domain.transparency.checkpoint import MAX_SIZE, is_valid
from domain.transparency.policy_file import KnownWitness
from domain.transparency.signed_note import Signature, expect, parse_signatures
from domain.transparency.tlog_proof import AddCheckpoint
from workers.notifications.webhook_client import connect_first, system_trust, time_limit

SECONDS = 10.0
"""Longest time for an answer, seconds."""

CONNECT_SECONDS = 5.0
"""Connection timeout, seconds."""

MAX_ANSWER = 64 * 1024
"""Longest answer, bytes."""

SIZE_MEDIA = "text/x.tlog.size"
_AGENT = "annals"


class WitnessError(Exception):
    """A witness gave no cosignature; the message says why, in words of ours."""


class OtherSizeError(WitnessError):
    """The witness's largest checkpoint has another `size` than the request's old one."""

    def __init__(self, size: int) -> None:
        super().__init__(f"it knows the log at {size} records")
        self.size = size


@dataclass(frozen=True)
class _WitnessAnswer:
    status: int
    media: str
    body: bytes


def request_cosignatures(witness: KnownWitness, request: AddCheckpoint) -> list[Signature]:
    """Return the witness's valid cosignatures of a checkpoint, at least one. Raise WitnessError, OtherSizeError.

    Signatures of unknown keys are ignored. Redirects are not followed.
    """
    began = time.monotonic()
    try:
        answer = _post(witness.url, str(request).encode())
    except ssl.SSLError:
        raise WitnessError("its certificate is not accepted") from None
    except (OSError, http.client.HTTPException, ValueError):
        is_late = time.monotonic() - began >= min(SECONDS, CONNECT_SECONDS)
        raise WitnessError("no answer in time" if is_late else "no answer") from None
    if answer.status == 200:
        return _read_cosignatures(witness, request, answer.body)
    if answer.status == 409 and answer.media == SIZE_MEDIA:
        raise OtherSizeError(_read_size(answer.body))
    raise WitnessError(f"it refuses the checkpoint: status {answer.status}")


def _post(url: str, body: bytes) -> _WitnessAnswer:
    parts = urlsplit(url)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    addresses = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    with connect_first(list(dict.fromkeys(addresses)), port, CONNECT_SECONDS) as raw, time_limit(raw, SECONDS):
        raw.settimeout(SECONDS)
        with system_trust().wrap_socket(raw, server_hostname=host) if is_tls else raw as sock:
            connection = http.client.HTTPConnection(host, port)
            connection.sock = sock
            headers = {"Host": parts.netloc, "Content-Type": "text/plain; charset=utf-8", "User-Agent": _AGENT}
            connection.request("POST", f"{parts.path}/add-checkpoint", body, {**headers, "Connection": "close"})
            answer = connection.getresponse()
            data = answer.read(MAX_ANSWER + 1)
            return _WitnessAnswer(answer.status, answer.headers.get_content_type(), data)


def _read_cosignatures(witness: KnownWitness, request: AddCheckpoint, body: bytes) -> list[Signature]:
    try:
        expect(len(body) <= MAX_ANSWER)
        lines = parse_signatures(body.decode())
    except (NoteError, ValueError):
        raise WitnessError("its answer is no list of signatures") from None
    own = [(key, line) for key in witness.keys for line in lines if line.is_by(key)]
    if not own or not all(
        int.from_bytes(line.data[:8], "big") and is_valid(key, request.note.text, line.data) for key, line in own
    ):
        raise WitnessError("its answer has no valid cosignature by a key of the policy")
    return [line for _, line in own]


def _read_size(body: bytes) -> int:
    text = body.decode("ascii", "replace").removesuffix("\n")
    if not text.isdecimal() or len(text) > 19 or int(text) > MAX_SIZE:
        raise WitnessError("its answer is no size of a log")
    return int(text)
