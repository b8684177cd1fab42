#!/usr/bin/env bash
# Seven checkers of transparency logs agree on the tree of a checkpoint, and one of them reads all its signatures.
#
# Version: tlog-scales 0.0.3, metamorphic-log 0.1.11, aics-tlog 0.2.1, proofbundle 6.3.1, tamperlog 0.1.0, memattest 1.0.2,
# pymerkle 7.0.0, with Python 3.12 or newer on Linux (x86_64).
# Behaviour:
# checkpoint.json has a checkpoint with four signatures of C2SP's forms: of the log with Ed25519 and ML-DSA-44, and of a
# witness with both. tlog-scales verifies all four. proofbundle takes the ML-DSA-44 of a witness, not of the log.
# metamorphic-log refuses the checkpoint if it is given a key of another kind than the log's Ed25519. All trees are those of
# RFC 6962; only the proofs of pymerkle are not.
# Output seen: a line for each, `yes`, `no` or `-` (it has no such check), at the end of this file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in python3 python3.14 python3.13 python3.12; do
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> "$folder/none" && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tlog-scales==0.0.3 metamorphic-log==0.1.11 \
  aics-tlog==0.2.1 proofbundle==6.3.1 tamperlog==0.1.0 memattest==1.0.2 pymerkle==7.0.0
"$folder/venv/bin/python" -W ignore - "$here/checkpoint.json" <<'PYTHON' | tee "$folder/seen"
import json, sys
from base64 import b64decode
from functools import partial

import aics_tlog.checkpoint, aics_tlog.cosign, aics_tlog.note, aics_tlog.tree
import memattest.merkle, metamorphic_log, proofbundle.checkpoint, proofbundle.merkle, proofbundle.tlogproof, pymerkle
import tamperlog, tamperlog.merkle, tlog_scales.signing, tlog_scales.tlog

doc = json.load(open(sys.argv[1]))
(log, log_pq), (witness, witness_pq) = doc["keys"]["log"], doc["keys"]["witness"]
note, old = doc["checkpoint"], doc["old"]
entries = [bytes.fromhex(record) for record in doc["records"]]
root, root_old = (b64decode(text.split("\n")[2]) for text in (note, old))
path = [b64decode(line) for line in doc["proof"].strip().split("\n")[2:]]
growth = [bytes.fromhex(node) for node in doc["consistency"]]

def says(check):
    """What a check of sound data says: None if there is none of its kind."""
    if check is None:
        return "-"
    try:
        return "no" if check() is False else "yes"
    except Exception:
        return "no"

def scales(*vkeys):
    keys = tlog_scales.signing.VkeySet(*map(tlog_scales.signing.Vkey.from_string, vkeys))
    checkpoint = tlog_scales.tlog.Checkpoint.from_text(note)
    return len(list(keys.verify(checkpoint.signatures, checkpoint))) == len(vkeys)

def metamorphic(vkey):
    return metamorphic_log.checkpoint_verify(note, [vkey]).size == 11

def aics(vkey):
    found = aics_tlog.note.parse_note(note)
    return aics_tlog.checkpoint.verify_checkpoint(found, aics_tlog.note.parse_vkey(vkey)).log_ok

def aics_witness(vkey):
    found, keys = aics_tlog.note.parse_note(note), map(aics_tlog.note.parse_vkey, (log, vkey))
    result = aics_tlog.checkpoint.verify_checkpoint(found, next(keys), list(keys), 1)
    return result.ok

def bundle_log(vkey):
    return proofbundle.checkpoint.verify_checkpoint(note, vkey)["ok"]

def bundle_witness(vkey):
    return proofbundle.checkpoint.verify_cosignature(note, vkey)["ok"]

leaf = tamperlog.merkle.leaf_hashes_for(entries)[4]
tree = pymerkle.InmemoryTree(algorithm="sha256")
for entry in entries:
    tree.append_entry(entry)
assert tree.get_state() == root

def py_inclusion():
    """Its own proof has the entry's hash before the path."""
    return [bytes.fromhex(node) for node in tree.prove_inclusion(5).serialize()["path"]] == path

def py_consistency():
    return [bytes.fromhex(node) for node in tree.prove_consistency(7, 11).serialize()["path"]] == growth

CHECKS = {
    "tlog-scales": (*(partial(scales, key) for key in (log, log_pq, witness, witness_pq)), None, None, None),
    "metamorphic-log": (
        *(partial(metamorphic, key) for key in (log, log_pq, witness, witness_pq)), None,
        lambda: metamorphic_log.checkpoint_verify_inclusion(note, [log], 4, leaf, path),
        lambda: metamorphic_log.checkpoint_verify_consistency(old, note, [log], growth),
    ),
    "aics-tlog": (
        partial(aics, log), partial(aics, log_pq), partial(aics_witness, witness), partial(aics_witness, witness_pq), None,
        lambda: aics_tlog.tree.verify_inclusion(leaf, 4, 11, path, root),
        lambda: aics_tlog.tree.verify_consistency(7, 11, root_old, root, growth),
    ),
    "proofbundle": (
        partial(bundle_log, log), partial(bundle_log, log_pq), partial(bundle_witness, witness), partial(bundle_witness, witness_pq),
        lambda: proofbundle.tlogproof.verify_tlog_proof(doc["proof"] + note, entries[4], log)["ok"],
        lambda: proofbundle.merkle.verify_inclusion(entries[4], 4, 11, path, root),
        lambda: proofbundle.merkle.verify_consistency(7, 11, growth, root_old, root),
    ),
    "tamperlog": (None, None, None, None, None,
        lambda: tamperlog.merkle.verify_inclusion(4, 11, leaf, path, root),
        lambda: tamperlog.merkle.verify_consistency(7, root_old, 11, root, growth)),
    "memattest": (None, None, None, None, None,
        lambda: memattest.merkle.verify_inclusion(entries[4], 4, 11, path, root),
        lambda: memattest.merkle.verify_consistency(7, 11, root_old, root, growth)),
    "pymerkle": (None, None, None, None, None, py_inclusion, py_consistency),
}
print("checker: log Ed25519, log ML-DSA-44, witness Ed25519, witness ML-DSA-44, proof as text, inclusion, consistency")
for name, checks in CHECKS.items():
    print(f"{name}: {' '.join(map(says, checks))}")
PYTHON
diff "$folder/seen" - <<'EXPECTED'
checker: log Ed25519, log ML-DSA-44, witness Ed25519, witness ML-DSA-44, proof as text, inclusion, consistency
tlog-scales: yes yes yes yes - - -
metamorphic-log: yes no no no - yes yes
aics-tlog: yes no yes no - yes yes
proofbundle: yes no yes yes yes yes yes
tamperlog: - - - - - yes yes
memattest: - - - - - yes yes
pymerkle: - - - - - no no
EXPECTED
