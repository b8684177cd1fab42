// A person answers on the map: by mouse, by keyboard alone, and by touch on a phone. Then the replay, step by step.
import { finish, given, open, playNow, register, submit } from "./driver.mjs";
import { pickRegion, regionOf } from "./picking.mjs";

const WAYS = {
  click: { viewport: { width: 1400, height: 1000 } },
  keys: { viewport: { width: 1000, height: 800 } },
  tap: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};
const found = { picks: {}, why: {}, told: {} };
for (const [way, options] of Object.entries(WAYS)) {
  const page = await open(options);
  await register(page, `Maud ${way}`, "/games");
  const table = await playNow(page, given.ruleset);
  found.picks[way] = await pickOnMap(page, way);
  found.told[way] = await tellAbout(page, way);
  found.focus ??= await focusAfterUpdate(page);
  if (way === "tap") found.zoomed = await zoom(page, table);
  if (way === "click") found.replay = await replay(page, table);
}
await finish(found);

/** Answer some questions about regions on the map, all others by their first option; return the number of the former. */
async function pickOnMap(page, by) {
  let picks = 0;
  for (let step = 0; step < 30 && picks < given.picks; step++) {
    const option = page.locator(".decide form:not(.back) button").first();
    await option.waitFor({ state: "attached" });
    await option.evaluate((node) => node.closest(".folds > details")?.setAttribute("open", "")); // a phone folds kinds of moves
    const region = await aloneIn(page, await regionOf(option));
    if (region && !found.why[by]) found.why[by] = await askOnMap(page, by);
    const made = await submit(page, () => (region ? pickRegion(page, region, by) : option.click()));
    if (made && region) picks += 1;
  }
  return picks;
}

/** Return the region if one option alone names it: the map then answers at once, and else marks all that do. */
async function aloneIn(page, region) {
  if (!region) return null;
  const values = await page.locator(".decide [name=pick], .decide [name=path]").evaluateAll((nodes) => nodes.map((each) => each.value));
  return values.filter((each) => each.includes(`"${region}"`)).length === 1 ? region : null;
}

/** Choose a region that is not offered; return whether the focus is on the reason for it, which stands open. */
async function askOnMap(page, by) {
  const [region, name] = await page.locator("a.place[data-why]").first().evaluate((node) => [node.dataset.region, node.ariaLabel.split(":")[0]]);
  await submit(page, () => pickRegion(page, region, by));
  const told = await page.evaluate(() => document.activeElement.closest(".why[open] .reason")?.textContent ?? "");
  return told.includes(name);
}

/** Open the card of a region by the right button, a key or the button "i", go to a neighbour's, and close it; return whether it told both. */
async function tellAbout(page, by) {
  const place = page.locator('[data-region][tabindex="0"]');
  const card = page.locator("dialog.about-region[open]");
  await place.focus();
  if (by === "keys") await page.keyboard.press("?");
  else if (by === "tap") await page.locator("[data-zoom=about]").tap();
  else await place.dispatchEvent("contextmenu");
  const told = await card.locator("h2").textContent();
  const near = card.locator("a[data-card]").first();
  const name = await near.textContent();
  await near.click();
  await card.locator("h2", { hasText: name }).waitFor();
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  return Boolean(told) && told !== name;
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
