// Runs a workflow's step as the acting user, as Workflow Builder does, and shows its outputs or why it failed.

import { hideDialog, titledDialog } from "./dialog.js";
import { h, icon, link, safeUrl, uid } from "./dom.js";
import { menu } from "./menu.js";
import { changed, post, store } from "./store.js";

const LONG = ["description", "text"];
const TYPED = "string";
const ROOM = 1180; // on narrower screens the panel would cover the form

let shown = null;

/** Offers the app's steps in a menu. */
export function chooseStep(anchor) {
  const steps = Object.entries(store.state.panel.steps);
  menu(anchor, "Run a workflow step", steps.map(([name, step]) => ({
    label: step.title, note: step.description, run: () => open(name, step),
  })));
}

function close() {
  hideDialog(shown.overlay);
  shown = null;
}

function open(name, step) {
  const { properties, required } = step.input_parameters;
  const inputs = Object.entries(properties).filter(([, about]) => about.type === TYPED)
    .map(([key, about]) => [key, about, h(LONG.includes(key) ? "textarea" : "input", { class: "field", id: uid("field"), required: required.includes(key) })]);
  const run = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(inputs.map(([key, , node]) => [key, node.value]).filter(([, value]) => value));
    const answer = await post("step", { callback_id: name, inputs: values });
    if (!answer || !shown) return;
    shown.execution = answer.execution;
    showStep();
  };
  const outcome = h("div", { class: "block text", role: "status" });
  shown = { ...titledDialog(close), outcome, outputs: step.output_parameters.properties, execution: null };
  shown.title.textContent = step.title;
  const form = h("form", { on: { submit: run } },
    inputs.map(([key, { title, description }, node]) => h("div", { class: "block input-block" },
      h("label", { class: "label", for: node.id }, title, required.includes(key) ? null : h("span", { class: "optional" }, "(optional)")),
      node, h("p", { class: "hint" }, description))),
    h("div", { class: "block actions" }, h("button", { type: "submit", class: "button primary" }, `Run as ${store.state.me.real_name}`)),
    outcome);
  shown.body.append(form);
  inputs[0][2].focus();
  store.panelOpen = store.panelOpen && window.innerWidth >= ROOM;
  changed();
}

/** Updates how the latest run ends. */
export function showStep() {
  if (!shown || !shown.execution) return;
  const ended = store.state.panel.executions[shown.execution];
  shown.overlay.firstChild.setAttribute("aria-busy", String(!ended));
  const { outputs = {}, error } = ended || {};
  const value = (given) => (safeUrl(given) ? link(given, given) : given);
  shown.outcome.replaceChildren(...(error ? [h("div", { class: "has-error" }, h("p", { class: "field-error" }, icon("warn", 15), error))]
    : ended ? Object.entries(outputs).map(([key, given]) => h("p", {}, h("b", {}, `${shown.outputs[key].title}: `), value(String(given))))
      : ["Running…"]));
  shown.outcome.scrollIntoView({ block: "nearest" });
}
