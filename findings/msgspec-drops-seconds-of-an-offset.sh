#!/usr/bin/env bash
# msgspec writes a time whose UTC offset has seconds as another time.
#
# Version: msgspec 0.22.0.
# Behaviour:
# Paris kept local mean time, 9 minutes 21 seconds ahead of UTC, until 1911. msgspec writes such an offset without its
# seconds and leaves the rest of the time as it is. What is read back lies 21 seconds later. The standard library's
# isoformat writes the seconds.
# Output seen: b'"1900-01-01T00:00:00+00:09"' is 21 s off
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0 tzdata==2026.6
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

before = datetime(1900, 1, 1, tzinfo=ZoneInfo("Europe/Paris"))
written = msgspec.json.encode(before)
after = msgspec.json.decode(written, type=datetime)
print(written, "is", round((after - before).total_seconds()), "s off")
assert before.isoformat() == "1900-01-01T00:00:00+00:09:21"
assert (after - before).total_seconds() == 21
PYTHON
