
// The page of the class says among whom this one is looked at: one leads to the next.
{
  const part = document.getElementById("among"), given = new URLSearchParams(location.hash.slice(1)).get("among");
  const others = given ? given.split("/") : [];
  const here = others.indexOf(decodeURIComponent(location.pathname.split("/").at(-2) || ""));
  const where = part.querySelector("span");
  part.hidden = here < 0 || others.length < 2;
  where.textContent = where.dataset.shown.replace("{number}", here + 1).replace("{others}", others.length);
  for (const [link, other] of [[part.querySelector("[rel=prev]"), others[here - 1]], [part.querySelector("[rel=next]"), others[here + 1]]]) {
    link.hidden = other === undefined;
    if (!link.hidden) link.href = `../${encodeURIComponent(other)}/staff.html${location.hash}`;
  }
}
