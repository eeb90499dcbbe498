// The message composer: command hints, completion of people and channels, files, shortcuts.

import { completionAt, hintFor } from "./complete.js";
import { activateOption, h, icon, uid } from "./dom.js";
import { pickEmoji } from "./emoji_picker.js";
import { acceptDrops, fileChip, upload } from "./files.js";
import { formatByKeys, formattingBar } from "./formatting.js";
import { keep, kept } from "./kept.js";
import { menu } from "./menu.js";
import { channelTitle, commands, post, store } from "./store.js";
import { toast } from "./toast.js";
import { asTyped } from "./typed.js";

const DRAFTS = "drafts";
const drafts = new Map(kept(DRAFTS, []));

function keepDrafts() {
  keep(DRAFTS, [...drafts].map(([place, { text, files }]) => [place, { text, files: files.filter((file) => file.id) }]));
}

function tool(label, content, run) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click: run } }, content);
}

const composers = {};

/** Opens a message of the user's own in the composer below it. */
export function editMessage(message, inThread) {
  composers[inThread ? "thread" : "channel"].edit(message);
}

export class Composer {
  /** One for the channel, one for the thread pane (`inThread`). */
  constructor(inThread = false) {
    this.inThread = inThread;
    composers[inThread ? "thread" : "channel"] = this;
    this.listId = uid("complete");
    this.area = h("textarea", {
      rows: 1, "aria-autocomplete": "list", "aria-controls": this.listId, spellcheck: "true",
      dataset: { focus: inThread ? "reply" : "composer" },
      on: { input: () => this.typed(), keydown: (event) => this.key(event), click: () => this.complete(), blur: () => this.offer(null) },
    });
    this.list = h("div", { class: "complete", role: "listbox", id: this.listId, "aria-label": "Suggestions", hidden: true });
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.hint = h("div", { class: "command-hint", hidden: true, role: "note" });
    this.chips = h("div", { class: "file-chips" });
    this.input = h("input", {
      type: "file", multiple: true, class: "visually-hidden", tabindex: -1, "aria-label": "Upload from your computer",
    });
    this.input.addEventListener("change", () => {
      this.attach([...this.input.files]);
      this.input.value = "";
    });
    this.sendButton = h("button", {
      type: "button", class: "send", "aria-label": inThread ? "Send reply" : "Send message", on: { click: () => this.send() },
    }, icon("send", 18));
    this.editing = null;
    this.editBar = h("div", { class: "composer-editing", hidden: true }, h("span", { role: "status" }, "Editing your message"),
      h("button", { type: "button", class: "text-button", on: { click: () => this.stopEditing() } }, "Cancel"));
    this.box = h("div", { class: "composer-box" }, this.editBar, formattingBar(this.area, () => this.typed()), this.area, this.chips, h("div", { class: "composer-bar" },
      inThread ? null : this.shortcuts(),
      tool("Attach files", icon("clip"), () => this.input.click()),
      this.emoji(),
      tool("Mention someone", icon("at"), () => this.insert("@")),
      inThread ? null : tool("Commands", icon("slash"), () => this.fill("/")),
      h("span", { class: "composer-tip" }, h("kbd", {}, "Enter"), " to send, ", h("kbd", {}, "Shift+Enter"), " for a new line"),
      this.sendButton));
    this.node = h("div", { class: "composer" }, this.list, this.hint, this.box, this.input);
    this.offers = [];
    this.active = 0;
    this.moved = false;
    this.place = null;
    this.home = null;
    this.onSent = null;
  }

  shortcuts() {
    const button = tool("Shortcuts", icon("bolt"), () => {
      const { app } = store.state;
      menu(button, "Shortcuts", [{ heading: app.name }, ...app.global_shortcuts.map((shortcut) => ({
        label: shortcut.name, note: shortcut.description, lead: icon("bolt", 18),
        run: () => post("shortcut", { callback_id: shortcut.callback_id }),
      }))]);
    });
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", "false");
    return button;
  }

  emoji() {
    const button = tool("Emoji", icon("smile"), () => pickEmoji(button, (name) => this.insert(`:${name}: `)));
    button.setAttribute("aria-haspopup", "dialog");
    button.setAttribute("aria-expanded", "false");
    return button;
  }

  /** Shows this channel's draft; all channels share one textarea, so focus stays. */
  show(channel, thread = null) {
    const place = `${store.user}/${channel.id}/${thread || ""}`;
    const title = channel.kind === "im" ? channelTitle(channel) : `#${channel.name}`;
    const label = this.inThread ? `Reply in thread in ${title}` : `Message ${title}`;
    this.area.setAttribute("aria-label", label);
    this.area.placeholder = this.inThread ? "Reply…" : label;
    this.channel = channel;
    this.thread = thread;
    if (place === this.home) return;
    this.home = place;
    this.editing = null;
    this.open(place);
  }

  /** Shows the draft of a place, or of the message that is edited there. */
  open(place) {
    this.place = place;
    this.editBar.hidden = !this.editing;
    this.sendButton.setAttribute("aria-label", this.editing ? "Save changes" : this.inThread ? "Send reply" : "Send message");
    this.area.value = this.draft().text;
    this.offer(null);
    this.settle();
  }

  edit(message) {
    this.editing = message;
    const place = `${this.home}#${message.ts}`;
    drafts.set(place, { text: asTyped(message.text), files: [] });
    this.open(place);
    this.area.focus();
    this.area.setSelectionRange(this.area.value.length, this.area.value.length);
  }

  editLast() {
    const own = (store.state.messages[this.channel.id] || []).filter((message) => message.user === store.user && !message.ephemeral && message.text
      && (this.inThread ? [message.ts, message.thread_ts].includes(this.thread) : !message.thread_ts));
    if (own.length) this.edit(own[own.length - 1]);
  }

