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
