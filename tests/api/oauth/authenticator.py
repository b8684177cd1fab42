"""An authenticator in software: it makes keys and signs challenges as WebAuthn has it, and lies where it is told to."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512

from tests.api.conftest import Doc

ORIGIN = "http://localhost"


def b64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


CURVES = {
    -7: (ec.SECP256R1(), SHA256(), 1, 32),
    -35: (ec.SECP384R1(), SHA384(), 2, 48),
    -36: (ec.SECP521R1(), SHA512(), 3, 66),
    -47: (ec.SECP256K1(), SHA256(), 8, 32),
}
"""Algorithm -> curve, hash, number of the curve in COSE, bytes of a coordinate."""
PADDINGS = {-257: padding.PKCS1v15(), -37: padding.PSS(padding.MGF1(SHA256()), 32)}
LATTICES: dict[int, Any] = {-48: mldsa.MLDSA44PrivateKey, -49: mldsa.MLDSA65PrivateKey, -50: mldsa.MLDSA87PrivateKey}
ALGORITHMS = (*CURVES, -8, *PADDINGS, *LATTICES)
"""Algorithms of COSE that a key may have."""


def make_key(algorithm: int) -> Any:
    if algorithm in CURVES:
        return ec.generate_private_key(CURVES[algorithm][0])
    if algorithm in PADDINGS:
        return rsa.generate_private_key(65537, 2048)
    return LATTICES[algorithm].generate() if algorithm in LATTICES else ed25519.Ed25519PrivateKey.generate()


@dataclass
class Authenticator:
    """With one key."""

    origin: str = ORIGIN
    rp: str = "localhost"
    present: bool = True
    verified: bool = True
    count: int = 0
    step: int = 1
    """By how much its counter rises; 0 for one that counts nothing."""
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    algorithm: int = -7
    user: bytes = b""
    key: Any = None

    def __post_init__(self) -> None:
        self.key = self.key or make_key(self.algorithm)

    def _data(self, extra: bytes = b"", flags: int = 0) -> bytes:
        self.count += self.step
        flags |= (1 if self.present else 0) | (4 if self.verified else 0)
        return hashlib.sha256(self.rp.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big") + extra

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _public(self) -> bytes:
        """The public key in COSE (RFC 9052, 9053, 8230; ML-DSA as kind AKP)."""
        public, algorithm = self.key.public_key(), self.algorithm
        if algorithm in CURVES:
            (_, _, curve, size), numbers = CURVES[algorithm], public.public_numbers()
            x, y = numbers.x.to_bytes(size, "big"), numbers.y.to_bytes(size, "big")
            return cbor2.dumps({1: 2, 3: algorithm, -1: curve, -2: x, -3: y})
        if algorithm in PADDINGS:
            numbers = public.public_numbers()
            return cbor2.dumps(
                {1: 3, 3: algorithm, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}
            )
        if algorithm in LATTICES:
            return cbor2.dumps({1: 7, 3: algorithm, -1: public.public_bytes_raw()})
        return cbor2.dumps({1: 1, 3: algorithm, -1: 6, -2: public.public_bytes_raw()})

    def _sign(self, data: bytes) -> bytes:
        if self.algorithm in CURVES:
            return bytes(self.key.sign(data, ec.ECDSA(CURVES[self.algorithm][1])))
        if self.algorithm in PADDINGS:
            return bytes(self.key.sign(data, PADDINGS[self.algorithm], SHA256()))
        return bytes(self.key.sign(data))

    def create(self, options: Doc) -> Doc:
        """What `navigator.credentials.create` answers."""
        asked = options["publicKey"]
        self.user = asked["user"]["id"].encode()
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self._public()
        data = self._data(attested, 0x40)
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", asked["challenge"])
        return self._told({"clientDataJSON": b64(client), "attestationObject": b64(made)})

    def get(self, options: Doc, **more: Any) -> Doc:
        """What `navigator.credentials.get` answers."""
        client, data = self._client("webauthn.get", options["publicKey"]["challenge"]), self._data()
        signature = self._sign(data + hashlib.sha256(client).digest())
        said = {"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature)}
        return self._told(said | {"userHandle": self.user.decode()} | more)

    def _told(self, response: Doc) -> Doc:
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "response": response}
