// The emoji picker: a grid to choose from, filtered while typing.

import { h } from "./dom.js";
import { emojiLike } from "./emoji.js";
import { closePopup, placePopup, popup } from "./menu.js";

const COLUMNS = 8;

/** Opens the picker next to `anchor`; `take(name)` gets the chosen one. */
export function pickEmoji(anchor, take) {
  const grid = h("div", { class: "emoji-grid", role: "group", "aria-label": "Emoji" });
  const input = h("input", {
    class: "field", type: "search", "aria-label": "Search emoji", placeholder: "Search emoji", autocomplete: "off", on: { input: () => draw() },
  });
  const node = h("div", { class: "emoji-picker", role: "dialog", "aria-label": "Emoji" }, input, grid);

  function choose(name) {
    closePopup();
    take(name);
  }

  function draw() {
    const shown = new Set();
    const found = emojiLike(input.value.trim().toLowerCase()).filter(([, character]) => !shown.has(character) && shown.add(character));
    grid.replaceChildren(...found.map(([name, character]) => h("button", {
      type: "button", tabindex: -1, "aria-label": name, title: `:${name}:`, on: { click: () => choose(name) },
    }, character)));
    if (!found.length) grid.append(h("p", { class: "listbox-note" }, "No matches"));
    placePopup();
  }

  node.addEventListener("keydown", (event) => {
    const buttons = [...grid.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowDown: COLUMNS, ArrowUp: -COLUMNS, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      closePopup();
      anchor.focus();
    } else if (at < 0 && event.key === "Enter" && buttons[0]) buttons[0].click();
    else if (at < 0 && event.key === "ArrowDown" && buttons[0]) buttons[0].focus();
    else if (at >= 0 && step) (buttons[at + step] || (at + step < 0 ? input : buttons[at])).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  anchor.setAttribute("aria-expanded", "true");
  popup(anchor, node, { onClose: () => anchor.setAttribute("aria-expanded", "false") });
  draw();
  input.focus();
}
