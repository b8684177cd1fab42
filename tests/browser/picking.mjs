// Picks of regions on the map, as people make them: by mouse, by keyboard alone, by touch.

/** Time after which typed letters begin a new name, ms. */
const TYPING = 1100;
const MOST_TABS = 400;

/** Return the region on the map that an option names, or null. */
export function regionOf(option, patience = {}) {
  return option.evaluate((node) => {
    const names = (value, region) =>
      value === region || (typeof value === "object" && value !== null && Object.values(value).some((each) => names(each, region)));
    const offered = [...document.querySelectorAll("a.place[href]:not([data-why])")].map((each) => each.dataset.region);
    const value = node.hasAttribute("value") && node.name !== "send" ? JSON.parse(node.value) : null;
    return offered.find((region) => value === region) ?? offered.find((region) => names(value, region)) ?? null;
  }, null, patience);
}

/** How often an answer was given, and how often a pick on the map came of it: value -> [given, come]. */
const fruits = new Map();
let trail = [];

/** Note an answer; `region` is picked on the map for it, or null. */
export function noteAnswer(value, region) {
  if (!fruits.has(value)) fruits.set(value, [0, 0]);
  trail.push(value);
  fruits.get(value)[0] += 1;
  if (!region) return;
  for (const each of new Set(trail)) fruits.get(each)[1] += 1;
}

/** Forget the answers of the move before: another begins. */
export function beginMove() {
  trail = [];
}

/** Return the place of the option that leads to the map: its value has most often led there, or is new; rare ones first. */
export function preferMapped(options) {
  const worth = ({ value, region }) => {
    const [given, come] = fruits.get(value) ?? [0, 0];
    return [region || !given ? 1 : (come + 1) / (given + 1), -given];
  };
  const better = ([a, b], [c, d]) => a > c || (a === c && b > d);
  return options.reduce((best, each, place) => (better(worth(each), worth(options[best])) ? place : best), 0);
}

/** Return the options of a question: value, region on the map, and whether the map fails to offer the region. */
export function readOptions(options) {
  return options.evaluateAll((nodes) => {
    const places = [...document.querySelectorAll("[data-region]:not(.selected)")];
    const known = new Map(places.map((each) => [each.dataset.region, each.matches("[href]:not([data-why])")]));
    const find = (value) =>
      typeof value === "string" && known.has(value) ? value
      : typeof value === "object" && value !== null ? Object.values(value).map(find).find(Boolean) : undefined;
    return nodes.map(({ name, value }) => {
      const region = name === "send" || !value ? undefined : find(JSON.parse(value));
      return { value, region, isLost: region !== undefined && !known.get(region) };
    });
  });
}

/** Pick an offered region on the map. `by`: click, tap or keys. */
export async function pickRegion(page, region, by) {
  await page.locator(".decide.held").waitFor({ state: "detached" }); // a question that has just changed
  if (by === "keys") return pickByKeys(page, region);
  const place = page.locator(`a.place[data-region="${region}"]`);
  let [x, y, hit] = await place.evaluate(findPoint);
  if (hit !== region) {
    await page.locator('[data-zoom="all"]').click(); // a map may open on a part
    [x, y, hit] = await place.evaluate(findPoint);
  }
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
  const enter = async () => {
    for (let tabs = 0; tabs < MOST_TABS && !(await at()); tabs++) await page.keyboard.press("Tab");
  };
  await enter();
  await page.keyboard.press("ArrowRight");
  const name = await page.locator(`[data-region="${region}"]`).getAttribute("aria-label");
  for (let tries = 0; tries < 4 && (await at()) !== region; tries++) {
    if (tries) await page.waitForTimeout(TYPING);
    await enter(); // on a busy machine a space may come so late that it chooses: the focus is then on what came of it
    await page.keyboard.type(name.split(":")[0].trim());
  }
  if ((await at()) !== region) throw new Error(`typing ${name} leads to ${await at()}, not to ${region}`);
  await page.keyboard.press("Enter");
}
