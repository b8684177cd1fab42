#!/usr/bin/env bash
# One 503 ends a stream of npm's eventsource for good.
#
# Version: eventsource 5.1.5 with Node.js 20 or newer.
# Behaviour:
# A stream that breaks is opened again. If a proxy answers 503 while the server restarts, eventsource closes and never
# asks again, although `retry` was sent. It keeps the id of a block without data, and reads gzip as it flows.
# Output seen: refused: closed after 2 requests; id alone: asks with 8; gzip: z
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save eventsource@5.1.5
cat > run.mjs <<'NODE'
import assert from "node:assert";
import { createServer } from "node:http";
import { createGzip } from "node:zlib";
import { EventSource } from "eventsource";

const asked = { refused: [], alone: [], gzip: [] };
const server = createServer((request, answer) => {
  const name = request.url.slice(1);
  const count = asked[name].push(request.headers["last-event-id"]);
  if (name === "refused" && count > 1) return answer.writeHead(503).end();
  answer.writeHead(200, { "Content-Type": "text/event-stream", ...(name === "gzip" && { "Content-Encoding": "gzip" }) });
  if (name !== "gzip") return answer.end("retry: 50\nid: 8\n\n");
  const packer = createGzip();
  packer.pipe(answer);
  packer.write("data: z\n\n");
  return packer.flush();
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
let data = "";
const sources = Object.keys(asked).map((name) => new EventSource(`http://127.0.0.1:${server.address().port}/${name}`));
sources[2].onmessage = (event) => (data = event.data);
await new Promise((done) => setTimeout(done, 1500));
const closed = sources[0].readyState === EventSource.CLOSED;
console.log(`refused: ${closed ? "closed" : "open"} after ${asked.refused.length} requests; id alone: asks with ${asked.alone[1]}; gzip: ${data}`);
assert.deepEqual([closed, asked.refused.length, asked.alone[1], data], [true, 2, "8", "z"]);
process.exit(0);
NODE
node run.mjs