  stopEditing() {
    drafts.delete(this.place);
    this.editing = null;
    this.open(this.home);
    this.area.focus();
  }

  async saveEdit() {
    const { ts } = this.editing;
    const text = this.area.value.trim();
    if (text && await post("edit", { channel: this.channel.id, ts, text }) && this.editing && this.editing.ts === ts) this.stopEditing();
  }

  draft() {
    if (!drafts.has(this.place)) drafts.set(this.place, { text: "", files: [] });
    return drafts.get(this.place);
  }

  fill(text) {
    this.area.value = text;
    this.area.focus();
    this.area.setSelectionRange(text.length, text.length);
    this.typed();
  }

  insert(text) {
    const { selectionStart: at, value } = this.area;
    const gap = at && !/\s$/.test(value.slice(0, at)) ? " " : "";
    this.area.focus();
    this.area.setRangeText(gap + text, at, this.area.selectionEnd, "end");
    this.typed();
  }

  typed() {
    this.draft().text = this.area.value;
    this.moved = false;
    this.settle();
    this.complete();
  }

  settle() {
    keepDrafts();
    this.area.style.setProperty("height", "auto");
    this.area.style.setProperty("height", `${Math.min(this.area.scrollHeight, 240)}px`);
    const { files } = this.draft();
    this.chips.replaceChildren(...files.map((file) => fileChip(file, () => {
      this.draft().files = this.draft().files.filter((f) => f !== file);
      this.settle();
    })));
    this.sendButton.disabled = !this.area.value.trim() && !files.length;
    const hint = hintFor(this.area.value);
    this.hint.hidden = !hint;
    if (!hint) return;
    this.hint.replaceChildren(h("code", {}, hint.command), h("span", { class: "hint-usage" }, hint.usage_hint || ""),
      h("span", { class: "hint-note" }, hint.description || ""));
  }

  complete() {
    const found = completionAt(this.area.value, this.area.selectionStart, this.inThread);
    this.offer(found && found.options.length ? found : null);
  }

  offer(found) {
    this.found = found;
    this.offers = found ? found.options : [];
    this.active = 0;
    this.list.hidden = !found;
    this.area.removeAttribute("aria-activedescendant");
    if (!found) {
      this.list.replaceChildren();
      return;
    }
    this.list.replaceChildren(h("div", { class: "complete-head" }, found.title), ...this.offers.map((offer, index) => h("div", {
      class: "option", role: "option", id: `${this.listId}-${index}`, "aria-selected": "false", on: { click: () => this.take(index) },
    }, offer.lead || null,
    h("span", { class: "option-main" }, h("b", {}, offer.name), offer.usage ? h("span", { class: "option-usage" }, offer.usage) : null),
    offer.note ? h("span", { class: "option-note" }, offer.note) : null)));
    this.highlight();
  }

  highlight() {
    activateOption(this.area, this.list, this.active);
  }

  take(index) {
    const { from, to } = this.found;
    this.area.setRangeText(`${this.offers[index].insert} `, from, to, "end");
    this.offer(null);
    this.typed();
  }

  key(event) {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (formatByKeys(event, this.area)) this.typed();
    else if (event.key === "ArrowUp" && !this.area.value && !this.draft().files.length && !this.editing) this.editLast();
    else if (this.editing && !this.found && event.key === "Escape") this.stopEditing();
    else if (this.found && step) {
      this.active = (this.active + step + this.offers.length) % this.offers.length;
      this.moved = true;
      this.highlight();
    } else if (this.found && event.key === "Escape") this.offer(null);
    else if (this.found && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !this.wholeCommand()))) this.take(this.active);
    else if (event.key === "Enter" && !event.shiftKey) this.send();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the text is a complete command and no other completion is selected: Enter sends it. */
  wholeCommand() {
    return !this.moved && this.offers.some((offer) => offer.insert === this.area.value.trim());
  }

  async attach(files) {
    const draft = this.draft();
    const waiting = files.map((file) => ({ name: file.name, size: file.size, id: null }));
    draft.files.push(...waiting);
    this.settle();
    const sent = files.length ? await upload(files) : [];
    draft.files = draft.files.flatMap((file) => {
      const index = waiting.indexOf(file);
      return index < 0 ? [file] : sent[index] ? [sent[index]] : [];
    });
    this.settle();
  }

  async send() {
    if (this.editing) {
      await this.saveEdit();
      return;
    }
    const text = this.area.value.trim();
    const draft = this.draft();
    if (!text && !draft.files.length) return;
    if (draft.files.some((file) => !file.id)) {
      toast("A file is still uploading. Try again in a moment.");
      return;
    }
    const name = (/^\/\S+/.exec(text) || [""])[0].toLowerCase();
    const command = name && commands().some((c) => c.command === name);
    if (command && this.inThread) {
      toast(`${name} is not supported in threads. Sorry!`, "error");
      return;
    }
    if (name && !command) {
      toast(`${name} is not a valid command.`, "error");
      return;
    }
    const before = { text: this.area.value, files: draft.files };
    const place = this.place;
    if (!command) draft.files = [];
    draft.text = "";
    this.area.value = "";
    this.offer(null);
    this.settle();
    const answer = command
      ? await post("command", { channel: this.channel.id, text })
      : await post("message", { channel: this.channel.id, text, thread_ts: this.thread || undefined, file_ids: before.files.map((f) => f.id) });
    if (answer) {
      if (this.onSent) this.onSent();
      return;
    }
    drafts.set(place, { text: draft.text || before.text, files: before.files });
    if (place === this.place) this.area.value = this.draft().text;
    this.settle();
  }
}

export function dropOn(node, composer) {
  acceptDrops(node, (files) => composer.attach(files));
}
