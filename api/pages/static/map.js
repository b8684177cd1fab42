// Picks on the map, keys and zoom. Without it, an offered region is a link to its option in the list.
"use strict";

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** Share of the view that a step of the zoom leaves, and the closest zoom as a share of the whole. */
const STEP = 0.7;
const CLOSEST = 0.08;
/** Room around the anchor of a region that is shown, as a share of the whole width. */
const ROOM = 0.12;
/** Share of the whole map beyond which regions are far apart. */
const FAR = 0.6;
/** Width of a window below which a map opens on what is offered, pixels. */
const NARROW = 640;
/** Least size of a name when a map opens, pixels. */
const LEGIBLE = 10;
/** Distance that makes a press a drag, pixels. */
const DRAG = 6;
/** Time after which a press that stays in place asks about a region, ms. */
const LONG_PRESS = 550;
/** Time in which typed letters make one name, ms. */
const TYPING = 1000;
const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** Return true if a JSON value names a region. @param {unknown} value @param {string} region @returns {boolean} */
function names(value, region) {
  if (typeof value === "string") return value === region;
  return typeof value === "object" && value !== null && Object.values(value).some((each) => names(each, region));
}

class BoardMap {
  /** @param {SVGSVGElement} svg */
  constructor(svg) {
    this.svg = svg;
    this.whole = boxOf(svg);
    this.current = "";
    /** What the line tells while no region is pointed at. */
    this.hint = svg.dataset.hint;
    this.asked = "";
    this.news = "";
    this.isBegun = false;
    this.typed = { text: "", at: 0 };
    /** @type {Map<number, {x: number, y: number}>} */
    this.pointers = new Map();
    this.dragged = false;
    this.pressTimer = 0;
    this.store = `map:${svg.dataset.game}`;
    this.names = new MapNames(svg);
    svg.addEventListener("keydown", (event) => this.onKey(event));
    svg.addEventListener("click", (event) => this.onClick(event));
    svg.addEventListener("contextmenu", (event) => this.onMenu(event));
    svg.addEventListener("focusin", (event) => this.onFocus(event));
    svg.addEventListener("pointerover", (event) => placeOf(event.target) && this.tell(placeOf(event.target)));
    svg.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    svg.addEventListener("pointermove", (event) => this.onPointerMove(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => this.onPointerEnd(/** @type {PointerEvent} */ (event)));
    }
    svg.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    const zoom = svg.parentElement?.querySelector(".zoom");
    zoom?.removeAttribute("hidden");
    zoom?.addEventListener("click", (event) => this.onZoom(event));
    /** Piece -> where it is drawn. @type {Map<string, string>} */
    this.slots = new Map();
    this.settle();
    this.rove();
    this.begin();
  }

  /** @returns {SVGElement[]} */
  get places() {
    return [...this.svg.querySelectorAll("[data-region]")].map((each) => /** @type {SVGElement} */ (each));
  }

  /** Keep one tab stop; a narrow window shows what is offered now, unless the reader has chosen a view. */
  onUpdate() {
    this.settle();
    this.rove();
    this.svg.classList.toggle("closer", this.isCloser);
    this.names.ask();
    const isNew = question() !== this.asked || this.hasNews;
    const targets = this.isReplay ? this.listMarked() : this.places.some(isChosen) ? this.listAsked() : [];
    const place = placeOf(document.activeElement);
    if (place || isNew || this.hint !== this.svg.dataset.hint) this.tell(place); // the line told of what was here before
    if (isNew) this.begin();
    if (targets.length > 0 && !targets.some((each) => this.sees(each))) this.showOffers();
  }

  /** In a replay the map shows what has changed. */
  get isReplay() {
    return Boolean(this.svg.closest(".replayed"));
  }

  /** Return true if the anchor of a region is in the view. @param {SVGElement} place */
  sees(place) {
    const [x, y, view] = [Number(place.dataset.x), Number(place.dataset.y), boxOf(this.svg)];
    return x > view.x && x < view.x + view.width && y > view.y && y < view.y + view.height;
  }

