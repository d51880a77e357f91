// The document that a passage comes from, in a panel: scrolled to the passage, with the supporting words marked.

import * as api from "./api.js";
import { hide, title } from "./citations.js";
import { byId, closable, el, put, refill } from "./dom.js";
import { cut, unitsOf } from "./text.js";

const dialog = closable(byId("source"));
const body = byId("source-text");
const kept = new Map();
// The citation gets the focus back, and would show its passage again.
dialog.addEventListener("close", () => hide());

/** Open the source of a hit. `evidence` are the words that support a sentence, counted in the passage's text. */
export async function openSource(index, hit, evidence = []) {
  byId("source-title").textContent = hit.title || hit.document;
  byId("source-where").textContent = hit.document;
  refill(body, el("p", { class: "note" }, "Opening …"));
  if (!dialog.open) dialog.showModal();
  const key = `${index}\n${hit.document}`;
  let place;
  try {
    // What is not here yet, or was uploaded anew since, is fetched.
    if (!stands(hit, kept.get(key))) kept.set(key, await api.sourceText(index, hit.document));
    place = placeOf(hit, kept.get(key));
  } catch (error) {
    refill(
      body,
      el("p", { class: "error" }, error.message),
      el("button", { type: "button", class: "primary", onclick: () => openSource(index, hit, evidence) }, "Try again"),
      el("h3", {}, title(hit)),
      el("p", { class: "passage" }, hit.text),
    );
    return;
  }
  if (place === null) {
    const changed = "The document has changed since: this passage is no longer in it.";
    drawDocument(kept.get(key), { start: 0, end: 0 }, []);
    body.prepend(el("p", { class: "error" }, changed), el("p", { class: "passage" }, hit.text));
  } else drawDocument(kept.get(key), place, evidence);
  body.focus({ preventScroll: true });
  const spot = body.querySelector("mark") ?? body.querySelector(".passage");
  spot?.scrollIntoView({ block: "center" });
}

/** Whether the passage stands in the document where it was found. */
function stands(hit, found) {
  if (!found) return false;
  const units = unitsOf(found.text);
  return !hit.text || found.text.slice(units(hit.start), units(hit.end)) === hit.text;
}

/** Where the passage stands in the document, in characters: where it was, or else where its text is now. */
function placeOf(hit, found) {
  if (stands(hit, found)) return hit;
  const at = found.text.indexOf(hit.text);
  if (at < 0) return null;
  const start = [...found.text.slice(0, at)].length;
  return { start, end: start + [...hit.text].length };
}

function drawDocument(found, hit, evidence) {
  const { text } = found;
  const units = unitsOf(text);
  const passage = { start: units(hit.start), end: units(hit.end), kind: "passage" };
  const spans = [
    passage,
    ...evidence.map((one) => ({ start: units(hit.start + one.start), end: units(hit.start + one.end), kind: "evidence" })),
  ];
  const marks = found.marks.map((mark) => ({ at: units(mark.offset), label: mark.label.trim() }));
  const lines = linesOf(text, marks);
  const written = new Set(lines.map((line) => line.text.trim()));
  const labels = new Set(marks.map((mark) => mark.label));
  // A label that stands nowhere in the text, such as a page number, is shown where it begins to hold.
  const added = marks.filter((mark) => mark.label && !written.has(mark.label));
  const made = [];
  for (const line of lines) {
    while (added.length && added[0].at <= line.start) made.push(el("p", { class: "page-number" }, added.shift().label));
    const known = labels.has(line.text.trim());
    const kind = known ? el("h3") : el("p", { class: line.alone ? "heading" : null });
    made.push(put(kind, cut(text, spans, line.start, line.end).map(drawPiece)));
  }
  refill(body, made);
}

/**
 * The lines of a text, cut also where a heading or a page begins: {text, start, end, alone}, where `alone` looks like a
 * heading. A mark elsewhere, in the middle of a section, cuts nothing.
 */
function linesOf(text, marks) {
  const begins = marks.filter((mark) => text.startsWith(mark.label, mark.at) || !text.includes(mark.label));
  const places = new Set(begins.map((mark) => mark.at));
  const lines = [];
  for (const match of text.matchAll(/[^\n]+/g)) {
    const end = match.index + match[0].length;
    const cuts = [...places].filter((at) => at > match.index && at < end).sort((one, other) => one - other);
    let start = match.index;
    for (const stop of [...cuts, end]) {
      const line = text.slice(start, stop);
      const apart = (start === 0 || text.startsWith("\n\n", start - 2)) && text.startsWith("\n\n", stop);
      const alone = apart && line.length <= 60 && !/[.!?…:;,"”)]\s*$/.test(line);
      if (line.trim()) lines.push({ text: line, start, end: stop, alone });
      start = stop;
    }
  }
  return lines;
}

function drawPiece({ text, spans }) {
  const kinds = spans.map((span) => span.kind);
  if (kinds.includes("evidence")) return el("mark", {}, text);
  return kinds.includes("passage") ? el("span", { class: "passage" }, text) : text;
}
