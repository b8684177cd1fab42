#!/usr/bin/env bash
# A member that a log of JSON lines first has in line 101 is missing from the table that polars makes of it.
#
# Version: polars 2.1.0.
# Behaviour:
# `read_ndjson` and `scan_ndjson` take the members of the first 100 lines for those of the file. A log whose rare events have
# members of their own (a ruling has a reason) is read without them: no error, no warning, no column. With
# `infer_schema_length=None` all lines count.
# Output seen: 150 kind version / 151 kind version / whole kind reason version
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import json

import polars

moves = [{"version": number, "kind": "played"} for number in range(1, 151)]
ruling = {"version": 151, "kind": "ruled", "reason": "two players agreed"}
with open("log.jsonl", "w") as log:
    log.writelines(json.dumps(each) + "\n" for each in [*moves, ruling])
read = polars.read_ndjson("log.jsonl")
scanned = polars.scan_ndjson("log.jsonl").collect()
whole = polars.read_ndjson("log.jsonl", infer_schema_length=None)
print(
    *("150", *sorted(read.columns), "/", scanned.height, *sorted(scanned.columns)),
    *("/ whole", *sorted(whole.columns)),
)
PYTHON
)
echo "$seen"
[ "$seen" = "150 kind version / 151 kind version / whole kind reason version" ]
