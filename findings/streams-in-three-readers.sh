#!/usr/bin/env bash
# A broken stream goes on in one of three readers of event streams, and a 503 is read as events by two.
#
# Version: eventsource 5.1.5 with Node.js 20 or newer, httpx-sse 0.4.3 with httpx 0.28.1, curl 7.88 or newer.
# Behaviour:
# eventsource asks again after a break, and after the end of an answer; httpx-sse and curl end there. After a 503, a 204
# or JSON eventsource is closed for good. httpx-sse reads the body of a 503 as a stream. curl prints all of it, an event
# that was cut as well, and ends with 0. With `--retry` it asks again after a 503, but not after a stream that ended.
# Output seen: `stream | eventsource | httpx-sse | curl -sN --compressed`, at the end of this file.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save eventsource@5.1.5
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check httpx-sse==0.4.3 httpx==0.28.1
cat > server.mjs <<'NODE'
import { createServer } from "node:http";
import { createGzip } from "node:zlib";
import { writeFileSync } from "node:fs";

const streams = {
  ids: (answer) => answer.write("id: 7\ndata: a\n\nid: 8\n\ndata: b\n\nid\ndata: c\n\n"),
  retry: (answer) => answer.write("retry: 50\n\ndata: a\n\n"),
  mark: (answer) => answer.write("\ufeffdata: a\n\ndata: b\n\n"),
  separator: (answer) => answer.write("data: a\u2028b\n\n"),
  gzip: (answer) => {
    const packer = createGzip();
    packer.pipe(answer);
    packer.write("data: a\n\n");
    packer.flush();
  },
  ended: (answer) => answer.end("retry: 50\ndata: a\n\n"),
  broken: (answer) => {
    answer.write("retry: 50\ndata: a\n\n");
    setTimeout(() => answer.destroy(), 50);
  },
  cut: (answer) => answer.end("retry: 50\ndata: a\n\ndata: lost\n"),
  refused: (answer) => answer.end("data: sorry\n\n"),
  refused_later: (answer, count) => answer.end(count === 1 ? "retry: 50\ndata: a\n\n" : ""),
  empty: (answer) => answer.end(),
  json: (answer) => answer.end("{}"),
};
const heads = { gzip: [200, { "Content-Encoding": "gzip" }], refused: [503], empty: [204], json: [200, { "Content-Type": "application/json" }] };
const asked = {};
const server = createServer((request, answer) => {
  const [, reader, name] = request.url.split("/");
  if (reader === "asked") return answer.end(String(asked[`/${name}`.replace("-", "/")] ?? 0));
  const count = (asked[request.url] = (asked[request.url] ?? 0) + 1);
  const [status, headers] = (name === "refused_later" && count > 1 ? heads.refused : heads[name]) ?? [200];
  answer.writeHead(status, { "Content-Type": "text/event-stream", ...headers });
  answer.flushHeaders();
  return streams[name](answer, count);
});
server.listen(0, "127.0.0.1", () => writeFileSync("port", String(server.address().port)));
NODE
cat > reader.mjs <<'NODE'
import { EventSource } from "eventsource";
const [url, name] = process.argv.slice(2);
const events = [];
const source = new EventSource(`${url}/eventsource/${name}`);
source.onmessage = (event) => events.push(`${event.data}#${event.lastEventId}`);
setTimeout(async () => {
  const asked = Number(await (await fetch(`${url}/asked/eventsource-${name}`)).text());
  const state = source.readyState === EventSource.CLOSED ? "closed" : asked > 1 ? "asks again" : "open";
  console.log([...new Set(events)].join(" ").replaceAll("\u2028", "_"), state);
  process.exit(0);
}, 1500);
NODE
cat > reader.py <<'PYTHON'
import sys
import httpx, httpx_sse
url, name = sys.argv[1:]
events, end = [], "ends"
try:
    with httpx.Client(timeout=1) as client, httpx_sse.connect_sse(client, "GET", f"{url}/httpx/{name}") as source:
        for event in source.iter_sse():
            events.append(f"{event.data}#{event.id}")
except httpx.ReadTimeout:
    end = "open"
except (httpx.HTTPError, httpx_sse.SSEError) as error:
    end = type(error).__name__
print(*(event.replace("\u2028", "_") for event in events), end)
PYTHON
node server.mjs & server=$!
until [ -s port ]; do sleep 0.1; done
url=http://127.0.0.1:$(cat port)
curl_of() { # prints in one line what curl prints within a second, and its status; 28: it waited for more
  local status=0
  curl -sN --compressed --max-time 1 "$url/curl/$1" > "curl.$1" || status=$?
  echo "$(tr '\n' '/' < "curl.$1" | LC_ALL=C sed 's/\xe2\x80\xa8/_/; s/\xef\xbb\xbf/^/') status $status"
}
for name in ids retry mark separator gzip ended broken cut refused refused_later empty json; do
  node reader.mjs "$url" "$name" > "node.$name" &
  one=$!
  venv/bin/python reader.py "$url" "$name" > "python.$name" &
  two=$!
  said=$(curl_of "$name")
  wait $one $two
  echo "$name | $(xargs < "node.$name") | $(xargs < "python.$name") | $(xargs <<< "$said")"
done | tee seen
curl -s --retry 1 "$url/retrying/refused" > /dev/null
curl -s --retry 1 "$url/retrying/ended" > /dev/null
echo "curl --retry 1 asks: 503 $(curl -s "$url/asked/retrying-refused"), ended $(curl -s "$url/asked/retrying-ended")" | tee -a seen
diff seen - <<'EXPECTED'
ids | a#7 b#8 c# open | a#7 #8 b#8 c# open | id: 7/data: a//id: 8//data: b//id/data: c// status 28
retry | a# open | # a# open | retry: 50//data: a// status 28
mark | a# b# open | b# open | ^data: a//data: b// status 28
separator | a_b# open | a_b# open | data: a_b// status 28
gzip | a# open | a# open | data: a// status 28
ended | a# asks again | a# ends | retry: 50/data: a// status 0
broken | a# asks again | a# RemoteProtocolError | retry: 50/data: a// status 18
cut | a# asks again | a# ends | retry: 50/data: a//data: lost/ status 0
refused | closed | sorry# ends | data: sorry// status 0
refused_later | a# closed | a# ends | retry: 50/data: a// status 0
empty | closed | ends | status 0
json | closed | SSEError | {} status 0
curl --retry 1 asks: 503 2, ended 1
EXPECTED
