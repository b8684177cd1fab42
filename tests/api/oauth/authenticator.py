"""An authenticator in software: it makes keys and signs challenges as WebAuthn has it, and lies where it is told to."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from tests.api.conftest import Doc

ORIGIN = "http://localhost"


def b64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


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
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    user: bytes = b""

    def _data(self, extra: bytes = b"", flags: int = 0) -> bytes:
        self.count += self.step
        flags |= (1 if self.present else 0) | (4 if self.verified else 0)
        return hashlib.sha256(self.rp.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big") + extra

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _public(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})

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
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        said = {"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature)}
        return self._told(said | {"userHandle": self.user.decode()} | more)

    def _told(self, response: Doc) -> Doc:
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "response": response}
