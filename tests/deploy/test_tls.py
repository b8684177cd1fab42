"""The port speaks TLS, modern versions alone, with the certificate that is there now."""

from __future__ import annotations

import datetime as dt
import http.client
import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy.config.settings import SettingsError, load_settings
from deploy.runtime import nginx
from deploy.runtime.certificate import unverified_context
from tests.deploy.harness import Service, Table, call, run, serving, until

pytestmark = pytest.mark.xdist_group("tls")  # one service


def certify(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    for path, text in zip(files, (made.public_bytes(serialization.Encoding.PEM), secret), strict=True):
        draft = path.with_suffix(".draft")
        draft.write_bytes(text)
        draft.replace(path)
    return files


def port_of(service: Service) -> int:
    return int(service.url.rpartition(":")[2])


def shown(service: Service) -> str:
    """The name in the certificate."""
    address = ("127.0.0.1", port_of(service))
    with socket.create_connection(address, 10) as raw, unverified_context().wrap_socket(raw) as client:
        found = x509.load_der_x509_certificate(client.getpeercert(binary_form=True) or b"")
    return str(found.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("tls")
    cert, key = certify(folder, "first.example")
    with serving(folder / "data", "--tls-cert", str(cert), "--tls-key", str(key), ANNALS_HSTS="subdomains") as service:
        yield service


def test_a_game_is_played_over_tls(service: Service) -> None:
    assert service.url.startswith("https://")
    table = Table(service).open()
    table.turn()
    answer = service.http.get(f"/games/{table.game}")
    assert answer.headers["Strict-Transport-Security"] == "max-age=63072000; includeSubDomains"


def test_what_the_front_refuses_by_itself_says_it_too(service: Service) -> None:
    client = http.client.HTTPSConnection("127.0.0.1", port_of(service), context=unverified_context(), timeout=10)
    client.request("GET", "/" + "x" * 9000)
    answer = client.getresponse()
    assert (answer.status, answer.getheader("Strict-Transport-Security")) == (
        414,
        "max-age=63072000; includeSubDomains",
    )
    client.close()


def test_a_connection_over_a_limit_is_told_so(service: Service) -> None:
    address, source = ("127.0.0.1", port_of(service)), ("127.0.0.9", 0)
    each = nginx.limit_to_open_files(nginx.Limits()).connections_per_address
    with ExitStack() as stack:
        for _ in range(each):
            stack.enter_context(socket.create_connection(address, 10, source))
        raw = stack.enter_context(socket.create_connection(address, 10, source))
        client = stack.enter_context(unverified_context().wrap_socket(raw))
        client.sendall(b"GET /v1/rulesets HTTP/1.1\r\nHost: a\r\n\r\n")
        found = b""
        while piece := client.recv(65536):
            found += piece
    assert found.startswith(b"HTTP/1.1 503 ")
    assert b'"code":"too_many_connections"' in found
    assert b"\r\nStrict-Transport-Security: " in found


def test_a_request_without_tls_is_refused_and_sent_nowhere(service: Service) -> None:
    """A redirect would come after the token was sent, and to whatever host the request names."""
    client = http.client.HTTPConnection("127.0.0.1", port_of(service), timeout=10)
    client.request("GET", "/v1/rulesets", headers={"Host": "evil.example", "Authorization": "Bearer x"})
    answer = client.getresponse()
    text = answer.read().decode()
    assert (answer.status, answer.getheader("Location")) == (400, None)
    assert '"code":"tls_required"' in text
    assert "evil" not in text
    assert answer.getheader("Strict-Transport-Security") is None
    client.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_versions_are_not_spoken(service: Service, version: ssl.TLSVersion) -> None:
    context = unverified_context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", port_of(service)), 10) as raw, pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(raw)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_new_versions_are_with_forward_secrecy(service: Service, version: ssl.TLSVersion) -> None:
    context = unverified_context()
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", port_of(service)), 10) as raw, context.wrap_socket(raw) as client:
        cipher = client.cipher()
    assert cipher is not None
    assert "CBC" not in cipher[0]
    assert cipher[0].startswith(("ECDHE", "TLS_"))


def test_a_renewed_certificate_is_shown_and_a_broken_one_is_not(service: Service) -> None:
    """Nothing is started anew; what does not fit leaves the one before."""
    folder = service.data.parent
    assert shown(service) in ("first.example", "second.example")
    certify(folder, "second.example")
    until(lambda: shown(service) == "second.example")
    (folder / "cert.pem").write_text("nonsense")
    until(lambda: "stays as it was" in service.complaints())
    assert shown(service) == "second.example"
    certify(folder, "third.example")
    until(lambda: shown(service) == "third.example")
    assert oct((service.data / "front" / str(port_of(service)) / "certificate").stat().st_mode)[-3:] == "600"


def test_the_front_is_found_alive(service: Service) -> None:
    """The prober asks with TLS too."""
    assert call("alive", "--data", str(service.data)).returncode == 0


@pytest.mark.parametrize("given", [["--tls-cert", "cert.pem"], ["--tls-key", "key.pem"]])
def test_certificate_and_key_belong_together(tmp_path: Path, given: list[str]) -> None:
    done = call("serve", "--data", str(tmp_path), *given)
    assert (done.returncode, "belong together" in done.stderr) == (2, True)


def test_what_is_no_certificate_is_told_before_anything_begins(tmp_path: Path) -> None:
    cert, _ = certify(tmp_path, "a.example")
    other = tmp_path / "other"
    other.mkdir()
    key = certify(other, "b.example")[1]
    env = {"ANNALS_TLS_CERT": str(cert), "ANNALS_TLS_KEY": str(key)}
    done = run("serve", "--data", str(tmp_path / "data"), "--port", "0", **env)
    assert done.returncode == 2
    assert "are no certificate with its key" in done.stderr
    missing = run("serve", "--data", str(tmp_path / "data"), "--port", "0", **env | {"ANNALS_TLS_KEY": "/no/key"})
    assert (missing.returncode, "cannot be read" in missing.stderr) == (2, True)


def test_settings_have_it_from_flags_before_the_environment() -> None:
    env = {"ANNALS_TLS_CERT": "/a", "ANNALS_TLS_KEY": "/b"}
    found = load_settings({"tls_cert": "/c"}, env)
    assert (str(found.tls_cert), str(found.tls_key)) == ("/c", "/b")
    assert load_settings({}, found.to_environ()).url.startswith("https://")
    with pytest.raises(SettingsError):
        load_settings({}, {"ANNALS_TLS_CERT": os.devnull})
