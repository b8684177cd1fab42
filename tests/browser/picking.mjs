// Picks of regions on the map, as people make them: by mouse, by keyboard alone, by touch.

/** Time after which typed letters begin a new name, ms. */
const TYPING = 1100;
const MOST_TABS = 400;

/** Return the region on the map that an option names, or null. */
export function regionOf(option, patience = {}) {
  return option.evaluate((node) => {
    const names = (value, region) =>
      value === region || (typeof value === "object" && value !== null && Object.values(value).some((each) => names(each, region)));
    const offered = [...document.querySelectorAll("a.place[href]")].map((each) => each.dataset.region);
    const value = node.hasAttribute("value") && node.name !== "send" ? JSON.parse(node.value) : null;
    return offered.find((region) => value === region) ?? offered.find((region) => names(value, region)) ?? null;
  }, null, patience);
}

/** Pick an offered region on the map. `by`: click, tap or keys. */
export async function pickRegion(page, region, by) {
  await page.locator(".decide.held").waitFor({ state: "detached" }); // a question that has just changed
  if (by === "keys") return pickByKeys(page, region);
  const place = page.locator(`a.place[data-region="${region}"]`);
  const [x, y, hit] = await place.evaluate(findPoint);
  if (hit !== region) throw new Error(`at the anchor of ${region} is ${hit}`);
  return by === "tap" ? page.touchscreen.tap(x, y) : page.mouse.click(x, y);
}

/** Scroll to a region; return its anchor in the window, and the region there. */
function findPoint(node) {
  const anchor = () => {
    const at = new DOMPoint(Number(node.dataset.x), Number(node.dataset.y));
    return at.matrixTransform(node.ownerSVGElement.getScreenCTM());
  };
  node.scrollIntoView({ block: "center", behavior: "instant" });
  scrollBy({ top: anchor().y - innerHeight / 2, behavior: "instant" });
  const { x, y } = anchor();
  const at = document.elementFromPoint(x, y);
  return [x, y, at?.closest("[data-name-of]")?.dataset.nameOf ?? at?.closest("[data-region]")?.dataset.region ?? at?.outerHTML.slice(0, 200)];
}

/** Walk over the map by an arrow and by letters to an offered region, and choose it. */
async function pickByKeys(page, region) {
  const at = () => page.evaluate(() => document.activeElement?.dataset.region);
  for (let tabs = 0; tabs < MOST_TABS && !(await at()); tabs++) await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  const name = await page.locator(`[data-region="${region}"]`).getAttribute("aria-label");
  for (let tries = 0; tries < 4 && (await at()) !== region; tries++) {
    if (tries) await page.waitForTimeout(TYPING);
    await page.keyboard.type(name.split(":")[0].trim());
  }
  if ((await at()) !== region) throw new Error(`typing ${name} leads to ${await at()}, not to ${region}`);
  await page.keyboard.press("Enter");
}
