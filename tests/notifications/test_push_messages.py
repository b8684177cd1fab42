"""Encryption for a browser, against the example of RFC 8291, and the signature of RFC 8292."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from domain.notifications.push_devices import PushTarget
from domain.notifications.webhook_urls import parse_webhook_url
from workers.notifications.push_messages import MOST_BYTES, encrypt, push_headers

SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH, SALT = "BTBZMqHH6r4Tts7J_aSIgg", "DGv6ra1nlYgDCS1FRnbzlw"
EXPECTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def key_of(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decoded(text), "big"), ec.SECP256R1())


TARGET = PushTarget("a", "en", decoded(RECEIVER), decoded(AUTH), key_of(SENDER))


def test_the_example_of_the_standard_holds() -> None:
    sealed = encrypt(b"When I grow up, I want to be a watermelon", TARGET, key_of(SENDER), decoded(SALT))
    assert sealed == decoded(EXPECTED)


def test_a_longer_message_than_push_services_take_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        encrypt(b"x" * (MOST_BYTES + 1), TARGET, key_of(SENDER), decoded(SALT))


def test_the_push_service_reads_who_sends_and_until_when() -> None:
    url = parse_webhook_url("https://push.example.org:8443/send/abc?x=1")
    headers = push_headers(TARGET, url, "https://annals.example.org", 1_000_000_000, 3600, "a table")
    assert (headers["TTL"], len(headers["Topic"])) == ("3600", 32)
    token, _, public = headers["Authorization"].removeprefix("vapid t=").partition(", k=")
    head, body, signature = token.split(".")
    assert json.loads(decoded(head)) == {"typ": "JWT", "alg": "ES256"}
    claims = json.loads(decoded(body))
    assert claims == {"aud": "https://push.example.org:8443", "exp": 1_043_200, "sub": "https://annals.example.org"}
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public))
    marks = [int.from_bytes(each, "big") for each in (decoded(signature)[:32], decoded(signature)[32:])]
    key.verify(encode_dss_signature(*marks), f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))


def test_no_message_outlasts_what_push_services_keep() -> None:
    url = parse_webhook_url("https://push.example.org/send/abc")
    assert push_headers(TARGET, url, "https://annals.example.org", 0, 400 * 86_400, "a table")["TTL"] == "2419200"
