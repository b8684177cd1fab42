// What a browser's own EventSource makes of streams of a stand-in server: the rows of docs/clients/behaviour.md.
// `url` names the port of the stand-in.
import { createServer } from "node:http";
import { createGzip } from "node:zlib";
import { expected, finish, given, open } from "./driver.mjs";

const GAP = "retry: 50\n\n";
const WAIT = 700;

/** The answer to each request for a stream, by name, and by the count of requests for it. */
const STREAMS = {
  ids: (answer, count) => answer.end(["retry: 50\nid: 7\ndata: a\n\nid: 8\n\ndata: b\n\n", "id\ndata: c\n\n"][count - 1] ?? ": x\n\n"),
  id_alone: (answer, count) => answer.end(count === 1 ? "retry: 50\nid: 8\n\n" : ": x\n\n"),
  retry_alone: (answer) => answer.end("retry: 300\n\n"),
  mark: (answer) => answer.write("\ufeffdata: a\n\n"),
  separator: (answer) => answer.write("data: a\u2028b\n\n"),
  cut: (answer, count) => {
    answer.write(count === 1 ? "retry: 50\ndata: lost\n" : "data: whole\n\n");
    if (count === 1) setTimeout(() => answer.destroy(), 50);
  },
  packed: (answer) => {
    const packer = createGzip();
    packer.pipe(answer);
    packer.write("data: a\n\n");
    packer.flush();
  },
  restarted: (answer, count) => {
    answer.write(GAP + "data: a\n\n");
    if (count === 1) setTimeout(restart, 50);
  },
  refused: (answer) => answer.end(),
  refused_later: (answer) => answer.end(GAP),
  empty: (answer) => answer.end(),
  json: (answer) => answer.end("{}"),
};
const HEADS = {
  packed: [200, { "Content-Encoding": "gzip" }],
  refused: [503],
  empty: [204],
  json: [200, { "Content-Type": "application/json" }],
};

/** One after the other, of at most six at once: a browser opens no more connections to a server. */
const GROUPS = [["ids", "id_alone", "mark", "separator", "packed"], ["cut", "refused", "refused_later", "empty", "json"], ["retry_alone", "restarted"]];

const asked = {};
const port = Number(new URL(given.url).port);
const server = createServer((request, answer) => {
  const name = request.url.slice(1);
  if (!(name in STREAMS)) return answer.writeHead(200, { "Content-Type": "text/html" }).end("<link rel=icon href=data:,>");
  const count = (asked[name] ??= []).push({ at: Date.now(), id: request.headers["last-event-id"] ?? null });
  const [status, headers] = (name === "refused_later" && count > 1 ? HEADS.refused : HEADS[name]) ?? [200];
  answer.writeHead(status, { "Content-Type": "text/event-stream", ...headers });
  return STREAMS[name](answer, count);
});
const listen = () => new Promise((done) => server.listen(port, "127.0.0.1", done));
const restart = () => {
  server.close(() => setTimeout(listen, 150));
  server.closeAllConnections();
};
await listen();

expected.push("503", "MIME type", "ERR_");
const page = await open();
await page.goto("/page");
const streams = {};
for (const names of GROUPS) Object.assign(streams, await page.evaluate(follow, [names, WAIT]));
for (const [name, found] of Object.entries(streams)) {
  const [first, second] = asked[name];
  Object.assign(found, { asked: Math.min(asked[name].length, 3), ids: asked[name].slice(0, 3).map(({ id }) => id), gap: second ? second.at - first.at : 0 });
}
server.close();
server.closeAllConnections();
await finish({ streams });

/** Follow streams in the page for a time, ms, and return their first events and their state. */
function follow([names, wait]) {
  const one = async (name) => {
    const [stream, events] = [new EventSource(`/${name}`), []];
    stream.onmessage = (event) => events.push([event.data, event.lastEventId]);
    await new Promise((done) => setTimeout(done, wait));
    const closed = stream.readyState === EventSource.CLOSED;
    stream.close();
    return [name, { events: events.slice(0, 3), closed }];
  };
  return Promise.all(names.map(one)).then(Object.fromEntries);
}
