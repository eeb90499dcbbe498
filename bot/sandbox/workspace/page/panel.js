// The panel next to the workspace: API keys for linking, examples, and broken Slack rules.

import { clockSeconds } from "./dates.js";
import { dialogOpen } from "./dialog.js";
import { avatar, h, icon, keepFocus, link } from "./dom.js";
import { chooseStep } from "./steps.js";
import { changed, person, store } from "./store.js";
import { toast } from "./toast.js";

export const panel = h("aside", { class: "card panel", id: "panel", "aria-label": "Sandbox" });
let shown = "";

/** Commands, what they do, and how to tell from the commands sent that the user has done it. */
const EXAMPLES = [
  ["/tracker link", "Link your account with a key from below"],
  ["/issue", "Open the form for a new issue", /^\/issue$/],
  ["/issue new Gift wrapping at checkout project:webshop tracker:feature", "Create an issue in one line", /^\/issue new ./],
  ["/issues my open bugs", "Search in your own words", /^\/issues\b/],
  ["/issue 42", "Show an issue", /^\/issue #?\d+$/],
  ["/timelog 42 1h30 Pairing with Ben", "Log time", /^\/timelog\b/],
  ["/digest add webshop weekdays 09:00", "Post new issues here every weekday", /^\/digest (add|me) ./],
  ["/tracker help", "See all commands", /^\/tracker help$/],
];

async function copy(key, button) {
  try {
    await navigator.clipboard.writeText(key);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("code"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    toast("Your browser blocked the clipboard. The key is selected. Press Ctrl+C to copy it.");
    return;
  }
  toast("Key copied.");
}

function keyRow(key, service) {
  const who = key.slack_user ? person(key.slack_user) : null;
  const notes = [key.slack_user === store.user ? "you" : null, key.login, key.admin ? "administrator" : null].filter(Boolean);
  const button = h("button", {
    type: "button", class: "icon-button", "aria-label": `Copy ${key.name}'s ${service} key`, title: "Copy key",
    // keep focus in the field that needs the key, so that pasting works right away
    on: { mousedown: (event) => event.preventDefault(), click: () => copy(key.api_key, button) },
  }, icon("copy", 17));
  return h("li", { class: "key" },
    who ? avatar(who, 30) : h("span", { class: "avatar avatar-none", "aria-hidden": "true", style: { "--size": "30px" } }, icon("key", 16)),
    h("div", { class: "key-text" }, h("b", {}, key.name), h("span", { class: "key-note" }, notes.join(" · ")), h("code", {}, key.api_key)), button);
}

function violation(entry) {
  return h("li", { class: "violation" },
    h("div", { class: "violation-head" }, h("code", {}, entry.rule), h("time", { datetime: entry.at }, clockSeconds(new Date(entry.at)))),
    h("p", {}, entry.detail), entry.where ? h("p", { class: "violation-where" }, entry.where) : null);
}

/** The examples, those that the user hasn't done first. */
function tryThis({ app, me }, fill) {
  const examples = EXAMPLES.map(([text, note, form]) => ({
    text, note, done: form ? me.commands.some((command) => form.test(command)) : me.is_linked,
  }));
  const step = h("button", {
    type: "button", class: "service-link", "aria-haspopup": "menu", "aria-expanded": "false", dataset: { focus: "step" }, on: { click: () => chooseStep(step) },
  }, icon("bolt", 15), "Run a workflow step");
  return h("section", { "aria-label": "Try this" }, h("h3", {}, icon("spark", 17), "Try this"),
    h("ul", { class: "examples", inert: dialogOpen() }, examples.sort((a, b) => a.done - b.done).map(({ text, note, done }) => h("li", {},
      h("button", { type: "button", class: `example${done ? " done" : ""}`, dataset: { focus: `example/${text}` }, on: { click: () => fill(text) } },
        h("code", {}, text), h("span", {}, done ? `Done · ${note}` : note))))),
    h("p", { class: "quiet" }, "Or open ", h("b", {}, "⋯ More actions"), ` on a message to create an issue from it.`),
    h("p", { class: "examples", inert: dialogOpen() }, step));
}

/** The acting user's key first; keys of people outside this workspace are collapsed. */
function keys({ keys: list, service_name: service, service_url: url }) {
  const here = list.filter((key) => key.slack_user).sort((a, b) => (b.slack_user === store.user) - (a.slack_user === store.user));
  const away = list.filter((key) => !key.slack_user);
  return h("section", {}, h("h3", {}, icon("key", 17), "API keys"),
    h("ul", { class: "keys" }, here.map((key) => keyRow(key, service))),
    away.length ? h("details", { class: "away" }, h("summary", {}, `${away.length} ${away.length === 1 ? "person" : "people"} without Slack`),
      h("ul", { class: "keys" }, away.map((key) => keyRow(key, service)))) : null,
    h("p", {}, link(url, [`Open ${service}`, icon("open", 15)], { class: "service-link" })));
}

function rules(broken) {
  return h("section", { "aria-label": "Rules broken" }, h("h3", {}, icon("shield", 17), "Slack's rules",
    broken.length ? h("span", { class: "badge" }, String(broken.length)) : null),
  broken.length ? h("ul", { class: "violations" }, [...broken].reverse().map(violation))
    : h("p", { class: "all-well" }, icon("check", 17), "No rules broken"));
}

/** `fill` puts an example into the composer. */
export function showPanel(fill) {
  panel.hidden = !store.panelOpen;
  const { panel: data, app, me, people } = store.state;
  const sig = JSON.stringify([data, app.name, me, people.map((p) => p.id)]);
  if (sig === shown) return;
  shown = sig;
  const broken = data.violations;
  const body = panel.querySelector(".panel-body");
  const top = body ? body.scrollTop : 0;
  keepFocus(panel, () => panel.replaceChildren(
    h("header", { class: "pane-head" }, h("h2", {}, "Sandbox"), h("span", { class: "spring" }),
      h("button", { type: "button", class: "icon-button", "aria-label": "Hide the sandbox panel", on: { click: () => {
        store.panelOpen = false;
        changed();
      } } }, icon("close"))),
    h("div", { class: "panel-body" }, broken.length ? rules(broken) : null, tryThis(store.state, fill), keys(data),
      broken.length ? null : rules(broken))));
  panel.querySelector(".panel-body").scrollTop = top;
}
