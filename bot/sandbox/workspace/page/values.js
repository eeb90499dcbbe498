// A surface's input values (a modal, a message, the Home tab), kept across rerenders.

/** For each element type: the name of its value in Slack's state, and the property with its initial value. */
const KINDS = {
  plain_text_input: ["value", "initial_value"],
  rich_text_input: ["rich_text_value", "initial_value"],
  static_select: ["selected_option", "initial_option"],
  external_select: ["selected_option", "initial_option"],
  multi_static_select: ["selected_options", "initial_options"],
  multi_external_select: ["selected_options", "initial_options"],
  checkboxes: ["selected_options", "initial_options"],
  conversations_select: ["selected_conversation", "initial_conversation"],
  datepicker: ["selected_date", "initial_date"],
  timepicker: ["selected_time", "initial_time"],
  file_input: ["files", null],
};

export function valueName(element) {
  return KINDS[element.type] ? KINDS[element.type][0] : null;
}

function initial(element) {
  const [name, preset] = KINDS[element.type];
  const given = preset ? element[preset] : null;
  if (given !== undefined && given !== null) return given;
  return ["selected_options", "files"].includes(name) ? [] : null;
}

function elementsOf(block) {
  if (block.type === "input") return [block.element];
  if (block.type === "section") return block.accessory ? [block.accessory] : [];
  return block.type === "actions" ? block.elements : [];
}

const surfaces = new Map();

/** The surface for `key`; `source` identifies it in POST /page/action. */
export function surface(key, source) {
  if (!surfaces.has(key)) surfaces.set(key, new Surface(key, source));
  return surfaces.get(key);
}

/** Forgets closed modals. */
export function keepForms(keys) {
  for (const key of surfaces.keys()) if (key.startsWith("view:") && !keys.has(key)) surfaces.delete(key);
}

class Surface {
  constructor(key, source) {
    this.key = key;
    this.source = source;
    this.fields = new Map();
    this.localErrors = {};
    this.seenErrors = null;
    this.settled = new Set();
  }

  /**
   * Updates to the current blocks: an unchanged field (same block_id, action_id and type) keeps its value, a new one
   * starts with its initial value, and a choice no longer offered is reset to the initial value.
   */
  sync(blocks) {
    const next = new Map();
    for (const block of blocks) {
      for (const element of elementsOf(block)) {
        if (!valueName(element)) continue;
        const name = fieldName(block, element);
        const kept = this.fields.get(name);
        next.set(name, {
          block: block.block_id, action: element.action_id, type: element.type,
          value: kept && kept.type === element.type && stillOffered(element, kept.value) ? kept.value : initial(element),
        });
      }
    }
    this.fields = next;
  }

  get(block, element) {
    const field = this.fields.get(fieldName(block, element));
    return field ? field.value : initial(element);
  }

  set(block, element, value) {
    this.fields.set(fieldName(block, element), { block: block.block_id, action: element.action_id, type: element.type, value });
    this.settled.add(block.block_id);
    delete this.localErrors[block.block_id];
  }

  /** Slack's state.values. */
  values() {
    const out = {};
    for (const { block, action, type, value } of this.fields.values()) {
      const name = KINDS[type][0];
      const shown = name === "value" && value === "" ? null : value;
      out[block] = { ...out[block], [action]: { type, [name]: shown } };
    }
    return out;
  }

  /** The error to show at a block: the app's, until the user changes that field. */
  error(block, errors) {
    const seen = JSON.stringify(errors || null);
    if (seen !== this.seenErrors) {
      this.seenErrors = seen;
      this.settled = new Set();
    }
    if (this.localErrors[block.block_id]) return this.localErrors[block.block_id];
    return this.settled.has(block.block_id) ? null : (errors || {})[block.block_id] || null;
  }

  /** Before a submission: dismissed errors may apply again. */
  submitted() {
    this.localErrors = {};
    this.seenErrors = null;
  }
}

function fieldName(block, element) {
  return `${block.block_id}\n${element.action_id}`;
}

function stillOffered(element, value) {
  if (!element.options || value === null) return true;
  const offered = new Set(element.options.map((o) => o.value));
  return [value].flat().every((option) => offered.has(option.value));
}
