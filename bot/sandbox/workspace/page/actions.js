// Sends the user's presses and changes on a surface to POST /page/action.

import { confirmed } from "./dialog.js";
import { plain } from "./mrkdwn.js";
import { post } from "./store.js";
import { valueName } from "./values.js";

/** Calls the app, after the element's confirm dialog if it has one. False when the user canceled. */
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
 * Stores a changed value; outside input blocks, or with dispatch_action, also calls the app. If the user cancels
 * the confirm dialog, the old value stays. Resolves to whether the new value was kept.
 */
export async function changedValue(surface, block, element, value) {
  const before = surface.get(block, element);
  surface.set(block, element, value);
  if (block.type === "input" && !block.dispatch_action) return true;
  const went = await act(surface, block, element, { [valueName(element)]: value });
  if (!went) surface.set(block, element, before);
  return went;
}

/** Whether a text input calls the app on this trigger. */
export function dispatches(block, element, trigger) {
  const config = element.dispatch_action_config || {};
  return Boolean(block.dispatch_action) && (config.trigger_actions_on || ["on_enter_pressed"]).includes(trigger);
}

/** The accessible name of an element outside an input block. */
export function nameOf(block, element) {
  return element.accessibility_label || plain(element.placeholder) || plain(block.text) || "Choose";
}
