"""Signatures of Standard Webhooks: HMAC-SHA256 of id, time and body with each valid secret."""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from collections.abc import Iterable

PREFIX = "whsec_"


def signed_headers(id_: str, at: int, body: bytes, secrets: Iterable[str]) -> dict[str, str]:
    """Return the headers for a body sent at `at` (ms). One valid signature is enough for a receiver."""
    seconds = str(at // 1000)
    signed = b".".join((id_.encode(), seconds.encode(), body))
    marks = (hmac.digest(b64decode(secret.removeprefix(PREFIX)), signed, "sha256") for secret in secrets)
    return {
        "Content-Type": "application/json",
        "User-Agent": "Annals",
        "webhook-id": id_,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{b64encode(mark).decode()}" for mark in marks),
    }
