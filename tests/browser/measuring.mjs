// What pages cost a browser: time to draw the largest map, shifts of the layout, memory over many updates.
import { decide, expected, finish, given, open, playNow, register } from "./driver.mjs";

const ROUNDS = 7;
const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

// Without a worker: the requests of a page that has one go past the routes of `follow`.
expected.push("Service Worker registration blocked");
const page = await open({ viewport: { width: 1400, height: 1000 }, serviceWorkers: "block" });
await register(page, given.name, "/games");
const table = await playNow(page, given.ruleset);
await page.locator(".decide").waitFor();
await decide(page); // from then on each turn begins with what has happened
const pages = [];
for (let n = 0; n < given.pages; n++) {
  await page.locator(".decide").waitFor();
  pages.push(await (await page.request.get(table)).text());
  await decide(page);
  const after = await (await page.request.get(table)).text();
  if (after.includes('id="move"')) pages.push(after); // an update keeps the question
}
const drawing = await (await page.request.get(`/pages/maps/${given.largest}/en/any.svg`)).text();
const style = await (await page.request.get(await page.locator('link[href*="map"]').getAttribute("href"))).text();
await page.goto("about:blank");
await finish({ ratio: await compareDrawings(), ...(await follow()) });

/** Return the time to parse and paint the map, in times of a page with as many bare paths. */
async function compareDrawings() {
  const paths = drawing.match(/<path /g).length;
  const uses = [...drawing.matchAll(/<(?:path|g) id="([^"]+)"/g)].map(([, id]) => `<use href="#${id}" class="${id.startsWith("r-") ? "place" : id}"/>`);
  const bare = Array.from({ length: paths }, (_, n) => `<path d="M${(n % 20) * 50} ${Math.floor(n / 20) * 50}h40v40z"/>`);
  const board = drawing.replace("</svg>", `${uses.join("")}</svg>`);
  const markup = [`<style>${style}</style>${board}`, `<svg viewBox="0 0 1400 980">${bare.join("")}</svg>`];
  const times = [[], []];
  for (let round = 0; round < ROUNDS; round++) for (const [n, html] of markup.entries()) times[n].push(await page.evaluate(draw, html));
  return median(times[0]) / median(times[1]);
}

/** Return the time until some markup is drawn, ms. */
async function draw(html) {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  document.body.replaceChildren();
  await frame();
  const start = performance.now();
  document.body.innerHTML = html;
  await frame();
  await frame();
  return performance.now() - start;
}

/** Let a page follow a game of many updates without pauses; return the largest shift of one, and the memory after both parts. */
async function follow() {
  let version = 1000;
  await page.addInitScript(prepare);
  await page.goto(table);
  await page.route(`**${table}*`, (route) =>
    route.fulfill({ contentType: "text/html", body: pages[version % pages.length].replace(/data-version="\d+"/, `data-version="${version}"`) }),
  );
  const tools = await page.context().newCDPSession(page);
  const [shifts, early, late] = [[], [], []];
  for (let count = 1; count <= given.updates; count++) {
    version += 1;
    shifts.push(await page.evaluate(update, version));
    if (count % 10) continue;
    await tools.send("HeapProfiler.collectGarbage");
    const { usedSize } = await tools.send("Runtime.getHeapUsage");
    if (count > 100 && count <= 200) early.push(usedSize);
    if (count > given.updates - 100) late.push(usedSize);
  }
  const stops = await page.locator('[data-region][tabindex="0"]').count();
  return { stops, shift: Math.max(...shifts), growth: early.length ? mean(late) / mean(early) : null };
}

/** Replace the stream by one that the scenario feeds, and shorten pauses. */
function prepare() {
  const later = window.setTimeout;
  window.setTimeout = (act, pause) => later(act, Math.min(pause ?? 0, 5));
  window.EventSource = class {
    constructor() {
      window.stream = this;
      this.hear = {};
    }
    addEventListener(name, act) {
      this.hear[name] = act;
    }
    close() {}
  };
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.shift += value;
  }).observe({ type: "layout-shift", buffered: false });
}

/** Tell the page of a version, wait until it is shown, and return by how much the layout has shifted. */
async function update(version) {
  window.shift = 0;
  window.stream.hear.change({ data: JSON.stringify({ version, votes: "" }) });
  const main = document.getElementById("main");
  while (Number(main.dataset.version) < version) await new Promise((done) => requestAnimationFrame(done));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return window.shift;
}
