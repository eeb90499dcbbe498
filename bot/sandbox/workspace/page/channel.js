// The main column: a channel's messages and composer, or the app's Home tab.

import { showBlocks } from "./blocks.js";
import { Composer, dropOn } from "./composer.js";
import { avatar, h, icon, keepFocus } from "./dom.js";
import { MessageList } from "./list.js";
import { channelById, channelTitle, isAppChannel, openChannel, person, post, store } from "./store.js";
import { surface } from "./values.js";

const list = new MessageList("Messages");
const head = h("header", { class: "pane-head channel-head" });
const home = h("div", { class: "home", role: "tabpanel", "aria-label": "Home" });
const homeBlocks = h("div", { class: "home-blocks" });
const homeEmpty = h("p", { class: "home-empty" });
const notice = h("p", { class: "not-member", hidden: true });
let headSig = "";

export const mainComposer = new Composer();
export const channelCard = h("main", { class: "card channel" }, head, home, list.wrap, notice, mainComposer.node);
home.append(homeBlocks, homeEmpty);
dropOn(channelCard, mainComposer);
mainComposer.onSent = () => list.follow();

function tab(name, label) {
  return h("button", {
    type: "button", role: "tab", class: "tab", "aria-selected": String(store.tab === name), dataset: { focus: `tab/${name}` },
    on: { click: () => openChannel(store.channel, name) },
  }, label);
}

function showHead(channel) {
  const sig = JSON.stringify([channel, store.tab, store.user]);
  if (sig === headSig) return;
  headSig = sig;
  const app = isAppChannel(channel);
  const other = channel.kind === "im" ? person(channel.with) : null;
  const title = channelTitle(channel);
  keepFocus(head, () => head.replaceChildren(...[
    other ? avatar(app ? { is_bot: true } : other, 28) : null,
    h("h2", {}, other ? null : h("span", { class: "hash", "aria-hidden": "true" }, channel.kind === "private" ? icon("lock", 17) : "#"), title),
    app ? h("div", { class: "tabs", role: "tablist", "aria-label": title }, tab("home", "Home"), tab("messages", "Messages")) : null,
    channel.is_ext_shared
      ? h("span", { class: "pill", title: "People from another company can read this channel" }, icon("globe", 14), "Shared with another company")
      : null,
    channel.is_archived ? h("span", { class: "pill quiet" }, "Archived") : null,
    channel.topic && !app ? h("span", { class: "topic" }, channel.topic) : null,
    other && !app && other.title ? h("span", { class: "topic" }, other.title) : null,
    h("span", { class: "spring" }),
    channel.kind !== "im" && !channel.bot_is_member ? absent(channel) : null,
  ].filter(Boolean)));
}

/** A notice that the app is not in the channel, with an invite button for members. */
function absent(channel) {
  const { name } = store.state.app;
  const said = `${name} isn't in this channel`;
  if (!writable(channel)) return h("span", { class: "pill quiet" }, said);
  return h("button", {
    type: "button", class: "pill quiet invite", dataset: { focus: "invite" },
    on: { click: () => post("command", { channel: channel.id, text: `/invite @${name}` }) },
  }, h("span", {}, said), h("b", {}, "Invite"));
}

function writable(channel) {
  return channel.kind === "im" || (channel.is_member && !channel.is_archived);
}

function intro(channel) {
  const app = isAppChannel(channel);
  const other = channel.kind === "im" ? person(channel.with) : null;
  const title = channelTitle(channel);
  const text = app ? "Private answers appear here, or in the channel where you asked."
    : other ? `This conversation is just between you and ${title}.` : channel.topic || `Everything about ${title}.`;
  return {
    sig: JSON.stringify([channel, store.user]),
    build: () => h("div", { class: "intro" },
      other ? avatar(app ? { is_bot: true } : other, 56)
        : h("span", { class: "intro-mark", "aria-hidden": "true" }, channel.kind === "private" ? icon("lock", 30) : "#"),
      h("h3", {}, other ? title : `Welcome to #${title}`), h("p", {}, text)),
  };
}

function showHome() {
  const view = store.state.home;
  homeEmpty.hidden = Boolean(view);
  homeBlocks.hidden = !view;
  homeEmpty.textContent = `${store.state.app.name} is loading…`;
  if (!view) return;
  showBlocks(homeBlocks, view.blocks || [], {
    surface: surface(`home:${store.user}:${view.id}`, { view: { id: view.id } }),
    errors: view.errors,
  });
}

export function showChannel() {
  const channel = channelById(store.channel);
  channelCard.hidden = !channel;
  if (!channel) return;
  showHead(channel);
  const onHome = isAppChannel(channel) && store.tab === "home";
  home.hidden = !onHome;
  list.wrap.hidden = onHome;
  if (onHome) showHome();
  const writes = writable(channel);
  mainComposer.node.hidden = onHome || !writes;
  notice.hidden = onHome || writes;
  notice.textContent = channel.is_archived ? `#${channel.name} is archived, so you can't post in it.`
    : `You're viewing #${channel.name}. You're not a member.`;
  if (onHome) return;
  const all = store.state.messages[channel.id] || [];
  const main = all.filter((m) => !m.thread_ts || m.thread_ts === m.ts);
  list.show(`${store.user}/${channel.id}`, `Messages in ${channelTitle(channel)}`, main, { all, intro: intro(channel) });
  mainComposer.show(channel);
}
