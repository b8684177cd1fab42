"""One request to a stranger, who may do what he likes."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from domain.notifications.ip_ranges import is_public_ip, is_public_or_loopback_ip
from domain.notifications.webhook_urls import WebhookUrl
from tests.notifications.conftest import Receiver
from workers.notifications.webhook_client import WebhookClient

OWN = ["127.0.0.1"]


def to(receiver: Receiver, host: str = "receiver.example") -> WebhookUrl:
    return WebhookUrl(False, host, int(receiver.url.rpartition(":")[2]), "/in?x=1")


def sender(*found: list[str], **more: Any) -> WebhookClient:
    """One for whom a name stands each time for something else."""
    answers = list(found)
    return WebhookClient(resolve=lambda _, __: answers.pop(0), **{"permit": is_public_or_loopback_ip, **more})


class TestWhere:
    def test_what_the_name_stands_for_is_asked_once(self, receiver: Receiver) -> None:
        """What it would stand for a moment later is never asked."""
        found = sender(OWN, ["10.0.0.1"]).post(to(receiver), b"{}", {})
        assert found.status == 204
        assert receiver.got[0][0]["host"] == to(receiver).authority

    @pytest.mark.parametrize("among", [["8.8.8.8", "127.0.0.1"], ["127.0.0.1"], ["::ffff:127.0.0.1"], ["10.0.0.1"], []])
    def test_nothing_is_sent_if_any_address_is_closed(self, receiver: Receiver, among: list[str]) -> None:
        found = sender(among, permit=is_public_ip).post(to(receiver), b"{}", {})
        assert (found.status, found.said, receiver.got) == (0, "address_refused", [])

    def test_a_redirect_leads_nowhere(self, receiver: Receiver) -> None:
        receiver.answer = lambda _: 307
        found = sender(OWN).post(to(receiver), b"{}", {})
        assert (found.status, found.is_success, len(receiver.got)) == (307, False, 1)

    def test_no_proxy_of_the_environment_is_asked(self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        assert sender(OWN).post(to(receiver), b"{}", {}).status == 204

    def test_the_next_address_is_tried_if_nobody_listens(self, receiver: Receiver) -> None:
        assert sender(["127.0.0.9", "127.0.0.1"]).post(to(receiver), b"{}", {}).status == 204

    def test_a_name_that_is_none(self) -> None:
        def none(_: str, __: int) -> list[str]:
            raise socket.gaierror

        found = WebhookClient(permit=is_public_or_loopback_ip, resolve=none).post(
            WebhookUrl(True, "x.invalid", 443, "/"), b"", {}
        )
        assert (found.status, found.said) == (0, "no_such_host")


@contextmanager
def stranger(talk: Callable[[socket.socket], None], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server that takes one connection; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                with server.accept()[0] as raw:
                    sock = context.wrap_socket(raw, server_side=True) if context else raw
                    with sock:
                        said, part = b"", b"-"
                        while part and not said.endswith(b"{}"):
                            said += (part := sock.recv(65536))
                        talk(sock)
            except OSError:
                pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)
        assert not thread.is_alive()


def drips(first: bytes, part: bytes) -> Callable[[socket.socket], None]:
    def talk(sock: socket.socket) -> None:
        sock.sendall(first)
        while True:
            sock.sendall(part)
            time.sleep(0.05)

    return talk


def silent(sock: socket.socket) -> None:
    while sock.recv(65536):
        pass


NONSENSE = (b"", b"nonsense\r\n\r\n", b"HTTP/1.1 99999 x\r\n\r\n", b"HTTP/1.1 200 " + b"x" * 99999)


class TestHowLong:
    @pytest.mark.parametrize(
        ("first", "part"), [(b"", b"H"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n"), (b"HTTP/1.1 200 OK\r\n", b"A: b\r\n")]
    )
    def test_who_answers_byte_by_byte_is_left(self, first: bytes, part: bytes) -> None:
        with stranger(drips(first, part)) as port:
            began = time.monotonic()
            patience = 2 if first else 0.4  # on a busy machine the first line may be late
            found = sender(OWN, seconds=patience).post(WebhookUrl(False, "a.example", port, "/"), b"{}", {})
        assert (found.status, found.said) == ((200, "") if first else (0, "timeout"))
        assert time.monotonic() - began < 10

    def test_who_says_nothing_is_left(self) -> None:
        with stranger(silent) as port:
            found = sender(OWN, seconds=0.3).post(WebhookUrl(False, "a.example", port, "/"), b"{}", {})
        assert (found.status, found.said) == (0, "timeout")

    def test_who_shakes_no_hands_is_left(self) -> None:
        with stranger(silent) as port:
            found = sender(OWN, seconds=0.3).post(WebhookUrl(True, "a.example", port, "/"), b"{}", {})
        assert (found.status, found.said) == (0, "timeout")

    def test_an_answer_without_end_is_not_read(self) -> None:
        def endless(sock: socket.socket) -> None:
            sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                sock.sendall(b"x" * 65536)

        with stranger(endless) as port:
            assert sender(OWN).post(WebhookUrl(False, "a.example", port, "/"), b"{}", {}).status == 200

    @pytest.mark.parametrize(
        "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 99999 x\r\n\r\n", b"HTTP/1.1 200 " + b"x" * 99999]
    )
    def test_nonsense_is_no_answer(self, said: bytes) -> None:
        with stranger(lambda sock: sock.sendall(said)) as port:
            found = sender(OWN).post(WebhookUrl(False, "a.example", port, "/"), b"{}", {})
        assert (found.status, found.said) == (0, "no_answer")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of receiver.example, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver.example")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("receiver.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, form, plain)
    )
    return path


class TestTls:
    def test_the_certificate_is_that_of_the_name(self, certificate: Path) -> None:
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(certificate)
        asked: list[str | None] = []
        server.sni_callback = lambda _, name, __: asked.append(name)
        trusting = ssl.create_default_context(cafile=str(certificate))
        found = []
        for host in ("receiver.example", "other.example"):
            with stranger(lambda sock: sock.sendall(b"HTTP/1.1 204 x\r\n\r\n"), server) as port:
                one = sender(OWN, context=lambda: trusting)
                found.append(one.post(WebhookUrl(True, host, port, "/"), b"{}", {}))
        assert [(each.status, each.said) for each in found] == [(204, ""), (0, "tls_failed")]
        assert asked == ["receiver.example", "other.example"]

    def test_one_that_nobody_has_signed_is_refused(self, certificate: Path) -> None:
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(certificate)
        with stranger(lambda sock: sock.sendall(b"HTTP/1.1 204 x\r\n\r\n"), server) as port:
            found = sender(OWN).post(WebhookUrl(True, "receiver.example", port, "/"), b"{}", {})
        assert (found.status, found.said) == (0, "tls_failed")
