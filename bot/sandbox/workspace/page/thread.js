// The pane of one thread, with its own composer.

import { Composer, dropOn } from "./composer.js";
import { h, icon } from "./dom.js";
import { MessageList } from "./list.js";
import { channelById, channelTitle, openThread, store } from "./store.js";

const list = new MessageList("Thread");
const composer = new Composer(true);
const place = h("span", { class: "topic" });
let shown = null;

export const threadCard = h("section", { class: "card thread", "aria-label": "Thread", hidden: true },
  h("header", { class: "pane-head" }, h("h2", {}, "Thread"), place, h("span", { class: "spring" }),
    h("button", { type: "button", class: "icon-button", "aria-label": "Close thread", on: { click: () => openThread(null) } }, icon("close"))),
  list.wrap, composer.node);
dropOn(threadCard, composer);
composer.onSent = () => list.follow();
threadCard.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) openThread(null);
});

export function showThread() {
  const channel = channelById(store.channel);
  const all = (channel && store.state.messages[channel.id]) || [];
  const messages = all.filter((m) => m.ts === store.thread || m.thread_ts === store.thread);
  if (store.thread && !messages.length) store.thread = null;
  threadCard.hidden = !store.thread;
  if (!store.thread) {
    shown = null;
    return;
  }
  const title = channelTitle(channel);
  place.textContent = channel.kind === "im" ? title : `#${title}`;
  list.show(`${store.user}/${channel.id}/${store.thread}`, "Messages in this thread", messages, { all, inThread: true });
  composer.node.hidden = channel.is_archived;
  composer.show(channel, store.thread);
  const fresh = shown !== store.thread;
  shown = store.thread;
  if (fresh) composer.area.focus({ preventScroll: true });
}
