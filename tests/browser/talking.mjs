// A phone in French at the talk of a table: a treaty is answered (`step: answer`), or a letter shown (`step: show`).
// Prints the text of the letter before and after, and whether the page fits the phone.
import { finish, given, logIn, open } from "./driver.mjs";

const page = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: "fr-FR" });
await logIn(page, given.name, given.password, "/games");
await page.goto(given.talk);
await page.locator("#talk-view ul.talks a", { hasText: "Lettre" }).first().tap();
const messages = page.locator("#talk-view ol.messages");
await messages.waitFor();
const before = await messages.innerText();
if (given.step === "answer") {
  await page.locator("#talk-view button[name=answer][value=accept]").tap();
  await messages.getByText("Tenu jusqu").waitFor();
  await page.locator("#talk-view form.say textarea[name=text]").first().fill("D'accord.");
  await page.locator("#talk-view form.say:has(textarea[name=text]) > button").first().tap();
  await messages.getByText("D'accord.").waitFor();
} else {
  const letter = page.locator("#message-1");
  await letter.locator("details.show:has(button[name=audience]) > summary").tap();
  await letter.locator("button[name=audience][value=officers]").tap();
  await page.waitForLoadState("networkidle");
}
const fits = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
if (given.picture) await page.screenshot({ path: given.picture });
await finish({ before, after: await page.locator("#talk-view").innerText(), fits });
