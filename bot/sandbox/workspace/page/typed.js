// Slack's text, such as <@U1>, the way a user types and reads it.

import { withEmoji } from "./emoji.js";
import { channelById, person } from "./store.js";

function converted(text, labelled) {
  return text.replace(/<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g, (all, kind, target, label) => {
    const who = kind === "@" && person(target);
    if (who) return `@${who.real_name}`;
    if (kind === "#") return `#${(channelById(target) || {}).name || label || target}`;
    if (kind === "!") return label || `@${target}`;
    return label ? labelled(label, target) : target;
  }).replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
}

/** A message's text for editing: sending it again gives the same message. */
export function asTyped(text) {
  return converted(text, (label, url) => `[${label}](${url})`);
}

/** A message's text for reading, in one line and without marks. */
export function readable(text) {
  const marks = /(^|[^\w*_~`])[*_~`]+(?=\S)|[*_~`]+(?=[^\w*_~`]|$)/g;
  return withEmoji(converted(text, (label) => label).replace(marks, "$1")).replace(/\s+/g, " ").trim();
}
