// Passkeys: asks the browser for one, and sends its answer with the form. Nothing else of the pages needs a script.
"use strict";

const bytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));

const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

function read({ publicKey }) {
  const options = { ...publicKey, challenge: bytes(publicKey.challenge) };
  if (options.user) options.user = { ...options.user, id: bytes(options.user.id) };
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (options[name]) options[name] = options[name].map((known) => ({ ...known, id: bytes(known.id) }));
  }
  return { publicKey: options };
}

function written(credential) {
  const response = { clientDataJSON: text(credential.response.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = text(credential.response[name]);
  }
  return JSON.stringify({ id: credential.id, rawId: text(credential.rawId), type: credential.type, response });
}

async function answer(form, { get, create }) {
  const asked = read(JSON.parse(get || create));
  const credential = await (get ? navigator.credentials.get(asked) : navigator.credentials.create(asked));
  form.elements.passkey.value = written(credential);
}

for (const part of window.PublicKeyCredential ? document.querySelectorAll(".passkey") : []) {
  const form = part.closest("form");
  const button = part.matches("button") ? part : part.querySelector("button");
  part.hidden = false;
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    try {
      await answer(form, part.dataset);
      form.submit();
    } catch (error) {
      if (error.name !== "NotAllowedError" && error.name !== "AbortError") throw error;
    }
  });
}
