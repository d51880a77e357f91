// Thumbs up and down, with a reason; the server keeps them.

import * as api from "./api.js";
import { el, icon, say } from "./dom.js";

const REASONS = ["Wrong", "Incomplete", "Not what I asked", "Sources do not support it", "Hard to read"];

/** The two buttons and the form that a press opens, for the answer with this id. */
export function feedback(answerId) {
  const up = thumb("up", "Good answer", 1);
  const down = thumb("down", "Bad answer", -1);
  const said = el("p", { class: "note" });
  const place = el("div", { class: "feedback", hidden: true });
  let rating = 0;

  function thumb(name, label, value) {
    const attributes = { type: "button", class: "quiet icon-only", "aria-label": label, "aria-pressed": "false", title: label };
    return el("button", { ...attributes, onclick: () => press(value) }, icon(name));
  }

  async function press(value) {
    rating = value;
    up.setAttribute("aria-pressed", String(value === 1));
    down.setAttribute("aria-pressed", String(value === -1));
    place.hidden = false;
    place.replaceChildren(form(value), said);
    if (await send({})) thank("Thank you, kept. A reason helps more.");
  }

  function thank(text) {
    said.textContent = text;
    say(text);
  }

  async function send(extra) {
    try {
      await api.rate({ answer_id: answerId, rating, ...extra });
      return true;
    } catch (error) {
      said.textContent = error.message;
      say(error.message);
      return false;
    }
  }

  function form(value) {
    const reason = el("input", { type: "text", name: "reason", maxlength: 2000, autocomplete: "off" });
    const correction = el("textarea", { name: "correction", rows: 2, maxlength: 10000 });
    const chips = REASONS.map((text) =>
      el("button", { type: "button", class: "chip", onclick: () => ((reason.value = text), reason.focus()) }, text),
    );
    const made = el(
      "form",
      { class: "reason" },
      value < 0 && el("div", { class: "chips" }, chips),
      el("label", { class: "field" }, value < 0 ? "What is wrong?" : "What is good?", reason),
      value < 0 && el("label", { class: "field" }, "What would be right?", correction),
      el(
        "div",
        { class: "row" },
        el("button", { type: "submit", class: "primary" }, "Keep it"),
        el("button", { type: "button", class: "quiet", onclick: close }, "Close"),
      ),
    );
    made.addEventListener("submit", async (event) => {
      event.preventDefault();
      const extra = { reason: reason.value.trim() || undefined, correction: correction.value.trim() || undefined };
      if (await send(extra)) {
        made.remove();
        thank("Thank you, kept.");
      }
    });
    return made;
  }

  function close() {
    place.hidden = true;
    (rating > 0 ? up : down).focus();
  }

  return { buttons: [up, down], place };
}
