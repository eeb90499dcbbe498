// Returns the page's text whose contrast with what is behind it is below `least`, as [text, ratio], the worst first.
// Skips what is behind an open dialog. Text fields count with their value and placeholder, emoji don't count.
(least) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pixel = canvas.getContext("2d", { willReadFrequently: true });
  const known = new Map();

  function parsed(color) {
    if (!known.has(color)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = color;
      pixel.fillRect(0, 0, 1, 1);
      known.set(color, [...pixel.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  }

  const over = (color, opacity, below) => {
    const [red, green, blue, alpha] = parsed(color);
    const share = (alpha / 255) * opacity;
    return [red, green, blue].map((value, index) => value * share + below[index] * (1 - share));
  };

  function luminance(color) {
    const [red, green, blue] = color.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function ratio(node, color, faint = 1) {
    const line = [];
    for (let at = node; at; at = at.parentElement) line.unshift(getComputedStyle(at));
    let behind = parsed(matchMedia("(prefers-color-scheme: dark)").matches ? "black" : "white").slice(0, 3);
    let opacity = 1;
    for (const style of line) {
      opacity *= Number(style.opacity);
      behind = over(style.backgroundColor, opacity, behind);
    }
    const [dark, light] = [luminance(behind), luminance(over(color, opacity * faint, behind))].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  const found = [];
  const note = (node, text, style = getComputedStyle(node), faint = 1) => {
    const value = ratio(node, style.color, faint);
    if (value < least) found.push([text.trim().slice(0, 60), Math.round(value * 100) / 100]);
  };
  const shown = (node) => !node.closest("[inert]") && node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && node.getClientRects().length;

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: node, data } = texts.currentNode;
    if (/[^\s\p{Extended_Pictographic}]/u.test(data) && !node.closest("select, textarea, script, style") && shown(node)) note(node, data);
  }
  for (const field of document.querySelectorAll("input, textarea, select")) {
    if (!shown(field)) continue;
    if (field.value) note(field, field.value);
    else if (field.placeholder) {
      const style = getComputedStyle(field, "::placeholder");
      note(field, field.placeholder, style, Number(style.opacity));
    }
  }
  return found.sort((a, b) => a[1] - b[1]);
}
