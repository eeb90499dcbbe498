// Dialogs: the page behind is inert, Tab stays inside, focus returns afterwards. The sandbox's panel is not part of
// the workspace and stays usable, so that users can copy an API key from it into a form.

import { h, icon, uid } from "./dom.js";
import { closePopup, popupOpen } from "./menu.js";
import { plain, textNodes } from "./mrkdwn.js";

const stack = [];

/** Puts a dialog on top; `onEscape` runs when Esc is pressed. */
export function showDialog(overlay, onEscape) {
  const before = document.activeElement;
  closePopup();
  document.getElementById("modals").append(overlay);
  stack.push({ overlay, onEscape, before });
  overlay.addEventListener("keydown", (event) => {
    if (event.key === "Tab") cycle(event, overlay);
  });
  settle();
}

export function hideDialog(overlay) {
  const at = stack.findIndex((entry) => entry.overlay === overlay);
  if (at < 0) return;
  const [{ before }] = stack.splice(at, 1);
  closePopup();
  overlay.remove();
  settle();
  if (stack[at]) stack[at].before = before; // closed from below
  else comeBack(before);
}

/** Focuses the element that had the focus; if that was redrawn, its successor; if that is gone too, the composer. */
function comeBack(before) {
  const named = (name) => name && [...document.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === name);
  for (const node of [before, named(before.dataset.focus), named("composer")]) {
    if (node && node.isConnected) node.focus({ preventScroll: true });
    if (document.activeElement === node && node !== document.body) return;
  }
}

/** Whether a dialog blocks the workspace. */
export function dialogOpen() {
  return stack.length > 0;
}

function settle() {
  document.body.classList.toggle("with-dialog", dialogOpen());
  for (const node of document.querySelectorAll(".sidebar, .channel, .thread, .switcher, .search-button, .examples")) node.inert = dialogOpen();
  for (const [index, { overlay }] of stack.entries()) {
    overlay.inert = index < stack.length - 1;
    overlay.classList.toggle("beneath", index < stack.length - 1);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !stack.length) return;
  if (popupOpen()) closePopup();
  else stack[stack.length - 1].onEscape();
  event.preventDefault();
});

function focusable(root) {
  return [...root.querySelectorAll("a[href], button, input, textarea, select, [tabindex]")]
    .filter((node) => !node.disabled && node.tabIndex >= 0 && node.offsetParent !== null);
}

function cycle(event, overlay) {
  const items = focusable(overlay);
  if (!items.length) return;
  const first = items[0];
  const last = items[items.length - 1];
  const out = event.shiftKey ? first : last;
  if (document.activeElement === out || !overlay.contains(document.activeElement)) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}

/** An empty dialog with a title, on top; `close` runs when the user dismisses it. */
export function titledDialog(close) {
  const title = h("h2", { class: "modal-title", id: uid("title") });
  const body = h("div", { class: "modal-body" });
  const overlay = h("div", { class: "overlay" },
    h("div", { class: "modal", role: "dialog", "aria-labelledby": title.id, tabindex: -1 },
      h("div", { class: "modal-head" }, title,
        h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", on: { click: close } }, icon("close", 20))),
      body));
  showDialog(overlay, close);
  overlay.firstChild.focus({ preventScroll: true });
  return { title, body, overlay };
}

/** Slack's confirm object as a dialog; true when the user confirmed. */
export function confirmed(confirm) {
  if (!confirm) return Promise.resolve(true);
  return new Promise((resolve) => {
    const title = h("h2", { class: "modal-title", id: "confirm-title" }, plain(confirm.title) || "Are you sure?");
    const done = (answer) => {
      hideDialog(overlay);
      resolve(answer);
    };
    const yes = h("button", {
      type: "button", class: `button ${confirm.style === "danger" ? "danger" : "primary"}`, on: { click: () => done(true) },
    }, plain(confirm.confirm) || "Yes");
    const overlay = h("div", { class: "overlay" },
      h("div", {
        class: "modal modal-small", role: "alertdialog", "aria-labelledby": "confirm-title",
        "aria-describedby": "confirm-text",
      }, h("div", { class: "modal-head" }, title),
      h("div", { class: "modal-body", id: "confirm-text" }, textNodes(confirm.text)),
      h("div", { class: "modal-foot" },
        h("button", { type: "button", class: "button", on: { click: () => done(false) } }, plain(confirm.deny) || "Cancel"), yes)));
    showDialog(overlay, () => done(false));
    yes.focus();
  });
}
