#!/usr/bin/env bash
# An event in the hour that summer time skips ends before it begins.
#
# Version: recurring-ical-events 3.8.2 with icalendar 7.3.2.
# Behaviour:
# A daily event at 02:30 in Paris, half an hour long, across the last Sunday of March. On the day on which 02:30 does not
# exist the occurrence begins at 01:30 UTC, as RFC 5545 asks, and ends at 01:00 UTC: half an hour earlier.
# Output seen: 2026-03-29: begins 01:30 UTC, ends 01:00 UTC
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check recurring-ical-events==3.8.2 icalendar==7.3.2 tzdata==2026.6
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import UTC

import icalendar
import recurring_ical_events

TEXT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:example
BEGIN:VEVENT
UID:1
DTSTAMP:20260101T000000Z
DTSTART;TZID=Europe/Paris:20260327T023000
DURATION:PT30M
RRULE:FREQ=DAILY;COUNT=4
END:VEVENT
END:VCALENDAR
"""
calendar = icalendar.Calendar.from_ical(TEXT.replace("\n", "\r\n"))
(event,) = recurring_ical_events.of(calendar).between((2026, 3, 29), (2026, 3, 30))
begin, end = (event[name].dt.astimezone(UTC) for name in ("DTSTART", "DTEND"))
print(f"{begin:%Y-%m-%d}: begins {begin:%H:%M} UTC, ends {end:%H:%M} UTC")
assert (begin.hour, begin.minute, end.hour, end.minute) == (1, 30, 1, 0)
PYTHON
