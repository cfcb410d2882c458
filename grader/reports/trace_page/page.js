// The player: which frame is shown, what it says in words, and what moves it.

let timer = null;
const isEmbedded = location.protocol === "about:"; // in a report: it has no address of its own to keep a step in

function drawSource() {
  const ran = new Set(trace.intervals.flatMap((interval) => [...interval.steps.map((step) => step.line), ...interval.barrier_lines]));
  trace.source.forEach((text, index) => {
    const line = make("li", ran.has(index + 1) ? "ran" : "", byId("source"));
    make("b", "", line, String(index + 1));
    make("span", "", line, text || " ");
    if (ran.has(index + 1)) {
      line.title = say("to-next");
      line.addEventListener("click", () => toLine(index + 1));
    }
  });
}

function linesOf(frame) {
  const step = stepOf(frame);
  return new Set(step ? [step.line] : frame.end ? trace.intervals[frame.interval].barrier_lines : []);
}

function toLine(line) {
  for (let away = 1; away <= frames.length; away++) {
    const number = (current + away) % frames.length;
    if (linesOf(frames[number]).has(line)) return show(number);
  }
  return undefined;
}

function markSource(frame, wrong) {
  const lines = linesOf(frame), bad = new Set();
  for (const finding of trace.findings) bad.add(finding.line).add(finding.other_line);
  const items = byId("source").children;
  let first = null;
  for (let index = 0; index < items.length; index++) {
    const line = index + 1, item = items[index];
    item.classList.toggle("now", lines.has(line));
    item.classList.toggle("wrong", bad.has(line));
    if (lines.has(line)) { item.setAttribute("aria-current", "step"); first = first || item; } else item.removeAttribute("aria-current");
  }
  if (first) {
    const box = byId("source");
    if (first.offsetTop < box.scrollTop + 24 || first.offsetTop > box.scrollTop + box.clientHeight - 48) {
      box.scrollTop = first.offsetTop - box.clientHeight / 2;
    }
  }
  // On a phone the source is below the arrays: there its line stands above them.
  byId("line").textContent = [...lines].map((line) => line + "  " + (trace.source[line - 1] || "").trim()).join("\n");
  for (const told of byId("findings").children) {
    told.classList.toggle("here", wrong.has(Number(told.dataset.finding)));
  }
}

function firstFrameOf(finding) {
  for (let number = 0; number < frames.length; number++) {
    if (marksAt(number).wrong.has(finding)) return number;
  }
  return -1;
}

function drawFindings() {
  trace.findings.forEach((finding, number) => {
    const told = make("div", "finding", byId("findings"));
    told.dataset.finding = number;
    const lines = [finding.line, finding.other_line].filter((line, place, all) => line && all.indexOf(line) === place);
    make("strong", "", told, "✗ " + (lines.length ? say(lines.length > 1 ? "lines" : "line", { lines: lines.join(" " + say("and") + " ") }) + ": " : ""));
    make("span", "", told, finding.message);
    const frame = firstFrameOf(number);
    if (frame >= 0) {
      const button = make("button", "", told, say("show"));
      button.type = "button";
      button.addEventListener("click", () => show(frame));
    } else {
      make("small", "", told, finding.block ? " – " + say("elsewhere", { block: finding.block.join(", ") }) : "");
    }
  });
  trace.notes.forEach((note) => make("p", "note", byId("findings"), note));
  if (!trace.findings.length && trace.completed) make("p", "note", byId("findings"), say("no-hazard"));
}

function drawStrip() {
  trace.intervals.forEach((interval, number) => {
    const part = make("i", "", byId("strip"), interval.hazards.length ? "✗" : "");
    part.style.flexGrow = interval.steps.length + 1;
    part.title = say("interval", { number: number + 1, ending: ending(interval) });
    part.addEventListener("click", () => show(interval.first));
  });
}

function choose(thread, keep) {
  chosen = thread;
  pinned = keep && thread !== null;
  paint();
}

const largest = trace.accumulators.map((_, number) => {
  let most = 1e-30;
  for (const interval of trace.intervals) {
    for (const { accumulator, values } of interval.sums) {
      if (accumulator === number) for (const value of values) if (Math.abs(value) > most && Math.abs(value) < Infinity) most = Math.abs(value);
    }
  }
  return most;
});

function drawBar(grid, thread, value, words) {
  if (typeof value !== "number") return;
  const height = Math.round(100 * Math.min(1, Math.abs(value) / largest[sumGrids.indexOf(grid)]));
  words.push("bar");
  grid.cells.get(thread).style.setProperty("--height", height + "%");
}

function paint() {
  const frame = frames[current], { marks, busy, wrong } = marksAt(current), step = stepOf(frame);
  const own = trace.arrays.map(() => new Set());
  if (chosen !== null && step) for (const { array, element } of doings(step, chosen)) if (array >= 0) own[array].add(element);
  arrayGrids.forEach((grid, index) => {
    let used = 0;
    grid.cells.forEach((_, element) => {
      const mark = marks[index].get(element);
      const words = [];
      if (grid.mine.has(element)) words.push("mine");
      if (mark) {
        used++;
        if (mark.has("bad")) words.push("bad");
        else if (mark.has("written")) words.push("now written");
        else if (mark.has("read")) words.push("now read");
        else words.push("lit");
      }
      if (state.zero[index].has(element)) words.push("zero");
      if (own[index].has(element)) words.push("chosen");
      look(grid, element, words.join(" "), shown(state.contents[index].get(element), grid.digits));
    });
    const array = trace.arrays[index];
    grid.box.setAttribute("aria-label", say("used", { array: array.name, extents: array.shape.join(" × "), count: used }));
  });
  sumGrids.forEach((grid, number) => {
    for (const thread of everyThread) {
      const doing = busy.get(thread);
      const words = ["pick"];
      if (doing && doing.bad) words.push("bad");
      else if (doing) words.push("now", doing.added.has(number) ? "written" : "read");
      else if (step) words.push("idle");
      if (!grid.wide && trace.accumulators.length) drawBar(grid, thread, state.sums[number][thread], words);
      if (thread === chosen) words.push("chosen");
      const value = trace.accumulators.length ? state.sums[number][thread] : null;
      look(grid, thread, words.join(" "), trace.accumulators.length ? shown(value, grid.digits) : String(thread));
      grid.cells.get(thread).setAttribute("aria-label", say("one", { thread: threadName(thread) }) + (trace.accumulators.length ? ": " + shown(value) : ""));
    }
  });
  tell(frame, wrong);
  markSource(frame, wrong);
  tellThread();
  tellTable();
}

