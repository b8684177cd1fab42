"""Certificates for the tests: an authority, and what it has signed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """Signs certificates; its own is `ca.pem` in the folder."""

    folder: Path
    name: x509.Name
    key: ec.EllipticCurvePrivateKey

    @property
    def file(self) -> Path:
        return self.folder / "ca.pem"

    def certify(self, host: str) -> tuple[Path, Path]:
        """Files of a certificate for that name, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        made = (
            _dated(x509.CertificateBuilder(self.name, named, key.public_key(), x509.random_serial_number()))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        cert, secret = self.folder / f"{host}.pem", self.folder / f"{host}.key"
        cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        form = serialization.PrivateFormat.PKCS8
        secret.touch(0o600)
        secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        return cert, secret


def authority(folder: Path) -> Authority:
    """An authority of its own in that folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority {folder.name}")])
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    made = (
        _dated(x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number()))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    found = Authority(folder, name, key)
    found.file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return found


def _dated(builder: x509.CertificateBuilder) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return builder.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
