// A person with a phone plays a guided first game by taps, and goes on from its end to a game against bots.
import { join } from "node:path";
import { faults, finish, given, open, use } from "./driver.mjs";

const QUESTION = ".decide form:not(.back):not(.why *)";
const MOST_ANSWERS = 12;

const page = await open(given.browsing);
await page.goto(`/learn/${given.ruleset}/game`);
let taps = 0;
const hidden = [];
for (const [number, move] of given.moves.entries()) {
  await see(number);
  if (move) await make(number, pairs(move));
  else await tap(page.locator('button[name=act][value="next"]'));
}
await see(given.moves.length);
await tap(page.locator(`button[name=ruleset][value="${given.ruleset}"]`));
await page.waitForURL(/\/games\/[0-9a-f-]{36}/);
await page.locator("#decision").waitFor();
await finish({ taps, hidden, table: new URL(page.url()).pathname });

/** Check the step that is shown: its text is in the window, and so is the way on. */
async function see(number) {
  await page.locator("strong", { hasText: new RegExp(`: ${number + 1} `) }).waitFor();
  await page.locator(".decide.held").waitFor({ state: "detached" });
  if (given.pictures) await page.screenshot({ path: join(given.pictures, `${given.ruleset}-${String(number + 1).padStart(2, "0")}.png`) });
  const outside = await page.evaluate(() => {
    const seen = (node) => node.getBoundingClientRect().top < innerHeight - 20 && node.getBoundingClientRect().bottom > 0;
    return [".idea", ".told", ".decide [data-ask]:not(.idea), button[value=next], .actions button"].filter((each) => {
      const node = document.querySelector(each);
      return !node || !seen(node);
    });
  });
  for (const each of outside) hidden.push(`${number + 1} ${each}`);
}

/** Answer questions as the move says, until the next step. */
async function make(number, wanted) {
  const next = page.locator("strong", { hasText: new RegExp(`: ${number + 2} `) });
  for (let count = 0; count < MOST_ANSWERS && !(await next.count()); count++) {
    const form = page.locator(QUESTION).first();
    for (const box of await form.locator("input[type=checkbox]").all()) {
      const value = JSON.parse(await box.getAttribute("value"));
      if (wanted.some(([, each]) => Array.isArray(each) && each.some((one) => same(one, value)))) await box.check();
    }
    const chosen = (await fillIn(wanted)) ?? (await choose(page.locator(QUESTION), wanted, says)) ?? (await choose(page.locator(QUESTION), wanted, mentions));
    if (!chosen) throw new Error(`step ${number + 1}: no option for ${JSON.stringify(wanted)} at ${page.url()}`);
    const fold = chosen.locator("xpath=ancestor::details[1]/summary");
    if (!(await chosen.isVisible()) && (await fold.count())) await tap(fold, false);
    await tap(chosen);
  }
}

/** Fill in the rows of numbers that the move has; return the button of their form, or null without any. */
async function fillIn(wanted) {
  for (const form of await page.locator(`${QUESTION}.numbers`).all()) {
    let filled = 0;
    for (const [place, row] of (await form.locator("input[name=row]").evaluateAll((nodes) => nodes.map((each) => JSON.parse(each.value)))).entries()) {
      const [field] = row.at(-1);
      const number = wanted.find(([name, value]) => name === field && typeof value === "number");
      if (!number || !row.slice(0, -1).every((each) => says(wanted, each))) continue;
      const amount = form.locator("input[name=amount]").nth(place);
      if (!(await amount.isVisible())) await tap(page.locator(".beside-folds > summary"), false);
      await amount.fill(String(number[1]));
      filled += 1;
    }
    if (filled) return form.locator("button:not([name])");
  }
  return null;
}

/** Return true if a pick is what the move says, or nothing. */
function says(wanted, [field, value]) {
  return value === null || wanted.some(([name, each]) => name === field && same(each, value));
}

/** Return true if all words of a pick are in the move: a question may have another name than its member. */
function mentions(wanted, [, value]) {
  const words = (each) => (each && typeof each === "object" ? Object.values(each).flatMap(words) : [each]);
  const known = new Set(words(wanted.map(([, each]) => each)));
  return words(value).every((each) => each === null || known.has(each));
}

/** Return the button that says most of the move, or the one that goes on. */
async function choose(forms, wanted, fits) {
  const buttons = await forms.locator("button").all();
  let [best, most] = [null, -1];
  for (const button of buttons) {
    const [name, text, field] = await button.evaluate((node) => [node.name, node.value, node.form.elements.namedItem("field")?.value]);
    const told = name === "path" ? JSON.parse(text) : name === "pick" ? [[field, JSON.parse(text)]] : [];
    if (name === "preset" || name === "suggest" || !told.every((each) => fits(wanted, each))) continue;
    if (told.length > most) [best, most] = [button, told.length];
  }
  return best;
}

/** Tap, and wait for what comes of it. */
async function tap(place, leads = true) {
  taps += 1;
  await use(place);
  if (leads) await page.waitForLoadState("networkidle");
  await page.waitForFunction(() => document.getElementById("main") && !document.querySelector("[aria-busy]"));
  if (await page.locator(".problem").count()) faults.push(`${page.url()}: ${await page.locator(".problem").first().innerText()}`);
}

/** Return all members of a move, also those of its parts, each with its value. */
function pairs(value) {
  if (Array.isArray(value)) return value.flatMap(pairs);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [[name, each], ...(Array.isArray(each) ? each.map((one) => [name, one]) : []), ...pairs(each)]);
}

/** Return true for two values of the same content. */
function same(one, other) {
  const sorted = (value) => JSON.stringify(value, (_, each) => (each && typeof each === "object" && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort()) : each));
  return sorted(one) === sorted(other);
}
