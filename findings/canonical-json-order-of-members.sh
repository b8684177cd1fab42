#!/usr/bin/env bash
# Canonical JSON has two orders of members.
#
# Version: rfc8785 0.1.4, canonicaljson 2.0.0, msgspec 0.22.0.
# Behaviour:
# RFC 8785 sorts names by UTF-16 code units, so a character beyond the basic plane comes before U+FB33. canonicaljson and
# msgspec with order="sorted" sort by code points. A hash made by one is false for the other, with such names alone.
# Output seen: rfc8785 U+1F600 first, canonicaljson U+FB33 first, msgspec U+FB33 first
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rfc8785==0.1.4 canonicaljson==2.0.0 msgspec==0.22.0
"$folder/venv/bin/python" - <<'PYTHON'
import json

import canonicaljson
import msgspec
import rfc8785

document = {"\U0001f600": 1, "\ufb33": 2}
written = {
    "rfc8785": rfc8785.dumps(document),
    "canonicaljson": canonicaljson.encode_canonical_json(document),
    "msgspec": msgspec.json.encode(document, order="sorted"),
}
first = {name: f"U+{ord(next(iter(json.loads(text)))):04X}" for name, text in written.items()}
print(", ".join(f"{name} {point} first" for name, point in first.items()))
assert first == {"rfc8785": "U+1F600", "canonicaljson": "U+FB33", "msgspec": "U+FB33"}
PYTHON
