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
  return (elements || []).map((e) => leaf(e));
}

/** A mention, an emoji and the like stay one piece in an editor, which reads them back from `data-leaf`. */
function leaf(e) {
  const shown = LEAVES[e.type] ? LEAVES[e.type](e) : e.text || "";
  if (e.type === "text" || e.type === "link") return shown;
  return h("span", { contenteditable: "false", dataset: { leaf: JSON.stringify(e) } }, shown);
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
