// Fills `faint` with texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3), by computed colours.
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function rgba(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}

function luminance(colour) {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor);
    if (colour[3] > 250) return colour;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 255] : [255, 255, 255, 255];
}

const passedOver = "script, style, select, :disabled, [aria-hidden=true], #measured";
const faint = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, words = walker.currentNode.data.trim();
  if (!words || !element.checkVisibility() || element.closest(passedOver)) continue;
  const style = getComputedStyle(element);
  const front = luminance(rgba(element.closest("svg") ? style.fill : style.color)), back = luminance(ground(element));
  const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  if (contrast < 4.5) faint.push(contrast.toFixed(2) + " " + words.slice(0, 40));
}
