// A browser for a test: opens contexts, notes every fault, and clicks as a person does who knows no rules.
// `node NAME.mjs` reads {url, modules, browser, ...} from standard input and prints one JSON document.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beginMove, noteAnswer, pickRegion, preferMapped, readOptions, regionOf } from "./picking.mjs";

export const given = JSON.parse(readFileSync(0, "utf-8"));
const need = createRequire(join(given.modules, "x.js"));
const { chromium } = need("playwright-core");

export const PASSWORD = "correct horse battery staple 9";
const PATIENCE = 20_000;

/** Faults of all pages: errors, refusals of the policy, requests to others. */
export const faults = [];
/** Console errors that a scenario causes itself. */
export const expected = [];
/** Refusals with 409 in the console, less those that a page has explained. */
let conflicts = 0;

const browser = await chromium.launch({
  executablePath: given.browser,
  env: { ...process.env, LD_LIBRARY_PATH: given.libraries },
  args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"],
});

/** Browsers without scripts. */
const plain = new WeakSet();

/** Return a page of a browser of its own. */
export async function open(options = {}) {
  const context = await browser.newContext({ baseURL: given.url, locale: "en", timezoneId: "UTC", ...options });
  context.setDefaultTimeout(PATIENCE);
  if (options.javaScriptEnabled === false) plain.add(context);
  return openTab({ context: () => context });
}

