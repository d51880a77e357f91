// The collections: those there are, and new ones from dropped files, with the progress of indexing.

import * as api from "./api.js";
import { byId, closable, counted, el, refill, say } from "./dom.js";
import { filesOf, nameFrom, size } from "./files.js";
import { choose, chosen, offer, offered } from "./settings.js";

const dialog = closable(byId("collections"));
const nameField = byId("upload-name");
const start = byId("upload-start");
const POLL = 400;
const PATIENCE = 100;
let files = [];
let busy = false;
let timer = 0;
let picked = () => {};

/** `changed` hears that another collection was chosen. */
export function setUpCollections(changed) {
  picked = changed;
  byId("collections-open").addEventListener("click", openCollections);
  byId("files").addEventListener("change", (event) => take([...event.target.files]));
  byId("upload").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  nameField.addEventListener("input", ready);
  for (const place of [document, byId("drop")]) {
    place.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      over(true);
    });
  }
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && over(false));
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    over(false);
    const found = filesOf(event.dataTransfer);
    openCollections();
    take(await found);
  });
}

export function openCollections() {
  drawShelf();
  if (!dialog.open) dialog.showModal();
  refresh();
}

/** What there is by now; again while something is being indexed, perhaps by somebody else. */
async function refresh() {
  clearTimeout(timer);
  try {
    offer(await api.indexes());
  } catch {
    return; // What was known stays; whatever is done next says what is wrong.
  }
  if (!dialog.open) return;
  drawShelf();
  if (offered().indexes.some((one) => one.ready === false)) timer = setTimeout(refresh, 4 * POLL);
}

function over(on) {
  byId("drop").classList.toggle("over", on);
  byId("drag").hidden = !on || dialog.open;
}

function drawShelf() {
  const current = chosen().index;
  refill(
    byId("shelf"),
    offered().indexes.map((one) =>
      el(
        "li",
        {},
        el(
          "button",
          {
            type: "button",
            class: "shelf-item",
            "aria-current": one.name === current ? "true" : null,
            disabled: one.ready === false,
            onclick: () => {
              choose(one.name);
              dialog.close();
              picked();
              say(`Collection ${one.name}`);
            },
          },
          el("strong", {}, one.name),
          el("span", { class: "note" }, described(one)),
        ),
        one.uploaded && one.ready && deleting(one.name),
      ),
    ),
  );
}

/** A button that takes two presses, because there is no way back. */
function deleting(name) {
  const calm = () => {
    delete button.dataset.sure;
    button.textContent = "Delete";
    button.setAttribute("aria-label", `Delete ${name}`);
  };
  const button = el("button", {
    type: "button",
    class: "link shelf-delete",
    onblur: calm,
    onclick: () => {
      if (button.dataset.sure !== undefined) return remove(name);
      button.dataset.sure = "";
      button.textContent = "Delete for good?";
      button.setAttribute("aria-label", `Delete ${name} for good?`);
      say(`Press again to delete ${name} for good.`);
    },
  });
  calm();
  return button;
}

async function remove(name) {
  const current = chosen().index === name;
  try {
    await api.remove(name);
    offer(await api.indexes());
    told(`${name} is deleted.`);
    if (current) picked();
  } catch (error) {
    told(error.message, "error");
  }
  drawShelf();
  (byId("shelf").querySelector("button") ?? byId("files")).focus();
}

function described(one) {
  if (one.ready === false) return "being indexed";
  return [counted(one.documents, "document"), counted(one.passages, "passage"), one.dense && "with vectors"]
    .filter(Boolean)
    .join(" · ");
}

/** Take files to be sent. Of a whole folder those that cannot be read are left out; a file that was meant is not. */
function take(all) {
  const { types } = offered().uploads ?? {};
  const readable = types ? all.filter((file) => types.some((type) => file.name.toLowerCase().endsWith(type))) : all;
  const found = readable.length ? readable : all;
  const seen = new Set(files.map((file) => `${file.name}\n${file.size}`));
  files = [...files, ...found.filter((file) => !seen.has(`${file.name}\n${file.size}`))];
  if (files.length && !nameField.value) nameField.value = nameFrom(files[0].name);
  const left = all.length - found.length;
  told(left ? `${counted(left, "file")} of other types left out.` : "");
  drawChosen();
}

