// Creates and patches elements. Text only ever becomes text nodes: nothing here parses HTML.

let counter = 0;

export function uid(prefix = "id") {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** An element: `on` holds listeners, `style` custom properties; null and false attributes are omitted. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "class") node.className = value;
    else if (name === "style") for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

/**
 * Makes `entries` ({key, sig, build}) the children of `parent`, in order. A child with the same key and sig keeps
 * its node, so focus, caret, scroll position and input stay.
 */
export function reconcile(parent, entries) {
  const old = parent.__kept || new Map();
  const next = new Map();
  keepFocus(parent, () => {
    for (const { key, sig, build } of entries) {
      const kept = old.get(key);
      if (kept && kept.sig === sig) next.set(key, kept);
      else next.set(key, { sig, node: build(kept && kept.node) });
    }
    const wanted = new Set([...next.values()].map((entry) => entry.node));
    for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
    let cursor = parent.firstChild;
    for (const { node } of next.values()) {
      if (node === cursor) cursor = cursor.nextSibling;
      else parent.insertBefore(node, cursor);
    }
  });
  parent.__kept = next;
}

/** Runs `change`; if it replaced the focused element, focuses the new one (same data-focus) and restores its caret. */
export function keepFocus(root, change) {
  const active = document.activeElement;
  const inside = active && active !== document.body && root.contains(active);
  const name = inside ? active.dataset.focus : null;
  const caret = inside && "selectionStart" in active ? caretOf(active) : null;
  change();
  if (!name || (active.isConnected && document.activeElement === active)) return;
  const heir = [...root.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === name);
  if (!heir) return;
  heir.focus({ preventScroll: true });
  if (caret && caret[0] !== null && "setSelectionRange" in heir) {
    try {
      heir.setSelectionRange(caret[0], caret[1]);
    } catch {
      // number, date and email inputs have no caret
    }
  }
}

function caretOf(node) {
  try {
    return [node.selectionStart, node.selectionEnd];
  } catch {
    return null;
  }
}

/** Makes one option of a list the active one, and tells its input. */
export function activateOption(input, list, active) {
  input.removeAttribute("aria-activedescendant");
  for (const [index, node] of [...list.querySelectorAll(".option")].entries()) {
    node.classList.toggle("active", index === active);
    node.setAttribute("aria-selected", String(index === active));
    if (index !== active) continue;
    node.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", node.id);
  }
}

