// Makes the pages of the admin's theme usable with keyboards and screen readers, without changing their appearance.
"use strict";

function name(element, words) {
  if (words && !element.getAttribute("aria-label")) element.setAttribute("aria-label", words);
}

// Makes a clickable element that is not a button usable with the keyboard: Tab focuses it, Enter and the space bar click it.
function press(element) {
  if (element.matches("a[href], button, input, select, textarea, label, form") || element.hasAttribute("tabindex")) return;
  // The overlay behind a dialog, which has no text, is only for pointers.
  if (!element.textContent.trim() && !element.getAttribute("aria-label")) return;
  element.setAttribute("tabindex", "0");
  element.setAttribute("role", "button");
  name(element, element.textContent.trim().replaceAll("_", " "));
  element.addEventListener("keydown", (event) => {
    if (event.target === element && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      element.click();
    }
  });
}

// The theme's script creates select boxes at any time. Each of them gets the label above it as its accessible name.
function nameLists() {
  for (const list of document.querySelectorAll(".select2-container")) {
    const words = list.parentElement.closest("div:has(h3, label)")?.querySelector("h3, label")?.textContent.trim();
    for (const part of list.querySelectorAll("[role=combobox], [role=textbox]")) name(part, words);
  }
}

document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(nameLists).observe(document.body, { childList: true, subtree: true });
  const main = document.getElementById("main");
  if (main) main.setAttribute("role", "main");
  const title = document.querySelector("h1")?.textContent.trim().replace(/\s+/g, " ");
  document.querySelectorAll("nav").forEach((nav, number) => {
    name(nav, nav.closest("#nav-sidebar") ? `${document.getElementById("site-name")?.textContent.trim()} ${number + 1}` : `${title} ${number + 1}`);
  });
  for (const element of document.querySelectorAll("[x-on\\:click]")) press(element);
  for (const field of document.querySelectorAll("input[placeholder]")) name(field, field.placeholder);
  for (const row of document.querySelectorAll("#result_list input.action-select")) {
    const head = row.closest("tr").querySelector("th");
    if (head) row.setAttribute("aria-label", head.textContent.trim());
  }
});

// Scrollable parts are regions, which need accessible names.
window.addEventListener("load", () => {
  for (const heading of document.querySelectorAll("#changelist-filter h3")) heading.setAttribute("aria-level", "2");
  document.querySelectorAll(".simplebar-content-wrapper").forEach((region, number) => {
    region.removeAttribute("role");
    region.setAttribute("aria-label", `${region.getAttribute("aria-label")} ${number + 1}`);
  });
});

// On phones, the page ends where the panel of actions begins.
document.addEventListener("DOMContentLoaded", () => {
  const panel = document.querySelector(".staff-panel");
  const measure = () => document.documentElement.style.setProperty("--staff-panel", `${panel.offsetHeight}px`);
  if (panel) new ResizeObserver(measure).observe(panel);
});

// Buttons that tick all boxes or none, without a request to the server.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-select]");
  if (!button) return;
  event.preventDefault();
  const wanted = button.dataset.select;
  for (const tick of button.form.querySelectorAll("[data-choice], [data-post]")) {
    if (!wanted) tick.checked = false;
    else if (tick.matches(wanted)) tick.checked = true;
  }
});

// Keyboard shortcuts of the inbox of reports (they are listed there), and "u" on every page. They are off while text is typed.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
  const cards = [...document.querySelectorAll("[data-card]")];
  const here = cards.indexOf(document.activeElement?.closest("[data-card]"));
  const acts = document.querySelectorAll(".staff-acts input");
  const undo = document.querySelector("[data-undo]") ?? document.querySelector(".staff-undo");
  if (event.key === "u" && undo) undo.requestSubmit();
  else if (!cards.length) return;
  else if (event.key === "j") cards[Math.min(here + 1, cards.length - 1)].focus();
  else if (event.key === "k") cards[Math.max(here - 1, 0)].focus();
  else if (event.key === "x") cards[here]?.querySelector("[data-choice]")?.click();
  else if (event.key === "o") cards[here]?.querySelector("[data-open]")?.click();
  else if (event.key === "s") cards[0].closest("form").requestSubmit(document.querySelector(".staff-panel button"));
  else if (/^[1-9]$/.test(event.key)) acts[Number(event.key) - 1]?.click();
  else return;
  event.preventDefault();
});
