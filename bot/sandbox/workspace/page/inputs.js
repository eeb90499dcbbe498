// Form controls, one function for each of Slack's input elements except selects.

import { act, changedValue, dispatches } from "./actions.js";
import { h } from "./dom.js";
import { dropArea } from "./files.js";
import { plain } from "./mrkdwn.js";
import { richTextEditor } from "./rich_editor.js";
import { select } from "./selects.js";
import { valueName } from "./values.js";

function shared({ id, focus, label, describe, invalid, required }) {
  return {
    id, "aria-label": label, "aria-describedby": describe, "aria-invalid": invalid ? "true" : null,
    "aria-required": required ? "true" : null, dataset: { focus },
  };
}

function counter(element) {
  const limit = element.max_length;
  const node = h("span", { class: "counter", hidden: true });
  const update = (text) => {
    node.hidden = !limit || text.length < limit * 0.8;
    node.textContent = limit ? String(limit - text.length) : "";
    node.classList.toggle("over", Boolean(limit) && text.length > limit);
    node.setAttribute("aria-label", limit ? `${limit - text.length} characters left` : "");
  };
  return { node, update };
}

function grow(area) {
  area.style.setProperty("height", "auto");
  area.style.setProperty("height", `${Math.min(area.scrollHeight + 2, 320)}px`);
}

/** What every typed input does: saves its value, tells the app when it asked for that, and submits on Enter. */
function teller(block, element, { surface, submit }) {
  let timer = 0;
  const tell = (node) => {
    if (!node.isConnected || node.closest('[aria-busy="true"]')) return;
    act(surface, block, element, { [valueName(element)]: surface.get(block, element) });
  };
  return {
    changed(node, value) {
      surface.set(block, element, value);
      node.closest(".block").classList.remove("has-error");
      if (!dispatches(block, element, "on_character_entered")) return;
      clearTimeout(timer);
      timer = setTimeout(tell, 300, node);
    },
    key(event, node, long) {
      if (event.key !== "Enter" || event.isComposing) return;
      if (long && !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (dispatches(block, element, "on_enter_pressed")) tell(node);
      else if (submit) submit();
    },
  };
}

function richTextInput(block, element, field) {
  const told = teller(block, element, field);
  const editor = richTextEditor({
    ...shared(field), "data-placeholder": plain(element.placeholder),
  }, field.surface.get(block, element), (value) => told.changed(editor.area, value));
  editor.area.addEventListener("keydown", (event) => told.key(event, editor.area, true));
  return editor.node;
}

function textInput(block, element, field) {
  const { surface } = field;
  const long = Boolean(element.multiline);
  const saved = surface.get(block, element);
  const node = h(long ? "textarea" : "input", {
    ...shared(field),
    class: "field",
    type: long ? null : "text",
    rows: long ? 4 : null,
    autocomplete: "off",
    placeholder: plain(element.placeholder) || null,
    value: saved || "",
  });
  const count = counter(element);
  const told = teller(block, element, field);
  node.addEventListener("input", () => {
    count.update(node.value);
    if (long) grow(node);
    told.changed(node, node.value || null);
  });
  node.addEventListener("keydown", (event) => told.key(event, node, long));
  count.update(node.value);
  if (long) requestAnimationFrame(() => node.isConnected && grow(node));
  return h("div", { class: "field-wrap" }, node, count.node);
}

function nativeInput(type) {
  return (block, element, field) => {
    const { surface, submit } = field;
    const saved = surface.get(block, element);
    const node = h("input", {
      ...shared(field), type, class: "field field-short", value: saved || "",
    });
    node.addEventListener("change", async () => {
      const stands = await changedValue(surface, block, element, node.value || null);
      if (!stands) node.value = surface.get(block, element) || "";
    });
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && submit) {
        event.preventDefault();
        submit();
      }
    });
    return node;
  };
}

function checkboxes(block, element, { surface, label, id, focus, describe }) {
  const chosen = () => surface.get(block, element);
  const box = h("div", {
    class: "choices", role: "group", "aria-label": label, "aria-describedby": describe, id,
  });
  const draw = () => {
    for (const [index, node] of [...box.querySelectorAll("input")].entries()) {
      node.checked = chosen().some((o) => o.value === element.options[index].value);
    }
  };
  for (const [index, option] of element.options.entries()) {
    const input = h("input", { type: "checkbox", dataset: { focus: `${focus}/${index}` } });
    input.addEventListener("change", async () => {
      const rest = chosen().filter((o) => o.value !== option.value);
      await changedValue(surface, block, element, input.checked ? [...rest, option] : rest);
      draw();
    });
    box.append(h("label", { class: "choice" }, input, h("span", {},
      h("span", { class: "choice-text" }, plain(option.text)),
      option.description ? h("span", { class: "choice-note" }, plain(option.description)) : null)));
  }
  draw();
  return box;
}

const INPUTS = {
  plain_text_input: textInput,
  rich_text_input: richTextInput,
  datepicker: nativeInput("date"),
  timepicker: nativeInput("time"),
  checkboxes,
  file_input: dropArea,
};

/**
 * The control of `element`. `field`: {surface, label, id, focus, describe?, invalid?, required?, submit?}; null for
 * a type that isn't an input.
 */
export function control(block, element, field) {
  const make = INPUTS[element.type] || (element.type.endsWith("_select") ? select : null);
  return make ? make(block, element, field) : null;
}
