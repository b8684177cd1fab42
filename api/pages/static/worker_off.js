// The worker of a service that has none: it forgets all and removes itself. Build {build}.
"use strict";

const worker = /** @type {any} */ (self);

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(remove()));

async function remove() {
  await Promise.all((await caches.keys()).map((name) => caches.delete(name)));
  await worker.clients.claim(); // open pages no longer ask the worker before
  await worker.registration.unregister();
}
