// A Work Object's details for one user, opened from the card below its link: fields to edit, buttons, comments.

import { hideDialog, titledDialog } from "./dialog.js";
import { h, safeUrl, uid } from "./dom.js";
import { richTextEditor } from "./rich_editor.js";
import { post, store } from "./store.js";

const LABELS = {
  status: "Status", priority: "Priority", assignee: "Assignee", due_date: "Due date", created_by: "Created by",
  date_created: "Created", date_updated: "Updated", description: "Description",
};

let shown = null;
let draft = null;
let sent = false;

export function openDetails(message, url) {
  return post("details", { channel: message.channel, ts: message.ts, url });
}

function close() {
  return post("details", { close: true });
}

function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
}

function fact(label, text) {
  return h("div", { class: "text" }, h("b", {}, label), h("br"), text);
}

/** A field's input, and what it holds as Slack submits it. */
function input(name, { value, edit }) {
  const { static_options: options, current_value: current } = edit.select || {};
  if (!options) {
    const node = h("input", { type: "date", class: "field", value: value || "", id: uid("field") });
    return { node, held: () => ({ type: "datepicker", selected_date: node.value || null }) };
  }
  const empty = edit.optional || !current ? h("option", { value: "" }, "None") : null;
  const node = h("select", { class: "field", id: uid("field") }, empty, options.map((o) => h("option", { value: o.value }, o.text.text)));
  node.value = current || "";
  const chosen = () => options.find((option) => option.value === node.value) || null;
  return { node, held: () => ({ type: "static_select", selected_option: chosen() }) };
}

function form(fields, errors) {
  const inputs = Object.entries(fields).filter(([, field]) => field.edit).map(([name, field]) => ({ name, ...input(name, field) }));
  if (!inputs.length) return null;
  const save = (event) => {
    event.preventDefault();
    post("details", { values: Object.fromEntries(inputs.map(({ name, held }) => [name, { [`${name}.input`]: held() }])) });
  };
  return h("form", { class: "fields", on: { submit: save } },
    inputs.map(({ name, node }) => h("label", { class: errors[name] ? "text has-error" : "text", for: node.id }, h("b", {}, LABELS[name] || name), node,
      errors[name] ? h("span", { class: "field-error", role: "alert" }, errors[name]) : null)),
    h("div", { class: "text" }, h("button", { type: "submit", class: "button primary" }, "Save")));
}

function buttons({ primary_actions: first = [], overflow_actions: others = [] } = {}) {
  return h("div", { class: "actions" }, [...first, ...others].map(({ text, action_id }) => h("button", {
    type: "button", class: "button", on: { click: () => post("details", { action_id }) },
  }, text)));
}

/** Where a comment is typed, as far as the app lets this user; what wasn't posted stays typed. */
function composer({ can_post: allowed, comment_error: error }) {
  if (!allowed) return null;
  const editor = richTextEditor({ "aria-label": "Comment", "data-placeholder": "Write a comment" }, draft, (value) => { draft = value; });
  const send = (event) => {
    event.preventDefault();
    if (!draft) return;
    sent = true;
    post("details", { comment: draft });
  };
  return h("form", { class: "text", on: { submit: send } }, editor.node,
    error ? h("span", { class: "field-error", role: "alert" }, error) : null,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "button" }, "Post comment")));
}

function comments(details) {
  const { entity, comments: known, cursor } = details;
  if (!entity.entity_comments) return [];
  const label = known ? "More comments" : `Comments (${entity.entity_comments.count})`;
  return [
    ...(known || []).map(({ sender, timestamp, comment }) => h("div", { class: "text details-text" },
      h("b", {}, sender.text), ` ${moment(timestamp)}`, h("br"), comment.value)),
    known ? composer(details) : null,
    !known || cursor ? h("button", { type: "button", class: "text-button", on: { click: () => post("details", {}) } }, label) : null,
  ];
}

function content(details) {
  const { error, entity } = details;
  const said = error ? h("p", { class: "text", role: "alert" }, error.custom_message || "Nothing to show here.") : null;
  if (error && error.status !== "edit_error") return [said];
  const { fields = {}, custom_fields: custom = [], actions } = entity.entity_payload;
  const { description, ...facts } = fields;
  const link = h("a", { href: safeUrl(entity.url), target: "_blank", rel: "noopener" }, entity.url);
  const value = (name, field) => (name.startsWith("date_") ? moment(field.value) : String(field.value));
  return [
    said,
    form(facts, details.errors),
    h("div", { class: "fields" },
      Object.entries(facts).filter(([, field]) => !field.edit).map(([name, field]) => fact(LABELS[name] || name, value(name, field))),
      custom.map((field) => fact(field.label, String(field.value)))),
    description ? h("p", { class: "text details-text" }, description.value) : null,
    h("p", { class: "text details-text" }, details.waiting ? "Loading details…" : link),
    details.waiting ? null : buttons(actions),
    ...(details.waiting ? [] : comments(details)),
  ];
}

function heading(details) {
  if (details.error && details.error.status !== "edit_error") return details.error.custom_title || "Not found";
  const { title, display_id: id, display_type: type } = details.entity.entity_payload.attributes;
  return [type, id, title.text].filter(Boolean).join(" ");
}

/** Opens, updates and closes the details to match the snapshot. */
export function showDetails() {
  const { details } = store.state;
  if (!details) {
    if (shown) hideDialog(shown.overlay);
    shown = null;
    draft = null;
    sent = false;
    return;
  }
  shown = shown || { ...titledDialog(close), sig: "" };
  const sig = JSON.stringify(details);
  if (sig === shown.sig) return;
  if (details.comment_error) sent = false;
  const [newest] = (details.comments || []).map((comment) => JSON.stringify(comment));
  if (sent && newest !== shown.newest) {
    draft = null;
    sent = false;
  }
  shown.newest = newest;
  shown.sig = sig;
  shown.title.textContent = heading(details);
  shown.body.replaceChildren(...content(details).filter(Boolean).map((part) => h("div", { class: "block" }, part)));
}
