"use strict";
// Searching, filtering and sorting of the students' table; what is asked for stands in the page's address.

const byId = (id) => document.getElementById(id);
const body = byId("table").tBodies[0];
const rows = [...body.rows].map((element, index) => ({
  element, index,
  link: element.querySelector("a"),
  text: element.textContent.toLowerCase(),
  name: element.querySelector("a").textContent,
  note: element.lastElementChild.textContent,
  section: (element.querySelector(".section") || element).textContent,
  score: Number(element.dataset.score),
}));
const controls = ["search", "state", "cause", "section", "late"].map(byId).filter(Boolean);
const heads = [...document.querySelectorAll("#table th[data-sort]")];
const collator = new Intl.Collator(undefined, { numeric: true });
let order = { by: "", down: false };

function valueOf(control) {
  return control.type === "checkbox" ? (control.checked ? "1" : "") : control.value;
}

function isShown(row, wanted) {
  const { dataset } = row.element;
  return ["state", "cause"].every((key) => !wanted[key] || dataset[key] === wanted[key])
    && (!wanted.section || row.section === wanted.section)
    && (!wanted.late || "late" in dataset)
    && wanted.search.toLowerCase().split(/\s+/).every((word) => row.text.includes(word));
}

function apply() {
  const wanted = { search: "" };
  for (const control of controls) wanted[control.id] = valueOf(control);
  let shown = 0;
  for (const row of rows) {
    const fits = isShown(row, wanted);
    row.element.hidden = !fits;
    shown += fits;
  }
  byId("count").textContent = shown === rows.length ? "" : byId("count").dataset.shown.replace("{shown}", shown).replace("{rows}", rows.length);
  remember(wanted);
}

function sort() {
  const { by, down } = order, sign = down ? -1 : 1;
  const compare = by === "score" ? (a, b) => a.score - b.score : (a, b) => collator.compare(a[by], b[by]);
  const sorted = by ? [...rows].sort((a, b) => sign * compare(a, b) || a.index - b.index) : rows;
  body.append(...sorted.map((row) => row.element));
  for (const head of heads) {
    if (head.dataset.sort === by) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

// Mistakes are numbered by how many have them, which changes while a batch runs: what stays is their name.
function nameOf(option) {
  return option.textContent.replace(/ \(\d+\)$/, "");
}

// A page that loads itself again, or that is come back to, shows the same.
function remember(wanted) {
  const kept = new URLSearchParams();
  for (const [key, value] of Object.entries(wanted)) if (value) kept.set(key, value);
  if (wanted.cause) kept.set("cause", nameOf(byId("cause").selectedOptions[0]));
  if (order.by) kept.set("sort", (order.down ? "-" : "") + order.by);
  const fragment = String(kept);
  if (fragment || location.hash.includes("=")) history.replaceState(null, "", "#" + fragment);
}

function recall() {
  if (!location.hash.includes("=")) return;
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const control of controls) {
    const value = kept.get(control.id) || "";
    if (control.type === "checkbox") control.checked = Boolean(value);
    else if (control.id === "cause") control.selectedIndex = Math.max(0, [...control.options].findIndex((option) => nameOf(option) === value));
    else control.value = value;
    if (control.selectedIndex === -1) control.selectedIndex = 0;
  }
  const by = kept.get("sort") || "";
  order = { by: by.replace(/^-/, ""), down: by.startsWith("-") };
  if (heads.some((head) => head.dataset.sort === order.by)) sort();
  else order = { by: "", down: false };
}

// From the search to the first student, and from one to the next that is shown.
function move(from, step) {
  const shown = [...body.rows].filter((row) => !row.hidden);
  const here = shown.indexOf(from && from.closest("tbody tr"));
  const next = here < 0 ? (step > 0 ? 0 : -1) : here + step;
  if (next < 0) byId("search").focus();
  else if (next < shown.length) shown[next].querySelector("a").focus();
}

for (const head of heads) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const same = order.by === head.dataset.sort;
    order = { by: head.dataset.sort, down: same && !order.down };
    sort();
    apply();
  });
}
for (const control of controls) control.addEventListener("input", apply);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target, inSearch = target.id === "search";
  const inTable = target.closest && target.closest("#table tbody");
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) byId("search").focus();
  else if (event.key === "Escape" && (inSearch || inTable)) { byId("search").value = ""; byId("search").focus(); apply(); }
  else if (event.key === "ArrowDown" && (inSearch || inTable)) move(target, 1);
  else if (event.key === "ArrowUp" && inTable) move(target, -1);
  else return;
  event.preventDefault();
});
addEventListener("hashchange", () => { recall(); apply(); });

// Whoever opens a student's page goes on from there: to the others of a group, or to all that are shown.
function among(event) {
  const staffPage = "a[href*='/staff.html']", link = event.target.closest && event.target.closest(staffPage);
  if (!link) return;
  const group = link.closest(".group"), shown = [...body.rows].filter((row) => !row.hidden);
  const links = group ? [...group.querySelectorAll(staffPage)] : shown.map((row) => row.querySelector(staffPage));
  const folders = links.map((one) => decodeURIComponent(one.getAttribute("href").split("/")[1]));
  link.hash = new URLSearchParams({ among: folders.join("/") });
}
for (const kind of ["pointerdown", "focusin"]) document.addEventListener(kind, among);

byId("filter").hidden = false;
for (const part of document.querySelectorAll(".script-only")) part.hidden = false;
recall();
apply();
