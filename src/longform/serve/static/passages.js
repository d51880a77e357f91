// The side column: the passages of an answer, their scores from each stage, and what the re-ranker changed.

import { marked, title } from "./citations.js";
import { byId, counted, el, refill } from "./dom.js";

const STAGES = { bm25: "BM25", dense: "Vectors", hybrid: "Fusion", fused: "Fusion", rerank: "Re-ranker" };
const LEAD = 60;
const changes = byId("changes");
let current = null;
let opener = () => {};

/** `open(turn, hit, evidence)` opens a source. */
export function setUpPassages(open) {
  opener = open;
  changes.addEventListener("change", () => current && showPassages(current));
}

/** Show the passages of a turn. */
export function showPassages(turn) {
  current = turn;
  const rows = rowsOf(turn);
  byId("side").hidden = rows.length === 0 && turn.answer === null;
  const reranked = turn.settings.rerank !== false && turn.before.length > 0 && rows.some((row) => "rerank" in row.hit.scores);
  byId("changes-label").hidden = !reranked;
  const moved = reranked && changes.checked;
  if (moved) rows.sort((one, other) => one.hit.rank - other.hit.rank);
  byId("side").classList.toggle("moved", moved);
  byId("side-note").textContent = note(turn, rows, moved);
  const ranges = rangesOf(rows);
  refill(
    byId("hits"),
    rows.map((row) => card(turn, row, ranges, moved)),
  );
  for (const text of byId("hits").querySelectorAll(".hit-text")) {
    const whole = text.scrollHeight <= text.clientHeight + 1 && !text.querySelector(".lead:not(.heading)");
    text.nextElementSibling.hidden = whole;
  }
  refill(byId("dropped"), moved && dropped(turn, rows));
}

/** Mark the passage with this number, or none. */
export function pointAt(turn, number) {
  if (turn !== current) return;
  for (const item of byId("hits").children) item.classList.toggle("pointed", item.dataset.number === String(number));
}

export const isShown = (turn) => turn === current;

/** Cited passages first, by their numbers; then the rest that was found, by rank. */
function rowsOf(turn) {
  const cited = new Set((turn.answer?.sentences ?? []).flatMap((sentence) => sentence.citations));
  for (const item of turn.answer?.items ?? []) for (const one of item.evidence) cited.add(one.passage);
  const rows = (turn.answer?.passages ?? []).map((hit, i) => ({ hit, number: cited.has(i + 1) ? i + 1 : null }));
  const seen = new Set(rows.map((row) => row.hit.id));
  for (const hit of turn.hits) if (!seen.has(hit.id)) rows.push({ hit, number: null });
  return rows.sort((one, other) => (one.number ?? Infinity) - (other.number ?? Infinity) || one.hit.rank - other.hit.rank);
}

function note(turn, rows, moved) {
  if (rows.length === 0) return "No passage was found.";
  if (moved) return "In the order of the re-ranker, beside the place that the first search gave them.";
  const cited = rows.filter((row) => row.number !== null).length;
  return cited ? `${counted(cited, "passage")} cited, ${rows.length - cited} more found` : `${counted(rows.length, "passage")} found`;
}

function rangesOf(rows) {
  const ranges = new Map();
  for (const { hit } of rows) {
    for (const [stage, score] of Object.entries(hit.scores)) {
      const range = ranges.get(stage) ?? { low: score, high: score };
      ranges.set(stage, { low: Math.min(range.low, score), high: Math.max(range.high, score) });
    }
  }
  return ranges;
}

function card(turn, { hit, number }, ranges, moved) {
  const evidence = (turn.answer?.sentences ?? []).flatMap((one) => one.evidence.filter((place) => place.passage === number));
  const text = el("p", { class: "hit-text" }, withLead(hit, marked(hit, evidence)));
  const more = el(
    "button",
    {
      type: "button",
      class: "link",
      "aria-expanded": "false",
      "aria-label": `More of ${title(hit)}`,
      onclick: () => {
        const open = text.classList.toggle("open");
        more.setAttribute("aria-expanded", String(open));
        more.textContent = open ? "Less" : "More";
      },
    },
    "More",
  );
  return el(
    "li",
    { class: number === null ? "hit" : "hit cited", "data-number": number, "data-passage": hit.id },
    el(
      "div",
      { class: "hit-head" },
      moved ? movement(turn, hit) : number !== null && el("span", { class: "number", "aria-label": `Citation ${number}` }, String(number)),
      el("h3", {}, el("button", { type: "button", class: "hit-title", onclick: () => opener(turn, hit, evidence) }, title(hit))),
    ),
    text,
    more,
    scores(hit, ranges),
  );
}

/** What a closed card need not show is its lead: all before the first mark, or else the heading that its title names. */
function withLead(hit, pieces) {
  const [first, ...rest] = pieces;
  if (typeof first !== "string") return pieces;
  if (rest.length && first.length > LEAD) return [el("span", { class: "lead" }, first), ...rest];
  const heading = hit.section && first.startsWith(`${hit.section}\n`) ? hit.section.length + 1 : 0;
  if (!heading) return pieces;
  return [el("span", { class: "lead heading" }, first.slice(0, heading)), first.slice(heading), ...rest];
}

function scores(hit, ranges) {
  const rows = Object.entries(hit.scores).map(([stage, score]) => {
    const { low, high } = ranges.get(stage);
    const bar = el("span", { class: "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("--share", high > low ? 0.06 + (0.94 * (score - low)) / (high - low) : 1);
    return el("div", { class: "score" }, el("dt", {}, STAGES[stage] ?? stage), el("dd", {}, bar, score.toFixed(2)));
  });
  return el("dl", { class: "scores" }, rows);
}

/** From the first search's place to the re-ranker's. */
function movement(turn, hit) {
  const first = turn.before.indexOf(hit.id) + 1;
  const now = hit.rank;
  const way = first === 0 || first > now ? "up" : first < now ? "down" : "same";
  const from = first === 0 ? `>${turn.before.length}` : String(first);
  const steps = first === 0 ? "▲" : way === "same" ? "=" : `${way === "up" ? "▲" : "▼"}${Math.abs(first - now)}`;
  const words = first === 0 ? `below ${turn.before.length}` : `number ${first}`;
  return el(
    "span",
    { class: `movement ${way}` },
    el("span", { class: "visually-hidden" }, `Now number ${now}, ${words} before re-ranking. `),
    el("span", { "aria-hidden": "true" }, el("b", {}, String(now)), ` from ${from} `, el("i", {}, steps)),
  );
}

/** What stood high in the first search and is not among the passages now. */
function dropped(turn, rows) {
  const here = new Set(rows.map((row) => row.hit.id));
  const gone = turn.before.slice(0, Math.max(rows.length, 1)).filter((id) => !here.has(id));
  if (gone.length === 0) return null;
  return [
    el("h3", { class: "dropped-head" }, `Left out of the first ${rows.length}`),
    el(
      "ul",
      { class: "dropped" },
      gone.map((id) => el("li", {}, el("span", { class: "movement down" }, `was ${turn.before.indexOf(id) + 1}`), id)),
    ),
  ];
}
