// A heat map is read with the pointer or with the arrow keys: the numbers of an element stand below it.
for (const map of document.querySelectorAll("figure.heat-map")) {
  const drawing = map.querySelector("svg.heat");
  const samples = [...map.querySelectorAll(".samples rect")];
  const reading = map.querySelector(".reading");
  const at = (sample) => [Number(sample.getAttribute("x")), Number(sample.getAttribute("y"))];
  let chosen = null;

  const choose = (sample) => {
    if (!sample) return;
    if (chosen) chosen.classList.remove("chosen");
    chosen = sample;
    chosen.classList.add("chosen");
    reading.textContent = chosen.querySelector("title").textContent;
  };
  // The nearest sample in a direction: far to the side counts twice.
  const next = (right, down) => {
    const [x, y] = at(chosen);
    let best = null, least = Infinity;
    for (const sample of samples) {
      const [dx, dy] = [at(sample)[0] - x, at(sample)[1] - y];
      const ahead = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (ahead > 0 && ahead + 2 * aside < least) [best, least] = [sample, ahead + 2 * aside];
    }
    return best;
  };
  const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  if (!samples.length) continue;
  drawing.setAttribute("tabindex", "0");
  drawing.addEventListener("focus", () => choose(chosen || samples[0]));
  drawing.addEventListener("pointerover", (event) => choose(event.target.closest(".samples rect")));
  drawing.addEventListener("keydown", (event) => {
    const direction = directions[event.key];
    if (!direction) return;
    event.preventDefault();
    choose(next(...direction));
  });
}

// From mark to mark: what to start with, the findings, and the lines of the file that they name.
{
  const bar = document.querySelector(".jump"), [keys, told] = [bar.querySelector("input"), bar.querySelector("output")];
  const marks = [...document.querySelectorAll("#start, .finding, .source .marked")];
  const steps = { j: 1, k: -1 };
  let at = -1;

  // A line is followed by its remarks, of which the first, a link, takes the focus.
  const target = (mark) => (mark.matches(".marked") && mark.nextElementSibling.querySelector("a")) || mark;
  const holds = (mark) => mark.contains(document.activeElement) || target(mark) === document.activeElement;
  const go = (step) => {
    const here = marks.findIndex(holds);
    const from = here < 0 ? at : here;
    at = from < 0 && step < 0 ? marks.length - 1 : (from + step + marks.length) % marks.length;
    const to = target(marks[at]);
    if (to === marks[at]) to.tabIndex = -1;
    to.focus({ preventScroll: true });
    marks[at].scrollIntoView({ block: marks[at].offsetHeight < innerHeight / 2 ? "center" : "start" });
    told.textContent = told.dataset.shown.replace("{number}", at + 1).replace("{marks}", marks.length);
  };

  bar.hidden = marks.length < 2;
  for (const button of bar.querySelectorAll("button")) button.addEventListener("click", () => go(Number(button.dataset.step)));
  addEventListener("hashchange", () => { at = marks.findIndex((mark) => "#" + mark.id === location.hash); });
  document.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || !keys.checked || bar.hidden || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select, textarea, input:not([type=checkbox])")) return;
    event.preventDefault();
    go(step);
  });
}
