#!/usr/bin/env bash
# json-merge-patch makes a patch that removes what should become null.
#
# Version: json-merge-patch 0.3.0.
# Behaviour:
# In a JSON merge patch (RFC 7396) null removes a member, so no patch can set one to null. create_patch makes one all the
# same and raises nothing. What merge gives then lacks the member.
# Output seen: patch {'owner': None} gives {}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check json-merge-patch==0.3.0
"$folder/venv/bin/python" - <<'PYTHON'
import json_merge_patch

before, after = {"owner": 1}, {"owner": None}
patch = json_merge_patch.create_patch(before, after)
found = json_merge_patch.merge(dict(before), patch)
print(f"patch {patch} gives {found}")
assert patch == {"owner": None}
assert found == {} != after
PYTHON
