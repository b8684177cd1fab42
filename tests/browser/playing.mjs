// A person with only the address registers, starts a game, and decides: by clicks, fingers or keys.
import { decide, faults, finish, given, open, picked, playNow, register } from "./driver.mjs";

const script = given.script ?? true;
const page = await open({ javaScriptEnabled: script, ...given.browsing });
await register(page, given.name, "/play");
const table = await playNow(page, given.ruleset);
const due = page.locator(".bar.yours ~ .area .decide");
const over = page.locator(".bar.over");
let [decisions, orders, sheets] = [0, 0, 0];
while (decisions < given.decisions && sheets < (given.sheets ?? Infinity)) {
  for (let look = 0; look < 240 && !(await due.or(over).count()); look++) {
    await page.waitForTimeout(250);
    if (!script) await page.goto(table);
  }
  if (await over.count()) break;
  const ending = orders >= (given.orders ?? 0);
  if (!(await decide(page, ending))) continue;
  decisions++;
  orders = ending ? 0 : orders + 1;
  if (!given.sheets || !ending) continue;
  sheets++;
  for (const path of given.pages) if (!(await page.goto(path.replace("TABLE", table))).ok()) faults.push(path);
  await page.goto(table);
}
const isOver = (await over.count()) > 0;
if (script && !isOver) await page.locator("#live-state:not(:empty)").waitFor();
const look = await page.evaluate(() => ({
  sideways: document.documentElement.scrollWidth > innerWidth,
  moves: document.getAnimations().length + Number(getComputedStyle(document.documentElement).scrollBehavior !== "auto"),
  lang: document.documentElement.lang,
}));
const cells = (nodes) => nodes.map((row) => [".place-number", "strong", "b"].map((each) => row.querySelector(each).textContent.replace(/[,\s]/g, "")));
const scores = await page.locator(".places li").evaluateAll(cells);
await finish({ table, decisions, sheets, picks: picked.length, over: isOver, scores, ...look });
