#!/usr/bin/env bash
# Words of JSON that consist of digits become numbers in pandas, and a short digest can become a power of ten.
#
# Version: pandas 3.1.1.
# Behaviour:
# `read_json` turns a column of JSON strings into numbers where every one of them can be read as a number: codes lose their
# zeros, and digests of digits and one "e" become floats. Whether it does depends on all lines together: with one more line the
# same digests stay words. `dtype=False` keeps them.
# Output seen: int64 [12, 55] / float64 [120000.0, 55.0] / str ['12e4', '0055', 'a1'] / str ['12e4', '0055']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1
cd "$folder"
seen=$("$folder/venv/bin/python" - <<'PYTHON'
import io
import json

import pandas


def read(values, **options):
    lines = "\n".join(json.dumps({"value": value}) for value in values)
    column = pandas.read_json(io.StringIO(lines), lines=True, **options)["value"]
    return f"{column.dtype} {column.tolist()}"


print(
    read(["0012", "0055"]),
    read(["12e4", "0055"]),
    read(["12e4", "0055", "a1"]),
    read(["12e4", "0055"], dtype=False),
    sep=" / ",
)
PYTHON
)
echo "$seen"
[ "$seen" = "int64 [12, 55] / float64 [120000.0, 55.0] / str ['12e4', '0055', 'a1'] / str ['12e4', '0055']" ]
