#!/usr/bin/env bash
# rrule-temporal finds a 53rd Wednesday in each year, and takes it from the next one.
#
# Version: rrule-temporal 2.2.8 with Node.js 20 or newer.
# Behaviour:
# `FREQ=YEARLY;BYDAY=53WE` has a day only in years with 53 Wednesdays: 2031, 2036, 2042. In the others rrule-temporal gives
# the first Wednesday of the year after. With `-53` it takes the last Wednesday of the year before.
# Output seen: 53WE: 2031-12-31 2033-01-05 2034-01-04; -53WE: 2031-01-01 2031-12-31 2032-12-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save rrule-temporal@2.2.8
cat > run.mjs <<'NODE'
import assert from "node:assert";
import { RRuleTemporal } from "rrule-temporal";

const first = (rule, start) => {
  const days = new RRuleTemporal({ rruleString: `DTSTART:${start}Z\nRRULE:${rule};COUNT=3` }).all();
  return days.map((day) => new Date(day.epochMilliseconds).toISOString().slice(0, 10)).join(" ");
};
const last = first("FREQ=YEARLY;BYDAY=53WE", "20311231T090000");
const back = first("FREQ=YEARLY;BYDAY=-53WE", "20310101T090000");
console.log(`53WE: ${last}; -53WE: ${back}`);
assert.equal(last, "2031-12-31 2033-01-05 2034-01-04"); // those that there are: 2031-12-31 2036-12-31 2042-12-31
assert.equal(back, "2031-01-01 2031-12-31 2032-12-29"); // those that there are: 2031-01-01 2036-01-02 2042-01-01
NODE
node run.mjs
