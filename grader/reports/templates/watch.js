// A trace that the page holds is unpacked and shown, in a window of its own, when somebody asks for it.
if ("DecompressionStream" in window) {
  const packed = document.getElementById("trace-data");
  const box = document.getElementById("watch");

  const unpacked = () => {
    const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const open = async () => {
    box.showModal();
    const shown = box.querySelector("iframe");
    if (shown) return shown.focus();
    const frame = document.createElement("iframe"), page = JSON.parse(document.getElementById("trace-page").textContent);
    const data = await unpacked();
    frame.setAttribute("aria-labelledby", "watch-title");
    frame.srcdoc = page.replace(">the trace<", () => ">" + data + "<");
    frame.addEventListener("load", () => frame.focus()); // the keys are those of the trace at once
    box.append(frame);
  };

  box.querySelector("button").addEventListener("click", () => box.close());
  // What is typed in the frame stays there: its page says when Escape is to close the window.
  addEventListener("message", ({ data, source }) => {
    const frame = box.querySelector("iframe");
    if (frame && source === frame.contentWindow && data === "close") box.close();
  });
  for (const part of document.querySelectorAll(".watch")) {
    part.hidden = false;
    part.querySelector("button").addEventListener("click", open);
    const command = part.parentElement.querySelector(".command");
    if (command) command.hidden = true;
  }
}
