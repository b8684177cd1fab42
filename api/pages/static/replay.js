// Steps through a replay without loading whole pages: links, slider, arrow keys, and play at three speeds.
"use strict";

/** Pause after which a slider that stands still is followed, ms. */
const SETTLED = 120;
/** Link of the replay -> key. */
const STEP_KEYS = /** @type {Record<string, string>} */ ({
  ArrowLeft: "before",
  ArrowRight: "after",
});

/** Longest time that a refused step waits for its repetition, ms. */
const LONGEST_STEP = 30_000;

/** The service refuses a page. */
class RefusedPage extends Error {
  /** @param {Response} answer */
  constructor(answer) {
    super(String(answer.status));
    this.wait = waitOf(answer);
  }
}

class Replay {
  /** @param {HTMLElement} main @param {HTMLElement} player */
  constructor(main, player) {
    this.main = main;
    this.player = player;
    this.asked = 0;
    this.timer = 0;
    this.settling = 0;
    /** @type {Map<string, Promise<string>>} */
    this.ahead = new Map();
    player.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
    player.addEventListener("click", (event) => this.onPlay(event));
    main.addEventListener("click", (event) => this.onClick(event));
    main.addEventListener("input", (event) => this.onSlide(event));
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.prefetch();
  }

  /** Return the address of a step, or nothing. @param {string} name */
  address(name) {
    return this.main.querySelector(`[data-step="${name}"]`)?.getAttribute("href") || "";
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const link = event.target instanceof Element ? event.target.closest("[data-step]") : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.stop();
    this.go(link.getAttribute("href") || "");
  }

  /** @param {Event} event */
  onSlide(event) {
    const slider = event.target;
    if (!(slider instanceof HTMLInputElement) || slider.type !== "range" || !slider.form) return;
    this.stop();
    clearTimeout(this.settling);
    const query = new URLSearchParams(/** @type {any} */ (new FormData(slider.form)));
    this.settling = setTimeout(() => this.go(`${location.pathname}?${query}`), SETTLED);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const inField = event.target instanceof Element && event.target.matches("input, select, [data-region]");
    const step = STEP_KEYS[event.key];
    if (!step || inField || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.stop();
    this.go(this.address(step));
  }

  /** @param {Event} event */
  onPlay(event) {
    const button = event.target;
    if (!(button instanceof HTMLButtonElement)) return;
    const plays = button.hasAttribute("aria-pressed");
    this.stop();
    if (plays) return;
    button.setAttribute("aria-pressed", "true");
    button.dataset.name = button.textContent || "";
    button.textContent = this.player.dataset.stop || "";
    const step = async () => {
      const started = performance.now();
      const next = this.address("after");
      if (!next || !(await this.go(next)) || !button.hasAttribute("aria-pressed")) return this.stop();
      this.timer = setTimeout(step, Math.max(0, Number(button.dataset.speed) - (performance.now() - started)));
    };
    step();
  }

  stop() {
    clearTimeout(this.timer);
    for (const each of this.player.querySelectorAll("[aria-pressed]")) {
      each.removeAttribute("aria-pressed");
      each.textContent = each.getAttribute("data-name");
    }
  }

  /** @param {string} address @returns {Promise<string>} */
  load(address) {
    const found = this.ahead.get(address);
    if (found) return found;
    return fetch(address, { headers: { Accept: "text/html" } }).then((answer) => {
      if (!answer.ok) throw new RefusedPage(answer);
      return answer.text();
    });
  }

  /** Load a page, once more after the time that a refusal names. @param {string} address */
  async loadInTime(address) {
    try {
      return await this.load(address);
    } catch (error) {
      const wait = error instanceof RefusedPage ? error.wait : 0;
      if (!wait || wait > LONGEST_STEP) throw error;
      this.ahead.delete(address);
      await new Promise((done) => setTimeout(done, wait));
      return this.load(address);
    }
  }

  /** Show another version. Return false if it could not be, or if another one was asked for meanwhile. @param {string} address */
  async go(address) {
    if (!address) return false;
    const asked = ++this.asked;
    let text = "";
    try {
      text = await this.loadInTime(address);
    } catch {
      if (asked === this.asked) location.assign(address); // the browser tells the fault
      return false;
    }
    if (asked !== this.asked) return false;
    const page = parse(text);
    const next = page.getElementById("main");
    if (!next) return false;
    update(this.main, next);
    const slider = this.main.querySelector("input[type=range]");
    if (slider instanceof HTMLInputElement) slider.value = slider.defaultValue;
    document.title = page.title;
    history.replaceState(null, "", address);
    document.dispatchEvent(new Event("annals:updated"));
    this.prefetch();
    return true;
  }

  /** Load the neighbours beforehand. */
  prefetch() {
    this.ahead.clear();
    for (const name of ["after", "before"]) {
      const address = this.address(name);
      if (address) this.ahead.set(address, this.load(address));
    }
    for (const each of this.ahead.values()) each.catch(() => undefined);
  }
}

const replayed = document.getElementById("main");
const player = document.getElementById("player");
if (replayed && player) new Replay(replayed, player);
