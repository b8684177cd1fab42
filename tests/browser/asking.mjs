// A person asks why something is no option: by the button beside the question, and by that beside a thing on the board.
import { answer, finish, given, open, playNow, register, submit, use } from "./driver.mjs";

const script = given.script ?? true;
const page = await open({ javaScriptEnabled: script, ...given.browsing });
await register(page, given.name, "/play");
const table = await playNow(page, given.ruleset);
const told = {};
for (let step = 0; step < given.steps && Object.keys(told).length < given.places.length; step++) {
  if (!(await page.locator(".decide form:not(.back):not(.why *)").count())) {
    await page.waitForTimeout(250);
    await page.goto(table);
    continue;
  }
  for (const place of given.places) if (!(place in told)) await ask(place);
  await answer(page, step % 4 === 3);
}
await finish({ told, sideways: await page.evaluate(() => document.documentElement.scrollWidth > innerWidth) });

/**
 * Ask by the first button at a place that is seen; note whether the reason that comes is that of its thing.
 * A question that has just changed takes no answer for a moment: who has clicked then asks again.
 */
async function ask(place) {
  const button = page.locator(`${place} button[name=thing]`).first();
  if (!(await button.count()) || !(await button.isVisible())) return;
  const label = await button.getAttribute("aria-label");
  if (!(await submit(page, () => use(button)))) return;
  const reason = page.locator(".why[open] .reason:focus");
  const name = await reason.locator("strong").textContent();
  told[place] = label.toLowerCase().startsWith(name.toLowerCase()) && (await reason.isVisible());
}
