// A message list with day dividers that stays scrolled to its end if the user is there.

import { dayKey, dayName, fromTs } from "./dates.js";
import { h, icon, reconcile } from "./dom.js";
import { author, messageNode } from "./message.js";
import { store } from "./store.js";

const NEAR = 60;

export class MessageList {
  constructor(label) {
    this.inner = h("div", { class: "list-inner" });
    this.jump = h("button", { type: "button", class: "jump", hidden: true, on: { click: () => this.toEnd() } }, icon("down", 16), "Newest messages");
    this.node = h("div", { class: "list", role: "log", "aria-label": label, "aria-live": "polite", tabindex: 0 }, this.inner);
    this.wrap = h("div", { class: "list-wrap" }, this.node, this.jump);
    this.pinned = true;
    this.shown = "";
    this.node.addEventListener("scroll", () => {
      this.pinned = this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < NEAR;
      if (this.pinned) this.jump.hidden = true;
    });
    const follow = new ResizeObserver(() => this.pinned && this.toEnd());
    follow.observe(this.inner);
    follow.observe(this.node);
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
    this.jump.hidden = true;
  }

  /** Scrolls to the end and stays there, where the response to the user's action will appear. */
  follow() {
    this.pinned = true;
    this.toEnd();
  }

  /** `key` identifies the content (a new one starts at its end); `intro` is an entry shown above. */
  show(key, label, messages, { all, inThread = false, intro = null }) {
    const fresh = key !== this.shown;
    const last = messages.length ? messages[messages.length - 1].ts : "0";
    const wasPinned = fresh || this.pinned;
    const own = messages.length && messages[messages.length - 1].user === store.user;
    if (fresh) this.inner.__kept = undefined;
    this.node.setAttribute("aria-label", label);
    reconcile(this.inner, this.entries(key, messages, all, inThread, intro));
    if (wasPinned || (own && last > this.last)) this.toEnd();
    else if (last > this.last) this.jump.hidden = false;
    if (fresh) this.pinned = true;
    this.shown = key;
    this.last = last;
  }

  entries(key, messages, all, inThread, intro) {
    const entries = intro ? [{ key: "intro", sig: `${key}|${intro.sig}`, build: intro.build }] : [];
    let before = null;
    for (const message of messages) {
      const at = fromTs(message.ts);
      const day = dayKey(at);
      const newDay = !before || dayKey(fromTs(before.ts)) !== day;
      if (newDay && !inThread) {
        const name = dayName(at);
        entries.push({
          key: `day:${day}`, sig: name,
          build: () => h("div", { class: "day", role: "separator", "aria-label": name }, h("span", {}, name)),
        });
      }
      const compact = Boolean(before) && !newDay && sameRun(before, message);
      const count = all.filter((m) => m.thread_ts === message.ts).map((m) => m.ts);
      entries.push({
        key: message.ts,
        sig: JSON.stringify([message, compact, count, store.user, inThread]),
        build: (kept) => messageNode(message, { compact, inThread, all, kept }),
      });
      before = message;
    }
    return entries;
  }
}

function sameRun(before, message) {
  return before.user === message.user && author(before).name === author(message).name
    && !before.ephemeral && !message.ephemeral && message.ts - before.ts < 300;
}
