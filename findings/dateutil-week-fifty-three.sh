#!/usr/bin/env bash
# dateutil and rrule.js put the first days of January into week 53 of a year that has 52 weeks.
#
# Version: python-dateutil 4.0.0, and npm's rrule 2.8.1 with Node.js 20 or newer.
# Behaviour:
# `FREQ=YEARLY;BYWEEKNO=53` should give the days of week 53 alone, and 2021 has no such week. Both give Saturday and Sunday,
# 1 and 2 January 2022, which are in week 52. The same days come with `BYWEEKNO=52` too. Until 2060 six days are wrong.
# Output seen: dateutil: 2022-01-01 2022-01-02 2039-01-01 2039-01-02 2050-01-01 2050-01-02; rrule.js: the same
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check python-dateutil==4.0.0
cd "$folder"
npm install --silent --no-audit --no-fund --no-save rrule@2.8.1
cat > run.cjs <<'NODE'
const { rrulestr } = require("rrule");
const rule = rrulestr("DTSTART:20201228T000000Z\nRRULE:FREQ=YEARLY;BYWEEKNO=53;UNTIL=20600101T000000Z");
console.log(rule.all().map((day) => day.toISOString().slice(0, 10)).join(" "));
NODE
"$folder/venv/bin/python" - "$(node run.cjs)" <<'PYTHON'
import sys
from datetime import date
from dateutil.rrule import rrulestr

def other_week(days):
    return [day for day in days if date.fromisoformat(day).isocalendar().week != 53]

rule = rrulestr("DTSTART:20201228T000000\nRRULE:FREQ=YEARLY;BYWEEKNO=53;UNTIL=20600101T000000")
ours, theirs = [f"{day:%Y-%m-%d}" for day in rule], sys.argv[1].split()
print(f"dateutil: {' '.join(other_week(ours))}; rrule.js: {'the same' if theirs == ours else ' '.join(other_week(theirs))}")
assert ours == theirs
assert other_week(ours) == ["2022-01-01", "2022-01-02", "2039-01-01", "2039-01-02", "2050-01-01", "2050-01-02"]
PYTHON