  /** A piece that was here before stays in its place: one that has come changes places with it. */
  settle() {
    const before = this.slots;
    this.slots = new Map();
    for (const group of this.svg.querySelectorAll(".pieces > g")) {
      const pieces = [...group.querySelectorAll("use")];
      const nameOf = (/** @type {Element} */ piece) => ["href", "class"].map((each) => piece.getAttribute(each)).join();
      for (const piece of pieces) {
        const was = before.get(`${group.getAttribute("data-key")} ${nameOf(piece)}`);
        const other = pieces.find((each) => slotOf(each) === was);
        if (!was || other === piece || nameOf(piece).includes("#more")) continue;
        const now = slotOf(piece);
        moveTo(piece, was);
        if (other) moveTo(other, now);
      }
      for (const piece of pieces) this.slots.set(`${group.getAttribute("data-key")} ${nameOf(piece)}`, slotOf(piece));
    }
  }

  // --- keys --------------------------------------------------------------------------------------------------------

  /** Make the map one tab stop: the current region, else the first that is offered. */
  rove() {
    const places = this.places;
    const found = places.find((each) => each.dataset.region === this.current);
    const current = found || places.find((each) => isOffered(each)) || places[0];
    for (const each of places) each.setAttribute("tabindex", each === current ? "0" : "-1");
    const toOffers = this.svg.parentElement?.querySelector('[data-zoom="offers"]');
    toOffers?.toggleAttribute("hidden", !places.some(isOffered));
  }

  /** @param {Event} event */
  onFocus(event) {
    const place = placeOf(event.target);
    if (!place) return;
    this.current = place.dataset.region || "";
    this.rove();
    this.show(place);
    this.tell(place);
    const about = document.querySelector("a[data-about]");
    about?.setAttribute("href", `${about.getAttribute("href")?.split("#")[0]}#about-${this.current}`);
  }

