// One question and its answer on the page, through all its states: searching, being written, whole, broken off, failed.

import { drawAnswer, drawItems, drawPieces, summary } from "./answer.js";
import { citationMaker } from "./citations.js";
import { counted, el, icon, put, refill, say } from "./dom.js";
import { feedback } from "./feedback.js";
import { asMarkdown, copyText } from "./markdown.js";
import { readingStrip } from "./readings.js";

/**
 * A turn. `does` is what it may ask of the page: `open(turn, hit, evidence)`, `point(turn, number)`,
 * `passages(turn)` (show them), `ask(question, options)` and `retry(turn)`.
 */
export class Turn {
  constructor(question, settings, does) {
    Object.assign(this, { question, settings, does });
    Object.assign(this, { understood: null, text: "", hits: [], before: [], answer: null, state: "searching" });
    this.frame = 0;
    this.stage = el("p", { class: "stage" }, el("span", { class: "pulse", "aria-hidden": "true" }), "Searching …");
    this.meant = el("p", { class: "understood", hidden: true });
    this.strip = el("div");
    this.prose = el("div", { class: "prose" });
    this.after = el("div", { class: "after" });
    this.element = el(
      "article",
      { class: "turn", "aria-busy": "true", onpointerdown: () => does.passages(this) },
      el("h2", { class: "asked", tabindex: "-1" }, question),
      this.meant,
      this.strip,
      this.stage,
      this.prose,
      this.after,
    );
  }

  /** What the server understood, where it is not what was typed. */
  begin({ understood_as: understood }) {
    if (!understood || understood === this.question) return;
    this.understood = understood;
    const exactly = () => this.does.ask(this.question, { alone: true });
    this.meant.hidden = false;
    refill(
      this.meant,
      "Understood as ",
      el("em", {}, understood),
      " ",
      el("button", { type: "button", class: "link", onclick: exactly }, "Ask it as typed"),
    );
  }

  found({ hits, before }) {
    this.hits = hits;
    this.before = before ?? [];
    this.stage.lastChild.textContent = `Reading ${counted(hits.length, "passage")} …`;
    say("Passages found, answering.");
  }

