#!/usr/bin/env bash
# ical.js repeats "the 20th Monday of each year" every week.
#
# Version: ical.js 2.2.1 with Node.js 20 or newer.
# Behaviour:
# Two examples of RFC 5545 (3.8.5.3) are `FREQ=YEARLY;BYDAY=20MO` and `FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO`. Each has one day a
# year. The iterator of ical.js gives every Monday, without an error. With the week it begins a week late as well.
# Output seen: 20MO: 1997-05-19 1997-05-26 1997-06-02; BYWEEKNO=20: 1997-05-19 1997-05-26 1997-06-02
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save ical.js@2.2.1
cat > run.mjs <<'NODE'
import assert from "node:assert";
import ICAL from "ical.js";

const first = (rule, start) => {
  const days = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromString(start));
  return [1, 2, 3].map(() => days.next().toString().slice(0, 10)).join(" ");
};
const day = first("FREQ=YEARLY;BYDAY=20MO", "1997-05-19T09:00:00");
const week = first("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12T09:00:00");
console.log(`20MO: ${day}; BYWEEKNO=20: ${week}`);
assert.equal(day, "1997-05-19 1997-05-26 1997-06-02"); // of RFC 5545: 1997-05-19 1998-05-18 1999-05-17
assert.equal(week, "1997-05-19 1997-05-26 1997-06-02"); // of RFC 5545: 1997-05-12 1998-05-11 1999-05-17
NODE
node run.mjs
