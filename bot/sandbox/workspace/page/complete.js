// Completions in the composer: commands, people, channels.

import { avatar, h, icon } from "./dom.js";
import { emojiLike } from "./emoji.js";
import { commands, isAppChannel, store } from "./store.js";

function matching(typed) {
  const own = store.state.commands;
  return commands().filter((c) => c.command.startsWith(typed.toLowerCase())).map((c) => ({
    insert: c.command, name: c.command, usage: c.usage_hint, note: c.description,
    lead: own.includes(c) ? h("span", { class: "lead" }, icon("slash", 16)) : avatar({ is_bot: true }, 22),
  }));
}

function people(typed) {
  const needle = typed.toLowerCase();
  return store.state.people.filter((p) => [p.name, p.display_name, p.real_name].some((n) => words(n).some((w) => w.startsWith(needle))))
    .slice(0, 8).map((p) => ({
      insert: `@${p.real_name}`,
      name: p.real_name || p.display_name, note: p.id === store.user ? `${p.title || ""} (you)` : p.title, lead: avatar(p, 22),
    }));
}

function words(name) {
  const lower = (name || "").toLowerCase();
  return [lower, ...lower.split(/[\s.]+/)];
}

function channels(typed) {
  return store.state.channels.filter((c) => c.kind !== "im" && c.name.startsWith(typed.toLowerCase()) && !isAppChannel(c))
    .slice(0, 8).map((c) => ({
      insert: `#${c.name}`, name: c.name, note: c.topic, lead: h("span", { class: "lead" }, c.kind === "private" ? icon("lock", 16) : "#"),
    }));
}

function emoji(typed) {
  return emojiLike(typed.toLowerCase()).slice(0, 8)
    .map(([name, character]) => ({ insert: `:${name}:`, name: `:${name}:`, lead: h("span", { class: "lead" }, character) }));
}

/** The completions for the word before the caret: {title, from, to, options}, or null. */
export function completionAt(text, caret, inThread) {
  const before = text.slice(0, caret);
  const command = /^\/\S*$/.exec(before);
  if (command) return inThread ? null : { title: "Commands", from: 0, to: caret, options: matching(before) };
  const named = /(?:^|\s)(:[a-z0-9_+-]{2,})$/i.exec(before);
  if (named) return { title: "Emoji", from: caret - named[1].length, to: caret, options: emoji(named[1].slice(1)) };
  const word = /(?:^|\s)([@#])([\p{L}\d._-]*)$/u.exec(before);
  if (!word) return null;
  const from = caret - word[2].length - 1;
  return word[1] === "@"
    ? { title: "People", from, to: caret, options: people(word[2]) }
    : { title: "Channels", from, to: caret, options: channels(word[2]) };
}

/** The command whose options the user is typing. */
export function hintFor(text) {
  const found = /^(\/\S+)\s/.exec(text);
  return found ? commands().find((c) => c.command === found[1].toLowerCase()) || null : null;
}
