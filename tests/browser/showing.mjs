// Pictures of the pages for the documentation: of a real game, wide and narrow, light and dark, English and French.
import { join } from "node:path";
import { decide, finish, given, logIn, open, PASSWORD, playNow, register } from "./driver.mjs";

const WIDE = { width: 1000, height: 700 };
const NARROW = { width: 390, height: 740 };

const page = await open({ viewport: WIDE });
await register(page, "Elise", "/games");
const table = await playNow(page, "struggle_of_empires@1");
for (let turn = 0; turn < 6; turn++) {
  await page.locator(".decide").waitFor();
  await decide(page);
}
await page.locator(".decide").waitFor();
await shoot("table", table);
await shoot("table-dark", table, { colorScheme: "dark" });
await shoot("phone", table, { viewport: NARROW });
const french = await open({ locale: "fr" });
await logIn(french, "Elise", PASSWORD, table);
await shoot("phone-french", table, { viewport: NARROW, page: french });
await shoot("chronicle", `${table}/chronicle`);
await shoot("desk", `${table}/desk`);
await page.context().clearCookies();
await logIn(page, given.host, given.password, given.tournament);
await shoot("tournament", given.tournament);
await shoot("lobby", "/games");
await finish();

async function shoot(name, path, { viewport = WIDE, colorScheme = "light", page: shown = page } = {}) {
  await shown.setViewportSize(viewport);
  await shown.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await shown.goto(path);
  await shown.screenshot({ path: join(given.folder, `${name}.png`) });
}