  /** Write out a region below the map, or what to do with one. @param {SVGElement | null} place */
  tell(place) {
    this.hint = this.svg.dataset.hint;
    const line = this.svg.parentElement?.querySelector(".where");
    if (line) line.textContent = (place ? place.getAttribute("aria-label") : this.svg.dataset.hint) || "";
    const about = this.svg.parentElement?.querySelector('[data-zoom="about"]');
    about?.toggleAttribute("hidden", !this.current || !document.getElementById("main")?.dataset.page);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const place = placeOf(event.target);
    if (!place || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = this.goal(event, place);
    if (next) next.focus();
    else if (event.key === "Enter" || event.key === " ") this.pick(place);
    else if (event.key === "?") tellAbout(this.svg, place);
    else if (event.key === "Escape") button("button[name=back]")?.click();
    else if (event.key === "+" || event.key === "-") {
      this.zoom(event.key === "+" ? STEP : 1 / STEP);
      this.keep();
    } else return;
    event.preventDefault();
  }

  /** Return the region to which a key leads. @param {KeyboardEvent} event @param {SVGElement} from */
  goal(event, from) {
    const places = this.places;
    if (event.key === "Home") return places[0];
    if (event.key === "End") return places.at(-1);
    const direction = ARROWS[event.key];
    if (direction) return nearest(places, from, direction);
    const fresh = event.timeStamp - this.typed.at > TYPING || !this.typed.text;
    const isPart = event.key === " " ? !fresh : event.key.length === 1 && /[\p{L}\p{N}]/u.test(event.key);
    if (!isPart) return undefined;
    this.typed = { text: (fresh ? "" : this.typed.text) + plain(event.key), at: event.timeStamp };
    const after = [...places.slice(places.indexOf(from) + (fresh ? 1 : 0)), ...places];
    return after.find((each) => plain(each.getAttribute("aria-label") || "").startsWith(this.typed.text));
  }

  // --- picks -------------------------------------------------------------------------------------------------------

  /** @param {Event} event */
  onClick(event) {
    const place = placeOf(event.target);
    if (!place) return;
    event.preventDefault();
    if (this.dragged) return;
    place.focus();
    this.pick(place);
  }

  /**
   * Give the only answer that names a region, list what begins there, ask why it is no answer, or tell about it.
   * @param {SVGElement} place
   */
  pick(place) {
    const region = place.dataset.region || "";
    const options = optionsOf(region);
    const [first] = options;
    const isHeld = place.hasAttribute("data-held");
    const isAlone = first && options.length === 1 && (!isHeld || isUnfolded(first));
    if (first && (isAlone || first.value === JSON.stringify(region) || first instanceof HTMLInputElement)) first.click();
    else if (first || isChosen(place)) startAt(region);
    else if (isHeld && !this.places.some((each) => isOffered(each) && !each.hasAttribute("data-held"))) startAt(region);
    else if (place.hasAttribute("data-why")) askWhy(region);
    else if (isHeld) startAt(region);
  }

  // --- zoom --------------------------------------------------------------------------------------------------------

  /** Show what was shown before, unless what is asked or has happened is outside; else begin with it, or with a part whose names can be read. */
  begin() {
    const isFirst = !this.isBegun;
    this.isBegun = true;
    this.asked = question();
    const stored = read(this.store);
    if (stored && isFirst) this.setView(stored);
    if (!this.svg.closest(".paired, .replayed")) return stored ? undefined : this.setView(this.whole); // nothing is asked
    const isNews = this.hasNews;
    if (isNews) this.news = this.tellNews();
    if (this.isReplay && stored && (!this.listMarked().length || this.listMarked().some((each) => this.sees(each)))) return;
    const widest = this.legibleWidth();
    if (!stored && window.innerWidth >= NARROW && widest >= this.whole.width) return;
    const isLesson = this.places.some((each) => each.hasAttribute("data-pointed"));
    if (!this.isReplay && !isLesson && (stored || !isFirst)) return this.follow(isNews, Boolean(stored));
    if (stored && isLesson) return;
    if (isNews && !this.isReplay && !isLesson && this.listMarked().length) this.follow(true, false);
    else this.showOffers();
    this.fitNames(widest);
  }

  /** Return true if another decision has come, or other regions are marked. */
  get hasNews() {
    const [news, isMarked] = [this.tellNews(), this.listMarked().length > 0];
    return isMarked || this.listAsked().length ? (isMarked ? news !== this.news : news.split(" ")[0] !== this.news.split(" ")[0]) : false;
  }

  /** Return the decision, and the regions that the map marks. */
  tellNews() {
    const decision = document.querySelector(".decide input[name=decision]")?.getAttribute("value");
    return [decision, ...this.listMarked().map((each) => each.dataset.region)].join(" ");
  }

  /** Stay, unless what is asked or has just happened is outside, or far smaller than what is shown. @param {boolean} isNews @param {boolean} isKept */
  follow(isNews, isKept) {
    const asked = this.listAsked();
    const near = isFar(asked, this.whole) ? [] : asked;
    const marked = isNews ? this.listMarked() : [];
    const isWide = near.length > 0 && isFar(marked, this.whole) && !this.svg.querySelector("use.fought"); // changes everywhere tell little
    const wanted = [...new Set([...(isWide ? [] : marked), ...near])];
    if (!wanted.length) {
      if (asked.length && !asked.some((each) => this.sees(each))) this.frame(asked);
      return;
    }
    const isSeen = wanted.every((each) => this.sees(each));
    const isTight = this.frameOf(wanted).width > boxOf(this.svg).width * FAR;
    if (isSeen && (isKept || !isNews || isTight)) return;
    if (isKept) sessionStorage.removeItem(this.store);
    if (isFar(wanted, this.whole)) this.setView(this.whole);
    else this.frame(wanted);
  }

  /** Show a part whose names can be read, unless all that is shown must stay in sight; in a wide window no smaller one. @param {number} widest */
  fitNames(widest) {
    const view = boxOf(this.svg);
    if (view.width <= widest) {
      if (window.innerWidth >= NARROW) this.zoom(widest / view.width);
      return;
    }
    // what a question is about is always in sight
    if (question() || this.places.some((each) => isOffered(each) || each.hasAttribute("data-pointed"))) return;
    const held = this.places.filter((each) => each.hasAttribute("data-held"));
    const mean = (/** @type {"x" | "y"} */ name) => held.reduce((sum, each) => sum + Number(each.dataset[name]), 0) / held.length;
    const [x, y] = held.length ? [mean("x"), mean("y")] : [view.x + view.width / 2, view.y + view.height / 2];
    const off = (/** @type {SVGElement} */ each) => Math.hypot(Number(each.dataset.x) - x, Number(each.dataset.y) - y);
    const [place] = this.listShown().sort((a, b) => off(a) - off(b));
    const height = (view.height * widest) / view.width;
    if (place) this.setView({ x: Number(place.dataset.x) - widest / 2, y: Number(place.dataset.y) - height / 2, width: widest, height });
  }

  /** Return the width of the widest view whose names can be read. */
  legibleWidth() {
    const { width, height } = this.svg.getBoundingClientRect();
    const scale = Math.min(width / this.whole.width, height / this.whole.height);
    return Math.min(this.whole.width, (this.whole.width * scale * Number(this.svg.dataset.least)) / LEGIBLE);
  }

  /** @param {Event} event */
  onZoom(event) {
    const kind = event.target instanceof Element ? event.target.closest("[data-zoom]")?.getAttribute("data-zoom") : undefined;
    if (kind === "in") this.zoom(STEP);
    if (kind === "out") this.zoom(1 / STEP);
    if (kind === "all") this.setView(this.whole);
    if (kind === "offers") this.showOffers();
    const current = this.places.find((each) => each.dataset.region === this.current);
    if (kind === "about" && current) return tellAbout(this.svg, current);
    this.keep();
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85, this.pointAt(event.clientX, event.clientY));
    this.keep();
  }

