// A Work Object's details for one user, opened from the card below its link.

import { hideDialog, showDialog } from "./dialog.js";
import { h, icon, safeUrl, uid } from "./dom.js";
import { post, store } from "./store.js";

const LABELS = {
  status: "Status", priority: "Priority", assignee: "Assignee", due_date: "Due date", created_by: "Created by",
  date_created: "Created", date_updated: "Updated", description: "Description",
};

let shown = null;

export function openDetails(message, url) {
  return post("details", { channel: message.channel, ts: message.ts, url });
}

function close() {
  return post("details", { close: true });
}

function value(name, field) {
  if (!name.startsWith("date_")) return String(field.value);
  return new Date(field.value * 1000).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
}

function fact(label, text) {
  return h("div", { class: "text" }, h("b", {}, label), h("br"), text);
}

function content(details) {
  if (details.error) return [h("p", { class: "text" }, details.error.custom_message || "Nothing to show here.")];
  const { fields = {}, custom_fields: custom = [] } = details.entity.entity_payload;
  const { description, ...facts } = fields;
  const link = h("a", { href: safeUrl(details.entity.url), target: "_blank", rel: "noopener" }, details.entity.url);
  return [
    h("div", { class: "fields" },
      Object.entries(facts).map(([name, field]) => fact(LABELS[name] || name, value(name, field))),
      custom.map((field) => fact(field.label, String(field.value)))),
    description ? h("p", { class: "text details-text" }, description.value) : null,
    h("p", { class: "text details-text" }, details.waiting ? "Loading details…" : link),
  ];
}

function heading(details) {
  if (details.error) return details.error.custom_title || "Not found";
  const { title, display_id: id, display_type: type } = details.entity.entity_payload.attributes;
  return [type, id, title.text].filter(Boolean).join(" ");
}

function build() {
  const title = h("h2", { class: "modal-title", id: uid("title") });
  const body = h("div", { class: "modal-body" });
  const overlay = h("div", { class: "overlay" },
    h("div", { class: "modal", role: "dialog", "aria-labelledby": title.id, tabindex: -1 },
      h("div", { class: "modal-head" }, title,
        h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", on: { click: close } }, icon("close", 20))),
      body));
  showDialog(overlay, close);
  overlay.firstChild.focus({ preventScroll: true });
  return { title, body, overlay, sig: "" };
}

/** Opens, updates and closes the details to match the snapshot. */
export function showDetails() {
  const { details } = store.state;
  if (!details) {
    if (shown) hideDialog(shown.overlay);
    shown = null;
    return;
  }
  shown = shown || build();
  const sig = JSON.stringify(details);
  if (sig === shown.sig) return;
  shown.sig = sig;
  shown.title.textContent = heading(details);
  shown.body.replaceChildren(...content(details).filter(Boolean));
}
