#!/usr/bin/env bash
# One dictionary of claims serves one push service: pywebpush writes the first one's name into it.
#
# Version: pywebpush 2.5.0, py-vapid 1.9.6.
# Behaviour:
# The caller gives `vapid_claims` with a contact alone, as a constant of a program is. The first call adds `aud`, the origin of
# the endpoint, and `exp` to that very dictionary. A second call for a browser of another maker signs a token for the first
# push service, and sends it to the second, which must refuse it (RFC 8292, section 2). Nothing is raised here.
# Output seen: first first
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pywebpush==2.5.0 py-vapid==1.9.6
"$folder/venv/bin/python" - <<'PYTHON'
import base64
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from py_vapid import Vapid
from pywebpush import webpush

received = []


class PushService(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        received.append(self.headers["Authorization"])
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


def encode(plain):
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


services = [HTTPServer(("127.0.0.1", 0), PushService) for _ in range(2)]
for each in services:
    threading.Thread(target=each.serve_forever, daemon=True).start()
point = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
    serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
)
key = Vapid()
key.generate_keys()
claims = {"sub": "mailto:operator@example.org"}
for each in services:
    keys = {"p256dh": encode(point), "auth": encode(os.urandom(16))}
    browser = {"endpoint": f"http://127.0.0.1:{each.server_port}/browser", "keys": keys}
    webpush(browser, "hello", vapid_private_key=key, vapid_claims=claims)
origins = {f"http://127.0.0.1:{each.server_port}": name for each, name in zip(services, ("first", "second"))}
seen = []
for header in received:
    body = header.split("t=")[1].split(",")[0].split(".")[1]
    seen.append(origins[json.loads(base64.urlsafe_b64decode(body + "=="))["aud"]])
print(*seen)
assert seen == ["first", "first"], "the behaviour has changed"
PYTHON
