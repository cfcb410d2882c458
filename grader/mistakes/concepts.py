"""Where to read about the ideas behind mistakes, and the phrases that texts are put together with."""

from __future__ import annotations

_GUIDE = "in the CUDA C++ Programming Guide"

CONCEPTS: dict[str, str] = {
    "accumulation": "“Shared Memory”, with its worked matrix product, " + _GUIDE,
    "alignment": "“Device Memory Accesses”, on size and alignment, " + _GUIDE,
    "arithmetic": "",
    "atomic": "“Atomic Functions” " + _GUIDE,
    "barrier": "“Synchronization Functions” " + _GUIDE,
    "boundary": "“Thread Hierarchy”, on grids larger than the data, " + _GUIDE,
    "coverage": "“Thread Hierarchy” " + _GUIDE,
    "fault": "“Assertion” " + _GUIDE,
    "floating point": "“Floating-Point Standard” " + _GUIDE,
    "grid": "“Thread Hierarchy”, on blocks and their indices, " + _GUIDE,
    "halo": "“Shared Memory” " + _GUIDE,
    "initialisation": "“Variable Memory Space Specifiers” " + _GUIDE,
    "instructions": "",
    "interface": "the signature of the kernel in the hand-out",
    "launch": "“Execution Configuration” " + _GUIDE,
    "loops": "",
    "matrix product": "the definition of the operation in the hand-out",
    "operation": "the definition of the operation in the hand-out",
    "output": "“Kernels” " + _GUIDE,
    "race": "“Atomic Functions” and “Memory Fence Functions” " + _GUIDE,
    "reduction": "“Warp Shuffle Functions”, with its reduction, " + _GUIDE,
    "row-major order": "“Shared Memory”, on the stride of a matrix, " + _GUIDE,
    "scan": "“Warp Shuffle Functions”, with its scan, " + _GUIDE,
    "shared memory": "“Shared Memory” " + _GUIDE,
    "thread indices": "“Built-in Variables” and “Thread Hierarchy” " + _GUIDE,
    "tiling": "“Shared Memory”, with its worked matrix product, " + _GUIDE,
    "types": "",
    "warp": "“SIMT Architecture” " + _GUIDE,
}
"""The idea behind a mistake → where to read about it; empty where no text says more than the hint."""

PHRASES: dict[str, str] = {
    "at-line": " on line {lines}",
    "at-lines": " on lines {lines}",
    "around-line": " line {lines}",
    "around-lines": " lines {lines}",
    "around-nothing": " the last line that ran",
    "and": " and ",
    "memory": "memory",
    "the-block": "the block",
    "the-input": "the input",
    "the-tile": "the tile size",
    "between-accesses": "between the two accesses",
    "between-accesses-on": "between the two accesses on line {line}",
    "between-lines": "between lines {first} and {second}",
    "after-line": "after line {first}, before the loop comes back to line {second}",
    "read": "To read: {concept}.",
}
"""What fills the places of texts, and the sentence that points to a concept."""
