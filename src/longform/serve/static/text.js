// Where things stand in a text. The server counts characters (code points), JavaScript's strings count UTF-16 units.

/** From the server's offsets in `text` to JavaScript's. */
export function unitsOf(text) {
  if (!/[\uD800-\uDBFF]/.test(text)) return (offset) => Math.min(Math.max(offset, 0), text.length);
  const starts = [];
  let unit = 0;
  for (const character of text) {
    starts.push(unit);
    unit += character.length;
  }
  return (offset) => (offset >= starts.length ? text.length : starts[Math.max(offset, 0)]);
}

/**
 * `text` from `from` to `to`, cut wherever one of the spans {start, end, …} begins or ends: pieces {text, spans},
 * where `spans` are those that cover the piece. Offsets are JavaScript's.
 */
export function cut(text, spans, from = 0, to = text.length) {
  const inside = spans.filter((span) => span.end > from && span.start < to && span.end > span.start);
  const places = new Set([from, to]);
  for (const span of inside) {
    places.add(Math.max(span.start, from));
    places.add(Math.min(span.end, to));
  }
  const sorted = [...places].sort((one, other) => one - other);
  const pieces = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const [start, end] = [sorted[i], sorted[i + 1]];
    pieces.push({ text: text.slice(start, end), start, spans: inside.filter((span) => span.start <= start && end <= span.end) });
  }
  return pieces;
}

/** The citations in an answer's text, with the white space before each: {start, end, number}. */
export function citationsIn(text, passages) {
  const found = [];
  for (const match of text.matchAll(/[ \t]?\[(\d+)\]/g)) {
    const number = Number(match[1]);
    if (number >= 1 && number <= passages) found.push({ start: match.index, end: match.index + match[0].length, number });
  }
  return found;
}

/**
 * Where each sentence of an answer stands in its text, and which of its words are not grounded. Sentences come without
 * citation marks and white space may differ, so both are compared without either.
 */
export function placed(answer, citations) {
  const text = answer.answer;
  const kept = [];
  let next = 0;
  for (let unit = 0; unit < text.length; unit++) {
    while (next < citations.length && citations[next].end <= unit) next++;
    const inMark = next < citations.length && citations[next].start <= unit;
    if (!inMark && !/\s/.test(text[unit])) kept.push(unit);
  }
  const squeezed = kept.map((unit) => text[unit]).join("");
  const sentences = [];
  let cursor = 0;
  answer.sentences.forEach((sentence, number) => {
    const bare = sentence.text.replace(/\s+/g, "");
    const at = bare ? squeezed.indexOf(bare, cursor) : -1;
    if (at < 0) return;
    cursor = at + bare.length;
    const units = unitsOf(sentence.text);
    const squeeze = (offset) => sentence.text.slice(0, units(offset)).replace(/\s+/g, "").length;
    const ungrounded = sentence.ungrounded.map(([start, end]) => ({
      start: kept[at + squeeze(start)],
      end: kept[at + squeeze(end) - 1] + 1,
      ungrounded: true,
    }));
    sentences.push({ start: kept[at], end: kept[cursor - 1] + 1, sentence, number, ungrounded });
  });
  return sentences;
}

/** The sentence that a citation at `unit` belongs to: the one around it, else the one before it. */
export const sentenceAt = (sentences, unit) => sentences.findLast((one) => one.start <= unit) ?? null;
