// Two browsers at one table: what one does, the other sees within a second, and nothing of its reader is lost.
import { decide, expected, finish, given, open, register, submit } from "./driver.mjs";

const [anne, bea] = [await open(), await open()];
await register(anne, "Anne F", "/games");
await register(bea, "Bea F", "/games");

// Anne opens a table, Bea takes a seat, Anne sees it without a click.
await anne.goto("/games/new?ruleset=struggle_of_empires@1");
await anne.locator("select[name=seats]").selectOption("2");
await anne.locator("main form button").last().click();
await anne.waitForURL(/\/games\/[0-9a-f-]{36}/);
const table = new URL(anne.url()).pathname;
await connected(anne);
await bea.goto(table);
const delays = {};
await timed("seat", () => bea.getByRole("button", { name: "Take this seat" }).click(), () => anne.locator(".seats", { hasText: "Bea F" }).waitFor());
await connected(bea);
await timed("start", () => anne.getByRole("button", { name: "Start the game" }).click(), () => bea.locator(".bar", { hasText: /decision|waiting/i }).waitFor());

// The reader of the one page scrolls, opens a panel and has the focus somewhere; the other moves.
const [first, second] = (await anne.locator(".decide").count()) ? [anne, bea] : [bea, anne];
const panel = second.locator("details.panel").first();
await panel.locator("summary").first().click();
const isOpen = await panel.evaluate((node) => node.open);
await second.evaluate(() => document.querySelector("#agreements summary").focus({ preventScroll: true })); // else it scrolls smoothly, for some frames
await second.evaluate(() => scrollTo({ top: 240, behavior: "instant" }));
await connected(second);
const before = await look(second);
await timed("move", () => decide(first), () => second.waitForFunction((seen) => Number(document.getElementById("main").dataset.version) > seen, before.version));
const after = await look(second);
const kept = { scroll: Math.abs(after.top - before.top) < 5, focus: after.focus, panel: (await panel.evaluate((node) => node.open)) === isOpen };

// What the reader has begun at the question stays while others act, and the question still makes its move.
await decide(second);
const asked = await Promise.any([first, second].map((page) => page.locator(".decide").waitFor().then(() => page)));
const other = asked === first ? second : first;
await asked.locator(".why summary").click();
await submit(asked, () => asked.locator("#ask-why button").click());
const answers = await asked.locator(".decide .reason").textContent();
await connected(asked);
const panels = other.locator("#agreements");
if (!(await panels.evaluate((node) => node.open))) await panels.locator("summary").click();
await timed("vote", () => other.getByRole("button", { name: "Propose to end the game" }).click(), () => asked.locator(".vote").waitFor());
kept.answers = (await asked.locator(".decide[data-begun] .reason").textContent()) === answers;
await asked.locator("#agreements summary").focus();
await other.getByRole("button", { name: "Withdraw" }).click();
await asked.locator(".vote").waitFor({ state: "detached" });
kept.beside = await asked.evaluate(() => document.activeElement.closest("#agreements") !== null); // a part above it is gone
const seen = (await look(asked)).version;
await decide(asked);
kept.move = (await look(asked)).version > seen;

// An answer that is no 200 ends a browser's own stream for good: the page opens it anew.
expected.push("503");
let refused = 0;
await second.context().route(/\/live\?/, (route) => (refused++ < 3 ? route.fulfill({ status: 503 }) : route.continue()));
await second.reload();
await second.locator("#live-state", { hasText: "No connection" }).waitFor();
await connected(second);
await finish({ table, delays, kept, refused });

async function connected(page) {
  await page.locator("#live-state", { hasText: "Connected" }).waitFor();
}

/** Time from the end of an act to the sight of it in the other browser, ms. */
async function timed(name, act, seen) {
  const waiting = seen();
  await act();
  const start = Date.now();
  await waiting;
  delays[name] = Date.now() - start;
}

function look(page) {
  return page.evaluate(() => ({
    top: document.activeElement?.getBoundingClientRect().top ?? 0,
    version: Number(document.getElementById("main").dataset.version),
    focus: document.activeElement?.closest("details")?.id || document.activeElement?.tagName,
  }));
}
