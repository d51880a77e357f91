// What was asked before: in this visit, and what the server kept.

import * as api from "./api.js";
import { byId, closable, el, refill } from "./dom.js";

const dialog = closable(byId("history"));
const LIMIT = 100;
let items = [];
// What there is to say besides the list: that it is on its way, that it could not be had, that it is gone.
let word = "";

/** `session()` gives the turns of this visit; `go(turn)` shows one, `again(item)` shows one that the server kept. */
export function setUpHistory({ session, go, again }) {
  const draw = () => drawPast(session(), go, again);
  byId("history-open").addEventListener("click", async () => {
    items = [];
    word = "Loading …";
    draw();
    dialog.showModal();
    try {
      items = (await api.past(LIMIT)).items;
      word = "";
    } catch (error) {
      word = error.message;
    }
    draw();
  });
  byId("history-filter").addEventListener("input", draw);
  const clear = byId("history-clear");
  clear.addEventListener("click", async () => {
    // Two presses, because there is no way back.
    if (clear.dataset.sure === undefined) {
      clear.dataset.sure = "";
      clear.textContent = "Delete all of it, for good?";
      return;
    }
    try {
      await api.forget();
      items = [];
      word = "The history is deleted; what was rated stays with the server, to learn from.";
    } catch (error) {
      word = error.message;
    }
    calm();
    draw();
  });
  const calm = () => {
    delete clear.dataset.sure;
    clear.textContent = "Delete the history";
  };
  dialog.addEventListener("close", calm);
}

function drawPast(turns, go, again) {
  const wanted = byId("history-filter").value.trim().toLowerCase();
  const matches = (question) => question.toLowerCase().includes(wanted);
  const here = new Set(turns.map((turn) => turn.answer?.id).filter(Boolean));
  const entry = (question, notes, action) =>
    el(
      "li",
      {},
      el("button", { type: "button", onclick: () => (dialog.close(), action()) }, el("span", {}, question), el("span", { class: "note" }, notes)),
    );
  const rows = [
    ...[...turns].reverse().map((turn) => matches(turn.question) && entry(turn.question, "in this visit", () => go(turn))),
    ...items
      .filter((item) => !here.has(item.id) && matches(item.question))
      .map((item) => entry(item.question, noted(item), () => again(item))),
  ].filter(Boolean);
  refill(byId("past"), rows);
  const nothing = wanted ? "No question has these words." : "Nothing was asked yet.";
  byId("past-note").textContent = word || (rows.length === 0 ? nothing : "");
}

function noted(item) {
  const asked = new Date(typeof item.asked_at === "number" ? item.asked_at * 1000 : item.asked_at);
  const when = Number.isNaN(asked.valueOf())
    ? String(item.asked_at)
    : asked.toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return [item.index, when, item.rating === 1 && "good", item.rating === -1 && "bad"].filter(Boolean).join(" · ");
}
