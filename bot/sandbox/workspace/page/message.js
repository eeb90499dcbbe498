// One message: author, time, text or blocks, files, previews, replies and actions.

import { showBlocks } from "./blocks.js";
import { editMessage } from "./composer.js";
import { clock, fromTs, fullTime, ago } from "./dates.js";
import { openDetails } from "./details.js";
import { avatar, h, icon } from "./dom.js";
import { emoji } from "./emoji.js";
import { pickEmoji } from "./emoji_picker.js";
import { fileCard } from "./files.js";
import { menu } from "./menu.js";
import { mrkdwn } from "./mrkdwn.js";
import { openThread, person, post, store } from "./store.js";
import { surface } from "./values.js";

function surfaceOf(message) {
  return surface(`message:${message.channel}:${message.ts}`, { message: { channel: message.channel, ts: message.ts } });
}

export function author(message) {
  const who = person(message.user) || {};
  return {
    name: (message.is_bot && message.username) || who.real_name || who.display_name || message.username || message.user,
    title: message.is_bot ? "" : who.title, who: message.is_bot ? { ...who, is_bot: true } : who,
  };
}

function remove(message) {
  return post("delete", { channel: message.channel, ts: message.ts });
}

function more(message, anchor, inThread) {
  const app = store.state.app;
  const items = app.message_shortcuts.map((shortcut) => ({
    label: shortcut.name, note: shortcut.description, lead: icon("bolt", 18),
    run: () => post("shortcut", { callback_id: shortcut.callback_id, channel: message.channel, ts: message.ts }),
  }));
  if (items.length) items.unshift({ heading: app.name });
  if (!inThread) {
    items.push({ divider: true });
    items.push({ label: "Reply in thread", lead: icon("reply", 18), run: () => openThread(message.thread_ts || message.ts) });
  }
  items.push({
    label: "Add reaction", lead: icon("smile", 18),
    run: () => pickEmoji(anchor, (name) => post("react", { channel: message.channel, ts: message.ts, name })),
  });
  if (message.user === store.user) {
    items.push({ label: "Edit message", lead: icon("pencil", 18), run: () => editMessage(message, inThread) });
    items.push({ label: "Delete message", lead: icon("trash", 18), danger: true, run: () => remove(message) });
  }
  menu(anchor, "More actions", items, { align: "right" });
}

function toolbar(message, inThread) {
  if (message.ephemeral || message.pending) return null;
  const anchor = h("button", {
    type: "button", class: "icon-button", "aria-label": "More actions", "aria-haspopup": "menu", "aria-expanded": "false",
    title: "More actions", dataset: { focus: `more/${inThread}/${message.ts}` }, on: { click: () => more(message, anchor, inThread) },
  }, icon("more"));
  return h("div", { class: "toolbar", role: "group", "aria-label": "Message actions" },
    inThread ? null : h("button", {
      type: "button", class: "icon-button", "aria-label": "Reply in thread", title: "Reply in thread",
      on: { click: () => openThread(message.thread_ts || message.ts) },
    }, icon("reply")), anchor);
}

function replies(message, all) {
  const mine = all.filter((m) => m.thread_ts === message.ts && m.ts !== message.ts && !m.ephemeral);
  const { reply_count: count } = message;
  if (!count) return null;
  const people = [...new Map(mine.map((m) => [m.user, author(m).who])).values()].slice(0, 4);
  const last = mine[mine.length - 1];
  return h("button", {
    type: "button", class: "replies", "aria-label": `${count} ${count === 1 ? "reply" : "replies"}`,
    on: { click: () => openThread(message.ts) },
  }, people.map((who) => avatar(who, 22)), h("b", {}, `${count} ${count === 1 ? "reply" : "replies"}`),
  last ? h("span", { class: "replies-last" }, ago(fromTs(last.ts))) : null);
}

function unfurl(preview, index, message) {
  const box = h("div", { class: preview.has_details ? "" : "unfurl" });
  const key = `unfurl:${message.channel}:${message.ts}:${index}`;
  showBlocks(box, preview.blocks || [], {
    surface: surface(key, { message: { channel: message.channel, ts: message.ts } }),
  });
  if (!preview.has_details) return box;
  return h("div", { class: "unfurl" }, box, h("button", {
    type: "button", class: "text-button", dataset: { focus: key }, on: { click: () => openDetails(message, preview.url) },
  }, "View details"));
}

/**
 * The element of a message. `compact` omits the author, who also wrote the previous message; `all` are the
 * channel's messages, to count replies; `kept` is the element to replace: its blocks are patched, not rebuilt.
 */
export function messageNode(message, { compact, inThread, all, kept }) {
  const { name, title, who } = author(message);
  const at = fromTs(message.ts);
  const body = h("div", { class: "message-body" });
  const old = kept && kept.__blocks;
  const blocks = old || h("div", { class: "blocks" });
  if (message.blocks && message.blocks.length) {
    showBlocks(blocks, message.blocks, { surface: surfaceOf(message) });
    body.append(blocks);
  } else if (message.text) body.append(h("div", { class: "text" }, mrkdwn(message.text)));
  if (message.edited) body.append(h("span", { class: "edited" }, "(edited)"));
  for (const [index, preview] of (message.unfurls || []).entries()) body.append(unfurl(preview, index, message));
  if (message.files && message.files.length) body.append(h("div", { class: "files" }, message.files.map(fileCard)));
  if (message.reactions.length) {
    const shown = message.reactions.map((name) => emoji(name) || `:${name}:`);
    body.append(h("div", { class: "reactions", "aria-label": "Reactions" }, shown.join(" ")));
  }
  const time = h("time", { datetime: at.toISOString(), title: fullTime(at), class: "time" }, clock(at));
  const node = h("article", {
    class: `message${compact ? " compact" : ""}${message.ephemeral ? " ephemeral" : ""}`,
    "aria-label": `${name} at ${clock(at)}`, dataset: { ts: message.ts },
  },
  message.ephemeral ? h("p", { class: "only-you" }, icon("eye", 15), "Only visible to you") : null,
  h("div", { class: "gutter" }, compact ? time : avatar(who)),
  h("div", { class: "message-main" },
    compact ? null : h("div", { class: "byline" }, h("b", { class: "author" }, name),
      message.is_bot ? h("span", { class: "app-mark" }, "APP") : null,
      title ? h("span", { class: "author-title" }, title) : null, time),
    body,
    inThread ? null : replies(message, all),
    message.ephemeral ? h("button", { type: "button", class: "text-button dismiss", on: { click: () => remove(message) } },
      "Dismiss message") : null),
  toolbar(message, inThread));
  node.__blocks = blocks;
  return node;
}
