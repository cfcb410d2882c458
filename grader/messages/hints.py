"""What to do about a file that does not compile, or that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "leave-one-file": "leave one file with your kernel in what you hand in; its headers may stay beside it.",
    "save-the-file": "save the file in your editor, and look at what you hand in before you do.",
    "source-alone": "hand in the source text alone, without data and without what was made of it.",
    "put-file-in": "put the file with your kernel into it, with the ending `.cu`.",
    "as-saved": "hand in the `.cu` file as your editor saves it.",
    "outside-of-if": (
        "write the kernel outside of that `#if`, or define in the file what the directive asks for."
    ),
    "put-global": (
        "put `__global__` before `void {kernel}`: without it the function is host code and no kernel."
    ),
    "write-kernel-too": (
        "write a kernel `{kernel}` as well: each kernel that the hand-out asks for has to be in the file."
    ),
    "launch-template": (
        "launch the kernel in `main` with the values that you mean, or name them in a line after it: "
        "`template __global__ void {kernel}<…>(…);`."
    ),
    "name-your-kernel": "name your kernel `{kernel}`, exactly as the hand-out does.",
    "straight-quotes": (
        "replace typographic quotes by straight ones: they come from a text editor or a web page."
    ),
    "round-up": "that function exists on the host only; for a rounded-up quotient write `(a + b - 1) / b`.",
    "device-functions": (
        "a kernel can only call functions of the device: put `__device__` before it if it is your own."
    ),
    "semicolon": "put a `;` where the statement before ends: the compiler notices only at the next one.",
    "no-empty-array": ("an array needs at least one element: look at the constant that its size is made of."),
    "meant": "did you mean `{name}` where it says `{written}`?",
}
