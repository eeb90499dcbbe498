// What happens when a person presses or changes something on a surface: the payload of POST /page/action.

import { confirmed } from "./dialog.js";
import { plain } from "./mrkdwn.js";
import { post } from "./store.js";
import { valueName } from "./values.js";

/** Tells the app; asks first when the element has a confirm object. False when the person backed out. */
export async function act(surface, block, element, details, confirm = element.confirm) {
  if (!(await confirmed(confirm))) return false;
  await post("action", {
    source: surface.source,
    block_id: block.block_id,
    action: { type: element.type, action_id: element.action_id, block_id: block.block_id, ...details },
    values: surface.values(),
  });
  return true;
}

export function pressed(surface, block, element) {
  const details = { text: element.text };
  if (element.value !== undefined) details.value = element.value;
  if (element.style) details.style = element.style;
  return act(surface, block, element, details);
}

/**
 * Keeps a changed value; outside input blocks, or in one with dispatch_action, the app is told. When the person
 * backs out of a confirmation the old value stands. Resolves to whether the value stands.
 */
export async function changedValue(surface, block, element, value) {
  const before = surface.get(block, element);
  surface.set(block, element, value);
  if (block.type === "input" && !block.dispatch_action) return true;
  const went = await act(surface, block, element, { [valueName(element)]: value });
  if (!went) surface.set(block, element, before);
  return went;
}

/** For text inputs: whether they tell the app on this trigger. */
export function dispatches(block, element, trigger) {
  const config = element.dispatch_action_config || {};
  return Boolean(block.dispatch_action) && (config.trigger_actions_on || ["on_enter_pressed"]).includes(trigger);
}

/** The accessible name of an element outside an input block. */
export function nameOf(block, element) {
  return element.accessibility_label || plain(element.placeholder) || plain(block.text) || "Choose";
}
