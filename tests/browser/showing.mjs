// Pictures of the pages for the documentation: of a real game, wide and narrow, light and dark, English and French.
import { join } from "node:path";
import { answer, decide, finish, given, go, logIn, open, PASSWORD, playNow, register, submit } from "./driver.mjs";
import { pickRegion } from "./picking.mjs";

const WIDE = { width: 760, height: 540 };
const NARROW = { width: 390, height: 740 };

const page = await open({ viewport: WIDE });
await register(page, "Elise", "/games");
const table = await playNow(page, "struggle_of_empires@1");
for (let turn = 0; turn < 12 && !(await page.locator(".bar.yours p", { hasText: "Turn of play" }).count()); turn++) {
  await page.locator(".decide").waitFor();
  await decide(page);
  await page.locator(".bar.yours ~ .area .decide").waitFor();
}
const piece = await page.locator("a.place[data-held]").first().getAttribute("data-region");
await submit(page, () => pickRegion(page, piece, "click")); // its targets are marked
await shoot("table", table);
await shoot("table-dark", table, { colorScheme: "dark" });
await shoot("phone", table, { viewport: NARROW });
const french = await open({ locale: "fr" });
await logIn(french, "Elise", PASSWORD, table);
await shoot("phone-french", table, { viewport: NARROW, page: french });
await shoot("chronicle", `${table}/chronicle`);
await shoot("board", `${table}#part-public`);
await shoot("rules", `${table}/rules#SOE-4.1`);
await shoot("rules-index", `${table}/rules/index`);
await shoot("replay", `${table}/replay?version=5`);
await shoot("imports", "/games/imports", { viewport: NARROW });
await page.setViewportSize(NARROW);
await page.goto(table);
await submit(page, () => page.locator(".decide .back button").first().click());
for (let step = 0; step < 5 && !(await page.locator(".why").count()); step++) await answer(page, false);
await page.locator(".why summary").click();
await page.locator(".why select").selectOption({ index: 0 });
await go(page, page.locator(".why button"));
await page.locator("details.why").scrollIntoViewIfNeeded();
await page.screenshot({ path: join(given.folder, "why-not.png") });
await page.context().clearCookies();
await logIn(page, given.host, given.password, given.tournament);
await page.goto(given.tournament);
await shoot("desk", await page.locator('main a[href$="/desk"]').first().getAttribute("href"));
await shoot("tournament", given.tournament);
await shoot("lobby", "/games");
await finish();

async function shoot(name, path, { viewport = WIDE, colorScheme = "light", page: shown = page } = {}) {
  await shown.setViewportSize(viewport);
  await shown.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await shown.goto(path);
  await shown.screenshot({ path: join(given.folder, `${name}.png`) });
}
