// Menus and other popovers.

import { h, icon } from "./dom.js";

let open = null;

/** Shows `node` next to `anchor` until a click elsewhere, then calls `onClose`. Returns a function that closes it. */
export function popup(anchor, node, { align = "left", onClose = null, width = null } = {}) {
  closePopup();
  const layer = document.getElementById("popups");
  layer.append(node);
  node.classList.add("popup");
  const place = () => {
    if (!anchor.isConnected) return closePopup();
    const box = anchor.getBoundingClientRect();
    if (width === "anchor") node.style.setProperty("min-width", `${box.width}px`);
    node.style.removeProperty("--room");
    const { offsetWidth: w, offsetHeight: tall } = node;
    const below = window.innerHeight - box.bottom - 12;
    const above = box.top - 12;
    const under = below >= Math.min(tall, 220) || below >= above;
    node.style.setProperty("--room", `${Math.max(120, under ? below : above)}px`);
    const height = node.offsetHeight;
    const left = align === "right" ? box.right - w : box.left;
    node.style.setProperty("left", `${Math.max(8, Math.min(left, window.innerWidth - w - 8))}px`);
    node.style.setProperty("top", `${under ? box.bottom + 4 : box.top - 4 - height}px`);
    return undefined;
  };
  const outside = (event) => {
    if (!node.contains(event.target) && !anchor.contains(event.target)) closePopup();
  };
  const scrolled = (event) => {
    if (!node.contains(event.target)) place();
  };
  open = {
    node, anchor, place,
    close() {
      open = null;
      node.remove();
      document.removeEventListener("mousedown", outside, true);
      document.removeEventListener("scroll", scrolled, true);
      window.removeEventListener("resize", place);
      if (onClose) onClose();
    },
  };
  document.addEventListener("mousedown", outside, true);
  document.addEventListener("scroll", scrolled, true);
  window.addEventListener("resize", place);
  place();
  return closePopup;
}

export function closePopup() {
  if (open) open.close();
}

/** After a rerender: closes the popover if its anchor is gone. */
export function closeOrphan() {
  if (open && !open.anchor.isConnected) closePopup();
}

/** After its content changed size. */
export function placePopup() {
  if (open) open.place();
}

export function popupOpen() {
  return Boolean(open);
}

/**
 * A menu of `items`: {label, note?, lead?, danger?, checked?, run} | {heading} | {divider}. Items with `checked` set
 * form a radio group (menuitemradio).
 */
export function menu(anchor, label, items, { align = "left" } = {}) {
  if (open && open.anchor === anchor) {
    closePopup();
    return;
  }
  const run = (item) => {
    closePopup();
    anchor.focus();
    item.run();
  };
  const list = h("div", { class: "menu", role: "menu", "aria-label": label }, items.map((item) => {
    if (item.divider) return h("div", { class: "menu-divider", role: "separator" });
    if (item.heading) return h("div", { class: "menu-heading", role: "presentation" }, item.heading);
    const radio = item.checked !== undefined;
    return h("button", {
      type: "button", class: `menu-item${item.danger ? " danger" : ""}`, role: radio ? "menuitemradio" : "menuitem",
      "aria-checked": radio ? String(item.checked) : null, tabindex: -1, on: { click: () => run(item) },
    }, item.lead || null,
    h("span", { class: "menu-text" }, h("span", { class: "menu-label" }, item.label),
      item.note ? h("span", { class: "menu-note" }, item.note) : null),
    item.checked ? icon("check", 16) : null);
  }));
  list.addEventListener("keydown", (event) => keys(event, list, anchor));
  anchor.setAttribute("aria-expanded", "true");
  popup(anchor, list, { align, onClose: () => anchor.setAttribute("aria-expanded", "false") });
  const first = list.querySelector('[aria-checked="true"]') || list.querySelector("button");
  if (first) first.focus({ preventScroll: true });
}

function keys(event, list, anchor) {
  const items = [...list.querySelectorAll("button")];
  const at = items.indexOf(document.activeElement);
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  if (event.key in moves) items[(moves[event.key] + items.length) % items.length].focus();
  else if (event.key === "Escape") {
    closePopup();
    anchor.focus();
  } else if (event.key === "Tab") closePopup();
  else return;
  event.stopPropagation();
  if (event.key !== "Tab") event.preventDefault();
}
