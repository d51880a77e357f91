// Elements are made here and nowhere else. Text goes in as text nodes, so a passage can hold any markup and stays text.

const SVG = "http://www.w3.org/2000/svg";

/** The element with this id, which index.html has. */
export const byId = (id) => document.getElementById(id);

/**
 * An element: attributes by name (`onclick` and the like are listeners, `true` is an empty attribute, null and false
 * are left out), then children, of which strings become text and nothing is skipped.
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  put(made, ...children);
  return made;
}

/** Append children, as `el` does. */
export function put(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "") parent.append(child);
  }
  return parent;
}

/** Replace all children. */
export function refill(parent, ...children) {
  parent.replaceChildren();
  return put(parent, ...children);
}

/** One of the symbols at the end of index.html. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Tell a screen reader, once; the same words again are told again. */
export function say(text) {
  const status = byId("status");
  status.textContent = "";
  requestAnimationFrame(() => (status.textContent = text));
}

/** "1 passage", "2 passages". */
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Close a dialog by its button or by a click beside it; Escape closes it by itself. */
export function closable(dialog) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
