// Beside the rules: a region named in the text is marked on the map while it has the pointer or the focus.
"use strict";

/** Mark the region of a link, or none. @param {EventTarget | null} target */
function mark(target) {
  for (const each of document.querySelectorAll(".place.lit")) each.classList.remove("lit");
  const link = target instanceof Element ? target.closest('.rules a[href^="#place-"]') : null;
  const id = link?.getAttribute("href")?.slice(1);
  if (id) document.getElementById(id)?.classList.add("lit");
}

document.addEventListener("pointerover", (event) => mark(event.target));
document.addEventListener("focusin", (event) => mark(event.target));
