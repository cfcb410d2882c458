// What the trace says, step by step: which frames there are, and what everything holds in each of them.

const trace = JSON.parse(document.getElementById("trace").textContent);
const texts = JSON.parse(document.getElementById("words").textContent);
const [blockX, blockY, blockZ] = trace.launch.block;
const threadCount = blockX * blockY * blockZ;
const everyThread = Array.from({ length: threadCount }, (_, number) => number);

for (const interval of trace.intervals) {
  for (const step of interval.steps) {
    for (const event of step.events) {
      event.threads = event.threads || everyThread;
      event.elements = event.elements || [];
      event.values = event.values || [];
      event.words = event.words || [];
      event.zero_fill = new Set(event.zero_fill || []);
    }
  }
}

// A text of the page in its language; `-one` is for a count of 1.
function say(name, fields = {}) {
  const text = (fields.count === 1 && texts["trace-" + name + "-one"]) || texts["trace-" + name];
  return text.replace(/\{(\w+)(:[^}]*)?\}/g, (_, field) => fields[field]);
}

// Frame 0 is before the launch; then each step of each interval, and the end of each interval.
const frames = [{ interval: -1, step: -1, end: false }];
trace.intervals.forEach((interval, number) => {
  interval.first = frames.length;
  interval.steps.forEach((_, step) => frames.push({ interval: number, step, end: false }));
  frames.push({ interval: number, step: interval.steps.length - 1, end: true });
});

function threadName(number) {
  const index = [number % blockX, Math.floor(number / blockX) % blockY, Math.floor(number / (blockX * blockY))];
  if (blockY === 1 && blockZ === 1) return String(index[0]);
  return "(" + index.slice(0, blockZ > 1 ? 3 : 2).join(", ") + ")";
}

function columnsOf(array) {
  return array.shape.length ? array.shape[array.shape.length - 1] : 1;
}

function elementName(array, element) {
  const places = [];
  for (let rest = element, axis = array.shape.length - 1; axis >= 0; axis--) {
    places.unshift(axis ? rest % array.shape[axis] : rest);
    rest = Math.floor(rest / array.shape[axis]);
  }
  return array.name + places.map((place) => "[" + place + "]").join("");
}

function shown(value, digits = 6) {
  if (value === null || value === undefined) return "·";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 10 ** Math.max(digits, 5)) return String(value);
  return String(Number(value.toPrecision(digits)));
}

// The contents of the window of a global array, or of a whole shared one, as element → value.
function contentsBefore(array) {
  const contents = new Map();
  const [firstRow, endRow] = array.window.rows, [firstColumn, endColumn] = array.window.columns;
  let place = 0;
  if (array.space !== "global") return contents;
  for (let row = firstRow; row < endRow; row++) {
    for (let column = firstColumn; column < endColumn; column++) {
      contents.set(row * columnsOf(array) + column, array.values[place++]);
    }
  }
  return contents;
}

function apply(state, event) {
  if (event.kind === "add") {
    event.threads.forEach((thread, place) => { state.sums[event.target][thread] = event.values[place]; });
  } else if (event.kind === "store" && event.target >= 0 && event.values.length) {
    event.elements.forEach((element, place) => {
      state.contents[event.target].set(element, event.values[place]);
      if (event.zero_fill.has(event.threads[place])) state.zero[event.target].add(element);
      else state.zero[event.target].delete(element);
    });
  }
}

function stateAt(number) {
  const frame = frames[number];
  const state = {
    contents: trace.arrays.map(contentsBefore),
    zero: trace.arrays.map(() => new Set()), // what a guard left to be filled with zero
    sums: trace.accumulators.map(() => new Array(threadCount).fill(null)),
  };
  for (let at = 0; at <= frame.interval; at++) {
    const interval = trace.intervals[at];
    const last = at < frame.interval ? interval.steps.length - 1 : frame.step;
    for (let step = 0; step <= last; step++) interval.steps[step].events.forEach((event) => apply(state, event));
    if (at < frame.interval || frame.end) {
      for (const { array, values } of interval.shared) {
        values.forEach((value, element) => state.contents[array].set(element, value));
      }
      for (const { accumulator, values } of interval.sums) state.sums[accumulator] = values.slice();
    }
  }
  return state;
}

// What a thread does in a frame: the accumulators that it adds to, and whether something is wrong with it.
function busyWith(busy, thread) {
  if (!busy.has(thread)) busy.set(thread, { added: new Set(), bad: false });
  return busy.get(thread);
}

// What is marked in a frame: by array, element → words for its look.
function marksAt(number) {
  const frame = frames[number];
  const marks = trace.arrays.map(() => new Map());
  const busy = new Map();
  if (frame.interval < 0) return { marks, busy, wrong: new Map() };
  const interval = trace.intervals[frame.interval];
  const add = (target, element, word) => {
    if (target < 0) return;
    const known = marks[target].get(element);
    if (known) known.add(word); else marks[target].set(element, new Set([word]));
  };
  for (let at = 0; at <= frame.step; at++) {
    const now = at === frame.step && !frame.end;
    for (const event of interval.steps[at].events) {
      if (event.kind === "add") {
        if (now) event.threads.forEach((thread) => busyWith(busy, thread).added.add(event.target));
        continue;
      }
      if (now) event.threads.forEach((thread) => busyWith(busy, thread));
      event.elements.forEach((element) => {
        if (now) add(event.target, element, event.kind === "load" ? "read" : "written");
        else add(event.target, element, "lit");
      });
    }
  }
  markLoadedLast(frame, add);
  return { marks, busy, wrong: hazardsAt(frame, interval, add, busy) };
}

// Where the tiles that are computed with came from: what the last interval loaded that loaded anything.
function markLoadedLast(frame, add) {
  const loads = (interval, last) => interval.steps.slice(0, last + 1).flatMap((step) => step.events).filter(
    (event) => event.kind === "load" && event.target >= 0 && trace.arrays[event.target].space === "global");
  for (let at = frame.interval; at >= 0; at--) {
    const found = loads(trace.intervals[at], at === frame.interval ? frame.step : Infinity);
    for (const event of found) for (const element of event.elements) add(event.target, element, "lit");
    if (found.length) return;
  }
}

// The findings that concern the frame, as finding → hazard; their elements and threads are marked.
function hazardsAt(frame, interval, add, busy) {
  const wrong = new Map();
  const line = frame.end ? 0 : interval.steps[frame.step].line;
  for (const hazard of interval.hazards) {
    const finding = trace.findings[hazard.finding];
    const late = [finding.line, finding.other_line].every(
      (each) => !each || interval.steps.slice(0, frame.step + 1).some((step) => step.line === each));
    const here = frame.end || finding.line === line || finding.other_line === line;
    if (!here || !(late || frame.end)) continue;
    wrong.set(hazard.finding, hazard);
    hazard.elements.forEach((element) => add(hazard.array, element, "bad"));
    if (!hazard.elements.length) hazard.threads.forEach((thread) => { busyWith(busy, thread).bad = true; });
  }
  return wrong;
}
