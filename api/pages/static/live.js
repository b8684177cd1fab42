// Follows the stream of a table, or of a list, and fetches the page anew when it changes. Without it, the page works the same.
"use strict";

/** @typedef {{version: number, votes: string}} Change */

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
/** State of an `EventSource` that does not open again. */
const CLOSED = 2;
/** Longest time that a timer has, ms. */
const LONGEST_WAIT = 2 ** 31 - 1;
/** Shortest and longest time between two fetches: the page asks less often while changes come fast, ms. */
const FETCH_PAUSES = { least: 300, most: 2400 };
/** Shortest time between two spoken sentences, ms. */
const SPEECH_PAUSE = 2000;
/** Time in which a question that has changed takes no answer: the finger was on its way to another one, ms. */
const HOLD = 400;
/** Time after which a fault is told: most pass unseen, ms. */
const FAULT_PATIENCE = 1500;
/** Time without any sign of life after which a stream counts as dead, ms. The service gives one every five seconds. */
const SILENCE = 15_000;
/** Time in which a stream that follows a dead one must open: the browser may have taken another dead connection, ms. */
const OPENING = 3000;

/** Height of a question that must be in the window, pixels: with less, the way back to it is shown. */
const LEAST_SEEN = 120;

/** Height of the handle above the question, with a margin, in pixels. */
const HANDLE = 30;

/** The policy of this service's own pages: they come from its own address. */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("annals", {
  createHTML: (/** @type {string} */ text) => text,
});

/** @param {string} html @returns {Document} */
const parse = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");

/** Return the time until the service wants to be asked again, ms: `Retry-After` in seconds or as a date; 0 without it. @param {Response} answer */
const waitOf = (answer) => {
  const wanted = answer.headers.get("Retry-After") || "";
  const wait = /^\d+$/.test(wanted) ? Number(wanted) * 1000 : Date.parse(wanted) - Date.now();
  return Math.min(Math.max(wait || 0, 0), LONGEST_WAIT);
};

/** Forms with answers that are not sent yet, and details that the reader has opened or closed. */
const touched = new WeakSet();

/** Questions that have just changed, with the time until which they take no answer, ms. @type {WeakMap<Element, number>} */
const held = new WeakMap();

// --- the page ------------------------------------------------------------------------------------------------------

/** Return the name that pairs an element with its successor. @param {Element} node */
const keyOf = (node) => node.id || node.getAttribute("data-key") || "";

/** Return the decision to which a section's forms answer. @param {Element} section */
const decisionOf = (section) => section.querySelector("input[name=decision]")?.getAttribute("value") || "";

/** Return true if the reader has begun to answer here. @param {Element} section */
const isBegun = (section) =>
  section.hasAttribute("data-begun") || [...section.querySelectorAll("form")].some((form) => touched.has(form));

/** Return true if this part stays as it is. @param {Element} old @param {Element} next */
function keeps(old, next) {
  if (old.matches("[data-own]")) return true;
  if (old.matches(".decide"))
    return decisionOf(old) === decisionOf(next) && (isBegun(old) || old.textContent === next.textContent);
  return old.matches("form:not(.slider)") && !old.closest(".decide") && (touched.has(old) || old.contains(document.activeElement));
}

/** Let a question take no answer for a moment. @param {Element} section */
function hold(section) {
  const until = Date.now() + HOLD;
  held.set(section, until);
  section.classList.add("held");
  setTimeout(() => (held.get(section) ?? 0) <= Date.now() && section.classList.remove("held"), HOLD);
}

