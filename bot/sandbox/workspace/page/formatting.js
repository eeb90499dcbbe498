// Formatting: a bar of formats and their keys; the composer's are marks around the selection or before its lines.

import { h, icon } from "./dom.js";

function around(mark) {
  return (area) => {
    const { selectionStart: from, selectionEnd: to, value } = area;
    const chosen = value.slice(from, to);
    const marked = value.slice(from - mark.length, from) === mark && value.slice(to, to + mark.length) === mark;
    if (marked) {
      area.setRangeText(chosen, from - mark.length, to + mark.length, "select");
      return;
    }
    area.setRangeText(mark + chosen + mark, from, to);
    area.setSelectionRange(from + mark.length, to + mark.length);
  };
}

function before(mark) {
  return (area) => {
    const { selectionStart, selectionEnd, value } = area;
    const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const end = value.indexOf("\n", selectionEnd);
    const to = end < 0 ? value.length : end;
    const rows = value.slice(from, to).split("\n");
    const marked = rows.every((row) => row.startsWith(mark));
    area.setRangeText(rows.map((row) => (marked ? row.slice(mark.length) : mark + row)).join("\n"), from, to, "end");
  };
}

function link(area) {
  const { selectionStart: from, selectionEnd: to, value } = area;
  const chosen = value.slice(from, to);
  const address = /^https?:\/\//.test(chosen);
  const [label, url] = address ? ["", chosen] : [chosen, "https://"];
  area.setRangeText(`[${label}](${url})`, from, to);
  const caret = address || !label ? from + 1 : from + label.length + 3 + url.length;
  area.setSelectionRange(caret, caret);
}

const MARKS = [
  { label: "Bold", keys: "b", show: () => h("b", {}, "B"), apply: around("*") },
  { label: "Italic", keys: "i", show: () => h("i", {}, "I"), apply: around("_") },
  { label: "Strikethrough", keys: "shift x", show: () => h("s", {}, "S"), apply: around("~") },
  { label: "Code", keys: "shift c", show: () => icon("code"), apply: around("`") },
  { label: "Link", keys: "shift u", show: () => icon("link"), apply: link },
  { label: "Bulleted list", keys: "shift 8", show: () => icon("list"), apply: before("• ") },
  { label: "Quote", keys: "shift 9", show: () => icon("quote"), apply: before("> ") },
];

function keysOf(event) {
  const digit = /^Digit(\d)$/.exec(event.code);
  return `${event.altKey ? "alt " : ""}${event.shiftKey ? "shift " : ""}${digit ? digit[1] : event.key.toLowerCase()}`;
}

/** Applies the format whose keys were pressed; returns whether there is one. */
export function formatByKeys(event, area, formats = MARKS) {
  if (!(event.ctrlKey || event.metaKey)) return false;
  const format = formats.find((known) => known.keys === keysOf(event));
  if (format) format.apply(area);
  return Boolean(format);
}

/** A bar above the text, one Tab stop; `done` runs after each format. */
export function formattingBar(area, done, formats = MARKS) {
  const bar = h("div", { class: "formatting", role: "toolbar", "aria-label": "Formatting" }, formats.map((format, index) => {
    const keys = `Ctrl+${format.keys.split(" ").map((key) => key[0].toUpperCase() + key.slice(1)).join("+")}`;
    return h("button", {
      type: "button", class: "icon-button", "aria-label": format.label, title: `${format.label} (${keys})`, "aria-keyshortcuts": keys.replace("Ctrl", "Control"),
      tabindex: index ? -1 : 0,
      on: {
        mousedown: (event) => event.preventDefault(),
        click: () => {
          area.focus();
          format.apply(area);
          done();
        },
      },
    }, format.show());
  }));
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const buttons = [...bar.children];
    if (step) buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
  });
  return bar;
}
