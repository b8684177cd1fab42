// The service worker: keeps the files of pages, and the pages last seen, to read them without a net.
// It answers GET alone, and only what is named here: streams, downloads, forms and the API go past it.
"use strict";

/** The service fills these in. A new build is a new worker, with new stores. */
const BUILD = "{build}";
/** @type {string[]} */
const SHELL = [/* shell */];

const FILES = `annals-files-${BUILD}`;
const PAGES = `annals-pages-${BUILD}`;
/** The page that tells that a page was never seen. */
const OFFLINE = "/offline";
/** Where the store of pages notes whose they are. */
const READER = "/reader";
const MOST_PAGES = 40;

const GAME = "/games/[0-9a-f-]{36}";
/** Pages to read without a net: your decisions, tables with chronicle and rules. */
const READABLE = new RegExp(`^(/|/games|${GAME}(/chronicle|/rules|/rules/index)?|/learn/[^/]+(/rules|/rules/index)?)$`);
/** Parts of a query that make no other page. */
const PLAIN_QUERY = new Set(["as", "wait"]);
/** Forms after which another person may read. */
const CHANGES_READER = /^\/(log(in|out)|register|recovery|account|hand-over)(\/|$)/;

/** Forms after which this browser may be another person's. */
const ENDS_LOGIN = /^\/(log(in|out)|register|recovery)(\/|$)/;

/** Counts what was forgotten: an answer that was asked for before is not kept. */
let epoch = 0;

const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(install()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(show(event.data)));
worker.addEventListener("notificationclick", (/** @type {any} */ event) => event.waitUntil(open(event.notification)));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.method !== "GET") {
    if (CHANGES_READER.test(url.pathname)) event.waitUntil(forget());
    if (ENDS_LOGIN.test(url.pathname)) event.waitUntil(endPush());
  } else if (url.pathname.startsWith("/pages/")) event.respondWith(findFile(request));
  else if (READABLE.test(url.pathname) && asksPage(request)) event.respondWith(findPage(event, url));
});

async function install() {
  const files = await caches.open(FILES);
  await files.addAll([...SHELL, new Request(OFFLINE, { credentials: "omit", cache: "no-store" })]);
  await worker.skipWaiting();
}

async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== FILES && name !== PAGES).map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** Forget the pages of a reader. */
async function forget() {
  epoch++;
  await caches.delete(PAGES);
}

/** End what this browser is told: somebody logs out, and another person may come. */
async function endPush() {
  const told = await worker.registration.pushManager?.getSubscription();
  await told?.unsubscribe();
}

/** Show a message, with a sound although it replaces an older one of the same table. @param {any} data */
async function show(data) {
  const { title, body, url, tag, lang } = data.json();
  await worker.registration.showNotification(title, { body, tag, lang, renotify: true, icon: "/pages/icon_192.png", data: url });
}

/** Open what a message is about, in a window that is there already if there is one. @param {any} shown */
async function open(shown) {
  shown.close();
  const url = new URL(shown.data, location.origin);
  if (url.origin !== location.origin) return;
  const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((/** @type {any} */ each) => new URL(each.url).pathname === url.pathname);
  await (there ? there.focus() : worker.clients.openWindow(url.href));
}

/** Return true for a page that the browser opens, or that a page asks for to renew itself. @param {Request} request */
const asksPage = (request) => request.mode === "navigate" || request.headers.get("Accept") === "text/html";

/** Return a file from the store if its address names its content, else from the service. @param {Request} request */
async function findFile(request) {
  const found = await caches.match(request, { ignoreVary: true });
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok && answer.headers.get("Cache-Control")?.includes("immutable")) {
    const files = await caches.open(FILES);
    await files.put(request, answer.clone());
  }
  return answer;
}

/** Return a page from the service; without a net, the copy last seen. @param {any} event @param {URL} url */
async function findPage(event, url) {
  const began = epoch;
  const key = keyOf(url);
  try {
    const answer = await fetch(event.request);
    if (answer.type === "basic" && !answer.redirected) event.waitUntil(keep(key, answer.clone(), began));
    return answer;
  } catch (error) {
    if (event.request.mode !== "navigate") throw error; // the page itself says so
    return (key && (await findCopy(key))) || (await caches.match(OFFLINE, { ignoreVary: true })) || Response.error();
  }
}

/** Return the address under which a page is kept, or nothing for one with another query. @param {URL} url */
function keyOf(url) {
  const names = [...url.searchParams.keys()];
  const role = url.searchParams.get("as");
  return names.every((name) => PLAIN_QUERY.has(name)) ? url.pathname + (role ? `?as=${role}` : "") : "";
}

/** Keep a page for its reader alone. @param {string} key @param {Response} answer @param {number} began */
async function keep(key, answer, began) {
  const reader = answer.headers.get("Annals-Reader");
  if (!reader) return;
  const before = await (await (await caches.open(PAGES)).match(READER))?.text();
  if (before !== reader && began === epoch) {
    await forget();
    began = epoch;
  }
  const isGood = answer.ok && key && answer.headers.get("Annals-Build") === BUILD;
  const body = isGood ? await answer.blob() : null;
  if (began !== epoch) return;
  const pages = await caches.open(PAGES);
  await pages.put(READER, new Response(reader));
  if (!body) return;
  const headers = ["Content-Type", "Content-Security-Policy"].map((name) => [name, answer.headers.get(name) ?? ""]);
  await pages.delete(key); // the newest one is last
  await pages.put(key, new Response(body, { headers: Object.fromEntries(headers) }));
  const kept = (await pages.keys()).filter((each) => new URL(each.url).pathname !== READER);
  await Promise.all(kept.slice(0, -MOST_PAGES).map((each) => pages.delete(each)));
}

/** Return the copy of a page, which tells that it is one, or nothing. @param {string} key */
async function findCopy(key) {
  const found = await (await caches.open(PAGES)).match(key);
  if (!found) return null;
  const text = await found.text();
  return new Response(text.replace('id="saved" hidden', 'id="saved"'), { headers: found.headers });
}