/** Return one more page of the browser of a page. */
export async function openTab(beside) {
  const page = await beside.context().newPage();
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    const told = `${message.text()} ${message.location().url}`;
    if (told.includes("status of 409")) conflicts++;
    else if (["error", "warning"].includes(message.type()) && !expected.some((each) => told.includes(each)))
      faults.push(`${page.url()}: ${told}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(given.url)) faults.push(`${page.url()}: asks ${request.url()}`);
  });
  return page;
}

/** Time in which a form that is there can be answered, ms: others may close its decision meanwhile. */
const HASTE = { timeout: 2000 };

/** Most presses of the tab key to a place. */
const MOST_TABS = 400;

/** Ways to use a link, a button or a box. */
const WAYS = {
  click: (place, patience) => place.click(patience),
  tap: (place, patience) => place.tap(patience),
  keys: async (place, patience) => {
    await tabTo(place, patience);
    await place.page().locator(".decide.held").waitFor({ state: "detached" }); // a question that has just changed
    await place.page().keyboard.press((await place.getAttribute("type")) === "checkbox" ? "Space" : "Enter");
  },
};

/** Use a link, a button or a box as the scenario says: `by` click, tap or keys. */
export const use = WAYS[given.by ?? "click"];

/** Press the tab key until this place has the focus. It must be reached. */
async function tabTo(place, patience = {}) {
  await place.waitFor(patience);
  for (let count = 0; count < MOST_TABS; count++) {
    if (await place.evaluate((node) => node === document.activeElement, null, patience)) return;
    await place.page().keyboard.press("Tab");
  }
  throw new Error(`no key leads to ${place} at ${place.page().url()}`);
}

/** Type into a field. */
async function write(page, name, text) {
  const field = page.locator(`main input[name=${name}]`);
  if (given.by !== "keys") return field.fill(text);
  await tabTo(field);
  return page.keyboard.type(text);
}

/** Open an account by its form; `name` is new to the service. */
export async function register(page, name, next = "/games") {
  await page.goto(`/register?next=${next}`);
  await fillIn(page, name, next);
}

/** Fill in the form for a new account, and go on to `next`. */
export async function fillIn(page, name, next) {
  await write(page, "name", name);
  await write(page, "password", PASSWORD);
  await go(page, page.locator("main form button"));
  await go(page, page.locator(`main a[href="${next}"]`));
}

/** Log in by the form. */
export async function logIn(page, name, password, next) {
  await page.goto(`/login?next=${next}`);
  await page.locator("input[name=name]").fill(name);
  await page.locator("input[name=password]").fill(password);
  await page.locator("main form button:not([hidden])").first().click();
  await page.waitForURL((url) => url.pathname === next);
}

/** Start a game against bots by its form. */
export async function playNow(page, ruleset) {
  await page.goto("/play");
  await go(page, page.locator(`button[value="${ruleset}"]`));
  return page.url().match(/\/games\/[0-9a-f-]{36}/)[0];
}

const QUESTION = ".decide form:not(.back):not(.why *)";

/** Refusals that may come to who clicks rightly, and that the page explains: others, or an own order, were faster. */
const OVERTAKEN = given.orders?.length ? /data-cause="(decision_closed|not_your_decision|already_answered)"/ : /data-cause="decision_closed"/;

/** Return true for the answer of the service to a form of a table. @param answer */
const isOfForm = (answer) => answer.request().method() === "POST" && /\/games\/[^/]+\/(play|commands)$/.test(new URL(answer.url()).pathname);

/**
 * Carry out an act that sends a form of a table, such as a click, and return the service's answer, once the page shows it.
 * Return null if what is acted on has gone, or was held back: the page follows the game.
 */
export async function submit(page, act) {
  const [sent, led] = [page.waitForResponse(isOfForm, { timeout: PATIENCE / 2 }), plain.has(page.context()) ? leave(page) : null];
  sent.catch(() => {});
  let answer;
  try {
    await act();
    answer = await sent;
    if (led && !(await led)) faults.push(`${page.url()}: a click leads to a place on the page, not to its option`);
  } catch (error) {
    if (error.name !== "TimeoutError") throw error;
    return null;
  }
  if (!led) await page.waitForFunction(() => document.getElementById("main") && !document.querySelector("[aria-busy]"));
  if (answer.status() === 409 && OVERTAKEN.test(await answer.text())) conflicts--;
  else if (answer.status() >= 400)
    faults.push(`${page.url()}: ${answer.status()} ${(answer.request().postData() ?? "").slice(60)} ${await page.locator("#moved-on, .problem").allInnerTexts()}`);
  return answer;
}

/** Return the answer that makes another page. @param page */
function leave(page) {
  const led = page.waitForNavigation({ waitUntil: "domcontentloaded", timeout: PATIENCE / 2 });
  led.catch(() => {});
  return led;
}

/** Use a link or a button, and wait for what it leads to: another page, or with scripts an answer beside the map. */
export async function go(page, place) {
  const isBesideMap = !plain.has(page.context()) && (await place.evaluate((node) => Boolean(node.form?.closest(".stage"))));
  if (isBesideMap) return submit(page, () => use(place));
  return Promise.all([leave(page), use(place)]);
}

/** Regions picked on the map. */
export const picked = [];

/** Use an option as the scenario says: `onMap`, by its region on the map if it has one. */
async function choose(page, option) {
  const region = given.onMap ? await regionOf(option, HASTE) : null;
  if (given.onMap) noteAnswer(await option.getAttribute("value", HASTE), region);
  if (!region) {
    await unfold(option);
    return use(option, HASTE);
  }
  await pickRegion(page, region, given.by ?? "click");
  picked.push(region);
}

/** Open the fold of an option that a narrow window hides. @param option */
async function unfold(option) {
  const fold = option.locator("xpath=ancestor::details[1]/summary");
  if (!(await option.isVisible()) && (await fold.count())) await use(fold, HASTE);
}

/** Find faults of the map beside a question: it offers every region that an option names. */
async function checkMap(page, form) {
  if (!(await page.locator("svg.board").count())) faults.push(`${page.url()}: a question without a map`);
  for (const { value, isLost } of await readOptions(form.locator("button, input[type=checkbox]")))
    if (isLost) faults.push(`${page.url()}: the map does not offer ${value}`);
}

/** Answer the question that is shown, of buttons by the first one, or `onMap` one that leads there. Return as `submit`. */
export async function answer(page, ending = true) {
  const key = await page.locator(QUESTION).first().locator("input[name=key]").inputValue(HASTE).catch(() => "");
  const form = page.locator(`${QUESTION}:has(input[name=key][value="${key}"])`); // this one alone: pages change
  return submit(page, async () => {
    if (given.onMap) await checkMap(page, form);
    const least = Number((await form.locator("fieldset > p").allTextContents()).join(" ").match(/\d+/)?.[0] ?? 0);
    const boxes = form.locator("input[type=checkbox]");
    for (let box = 0; box < Math.min(least, await boxes.count()); box++) await choose(page, boxes.nth(box));
    const wanted = form.locator(ending ? "button.ends" : "button:not(.ends)");
    const buttons = (await wanted.count()) ? wanted : form.locator("button");
    await choose(page, buttons.nth(given.onMap ? preferMapped(await readOptions(buttons)) : 0));
  });
}

/** Answer questions until a move is made. Return true if it is. `ending`: prefer what brings the game on. */
export async function decide(page, ending = true) {
  beginMove();
  for (let step = 0; step < 40; step++) {
    const made = await answer(page, ending);
    if (!made && !(await page.locator(QUESTION).count())) return false;
    if (made?.status() === 303 && made.headers().location.includes("wait=")) return true;
  }
  throw new Error(`no end of questions at ${page.url()}`);
}

/** Print what a scenario has found, and end. */
export async function finish(found = {}) {
  await browser.close();
  if (conflicts > 0) faults.push(`${conflicts} refusals with 409 have no page that explains them`);
  process.stdout.write(JSON.stringify({ faults, ...found }));
}
