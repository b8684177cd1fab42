// Somebody opens pages, and every page to which they lead, in a language; each must answer, and none has an error.
import { join } from "node:path";
import { faults, finish, given, logIn, open } from "./driver.mjs";

const page = await open({ locale: given.lang, viewport: { width: 390, height: 844 } });
page.on("response", (answer) => {
  if (answer.status() >= 400) faults.push(`${page.url()}: ${answer.status()} ${answer.url()}`);
});
if (given.name) await logIn(page, given.name, given.password, "/games");
const visited = new Set();
const sideways = [];
let waiting = given.pages;
for (let depth = 0; depth <= given.depth; depth++) {
  const next = new Set();
  for (const path of waiting) for (const link of await visit(path)) next.add(link);
  waiting = [...next].filter((path) => !visited.has(path));
}
if (given.folder) await shoot();
await finish({ count: visited.size, sideways });

/** Open a page; return the pages of this service to which it leads. */
async function visit(path) {
  visited.add(path);
  await page.goto(path);
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) sideways.push(path);
  const links = await page.locator("main a[href]").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("href").split("#")[0]));
  return links.filter((each) => each.startsWith("/") && !each.startsWith("/v1") && !each.includes("/board.") && !/[?&](version|since|after|a|b)=/.test(each));
}

/** Take pictures of the desk, narrow and wide. */
async function shoot() {
  for (const [width, height] of [[390, 844], [1280, 800]]) {
    await page.setViewportSize({ width, height });
    await page.goto("/desk");
    await page.screenshot({ path: join(given.folder, `desk-${given.lang}-${width}.png`), fullPage: true });
  }
}
