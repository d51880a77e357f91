// A classic script in the head: the theme that was chosen stands before anything is drawn.
"use strict";
try {
  const chosen = localStorage.getItem("longform-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is off: the system's theme it is.
}
