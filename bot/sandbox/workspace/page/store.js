// The page's state: the server's snapshot and the visitor's location in it (user, channel, thread, tab).

import { keep, kept } from "./kept.js";
import { toast } from "./toast.js";

export const store = {
  state: null,
  user: "",
  channel: "",
  tab: "home",
  thread: null,
  panelOpen: true,
  drawerOpen: false,
  online: true,
  lastRead: {},
  wanted: "",
};

const READ = "read";
store.lastRead = kept(READ, {}); // without it everything counts as unread

const listeners = new Set();

export function onChange(listener) {
  listeners.add(listener);
}

export function changed() {
  for (const listener of listeners) listener();
}

/** POSTs to a path below /page/ as the acting user; returns the JSON, or shows a toast and returns null on an error. */
export async function post(path, body, { quiet = false } = {}) {
  const form = body instanceof FormData;
  if (form) body.append("user", store.user);
  try {
    const answer = await fetch(`/page/${path}`, {
      method: "POST",
      headers: { "X-Sandbox": "1", ...(form ? {} : { "Content-Type": "application/json" }) },
      body: form ? body : JSON.stringify({ user: store.user, ...body }),
    });
    const data = await answer.json();
    if (data.ok || data.errors) return data;
    if (!quiet) toast(data.error || "That didn't work. Try again.", "error");
  } catch {
    if (!quiet) toast("The sandbox isn't responding. Check that it's still running.", "error");
  }
  return null;
}

let atApp = false;
let running = false;
let again = false;

/** Fetches the snapshot; calls during a fetch share one more fetch after it. */
export async function refresh() {
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    do {
      again = false;
      const user = store.user;
      const answer = await fetch(`/page/state?user=${encodeURIComponent(user)}`, { headers: { "X-Sandbox": "1" } });
      const state = await answer.json();
      if (user !== store.user) again = true;
      else if (answer.status === 400 && user) {
        store.user = "";
        again = true;
      }
      else if (answer.ok && state.me) adopt(state);
    } while (again);
  } catch {
    setOnline(false);
  } finally {
    running = false;
  }
}

function adopt(state) {
  store.state = state;
  store.user = state.me.id;
  if (!channelById(store.channel)) settleIn(state.channels);
  if (!store.lastRead[store.user]) {
    store.lastRead[store.user] = Object.fromEntries(state.channels.map((c) => [c.id, isAppChannel(c) ? "0" : newest(c.id)]));
  }
  markRead();
  if (channelById(store.wanted)) {
    openChannel(store.wanted);
    store.wanted = "";
  } else changed();
}

/** Where to go when the user can't see the channel: the app if it was open before, else a channel. */
function settleIn(channels) {
  const app = atApp && channels.find(isAppChannel);
  const first = app || channels.find((c) => c.kind === "channel" && c.is_member) || channels[0];
  store.channel = first ? first.id : "";
  if (app && store.tab === "home") post("home", {}, { quiet: true });
}

function newest(channel) {
  const list = store.state.messages[channel] || [];
  return list.length ? list[list.length - 1].ts : "0";
}

function markRead() {
  if (document.hidden || !showsMessages() || !store.lastRead[store.user]) return;
  store.lastRead[store.user][store.channel] = newest(store.channel);
  keep(READ, store.lastRead);
}

function unread(channel) {
  const seen = (store.lastRead[store.user] || {})[channel] || "0";
  return (store.state.messages[channel] || [])
    .filter((m) => m.ts > seen && m.user !== store.user && (!m.thread_ts || m.thread_ts === m.ts));
}

export function unreadCount(channel) {
  return unread(channel).length;
}

/** How many unread messages address the user: all direct messages, elsewhere only mentions. */
export function mentionCount(channel) {
  if (channelById(channel).kind === "im") return unreadCount(channel);
  const mention = new RegExp(`<@${store.user}[|>]|<!(?:here|channel|everyone)[|>]`);
  return unread(channel).filter((m) => mention.test(m.text + JSON.stringify(m.blocks))).length;
}

/** The app's commands and the workspace's own. */
export function commands() {
  return [...store.state.app.commands, ...store.state.commands];
}

export function person(id) {
  return store.state.people.find((p) => p.id === id) || null;
}

export function channelById(id) {
  return store.state ? store.state.channels.find((c) => c.id === id) || null : null;
}

export function channelTitle(channel) {
  if (channel.kind !== "im") return channel.name;
  const other = person(channel.with);
  return other ? other.real_name || other.display_name : channel.name;
}

export function isAppChannel(channel) {
  return Boolean(channel && channel.kind === "im" && channel.with === store.state.app.bot_user_id);
}

/** Whether the main column shows messages rather than the app's Home tab. */
export function showsMessages() {
  return !(isAppChannel(channelById(store.channel)) && store.tab === "home");
}

export function switchUser(user) {
  if (user === store.user) return;
  const current = channelById(store.channel);
  atApp = isAppChannel(current);
  store.user = user;
  store.thread = null;
  if (current && current.kind === "im") store.channel = "";
  connect();
  refresh();
}

export function openChannel(id, tab = null) {
  if (store.channel !== id) store.thread = null;
  store.channel = id;
  if (tab) store.tab = tab;
  else if (isAppChannel(channelById(id))) store.tab = unreadCount(id) ? "messages" : "home";
  markRead();
  if (isAppChannel(channelById(id)) && store.tab === "home") post("home", {}, { quiet: true });
  changed();
}

/** Opens the direct messages with a person; the snapshot that has them follows. */
export async function openDirect(id) {
  const answer = await post("direct", { with: id });
  if (!answer) return;
  store.wanted = answer.channel;
  refresh();
}

export function openThread(ts) {
  store.thread = ts;
  changed();
}

let socket = null;
let wait = 500;

/** Closes a socket for good; one still connecting is closed once open, because browsers log an error otherwise. */
function drop(old) {
  old.onmessage = null;
  old.onclose = null;
  old.onopen = () => old.close();
  if (old.readyState === WebSocket.OPEN) old.close();
}

/** Listens for changes; reconnects after a disconnect and fetches what it missed. */
export function connect() {
  if (socket) drop(socket);
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const mine = new WebSocket(`${scheme}://${location.host}/page/events?user=${encodeURIComponent(store.user)}`);
  socket = mine;
  mine.onopen = () => {
    wait = 500;
    setOnline(true);
    refresh();
  };
  mine.onmessage = (event) => {
    const data = JSON.parse(event.data);
    if (data.type === "changed") refresh();
    else if (data.type === "toast") toast(data.text, data.kind);
  };
  mine.onclose = () => {
    setOnline(false);
    setTimeout(() => socket === mine && connect(), wait);
    wait = Math.min(wait * 1.7, 8000);
  };
}

function setOnline(online) {
  if (store.online === online) return;
  store.online = online;
  if (store.state) changed();
}

document.addEventListener("visibilitychange", () => {
  if (!store.state || document.hidden) return;
  markRead();
  changed();
});
