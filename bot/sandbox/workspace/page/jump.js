// Jumps to one message, from a permalink or a search.

import { openChannel, openThread, store } from "./store.js";

export function showMessage(channel, ts) {
  openChannel(channel, "messages");
  const message = (store.state.messages[channel] || []).find((m) => m.ts === ts);
  if (message && message.thread_ts && message.thread_ts !== ts) openThread(message.thread_ts);
  const node = document.querySelector(`[data-ts="${ts}"]`);
  if (!node) return;
  node.scrollIntoView({ block: "center" });
  node.classList.add("pointed");
  setTimeout(() => node.classList.remove("pointed"), 2500);
}
