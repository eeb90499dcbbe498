// A filterable dropdown, used for all of Slack's selects and multi-selects.

import { h, icon, uid } from "./dom.js";
import { closePopup, placePopup, popup } from "./menu.js";
import { plain } from "./mrkdwn.js";

/**
 * `label` is its accessible name; `chosen()` returns the selected options, `choose(options)` sets them; `load(text)`
 * returns options or a promise of them; `wait` is the minimum query length; `many`, `clearable`. Options are Slack's:
 * {text, value, description?}.
 */
export function combobox({
  label, id, focus, describe, invalid, required, placeholder, chosen, choose, load, many, clearable, wait = 0, debounce = 0,
}) {
  const listId = uid("list");
  const input = h("input", {
    id, type: "text", role: "combobox", "aria-label": label, "aria-expanded": "false", "aria-autocomplete": "list",
    "aria-controls": listId, "aria-describedby": describe, "aria-invalid": invalid ? "true" : null,
    "aria-required": required ? "true" : null, autocomplete: "off", spellcheck: "false", dataset: { focus },
  });
  const chips = h("span", { class: "chips" });
  const clear = h("button", {
    type: "button", class: "icon-button combo-clear", "aria-label": "Clear selection",
    on: { click: () => pick([]) },
  }, icon("close", 14));
  const box = h("div", { class: `combo${many ? " combo-many" : ""}` }, chips, input, clear, icon("down", 18));
  let shown = [];
  let active = -1;
  let list = null;
  let asked = 0;
  let timer = 0;
  let typed = false;

  const name = (option) => plain(option.text);

  function settle() {
    const now = chosen();
    chips.replaceChildren(...(many ? now.map(chip) : []));
    if (!list) input.value = !many && now.length ? name(now[0]) : "";
    input.placeholder = many && now.length ? "" : placeholder;
    clear.hidden = many || !clearable || !now.length;
  }

  function chip(option) {
    return h("span", { class: "chip" }, name(option), h("button", {
      type: "button", "aria-label": `Remove ${name(option)}`,
      on: { click: () => pick(chosen().filter((o) => o.value !== option.value)) },
    }, icon("close", 12)));
  }

  function pick(options) {
    choose(options);
    typed = false;
    if (many) input.value = "";
    settle();
    if (many && list) ask();
  }

  function take(option) {
    if (!many) {
      closePopup();
      pick([option]);
      input.focus();
      return;
    }
    const now = chosen();
    active = shown.findIndex((entry) => entry.option === option);
    const has = now.some((o) => o.value === option.value);
    pick(has ? now.filter((o) => o.value !== option.value) : [...now, option]);
  }

  function show() {
    if (list) return;
    list = h("div", { class: "listbox", role: "listbox", id: listId, "aria-label": "Options", "aria-multiselectable": many ? "true" : null });
    list.addEventListener("mousedown", (event) => event.preventDefault());
    popup(box, list, { width: "anchor", onClose: () => {
      list = null;
      typed = false;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
      settle();
    } });
    input.setAttribute("aria-expanded", "true");
    active = -1;
    if (!many) input.select();
    ask();
  }

  function ask() {
    clearTimeout(timer);
    const text = typed ? input.value.trim() : "";
    const turn = (asked += 1);
    if (text.length < wait) {
      note(`Type at least ${wait} ${wait === 1 ? "character" : "characters"} to search`);
      return;
    }
    const answer = async () => {
      const pending = load(text);
      if (pending instanceof Promise) note("Searching…");
      const options = await pending;
      if (turn === asked && list) fill(options);
    };
    if (debounce && text) {
      note("Searching…");
      timer = setTimeout(answer, debounce);
    } else answer();
  }

  function note(text) {
    if (!list) return;
    shown = [];
    list.replaceChildren(h("div", { class: "listbox-note" }, text));
    placePopup();
  }

  function fill(options) {
    const now = new Set(chosen().map((o) => o.value));
    shown = options.map((option) => ({ option, entry: h("div", {
      class: "option", role: "option", id: uid("option"), "aria-selected": String(now.has(option.value)),
      on: { click: () => take(option) },
    }, h("span", { class: "option-text" }, name(option),
      option.description ? h("span", { class: "option-note" }, plain(option.description)) : null),
    now.has(option.value) ? icon("check", 16) : null) }));
    if (!shown.length) return note(typed && input.value.trim() ? `No matches for “${input.value.trim()}”` : "No options");
    list.replaceChildren(...shown.map(({ entry }) => entry));
    const current = shown.findIndex(({ option }) => now.has(option.value));
    placePopup();
    if (typed) return activate(0);
    return activate(many ? Math.min(Math.max(active, 0), shown.length - 1) : Math.max(current, 0));
  }

  function activate(index) {
    if (shown[active]) shown[active].entry.classList.remove("active");
    active = index;
    const now = shown[active];
    if (!now) return;
    now.entry.classList.add("active");
    now.entry.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", now.entry.id);
  }

  input.addEventListener("input", () => {
    typed = true;
    if (list) ask();
    else show();
  });
  box.addEventListener("mousedown", (event) => {
    if (event.target === input || event.target.closest("button")) return;
    event.preventDefault();
    input.focus();
    if (list) closePopup();
    else show();
  });
  // on click, not pointerdown: releasing the button would clear the text selection that typing replaces
  input.addEventListener("click", show);
  input.addEventListener("blur", () => list && closePopup());
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (!list) show();
      else if (shown.length) activate((active + step + shown.length) % shown.length);
    } else if (event.key === "Enter") {
      if (!list) show();
      else if (shown[active]) take(shown[active].option);
    } else if (event.key === "Escape" && list) closePopup();
    else if (event.key === "Backspace" && many && !input.value && chosen().length) pick(chosen().slice(0, -1));
    else {
      if (event.key === "Tab" && list && typed && shown[active]) take(shown[active].option);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("reset-choice", settle);
  settle();
  return box;
}

/** The options whose text contains every word typed. */
export function narrow(options, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter((option) => words.every((word) => plain(option.text).toLowerCase().includes(word)));
}
