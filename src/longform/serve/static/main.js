// The page: the question box, the thread of answers, the address, and the keys.

import * as api from "./api.js";
import { hide } from "./citations.js";
import { openCollections, setUpCollections } from "./collections.js";
import { byId, el, refill, say } from "./dom.js";
import { setUpHistory } from "./history.js";
import { isShown, pointAt, setUpPassages, showPassages } from "./passages.js";
import { addressOf, choose, chosen, closeSettings, fromAddress, offer, offered, setUpSettings } from "./settings.js";
import { openSource } from "./source.js";
import { Turn } from "./turn.js";

const box = byId("question");
const REMEMBERED = 3;
const turns = [];
let running = null;

const does = {
  open: (turn, hit, evidence) => openSource(turn.settings.index, hit, evidence),
  point: pointAt,
  passages: (turn, go = false) => {
    if (!isShown(turn) && (turn.answer || turn.hits.length)) showPassages(turn);
    if (!go) return;
    byId("side-title").focus();
    byId("side").scrollIntoView({ block: "start" });
  },
  ask: (question, options) => ask(question, options),
  retry: (turn) => ask(turn.question, { instead: turn, settings: turn.settings }),
  address: (turn) => addressOf(turn.understood ?? turn.question, turn.settings),
};

/** Ask, below what was asked before, which goes along unless `alone`; `instead` of a turn that failed. */
async function ask(question, { alone = false, instead = null, settings = chosen(), address = true } = {}) {
  question = question.trim();
  if (!question) return;
  running?.abort();
  hide();
  const turn = new Turn(question, settings, does);
  const past = alone ? [] : turns.filter((one) => one !== instead && one.answer?.answered && one.settings.index === settings.index);
  const remembered = past.slice(-REMEMBERED).map((one) => ({ question: one.understood ?? one.question, answer: one.answer.answer, id: one.answer.id }));
  place(turn, instead);
  if (address) history.pushState(null, "", addressOf(question, settings));
  const stopper = new AbortController();
  running = stopper;
  busy(true);
  say("Searching.");
  const shown = () => isCurrent(turn) && showPassages(turn);
  try {
    const on = {
      start: (data) => turn.begin(data),
      hits: (data) => (turn.found(data), shown()),
      text: (data) => turn.wrote(data),
      answer: (data) => {
        turn.finish(data);
        shown();
        if (address && turn.understood && isCurrent(turn)) history.replaceState(null, "", does.address(turn));
      },
    };
    await api.ask({ question, ...settings, ...(remembered.length ? { history: remembered } : {}) }, on, stopper.signal);
  } catch (error) {
    if (error.name === "AbortError") turn.stop();
    else if (error instanceof api.ServerError) turn.fail(error);
    else throw error;
  } finally {
    if (running === stopper) {
      running = null;
      busy(false);
    }
  }
}

const isCurrent = (turn) => turns.at(-1) === turn;

/** Put a turn at the end of the thread, or where the one stood that it replaces at the end. */
function place(turn, instead) {
  if (instead) {
    turns.splice(turns.indexOf(instead), 1);
    instead.element.remove();
  }
  turns.push(turn);
  document.body.classList.remove("empty");
  byId("new").hidden = false;
  byId("notice").hidden = true;
  byId("side").hidden = true;
  byId("thread").append(turn.element);
  document.title = `${turn.question} · Longform`;
  box.placeholder = "Ask something else, or more about it";
  show(turn);
}

function show(turn) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (turns.length === 1) window.scrollTo(0, 0);
  else turn.element.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

/** While an answer is being made, the button stops it. */
function busy(on) {
  byId("ask-label").textContent = on ? "Stop" : "Ask";
  byId("ask").querySelector("use").setAttribute("href", on ? "#i-stop" : "#i-ask");
  byId("ask").classList.toggle("stop", on);
}

function notice(message, retry) {
  const place = byId("notice");
  place.hidden = false;
  refill(place, el("p", {}, message), retry && el("button", { type: "button", class: "primary", onclick: retry }, "Try again"));
}

function startOver(address = true) {
  running?.abort();
  turns.length = 0;
  byId("thread").replaceChildren();
  byId("side").hidden = true;
  byId("new").hidden = true;
  byId("notice").hidden = true;
  document.body.classList.add("empty");
  document.title = "Longform";
  box.placeholder = "Ask a question";
  if (address) history.pushState(null, "", addressOf("", chosen()));
  box.focus();
}

/** An answer that the server kept; where it did not keep the passages, the text alone. */
async function recall(item) {
  if (offered().indexes.some((one) => one.name === item.index)) choose(item.index);
  // Also where the collection is no longer there: its sources are not to be looked for in another.
  const turn = new Turn(item.question, { ...chosen(), index: item.index ?? chosen().index }, does);
  place(turn, null);
  history.pushState(null, "", addressOf(item.question, turn.settings));
  try {
    turn.finish(await api.kept(item.id));
  } catch {
    turn.recall(item.answer ?? "");
  }
  if (isCurrent(turn)) showPassages(turn);
}

/** What the address says: its settings, and its question, which is asked. */
function followAddress() {
  const parameters = new URLSearchParams(location.search);
  const wrong = fromAddress(parameters);
  if (wrong.length) notice(wrong.join(" "));
  const question = parameters.get("q")?.trim();
  if (!question) {
    if (turns.length) startOver(false);
    return;
  }
  const known = turns.findLast((turn) => does.address(turn) === location.pathname + location.search);
  if (known) show(known);
  else if (wrong.length) box.value = question;
  else ask(question, { address: false, alone: true });
}

async function begin() {
  byId("notice").hidden = true;
  try {
    offer(await api.indexes());
  } catch (error) {
    notice(error.message, begin);
    return;
  }
  if (offered().indexes.length === 0) {
    notice("There is no collection yet: add documents to make one.");
    openCollections();
    return;
  }
  followAddress();
}

function submit() {
  if (running) {
    running.abort();
    return;
  }
  const question = box.value;
  if (!question.trim()) return;
  box.value = "";
  grow();
  closeSettings();
  ask(question);
}

/** The box is as high as what stands in it. */
function grow() {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

/** The token, from whoever sits there; null where they closed the question. */
function tokenFromPerson() {
  const dialog = byId("token");
  const field = byId("token-value");
  if (!dialog.open) {
    field.value = "";
    dialog.showModal();
  }
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(field.value || null), { once: true }));
}

function setUpTheme() {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const draw = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("longform-theme", theme);
    } catch {
      // Storage is off: the choice lasts as long as the page.
    }
    draw();
  });
  dark.addEventListener("change", draw);
  draw();
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!running) submit();
});
box.addEventListener("input", grow);
byId("ask").addEventListener("click", (event) => {
  // The box may be empty while the button means "stop", and the browser would want it filled.
  if (!running) return;
  event.preventDefault();
  running.abort();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, dialog");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
    box.select();
  }
  if (event.key === "Escape") hide();
});
byId("new").addEventListener("click", () => startOver());
byId("home").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  startOver();
});
window.addEventListener("popstate", followAddress);

const settingsChanged = () => {
  const last = turns.at(-1);
  history.replaceState(null, "", addressOf(last ? (last.understood ?? last.question) : "", chosen()));
};
setUpTheme();
setUpSettings(settingsChanged);
setUpCollections(settingsChanged);
setUpPassages(does.open);
setUpHistory({ session: () => turns, go: show, again: recall });
api.useToken(tokenFromPerson);
box.focus({ preventScroll: true });
begin();
