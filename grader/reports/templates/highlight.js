
// Comments, strings and words of C++ stand apart in the student's file. Ranges of its text are coloured, and no
// element is made of it: whatever was handed in, the page has the same elements.
if (window.CSS && CSS.highlights) {
  const words = "alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if inline int long namespace new nullptr operator private protected public register return short signed sizeof static static_cast struct switch template this throw true try typedef typename union unsigned using virtual void volatile while __global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__";
  const token = new RegExp(String.raw`(?<comment>//.*|/\*.*?(?:\*/|(?<open>$)))|(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<word>\b(?:${words.replaceAll(" ", "|")})\b|^\s*#\s*\w+)`, "g");
  const kinds = ["comment", "string", "word"];
  for (const kind of kinds) CSS.highlights.set(kind, new Highlight());
  let left = 10_000; // colours beyond that would keep the page from opening at once
  const colour = (kind, text, start, end) => {
    if (left-- <= 0) return;
    const range = new StaticRange({ startContainer: text, startOffset: start, endContainer: text, endOffset: end });
    CSS.highlights.get(kind).add(range);
  };
  let inside = false; // a comment that a line before has begun
  for (const { firstChild: text } of document.querySelectorAll(".source > div > code")) {
    if (!text) continue;
    let from = 0;
    if (inside) {
      const end = text.data.indexOf("*/");
      inside = end < 0;
      from = inside ? text.data.length : end + 2;
      colour("comment", text, 0, from);
    }
    token.lastIndex = from;
    for (const match of inside ? [] : text.data.matchAll(token)) {
      const kind = kinds.find((one) => match.groups[one] !== undefined);
      colour(kind, text, match.index, match.index + match[0].length);
      inside = match.groups.open !== undefined;
    }
  }
}
