// Citations: a number after a sentence. Pointing at it, focusing it or tapping it shows the passage with the words that
// support the sentence; a click or Enter opens the source.

import { byId, el, refill } from "./dom.js";
import { cut, unitsOf } from "./text.js";

const popover = byId("popover");
const WAIT = 120;
let owner = null;
let timer = 0;

/**
 * The maker of an answer's citations. `open(hit, evidence)` opens the source; `point(number | null)` marks the passage
 * in the side column.
 */
export function citationMaker(passages, { open, point }) {
  return (number, evidence) => {
    const hit = passages[number - 1];
    if (!hit) return `[${number}]`;
    let touched = false;
    const show = () => place(button, hit, number, evidence, () => open(hit, evidence), touched);
    const button = el(
      "button",
      {
        type: "button",
        class: "cite",
        "data-citation": number,
        "aria-label": `Citation ${number}: ${hit.title || hit.document}`,
        "aria-haspopup": "dialog",
        onpointerenter: (event) => {
          if (event.pointerType === "touch") return;
          point(number);
          later(show);
        },
        onpointerleave: (event) => {
          if (event.pointerType === "touch") return;
          point(null);
          later(() => owner === button && document.activeElement !== button && hide());
        },
        onpointerdown: (event) => (touched = event.pointerType === "touch"),
        onfocus: () => {
          if (!button.matches(":focus-visible")) return;
          point(number);
          show();
        },
        onblur: (event) => {
          point(null);
          if (!popover.contains(event.relatedTarget)) hide();
        },
        onclick: () => {
          clearTimeout(timer);
          if (touched) show();
          else {
            hide();
            open(hit, evidence);
          }
          touched = false;
        },
        onkeydown: (event) => step(event, button),
      },
      String(number),
    );
    return button;
  };
}

/** A passage's text with the words that support a sentence marked; empty lines are left out. */
export function marked(hit, evidence) {
  const units = unitsOf(hit.text);
  const spans = evidence.map((one) => ({ start: units(one.start), end: units(one.end) }));
  return cut(hit.text, spans).map((piece) => {
    const text = piece.text.replace(/\n{2,}/g, "\n");
    return piece.spans.length ? el("mark", {}, text) : text;
  });
}

/** Hide the passage; comes back with whether one was shown. */
export function hide() {
  clearTimeout(timer);
  if (popover.hidden) return false;
  popover.hidden = true;
  owner?.removeAttribute("aria-describedby");
  owner?.closest(".sentence")?.classList.remove("pointed");
  owner = null;
  return true;
}

function later(action) {
  clearTimeout(timer);
  timer = setTimeout(action, WAIT);
}

function place(button, hit, number, evidence, open, touched) {
  hide();
  owner = button;
  refill(byId("popover-title"), el("span", { class: "number" }, String(number)), title(hit));
  const text = refill(byId("popover-text"), marked(hit, evidence));
  byId("popover-hint").hidden = touched;
  const opener = byId("popover-open");
  opener.hidden = !touched;
  opener.onclick = () => {
    hide();
    open();
  };
  button.setAttribute("aria-describedby", "popover-text");
  button.closest(".sentence")?.classList.add("pointed");
  popover.hidden = false;
  // Beside the citation, inside the window; a narrow window lays it along the lower edge instead (answer.css).
  const spot = button.getBoundingClientRect();
  const size = popover.getBoundingClientRect();
  const left = Math.min(Math.max(spot.left - 24, 12), document.documentElement.clientWidth - size.width - 12);
  const below = spot.bottom + 8;
  const fits = below + size.height < window.innerHeight || spot.top < size.height + 16;
  popover.style.setProperty("--left", `${left}px`);
  popover.style.setProperty("--top", `${fits ? below : spot.top - size.height - 8}px`);
  const mark = text.querySelector("mark");
  if (mark) text.scrollTop = mark.offsetTop - text.offsetTop - 40;
}

/** A hit's title, and its section where it has one. */
export function title(hit) {
  const name = hit.title || hit.document;
  return hit.section && hit.section !== name ? `${name} · ${hit.section}` : name;
}

/** Arrow keys, Home and End go from citation to citation. */
function step(event, button) {
  const all = [...button.closest(".turn").querySelectorAll("button.cite")].filter((one) => one.offsetParent);
  const at = all.indexOf(button);
  const to = {
    ArrowRight: at + 1,
    ArrowDown: at + 1,
    ArrowLeft: at - 1,
    ArrowUp: at - 1,
    Home: 0,
    End: all.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  all[Math.min(Math.max(to, 0), all.length - 1)].focus();
}

// Pointing at the passage itself keeps it; anything that moves the page or a touch elsewhere takes it away.
popover.addEventListener("pointerenter", () => clearTimeout(timer));
popover.addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "touch") later(() => document.activeElement !== owner && hide());
});
window.addEventListener("scroll", () => hide(), { passive: true });
window.addEventListener("resize", () => hide());
document.addEventListener("pointerdown", (event) => {
  if (!popover.contains(event.target) && !event.target.closest?.(".cite")) hide();
});
