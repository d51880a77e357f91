"use strict";
// The page is whole without this: it only shows one question at a time and lets the reader choose light or dark.

(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  show();

  const picking = (section) => {
    const picker = section.querySelector(".picker");
    const select = section.querySelector(".pick");
    const find = section.querySelector(".find");
    const every = section.querySelector(".every");
    const found = section.querySelector(".found");
    const [before, next] = [section.querySelector(".before"), section.querySelector(".next")];
    const articles = [...section.querySelectorAll(".example")];
    const options = [...select.options];
    const boxes = [...section.querySelectorAll(".systems input")];

    const update = () => {
      const all = every.getAttribute("aria-pressed") === "true";
      const matching = new Set([...select.options].map((option) => option.value));
      for (const article of articles) {
        article.hidden = all ? !matching.has(article.id) : article.id !== select.value;
      }
      const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
      for (const answer of section.querySelectorAll(".said")) answer.hidden = !shown.has(answer.dataset.system);
      before.disabled = all || select.selectedIndex <= 0;
      next.disabled = all || select.selectedIndex >= select.options.length - 1;
      select.disabled = all || !select.options.length;
    };
    const filter = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kept = options.filter((option) => words.every((word) => option.text.toLowerCase().includes(word)));
      const chosen = select.value;
      select.replaceChildren(...kept);
      select.value = kept.some((option) => option.value === chosen) ? chosen : (kept[0]?.value ?? "");
      found.textContent = words.length ? `${kept.length} of ${options.length} questions` : "";
      update();
    };
    const step = (by) => {
      select.selectedIndex += by;
      update();
    };
    picker.addEventListener("submit", (event) => event.preventDefault());
    before.addEventListener("click", () => step(-1));
    next.addEventListener("click", () => step(1));
    select.addEventListener("change", update);
    find.addEventListener("input", filter);
    every.addEventListener("click", () => {
      every.setAttribute("aria-pressed", String(every.getAttribute("aria-pressed") !== "true"));
      update();
    });
    for (const box of boxes) box.addEventListener("change", update);
    section.addEventListener("click", (event) => {
      const link = event.target.closest("a.cite");
      if (!link) return;
      const passage = document.getElementById(link.hash.slice(1));
      if (!passage) return;
      event.preventDefault();
      passage.closest("details").open = true;
      passage.scrollIntoView({ block: "nearest" });
      passage.focus();
    });
    picker.hidden = false;
    update();
  };
  for (const section of document.querySelectorAll(".examples")) {
    if (section.querySelector(".picker")) picking(section);
  }
})();
