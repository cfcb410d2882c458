// What a frame shows, in words: for all threads, for one of them, for an element, as a table.

const byId = (id) => document.getElementById(id);
let current = 0, state = null;

function plural(count, word) {
  return count + " " + word + (count === 1 ? "" : "s");
}

function who(threads) {
  if (threads.length === threadCount && threadCount > 1) return "all threads";
  if (threads.length === 1) return "thread " + threadName(threads[0]);
  return plural(threads.length, "thread");
}

function stepOf(frame) {
  return frame.interval < 0 || frame.end ? null : trace.intervals[frame.interval].steps[frame.step];
}

function eventsInWords(step) {
  const groups = new Map();
  for (const event of step.events) {
    const name = event.kind === "add" ? trace.accumulators[event.target].title
      : event.target >= 0 ? trace.arrays[event.target].name : "memory that belongs to no array";
    const verb = { load: "load from ", store: "store to ", atomic: "update, as one, ", add: "add to ", outside: "reach outside " }[event.kind];
    const key = verb + name;
    if (!groups.has(key)) groups.set(key, { threads: new Set(), zero: 0 });
    event.threads.forEach((thread) => groups.get(key).threads.add(thread));
    groups.get(key).zero += event.zero_fill.size;
  }
  return [...groups].map(([what, { threads, zero }]) =>
    who([...threads]) + " " + what + (zero ? " (" + zero + " of them a zero: nothing to load)" : "")).join("; ");
}

function turnsOf(interval, line) {
  return interval.steps.filter((step) => step.line === line).length;
}

function ending(interval) {
  const lines = interval.barrier_lines.join(" and ");
  return { barrier: "everybody waits at the barrier" + (lines ? " on line " + lines : ""), exit: "the kernel ends",
    stopped: "the launch was stopped here", limit: "the trace ends here" }[interval.ends];
}

function tell(frame, wrong) {
  const telling = byId("telling");
  telling.textContent = "";
  const step = stepOf(frame);
  if (frame.interval < 0) {
    telling.textContent = "Before the launch: the inputs are there, nothing has been loaded.";
  } else if (frame.end) {
    telling.textContent = "End of interval " + (frame.interval + 1) + ": " + ending(trace.intervals[frame.interval]) + ".";
  } else {
    const times = turnsOf(trace.intervals[frame.interval], step.line);
    telling.textContent = "Line " + step.line + (times > 1 ? ", turn " + (step.turn + 1) + " of " + times : "") + ": " + eventsInWords(step) + ".";
  }
  const [first, ...more] = wrong.keys();
  if (first !== undefined) {
    const rest = more.length ? " (and " + more.length + " more, below the source)" : "";
    make("span", "wrong", telling, " ✗ " + trace.findings[first].message.replace(/\.$/, "") + "." + rest);
  }
}

// What one thread does in a step: pairs of words and, where it touched one, array and element.
function doings(step, thread) {
  const found = [];
  for (const event of step.events) {
    event.threads.forEach((each, place) => {
      if (each !== thread) return;
      const value = event.values.length ? " = " + shown(event.values[place]) : "";
      if (event.kind === "add") found.push({ words: trace.accumulators[event.target].title + " becomes " + shown(event.values[place]) });
      else if (event.kind === "outside") found.push({ words: "✗ outside: " + event.words[place] });
      else {
        const element = event.elements[place], fill = event.zero_fill.has(thread) ? " (zero fill: it loaded nothing)" : "";
        const verb = { load: "loads ", store: "stores ", atomic: "updates " }[event.kind];
        found.push({ words: verb + elementName(trace.arrays[event.target], element) + value + fill, array: event.target, element });
      }
    });
  }
  return found;
}

function tellThread() {
  const box = byId("thread"), step = stepOf(frames[current]);
  box.textContent = "";
  byId("detail-title").textContent = chosen === null ? "Thread" : "Thread " + threadName(chosen) + (pinned ? "" : " (click to keep)");
  if (chosen === null) {
    make("p", "", box, "Point at a thread or an element, or press Tab to get to the threads and move with the arrow keys.");
    return;
  }
  const list = make("ul", "", box);
  const done = step ? doings(step, chosen) : [];
  for (const { words } of done) make("li", "", list, words);
  if (step && !list.children.length) make("li", "", list, "does nothing on line " + step.line + ": its branch leads elsewhere");
  trace.accumulators.forEach((each, number) => {
    if (!done.some(({ words }) => words.startsWith(each.title + " becomes"))) {
      make("li", "", list, each.title + ": " + shown(state.sums[number][chosen], 9));
    }
  });
  for (const [number, hazard] of marksAt(current).wrong) {
    if (!hazard.threads.includes(chosen)) continue;
    const finding = trace.findings[number];
    const lines = [finding.line, finding.other_line].filter((line, place, all) => line && all.indexOf(line) === place);
    make("li", "wrong", list, "✗ takes part in the hazard of line" + (lines.length > 1 ? "s " : " ") + lines.join(" and "));
  }
  if (pinned) {
    const button = make("button", "", box, "let go (Escape)");
    button.type = "button";
    button.addEventListener("click", () => choose(null, false));
  }
}

function tellElement(index, element) {
  if (pinned) return;
  const array = trace.arrays[index], step = stepOf(frames[current]);
  const box = byId("thread");
  byId("detail-title").textContent = elementName(array, element);
  box.textContent = "";
  make("p", "", box, "holds " + shown(state.contents[index].get(element), 9));
  if (!step) return;
  const list = make("ul", "", box);
  for (const event of step.events) {
    if (event.target !== index || event.kind === "add") continue;
    const threads = event.threads.filter((_, place) => event.elements[place] === element);
    if (threads.length) make("li", "", list, { load: "loaded", store: "stored", atomic: "updated", outside: "missed" }[event.kind] + " by " + (threads.length > 8 ? who(threads) : "thread" + (threads.length > 1 ? "s " : " ") + threads.map(threadName).join(", ")));
  }
}

function tellTable() {
  const box = byId("rows"), step = stepOf(frames[current]);
  box.textContent = "";
  if (!byId("table").open) return;
  const table = make("table", "", box);
  const head = make("tr", "", table);
  make("th", "", head, "thread");
  make("th", "", head, step ? "line " + step.line : "after the interval");
  for (const thread of everyThread) {
    const words = step ? doings(step, thread).map((each) => each.words)
      : trace.accumulators.map((each, number) => each.title + ": " + shown(state.sums[number][thread]));
    const row = make("tr", "", table);
    make("td", "", row, threadName(thread));
    make("td", "", row, words.join("; ") || "–");
  }
}
