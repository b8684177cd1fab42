// A person answers on the map: by mouse, by keyboard alone, and by touch on a phone. Then the replay, step by step.
import { finish, given, open, playNow, register } from "./driver.mjs";

const WAYS = {
  mouse: { viewport: { width: 1400, height: 1000 } },
  keys: { viewport: { width: 1000, height: 800 } },
  touch: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};
const found = { picks: {} };
for (const [way, options] of Object.entries(WAYS)) {
  const page = await open(options);
  await register(page, `Maud ${way}`, "/games");
  const table = await playNow(page, given.ruleset);
  found.picks[way] = await pickOnMap(page, way);
  found.focus ??= await focusAfterUpdate(page);
  if (way === "touch") found.zoomed = await zoom(page, table);
  if (way === "mouse") found.replay = await replay(page, table);
}
await finish(found);

/** Answer some questions about regions on the map, all others by their first option; return the number of the former. */
async function pickOnMap(page, way) {
  let picks = 0;
  for (let step = 0; step < 30 && picks < given.picks; step++) {
    await page.locator(".decide").waitFor();
    const before = await questionOf(page);
    if (!(await page.locator("a.place[href]").count())) {
      await page.locator(".decide form:not(.back) button").first().click();
    } else {
      await pick(page, way);
      picks += 1;
    }
    await page.waitForFunction((was) => document.querySelector(".decide")?.textContent !== was, before);
  }
  return picks;
}

/** Return the text of the open question. */
function questionOf(page) {
  return page.locator(".decide").evaluate((each) => each.textContent);
}

async function pick(page, way) {
  const place = page.locator("a.place[href]").first();
  if (way === "keys") return pickByKeys(page, await place.getAttribute("data-region"));
  await place.scrollIntoViewIfNeeded();
  const [x, y] = await place.evaluate((each) => {
    each.scrollIntoView({ block: "center" });
    const at = new DOMPoint(Number(each.dataset.x), Number(each.dataset.y));
    const shown = at.matrixTransform(each.ownerSVGElement.getScreenCTM());
    return [shown.x, shown.y];
  });
  await (way === "touch" ? page.touchscreen.tap(x, y) : page.mouse.click(x, y));
}

/** Walk over the map by arrows and letters to an offered region, and choose it. */
async function pickByKeys(page, region) {
  for (let tabs = 0; tabs < 60; tabs++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement?.hasAttribute("data-region"))) break;
  }
  await page.keyboard.press("ArrowRight");
  const name = await page.locator(`[data-region="${region}"]`).getAttribute("aria-label");
  const at = () => page.evaluate(() => document.activeElement.dataset.region);
  if ((await at()) !== region) await page.keyboard.type(name.split(":")[0].slice(0, 7));
  if ((await at()) !== region) throw new Error(`typing leads to ${await at()}, not to ${region}`);
  await page.keyboard.press("Enter");
}

/** Return true if the map has one tab stop. */
async function focusAfterUpdate(page) {
  return (await page.locator('[data-region][tabindex="0"]').count()) === 1;
}

/** Come closer, and load the page anew: the view stays. */
async function zoom(page, table) {
  const view = () => page.locator("svg.board").getAttribute("viewBox");
  await page.goto(table);
  await page.locator("[data-zoom=all]").click();
  const whole = await view();
  await page.locator("[data-zoom=in]").click();
  const closer = await view();
  await page.reload();
  return { closer: whole !== closer, kept: (await view()) === closer };
}

/** Step through a replay by a link, a key and the slider; return the versions and the addresses of whole pages. */
async function replay(page, table) {
  await page.goto(`${table}/replay?version=5`);
  const seen = [];
  const version = () => new URL(page.url()).searchParams.get("version");
  const step = async (act) => {
    const before = page.url();
    await act();
    await page.waitForURL((url) => url.href !== before);
    seen.push(version());
  };
  let loads = 0;
  page.on("load", () => (loads += 1));
  await step(() => page.locator('[data-step="after"]').click());
  await step(() => page.keyboard.press("ArrowRight"));
  await step(() => page.locator('[data-step="first"]').click());
  await step(() => page.locator("input[type=range]").fill("4"));
  const label = await page.locator(".slider label").textContent();
  seen.push(label.match(/\d+/)[0], await page.locator("input[type=range]").inputValue());
  await step(() => page.locator("[data-speed='400']").click());
  return { seen, loads };
}