/** Make `old` equal to `next`, and keep the nodes that both have: focus and scroll stay. @param {Element} old @param {Element} next */
function update(old, next) {
  if (old.isEqualNode(next) || keeps(old, next)) return;
  const stays = (/** @type {string} */ name) => (name === "open" && touched.has(old)) || name === old.getAttribute("data-keep");
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && !stays(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !stays(name)) old.setAttribute(name, value);
  }
  /** @type {Map<string, Element>} */
  const byKey = new Map();
  for (const node of old.children) if (keyOf(node)) byKey.set(keyOf(node), node);
  const wantedKeys = new Set([...next.children].map(keyOf));
  for (const [key, node] of byKey) if (!wantedKeys.has(key)) node.remove(); // what stays need not be moved around it
  let place = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const found = partner(place, wanted, byKey);
    if (found === null) {
      old.insertBefore(document.adoptNode(wanted), place);
      continue;
    }
    while (place && place !== found && !(place instanceof Element && byKey.get(keyOf(place)) === place)) {
      const gone = place;
      place = place.nextSibling;
      gone.remove();
    }
    if (place !== found) old.insertBefore(found, place);
    if (found instanceof Element && wanted instanceof Element) update(found, wanted);
    else if (found.nodeValue !== wanted.nodeValue) found.nodeValue = wanted.nodeValue;
    byKey.delete(found instanceof Element ? keyOf(found) : "");
    place = found.nextSibling;
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    gone.remove();
  }
}

/**
 * Return the node that becomes `wanted`, or null for a new one.
 * @param {ChildNode | null} place @param {ChildNode} wanted @param {Map<string, Element>} byKey
 * @returns {ChildNode | null}
 */
function partner(place, wanted, byKey) {
  if (!(wanted instanceof Element)) return place?.nodeType === wanted.nodeType ? place : null;
  if (keyOf(wanted)) {
    const found = byKey.get(keyOf(wanted));
    return found?.tagName === wanted.tagName ? found : null;
  }
  for (let node = place; node; node = node.nextSibling) {
    if (node instanceof Element) return node.tagName === wanted.tagName && !keyOf(node) ? node : null;
  }
  return null;
}

/** Change the page, and keep in its place what the reader looks at. @param {Element} main @param {() => void} change */
function holdPlace(main, change) {
  const { activeElement: focus } = document;
  const seen = focus && focus !== main && main.contains(focus) ? focus : document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  const before = seen?.getBoundingClientRect().top;
  change();
  // a node that has been moved has lost the focus
  if (focus instanceof HTMLElement && focus.isConnected && document.activeElement !== focus) focus.focus({ preventScroll: true });
  if (scrollY > 0 && seen?.isConnected && before !== undefined)
    scrollBy({ top: seen.getBoundingClientRect().top - before, behavior: "instant" });
}

/** Give the focus to the question, or to what is told about it, and bring it into the window with its map. @param {Element} section */
function focusOn(section) {
  const place = /** @type {HTMLElement} */ (section.querySelector("[autofocus]") ?? section.querySelector("[data-ask]") ?? section);
  place.focus({ preventScroll: true });
  const { top, bottom } = (section.closest(".paired") ?? place).getBoundingClientRect();
  scrollBy({ top: Math.min(top, 0) || Math.max(bottom - innerHeight, 0), behavior: "instant" });
  place.scrollIntoView({ block: "nearest", behavior: "instant" }); // within the tray
}

// --- what is said --------------------------------------------------------------------------------------------------

/** Speaks whole sentences, the last one at the latest after a pause. */
class Voice {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.next = "";
    this.free = 0;
  }

  /** @param {string} sentence */
  say(sentence) {
    if (!sentence || sentence === this.place.textContent) return;
    const wait = this.next ? -1 : Math.max(this.free - Date.now(), 0);
    this.next = sentence;
    if (wait >= 0) setTimeout(() => this.speak(), wait);
  }

  speak() {
    this.place.textContent = this.next;
    this.next = "";
    this.free = Date.now() + SPEECH_PAUSE;
  }
}

// --- following -----------------------------------------------------------------------------------------------------

