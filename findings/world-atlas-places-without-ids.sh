#!/usr/bin/env bash
# Countries of world-atlas kept by their id lose some: several have none, and one id belongs to two.
#
# Version: world-atlas 2.0.2 of npm.
# Behaviour:
# Its README shows ids as the ISO codes of countries. In the files of 110, 50 and 10 m, three, five and sixteen places have no id
# (Kosovo and Somaliland among them), and in the finer two the code of Australia stands twice. A map of ids to shapes therefore
# has fewer entries than the file has places, and one shape of "no id" stands for all of them.
# Output seen: 110m 177 175 3 / 50m 241 236 5 / 10m 255 239 16
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund world-atlas@2.0.2 > /dev/null
seen=$(node - <<'NODE'
const found = ["110m", "50m", "10m"].map((size) => {
  const places = require(`world-atlas/countries-${size}.json`).objects.countries.geometries;
  const byId = new Map(places.map((place) => [place.id, place]));
  return [size, places.length, byId.size, places.filter((place) => place.id === undefined).length].join(" ");
});
console.log(found.join(" / "));
NODE
)
echo "$seen"
[ "$seen" = "110m 177 175 3 / 50m 241 236 5 / 10m 255 239 16" ]
