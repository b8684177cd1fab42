// What the page tells of is marked on the map in the window: on the table's own map, and in the replay to which the link leads.
import { decide, faults, finish, given, open, playNow, register } from "./driver.mjs";

const page = await open(given.browsing);
await register(page, given.name, "/play");
const table = await playNow(page, given.ruleset);
const links = page.locator(".gazette[open] a[data-changes], .gazette .battle[open] a[data-show], .window a[data-show]");
let [looked, names] = [0, 0];
for (let turn = 0; turn < given.turns && looked < given.looks; turn++) {
  await page.locator(".bar.yours ~ .area .decide").or(page.locator(".bar.over")).first().waitFor();
  if (await page.locator(".bar.over").count()) break;
  names += await checkNames("table");
  if (await links.count()) await look();
  await page.locator(".board .place[data-region]").first().dispatchEvent("pointerover"); // the line tells of it
  if (await decide(page, turn % 3 === 2)) await checkLine();
}
await finish({ looked, names });

/** Follow each link, with its mark in sight; then the way that a browser without scripts goes. */
async function look() {
  const ways = [];
  for (const link of await links.all()) {
    const [href, told] = [await link.getAttribute("href"), await link.textContent()];
    await link.click({ timeout: 2000 }).catch(() => faults.push(`${table}: ${told} is covered`));
    await checkMarks(`${told} at ${page.url()}`);
    ways.push(href);
  }
  for (const href of ways) {
    await page.goto(href);
    await checkMarks(`the replay ${href}`);
    await checkNames("replay");
    looked++;
  }
  await page.goto(table);
}

/** A marked region has its middle, or a good part of itself, in the window. */
async function checkMarks(place) {
  const isSeen = () => {
    const board = document.querySelector("svg.board").getBoundingClientRect();
    const isIn = (box) => box.width > 3 && box.left < board.right - 9 && box.right > board.left + 9 && box.top < Math.min(board.bottom, innerHeight) - 9 && box.bottom > Math.max(board.top, 0) + 9;
    return [...document.querySelectorAll("use.changed, .place.lit use")].some((each) => isIn(each.getBoundingClientRect()));
  };
  await page.waitForFunction(isSeen, null, { timeout: 8000 }).catch(() => faults.push(`nothing is marked in sight: ${place}`));
}

/** No name is too small to read, and none lies on another. Return how many are shown. */
async function checkNames(place) {
  const isSettled = () => {
    const svg = document.querySelector("svg.board");
    return svg.querySelector('[data-key="names"]') || Number(svg.dataset.least) * svg.getScreenCTM().a >= 9.9;
  };
  await page.waitForFunction(isSettled, null, { timeout: 8000 }).catch(() => faults.push(`${place}: names are too small to read`));
  const found = await page.evaluate(() => {
    const svg = document.querySelector("svg.board");
    const [scale, board] = [svg.getScreenCTM().a, svg.getBoundingClientRect()];
    if (!svg.classList.contains("far")) return { small: [], covered: [], count: 1 };
    const texts = [...svg.querySelectorAll('[data-key="names"] text')];
    const boxes = texts.map((each) => [each, each.getBoundingClientRect()]).filter(([, box]) => box.right > board.left && box.left < board.right && box.bottom > board.top && box.top < board.bottom);
    const covered = [];
    for (const [n, [a, one]] of boxes.entries())
      for (const [b, two] of boxes.slice(n + 1))
        if (Math.min(one.right, two.right) - Math.max(one.left, two.left) > 4 && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 5) covered.push(`${a.textContent} and ${b.textContent}`);
    return { small: boxes.filter(([each]) => Number(each.getAttribute("font-size")) * scale < 9.9).map(([each]) => each.textContent), covered, count: boxes.length };
  });
  if (found.small.length) faults.push(`${place}: too small to read: ${found.small}`);
  if (found.covered.length) faults.push(`${place}: one name on another: ${found.covered}`);
  return found.count;
}

/** The line below the map tells of no region that was looked at before a move. */
async function checkLine() {
  const line = await page.evaluate(() => {
    const svg = document.querySelector("svg.board");
    const at = [document.activeElement?.closest("[data-region]"), svg.querySelector("[data-region]:hover")];
    return [document.querySelector(".where")?.textContent, svg.dataset.hint, ...at.map((each) => each?.getAttribute("aria-label"))];
  });
  if (line[0] && !line.slice(1).includes(line[0])) faults.push(`the line still tells: ${line[0]}`);
}
