#!/usr/bin/env bash
# Trees of pymerkle have the roots of RFC 6962, and other proofs.
#
# Version: pymerkle 7.0.0.
# Behaviour:
# The root of seven entries is that of RFC 6962. The inclusion proof of the third has four hashes where the RFC's path has
# three: pymerkle begins it with the hash of the entry itself. A verifier of the RFC's paths refuses it.
# Output seen: roots equal: True; proof 4 hashes, RFC 6962 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pymerkle==7.0.0
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from hashlib import sha256

from pymerkle import InmemoryTree

warnings.simplefilter("ignore")
entries = [b"%d" % n for n in range(7)]
tree = InmemoryTree(algorithm="sha256")
for entry in entries:
    tree.append_entry(entry)

def split(n):
    return 1 << (n - 1).bit_length() - 1

def root(some):
    if len(some) == 1:
        return sha256(b"\0" + some[0]).digest()
    k = split(len(some))
    return sha256(b"\1" + root(some[:k]) + root(some[k:])).digest()

def path(index, some):
    if len(some) == 1:
        return []
    k = split(len(some))
    return path(index, some[:k]) + [root(some[k:])] if index < k else path(index - k, some[k:]) + [root(some[:k])]

proof = tree.prove_inclusion(3).serialize()["path"]  # counted from 1
assert bytes.fromhex(proof[0]) == root([entries[2]])
print(f"roots equal: {tree.get_state() == root(entries)}; proof {len(proof)} hashes, RFC 6962 {len(path(2, entries))}")
assert tree.get_state() == root(entries)
assert (len(proof), len(path(2, entries))) == (4, 3)
PYTHON