function show(number) {
  current = Math.max(0, Math.min(frames.length - 1, number));
  state = stateAt(current);
  const frame = frames[current];
  byId("scrubber").value = current;
  const interval = frame.interval < 0 ? say("before-launch") : say("interval-of", { number: frame.interval + 1, intervals: trace.intervals.length });
  byId("where").textContent = say("where", { interval, step: current, steps: frames.length - 1 });
  byId("scrubber").setAttribute("aria-valuetext", byId("where").textContent);
  [...byId("strip").children].forEach((part, place) => {
    part.className = (place === frame.interval ? "here" : "") + (trace.intervals[place].hazards.length ? " bad" : "");
  });
  document.body.dataset.step = current;
  paint();
  if (isEmbedded) return;
  const fragment = "#step=" + current + (pinned ? "&thread=" + chosen : "");
  if (location.hash !== fragment) history.replaceState(null, "", fragment);
}

function play(on) {
  clearInterval(timer);
  timer = null;
  if (on) {
    if (current === frames.length - 1) show(0);
    timer = setInterval(() => { if (current < frames.length - 1) show(current + 1); else play(false); }, Number(byId("speed").value));
  }
  byId("play").textContent = say(on ? "pause" : "play");
  byId("play").setAttribute("aria-pressed", String(on));
}

function toInterval(away) {
  const frame = frames[current], here = frame.interval;
  if (away < 0 && here >= 0 && current > trace.intervals[here].first) return show(trace.intervals[here].first);
  const next = here + away;
  return show(next < 0 ? 0 : next >= trace.intervals.length ? frames.length - 1 : trace.intervals[next].first);
}

// The thread that is kept; where none is, a report that shows this page in a window of its own closes it.
function letGo() {
  if (!pinned && parent !== window) parent.postMessage("close", "*");
  choose(null, false);
}

const moves = {
  ArrowRight: () => show(current + 1), ArrowLeft: () => show(current - 1),
  PageDown: () => toInterval(1), PageUp: () => toInterval(-1),
  Home: () => show(0), End: () => show(frames.length - 1), " ": () => play(!timer), Escape: letGo,
};

function listen() {
  const clicks = { first: "Home", earlier: "PageUp", back: "ArrowLeft", play: " ", on: "ArrowRight", later: "PageDown", last: "End" };
  for (const [id, key] of Object.entries(clicks)) byId(id).addEventListener("click", () => { if (id !== "play") play(false); moves[key](); });
  byId("scrubber").max = frames.length - 1;
  byId("scrubber").addEventListener("input", () => { play(false); show(Number(byId("scrubber").value)); });
  byId("speed").addEventListener("change", () => { if (timer) play(true); });
  byId("table").addEventListener("toggle", tellTable);
  byId("to-source").addEventListener("click", toSource);
  addEventListener("resize", fitStage);
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);
  addEventListener("hashchange", fromFragment);
  document.addEventListener("keydown", (key) => {
    const within = key.target.closest ? key.target.closest("button, select, input, summary") : null;
    if (key.ctrlKey || key.altKey || key.metaKey || !moves[key.key]) return;
    if (within && (key.key === " " || within.tagName === "SELECT")) return;
    if (key.key !== " " && key.key !== "Escape") play(false);
    key.preventDefault();
    moves[key.key]();
  });
}

// On a phone, where the source is below the arrays: there, and back again.
function toSource() {
  const isThere = byId("to-source").textContent !== say("source");
  (isThere ? stage : byId("code-title")).scrollIntoView({ block: "start" });
  byId("to-source").textContent = say(isThere ? "source" : "arrays");
}

function fromFragment() {
  const told = new URLSearchParams(location.hash.slice(1));
  const thread = Number(told.get("thread"));
  if (told.has("thread") && Number.isInteger(thread) && thread >= 0 && thread < threadCount) { chosen = thread; pinned = true; }
  show(isEmbedded ? telling() : Math.trunc(Number(told.get("step"))) || 0);
}

// Where a page that is part of a report begins: at the first hazard, or where a wrong element is stored.
function telling() {
  const hazards = trace.findings.map((_, number) => firstFrameOf(number)).filter((frame) => frame >= 0);
  if (hazards.length || !trace.mark) return Math.min(...hazards, frames.length - 1) * (hazards.length > 0);
  const array = trace.arrays.findIndex(({ name }) => name === trace.mark.array);
  const element = array < 0 ? -1 : trace.mark.index.reduce((sum, at, axis) => sum * trace.arrays[array].shape[axis] + at, 0);
  const stores = (event) => event.kind === "store" && event.target === array && event.elements.includes(element);
  return Math.max(0, frames.findIndex((frame) => !frame.end && frame.interval >= 0
    && trace.intervals[frame.interval].steps[frame.step].events.some(stores)));
}

drawAll();
drawSource();
drawFindings();
drawStrip();
listen();
fromFragment();
