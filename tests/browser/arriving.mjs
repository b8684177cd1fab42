// A person who has only the address: comes, finds a table, plays, is refused, is away, takes back, and takes the proof.
import { answer, decide, expected, fillIn, finish, given, go, open, openTab, register } from "./driver.mjs";

const [host, guest] = [await open(), await open()];
const told = {};
await register(host, "Arrival host");
await host.goto("/games/new?ruleset=struggle_of_empires@1");
await host.locator("select[name=seats]").selectOption("2");
await go(host, host.locator("main form button").last());
const table = new URL(host.url()).pathname;

// From the first page to an open table, an account, and a seat.
await guest.goto("/");
await go(guest, guest.locator(`section[aria-labelledby=open] a[href="${table}"]`));
await go(guest, guest.getByRole("link", { name: "Log in to take a seat" }));
await go(guest, guest.locator('main a[href^="/register"]'));
await fillIn(guest, "Arrival guest", table);
await go(guest, guest.getByRole("button", { name: "Take this seat" }).first());
await host.getByRole("button", { name: "Start the game" }).waitFor(); // the page of the host follows
await go(host, host.getByRole("button", { name: "Start the game" }));

// An answer in a forgotten tab comes too late: the page says so, and what has happened.
const due = (page) => page.locator(".bar.yours ~ .area .decide");
await turn(guest);
expected.push("/live");
const forgotten = await openTab(guest);
await forgotten.route(/\/live/, (route) => route.fulfill({ status: 503 }));
await forgotten.goto(table);
await decide(guest);
await answer(forgotten);
told.refusal = await forgotten.locator("#moved-on").innerText();
await forgotten.close();

// Away, until it is the own turn again; the first page leads back, one link tells what has happened.
await turn(guest);
await decide(guest);
await guest.goto("about:blank");
for (let moves = 0; moves < 12 && (await turn(host, 3000)); moves++) await decide(host);
await guest.goto("/");
await go(guest, guest.locator(`.rows.due a[href^="${table}"]`));
await go(guest, guest.getByRole("link", { name: "Since your last move" }));
told.away = await guest.locator(".chronicle .entry").count();
await go(guest, guest.getByRole("link", { name: "To the table" }));

// A move is taken back with the consent of the other.
await decide(guest);
await turn(host);
await decide(host);
await go(guest, guest.getByRole("button", { name: "Ask to take back my last move" }));
await host.locator(".vote").waitFor();
await go(host, host.getByRole("button", { name: "Agree" }));
await guest.locator(".chronicle .entry.undone").first().waitFor();
told.undone = await guest.locator(".chronicle .entry.undone").count();

// Both end the game; anybody may have its proof.
await guest.locator("#agreements summary").click();
await go(guest, guest.getByRole("button", { name: "Propose to end the game" }));
await host.locator(".vote").waitFor();
await go(host, host.getByRole("button", { name: "Agree" }));
await guest.locator(".bar.over").waitFor();
const [file] = await Promise.all([guest.waitForEvent("download"), guest.getByRole("link", { name: /with its proof/ }).click()]);
await file.saveAs(given.file);
await finish({ told });

/** Let the other one play until it is this one's decision; return false if it does not come. */
async function turn(page, patience = 20_000) {
  const other = page === host ? guest : host;
  const end = Date.now() + patience;
  while (Date.now() < end) {
    if (await due(page).count()) return true;
    if (other.url() !== "about:blank" && (await due(other).count())) await decide(other);
    else await page.waitForTimeout(100);
  }
  return false;
}
