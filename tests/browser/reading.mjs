// axe-core over each page: narrow and wide, light and dark.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faults, finish, given, logIn, open, playNow, register } from "./driver.mjs";

const axe = readFileSync(createRequire(join(given.modules, "x.js")).resolve("axe-core/axe.min.js"), "utf-8");
const page = await open();
const findings = [];
let count = 0;

for (const path of ["/login", "/register", "/tournaments"]) await read(path);
await register(page, "Reader", "/games");
const table = await playNow(page, "struggle_of_empires@1");
const pages = ["/", "/games", "/games/new?ruleset=struggle_of_empires@1", "/play", "/desk", "/account", table, `${table}/chronicle`, `${table}/rules`, `${table}/rules/index`, `${table}/replay`, `${table}/desk`];
for (const path of pages) await read(path);
await page.context().clearCookies();
await logIn(page, given.host, given.password, given.tournament);
for (const path of [given.tournament, `${given.tournament}/places?a=0&b=1`]) await read(path);
await finish({ findings, count });

async function read(path) {
  await page.goto(path);
  await page.evaluate(axe);
  for (const width of [390, 1400]) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
      count++;
      for (const { id, impact, nodes } of found.violations)
        if (["serious", "critical"].includes(impact)) findings.push(`${path} ${width} ${colorScheme}: ${id} ${nodes[0].html.slice(0, 160)}`);
    }
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) faults.push(`${path} at ${width} scrolls sideways`);
  }
}
