// The sidebar (channels, direct messages, the app) and the top bar.

import { dialogOpen } from "./dialog.js";
import { avatar, h, icon, keepFocus } from "./dom.js";
import { searchMessages, switchPlace } from "./finder.js";
import { menu } from "./menu.js";
import { changed, channelTitle, isAppChannel, mentionCount, openChannel, person, showsMessages, store, switchUser, unreadCount } from "./store.js";

export const sidebar = h("nav", {
  class: "sidebar", id: "sidebar", "aria-label": "Channels and people",
  on: { keydown: (event) => event.key === "Escape" && showDrawer(false) },
});
export const topbar = h("header", { class: "topbar" });
let sidebarSig = "";
let topbarSig = "";

/** On narrow screens the sidebar is a drawer: opens or closes it and moves the focus. */
export function showDrawer(open) {
  if (open === store.drawerOpen) return;
  store.drawerOpen = open;
  changed();
  const next = open ? sidebar.querySelector("[aria-current]") || sidebar.querySelector("button") : topbar.querySelector(".drawer-toggle");
  if (next) next.focus();
}

function row(channel) {
  const title = channelTitle(channel);
  const current = channel.id === store.channel;
  const unread = current && showsMessages() ? 0 : unreadCount(channel.id);
  const mentions = unread ? mentionCount(channel.id) : 0;
  const app = isAppChannel(channel);
  const label = channel.kind === "im" ? title : `# ${title}`;
  const lead = channel.kind === "im"
    ? avatar(app ? { is_bot: true } : person(channel.with), 22)
    : h("span", { class: "hash", "aria-hidden": "true" }, channel.kind === "private" ? icon("lock", 15) : "#");
  return h("li", {}, h("button", {
    type: "button", class: `row${unread ? " unread" : ""}`, "aria-current": current ? "page" : null,
    "aria-label": label, title: channel.is_ext_shared ? "Shared with another company" : null,
    dataset: { focus: `row/${channel.id}` }, on: { click: () => {
      showDrawer(false);
      openChannel(channel.id);
    } },
  }, lead, h("span", { class: "row-name" }, title),
  channel.is_ext_shared ? icon("globe", 14) : null,
  channel.kind === "im" && channel.with === store.user ? h("span", { class: "row-note" }, "you") : null,
  mentions ? h("span", { class: "badge", "aria-hidden": "true" }, String(mentions)) : null));
}

function section(title, channels, ...extra) {
  return channels.length || extra.length ? [h("h2", {}, title, extra), h("ul", {}, channels.map(row))] : null;
}

function newMessage() {
  return h("button", {
    type: "button", class: "icon-button", "aria-label": "New message", title: "New message (Ctrl+K)", dataset: { focus: "new-message" },
    on: { click: () => {
      showDrawer(false);
      switchPlace();
    } },
  }, icon("plus", 16));
}

export function showSidebar() {
  const { channels } = store.state;
  const sig = JSON.stringify([channels, store.channel, store.user, store.tab, channels.map((c) => unreadCount(c.id))]);
  if (sig === sidebarSig) return;
  sidebarSig = sig;
  const ims = channels.filter((c) => c.kind === "im");
  keepFocus(sidebar, () => sidebar.replaceChildren(...[
    section("Channels", channels.filter((c) => c.kind !== "im")),
    section("Direct messages", ims.filter((c) => !isAppChannel(c)), newMessage()),
    section("Apps", ims.filter(isAppChannel)),
  ].flat().filter(Boolean)));
}

function about({ title, note }) {
  const said = title && note && title.toLowerCase().includes(note.toLowerCase());
  return [title, said ? null : note].filter(Boolean).join(" · ");
}

function choosePerson(anchor) {
  const people = store.state.people.filter((p) => p.is_app_user_choice);
  menu(anchor, "Act as", [{ heading: "Act as" }, ...people.map((p) => ({
    label: p.real_name, note: about(p), lead: avatar(p, 32), checked: p.id === store.user,
    run: () => switchUser(p.id),
  }))], { align: "right" });
}

function connection() {
  const { app } = store.state;
  if (!store.online) return h("span", { class: "status off", role: "status" }, "Reconnecting…");
  return h("span", { class: `status ${app.connected ? "on" : "off"}`, role: "status" },
    `${app.name} ${app.connected ? "is connected" : "is not connected"}`);
}

export function showTopbar() {
  const { team, me, app, panel } = store.state;
  const broken = panel.violations.length;
  const sig = JSON.stringify([team, me, app.connected, app.name, broken, store.panelOpen, store.drawerOpen, store.online]);
  if (sig === topbarSig) return;
  topbarSig = sig;
  const switcher = h("button", {
    type: "button", class: "switcher", "aria-label": `Acting as ${me.real_name}`, "aria-haspopup": "menu", "aria-expanded": "false",
    dataset: { focus: "switcher" }, inert: dialogOpen(), on: { click: () => choosePerson(switcher) },
  }, avatar(me, 26), h("span", { class: "switcher-text" }, h("b", {}, me.real_name), h("span", {}, me.note || "")), icon("down", 16));
  const toggle = h("button", {
    type: "button", class: "panel-toggle", "aria-expanded": String(store.panelOpen), "aria-controls": "panel", dataset: { focus: "panel" },
    on: { click: () => {
      store.panelOpen = !store.panelOpen;
      changed();
    } },
  }, icon("panel", 17), "Sandbox", broken ? h("span", { class: "badge", "aria-label": `${broken} ${broken === 1 ? "rule" : "rules"} broken` }, String(broken)) : null);
  const drawer = h("button", {
    type: "button", class: "icon-button drawer-toggle", "aria-label": "Channels", "aria-expanded": String(store.drawerOpen),
    "aria-controls": "sidebar", dataset: { focus: "drawer" }, on: { click: () => showDrawer(!store.drawerOpen) },
  }, icon("menu", 20));
  keepFocus(topbar, () => topbar.replaceChildren(
    drawer,
    h("span", { class: "team-mark", "aria-hidden": "true" }, (team.name || "W").slice(0, 1)),
    h("h1", { class: "team" }, team.name),
    h("span", { class: "local" }, "Sandbox on this machine"),
    h("span", { class: "spring" }),
    h("button", {
      type: "button", class: "search-button", "aria-label": "Search messages", title: "Search messages (Ctrl+G)", dataset: { focus: "search" },
      inert: dialogOpen(), on: { click: searchMessages },
    }, icon("search", 17), h("span", {}, "Search")),
    connection(), toggle, switcher,
  ));
}
