// Pages as people see them who need large text, a strong zoom, a small screen or their own colours.
import { decide, expected, faults, finish, given, open, playNow, register } from "./driver.mjs";

/** Ways to look: a viewport, the size of the browser's text in px, and whether its colours are forced. */
const LOOKS = {
  narrow: { width: 360, height: 740 },
  "text of 200 %": { width: 390, height: 844, text: 32 },
  "zoom of 400 %": { width: 320, height: 256 },
  "forced colours": { width: 1000, height: 700, forcedColors: "active" },
};

const page = await open({ reducedMotion: "reduce" });
const text = await page.context().newCDPSession(page);
expected.push("status of 404"); // a mistyped address is a page too
let count = 0;
for (const path of ["/login", "/register", "/tournaments", given.tournament]) await look(path);
await register(page, "Looker", "/games");
const table = await playNow(page, "struggle_of_empires@1");
await page.locator(".bar.yours ~ .area .decide").waitFor();
await decide(page);
const own = ["", "/chronicle", "/chronicle?since=move", "/rules", "/desk"].map((part) => table + part);
const pages = ["/", "/games", "/games/new?ruleset=struggle_of_empires@1", "/play", "/tournaments/new", "/desk", "/account", "/gmaes", ...own];
for (const path of pages) await look(path);
await finish({ count });

async function look(path) {
  await page.goto(path);
  for (const [name, { width, height, text: size = 16, forcedColors = "none" }] of Object.entries(LOOKS)) {
    await page.setViewportSize({ width, height });
    await text.send("Page.setFontSizes", { fontSizes: { standard: size, fixed: size - 3 } });
    await page.emulateMedia({ forcedColors, reducedMotion: "reduce" });
    await page.keyboard.press("Tab"); // the focus is shown to who uses the keyboard
    for (const fault of await page.evaluate(findFaults)) faults.push(`${path}, ${name}: ${fault}`);
    count++;
  }
}

/** Return what is cut, covered or not seen. */
function findFaults() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`is ${root.scrollWidth} px wide`);
  const tell = (node) => node.outerHTML.replace(/\s+/g, " ").slice(0, 140);
  const isShown = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 1;
  const places = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(isShown);
  const each = Math.ceil(places.length / 60); // of many like ones, some
  for (const node of places.filter((_, place) => place % each === 0)) {
    const shape = node.closest("svg") && (node.querySelector("use, path, rect, circle") ?? node);
    const draw = () => ["stroke", "strokeWidth", "outlineStyle", "filter"].map((name) => getComputedStyle(shape)[name]).join(" ");
    const before = shape ? draw() : "";
    node.focus();
    if (document.activeElement !== node) continue;
    if (shape) {  // the box of a region holds others as well, and its line shows the focus
      if (draw() === before && getComputedStyle(node).outlineStyle === "none") found.push(`no focus: ${tell(node)}`);
      continue;
    }
    const style = getComputedStyle(node);
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) found.push(`no focus: ${tell(node)}`);
    const box = node.getClientRects()[0]; // a link may go over two lines
    const [left, top] = [Math.max(box.left, 0) + 3, Math.max(box.top, 0) + 3];
    const at = document.elementFromPoint(Math.min(left, innerWidth - 1), Math.min(top, innerHeight - 1));
    const isSeen = at && (node.contains(at) || at.contains(node)) && box.top > -1 && box.top < innerHeight;
    if (!isSeen) found.push(`covered by ${at ? tell(at).slice(0, 60) : "the edge"}: ${tell(node)}`);
  }
  for (const node of document.querySelectorAll("main button, main .button, h1, h2, summary, label"))
    if (isShown(node) && node.scrollWidth > node.clientWidth + 2 && getComputedStyle(node).display !== "inline") found.push(`cut: ${tell(node)}`);
  scrollTo(0, 0);
  return found;
}
