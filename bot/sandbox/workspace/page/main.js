// Starts the page and rerenders its parts when the snapshot or the visitor's location changes.

import { showChannel, channelCard, mainComposer } from "./channel.js";
import { showDetails } from "./details.js";
import { dialogOpen } from "./dialog.js";
import { h } from "./dom.js";
import "./finder.js";
import { showMessage } from "./jump.js";
import { closeOrphan } from "./menu.js";
import { showModals } from "./modals.js";
import { panel, showPanel } from "./panel.js";
import { showDrawer, showSidebar, showTopbar, sidebar, topbar } from "./sidebar.js";
import {
  changed, channelById, channelTitle, connect, isAppChannel, onChange, openChannel, refresh, store, switchUser, unreadCount,
} from "./store.js";
import { showStep } from "./steps.js";
import { showThread, threadCard } from "./thread.js";

const WIDE = window.matchMedia("(min-width: 1180px)");
const ROOMY = window.matchMedia("(min-width: 1480px)");

function readHash() {
  const [user, channel, tab] = decodeURIComponent(location.hash.slice(1)).split("/");
  return { user: /^[UW][A-Z0-9]+$/.test(user || "") ? user : "", channel: channel || "", tab: tab || "" };
}

function writeHash() {
  const wanted = `#${store.user}/${store.channel}${isAppChannel(channelById(store.channel)) ? `/${store.tab}` : ""}`;
  if (location.hash !== wanted) history.replaceState(null, "", wanted);
}

function fill(text) {
  if (isAppChannel(channelById(store.channel)) && store.tab === "home") openChannel(store.channel, "messages");
  mainComposer.fill(text);
}

let threadBefore = null;
let madeWay = false;

/** On narrower screens an open thread hides the panel, as both don't fit. */
function makeRoom() {
  if (store.thread && !threadBefore && store.panelOpen && !ROOMY.matches) {
    store.panelOpen = false;
    madeWay = true;
  } else if (!store.thread && madeWay) {
    store.panelOpen = WIDE.matches;
    madeWay = false;
  }
  threadBefore = store.thread;
}

function draw() {
  makeRoom();
  document.body.classList.toggle("with-thread", Boolean(store.thread));
  document.body.classList.toggle("with-panel", store.panelOpen);
  document.body.classList.toggle("with-drawer", store.drawerOpen);
  showTopbar();
  showSidebar();
  showChannel();
  showThread();
  showPanel(fill);
  showModals();
  showDetails();
  showStep();
  closeOrphan();
  writeHash();
  const channel = channelById(store.channel);
  const unread = store.state.channels.some((c) => unreadCount(c.id));
  document.title = `${unread ? "• " : ""}${channel ? channelTitle(channel) : "Workspace"} – ${store.state.team.name}`;
}

function mount() {
  const shade = h("div", { class: "drawer-shade", on: { click: () => showDrawer(false) } });
  document.getElementById("app").replaceChildren(topbar, h("div", { class: "columns" }, sidebar, shade, channelCard, threadCard, panel));
}

/** A message's permalink opens that message on this page. */
function permalink(event) {
  const anchor = event.target.closest && event.target.closest("a[href]");
  const found = anchor && /\/archives\/([A-Z0-9]+)\/p(\d{10})(\d{6})/.exec(anchor.href);
  if (!found || !channelById(found[1])) return;
  event.preventDefault();
  showMessage(found[1], `${found[2]}.${found[3]}`);
}

async function start() {
  const place = readHash();
  Object.assign(store, { user: place.user, channel: place.channel, tab: place.tab === "messages" ? "messages" : "home" });
  store.panelOpen = WIDE.matches;
  let mounted = false;
  onChange(() => {
    if (!mounted) mount();
    mounted = true;
    draw();
  });
  await refresh();
  while (!store.state) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await refresh();
  }
  connect();
  if (!dialogOpen()) mainComposer.area.focus();
  if (isAppChannel(channelById(store.channel))) openChannel(store.channel, store.tab);
  window.addEventListener("hashchange", () => {
    const next = readHash();
    if (next.user && next.user !== store.user) switchUser(next.user);
    if (next.channel && next.channel !== store.channel && channelById(next.channel)) openChannel(next.channel, next.tab || null);
  });
  document.addEventListener("click", permalink);
  WIDE.addEventListener("change", () => {
    store.panelOpen = WIDE.matches;
    changed();
  });
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
}

start();
