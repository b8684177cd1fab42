// How long pages wait after a refusal with `Retry-After`, of a stand-in server that serves the scripts of the service.
// `url` names the port of the stand-in, `scripts` the folder of the scripts.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { expected, finish, given, open } from "./driver.mjs";

const SECONDS = 3;
const soon = () => new Date(Date.now() + SECONDS * 1000).toUTCString();
/** `Retry-After` of the first refusal, by the address that is refused. */
const REFUSED = { "/stream": () => String(SECONDS), "/dated": soon, "/refused": () => String(SECONDS), "/step": soon };

const main = (more) => `<!doctype html><link rel=icon href=data:,><title>x</title><p id=live-state data-connected=x></p><p id=live-news></p>
  <main id=main data-version=1 ${more}</main><div id=player></div>`;
const follow = (stream, page) => main(`data-live="${stream}" data-page="${page}">`) + "<script src=/live.js></script>";
const replay = (after) => main(`data-page=x><a data-step=after href="${after}">after</a>`) + "<script src=/live.js></script><script src=/replay.js></script>";
const PAGES = {
  "/stream_page": follow("/stream", "/page"),
  "/dated_page": follow("/dated", "/page"),
  "/refused_page": follow("/told", "/refused"),
  "/replay_page": replay("/step"),
};

const asked = {};
createServer((request, answer) => {
  const name = request.url.split("?")[0];
  const times = (asked[name] ??= []);
  times.push(Date.now());
  if (/^\/\w+\.js$/.test(name)) return answer.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(given.scripts + name));
  if (name in PAGES) return answer.writeHead(200, { "Content-Type": "text/html" }).end(PAGES[name]);
  // The first refusal counts: scripts ask once more for a stream, to read why it was refused.
  if (name in REFUSED && Date.now() - times[0] < (SECONDS - 0.5) * 1000) return answer.writeHead(429, { "Retry-After": REFUSED[name]() }).end();
  if (name === "/step") return answer.writeHead(200, { "Content-Type": "text/html" }).end(replay("/step"));
  if (name === "/refused") return answer.writeHead(200, { "Content-Type": "text/html" }).end(PAGES["/refused_page"].replace("data-version=1", "data-version=2"));
  answer.writeHead(200, { "Content-Type": "text/event-stream" });
  return answer.write('event: change\ndata: {"version": 2, "votes": ""}\n\n');
}).listen(Number(new URL(given.url).port), "127.0.0.1");

expected.push("429", "ERR_");
const page = await open();
for (const name of Object.keys(PAGES)) {
  await page.goto(name);
  if (name === "/replay_page") await page.getByText("after").click();
  await page.waitForTimeout((SECONDS + 2) * 1000);
}
const found = {};
for (const name of Object.keys(REFUSED)) found[name] = asked[name].map((at) => at - asked[name][0]);
await finish({ found, loads: asked["/replay_page"].length });
process.exit();
