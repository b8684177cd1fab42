#!/usr/bin/env bash
# Read by DuckDB, an object keyed by seats has every seat in every line: who had none and whose was null look alike.
#
# Version: duckdb 2.0.1.
# Behaviour:
# `read_json` makes a struct of all keys that it met. An empty object, one without a key and one with null under it become the
# same value, so how many seats an event concerned cannot be counted afterwards. With more keys than a limit it makes a map,
# which keeps the difference: the same query means something else for a larger log.
# Output seen: STRUCT 1 of 3 / MAP 3 of 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check duckdb==2.0.1
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import json

import duckdb


def read(extra):
    lines = [{"packs": {}}, {"packs": {"0": None}}, {"packs": {"1": None}}]
    with open("log.jsonl", "w") as log:
        log.writelines(json.dumps(each) + "\n" for each in [*lines, *extra])
    kind = duckdb.sql("SELECT typeof(packs) FROM read_json('log.jsonl') LIMIT 1").fetchall()[0][0]
    found = duckdb.sql("SELECT DISTINCT packs::VARCHAR FROM (SELECT packs FROM read_json('log.jsonl') LIMIT 3)").fetchall()
    return f"{kind.partition('(')[0]} {len(found)} of {len(lines)}"


few = [{"packs": {"0": {"dice": 4}, "1": {"dice": 2}}}]
many = [{"packs": {str(seat): {"dice": 1} for seat in range(at, at + 5)}} for at in range(0, 300, 5)]
print(read(few), read(many), sep=" / ")
PYTHON
)
echo "$seen"
[ "$seen" = "STRUCT 1 of 3 / MAP 3 of 3" ]