  /** @param {PointerEvent} event */
  onPointerDown(event) {
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.dragged = false;
    clearTimeout(this.pressTimer);
    const place = placeOf(event.target);
    if (place && event.pointerType !== "mouse" && this.pointers.size === 1) this.pressTimer = setTimeout(() => this.onLongPress(place), LONG_PRESS);
  }

  /** @param {PointerEvent} event */
  onPointerEnd(event) {
    this.pointers.delete(event.pointerId);
    clearTimeout(this.pressTimer);
  }

  /** A press that stays, the right button and the key for menus tell about a region. @param {SVGElement} place */
  onLongPress(place) {
    this.dragged = true; // no click follows
    tellAbout(this.svg, place);
  }

  /** @param {Event} event */
  onMenu(event) {
    const place = placeOf(event.target);
    if (!place || !document.getElementById("main")?.dataset.page) return;
    event.preventDefault();
    clearTimeout(this.pressTimer);
    this.onLongPress(place);
  }

  /** @param {PointerEvent} event */
  onPointerMove(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    const now = { x: event.clientX, y: event.clientY };
    const [other] = [...this.pointers].flatMap(([id, at]) => (id === event.pointerId ? [] : [at]));
    if (!this.dragged && Math.hypot(now.x - last.x, now.y - last.y) < DRAG) return;
    clearTimeout(this.pressTimer);
    if (other) {
      const factor = Math.hypot(last.x - other.x, last.y - other.y) / Math.max(1, Math.hypot(now.x - other.x, now.y - other.y));
      this.zoom(factor, this.pointAt((now.x + other.x) / 2, (now.y + other.y) / 2));
    } else if (this.isCloser) {
      const [from, to] = [this.pointAt(last.x, last.y), this.pointAt(now.x, now.y)];
      const view = boxOf(this.svg);
      this.setView({ ...view, x: view.x + from.x - to.x, y: view.y + from.y - to.y });
    } else return;
    this.keep();
    this.dragged = true;
    this.pointers.set(event.pointerId, now);
  }

  get isCloser() {
    return boxOf(this.svg).width < this.whole.width;
  }

  /** Return the point of the map under a point of the window. @param {number} x @param {number} y */
  pointAt(x, y) {
    const at = new DOMPoint(x, y).matrixTransform(this.svg.getScreenCTM()?.inverse());
    return { x: at.x, y: at.y };
  }

