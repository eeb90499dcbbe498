// The user's stack of modals: shows the top one, patched in place when the app updates it.

import { showBlocks } from "./blocks.js";
import { hideDialog, showDialog } from "./dialog.js";
import { h, icon, keepFocus, uid } from "./dom.js";
import { underWay } from "./files.js";
import { plain } from "./mrkdwn.js";
import { post, store } from "./store.js";
import { keepForms, surface } from "./values.js";

const open = new Map();

class Form {
  constructor(view) {
    this.view = view;
    this.surface = surface(`view:${view.id}`, { view: { id: view.id } });
    this.sending = false;
    const titleId = uid("title");
    this.title = h("h2", { class: "modal-title", id: titleId });
    this.back = h("button", { type: "button", class: "icon-button", "aria-label": "Back", on: { click: () => this.close() } }, icon("back", 20));
    this.body = h("div", { class: "modal-body" });
    this.foot = h("div", { class: "modal-foot" });
    this.bar = h("div", { class: "progress", hidden: true });
    this.dialog = h("div", { class: "modal", role: "dialog", "aria-labelledby": titleId, tabindex: -1 },
      h("div", { class: "modal-head" }, this.back, this.title,
        h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", on: { click: () => this.close(true) } }, icon("close", 20))),
      this.bar, this.body, this.foot);
    this.overlay = h("div", { class: "overlay" }, this.dialog);
    this.draw(view, 0);
    showDialog(this.overlay, () => this.close());
    this.focusFirst();
  }

  get busy() {
    return this.sending || Boolean(this.view.busy);
  }

  draw(view, depth) {
    const hadFields = Boolean(this.body.querySelector("[data-focus]"));
    const errorsBefore = this.errorsShown;
    // between the two, a form without inputs may not have been drawn
    if (this.view && view.emptied !== this.view.emptied) showBlocks(this.body, [], { surface: this.surface });
    this.view = view;
    this.depth = depth;
    this.title.textContent = plain(view.title);
    this.back.hidden = depth === 0;
    showBlocks(this.body, view.blocks || [], { surface: this.surface, errors: view.errors, submit: () => this.submit() });
    keepFocus(this.foot, () => this.drawFoot());
    this.errorsShown = this.body.querySelectorAll(".has-error").length;
    this.bar.hidden = !this.busy;
    this.dialog.setAttribute("aria-busy", String(this.busy));
    if (!this.overlay.isConnected) return;
    if (this.errorsShown && !errorsBefore) this.focusError();
    else if (!hadFields && (document.activeElement === this.dialog || document.activeElement === document.body)) this.focusFirst();
  }

  drawFoot() {
    const { view } = this;
    const inputs = (view.blocks || []).some((block) => block.type === "input");
    const submit = view.submit || (inputs ? { text: "Submit" } : null);
    this.foot.replaceChildren(
      h("span", { class: "modal-app" }, store.state.app.name),
      h("button", { type: "button", class: "button", dataset: { focus: "close" }, on: { click: () => this.close() } },
        plain(view.close) || (submit ? "Cancel" : "Close")),
    );
    if (!submit) return;
    this.foot.append(h("button", {
      type: "button", class: "button primary", "aria-disabled": this.busy ? "true" : null, dataset: { focus: "submit" },
      on: { click: () => this.submit() },
    }, this.busy ? h("span", { class: "spinner", "aria-hidden": "true" }) : null, plain(submit)));
  }

  focusFirst() {
    const fields = [...this.body.querySelectorAll(".input-block input, .input-block textarea, .input-block [role=textbox], .input-block button")];
    const wanted = (this.view.blocks || []).find((b) => b.element && b.element.focus_on_load);
    const first = fields.find((f) => wanted && f.dataset.focus === `${this.surface.key}/${wanted.block_id}/${wanted.element.action_id}`)
      || fields.find((f) => f.tagName !== "BUTTON" && f.type !== "file");
    (first || this.dialog).focus({ preventScroll: !first });
  }

  focusError() {
    const block = this.body.querySelector(".has-error");
    const field = block && block.querySelector("input, textarea, [role=textbox]");
    if (block) block.scrollIntoView({ block: "center", behavior: "smooth" });
    if (field) field.focus({ preventScroll: true });
  }

  async submit() {
    if (this.busy) return;
    this.sending = true;
    this.surface.submitted();
    this.errorsShown = 0;
    this.draw(this.view, this.depth);
    await Promise.allSettled([...underWay]);
    const answer = await post("submit", { view_id: this.view.id, values: this.surface.values() });
    this.sending = false;
    if (answer && answer.errors) this.surface.localErrors = answer.errors;
    if (open.get(this.view.id) === this) this.draw(this.view, this.depth);
  }

  close(all = false) {
    post("close", { view_id: this.view.id, ...(all ? { all: true } : {}) });
  }
}

/** Opens, patches and closes modals to match the snapshot. */
export function showModals() {
  const views = store.state.views || [];
  const wanted = new Set(views.map((view) => view.id));
  for (const [id, form] of open) {
    if (wanted.has(id)) continue;
    hideDialog(form.overlay);
    open.delete(id);
  }
  keepForms(new Set(views.map((view) => `view:${view.id}`)));
  for (const [depth, view] of views.entries()) {
    const form = open.get(view.id);
    if (form) form.draw(view, depth);
    else {
      const fresh = new Form(view);
      open.set(view.id, fresh);
      fresh.draw(view, depth);
    }
  }
}
