"""Web push messages: encrypted for a browser (RFC 8291), and signed for its push service (RFC 8292)."""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from domain.notifications.push_devices import PushTarget, encode_point
from domain.notifications.webhook_urls import WebhookUrl

RECORD = 4096
"""Bytes of a record: a message is one record."""

MOST_BYTES = 3_000
"""Bytes of a message before its encryption. Every push service takes so many."""

TOKEN_SECONDS = 12 * 3600
"""Time for which a signature is valid, seconds; at most a day."""

LONGEST_WAIT = 28 * 24 * 3600
"""Longest time to keep a message, seconds. Some push services refuse more; a turn may have over a year."""

_LAST_RECORD = b"\x02"


def encrypt(plain: bytes, target: PushTarget, own: ec.EllipticCurvePrivateKey, salt: bytes) -> bytes:
    """Return a message for a browser in the coding `aes128gcm` (RFC 8188). Raise ValueError if it is too long.

    `own` is a key made for this message, `salt` are 16 bytes drawn for it.
    """
    if len(plain) > MOST_BYTES:
        raise ValueError("the message is too long")
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), target.public_key)
    point = encode_point(own.public_key())
    shared = own.exchange(ec.ECDH(), receiver)
    secret = _derive(shared, target.auth, b"WebPush: info\0" + target.public_key + point, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    header = salt + RECORD.to_bytes(4, "big") + bytes([len(point)]) + point
    return header + AESGCM(key).encrypt(nonce, plain + _LAST_RECORD, None)


def encrypt_once(plain: bytes, target: PushTarget) -> bytes:
    """Return a message encrypted with a key and a salt of its own. Raise ValueError if it is too long."""
    return encrypt(plain, target, ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16))


def push_headers(
    target: PushTarget, url: WebhookUrl, contact: str, now: int, seconds: int, topic: str
) -> dict[str, str]:
    """Return the headers of a message at `now` (ms), to keep for `seconds`.

    `contact`: for questions of a push service. A waiting message with the same topic is replaced by this one.
    """
    claims = {"aud": url.origin, "exp": now // 1000 + TOKEN_SECONDS, "sub": contact}
    token = sign_token(target.signing_key, claims)
    public = _encode(encode_point(target.signing_key.public_key()))
    return {
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "User-Agent": "Annals",
        "TTL": str(min(seconds, LONGEST_WAIT)),
        "Urgency": "high",
        "Topic": _encode(sha256(topic.encode()).digest())[:32],
        "Authorization": f"vapid t={token}, k={public}",
    }


def sign_token(key: ec.EllipticCurvePrivateKey, claims: dict[str, object]) -> str:
    """Return claims as a JSON Web Token signed with ES256."""
    parts = [_encode(json.dumps(each).encode()) for each in ({"typ": "JWT", "alg": "ES256"}, claims)]
    signature = decode_dss_signature(key.sign(".".join(parts).encode(), ec.ECDSA(hashes.SHA256())))
    return ".".join([*parts, _encode(b"".join(number.to_bytes(32, "big") for number in signature))])


def _derive(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(hashes.SHA256(), size, salt, info).derive(secret)


def _encode(plain: bytes) -> str:
    return urlsafe_b64encode(plain).rstrip(b"=").decode()