/** Only absolute URLs with a safe scheme, and paths on this server, become links. */
export function safeUrl(url) {
  try {
    const parsed = /^\/(?!\/)/.test(url) ? new URL(url, location.origin) : new URL(url);
    return ["http:", "https:", "mailto:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

export function link(url, label, props = {}) {
  const href = safeUrl(url);
  if (!href) return h("span", {}, label);
  return h("a", { href, target: "_blank", rel: "noopener noreferrer", ...props }, label);
}

const SHAPES = {
  bolt: "M13 3 5 13.5h6L10.5 21 19 10.5h-6z",
  plus: "M12 5v14M5 12h14",
  menu: "M5 7h14M5 12h14M5 17h14",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  reply: "M4.5 6.5A1.5 1.5 0 0 1 6 5h12a1.5 1.5 0 0 1 1.5 1.5v8A1.5 1.5 0 0 1 18 16h-6l-4 3.5V16H6a1.5 1.5 0 0 1-1.5-1.5zM8.5 9.5h7M8.5 12.2h4.5",
  close: "M6.5 6.5l11 11M17.5 6.5l-11 11",
  back: "M14.5 6 8.5 12l6 6",
  send: "M4.5 12 4 5l16.5 7L4 19l.5-7zm0 0h8",
  clip: "M17.5 11.5l-5.8 5.8a3.6 3.6 0 0 1-5.1-5.1l6.6-6.6a2.4 2.4 0 0 1 3.4 3.4l-6.5 6.5a1.2 1.2 0 0 1-1.7-1.7l5.8-5.7",
  eye: "M3.5 12S6.5 6.5 12 6.5 20.5 12 20.5 12 17.5 17.5 12 17.5 3.5 12 3.5 12zM12 14.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6z",
  lock: "M7 11V8.5a5 5 0 0 1 10 0V11M6.5 11h11a1 1 0 0 1 1 1v6.5a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1V12a1 1 0 0 1 1-1z",
  down: "M7 10l5 5 5-5",
  check: "M5.5 12.5l4.3 4.3 8.7-9.3",
  copy: "M9 9h9.5v10.5H9zM15 9V4.5H5.5V15H9",
  open: "M13.5 5H19v5.5M19 5l-8.5 8.5M10.5 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-4.5",
  file: "M7 3.5h6.5L18 8v12.5H7zM13.5 3.5V8H18",
  warn: "M12 4.5 3.5 19h17zM12 10v4.2M12 16.6h.01",
  shield: "M12 3.5 5.5 6v5.5c0 4.3 2.8 7.3 6.5 9 3.7-1.7 6.5-4.7 6.5-9V6z",
  panel: "M4.5 5.5h15v13h-15zM14.5 5.5v13",
  globe: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM4 12h16M12 4c2.5 2.3 3.5 5 3.5 8s-1 5.7-3.5 8c-2.5-2.3-3.5-5-3.5-8S9.5 6.3 12 4z",
  key: "M14.8 13.2a4 4 0 1 0-4-4l.2 1.3-6.5 6.5V20h3v-2h2v-2h2l1.9-2.9zM15.8 8.2h.01",
  spark: "M12 4l1.8 5.2L19 11l-5.2 1.8L12 18l-1.8-5.2L5 11l5.2-1.8z",
  trash: "M5 7h14M9.5 7V4.5h5V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v5.5M13.5 10.5v5.5",
  search: "M10.8 17a6.2 6.2 0 1 0 0-12.4 6.2 6.2 0 0 0 0 12.4zM15.4 15.4l4.6 4.6",
  smile: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM9.2 10h.01M14.8 10h.01M8.6 13.8c1.6 2.3 5.2 2.3 6.8 0",
  pencil: "M5 19l.8-3.6L16.2 5a1.6 1.6 0 0 1 2.3 0l.5.5a1.6 1.6 0 0 1 0 2.3L8.6 18.2z",
  code: "M9 7.5 4.5 12 9 16.5M15 7.5l4.5 4.5-4.5 4.5",
  link: "M10 14a3.4 3.4 0 0 0 5 0l3-3a3.5 3.5 0 0 0-5-5l-1 1M14 10a3.4 3.4 0 0 0-5 0l-3 3a3.5 3.5 0 0 0 5 5l1-1",
  list: "M9.5 7H19M9.5 12H19M9.5 17H19M5.5 7h.01M5.5 12h.01M5.5 17h.01",
  quote: "M6 6v12M10 8h8.5M10 12h8.5M10 16h5",
  slash: "M15 5 9 19",
  at: "M15.5 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zm0 0v1.2a2.2 2.2 0 0 0 4.4 0V12a7.9 7.9 0 1 0-3.1 6.3",
};

export function icon(name, size = 18) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24", width: size, height: size, fill: "none", stroke: "currentColor",
    "stroke-width": name === "more" ? 3 : 1.8, "stroke-linecap": "round", "stroke-linejoin": "round",
    "aria-hidden": "true", class: "icon",
  })) svg.setAttribute(key, value);
  const path = document.createElementNS(ns, "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

export function avatar(person, size = 36) {
  const app = person && person.is_bot;
  return h("span", {
    class: `avatar${app ? " avatar-app" : ""}`, "aria-hidden": "true",
    style: { "--size": `${size}px`, "--tint": (person && person.color) || "#5b6470" },
  }, app ? icon("check", Math.round(size * 0.6)) : (person && person.initials) || "?");
}
