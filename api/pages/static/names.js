// Names on the map that can be read at every size of it: small ones grow, and one without room gives way.
"use strict";

/** Least size of a name, and of a number on a piece, pixels. */
const LEAST_NAME = 10;
const LEAST_NUMBER = 6;
/** Room for a character and a line, in sizes of the font. */
const CHARACTER = 0.56;
const LINE = 1.15;
/** Where a name goes that has no room in its place, in lines down. */
const SHIFTS = [0, -1, 1];

/** @typedef {{region: string, x: number, y: number, size: number, lines: string[]}} MapName */
/** @typedef {{left: number, right: number, top: number, bottom: number}} Room */

class MapNames {
  /** @param {SVGSVGElement} svg */
  constructor(svg) {
    this.svg = svg;
    /** @type {MapName[]} */
    this.names = [];
    this.waits = false;
    new ResizeObserver(() => this.ask()).observe(svg);
    this.load();
  }

  /** Read the names from the shared drawing, which the browser has already. */
  async load() {
    const address = this.svg.querySelector("use.names")?.getAttribute("href")?.split("#")[0];
    const answer = address ? await fetch(address).catch(() => null) : null;
    const drawn = answer?.ok ? parse(await answer.text()).querySelectorAll("#names text") : [];
    const places = [...this.svg.querySelectorAll("[data-region]")];
    if (drawn.length !== places.length) return;
    this.names = [...drawn].map((text, n) => {
      const lines = [...text.querySelectorAll("tspan")];
      const [x = 0, first = 0, last = 0, size = 0] = [lines[0]?.getAttribute("x"), lines[0]?.getAttribute("y"), lines.at(-1)?.getAttribute("y"), text.getAttribute("font-size")].map(Number);
      return { region: places[n]?.getAttribute("data-region") || "", x, y: (first + last) / 2 - 0.35 * size, size, lines: lines.map((each) => each.textContent || "") };
    });
    this.ask();
  }

  /** Draw the names anew with the next picture. */
  ask() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.draw();
    });
  }

  draw() {
    const scale = this.svg.getScreenCTM()?.a ?? 0;
    this.svg.querySelector('[data-key="names"]')?.remove();
    if (!scale) return;
    for (const text of this.svg.querySelectorAll(".pieces text")) {
      text.toggleAttribute("hidden", Number(text.getAttribute("font-size")) * scale < LEAST_NUMBER);
    }
    const isSmall = this.names.some((each) => each.size * scale < LEAST_NAME);
    this.svg.classList.toggle("far", isSmall);
    if (!isSmall) return;
    const taken = this.pieces();
    const group = this.create("g", { class: "over names", "data-key": "names", "aria-hidden": "true" });
    for (const name of this.order()) {
      const size = Math.max(name.size, LEAST_NAME / scale);
      const isGrown = size > name.size;
      const at = (isGrown ? SHIFTS : [0]).map((shift) => roomOf(name, size, shift)).find((room) => !isGrown || !taken.some((other) => meets(room, other)));
      if (!at) continue;
      taken.push(at);
      group.append(this.write(name, size, at));
    }
    this.svg.append(group);
  }

  /** Return the names: those drawn as they are, then what is asked about, what has changed, what the visitor holds. */
  order() {
    const marked = new Set([...this.svg.querySelectorAll("use.changed, use.pointed")].map((each) => each.getAttribute("href")?.split("#r-")[1]));
    const scale = this.svg.getScreenCTM()?.a ?? 1;
    /** @param {MapName} name */
    const rank = (name) => {
      const place = this.svg.querySelector(`[data-region="${name.region}"]`);
      if (name.size * scale >= LEAST_NAME) return 0;
      if (place?.matches("[href]:not([data-why]), .selected")) return 1;
      return marked.has(name.region) ? 2 : place?.hasAttribute("data-held") ? 3 : 4;
    };
    const ranks = new Map(this.names.map((each) => [each, rank(each)]));
    return [...this.names].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || b.size - a.size);
  }

  /** Return the rooms of all pieces: no name covers one. @returns {Room[]} */
  pieces() {
    return [...this.svg.querySelectorAll(".pieces use")].map((each) => {
      const [x = 0, y = 0, tens = 1] = (each.getAttribute("transform") || "").match(/-?[\d.]+/g)?.map(Number) ?? [];
      return { left: x - 9 * tens, right: x + 9 * tens, top: y - 9 * tens, bottom: y + 9 * tens };
    });
  }

  /** @param {MapName} name @param {number} size @param {Room} room */
  write(name, size, room) {
    const text = this.create("text", { "font-size": size, "text-anchor": "middle", "stroke-width": size / 4 });
    for (const [n, line] of name.lines.entries()) {
      const part = this.create("tspan", { x: name.x, y: room.top + (n + 0.85) * LINE * size });
      part.textContent = line;
      text.append(part);
    }
    return text;
  }

  /** @param {string} tag @param {Record<string, string | number>} values */
  create(tag, values) {
    const made = document.createElementNS(this.svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(values)) made.setAttribute(name, String(value));
    return made;
  }
}

/** Return the room of a name. @param {MapName} name @param {number} size @param {number} shift @returns {Room} */
function roomOf(name, size, shift) {
  const half = (CHARACTER * size * Math.max(...name.lines.map((each) => each.length))) / 2;
  const tall = LINE * size * name.lines.length;
  const top = name.y + shift * LINE * size - tall / 2;
  return { left: name.x - half, right: name.x + half, top, bottom: top + tall };
}

/** @param {Room} a @param {Room} b */
function meets(a, b) {
  const gap = Math.min(a.bottom - a.top, b.bottom - b.top) / 6;
  return a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom;
}