  wrote({ text }) {
    this.state = "writing";
    this.text += text;
    this.stage.hidden = true;
    // Drawn at most once per frame, however small the pieces.
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.state === "writing") drawPieces(this.prose, this.text, true);
    });
  }

  /** The answer is whole: citations can be opened, and everything around it appears. */
  finish(answer) {
    this.settle(answer.complete === false ? "partial" : "whole");
    this.answer = answer;
    this.before = answer.before ?? this.before;
    if (answer.understood_as) this.begin(answer);
    const cite = citationMaker(answer.passages, {
      open: (hit, evidence) => this.does.open(this, hit, evidence),
      point: (number) => this.does.point(this, number),
    });
    const { shaded, unsupported } = drawAnswer(this.prose, answer, cite);
    const many = (answer.items ?? []).length > 0;
    const list = el("div", { class: "list-view" });
    if (many) drawItems(list, answer, cite);
    refill(this.strip, readingStrip(answer, this.prose));
    refill(
      this.after,
      list,
      !answer.answered && el("p", { class: "note unanswered" }, "What comes nearest is under Passages. Other words or another collection may find more."),
      this.state === "partial" && el("p", { class: "broken" }, "The model broke off here; what it wrote is kept."),
      (answer.warnings ?? []).map((warning) => el("p", { class: "note warning" }, warning)),
      (shaded || unsupported) && legend(shaded, unsupported),
      el("p", { class: "summary" }, summary(answer, this.settings)),
    );
    if (many) this.switchViews(list);
    this.actions(answer);
    this.followUps(answer.follow_ups ?? []);
    const words = answer.answer.replace(/\s?\[\d+\]/g, "");
    say(`Answer, ${counted(answer.sentences.length, "sentence")}, ${counted(answer.passages.length, "passage")}. ${words}`);
  }

  /** The list and the text of an answer with many items, one at a time. */
  switchViews(list) {
    const show = (which) => {
      list.hidden = which !== "list";
      this.prose.hidden = which === "list";
      this.strip.hidden = which === "list";
      for (const button of [asList, asText]) button.setAttribute("aria-pressed", String(button.dataset.view === which));
    };
    const button = (view, label) => el("button", { type: "button", "data-view": view, onclick: () => show(view) }, label);
    const [asList, asText] = [button("list", `List of ${this.answer.items.length}`), button("text", "Text")];
    this.after.before(el("div", { class: "views", role: "group", "aria-label": "View" }, asList, asText));
    show("list");
  }

  actions(answer) {
    const thumbs = answer.id ? feedback(answer.id) : null;
    const act = (name, label, action) => el("button", { type: "button", class: "quiet", onclick: action }, icon(name), el("span", {}, label));
    const copied = (what, text) => async (event) => {
      const label = event.currentTarget.querySelector("span");
      const before = label.textContent;
      try {
        await copyText(text());
        label.textContent = "Copied";
        say(`${what} copied.`);
      } catch (error) {
        say(error.message);
        label.textContent = "Not copied";
      }
      setTimeout(() => (label.textContent = before), 1500);
    };
    put(
      this.after,
      el(
        "div",
        { class: "actions" },
        act("copy", "Copy as Markdown", copied("The answer", () => asMarkdown(answer))),
        act("link", "Copy link", copied("The link", () => new URL(this.does.address(this), location.href).href)),
        act("passages", "Passages", () => this.does.passages(this, true)),
        act("again", "Ask again", () => this.does.retry(this)),
        el("span", { class: "grow" }),
        thumbs?.buttons,
      ),
      thumbs?.place,
    );
  }

  followUps(questions) {
    if (questions.length === 0) return;
    put(
      this.after,
      el(
        "div",
        { class: "next", role: "group", "aria-label": "Questions that may come next" },
        el("h3", {}, "Ask next"),
        questions.map((question) => el("button", { type: "button", class: "follow", onclick: () => this.does.ask(question) }, question, icon("ask"))),
      ),
    );
  }

  /** Nothing came, or the rest did not: what was written stays, with one sentence and a way to try again. */
  fail(error) {
    const begun = this.text !== "";
    this.settle(begun ? "broken" : "failed");
    if (begun) drawPieces(this.prose, this.text, false);
    const message = error.retryAfter ? `${error.message} Try again in ${counted(error.retryAfter, "second")}.` : error.message;
    refill(
      this.after,
      el(
        "div",
        { class: begun ? "broken" : "failed", role: "alert" },
        el("p", {}, message),
        el("button", { type: "button", class: "primary", onclick: () => this.does.retry(this) }, "Try again"),
      ),
    );
  }

  /** The person stopped it. */
  stop() {
    this.settle("stopped");
    drawPieces(this.prose, this.text, false);
    const again = el("button", { type: "button", class: "link", onclick: () => this.does.retry(this) }, "Ask again");
    refill(this.after, el("p", { class: "broken" }, "Stopped. ", again));
    say("Stopped.");
  }

  /** An answer that the server kept, of which only the text is left. */
  recall(text) {
    this.settle("recalled");
    this.text = text;
    drawPieces(this.prose, text, false);
    const again = el("button", { type: "button", class: "link", onclick: () => this.does.retry(this) }, "Ask again");
    refill(this.after, el("p", { class: "note" }, "From the history, without its passages. ", again));
  }

  settle(state) {
    this.state = state;
    cancelAnimationFrame(this.frame);
    this.stage.hidden = true;
    this.element.dataset.state = state;
    this.element.setAttribute("aria-busy", "false");
  }
}

function legend(shaded, unsupported) {
  return el(
    "p",
    { class: "legend" },
    shaded && el("span", {}, el("mark", { class: "ungrounded" }, "Shaded words"), " do not stand in the cited passages. "),
    unsupported && el("span", {}, el("span", { class: "sentence unsupported" }, "Dashed sentences"), " are not supported by what they cite."),
  );
}
