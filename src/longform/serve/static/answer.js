// The words of an answer: while they come, and when it is whole, with citations that can be opened.

import { counted, el, refill } from "./dom.js";
import { citationsIn, cut, placed, sentenceAt } from "./text.js";

const BULLET = /^\s*(?:[-*•]\s+)/;
const NUMBER = /^\s*(?:\d+[.)]\s+)/;

/** The text as far as it came. Citations are not known to be right yet and cannot be opened. */
export function drawPieces(place, text, writing) {
  refill(
    place,
    blocks(text, (from, to) => {
      const marks = citationsIn(text, Infinity);
      return cut(text, marks, from, to).map((piece) =>
        piece.spans.length ? el("span", { class: "cite pending" }, String(piece.spans[0].number)) : piece.text,
      );
    }),
  );
  if (writing) (place.lastElementChild ?? place).append(el("span", { class: "caret", "aria-hidden": "true" }));
}

/** The whole answer. `citation(number, evidence)` makes a citation; comes back with whether anything is shaded. */
export function drawAnswer(place, answer, citation) {
  const text = answer.answer;
  const citations = citationsIn(text, answer.passages.length);
  const sentences = placed(answer, citations);
  const shaded = sentences.flatMap((one) => one.ungrounded);
  for (const one of citations) {
    const owner = sentenceAt(sentences, one.start);
    one.owner = owner;
    // A citation that stands after its sentence's last word is drawn inside the sentence.
    if (owner && one.start >= owner.end && one.start - owner.end <= 2) owner.end = Math.max(owner.end, one.end);
  }
  refill(
    place,
    blocks(text, (from, to) =>
      cut(text, sentences, from, to).map((run) => {
        const inner = cut(text, [...citations, ...shaded], run.start, run.start + run.text.length).map((piece) => {
          const mark = piece.spans.find((span) => span.number !== undefined);
          if (mark) return citation(mark.number, evidenceOf(mark.owner?.sentence, mark.number));
          return piece.spans.length
            ? el("mark", { class: "ungrounded", title: "Not in the cited passages" }, piece.text)
            : piece.text;
        });
        bind(inner);
        const owner = run.spans[0];
        if (!owner) return inner;
        const kind = owner.sentence.supported ? "sentence" : "sentence unsupported";
        return el("span", { class: kind, "data-sentence": owner.number }, inner);
      }),
    ),
  );
  return { shaded: shaded.length > 0, unsupported: answer.sentences.some((sentence) => !sentence.supported) };
}

/** Keep citations on one line with the word before them and the stop after them. */
function bind(pieces) {
  const isCitation = (piece) => piece instanceof Element && piece.matches(".cite");
  for (let at = 0; at < pieces.length; at++) {
    if (!isCitation(pieces[at])) continue;
    let last = at;
    while (isCitation(pieces[last + 1])) last++;
    const [, text, word] = typeof pieces[at - 1] === "string" ? /^(.*?)(\S{0,24})$/s.exec(pieces[at - 1]) : [null, null, ""];
    const [, stop, rest] = typeof pieces[last + 1] === "string" ? /^([^\s\w]{0,3})(.*)$/s.exec(pieces[last + 1]) : [null, "", null];
    if (text !== null) pieces[at - 1] = text;
    if (rest !== null) pieces[last + 1] = rest;
    const bound = el("span", { class: "bound" }, word, pieces.slice(at, last + 1), stop);
    pieces.splice(at, last + 1 - at, bound);
  }
}

const evidenceOf = (sentence, number) => (sentence?.evidence ?? []).filter((place) => place.passage === number);

/** The answers to a question with many, as a list. */
export function drawItems(place, answer, citation) {
  const most = Math.max(...answer.items.map((item) => item.support), 0);
  const rows = answer.items.map((item) => {
    const meter = el("span", { class: "support", title: `Support ${item.support.toFixed(2)}` });
    meter.style.setProperty("--share", most > 0 ? Math.max(item.support / most, 0.04) : 0);
    return el(
      "li",
      {},
      el(
        "p",
        { class: "item" },
        el("strong", {}, item.text),
        item.evidence.map((one) => citation(one.passage, [one])),
      ),
      item.aliases.length > 0 && el("p", { class: "note" }, `also ${item.aliases.join(", ")}`),
      meter,
    );
  });
  refill(place, el("ol", { class: "items" }, rows));
}

/** One line on how sure an answer is and how long it took. */
export function summary(answer, settings) {
  const seconds = Object.values(answer.seconds ?? {}).reduce((sum, one) => sum + one, 0);
  const share = `${Math.round(answer.groundedness * 100)}% of its words stand in the passages`;
  return [
    settings.index,
    answer.model,
    answer.answered && share,
    counted(answer.passages.length, "passage"),
    `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Paragraphs and lists: lines that begin with a bullet or a number belong together. `draw(from, to)` fills a line. */
function blocks(text, draw) {
  const made = [];
  let at = 0;
  for (const line of text.split("\n")) {
    const [from, to] = [at, at + line.length];
    at = to + 1;
    if (!line.trim()) continue;
    const lead = BULLET.exec(line) ?? NUMBER.exec(line);
    if (!lead) {
      made.push(el("p", {}, draw(from, to)));
      continue;
    }
    const tag = BULLET.test(line) ? "ul" : "ol";
    if (made.at(-1)?.localName !== tag) {
      made.push(el(tag, tag === "ol" ? { start: Number.parseInt(line, 10) } : {}));
    }
    made.at(-1).append(el("li", {}, draw(from + lead[0].length, to)));
  }
  return made;
}
