// A rich text input: a small editor, and Slack's rich_text of what it shows.

import { h, icon, safeUrl } from "./dom.js";
import { formatByKeys, formattingBar } from "./formatting.js";
import { closePopup, popup } from "./menu.js";
import { richText } from "./richtext.js";

const STYLES = { B: "bold", STRONG: "bold", I: "italic", EM: "italic", S: "strike", STRIKE: "strike", DEL: "strike", CODE: "code" };
const BORDERED = { PRE: "rich_text_preformatted", BLOCKQUOTE: "rich_text_quote" };
const LISTS = ["UL", "OL"];
const LINES = ["DIV", "P"];
const NEWLINE = { type: "text", text: "\n" };
const URLS = /(https?:\/\/[^\s<>|]+[^\s<>|.,;:!?)\]'"])/;

function run(command, value = null) {
  document.execCommand(command, false, value);
}

function selected() {
  return window.getSelection().getRangeAt(0);
}

function around(tag) {
  const range = selected();
  const inside = caretIn(tag);
  if (inside && range.collapsed) typeAfter(inside, document.createTextNode(" "));
  else if (inside) inside.replaceWith(...inside.childNodes);
  else if (!range.collapsed) range.insertNode(h(tag, {}, range.extractContents()));
}

/** Puts `next` after a node, and the caret into it. */
function typeAfter(node, next) {
  node.after(next);
  window.getSelection().setPosition(next, next.length || 0);
}

function caretIn(tags) {
  const { startContainer: at } = selected();
  return (at.nodeType === Node.TEXT_NODE ? at.parentElement : at).closest(tags);
}

function block(tag) {
  run("formatBlock", caretIn(tag) ? "div" : tag);
}

/** Asks for an address, then links the selected text, or inserts the address. */
function link(area) {
  const range = selected().cloneRange();
  const input = h("input", { type: "url", class: "field", "aria-label": "Link", placeholder: "https://" });
  const save = () => {
    const url = safeUrl(input.value.trim());
    if (!url) return input.focus();
    closePopup();
    area.focus();
    window.getSelection().removeAllRanges();
    window.getSelection().addRange(range);
    return run(range.collapsed ? "insertText" : "createLink", url);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    save();
  });
  popup(area, h("div", { class: "menu link-popup", role: "dialog", "aria-label": "Add a link" }, input,
    h("button", { type: "button", class: "button primary", on: { click: save } }, "Add link")));
  input.focus();
}

const FORMATS = [
  { label: "Bold", keys: "b", show: () => h("b", {}, "B"), apply: () => run("bold") },
  { label: "Italic", keys: "i", show: () => h("i", {}, "I"), apply: () => run("italic") },
  { label: "Strikethrough", keys: "shift x", show: () => h("s", {}, "S"), apply: () => run("strikeThrough") },
  { label: "Code", keys: "shift c", show: () => icon("code"), apply: () => around("code") },
  { label: "Link", keys: "shift u", show: () => icon("link"), apply: link },
  { label: "Numbered list", keys: "shift 7", show: () => "1.", apply: () => run("insertOrderedList") },
  { label: "Bulleted list", keys: "shift 8", show: () => icon("list"), apply: () => run("insertUnorderedList") },
  { label: "Quote", keys: "shift 9", show: () => icon("quote"), apply: () => block("blockquote") },
  { label: "Code block", keys: "alt shift c", show: () => "{ }", apply: () => block("pre") },
];
/** Typed at the start of a line and followed by a space. */
const TYPED = { "-": "Bulleted list", "*": "Bulleted list", "•": "Bulleted list", "1.": "Numbered list", ">": "Quote" };

function format(label, area) {
  FORMATS.find((known) => known.label === label).apply(area);
}

/** Formats a line whose first characters stand for a list or a quote; returns whether they do. */
function formatTyped(area) {
  const { startContainer: at, startOffset: end } = selected();
  const label = at.nodeType === Node.TEXT_NODE && !at.previousSibling && !caretIn("li, blockquote, pre") && TYPED[at.data.slice(0, end)];
  if (!label) return false;
  window.getSelection().setBaseAndExtent(at, 0, at, end);
  run("delete");
  format(label, area);
  return true;
}

function pasted(event, area) {
  const text = event.clipboardData.getData("text/plain");
  if (!text) return;
  event.preventDefault();
  const links = !selected().collapsed && /^https?:\/\/\S+$/.test(text.trim());
  run(links ? "createLink" : "insertText", links ? text.trim() : text);
}

