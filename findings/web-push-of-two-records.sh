#!/usr/bin/env bash
# A push of 4,080 bytes becomes two records in both common senders, and no browser has to read such a message.
#
# Version: pywebpush 2.5.0 with http_ece 1.2.1, web-push 3.6.7 of npm.
# Behaviour:
# RFC 8291 (section 4) encrypts a message as one record. Both senders announce records of 4,096 bytes. With 4,079 bytes of
# text the message is one record; with 4,080 both split it in two, raise nothing, and would send it.
# Output seen: pywebpush 1 2 / web-push 1 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pywebpush==2.5.0 http_ece==1.2.1
cd "$folder"
python=$("$folder/venv/bin/python" - <<'PYTHON'
import base64
import os

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pywebpush import WebPusher


def encode(plain):
    return base64.urlsafe_b64encode(plain).rstrip(b"=").decode()


point = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
    serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
)
browser = {"endpoint": "https://push.example/1", "keys": {"p256dh": encode(point), "auth": encode(os.urandom(16))}}
found = []
for size in (4079, 4080):
    body = WebPusher(browser).encode(b"x" * size)["body"]
    record, sealed = int.from_bytes(body[16:20], "big"), len(body) - 21 - body[20]
    found.append(-(-sealed // record))
print("pywebpush", *found)
PYTHON
)
npm install --silent --no-audit --no-fund web-push@3.6.7 > /dev/null
node=$(node - <<'NODE'
const push = require("web-push");
const crypto = require("crypto");
const pair = crypto.createECDH("prime256v1");
pair.generateKeys();
const keys = { p256dh: pair.getPublicKey("base64url"), auth: crypto.randomBytes(16).toString("base64url") };
const found = [4079, 4080].map((size) => {
  const { body } = push.generateRequestDetails({ endpoint: "https://push.example/1", keys }, Buffer.alloc(size, "x"));
  return Math.ceil((body.length - 21 - body[20]) / body.readUInt32BE(16));
});
console.log("web-push", ...found);
NODE
)
printf '%s / %s\n' "$python" "$node"
test "$python / $node" = "pywebpush 1 2 / web-push 1 2" || { echo "the behaviour has changed" >&2; exit 1; }
