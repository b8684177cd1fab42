// Web push: asks the browser for its subscription and submits it with the form. Says so where the browser has none.
"use strict";

const part = document.querySelector("[data-push-key]");
const form = part?.querySelector("form");

/** @param {string} text */
const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));

/** @param {string} word */
const say = (word) => {
  for (const each of document.querySelectorAll("[data-push-word]"))
    if (each instanceof HTMLElement) each.hidden = each.dataset.pushWord !== word;
};

/** Return this browser's subscription for the key of the service. One for an older key is ended. @param {string} key */
async function subscribe(key) {
  const { pushManager } = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: toBytes(key) };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== "InvalidStateError") throw error;
    await (await pushManager.getSubscription())?.unsubscribe();
    return pushManager.subscribe(options);
  }
}

if (part instanceof HTMLElement && form instanceof HTMLFormElement) {
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) say("none");
  else form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if ((await Notification.requestPermission()) !== "granted") return say("denied");
    try {
      const { endpoint, keys } = (await subscribe(part.dataset.pushKey ?? "")).toJSON();
      for (const [name, value] of Object.entries({ endpoint, ...keys })) {
        const field = form.elements.namedItem(name);
        if (field instanceof HTMLInputElement) field.value = value ?? "";
      }
      form.submit();
    } catch {
      say("failed");
    }
  });
}
