// The settings, in their panel and in the address: what is not the default is a parameter, so that a copied address
// asks the same question in the same way.

import { byId, el, refill } from "./dom.js";

const fields = {
  index: byId("collection"),
  model: byId("set-model"),
  k: byId("set-k"),
  words: byId("set-words"),
  rerank: byId("set-rerank"),
  list: byId("set-list"),
};
let known = { indexes: [], default: "", models: [], defaults: {} };

/** Fill the panel with what the server offers (`/v1/indexes`), keeping what is chosen. */
export function offer(offered) {
  const before = fields.index.value;
  known = { models: [], defaults: {}, ...offered };
  refill(
    fields.index,
    known.indexes.map((one) => el("option", { value: one.name, disabled: one.ready === false }, one.name)),
  );
  const names = new Set(known.indexes.map((one) => one.name));
  fields.index.value = names.has(before) ? before : (known.default ?? known.indexes[0]?.name ?? "");
  const model = fields.model.value;
  refill(
    fields.model,
    known.models.map((name) => el("option", { value: name }, name)),
  );
  fields.model.value = known.models.includes(model) ? model : (known.models[0] ?? "");
  if (known.defaults.k) fields.k.placeholder = String(known.defaults.k);
  if (known.defaults.words) fields.words.placeholder = String(known.defaults.words);
}

export const offered = () => known;

/** Choose a collection. */
export function choose(name) {
  fields.index.value = name;
}

/** Set everything from an address; what is not in it gets its default. Comes back with what cannot be used. */
export function fromAddress(parameters) {
  const wrong = [];
  const index = parameters.get("index");
  fields.index.value = known.default ?? "";
  if (index !== null && known.indexes.some((one) => one.name === index)) fields.index.value = index;
  else if (index !== null) wrong.push(`There is no collection ${index} here: choose one of those listed.`);
  const model = parameters.get("model");
  fields.model.value = known.models[0] ?? "";
  if (model !== null && known.models.includes(model)) fields.model.value = model;
  else if (model !== null) wrong.push(`This server has no model ${model}.`);
  for (const name of ["k", "words"]) {
    const value = Number.parseInt(parameters.get(name) ?? "", 10);
    fields[name].value = value > 0 ? String(value) : "";
  }
  fields.rerank.checked = parameters.has("rerank") ? on(parameters.get("rerank")) : known.defaults.rerank !== false;
  fields.list.checked = on(parameters.get("list"));
  return wrong;
}

const on = (value) => value !== null && !["", "0", "false", "no", "off"].includes(value.toLowerCase());

/** What is chosen, as `/v1/ask` takes it; numbers that are not given are left out. */
export function chosen() {
  const settings = { index: fields.index.value, rerank: fields.rerank.checked, list: fields.list.checked };
  if (fields.model.value) settings.model = fields.model.value;
  for (const name of ["k", "words"]) if (fields[name].value) settings[name] = fields[name].valueAsNumber;
  return settings;
}

/** The address of a question with these settings. */
export function addressOf(question, settings) {
  const parameters = new URLSearchParams();
  if (question) parameters.set("q", question);
  if (settings.index !== known.default) parameters.set("index", settings.index);
  if (settings.model && settings.model !== known.models[0]) parameters.set("model", settings.model);
  for (const name of ["k", "words"]) if (settings[name]) parameters.set(name, settings[name]);
  if (settings.rerank !== (known.defaults.rerank !== false)) parameters.set("rerank", settings.rerank ? "1" : "0");
  if (settings.list) parameters.set("list", "1");
  const query = parameters.toString();
  return location.pathname + (query ? `?${query}` : "");
}

/** Close the panel. */
export function closeSettings() {
  byId("settings").hidden = true;
  byId("settings-open").setAttribute("aria-expanded", "false");
}

/** Open and close the panel; `changed` hears of every change. */
export function setUpSettings(changed) {
  const button = byId("settings-open");
  const panel = byId("settings");
  button.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) fields.model.focus();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    closeSettings();
    button.focus();
  });
  for (const field of Object.values(fields)) field.addEventListener("change", changed);
}