/** An editor that shows `saved` and tells `changed` the rich_text of what it shows, or null when that is blank. */
export function richTextEditor(props, saved, changed) {
  const area = h("div", { ...props, class: "field rich-editor text", role: "textbox", "aria-multiline": "true", contenteditable: "true", tabindex: 0 },
    saved ? richText(saved) : null);
  const tell = () => {
    const value = richTextOf(area);
    area.classList.toggle("blank", !area.textContent && !area.querySelector("li, pre, blockquote"));
    changed(value);
  };
  area.addEventListener("input", tell);
  area.addEventListener("paste", (event) => pasted(event, area));
  area.addEventListener("keydown", (event) => {
    const inside = event.key === "Enter" && !event.shiftKey && caretIn("pre, blockquote");
    if (inside && !inside.textContent.trim()) run("formatBlock", "div");
    else if (inside && inside.innerText.endsWith("\n\n")) typeAfter(inside, h("div", {}, h("br")));
    else if (!formatByKeys(event, area, FORMATS) && !(event.key === " " && formatTyped(area))) return;
    event.preventDefault();
    tell();
  });
  area.classList.toggle("blank", !saved);
  return { area, node: h("div", { class: "rich-input" }, formattingBar(area, tell, FORMATS), area) };
}

/** A node's children without the line break at its end, which only gives an empty line its height. */
function childrenOf(node) {
  const nodes = [...node.childNodes];
  return nodes.length && nodes[nodes.length - 1].nodeName === "BR" ? nodes.slice(0, -1) : nodes;
}

function styled(leaf, style) {
  return Object.keys(style).length ? { ...leaf, style } : leaf;
}

function words(text, style) {
  return text.split(style.code ? /(?!)/ : URLS).filter(Boolean)
    .map((part, index) => styled(URLS.test(part) && !style.code ? { type: "link", url: part } : { type: "text", text: part }, style));
}

function readLeaves(node, style, out) {
  if (node.nodeType === Node.TEXT_NODE) out.push(...words(node.data.replaceAll("\u00a0", " "), style));
  else if (node.nodeName === "BR") out.push(NEWLINE);
  else if (node.dataset.leaf) out.push(JSON.parse(node.dataset.leaf));
  else if (node.nodeName === "A") out.push(styled({ type: "link", url: node.getAttribute("href"), text: node.textContent }, style));
  else {
    if (LINES.includes(node.nodeName) && out.length) out.push(NEWLINE);
    const name = STYLES[node.nodeName];
    for (const child of childrenOf(node)) readLeaves(child, name ? { ...style, [name]: true } : style, out);
  }
  return out;
}

/** Joins neighboring text of one style, as Slack does. */
function joined(leaves) {
  const out = [];
  for (const leaf of leaves) {
    const last = out[out.length - 1];
    const same = last && last.type === "text" && leaf.type === "text" && JSON.stringify(last.style) === JSON.stringify(leaf.style);
    if (same) out[out.length - 1] = { ...last, text: last.text + leaf.text };
    else out.push(leaf);
  }
  return out;
}

function readList(list, indent, parts) {
  const style = list.nodeName === "OL" ? "ordered" : "bullet";
  let items = [];
  let offset = 0;
  const flush = () => {
    if (items.length) parts.push({ type: "rich_text_list", style, indent, border: 0, ...(offset && style === "ordered" ? { offset } : {}), elements: items });
    offset += items.length;
    items = [];
  };
  for (const item of list.children) {
    const nested = LISTS.includes(item.nodeName) ? [item] : [...item.children].filter((child) => LISTS.includes(child.nodeName));
    if (nested[0] !== item) {
      const own = childrenOf(item).filter((child) => !nested.includes(child));
      items.push({ type: "rich_text_section", elements: joined(own.reduce((out, child) => readLeaves(child, {}, out), [])) });
    }
    for (const inner of nested) {
      flush();
      readList(inner, indent + 1, parts);
    }
  }
  flush();
}

function richTextOf(area) {
  const parts = [];
  let inline = [];
  const flush = (more) => {
    const elements = joined(inline);
    inline = [];
    const last = elements[elements.length - 1];
    const ended = !last || (last.type === "text" && last.text.endsWith("\n"));
    if (elements.length) parts.push({ type: "rich_text_section", elements: more && !ended ? joined([...elements, NEWLINE]) : elements });
  };
  const bordered = (type, node) => {
    let elements = childrenOf(node).reduce((out, child) => readLeaves(child, {}, out), []);
    if (node.nodeName === "PRE") elements = [{ type: "text", text: elements.map((leaf) => leaf.text || leaf.url).join("").trimEnd() }];
    const last = parts[parts.length - 1];
    if (last && last.type === type) last.elements = joined([...last.elements, NEWLINE, ...elements]);
    else parts.push({ type, elements: joined(elements) });
  };
  const read = (node) => {
    for (const child of childrenOf(node)) {
      const { nodeName } = child;
      if (LISTS.includes(nodeName) || BORDERED[nodeName]) flush(true);
      if (LISTS.includes(nodeName)) readList(child, 0, parts);
      else if (BORDERED[nodeName]) bordered(BORDERED[nodeName], child);
      else if (LINES.includes(nodeName)) {
        if (inline.length) inline.push(NEWLINE);
        read(child);
      } else readLeaves(child, {}, inline);
    }
  };
  read(area);
  flush(false);
  const blank = parts.every((part) => !JSON.stringify(part).match(/"(url|name|user_id|channel_id)"|"text":"(?!(\\n|\s)*")/));
  return blank ? null : { type: "rich_text", elements: parts };
}
