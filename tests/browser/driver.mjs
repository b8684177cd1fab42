// A browser for a test: opens contexts, notes every fault, and clicks as a person does who knows no rules.
// `node NAME.mjs` reads {url, modules, browser, ...} from standard input and prints one JSON document.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const given = JSON.parse(readFileSync(0, "utf-8"));
const need = createRequire(join(given.modules, "x.js"));
const { chromium } = need("playwright-core");

export const PASSWORD = "correct horse battery staple 9";
const PATIENCE = 20_000;

/** Faults of all pages: errors, refusals of the policy, requests to others. */
export const faults = [];
/** Console errors that a scenario causes itself. */
export const expected = [];

const browser = await chromium.launch({
  executablePath: given.browser,
  env: { ...process.env, LD_LIBRARY_PATH: given.libraries },
  args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none"],
});

/** Return a page of a browser of its own. */
export async function open(options = {}) {
  const context = await browser.newContext({ baseURL: given.url, locale: "en", timezoneId: "UTC", ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    const told = `${message.text()} ${message.location().url}`;
    if (["error", "warning"].includes(message.type()) && !expected.some((each) => told.includes(each)))
      faults.push(`${page.url()}: ${told}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(given.url)) faults.push(`${page.url()}: asks ${request.url()}`);
  });
  return page;
}

/** Open an account by its form; `name` is new to the service. */
export async function register(page, name, next = "/games") {
  await page.goto(`/register?next=${next}`);
  await page.locator("input[name=name]").fill(name);
  await page.locator("input[name=password]").fill(PASSWORD);
  await page.locator("main form button").click();
  await page.locator(`main a[href="${next}"]`).click();
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
  await page.locator(`button[value="${ruleset}"]`).click();
  await page.waitForURL(/\/games\/[0-9a-f-]{36}/);
  return page.url().match(/\/games\/[0-9a-f-]{36}/)[0];
}

const QUESTION = ".decide form:not(.back)";

/** Time in which a form that is there can be answered, ms: others may close its decision meanwhile. */
const HASTE = { timeout: 4000 };

/** Answer questions by clicks; of buttons the first one that is offered. Return true if a move is made. */
export async function decide(page) {
  for (let step = 0; step < 40; step++) {
    const form = page.locator(QUESTION).first();
    try {
      const least = Number((await form.locator("fieldset > p").allTextContents()).join(" ").match(/\d+/)?.[0] ?? 0);
      const boxes = form.locator("input[type=checkbox]");
      for (let box = 0; box < Math.min(least, await boxes.count()); box++) await boxes.nth(box).check(HASTE);
      const ends = form.locator("button.ends");
      await ((await ends.count()) ? ends : form.locator("button")).first().click(HASTE);
    } catch (error) {
      if (error.name !== "TimeoutError") throw error;
      if (!(await form.count())) return false;
      continue;
    }
    await page.waitForLoadState("domcontentloaded");
    if (!new URL(page.url()).pathname.endsWith("/play")) return true;
  }
  throw new Error(`no end of questions at ${page.url()}`);
}

/** Print what a scenario has found, and end. */
export async function finish(found = {}) {
  await browser.close();
  process.stdout.write(JSON.stringify({ faults, ...found }));
}
