// Grids of cells: arrays and threads, drawn once, and afterwards changed only where something changes.

const stage = document.getElementById("stage");
let chosen = null; // the thread whose numbers are shown
let pinned = false;

function make(tag, words, parent, text) {
  const made = document.createElement(tag);
  if (words) made.className = words;
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

// How wide a cell may be, so that three grids stand side by side and none is much higher than it is wide.
function cellSize(columns, rows, beside) {
  const room = Math.max(240, stage.clientWidth || 700) / Math.min(3, Math.max(1, beside)) - 26;
  const high = Math.max(260, 0.36 * innerHeight) / Math.max(1, rows);
  return Math.max(4, Math.min(38, Math.floor(Math.min(high, room / Math.max(1, columns))) - 1));
}

function drawGrid(parent, caption, small, columns, keys, beside) {
  const figure = make("figure", "", parent);
  const heading = make("figcaption", "", figure);
  make("strong", "", heading, caption);
  make("small", "", heading, " " + small);
  const scroll = make("div", "scroll", figure);
  const box = make("div", "cells", scroll);
  const cells = new Map();
  for (const key of keys) cells.set(key, make("i", "cell", box));
  const grid = { figure, scroll, box, cells, columns, seen: new Map() };
  const size = cellSize(columns, Math.ceil(keys.length / Math.max(1, columns)), beside);
  setSize(grid, size);
  if (size < READABLE) addZoom(grid, caption, heading, size);
  return grid;
}

const READABLE = 34; // pixels that a cell needs for three digits
const ZOOMS = 4;
const LETTER = 0.68; // width of a digit, as a share of its height

function setSize(grid, size) {
  const height = size >= 22 ? Math.max(20, Math.min(size, 26)) : size;
  grid.size = size;
  grid.wide = size >= 22;
  grid.digits = size >= READABLE ? 3 : 2;
  grid.box.className = size < 9 ? "cells dense" : "cells";
  grid.box.style.gridTemplateColumns = "repeat(" + grid.columns + ", " + size + "px)";
  grid.box.style.gridAutoRows = height + "px";
  grid.font = Math.max(8, Math.min(12, size / 2.9));
  grid.box.style.fontSize = grid.font + "px";
  grid.box.style.lineHeight = height + "px";
  grid.seen.clear();
}

// An array of which not every number has room is made larger step by step, up to where all have.
function addZoom(grid, caption, heading, least) {
  let level = 0;
  const buttons = [-1, 1].map((step) => {
    const button = make("button", "zoom", heading, step < 0 ? "−" : "+");
    button.type = "button";
    button.setAttribute("aria-label", say(step < 0 ? "smaller" : "larger", { array: caption }));
    button.addEventListener("click", () => zoom(step));
    return button;
  });
  function zoom(step) {
    level = Math.max(0, Math.min(ZOOMS, level + step));
    setSize(grid, Math.round(least + (READABLE + 4 - least) * level / ZOOMS));
    buttons[0].disabled = level === 0;
    buttons[1].disabled = level === ZOOMS;
    makeReachable(grid);
    paint();
    const now = grid.box.querySelector(".bad, .now, .chosen");
    if (now) grid.scroll.scrollTo(now.offsetLeft - grid.scroll.clientWidth / 2, now.offsetTop - grid.scroll.clientHeight / 2);
  }
  buttons[0].disabled = true;
}

// What scrolls is reached by keyboard, too.
function makeReachable(grid) {
  const scrolls = grid.scroll.scrollWidth > grid.scroll.clientWidth || grid.scroll.scrollHeight > grid.scroll.clientHeight;
  if (scrolls) grid.scroll.tabIndex = 0; else grid.scroll.removeAttribute("tabindex");
}

function look(grid, key, words, text) {
  const cell = grid.cells.get(key);
  const inside = words.includes("bad") && !grid.wide ? (grid.box.classList.contains("dense") ? "" : "✗") : grid.wide ? text : "";
  const now = words + "|" + inside;
  if (grid.seen.get(key) === now) return;
  grid.seen.set(key, now);
  cell.className = "cell " + words;
  cell.textContent = inside;
  // A number that is cut off would be read as another one: a long one is written smaller.
  const fitting = (grid.size - 2) / (LETTER * inside.length);
  cell.style.fontSize = fitting < grid.font ? fitting.toFixed(1) + "px" : "";
}

function windowKeys(array) {
  const keys = [], columns = columnsOf(array);
  for (let row = array.window.rows[0]; row < array.window.rows[1]; row++) {
    for (let column = array.window.columns[0]; column < array.window.columns[1]; column++) keys.push(row * columns + column);
  }
  return keys;
}

// A vector is broken into rows, so that it can be seen as a whole.
function columnsDrawn(array) {
  const columns = array.window.columns[1] - array.window.columns[0];
  const rows = array.window.rows[1] - array.window.rows[0];
  return rows > 1 ? columns : Math.min(columns, columns > 64 ? 64 : columns > 16 ? 32 : columns);
}

function smallWords(array) {
  const extents = array.shape.join(" × ");
  const [rows, columns] = [array.window.rows, array.window.columns];
  if (columns[1] - columns[0] >= columnsOf(array) && !array.window.cropped) return extents;
  const range = ([first, end]) => first + "–" + (end - 1);
  return say(array.shape.length > 1 ? "rows" : "elements", { extents, rows: range(rows), columns: range(columns) });
}

const arrayGrids = [], sumGrids = [];

function drawAll() {
  const beside = (space) => trace.arrays.filter((array) => array.space === space).length;
  // Of what is read, read and written, in the order of the kernel's parameters: outputs come last.
  const order = trace.arrays.map((_, index) => index);
  order.sort((a, b) => (trace.arrays[a].direction === "out") - (trace.arrays[b].direction === "out") || a - b);
  const inBlock = beside("shared") + Math.max(1, trace.accumulators.length);
  const ever = trace.arrays.map(() => new Set());
  for (const interval of trace.intervals) {
    for (const step of interval.steps) {
      for (const event of step.events) {
        if (event.kind !== "add" && event.target >= 0) event.elements.forEach((element) => ever[event.target].add(element));
      }
    }
  }
  for (const index of order) {
    const array = trace.arrays[index];
    const parent = document.getElementById(array.space);
    const grid = drawGrid(parent, array.name, smallWords(array), columnsDrawn(array), windowKeys(array), array.space === "shared" ? inBlock : beside("global"));
    grid.mine = array.space === "global" ? ever[index] : new Set();
    grid.box.setAttribute("role", "img");
    grid.cells.forEach((cell, element) => cell.addEventListener("mouseenter", () => tellElement(index, element)));
    arrayGrids[index] = grid;
  }
  for (const space of ["global", "shared"]) {
    if (!beside(space)) for (const part of document.querySelectorAll("." + space)) part.hidden = true;
  }
  drawThreads(inBlock);
  for (const grid of [...arrayGrids, ...sumGrids]) makeReachable(grid);
  fitStage();
}

// Arrays that need little room leave the rest of a wide window to the source.
function fitStage() {
  const main = document.querySelector("main");
  main.style.gridTemplateColumns = "";
  if (innerWidth <= 800) return;
  const left = stage.getBoundingClientRect().left;
  const needed = Math.max(...[...stage.querySelectorAll("figure")].map((figure) => figure.getBoundingClientRect().right - left), 352);
  if (needed < stage.clientWidth - 24) main.style.gridTemplateColumns = "minmax(20rem, 1fr) " + Math.ceil(needed + 8) + "px";
}

// On paper three arrays stand side by side, whatever the window; afterwards each is as it was.
const PAPER = [370, 370]; // pixels that an array has there across and down
let sizes = [];

function toPaper() {
  const grids = [...arrayGrids, ...sumGrids];
  sizes = grids.map((grid) => grid.size);
  for (const grid of grids) {
    const rows = Math.ceil(grid.cells.size / grid.columns);
    setSize(grid, Math.max(3, Math.min(READABLE, Math.floor(PAPER[0] / grid.columns) - 1, Math.floor(PAPER[1] / rows) - 1)));
  }
  document.querySelector("main").style.gridTemplateColumns = "";
  paint();
}

function fromPaper() {
  [...arrayGrids, ...sumGrids].forEach((grid, number) => setSize(grid, sizes[number]));
  paint();
  fitStage();
}

function drawThreads(inBlock) {
  const parent = document.getElementById("threads");
  const across = blockY * blockZ > 1 ? blockX : Math.min(blockX, 32);
  const titles = trace.accumulators.length ? trace.accumulators.map((each) => each.title) : [say("threads")];
  titles.forEach((title, number) => {
    const small = trace.accumulators.length ? (trace.accumulators[number].name && !title.includes("(") ? say("of-each-line", { line: trace.accumulators[number].line }) : say("of-each")) : "";
    const grid = drawGrid(parent, title, small, across, everyThread, inBlock);
    grid.box.setAttribute("role", "group");
    grid.box.setAttribute("aria-label", say("buttons", { sum: title }));
    grid.cells.forEach((cell, thread) => {
      cell.classList.add("pick");
      cell.tabIndex = thread ? -1 : 0;
      cell.setAttribute("role", "button");
      cell.addEventListener("mouseenter", () => { if (!pinned) choose(thread, false); });
      cell.addEventListener("focus", () => choose(thread, true));
      cell.addEventListener("click", () => choose(thread, true));
      cell.addEventListener("keydown", (key) => {
        const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[key.key];
        if (!move || key.shiftKey || key.ctrlKey || key.altKey) return;
        const next = grid.cells.get(thread + move);
        if (next) next.focus();
        key.preventDefault();
        key.stopPropagation();
      });
    });
    sumGrids[number] = grid;
  });
}