/** One line below the form. */
function told(text, kind = "") {
  byId("job-said").className = `job-said ${kind}`.trim();
  refill(byId("job-said"), text);
}

/** What is too much for one upload, before it is sent; null where it is not. */
function tooMuch() {
  const { files: most = Infinity, bytes = Infinity } = offered().uploads ?? {};
  const total = files.reduce((sum, file) => sum + file.size, 0);
  if (files.length > most) return `${counted(files.length, "file")} are more than the ${most.toLocaleString("en")} of one upload.`;
  return total > bytes ? `The files have ${size(total)}, and one upload may have ${size(bytes)}: send them in parts.` : null;
}

function drawChosen() {
  const shown = files.slice(0, 8);
  const remove = (file) => {
    files = files.filter((one) => one !== file);
    drawChosen();
    (byId("chosen").querySelector("button") ?? byId("files")).focus();
  };
  refill(
    byId("chosen"),
    shown.map((file) =>
      el(
        "li",
        {},
        el("span", {}, file.name),
        el("span", { class: "note" }, size(file.size)),
        el("button", { type: "button", class: "link", "aria-label": `Leave out ${file.name}`, onclick: () => remove(file) }, "×"),
      ),
    ),
    files.length > shown.length && el("li", { class: "note" }, `and ${counted(files.length - shown.length, "more file")}`),
  );
  ready();
}

function ready() {
  start.disabled = busy || files.length === 0 || !nameField.value.trim();
}

async function send() {
  if (busy || files.length === 0) return;
  const much = tooMuch();
  if (much) return told(much, "error");
  busy = true;
  ready();
  progress("Sending", 0, 1);
  told("");
  try {
    const dense = byId("upload-dense").checked;
    const sent = await api.upload(nameField.value.trim(), files, dense, (share) => progress("Sending", share, 1));
    const state = await finished(sent.job);
    await arrived(state.name ?? sent.name, state.message);
  } catch (error) {
    told(error.message, "error");
  } finally {
    busy = false;
    byId("job").hidden = true;
    ready();
  }
}

/** Wait for the job, showing how far it is; throws where it fails. */
async function finished(id) {
  for (let missed = 0; ; ) {
    let state;
    try {
      state = await api.job(id);
      missed = 0;
    } catch (error) {
      // A server that is started again goes on with its jobs.
      if (error.kind !== "network" || ++missed > PATIENCE) throw error;
      progress("Waiting for the server", 0, null);
      await new Promise((resolve) => setTimeout(resolve, POLL));
      continue;
    }
    if (state.state === "done") return state;
    if (state.state === "failed") {
      throw new api.ServerError(state.message ?? "The files could not be indexed.", "failure");
    }
    progress(state.stage || "Indexing", state.done, state.total);
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

/** The collection can be asked; `message` is about files that could not be read. */
async function arrived(name, message) {
  offer(await api.indexes());
  choose(name);
  picked();
  byId("notice").hidden = true; // It may have said that there is no collection.
  files = [];
  nameField.value = "";
  byId("files").value = "";
  drawChosen();
  drawShelf();
  const said = byId("job-said");
  said.className = "job-said";
  refill(
    said,
    message && `${message} `,
    `${name} is ready. `,
    el("button", { type: "button", class: "link", onclick: () => (dialog.close(), byId("question").focus()) }, "Ask it something"),
  );
}

function progress(stage, done, total) {
  byId("job").hidden = false;
  const counts = total > 1 ? ` ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
  byId("job-stage").textContent = `${stage[0].toUpperCase()}${stage.slice(1)}${counts}`;
  const bar = byId("job-bar");
  if (total) {
    bar.max = total;
    bar.value = done;
  } else bar.removeAttribute("value");
}