/** Follows one table while its tab is seen. */
class Follower {
  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    this.state = /** @type {HTMLElement} */ (document.getElementById("live-state"));
    this.voice = new Voice(/** @type {HTMLElement} */ (document.getElementById("live-news")));
    /** @type {EventSource | null} */
    this.source = null;
    this.pause = FIRST_PAUSE;
    this.timer = 0;
    /** Time before which the service wants no further request. */
    this.closedUntil = 0;
    this.isOver = false;
    /** @type {Change | null} */
    this.told = null;
    /** @type {string | null} The votes of the page as it is shown. */
    this.votes = null;
    this.isFetching = false;
    this.fetchPause = FETCH_PAUSES.least;
    this.fetched = 0;
    this.faultTimer = 0;
    this.silenceTimer = 0;
    this.shown = "";
    /** Number of the answers given on this page. */
    this.answers = 0;
    this.isAnswering = false;
    /** True after an answer, until the reader goes elsewhere: the next question gets the focus. */
    this.isWaiting = false;
  }

  get version() {
    return Number(this.main.dataset.version);
  }

  open() {
    clearTimeout(this.timer);
    if (!this.main.dataset.live || this.source || this.isOver || document.hidden) return;
    const wait = this.closedUntil - Date.now();
    if (wait > 0) {
      this.timer = setTimeout(() => this.open(), wait);
      return;
    }
    const source = new EventSource(this.main.dataset.live || "");
    this.source = source;
    source.addEventListener("open", () => this.watch());
    source.addEventListener("alive", () => this.watch());
    source.addEventListener("change", (event) => this.hear(JSON.parse(event.data)));
    source.addEventListener("talk", (event) => document.dispatchEvent(new CustomEvent("annals-talk", { detail: JSON.parse(event.data) })));
    source.addEventListener("end", () => this.end("over"));
    source.addEventListener("bye", () => this.reopen());
    source.addEventListener("error", () => this.lose(source));
  }

  /** Wait for the next sign of life; without one, the stream is dead, though nothing has ended it. */
  watch(time = SILENCE) {
    clearTimeout(this.silenceTimer);
    if (this.source) this.silenceTimer = setTimeout(() => this.renew(), time);
  }

  renew() {
    this.show("silent");
    this.close();
    this.open();
    this.watch(OPENING);
  }

  /** Open the stream anew, after the time that a refusal names: only another request can read it. @param {EventSource} source */
  async lose(source) {
    if (source !== this.source) return;
    this.reopen();
    const guard = new AbortController();
    const answer = await fetch(this.main.dataset.live || "", { cache: "no-store", signal: guard.signal }).catch(() => null);
    if (answer) document.documentElement.classList.remove("lost");
    else this.loseTouch();
    if (answer && !answer.ok) this.closedUntil = Date.now() + waitOf(answer);
    guard.abort();
  }

  close() {
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
    clearTimeout(this.silenceTimer);
  }

  /** The service cannot be reached: buttons rest until it can. */
  loseTouch() {
    if (this.isOver || !this.main.dataset.live) return;
    this.show("offline");
    document.documentElement.classList.add("lost");
  }

  /** Follow no more. @param {"over" | "ended"} state */
  end(state) {
    this.isOver = true;
    this.close();
    this.show(state);
    return true;
  }

  /** Open the stream anew: a browser does not after an answer that is no 200. */
  reopen() {
    this.close();
    if (this.isOver || document.hidden) return;
    this.show("offline");
    this.timer = setTimeout(() => this.open(), this.pause * (0.75 + Math.random() / 2));
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  /** @param {Change} change */
  hear(change) {
    this.watch();
    this.pause = FIRST_PAUSE;
    document.documentElement.classList.remove("lost");
    this.told = change;
    this.votes ??= this.version ? change.votes : ""; // a list has no version: it may have changed meanwhile
    this.check();
  }

  check() {
    const { told } = this;
    if (!told) return;
    if (told.version > this.version || told.votes !== this.votes || isCopy()) this.fetch(told);
    else if (!this.isOver) this.show("connected");
  }

  /** Fetch the page, and then once more if the table has changed meanwhile. @param {Change} told */
  async fetch(told) {
    if (this.isFetching || this.shown === "ended") return; // after the end of a game, its last page is still fetched
    this.isFetching = true;
    if (!this.isOver) this.show("behind");
    const isCalm = Date.now() - this.fetched > 2 * FETCH_PAUSES.most;
    this.fetchPause = isCalm ? FETCH_PAUSES.least : Math.min(this.fetchPause * 2, FETCH_PAUSES.most);
    const isNew = await this.replace(told).catch(() => false);
    this.fetched = Date.now();
    await new Promise((done) => setTimeout(done, this.fetchPause));
    this.isFetching = false;
    if (isNew) this.check();
    else this.reopen();
  }

  /** Send a form, and show what comes of it: no new page, and the reader stays in place. @param {HTMLFormElement} form @param {HTMLElement | null} button */
  async answer(form, button) {
    this.isAnswering = true;
    this.answers++;
    this.main.setAttribute("aria-busy", "true");
    const body = new URLSearchParams(/** @type {any} */ (new FormData(form, button)));
    const signal = AbortSignal.timeout(2 * SILENCE);
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" }, signal }).catch(() => null);
    const text = await answer?.text().catch(() => null);
    const page = text ? parse(text) : null;
    const next = page?.getElementById("main");
    this.isAnswering = false;
    if ((!answer || !page) && !this.main.dataset.live) sendPlainly(form, button); // nothing tells when the connection is back
    else if (!answer || !page) {
      this.tell(this.main.dataset.unsent);
      this.loseTouch();
      this.reopen();
    } else if (!next || !next.dataset.page) sendPlainly(form, button); // a problem, or a login: a page of its own
    else if (next.dataset.page.split("?")[0] !== this.main.dataset.page?.split("?")[0]) location.assign(answer.url);
    else this.showAnswer(page, next);
    this.main.removeAttribute("aria-busy");
  }

  /** @param {Document} page @param {HTMLElement} next */
  showAnswer(page, next) {
    for (const old of this.main.querySelectorAll(".decide")) old.remove(); // it is answered
    for (const form of this.main.querySelectorAll(".stage form")) touched.delete(form);
    const place = document.activeElement?.closest("[data-region]");
    const told = page.getElementById("moved-on");
    document.getElementById("moved-on")?.replaceChildren(...(told?.childNodes ?? []));
    update(this.main, next);
    document.dispatchEvent(new Event("annals:updated"));
    document.title = page.title;
    const asks = this.main.querySelector(".decide");
    if (asks) hold(asks);
    const tray = this.main.querySelector(".tray");
    if (tray) tray.scrollTop = 0;
    const given = this.main.querySelector(".answers");
    if (given) given.scrollLeft = given.scrollWidth; // the newest one
    if (place?.isConnected && asks?.querySelector("input[name=at]")) this.stayAt(/** @type {HTMLElement} */ (place), asks);
    else focusOn(asks ?? this.main.querySelector(".bar") ?? this.main);
    this.isWaiting = !asks;
    if (!this.main.dataset.live) this.end("over");
    else this.check();
  }

  /** What was begun on the map goes on there: the focus stays, and the question is said. @param {HTMLElement} place @param {Element} asks */
  stayAt(place, asks) {
    place.focus({ preventScroll: true });
    this.voice.say(asks.querySelector("[data-ask]")?.textContent?.trim() ?? "");
  }

  /** Return true if the page is at least as new as told. @param {Change} told */
  async replace(told) {
    const { answers } = this;
    const answer = await fetch(this.main.dataset.page || "", { headers: { Accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(SILENCE) });
    if (!answer.ok) this.closedUntil = Date.now() + waitOf(answer);
    const page = answer.ok ? parse(await answer.text()) : null;
    const next = page?.getElementById("main");
    if (!page || !next) return false;
    if (this.isAnswering || this.answers !== answers) return true; // what the answer shows is newer
    if (next.dataset.page !== this.main.dataset.page) return this.end("ended");
    const lost = [...this.main.querySelectorAll(".decide")].some((old) => isBegun(old) && isGone(old, page));
    const seen = new Set([...this.main.querySelectorAll(".chronicle .entry")].map(keyOf));
    const [before, wasDue] = [this.version, document.title];
    const question = () => this.main.querySelector(".decide");
    const asked = question()?.textContent;
    holdPlace(this.main, () => update(this.main, next));
    const asks = question();
    if (asks && asks.textContent !== asked) hold(asks);
    if (asks && this.isWaiting) focusOn(asks);
    if (asks) this.isWaiting = false;
    document.dispatchEvent(new Event("annals:updated"));
    document.title = page.title;
    this.votes = told.votes;
    if (lost) this.tell(this.main.dataset.lost);
    else if (page.title !== wasDue) this.voice.say(page.title.replace(/ . Annals$/, ""));
    else if (this.version !== before) this.voice.say(newest(this.main, seen));
    if (!this.main.dataset.live) return this.end("over");
    return this.version >= told.version;
  }

  /** Tell in sight and aloud that begun answers are void, or that a move was not sent. @param {string} [text] */
  tell(text = "") {
    const told = document.createElement("p");
    told.className = "note";
    told.textContent = text;
    document.getElementById("moved-on")?.replaceChildren(told); // it speaks itself
  }

  /** Tell the state: a fault only once it lasts. @param {"connected" | "behind" | "offline" | "silent" | "over" | "ended"} state */
  show(state) {
    if (state === this.shown) return;
    this.shown = state;
    clearTimeout(this.faultTimer);
    const tell = () => {
      this.state.textContent = this.state.dataset[state] || "";
      if (["connected", "behind", "over"].includes(state)) delete this.state.dataset.state; // no fault
      else this.state.dataset.state = state;
    };
    if (state === "behind" || state === "offline") this.faultTimer = setTimeout(tell, FAULT_PATIENCE);
    else tell();
  }
}

/** Return true if the page is a copy from the time before the connection. */
const isCopy = () => document.getElementById("saved")?.hidden === false;

/** Return true if the decision of a begun answer is no longer asked. @param {Element} old @param {Document} page */
const isGone = (old, page) => ![...page.querySelectorAll(".decide")].some((next) => decisionOf(next) === decisionOf(old));

/** Return the newest sentence of the chronicle that was not there before. @param {Element} main @param {Set<string>} seen */
function newest(main, seen) {
  const fresh = [...main.querySelectorAll(".chronicle .entry")].filter((entry) => !seen.has(keyOf(entry)));
  return fresh.at(-1)?.querySelector("p:not(.number, .when)")?.textContent?.trim().replace(/\s+/g, " ") || "";
}

/** Forms that lead to a whole page: the browser sends them itself. */
const whole = new WeakSet();

/** Send a form as without scripts. @param {HTMLFormElement} form @param {HTMLElement | null} button */
function sendPlainly(form, button) {
  whole.add(form);
  form.requestSubmit(button);
}

/** Select a number on its first tap: typing replaces it. @param {Event} event */
function selectNumber(event) {
  if (event.target instanceof HTMLInputElement && event.target.type === "number") event.target.select();
}

/** Tell what a form with several numbers leaves in the purse. @param {Event} event */
function tellRest(event) {
  const form = event.target instanceof Element ? event.target.closest("form.numbers") : null;
  for (const each of form?.querySelectorAll("[aria-pressed]") ?? []) each.ariaPressed = "false"; // changed by hand
  const output = form?.querySelector("output");
  if (!(form instanceof HTMLFormElement) || !output) return;
  const fields = [...form.querySelectorAll("input[name=amount]")].map((each) => /** @type {HTMLInputElement} */ (each));
  const spent = fields.reduce((sum, each) => sum + Number(each.value) * Number(each.dataset.cost), 0);
  const left = Number(form.dataset.purse) - spent;
  output.textContent = String(left);
  output.classList.toggle("over", left < 0);
}

/** Show a form that opens below the question: it may begin below the window. @param {Event} event */
function showBeside(event) {
  const details = event.target instanceof Element ? event.target.closest(".beside-folds > summary")?.parentElement : null;
  if (details instanceof HTMLDetailsElement && !details.open) requestAnimationFrame(() => {
    const tray = details.closest(".tray");
    if (tray && tray.scrollHeight > tray.clientHeight) tray.scrollTop += details.getBoundingClientRect().top - tray.getBoundingClientRect().top - HANDLE;
    else details.scrollIntoView({ block: "start" });
  });
}

/** Tell the service the time zone of the browser, for the next page. */
function tellZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  if (zone && !document.cookie.split("; ").includes(`zone=${zone}`))
    document.cookie = `zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

/** Note in a cookie that the help of a decision was read: the next page has it folded. @param {Element | null} details */
function keepRead(details) {
  const code = details instanceof HTMLElement ? details.dataset.help : "";
  const read = (document.cookie.split("; ").find((each) => each.startsWith("help=")) || "help=").slice(5).split(".").filter(Boolean);
  if (!code || read.includes(code)) return;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `help=${[...read.slice(-199), code].join(".")}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

/** Show the way back to the question only while the page is scrolled past it. */
function guide() {
  const { classList } = document.documentElement;
  const watcher = new IntersectionObserver(
    (seen) => {
      const last = seen.at(-1);
      classList.toggle("astray", Boolean(last && !last.isIntersecting && last.boundingClientRect.top < 0));
    },
    { rootMargin: `-${LEAST_SEEN}px 0px 0px 0px` },
  );
  /** @type {Element | null} */
  let watched = null;
  const watch = () => {
    const place = document.querySelector(".paired .tray") ?? document.querySelector(".paired");
    if (place === watched) return;
    watcher.disconnect();
    classList.remove("astray");
    watched = place;
    if (place) watcher.observe(place);
  };
  classList.add("guided");
  document.addEventListener("annals:updated", watch);
  watch();
}

tellZone();
guide();

const main = document.getElementById("main");
if (main?.dataset.live !== undefined) {
  const follower = new Follower(main);
  const touch = (/** @type {Event} */ event) => {
    const form = /** @type {Element} */ (event.target).closest("form");
    if (form) touched.add(form);
  };
  document.addEventListener("input", touch);
  document.addEventListener("input", tellRest);
  document.addEventListener("click", showBeside);
  document.addEventListener("focusin", selectNumber);
  document.addEventListener("submit", (event) => {
    const section = /** @type {Element} */ (event.target).closest(".decide");
    if (section && (held.get(section) ?? 0) > Date.now()) event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const rests = document.documentElement.classList.contains("lost");
    if (event.defaultPrevented || whole.has(form) || !(rests || form.closest(".stage"))) return;
    event.preventDefault();
    if (rests) follower.tell(main.dataset.unsent);
    else if (!follower.isAnswering) follower.answer(form, event.submitter);
  });
  document.addEventListener("focusin", (event) => {
    if (!(/** @type {Element} */ (event.target).matches(".bar"))) follower.isWaiting = false;
  });
  document.addEventListener("click", (event) => {
    const details = event.target instanceof Element ? event.target.closest("summary")?.parentElement ?? null : null;
    if (details) touched.add(details);
    keepRead(details);
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? follower.close() : follower.open()));
  window.addEventListener("online", () => follower.open());
  window.addEventListener("offline", () => {
    follower.loseTouch();
    follower.close();
  });
  window.addEventListener("pagehide", () => follower.close());
  window.addEventListener("pageshow", (event) => event.persisted && follower.open());
  follower.open();
}
