// Renders Block Kit blocks and their elements.

import { nameOf, pressed, act } from "./actions.js";
import { h, icon, reconcile, safeUrl, uid } from "./dom.js";
import { control } from "./inputs.js";
import { menu } from "./menu.js";
import { plain, textNodes } from "./mrkdwn.js";
import { richText } from "./richtext.js";

function button(block, element, ctx) {
  const label = plain(element.text);
  const node = h("button", {
    type: "button", class: `button small ${element.style || ""}`, "aria-label": element.accessibility_label || null,
    dataset: { focus: focusName(block, element, ctx) },
  }, label, element.url ? icon("open", 14) : null);
  node.addEventListener("click", async () => {
    const url = element.url ? safeUrl(element.url) : null;
    if (url) window.open(url, "_blank", "noopener");
    node.classList.add("waiting");
    await pressed(ctx.surface, block, element);
    node.classList.remove("waiting");
  });
  return node;
}

function overflow(block, element, ctx) {
  const node = h("button", {
    type: "button", class: "button small overflow", "aria-haspopup": "menu", "aria-expanded": "false",
    "aria-label": element.accessibility_label || "More options", dataset: { focus: focusName(block, element, ctx) },
  }, icon("more", 16));
  node.addEventListener("click", () => menu(node, "More options", element.options.map((option) => ({
    label: plain(option.text),
    note: option.description ? plain(option.description) : null,
    run: () => {
      const url = option.url ? safeUrl(option.url) : null;
      if (url) window.open(url, "_blank", "noopener");
      act(ctx.surface, block, element, { selected_option: option });
    },
  })), { align: "right" }));
  return node;
}

function focusName(block, item, ctx) {
  return `${ctx.surface.key}/${block.block_id}/${item.action_id}`;
}

/** An element of an actions block, or a section's accessory. */
function element(block, item, ctx) {
  if (item.type === "button") return button(block, item, ctx);
  if (item.type === "overflow") return overflow(block, item, ctx);
  const made = control(block, item, {
    surface: ctx.surface, label: nameOf(block, item), id: uid("element"), focus: focusName(block, item, ctx),
  });
  return made || unknown(item);
}

function unknown(item) {
  return h("span", { class: "unknown" }, `The sandbox can't show “${item.type}”`);
}

function input(block, ctx) {
  const id = uid("input");
  const label = plain(block.label);
  const required = !block.optional;
  const error = ctx.surface.error(block, ctx.errors);
  const describe = [error ? `${id}-error` : null, block.hint ? `${id}-hint` : null].filter(Boolean).join(" ") || null;
  const made = control(block, block.element, {
    surface: ctx.surface, label, id, describe, required, focus: focusName(block, block.element, ctx),
    invalid: Boolean(error), submit: ctx.submit,
  });
  const grouped = block.element.type === "checkboxes";
  return h("div", { class: `block input-block${error ? " has-error" : ""}` },
    h(grouped ? "span" : "label", {
      class: "label", for: grouped ? null : id, on: { click: () => document.getElementById(id).focus() },
    }, label,
      required ? h("span", { class: "required", "aria-hidden": "true" }, "*") : h("span", { class: "optional" }, "(optional)")),
    made || unknown(block.element),
    error ? h("p", { class: "field-error", id: `${id}-error`, role: "alert" }, icon("warn", 15), error) : null,
    block.hint ? h("p", { class: "hint", id: `${id}-hint` }, plain(block.hint)) : null);
}

const BLOCKS = {
  section: (block, ctx) => h("div", { class: "block section" },
    h("div", { class: "section-main" },
      block.text ? h("div", { class: "text" }, textNodes(block.text)) : null,
      block.fields ? h("div", { class: "fields" }, block.fields.map((f) => h("div", { class: "text" }, textNodes(f)))) : null),
    block.accessory ? h("div", { class: "accessory" }, element(block, block.accessory, ctx)) : null),
  divider: () => h("hr", { class: "block divider" }),
  context: (block) => h("div", { class: "block context" }, block.elements.map((item) => h("span", { class: "text" }, textNodes(item)))),
  header: (block) => h("h3", { class: "block header" }, plain(block.text)),
  actions: (block, ctx) => h("div", { class: "block actions" }, block.elements.map((item) => element(block, item, ctx))),
  input,
  rich_text: (block) => h("div", { class: "block rich-text text" }, richText(block)),
};

/** Renders `blocks` into `parent`, keeping the nodes of unchanged ones. `ctx`: {surface, errors?, submit?}. */
export function showBlocks(parent, blocks, ctx) {
  ctx.surface.sync(blocks);
  reconcile(parent, blocks.map((block, index) => {
    const error = block.type === "input" ? ctx.surface.error(block, ctx.errors) : null;
    return {
      key: `${block.block_id || index}:${block.type}`,
      // a text that was typed stays, and with it the caret, when the app sends it back as the initial one
      sig: JSON.stringify([block, error], (name, value) => (name === "initial_value" ? undefined : value)),
      build: () => (BLOCKS[block.type] ? BLOCKS[block.type](block, ctx) : h("div", { class: "block" }, unknown(block))),
    };
  }));
}

