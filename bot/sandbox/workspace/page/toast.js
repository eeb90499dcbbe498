// Short notices at the bottom of the page, like Slack's errors for a failed command.

import { h, icon } from "./dom.js";

const SECONDS_SHOWN = 4;

export function toast(text, kind = "info") {
  const box = document.getElementById("toasts");
  const same = [...box.children].find((node) => node.dataset.text === text);
  if (same) same.remove();
  const node = h("div", { class: `toast toast-${kind}`, dataset: { text }, role: kind === "error" ? "alert" : null },
    icon(kind === "error" ? "warn" : "check"),
    h("span", { class: "toast-text" }, text),
    h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss notice", on: { click: () => node.remove() } },
      icon("close", 16)));
  box.append(node);
  while (box.children.length > 4) box.firstChild.remove();
  setTimeout(() => node.remove(), SECONDS_SHOWN * 1000);
}
