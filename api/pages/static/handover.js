// Takes the secret of a link out of the address, so that no history keeps it, and puts it into the form.
"use strict";

const secret = document.querySelector("input[name=secret]");
if (secret instanceof HTMLInputElement && location.hash.length > 1) {
  secret.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}
