// An answer as Markdown, with its references.

import { unitsOf } from "./text.js";

// What Markdown would read as markup. Square brackets stay: citations are plain text where no reference has their name.
const escaped = (text) => text.replace(/[\\`*_<>]/g, "\\$&").replace(/^(\s*)([#+-])(?=\s)/gm, "$1\\$2");

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

/** The question, the answer with its citations, and for each the title, the place and the words it rests on. */
export function asMarkdown(answer) {
  const lines = [`**${escaped(oneLine(answer.question))}**`, "", escaped(answer.answer).trim()];
  const references = answer.passages.map((hit, i) => reference(answer, hit, i + 1)).filter(Boolean);
  if (references.length) lines.push("", "References:", "", ...references);
  return lines.join("\n") + "\n";
}

function reference(answer, hit, number) {
  const cited = answer.sentences.some((sentence) => sentence.citations.includes(number));
  const ofItem = (answer.items ?? []).some((item) => item.evidence.some((place) => place.passage === number));
  if (!cited && !ofItem) return null;
  const units = unitsOf(hit.text);
  const quotes = answer.sentences
    .flatMap((sentence) => sentence.evidence.filter((place) => place.passage === number))
    .map((place) => `“${escaped(oneLine(hit.text.slice(units(place.start), units(place.end))))}”`);
  const name = escaped(hit.section ? `${hit.title}, ${hit.section}` : hit.title);
  const source = `\`${hit.document}\``;
  return `${number}. ${[name, source].filter(Boolean).join(", ")}${quotes.length ? `: ${[...new Set(quotes)].join(" ")}` : ""}`;
}

/** Put text on the clipboard, also where the page was not served from a place that browsers call secure. */
export async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("The browser did not let the page copy: select the text and copy it yourself.");
}
