// How long a slow phone takes to show the question of a table: four times slower, over 1.5 Mbit/s, cold and warm.
// The net is a server in front of the service: the browser's own slow net leaves a service worker out.
import { createServer, request as ask } from "node:http";
import { loadavg } from "node:os";
import { expected, finish, given, logIn, open, PASSWORD, playNow, register } from "./driver.mjs";

const TAKES = 3;
const SLOWER = 4;
const BYTES_PER_MS = 1.5e6 / 8 / 1000;
const LATENCY = 40;

const target = new URL(given.url);
const net = { isSlow: false, free: 0, bytes: 0 };

/** Wait until the net has carried so many bytes, after all before them. */
function carry(bytes) {
  net.bytes += bytes;
  if (!net.isSlow) return Promise.resolve();
  const now = performance.now();
  net.free = Math.max(net.free, now) + bytes / BYTES_PER_MS;
  return new Promise((done) => setTimeout(done, net.free - now));
}

const proxy = createServer(async (from, to) => {
  if (net.isSlow) await new Promise((done) => setTimeout(done, LATENCY));
  const there = ask({ host: target.hostname, port: target.port, path: from.url, method: from.method, headers: from.headers }, async (answer) => {
    to.writeHead(answer.statusCode, answer.headers);
    try {
      for await (const part of answer) {
        await carry(part.length);
        to.write(part);
      }
    } catch {
      return to.destroy();
    }
    return to.end();
  });
  there.on("error", () => to.destroy());
  to.on("close", () => there.destroy());
  from.pipe(there);
});
await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
given.url = `http://127.0.0.1:${proxy.address().port}`;
expected.push("ERR_", "Failed to fetch");

/** Note when a question is on the screen, ms after the start of the page. */
function watch() {
  const frame = (act) => requestAnimationFrame(act);
  const look = () => {
    const isThere = document.querySelector(".decide form:not(.back):not(.why *) button, .decide form input");
    if (isThere) frame(() => frame(() => (window.shownAt = performance.now())));
    else frame(look);
  };
  look();
}

/** Return how long some work takes, ms: the shortest of five times. */
function work() {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    for (let n = 0, sum = 0; n < 3e7; n++) sum += n % 7;
    return performance.now() - start;
  });
  return Math.min(...times);
}

/** Open the table as a slow phone, and return the time until its question is shown, ms. */
async function start(page, table) {
  await page.addInitScript(watch);
  const tools = await page.context().newCDPSession(page);
  await tools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  Object.assign(net, { isSlow: true, bytes: 0 });
  await page.goto(table, { waitUntil: "commit" });
  await page.waitForFunction(() => window.shownAt);
  const time = await page.evaluate(() => window.shownAt);
  net.isSlow = false;
  const slow = await page.evaluate(work);
  await tools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return { time: Math.round(time), bytes: net.bytes, slower: slow / (await page.evaluate(work)) };
}

const first = await open(given.browsing);
await register(first, given.name, "/play");
const table = await playNow(first, given.ruleset);
await first.locator(".bar.yours ~ .area .decide").waitFor();
await first.context().close();
const found = { cold: [], warm: [], load: 0 };
for (let take = 0; take < TAKES; take++) {
  const page = await open(given.browsing);
  const state = await logInAside(page);
  found.cold.push(await start(state, table));
  await state.evaluate(() => navigator.serviceWorker.ready);
  await state.waitForFunction(() => Boolean(navigator.serviceWorker.controller));
  await state.waitForLoadState("networkidle").catch(() => {});
  await state.goto("about:blank");
  found.warm.push(await start(state, table));
  await state.context().close();
}

/** Return a page of a browser that has seen nothing but a login, whose cookies come from another one. @param page */
async function logInAside(page) {
  await logIn(page, given.name, PASSWORD, "/games");
  const storageState = { cookies: await page.context().cookies(), origins: [] };
  await page.context().close();
  return open({ ...given.browsing, storageState });
}

found.load = loadavg()[0];
proxy.close();
proxy.closeAllConnections();
await finish(found);
