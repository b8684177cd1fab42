// After every answer the question is in the window and has the focus, and the page has not moved.
import { answer, faults, finish, given, open, playNow, register } from "./driver.mjs";

const page = await open({ javaScriptEnabled: given.script ?? true, ...given.browsing });
await register(page, given.name, "/play");
const table = await playNow(page, given.ruleset);
let answers = 0;
for (let step = 0; step < 400 && answers < given.answers; step++) {
  await page.locator("#move").or(page.locator(".bar.over")).waitFor({ timeout: given.script === false ? 1000 : 20_000 }).catch(() => page.goto(`${table}#move`));
  if (await page.locator(".bar.over").count()) break;
  if (!(await page.locator("#move").count())) continue;
  if (answers) await settle();
  if (await answer(page, answers % 3 === 2)) answers++;
}
await finish({ answers });

/** Wait for the focus, which comes with the question, and look where both are. */
async function settle() {
  await page.waitForFunction(() => document.activeElement?.closest("#move"), null, { timeout: 2000 }).catch(() => {});
  const seen = await page.evaluate(() => {
    const [asks, focus] = [document.getElementById("move")?.getBoundingClientRect(), document.activeElement];
    const at = focus?.getBoundingClientRect();
    return asks && {
      focus: focus?.closest("#move") ? "" : focus?.outerHTML.slice(0, 80),
      top: asks.top, room: innerHeight - Math.max(asks.top, at?.top ?? 0), left: asks.left, right: innerWidth - asks.right, scroll: scrollY,
    };
  });
  if (!seen) return; // others have acted meanwhile
  if (seen.focus) faults.push(`after ${answers} answers the focus is on ${seen.focus}`);
  if (seen.top < 0 || seen.room < 60 || seen.left < 0 || seen.right < 0 || seen.scroll > 60) faults.push(`after ${answers} answers the question is out of sight: ${JSON.stringify(seen)}`);
}
