// Makes the pages installable: registers the service worker, and shows the number of your decisions at the icon.
"use strict";

/** The only script that may become a worker. */
const workerPolicy = /** @type {any} */ (window).trustedTypes?.createPolicy("annals-worker", { createScriptURL: () => "/worker.js" });

if (document.documentElement.dataset.worker === "on" && "serviceWorker" in navigator)
  navigator.serviceWorker.register(workerPolicy ? workerPolicy.createScriptURL("") : "/worker.js", { updateViaCache: "none" }).catch(() => {});

/** Show the number of decisions that wait, on pages that know it. */
function showBadge() {
  const due = document.getElementById("main")?.dataset.due;
  const shown = due === undefined ? null : Number(due) ? navigator.setAppBadge?.(Number(due)) : navigator.clearAppBadge?.();
  shown?.catch(() => {});
}

showBadge();
document.addEventListener("annals:updated", showBadge);
document.addEventListener("submit", (event) => {
  if (event.target instanceof HTMLFormElement && event.target.action.endsWith("/logout")) navigator.clearAppBadge?.().catch(() => {});
});
window.addEventListener("online", () => {
  const isCopy = document.getElementById("saved")?.hidden === false;
  if (isCopy && !document.getElementById("main")?.dataset.live) location.reload(); // others renew themselves
});
