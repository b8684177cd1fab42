#!/usr/bin/env bash
# Three writers of canonical JSON, three answers to 2**53 + 1.
#
# Version: jcs 0.2.1, rfc8785 0.1.4, canonicaljson 2.0.0.
# Behaviour:
# RFC 8785 gives numbers the range of IEEE doubles. jcs writes a neighbouring double in silence, rfc8785
# refuses the number. canonicaljson, which follows another specification, keeps it.
# Output seen: jcs 9007199254740992, rfc8785 IntegerDomainError, canonicaljson 9007199254740993
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jcs==0.2.1 rfc8785==0.1.4 canonicaljson==2.0.0
"$folder/venv/bin/python" - <<'PYTHON'
import canonicaljson
import jcs
import rfc8785

number = 2**53 + 1
try:
    refused = rfc8785.dumps(number).decode()
except rfc8785.CanonicalizationError as error:
    refused = type(error).__name__
found = (jcs.canonicalize(number).decode(), refused, canonicaljson.encode_canonical_json(number).decode())
print("jcs {}, rfc8785 {}, canonicaljson {}".format(*found))
assert found == ("9007199254740992", "IntegerDomainError", "9007199254740993")
PYTHON
