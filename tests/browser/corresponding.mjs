// A slow game to its end on a phone: its player acts on messages alone, and gives standing orders in the page.
// `devices` are those of the push service of the test, by name: {key, auth} as hex and base64; `own` is the phone's.
// A browser without a window shows no messages and has no push service: the worker's calls are noted instead.
import { createECDH } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { decide, expected, faults, finish, given, go, logIn, open, submit } from "./driver.mjs";

const { decrypt } = createRequire(join(given.modules, "x.js"))("http_ece");
const PATIENCE = 60_000;
/** Time in which a late message would come, ms: changes of orders are told after ten seconds. */
const LATE = 25_000;

expected.push("ERR_ABORTED");

/** What the push service got, by device, in order. */
const got = Object.fromEntries(Object.keys(given.devices).map((name) => [name, []]));
const service = createServer((request, answer) => {
  const name = request.url.slice(1);
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const privateKey = createECDH("prime256v1");
    privateKey.setPrivateKey(given.devices[name].key, "hex");
    const plain = decrypt(Buffer.concat(parts), { version: "aes128gcm", privateKey, authSecret: given.devices[name].auth });
    got[name].push(JSON.parse(plain.toString()));
    answer.writeHead(201).end();
  });
}).listen(given.push, "127.0.0.1");

const page = await open(given.browsing);
const device = given.devices[given.own];
await page.addInitScript(
  ([endpoint, keys]) => {
    Notification.requestPermission = async () => "granted";
    PushManager.prototype.subscribe = async () => ({ toJSON: () => ({ endpoint, keys }) });
  },
  [`http://127.0.0.1:${given.push}/${given.own}`, { p256dh: device.point, auth: device.auth }],
);
const tools = await page.context().newCDPSession(page);
let registration = "";
tools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
  for (const each of registrations) if (!each.isDeleted) registration = each.registrationId;
});
await tools.send("ServiceWorker.enable");

await logIn(page, given.own, given.password, "/games");
await page.evaluate(() => navigator.serviceWorker.ready);
await page.waitForFunction(() => Boolean(navigator.serviceWorker.controller));
const { installabilityErrors } = await tools.send("Page.getInstallabilityErrors");
const { manifest } = await tools.send("Page.getAppManifest");
const found = { install: { errors: installabilityErrors, display: manifest.display }, clicked: [], byHand: [] };
page.on("request", (request) => {
  const decision = request.method() === "POST" && new URLSearchParams(request.postData() ?? "").get("decision");
  if (decision && !found.byHand.includes(decision)) found.byHand.push(decision);
});
await page.goto(manifest.startUrl);

/** The worker of the pages, with notes of what it shows and opens. */
async function worker() {
  const [found] = page.context().serviceWorkers().slice(-1);
  await found.evaluate(() => {
    if (self.shown) return;
    self.shown = [];
    ServiceWorkerRegistration.prototype.showNotification = async (title, options) => void self.shown.push({ title, ...options });
    PushManager.prototype.getSubscription = async () => ({ unsubscribe: async () => void (self.isEnded = true) });
    Clients.prototype.openWindow = async (url) => void (self.opened = url);
    WindowClient.prototype.focus = async function () {
      self.opened = this.url;
    };
  });
  return found;
}

/** Let the browser get a message, and click what it shows. Return its address. */
async function click(message) {
  const there = await worker();
  await tools.send("ServiceWorker.deliverPushMessage", { origin: given.url, registrationId: registration, data: JSON.stringify(message) });
  for (let tries = 0; !(await there.evaluate(() => self.shown.length)); tries++) {
    if (tries > 200) throw new Error(`nothing is shown of ${message.title}`);
    await page.waitForTimeout(50);
  }
  const [shown, address] = await there.evaluate(async () => {
    const shown = self.shown.shift();
    const event = new ExtendableEvent("notificationclick");
    const waits = [];
    Object.defineProperties(event, {
      notification: { value: { data: shown.data, close: () => {} } },
      waitUntil: { value: (each) => waits.push(each) },
    });
    self.dispatchEvent(event);
    await Promise.all(waits);
    return [shown, new URL(self.opened, location.origin).href];
  });
  found.clicked.push(shown);
  return address.slice(given.url.length);
}

let read = 0;
/** Wait for the next message of the phone. @param patience ms */
async function next(patience = PATIENCE) {
  const end = Date.now() + patience;
  while (got[given.own].length === read) {
    if (Date.now() > end) return null;
    await page.waitForTimeout(50);
  }
  return got[given.own][read++];
}

// One press, and a trial that opens the page of messages.
await page.goto("/account/notices");
await page.locator("[data-push-key] form.act button", { hasText: "Tell me on this device" }).tap();
await page.locator("button", { hasText: "Send a trial" }).tap();
found.trial = await click(await next());
await page.goto("about:blank");

/** Give the standing orders of the scenario in the page of the table. */
async function giveOrders() {
  for (const order of given.orders) {
    while (!(await giveOrder(order)));
  }
}

/** Give one standing order. Return nothing if the page has changed under the finger. */
async function giveOrder({ kind, times, attacked }) {
  const panel = page.locator("#orders");
  if (!(await panel.evaluate((node) => node.open))) await panel.locator("> summary").tap();
  const form = panel.locator(`details[data-key="order-${kind}"]`);
  if (!(await form.evaluate((node) => node.open))) await form.locator("> summary").tap();
  await form.locator("input[name=times]").fill(String(times));
  const turn = form.locator("input[name=turn]");
  await turn.fill(await turn.getAttribute("max"));
  await form.locator("input[name=attacked]").setChecked(attacked);
  if (await form.locator("input[name=chance]").count()) await form.locator("input[name=chance]").check();
  return submit(page, () => form.locator("button").last().tap());
}

const due = page.locator(".bar.yours ~ .area .decide");
const over = page.locator(".bar.over");
let isGiven = false;
for (let message = await begin(); ; message = await next()) {
  if (!message) throw new Error(`nobody is told: ${JSON.stringify(await (await page.request.get(`/v1/games/${given.game}/decisions`)).json())}`);
  await page.goto(await click(message));
  if (await over.count()) break;
  if (!isGiven) await giveOrders();
  isGiven = true;
  while (await due.count()) await decide(page);
  await page.goto("about:blank");
}

/** Start the game, and wait for the first message. */
async function begin() {
  const started = await fetch(`${given.url}/v1/games/${given.game}/start`, {
    method: "POST",
    headers: { Authorization: `Bearer ${given.director}`, "Annals-Role": "director", "Content-Type": "application/json" },
    body: "{}",
  });
  if (!started.ok) faults.push(await started.text());
  return next();
}

await page.waitForTimeout(LATE);
await page.goto(`/games/${given.game}`);
found.page = (await page.locator("main").innerText()).slice(0, 400);
await page.goto("/");
await page.locator("header .menu summary").tap();
await go(page, page.locator('header form[action="/logout"] button'));
found.isEnded = await (await worker()).evaluate(() => self.isEnded);
service.close();
service.closeAllConnections();
await finish({ ...found, got, unread: got[given.own].slice(read) });
