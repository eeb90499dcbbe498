// A dialog that finds one thing while the user types: the quick switcher and the search over messages.

import { mainComposer } from "./channel.js";
import { clock, dayName, fromTs } from "./dates.js";
import { dialogOpen, hideDialog, showDialog } from "./dialog.js";
import { activateOption, avatar, h, icon, uid } from "./dom.js";
import { showMessage } from "./jump.js";
import { author } from "./message.js";
import { channelById, channelTitle, isAppChannel, openChannel, openDirect, person, store, unreadCount } from "./store.js";
import { readable } from "./typed.js";

const MOST = 20;

/** Opens the dialog; `matching(text)` returns its options: {label, note, lead, run}. */
function find(title, placeholder, matching) {
  if (dialogOpen()) return;
  const listId = uid("found");
  let options = [];
  let active = 0;
  const list = h("div", { class: "found", role: "listbox", id: listId, "aria-label": title });
  const input = h("input", {
    class: "field", role: "combobox", "aria-label": title, "aria-expanded": "true", "aria-controls": listId, "aria-autocomplete": "list",
    placeholder, autocomplete: "off", spellcheck: "false", on: { input: () => draw(), keydown: (event) => key(event) },
  });
  const overlay = h("div", { class: "overlay overlay-top", on: { mousedown: (event) => event.target === overlay && close() } },
    h("div", { class: "modal finder", role: "dialog", "aria-label": title }, h("div", { class: "finder-head" }, icon("search"), input), list));

  function close() {
    hideDialog(overlay);
  }

  function take(index) {
    if (!options[index]) return;
    close();
    options[index].run();
  }

  function highlight(next) {
    active = next;
    activateOption(input, list, active);
  }

  function draw() {
    options = matching(input.value.trim().toLowerCase());
    list.replaceChildren(...options.map((option, index) => h("div", {
      class: "option", role: "option", id: `${listId}-${index}`, on: { click: () => take(index) },
    }, option.lead, h("span", { class: "option-text" }, option.label, option.note ? h("span", { class: "option-note" }, option.note) : null))));
    if (!options.length) list.append(h("p", { class: "listbox-note" }, input.value.trim() ? "No matches" : "Type to search"));
    highlight(0);
  }

  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) highlight((active + step + options.length) % options.length);
    else if (event.key === "Enter") take(active);
    else return;
    event.preventDefault();
  }

  showDialog(overlay, close);
  draw();
  input.focus();
}

function startsWord(name, typed) {
  const lower = name.toLowerCase();
  return lower.startsWith(typed) || lower.split(/[\s._-]+/).some((word) => word.startsWith(typed));
}

function places() {
  const { channels, people } = store.state;
  const known = channels.map((channel) => {
    const app = isAppChannel(channel);
    return {
      label: channelTitle(channel), note: channel.kind === "im" ? (app ? "App" : person(channel.with).title) : channel.topic,
      lead: channel.kind === "im" ? avatar(app ? { is_bot: true } : person(channel.with), 22)
        : h("span", { class: "lead" }, channel.kind === "private" ? icon("lock", 16) : "#"),
      unread: unreadCount(channel.id), run: () => openChannel(channel.id),
    };
  });
  const strangers = people.filter((p) => p.is_app_user_choice && p.id !== store.user && !channels.some((c) => c.with === p.id));
  return [
    ...known.filter((place) => place.unread), ...known.filter((place) => !place.unread),
    ...strangers.map((p) => ({ label: p.real_name, note: p.title, lead: avatar(p, 22), run: () => openDirect(p.id) })),
  ];
}

/** Ctrl+K: goes to a channel, or to the direct messages with a person. */
export function switchPlace() {
  find("Go to a channel or person", "Where to?", (typed) => places().filter((place) => startsWord(place.label, typed)).map((place) => ({
    ...place,
    run: () => {
      place.run();
      mainComposer.area.focus();
    },
  })));
}

/** All texts in blocks, which messages of apps consist of. */
function texts(value) {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (!value || typeof value !== "object") return [];
  return [typeof value.text === "string" ? value.text : "", ...Object.values(value).flatMap(texts)];
}

function excerpt(text, typed) {
  if (text.length <= 140) return text;
  const found = text.toLowerCase().indexOf(typed.split(/\s+/)[0]);
  const at = found > 40 ? text.indexOf(" ", found - 40) + 1 : 0;
  return `${at ? "…" : ""}${text.slice(at, at + 140)}${text.length > at + 140 ? "…" : ""}`;
}

function messagesWith(typed) {
  const words = typed.split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = Object.values(store.state.messages).flat()
    .map((message) => ({ message, text: readable([message.text, ...texts(message.blocks)].join(" ")) }))
    .filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  return found.sort((a, b) => b.message.ts - a.message.ts).slice(0, MOST).map(({ message, text }) => {
    const { name, who } = author(message);
    const channel = channelById(message.channel);
    const at = fromTs(message.ts);
    return {
      label: excerpt(text, typed), lead: avatar(who, 28),
      note: `${name} · ${channel.kind === "im" ? channelTitle(channel) : `#${channel.name}`} · ${dayName(at)}, ${clock(at)}`,
      run: () => showMessage(message.channel, message.ts),
    };
  });
}

/** Ctrl+G: searches the messages that the user can see. */
export function searchMessages() {
  find("Search messages", "Search messages", messagesWith);
}

document.addEventListener("keydown", (event) => {
  const open = { k: switchPlace, g: searchMessages }[event.key.toLowerCase()];
  if (!open || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || !store.state) return;
  event.preventDefault();
  open();
});
