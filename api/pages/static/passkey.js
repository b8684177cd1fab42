// Passkeys: gets a credential from the browser and submits it with the form. Pages need no other script.
"use strict";

const bytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));

const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

function toOptions({ publicKey }) {
  const options = { ...publicKey, challenge: bytes(publicKey.challenge) };
  if (options.user) options.user = { ...options.user, id: bytes(options.user.id) };
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (options[name]) options[name] = options[name].map((item) => ({ ...item, id: bytes(item.id) }));
  }
  return { publicKey: options };
}

function toJson(credential) {
  const response = { clientDataJSON: text(credential.response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = text(credential.response[name]);
  }
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
}

async function fillIn(form, { get, create }) {
  const options = toOptions(JSON.parse(get || create));
  const credential = await (get ? navigator.credentials.get(options) : navigator.credentials.create(options));
  form.elements.passkey.value = toJson(credential);
}

for (const part of window.PublicKeyCredential ? document.querySelectorAll(".passkey") : []) {
  const form = part.closest("form");
  const button = part.matches("button") ? part : part.querySelector("button");
  part.hidden = false;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    try {
      await fillIn(form, part.dataset);
      form.submit();
    } catch (error) {
      if (error.name !== "NotAllowedError" && error.name !== "AbortError") throw error;
    }
  });
}
