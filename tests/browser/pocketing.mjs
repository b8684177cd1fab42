// A phone with and without a net: installable, the last pages readable, nothing of another account or of an older build.
import { createServer, request as ask } from "node:http";
import { readFileSync } from "node:fs";
import { expected, finish, given, go, open, openTab, playNow, register } from "./driver.mjs";

expected.push("ERR_", "Failed to fetch", "status of 401"); // a list that renews itself while its reader logs out

/** A net that can be cut, in front of the service; `build` "second" is a later release, `killed` one that switches the worker off. */
const net = { isUp: true, build: "first", posts: 0 };
const target = new URL(given.url);
const proxy = createServer((from, to) => {
  if (!net.isUp) return from.socket.destroy();
  if (from.method === "POST") net.posts++;
  if (net.build === "killed" && from.url === "/worker.js")
    return to.writeHead(200, { "Content-Type": "text/javascript", "Cache-Control": "no-cache" }).end(readFileSync(given.off));
  const headers = { ...from.headers, "accept-encoding": "identity" };
  const there = ask({ host: target.hostname, port: target.port, path: from.url, method: from.method, headers }, (answer) => {
    const isText = /html|javascript/.test(answer.headers["content-type"] ?? "") && !/^\/pages\//.test(from.url);
    const told = { ...answer.headers };
    if (net.build === "second" && told["annals-build"]) told["annals-build"] = "second";
    if (!isText) return answer.pipe(to.writeHead(answer.statusCode, told));
    const parts = [];
    answer.on("data", (part) => parts.push(part));
    answer.on("end", () => {
      let text = Buffer.concat(parts).toString();
      if (net.build === "second") text = text.replace(/const BUILD = "\w+"/, 'const BUILD = "second"').replace("<body", '<body data-build="second"');
      delete told["content-length"];
      delete told["transfer-encoding"];
      to.writeHead(answer.statusCode, told).end(text);
    });
    return undefined;
  });
  there.on("error", () => to.destroy());
  from.on("close", () => from.destroyed && !from.complete && there.destroy());
  to.on("close", () => there.destroy());
  return from.pipe(there);
});
const sockets = new Set();
proxy.on("connection", (socket) => sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {})));
await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
given.url = `http://127.0.0.1:${proxy.address().port}`;

function cut() {
  net.isUp = false;
  for (const socket of sockets) socket.destroy();
}

/** Wait for a page's promise of something true: a `waitForFunction` takes the promise itself for true. */
async function until(look, given) {
  for (let tries = 0; tries < 200; tries++) {
    if (await page.evaluate(look, given)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`it never was: ${look}`);
}

const found = { answered: [] };
const page = await open(given.browsing);
page.on("response", (answer) => {
  const path = new URL(answer.url()).pathname;
  if (answer.fromServiceWorker()) found.answered.push(`${answer.request().method()} ${path.replace(/[0-9a-f-]{36}/, "{game}")}`);
});
const badges = [];
await page.exposeFunction("noteBadge", (count) => void badges.push(count));
await page.addInitScript(() => {
  const note = async (count) => window.noteBadge(count ?? 0);
  Object.assign(Navigator.prototype, { setAppBadge: note, clearAppBadge: () => note(0) });
});
await register(page, given.name);
const table = await playNow(page, given.ruleset);
await page.evaluate(() => navigator.serviceWorker.ready);
await page.waitForFunction(() => Boolean(navigator.serviceWorker.controller));

// Chromium's own check, which a browser without a window leaves empty, and the manifest as it reads it.
const tools = await page.context().newCDPSession(page);
const { installabilityErrors } = await tools.send("Page.getInstallabilityErrors");
const { errors, manifest } = await tools.send("Page.getAppManifest");
found.install = { errors: [...errors, ...installabilityErrors], manifest, url: given.url };

await page.goto("/");
found.badges = [badges.at(-1)];
found.themes = await page.locator('meta[name="theme-color"]').evaluateAll((all) => all.map((each) => each.media));

const READ = [table, `${table}/chronicle`, `${table}/rules`, "/"];
const see = async (tab, path) => {
  await tab.goto(path).catch(() => {});
  const isCopy = await tab.locator("#saved").isVisible();
  return { title: await tab.locator("h1").textContent(), isCopy, text: isCopy ? (await tab.locator("#saved").textContent()).trim() : "" };
};
const stores = () => page.evaluate(async () => (await caches.keys()).sort());
const isKept = (path) => until(async (path) => Boolean(await caches.match(path, { ignoreVary: true })), path);
for (const path of READ) {
  await page.goto(path);
  await isKept(path);
}

// A new release, and a second tab that saw the old one.
const tab = await openTab(page);
await tab.goto(table);
net.build = "second";
await page.goto("/");
await until(async () => (await caches.keys()).every((name) => name.endsWith("second")) && (await caches.keys()).length > 0);
found.upgraded = await page.evaluate(() => document.body.dataset.build);
await tab.reload();
found.upgradedBeside = await tab.evaluate(() => document.body.dataset.build);
cut();
found.oldBuild = await see(page, `${table}/chronicle`);
net.isUp = true;
for (const path of [...READ].reverse()) {
  await page.goto(path);
  await isKept(path);
}

// A move without a net says so, stays filled in, and is not sent later.
await page.locator(".decide form").first().waitFor();
await page.locator("#live-state", { hasText: "Connected" }).waitFor();
const posts = net.posts;
cut();
await page.locator(".decide:not(.held)").first().waitFor();
await page.evaluate(() => {
  const form = document.querySelector(".decide form:not(.back):not(.why *)");
  const box = form.querySelector("input[type=checkbox], input[type=number]");
  if (box) box.checked = true;
  form.requestSubmit(form.querySelector("button"));
});
await page.locator("#moved-on", { hasText: "not been sent" }).waitFor();
found.unsent = { isAsked: (await page.locator(".decide form").count()) > 0 };
found.copies = {};
for (const path of READ) found.copies[path.replace(table, "table")] = await see(page, path);
found.neverSeen = await see(page, `${table.slice(0, -4)}0000`);
await page.goto(table);
net.isUp = true;
await page.locator("#live-state", { hasText: "Connected" }).waitFor();
found.unsent.posts = net.posts - posts;
await page.locator("#saved").waitFor({ state: "hidden" });

// After a logout nothing of the account is left, and the next one sees nothing of it.
await page.goto("/");
await page.locator("header .menu summary").click();
await go(page, page.locator('header form[action="/logout"] button'));
found.badges.push(badges.at(-1));
found.afterLogout = (await stores()).filter((name) => name.includes("pages"));
cut();
const left = await openTab(page);
found.loggedOut = await left.goto(table).then(() => left.locator("h1").textContent(), () => "nothing");
await left.close();
net.isUp = true;
await register(page, `${given.name} 2`, "/");
await page.evaluate(() => navigator.serviceWorker.ready);
await page.waitForFunction(() => Boolean(navigator.serviceWorker.controller));
await page.goto("/");
await isKept("/");
cut();
found.other = await see(page, table);
net.isUp = true;

// The secret of a link leaves the address for the form.
await page.goto("/hand-over#secret");
found.link = [await page.locator("input[name=secret]").inputValue(), await page.evaluate(() => location.href.replace(location.origin, ""))];

// The service switches the worker off.
net.build = "killed";
await page.goto("/");
await until(async () => !(await navigator.serviceWorker.getRegistration()) && !(await caches.keys()).length);
found.isOff = true;
proxy.close();
for (const socket of sockets) socket.destroy();
await finish(found);
