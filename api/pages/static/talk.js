// Keeps the talk of a table new, in its panel or on its page, and sends its forms without leaving. Needs live.js.
"use strict";

/** @typedef {{last: number}} TalkMark */

class Talk {
  /** @param {HTMLElement} view */
  constructor(view) {
    this.view = view;
    this.panel = /** @type {HTMLDetailsElement | null} */ (document.querySelector("details#talk"));
    /** The news that was said last: a message is said once. */
    this.said = view.dataset.news || "";
    this.round = 0;
  }

  follow() {
    document.addEventListener("annals-talk", (event) => this.hear(/** @type {CustomEvent<TalkMark>} */ (event).detail));
    this.panel?.addEventListener("toggle", () => this.panel?.open && this.load(this.view.dataset.at || ""));
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("submit", (event) => this.send(event));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.panel?.open) return;
      this.panel.open = false;
      this.panel.querySelector("summary")?.focus();
    });
  }

  /** Fetch what is shown; while the panel is closed the list, since an open conversation counts as read. @param {TalkMark} mark */
  hear(mark) {
    if (mark.last <= Number(this.view.dataset.last)) return;
    const isShown = !this.panel || this.panel.open;
    this.load((isShown ? this.view.dataset.at : this.view.dataset.list) || "");
  }

  /** @param {Event} event */
  click(event) {
    const place = event.target instanceof Element ? event.target.closest("a[data-show]") : null;
    if (place && this.panel && this.view.contains(place) && matchMedia("(max-width: 40rem)").matches) this.panel.open = false;
    const link = event.target instanceof Element ? event.target.closest("a[data-talk]") : null;
    if (!(link instanceof HTMLAnchorElement) || !this.view.contains(link) || !this.panel) return;
    event.preventDefault();
    this.load(link.href, true);
  }

  /** @param {SubmitEvent} event */
  async send(event) {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !this.view.contains(form) || event.defaultPrevented) return;
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter : form.querySelector("button");
    if (button) button.disabled = true;
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) fields.append(name, String(value));
    if (button?.name) fields.append(button.name, button.value);
    const answer = await fetch(form.action, { method: "POST", body: fields }).catch(() => null);
    if (button) button.disabled = false;
    const next = answer ? parse(await answer.text()) : null;
    const problem = next?.querySelector(".problem");
    form.querySelector(".problem")?.remove();
    if (problem) form.prepend(document.adoptNode(problem));
    else if (next && answer?.ok) this.show(next, true);
    else form.submit();
  }

  /** @param {string} address @param {boolean} [wasAsked] */
  async load(address, wasAsked = false) {
    const round = ++this.round;
    const answer = await fetch(address, { headers: { Accept: "text/html" }, cache: "no-store" }).catch(() => null);
    if (!answer?.ok || round !== this.round) return;
    this.show(parse(await answer.text()), wasAsked);
  }

  /** Show a view of a page. A text that is being written stays. @param {Document} page @param {boolean} isNew */
  show(page, isNew) {
    const next = page.getElementById("talk-view");
    if (!next) return;
    const isOther = next.dataset.at !== this.view.dataset.at;
    if (isNew || isOther) {
      this.view.replaceWith(document.adoptNode(next));
      this.view = next;
    } else update(this.view, next);
    this.tell();
    if (isNew) {
      const place = /** @type {HTMLElement | null} */ (this.view.querySelector("textarea") ?? this.view.querySelector("a"));
      place?.focus();
    }
    if (this.view.querySelector(".messages") && this.panel) this.view.parentElement?.scrollTo({ top: this.view.scrollHeight });
  }

  tell() {
    const { unread, news } = this.view.dataset;
    const count = /** @type {HTMLElement | null} */ (this.panel?.querySelector("summary .count"));
    if (count) {
      count.textContent = unread || "0";
      count.hidden = !Number(unread);
    }
    const place = document.getElementById("talk-news");
    if (place && news && news !== this.said) place.textContent = news;
    this.said = news || this.said;
  }
}

const talkView = document.getElementById("talk-view");
if (talkView) new Talk(talkView).follow();
