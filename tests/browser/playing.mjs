// A person with only the address registers, starts a game, and decides by clicks.
import { decide, expected, finish, given, open, playNow, register } from "./driver.mjs";

expected.push("409"); // others may close a decision while it is answered: the page says so
const page = await open({ javaScriptEnabled: given.script, ...(given.phone ? { viewport: { width: 390, height: 844 }, hasTouch: true } : {}) });
await register(page, given.name, "/play");
const table = await playNow(page, given.ruleset);
const asked = page.locator(".decide");
const over = page.locator(".bar", { hasText: "The game is over" });
let decisions = 0;
while (decisions < given.decisions) {
  for (let look = 0; look < 240 && !(await asked.or(over).count()); look++) {
    await page.waitForTimeout(250);
    if (!given.script) await page.goto(table);
  }
  if (await over.count()) break;
  decisions += Number(await decide(page));
}
const isOver = (await over.count()) > 0;
if (given.script && !isOver) await page.locator("#live-state", { hasText: "Connected" }).waitFor();
const sideways = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
await finish({ decisions, over: isOver, sideways });
