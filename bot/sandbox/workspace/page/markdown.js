// The markdown block: the subset of Markdown that Slack renders in a message.

import { h, link } from "./dom.js";
import { withEmoji } from "./emoji.js";

const INLINE = new RegExp([
  "(`+)(.+?)\\1", "\\*\\*(.+?)\\*\\*", "__(.+?)__", "~~(.+?)~~", "\\*(\\S.*?)\\*", "\\b_(\\S.*?)_\\b",
  "!?\\[([^\\]]*)\\]\\(([^)\\s]+)[^)]*\\)", "<(https?://[^>\\s]+)>", "(https?://[^\\s<>)]+)", "\\\\([\\\\`*_~\\[\\]()#>+.!-])",
].join("|"), "s");

function markdownInline(text) {
  const out = [];
  let rest = text;
  while (rest) {
    const found = INLINE.exec(rest);
    if (!found) {
      out.push(withEmoji(rest));
      break;
    }
    if (found.index) out.push(withEmoji(rest.slice(0, found.index)));
    const [all, , code, bold, bold2, strike, italic, italic2, label, target, angle, bare, escaped] = found;
    if (code !== undefined) out.push(h("code", {}, code));
    else if (bold || bold2) out.push(h("b", {}, markdownInline(bold || bold2)));
    else if (strike) out.push(h("s", {}, markdownInline(strike)));
    else if (italic || italic2) out.push(h("i", {}, markdownInline(italic || italic2)));
    else if (target) out.push(link(target, label || target));
    else if (angle || bare) out.push(link(angle || bare, angle || bare));
    else out.push(escaped);
    rest = rest.slice(found.index + all.length);
  }
  return out;
}

const RULES = [
  { kind: "heading", test: /^(#{1,6})\s+(.*)$/ },
  { kind: "rule", test: /^\s*([-*_])(\s*\1){2,}\s*$/ },
  { kind: "quote", test: /^>\s?(.*)$/ },
  { kind: "item", test: /^(\s*)([-*+]|\d+[.)])\s+(.*)$/ },
  { kind: "row", test: /^\s*\|(.+)\|\s*$/ },
];

function list(rows) {
  const indent = rows[0][1].length;
  const ordered = /\d/.test(rows[0][2]);
  const node = h(ordered ? "ol" : "ul", ordered ? { start: parseInt(rows[0][2], 10) } : {});
  for (let i = 0; i < rows.length;) {
    const nested = [];
    const [, , , text] = rows[i];
    i += 1;
    while (i < rows.length && rows[i][1].length > indent) nested.push(rows[i++]);
    const task = /^\[([ xX])\]\s+(.*)$/s.exec(text);
    node.append(h("li", {}, task ? [task[1] === " " ? "☐ " : "☑ ", markdownInline(task[2])] : markdownInline(text),
      nested.length ? list(nested) : null));
  }
  return node;
}

function table(rows) {
  const cells = rows.map((row) => row[1].split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const headed = cells.length > 1 && cells[1].every((cell) => /^:?-+:?$/.test(cell));
  const body = headed ? cells.slice(2) : cells;
  return h("div", { class: "table-scroll" }, h("table", {},
    headed ? h("thead", {}, h("tr", {}, cells[0].map((c) => h("th", {}, markdownInline(c))))) : null,
    h("tbody", {}, body.map((row) => h("tr", {}, row.map((c) => h("td", {}, markdownInline(c))))))));
}

const SHOW = {
  heading: (rows) => rows.map(([, marks, text]) => h("p", { class: `md-heading md-h${Math.min(marks.length, 3)}` }, markdownInline(text))),
  rule: () => h("hr"),
  quote: (rows) => h("blockquote", {}, markdown(rows.map((row) => row[1]).join("\n"))),
  item: list,
  row: table,
  text: (rows) => h("p", {}, rows.flatMap((row, i) => (i ? [h("br"), ...markdownInline(row[0])] : markdownInline(row[0])))),
};

export function markdown(text) {
  const out = [];
  let group = null;
  const close = () => {
    if (group) out.push(...[SHOW[group.kind](group.rows)].flat());
    group = null;
  };
  const all = text.replace(/\r\n?/g, "\n").split("\n");
  for (let i = 0; i < all.length; i += 1) {
    const fence = /^\s*(```|~~~)/.exec(all[i]);
    if (fence) {
      close();
      const code = [];
      for (i += 1; i < all.length && !all[i].trim().startsWith(fence[1]); i += 1) code.push(all[i]);
      out.push(h("pre", {}, code.join("\n")));
      continue;
    }
    if (!all[i].trim()) {
      close();
      continue;
    }
    const rule = RULES.find(({ test }) => test.test(all[i]));
    const kind = rule ? rule.kind : group && group.kind === "item" && /^\s+/.test(all[i]) ? "more" : "text";
    if (kind === "more") {
      group.rows[group.rows.length - 1][3] += `\n${all[i].trim()}`;
      continue;
    }
    if (!group || group.kind !== kind || kind === "rule") {
      close();
      group = { kind, rows: [] };
    }
    group.rows.push(rule ? [...rule.test.exec(all[i])] : [all[i]]);
  }
  close();
  return out;
}
