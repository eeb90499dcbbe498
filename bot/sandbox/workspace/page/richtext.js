// rich_text blocks, as Slack's own composer creates them.

import { h, link } from "./dom.js";
import { emoji } from "./emoji.js";
import { slackDate } from "./dates.js";
import { broadcast, channelMention, mention } from "./mrkdwn.js";

function styled(node, style = {}) {
  let out = node;
  if (style.code) out = h("code", {}, out);
  if (style.bold) out = h("b", {}, out);
  if (style.italic) out = h("i", {}, out);
  if (style.strike) out = h("s", {}, out);
  return out;
}

const LEAVES = {
  text: (e) => styled(e.text, e.style),
  link: (e) => styled(link(e.url, e.text || e.url), e.style),
  user: (e) => mention(e.user_id),
  usergroup: (e) => h("span", { class: "mention" }, `@${e.usergroup_id}`),
  channel: (e) => channelMention(e.channel_id),
  broadcast: (e) => broadcast(e.range),
  emoji: (e) => emoji(e.name) || `:${e.name}:`,
  date: (e) => h("span", { class: "datetime" }, slackDate(e.timestamp, e.format || "{date}")),
  color: (e) => h("code", {}, e.value),
};

function leaves(elements) {
  return (elements || []).map((e) => (LEAVES[e.type] ? LEAVES[e.type](e) : e.text || ""));
}

const PARTS = {
  rich_text_section: (e) => h("div", { class: "rich-section" }, leaves(e.elements)),
  rich_text_quote: (e) => h("blockquote", { class: "rich-section" }, leaves(e.elements)),
  rich_text_preformatted: (e) => h("pre", {}, leaves(e.elements)),
  rich_text_list: (e) => h(e.style === "ordered" ? "ol" : "ul", {
    class: "rich-list", start: e.style === "ordered" && e.offset ? e.offset + 1 : null,
    style: { "--indent": String(e.indent || 0) },
  }, (e.elements || []).map((item) => h("li", {}, leaves(item.elements)))),
};

export function richText(block) {
  return (block.elements || []).map((e) => (PARTS[e.type] ? PARTS[e.type](e) : null));
}

/** The rich_text value of the text in a rich text input. */
export function richTextValue(text) {
  return {
    type: "rich_text",
    elements: [{ type: "rich_text_section", elements: text ? [{ type: "text", text }] : [] }],
  };
}

/** A rich_text value as plain text, for editing. */
export function richTextPlain(value) {
  return ((value && value.elements) || [])
    .map((part) => (part.elements || []).map((e) => e.text || (e.elements || []).map((x) => x.text || "").join("")).join(""))
    .join("\n");
}
