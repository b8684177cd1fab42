#!/usr/bin/env bash
# msgspec reads the last moment of a day as the first one of the same day.
#
# Version: msgspec 0.22.0.
# Behaviour:
# A time with more than six digits of a second is rounded. `23:59:59.9999999`, as .NET writes the last time of a day, is
# rounded up to midnight, which sorts before all other times. Python's own reader cuts the seventh digit off. A moment with
# a date becomes the next day, and one at the end of the year 9999 is refused.
# Output seen: msgspec: 00:00:00; Python: 23:59:59.999999; with a date: 2027-01-01T00:00:00+00:00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import datetime, time
import msgspec

read = msgspec.json.decode(b'"23:59:59.9999999"', type=time)
cut = time.fromisoformat("23:59:59.9999999")
dated = msgspec.json.decode(b'"2026-12-31T23:59:59.9999999Z"', type=datetime)
print(f"msgspec: {read}; Python: {cut}; with a date: {dated.isoformat()}")
assert (read, cut) == (time(0), time(23, 59, 59, 999999))
assert dated.isoformat() == "2027-01-01T00:00:00+00:00"
PYTHON
