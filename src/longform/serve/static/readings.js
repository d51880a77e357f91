// The readings of a question: "Who directed A Star Is Born?" asks of four films. A strip names them; choosing one leaves
// its sentences in full ink and dims the others.

import { el } from "./dom.js";

/** The readings of an answer: {name, sentences}, in the order of the answer; fewer than two are none. */
export function readingsOf(answer) {
  const found = answer.items?.length ? byItem(answer) : byTitle(answer);
  const shown = found.filter((reading) => reading.sentences.size > 0);
  return shown.length > 1 ? shown : [];
}

function byItem(answer) {
  return answer.items.map((item) => {
    const cited = new Set(item.evidence.map((place) => place.passage));
    const names = [item.text, ...item.aliases].map((name) => name.toLowerCase());
    const sentences = new Set();
    answer.sentences.forEach((sentence, number) => {
      const text = sentence.text.toLowerCase();
      const named = names.some((name) => text.includes(name));
      if (named && sentence.citations.some((citation) => cited.has(citation))) sentences.add(number);
    });
    return { name: item.text, sentences };
  });
}

function byTitle(answer) {
  const found = new Map();
  answer.sentences.forEach((sentence, number) => {
    const places = sentence.evidence.length ? sentence.evidence.map((one) => one.passage) : sentence.citations;
    for (const place of places) {
      const hit = answer.passages[place - 1];
      const name = hit && (hit.title || hit.document);
      if (!name) continue;
      if (!found.has(name)) found.set(name, new Set());
      found.get(name).add(number);
    }
  });
  return [...found].map(([name, sentences]) => ({ name, sentences }));
}

/** The strip of an answer; `prose` holds its sentences. Null where there is but one reading. */
export function readingStrip(answer, prose) {
  const readings = readingsOf(answer);
  if (readings.length === 0) return null;
  const buttons = readings.map((reading) =>
    el(
      "button",
      { type: "button", class: "chip", "aria-pressed": "false", onclick: (event) => choose(event.currentTarget, reading) },
      reading.name,
    ),
  );
  function choose(button, reading) {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const one of buttons) one.setAttribute("aria-pressed", String(on && one === button));
    for (const one of prose.querySelectorAll(".sentence")) {
      one.classList.toggle("dimmed", on && !reading.sentences.has(Number(one.dataset.sentence)));
    }
  }
  return el(
    "div",
    { class: "readings", role: "group", "aria-label": "Readings of this question" },
    el("span", { class: "readings-title", "aria-hidden": "true" }, "Readings of this question"),
    buttons,
  );
}
