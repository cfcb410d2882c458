// What a frame shows, in words: for all threads, for one of them, for an element, as a table.

const byId = (id) => document.getElementById(id);
let current = 0, state = null;

function who(threads) {
  if (threads.length === threadCount && threadCount > 1) return say("all");
  if (threads.length === 1) return say("one", { thread: threadName(threads[0]) });
  return say("many", { count: threads.length });
}

function stepOf(frame) {
  return frame.interval < 0 || frame.end ? null : trace.intervals[frame.interval].steps[frame.step];
}

function eventsInWords(step) {
  const groups = new Map();
  for (const event of step.events) {
    const name = event.kind === "add" ? trace.accumulators[event.target].title
      : event.target >= 0 ? trace.arrays[event.target].name : say("no-array");
    const key = event.kind + " " + name;
    if (!groups.has(key)) groups.set(key, { kind: event.kind, name, threads: new Set(), zero: 0 });
    event.threads.forEach((thread) => groups.get(key).threads.add(thread));
    groups.get(key).zero += event.zero_fill.size;
  }
  return [...groups.values()].map(({ kind, name, threads, zero }) => {
    const what = say(kind, { who: who([...threads]), array: name });
    return zero ? say("zeros", { what, count: zero }) : what;
  }).join("; ");
}

function turnsOf(interval, line) {
  return interval.steps.filter((step) => step.line === line).length;
}

function ending(interval) {
  const lines = interval.barrier_lines.join(" " + say("and") + " ");
  if (interval.ends === "barrier") return lines ? say("at-barrier-of", { lines }) : say("at-barrier");
  return say(interval.ends);
}

function tell(frame, wrong) {
  const telling = byId("telling");
  telling.textContent = "";
  const step = stepOf(frame);
  if (frame.interval < 0) {
    telling.textContent = say("before");
  } else if (frame.end) {
    telling.textContent = say("end-of", { number: frame.interval + 1, ending: ending(trace.intervals[frame.interval]) });
  } else {
    const turns = turnsOf(trace.intervals[frame.interval], step.line);
    const told = { line: step.line, events: eventsInWords(step), turn: step.turn + 1, turns };
    telling.textContent = say(turns > 1 ? "on-line-turn" : "on-line", told);
  }
  const [first, ...more] = wrong.keys();
  if (first !== undefined) {
    const rest = more.length ? " " + say("more-below", { count: more.length }) : "";
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
      if (event.kind === "add") found.push({ words: say("becomes", { sum: trace.accumulators[event.target].title, value: shown(event.values[place]) }), sum: event.target });
      else if (event.kind === "outside") found.push({ words: "✗ " + say("misses", { words: event.words[place] }) });
      else {
        const element = event.elements[place], fill = event.zero_fill.has(thread) ? " " + say("filled") : "";
        const verb = { load: "loads", store: "stores", atomic: "updates" }[event.kind];
        found.push({ words: say(verb, { element: elementName(trace.arrays[event.target], element) }) + value + fill, array: event.target, element });
      }
    });
  }
  return found;
}

function tellThread() {
  const box = byId("thread"), step = stepOf(frames[current]);
  box.textContent = "";
  box.parentElement.className = chosen === null ? "no-thread" : "";
  byId("detail-title").textContent = chosen === null ? say("thread") : say(pinned ? "thread-of" : "to-keep", { thread: threadName(chosen) });
  if (chosen === null) {
    make("p", "", box, say("point"));
    return;
  }
  const list = make("ul", "", box);
  const done = step ? doings(step, chosen) : [];
  for (const { words } of done) make("li", "", list, words);
  if (step && !list.children.length) make("li", "", list, say("idle", { line: step.line }));
  trace.accumulators.forEach((each, number) => {
    if (!done.some(({ sum }) => sum === number)) {
      make("li", "", list, each.title + ": " + shown(state.sums[number][chosen], 9));
    }
  });
  for (const [number, hazard] of marksAt(current).wrong) {
    if (!hazard.threads.includes(chosen)) continue;
    const finding = trace.findings[number];
    const lines = [finding.line, finding.other_line].filter((line, place, all) => line && all.indexOf(line) === place);
    make("li", "wrong", list, "✗ " + say(lines.length > 1 ? "hazard-lines" : "hazard", { lines: lines.join(" " + say("and") + " ") }));
  }
  if (pinned) {
    const button = make("button", "", box, say("let-go"));
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
  make("p", "", box, say("holds", { value: shown(state.contents[index].get(element), 9) }));
  if (!step) return;
  const list = make("ul", "", box);
  for (const event of step.events) {
    if (event.target !== index || event.kind === "add") continue;
    const threads = event.threads.filter((_, place) => event.elements[place] === element);
    if (threads.length) {
      const named = threads.length > 8 || threads.length === 1 ? who(threads) : say("some", { threads: threads.map(threadName).join(", ") });
      make("li", "", list, say({ load: "loaded-by", store: "stored-by", atomic: "updated-by", outside: "missed-by" }[event.kind], { who: named }));
    }
  }
}

function tellTable() {
  const box = byId("rows"), step = stepOf(frames[current]);
  box.textContent = "";
  if (!byId("table").open) return;
  const table = make("table", "", box);
  const head = make("tr", "", table);
  make("th", "", head, say("thread"));
  make("th", "", head, step ? say("line", { lines: step.line }) : say("after-interval"));
  for (const thread of everyThread) {
    const words = step ? doings(step, thread).map((each) => each.words)
      : trace.accumulators.map((each, number) => each.title + ": " + shown(state.sums[number][thread]));
    const row = make("tr", "", table);
    make("td", "", row, threadName(thread));
    make("td", "", row, words.join("; ") || "–");
  }
}