  /** Show a part by `factor` as wide, and keep a point where it is. @param {number} factor @param {{x: number, y: number}} [at] */
  zoom(factor, at) {
    const view = boxOf(this.svg);
    const width = Math.min(Math.max(view.width * factor, this.whole.width * CLOSEST), this.whole.width);
    const scale = width / view.width;
    const point = at || { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    const [x, y] = [point.x - (point.x - view.x) * scale, point.y - (point.y - view.y) * scale];
    this.setView({ x, y, width, height: view.height * scale });
  }

  /** Show what the question is about. */
  showOffers() {
    this.frame(this.listShown());
  }

  /** Return what a lesson speaks of, else what the question is about; without a question what has changed, what the visitor holds; else all. */
  listShown() {
    const pointed = this.places.filter((each) => each.hasAttribute("data-pointed"));
    const held = this.places.filter((each) => each.hasAttribute("data-held"));
    const rest = question() ? [] : [this.listMarked(), held];
    return [pointed, this.listAsked(), ...rest, this.places].find((each) => each.length) || [];
  }

  /** Return what is offered, with what is chosen; else what the question or its answers name. */
  listAsked() {
    if (this.places.some(isOffered)) return this.places.filter((each) => isOffered(each) || isChosen(each));
    return this.places.filter((each) => each.hasAttribute("data-named"));
  }

  /** Return the regions that have changed, battles among them; those of battles alone if all are far apart. */
  listMarked() {
    const find = (/** @type {string} */ sign) => {
      const marks = [...this.svg.querySelectorAll(sign)].map((each) => each.getAttribute("href")?.split("#r-")[1]);
      return this.places.filter((each) => marks.includes(each.dataset.region));
    };
    const [fought, changed] = [find("use.fought"), find("use.changed")];
    return fought.length && isFar(changed, this.whole) ? fought : changed;
  }

  /** Show some regions, with room around them. @param {SVGElement[]} places */
  frame(places) {
    this.setView(this.frameOf(places));
  }

  /** Return the part of the map with some regions, and with room around them. @param {SVGElement[]} places @returns {Box} */
  frameOf(places) {
    // The drawing may not be here yet, so the anchors of the regions count, with room for a region around them.
    const room = this.whole.width * ROOM;
    const xs = places.map((each) => Number(each.dataset.x));
    const ys = places.map((each) => Number(each.dataset.y));
    const [left, right] = [Math.min(...xs) - room, Math.max(...xs) + room];
    const ratio = this.whole.height / this.whole.width;
    const [top, bottom] = [Math.min(...ys) - room * ratio, Math.max(...ys) + room * ratio];
    const width = Math.min(Math.max(right - left, (bottom - top) / ratio), this.whole.width);
    const height = width * ratio;
    return { x: (left + right - width) / 2, y: (top + bottom - height) / 2, width, height };
  }

  /** Move the view so far that a region is seen. @param {SVGElement} place */
  show(place) {
    const [x, y, view] = [Number(place.dataset.x), Number(place.dataset.y), boxOf(this.svg)];
    const margin = view.width * 0.08;
    const left = Math.min(Math.max(view.x, x + margin - view.width), x - margin);
    const top = Math.min(Math.max(view.y, y + margin - view.height), y - margin);
    if (this.isCloser) this.setView({ ...view, x: left, y: top });
  }

  /** Remember the reader's own view for the next page of this table. */
  keep() {
    sessionStorage.setItem(this.store, this.svg.getAttribute("viewBox") || "");
  }

  /** Show a part of the map. @param {Box} view */
  setView(view) {
    const { whole } = this;
    const x = Math.min(Math.max(view.x, whole.x), whole.x + whole.width - view.width);
    const y = Math.min(Math.max(view.y, whole.y), whole.y + whole.height - view.height);
    const text = [x, y, view.width, view.height].map((each) => Math.round(each)).join(" ");
    this.svg.setAttribute("viewBox", text);
    this.svg.classList.toggle("closer", view.width < whole.width);
    this.names.ask();
  }
}

/** Return true if regions lie so far apart that only the whole map shows them. @param {SVGElement[]} places @param {Box} whole */
function isFar(places, whole) {
  const spread = (/** @type {"x" | "y"} */ name) => {
    const at = places.map((each) => Number(each.dataset[name]));
    return Math.max(...at) - Math.min(...at);
  };
  return places.length > 1 && (spread("x") > FAR * whole.width || spread("y") > FAR * whole.height);
}

/** Return where a piece is drawn. @param {Element} piece */
const slotOf = (piece) => piece.getAttribute("transform") || "";

/** Draw a piece and its text in another place: its middle, and its radius in tens. @param {Element} piece @param {string} slot */
function moveTo(piece, slot) {
  const [x = 0, y = 0, tens = 1] = (slot.match(/-?[\d.]+/g) || []).map(Number);
  piece.setAttribute("transform", slot);
  const text = piece.nextElementSibling;
  if (text?.tagName !== "text") return;
  const size = 10 * tens * ((text.textContent || "").length < 3 ? 1 : 0.8);
  const values = { x, y: y + Math.round(3.6 * tens), "font-size": Math.round(size) };
  for (const [name, value] of Object.entries(values)) text.setAttribute(name, String(value));
}

/** @param {SVGSVGElement} svg @returns {Box} */
function boxOf(svg) {
  const { x, y, width, height } = svg.viewBox.baseVal;
  return { x, y, width, height };
}

/** Return a remembered view. @param {string} name @returns {Box | null} */
function read(name) {
  const [x = 0, y = 0, width = 0, height = 0] = (sessionStorage.getItem(name) || "").split(" ").map(Number);
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** @param {EventTarget | null} target */
function placeOf(target) {
  if (!(target instanceof Element)) return null;
  const named = target.closest("[data-name-of]")?.getAttribute("data-name-of");
  const found = named ? document.querySelector(`svg.board [data-region="${named}"]`) : target.closest("[data-region]");
  return /** @type {SVGElement | null} */ (found);
}

/** Return the question that is asked, by its decision and the answers so far, or an empty text. */
function question() {
  const parts = ["decision", "picks"].map((name) => document.querySelector(`.decide input[name=${name}]`)?.getAttribute("value"));
  return parts.join(" ").trim();
}

/** Return true if an option names this region. @param {Element} place */
const isOffered = (place) => place.hasAttribute("href") && !place.hasAttribute("data-why");

/** Return true if the question is about moves from this region. @param {Element} place */
const isChosen = (place) => place.classList.contains("selected");

/** Ask what begins at a region. Without a question of options, nothing does. @param {string} region */
function startAt(region) {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector(".decide form.options"));
  if (!form || button("[name=some]:checked")) return;
  const start = Object.assign(document.createElement("button"), { name: "start", value: region, hidden: true, formNoValidate: true });
  form.append(start);
  form.requestSubmit(start);
  start.remove();
}

/** Show all that is known of a region over the table. @param {SVGSVGElement} svg @param {Element} place */
async function tellAbout(svg, place) {
  const at = document.getElementById("main")?.dataset.page?.split("?") ?? [];
  const card = dialog();
  if (card.open || !at[0]) return;
  await fillCard(card, `${at[0]}/regions/${place.getAttribute("data-region")}${at[1] ? `?${at[1]}` : ""}`);
  if (!card.open) card.showModal();
}

/** Return the dialog for cards: links to neighbours stay in it, and a note is kept without leaving. */
function dialog() {
  const found = /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog.about-region"));
  if (found) return found;
  const card = Object.assign(document.createElement("dialog"), { className: "about-region" });
  card.addEventListener("click", (event) => {
    const on = /** @type {Element} */ (event.target);
    const link = on.closest("a[data-card]");
    if (link) fillCard(card, link.getAttribute("href") || "");
    if (link) event.preventDefault();
    if (on === card || on.closest(".close")) card.close(); // the ground behind it
  });
  card.addEventListener("submit", async (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    event.preventDefault();
    const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
    if (answer?.ok) card.close();
  });
  document.body.append(card);
  return card;
}

/** @param {HTMLDialogElement} card @param {string} address */
async function fillCard(card, address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok ? parse(await answer.text()) : null;
  const told = page?.querySelector(".region-card");
  if (!page || !told) return;
  const title = Object.assign(document.createElement("h2"), { textContent: told.getAttribute("aria-label"), tabIndex: -1, autofocus: true });
  const close = Object.assign(document.createElement("button"), { className: "close quiet", type: "button", textContent: told.getAttribute("data-close") });
  card.setAttribute("aria-label", told.getAttribute("aria-label") || "");
  card.replaceChildren(title, document.adoptNode(told), close);
  card.scrollTop = 0;
}

/** Ask why a region is no option. Answers that are not sent yet would be lost, so then the reader asks. @param {string} region */
function askWhy(region) {
  const select = chooseWhy((value) => JSON.parse(value)[1] === region);
  if (!select) return;
  if (button("[name=some]:checked")) select.focus();
  else select.form?.requestSubmit();
}

/** Choose a missing value in the list, and open it. @param {(value: string) => boolean} isWanted */
function chooseWhy(isWanted) {
  const select = /** @type {HTMLSelectElement | null} */ (document.querySelector(".why select"));
  const found = [...(select?.options || [])].find((each) => isWanted(each.value));
  if (!select || !found) return null;
  found.selected = true;
  select.closest("details")?.setAttribute("open", "");
  return select;
}

/** A button on the board asks at once, unless answers would be lost. @param {Event} event */
function onAsk(event) {
  const asked = event.target instanceof Element ? event.target.closest("button[name=thing]") : null;
  if (!(asked instanceof HTMLButtonElement) || !button("[name=some]:checked")) return;
  event.preventDefault();
  chooseWhy((value) => value === asked.value)?.focus();
}

/** @param {string} selector */
function button(selector) {
  return /** @type {HTMLElement | null} */ (document.querySelector(`.decide ${selector}`));
}

/** Return the options of the open question that name a region; those that name it alone, if there are any. @param {string} region */
function optionsOf(region) {
  const all = [...document.querySelectorAll(".decide [name=pick], .decide [name=path], .decide [name=some]")].map(
    (each) => /** @type {HTMLButtonElement | HTMLInputElement} */ (each),
  );
  const alone = all.filter((each) => each.value === JSON.stringify(region));
  const found = alone.length ? alone : all.filter((each) => names(JSON.parse(each.value), region));
  const unfolded = found.filter(isUnfolded);
  return unfolded.length ? unfolded : found;
}

/** Return true if an option is in the fold that a player has opened: that kind is chosen. A wide window shows all folds. @param {Element} option */
function isUnfolded(option) {
  return window.innerWidth < NARROW && Boolean(option.closest(".folds > [open]"));
}

/** Return a text without capitals, accents and signs: nobody has to type an apostrophe. @param {string} text */
function plain(text) {
  return text.normalize("NFD").replace(/[^\p{L}\p{N} ]/gu, "").toLowerCase();
}

/** Return the nearest region in a direction. @param {SVGElement[]} places @param {SVGElement} from @param {[number, number]} to */
function nearest(places, from, [dx, dy]) {
  const [x, y] = [Number(from.dataset.x), Number(from.dataset.y)];
  let [best, least] = [from, Infinity];
  for (const each of places) {
    const [ex, ey] = [Number(each.dataset.x) - x, Number(each.dataset.y) - y];
    const [along, aside] = [ex * dx + ey * dy, Math.abs(ex * dy) + Math.abs(ey * dx)];
    const cost = along + 2 * aside;
    if (along > 0 && aside <= 2 * along && cost < least) [best, least] = [each, cost];
  }
  return best;
}

/** Show the region of a link, or all that has changed, on the map of this page, in place of another page. @param {MouseEvent} event */
function onShow(event) {
  const link = event.target instanceof Element ? event.target.closest("a[data-show], a[data-changes]") : null;
  if (!link || !shown || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const region = link.getAttribute("data-show");
  const places = region ? shown.places.filter((each) => each.dataset.region === region) : shown.listMarked();
  if (!places[0]) return;
  event.preventDefault();
  for (const each of shown.places) each.classList.toggle("lit", places.includes(each));
  shown.frame(places);
  shown.tell(places.length === 1 ? places[0] : null);
  shown.svg.scrollIntoView({ block: "nearest" });
}

/** @type {BoardMap | null} */
let shown = null;

/** Follow the map of the page: an update may bring another one. */
function follow() {
  const svg = /** @type {SVGSVGElement | null} */ (document.querySelector("svg.board"));
  if (svg && svg === shown?.svg) shown.onUpdate();
  else shown = svg && new BoardMap(svg);
}

document.addEventListener("annals:updated", follow);
document.addEventListener("click", onAsk);
document.addEventListener("click", onShow);
follow();
