// Renders Slack's mrkdwn as elements. Every piece of text becomes a text node.

import { h, link } from "./dom.js";
import { emoji, withEmoji } from "./emoji.js";
import { slackDate } from "./dates.js";
import { channelById, openChannel, person, store } from "./store.js";

function decode(text) {
  return text.replace(/&(lt|gt|amp);/g, (_, name) => ({ lt: "<", gt: ">", amp: "&" })[name]);
}

export function mention(userId, label) {
  const who = person(userId);
  const name = who ? who.display_name || who.real_name : label || userId;
  const mine = userId === store.user;
  return h("span", { class: `mention${mine ? " mention-me" : ""}`, title: who ? who.real_name : null }, `@${name}`);
}

export function channelMention(id, label) {
  const channel = channelById(id);
  if (!channel) return h("span", { class: "mention" }, label ? `#${label}` : "private channel");
  return h("button", { type: "button", class: "mention mention-link", on: { click: () => openChannel(id) } },
    `#${channel.name}`);
}

export function broadcast(range) {
  return h("span", { class: "mention mention-me" }, `@${range}`);
}

function special(body) {
  const [target, ...rest] = body.split("|");
  const label = rest.length ? rest.join("|") : "";
  if (target.startsWith("@")) return mention(target.slice(1), decode(label));
  if (target.startsWith("#")) return channelMention(target.slice(1), decode(label));
  if (target.startsWith("!date^")) {
    const [, seconds, format, url] = target.split("^");
    const shown = slackDate(seconds, decode(format || "{date}"));
    return url ? link(decode(url), shown) : h("span", { class: "datetime", title: decode(label) }, shown);
  }
  if (/^!(here|channel|everyone)$/.test(target)) return broadcast(target.slice(1));
  if (target.startsWith("!")) return h("span", { class: "mention" }, decode(label) || `@${target.slice(1)}`);
  const url = decode(target);
  return link(url, label ? withEmoji(decode(label)) : url.replace(/^mailto:/, ""));
}

const STYLES = { "*": "b", _: "i", "~": "s" };
const PIECE = /`([^`\n]+)`|<([^<>\n]+)>|:([a-z0-9_+-]+(?:::[a-z0-9-]+)?):|(https?:\/\/[^\s<>|]+[^\s<>|.,;:!?)\]'"])/y;
const EDGE = /[\s([{<>"'.,;:!?*_~\-–—/|…)\]}]/;

/** Where the style opened at `start` closes: on the same line, around text, at a word boundary. */
function closing(text, start, mark) {
  for (let i = start + 1; i < text.length && text[i] !== "\n"; i += 1) {
    if (text[i] === "`" || text[i] === "<") {
      const piece = pieceAt(text, i);
      if (piece) i += piece[0].length - 1;
    } else if (text[i] === mark && i > start + 1 && !/\s/.test(text[i - 1]) && edge(text[i + 1])) return i;
  }
  return -1;
}

function pieceAt(text, index) {
  PIECE.lastIndex = index;
  return PIECE.exec(text);
}

function edge(character) {
  return character === undefined || EDGE.test(character) || character === "&";
}

function inline(text, options = {}) {
  const out = [];
  let plain = "";
  const flush = () => {
    if (plain) out.push(decode(plain));
    plain = "";
  };
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    if (STYLES[character] && edge(text[i - 1]) && text[i + 1] && !/\s/.test(text[i + 1])) {
      const end = closing(text, i, character);
      if (end > 0) {
        flush();
        out.push(h(STYLES[character], {}, inline(text.slice(i + 1, end), options)));
        i = end;
        continue;
      }
    }
    if ("`<:h".includes(character)) {
      const piece = pieceAt(text, i);
      // Code, like a style, only starts at a word boundary.
      const inside = character === "`" && piece && !(edge(text[i - 1]) && edge(text[i + piece[0].length]));
      const node = piece && !inside ? pieceNode(piece, options) : null;
      if (node) {
        flush();
        out.push(node);
        i += piece[0].length - 1;
        continue;
      }
    }
    if (character === "\n") {
      flush();
      out.push(h("br"));
    } else plain += character;
  }
  flush();
  return out;
}

function pieceNode([, code, angle, name, url], options) {
  if (code !== undefined) return h("code", {}, decode(code));
  if (angle !== undefined) return special(angle);
  if (name !== undefined) return emoji(name);
  return options.verbatim ? null : link(decode(url), decode(url));
}

function bulleted([deeper, row], options) {
  return h("li", { class: deeper ? "deeper" : null }, inline(row, options));
}

/** Groups consecutive lines of one kind: quotes, bullets, and everything else. */
function lines(text, options) {
  const out = [];
  let group = null;
  const close = () => {
    if (group && group.rows.length) {
      if (group.kind === "list") out.push(h("ul", { class: "mrkdwn-list" }, group.rows.map((row) => bulleted(row, options))));
      else if (group.kind === "quote") out.push(h("blockquote", {}, inline(group.rows.join("\n"), options)));
      else out.push(h("span", {}, inline(group.rows.join("\n"), options)));
    }
    group = null;
  };
  for (const line of text.split("\n")) {
    const quote = /^(?:&gt;|>)\s?(.*)$/.exec(line);
    const bullet = /^(\s*[◦▪]|\s{2,}•|\s?•)\s+(.*)$/.exec(line);
    const kind = quote ? "quote" : bullet ? "list" : "text";
    if (!group || group.kind !== kind) {
      close();
      group = { kind, rows: [] };
    }
    group.rows.push(quote ? quote[1] : bullet ? [!/^\s?•$/.test(bullet[1]), bullet[2]] : line);
  }
  close();
  return out;
}

/** mrkdwn text as a list of nodes. `verbatim` doesn't link plain URLs. */
export function mrkdwn(text, options = {}) {
  const out = [];
  for (const [index, part] of String(text || "").split("```").entries()) {
    const fenced = index % 2 === 1;
    if (fenced) out.push(h("pre", {}, decode(part.replace(/^\n/, "").replace(/\n$/, ""))));
    else {
      const trimmed = part.replace(/^\n/, index ? "" : "\n").replace(/\n$/, "");
      if (trimmed) out.push(...lines(trimmed, options));
    }
  }
  return out;
}

/** A Slack text object: mrkdwn or plain_text. */
export function textNodes(object) {
  if (!object) return [];
  if (typeof object === "string") return [object];
  if (object.type === "mrkdwn") return mrkdwn(object.text, { verbatim: object.verbatim });
  return [plain(object)];
}

/** The text of a plain_text object, for labels and names. */
export function plain(object) {
  if (!object) return "";
  const text = typeof object === "string" ? object : object.text || "";
  return object.emoji === false ? text : withEmoji(text);
}
