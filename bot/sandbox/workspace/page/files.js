// Files: display, upload and file inputs.

import { changedValue } from "./actions.js";
import { h, icon, link } from "./dom.js";
import { post } from "./store.js";

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function kind(file) {
  const dot = file.name.lastIndexOf(".");
  return dot > 0 ? file.name.slice(dot + 1, dot + 5).toUpperCase() : "FILE";
}

/** A file in a message: an inline image, or a card that opens the file. */
export function fileCard(file) {
  const picture = /^image\/(png|jpeg|gif|webp)$/.test(file.mimetype);
  if (picture) {
    return h("figure", { class: "file-picture" },
      link(file.url, h("img", { src: file.url, alt: file.name, loading: "lazy" })),
      h("figcaption", {}, `${file.name} · ${size(file.size)}`));
  }
  return link(file.url, [
    h("span", { class: "file-kind", "aria-hidden": "true" }, kind(file)),
    h("span", { class: "file-about" }, h("span", { class: "file-name" }, file.name), h("span", { class: "file-size" }, size(file.size))),
  ], { class: "file-card" });
}

/** A file waiting to be sent. */
export function fileChip(file, remove) {
  return h("span", { class: "file-chip" }, icon("file", 16), h("span", { class: "file-name" }, file.name),
    h("span", { class: "file-size" }, file.id ? size(file.size) : "Uploading…"),
    h("button", { type: "button", "aria-label": `Remove ${file.name}`, on: { click: remove } }, icon("close", 13)));
}

/** Pending uploads of forms; a form is submitted once they finish. */
export const underWay = new Set();

/** Uploads files to the workspace; returns their File objects, or [] on failure. */
export async function upload(files) {
  const form = new FormData();
  for (const file of files) form.append("file", file, file.name);
  const answer = await post("upload", form);
  return answer ? answer.files || [] : [];
}

/** Passes files dropped on or pasted into `node` to `take`. */
export function acceptDrops(node, take) {
  let depth = 0;
  const has = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  const mark = (on) => node.classList.toggle("dropping", on);
  node.addEventListener("dragenter", (event) => {
    if (!has(event)) return;
    depth += 1;
    mark(true);
  });
  node.addEventListener("dragover", (event) => has(event) && event.preventDefault());
  node.addEventListener("dragleave", (event) => {
    if (!has(event)) return;
    depth = Math.max(0, depth - 1);
    mark(depth > 0);
  });
  node.addEventListener("drop", (event) => {
    depth = 0;
    mark(false);
    if (!has(event)) return;
    event.preventDefault();
    event.stopPropagation();
    take([...event.dataTransfer.files]);
  });
}

/** The file_input element of a form. */
export function dropArea(block, element, { surface, label, id, focus, describe, invalid, required }) {
  const limit = element.max_files || 10;
  const types = (element.filetypes || []).map((type) => `.${type}`).join(",");
  const list = h("div", { class: "file-chips" });
  const waiting = new Set();
  const input = h("input", {
    id, type: "file", class: "visually-hidden", multiple: limit > 1, accept: types || null, "aria-label": label,
    "aria-describedby": describe, "aria-invalid": invalid ? "true" : null, "aria-required": required ? "true" : null,
    dataset: { focus },
  });
  const held = () => surface.get(block, element) || [];
  const draw = () => list.replaceChildren(
    ...held().map((file) => fileChip(file, () => keep(held().filter((f) => f.id !== file.id)))),
    ...[...waiting].map((file) => fileChip(file, () => waiting.delete(file) && draw())),
  );
  const keep = async (files) => {
    await changedValue(surface, block, element, files);
    draw();
  };
  const take = (files) => {
    const sending = carry(files).finally(() => underWay.delete(sending));
    underWay.add(sending);
  };
  const carry = async (files) => {
    const fresh = files.slice(0, Math.max(0, limit - held().length));
    for (const file of fresh) waiting.add(file);
    draw();
    const sent = fresh.length ? await upload(fresh) : [];
    const wanted = sent.filter((_, index) => waiting.has(fresh[index]));
    for (const file of fresh) waiting.delete(file);
    await keep([...held(), ...wanted]);
  };
  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
  const area = h("label", { class: "drop-area" }, input, icon("clip", 20),
    h("span", {}, h("b", {}, "Choose files"), " or drop them here"),
    h("span", { class: "drop-note" }, `${limit === 1 ? "One file" : `Up to ${limit} files`}${types ? ` · ${types.replaceAll(",", ", ")}` : ""}`));
  const box = h("div", { class: "file-input" }, area, list);
  acceptDrops(area, take);
  draw();
  return box;
}

