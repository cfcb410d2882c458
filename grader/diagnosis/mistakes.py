"""The mistakes that have a name: what each is called, what it did, what to try, and the concept behind it.

Texts may hold ``{output}``, ``{a}``, ``{b}`` (names of arrays), ``{tile}`` (the name of the tile size) and,
for what findings tell, ``{array}``, ``{at}``, ``{other_at}`` (`` on line 18``) and ``{between}``. They hold
no number of a case: an explanation is also told of hidden cases.
"""

from __future__ import annotations

from grader.diagnosis.facts import Mistake
from grader.diagnosis.matmul_mistakes import MATMUL_MISTAKES

OUTPUT_MISTAKES: dict[str, Mistake] = {
    "no-store": Mistake(
        "nothing stored",
        "no element of `{output}` was ever written",
        "store the result, `{output}[…] = …`, and check that the guard around it lets any thread through.",
        "output",
    ),
    "adds-to-output": Mistake(
        "adds to what was there",
        "what is stored into `{output}` depends on what it held before the launch, or on another value that "
        "was never set",
        "store with `=` rather than `+=`, start every sum at 0, and fill a tile before it is read: memory is "
        "not cleared for you.",
        "initialisation",
    ),
    "all-zeros": Mistake(
        "all zeros",
        "every element of `{output}` is 0",
        "check that the loop runs at least once for this shape, and that its result is what gets stored.",
        "output",
    ),
    "output-transposed": Mistake(
        "output transposed",
        "`{output}` holds the right numbers, stored as if rows and columns were exchanged",
        "the element in row `row` and column `col` lies at `row * width + col`.",
        "row-major order",
    ),
    "output-leading-dimension": Mistake(
        "output with the wrong width",
        "`{output}` holds the right numbers in the wrong places: its rows were stored with the width of "
        "another matrix",
        "the distance between two rows of `{output}` is the number of columns of `{output}`.",
        "row-major order",
    ),
    "block-indices-swapped": Mistake(
        "block indices swapped",
        "the blocks cover `{output}` as if `blockIdx.x` and `blockIdx.y` were exchanged",
        "let `blockIdx.x` choose columns and `blockIdx.y` rows, as the grid of the launch does.",
        "grid",
    ),
    "constant-factor": Mistake(
        "a constant factor",
        "every element of `{output}` is the right one times the same factor",
        "look for something counted more than once, or for a division that is missing or one too many.",
        "arithmetic",
    ),
    "sign-flipped": Mistake(
        "sign flipped",
        "every element of `{output}` has the wrong sign",
        "look for a `-` where a `+` belongs.",
        "arithmetic",
    ),
    "constant-offset": Mistake(
        "a constant offset",
        "every element of `{output}` is off by the same amount",
        "look at the value that the sum starts with, and at what is added at the edges.",
        "initialisation",
    ),
    "half-precision": Mistake(
        "half precision",
        "the elements of `{output}` are close, but have only the digits of a 16-bit float",
        "keep inputs, products and sums in `float`.",
        "floating point",
    ),
    "imprecise": Mistake(
        "too imprecise",
        "the elements of `{output}` are close, but further off than arithmetic in `float` can explain",
        "keep inputs, products and sums in `float`, and add up with no more steps than there are terms.",
        "floating point",
    ),
    "integer-output": Mistake(
        "rounded to integers",
        "the elements of `{output}` are the right ones without their fractions",
        "keep every intermediate value in `float`: an `int` drops the fraction.",
        "types",
    ),
    "first-block-only": Mistake(
        "only the first block",
        "only the first tile of `{output}` is right",
        "add the block's own position, `blockIdx.x` and `blockIdx.y` times `{tile}`, to the thread's.",
        "grid",
    ),
    "some-blocks": Mistake(
        "only some blocks",
        "whole tiles of `{output}` are wrong while others are right",
        "look at how the block index enters the row and the column.",
        "grid",
    ),
    "edge-not-written": Mistake(
        "edge not written",
        "the last rows or columns of `{output}`, which do not fill a tile, were never written",
        "a thread may store where `row` and `col` are inside `{output}`, and only there: look at the guard.",
        "boundary",
    ),
    "store-unguarded": Mistake(
        "store without a guard",
        "only the first columns of `{output}` are wrong, where a store beyond the row before ends up",
        "let a thread store only where `row` and `col` are both inside `{output}`.",
        "boundary",
    ),
    "edge-wrong": Mistake(
        "edge wrong",
        "only the last rows or columns of `{output}`, which do not fill a tile, are wrong",
        "look at what threads beyond the edge load: 0 where the matrix has ended.",
        "boundary",
    ),
    "partly-unwritten": Mistake(
        "partly unwritten",
        "all that was stored in `{output}` is right, but not every element was written",
        "check that threads and blocks together reach every element, and that the guard excludes none.",
        "coverage",
    ),
}
"""What an output shows, whatever the operation."""

FINDING_MISTAKES: dict[str, Mistake] = {
    "barrier-before-reading": Mistake(
        "missing barrier before reading",
        "a thread reads {array}{at} while another is still writing there{other_at}",
        "put `__syncthreads()` {between}.",
        "barrier",
    ),
    "barrier-before-overwriting": Mistake(
        "missing barrier before overwriting",
        "a thread overwrites {array}{at} for the next iteration of the loop while another is still "
        "reading there{other_at}",
        "put a second `__syncthreads()` at the end of the loop body, after the last read{other_at}: all must "
        "have read before the next iteration of the loop overwrites the tile{at}.",
        "barrier",
    ),
    "barrier-between": Mistake(
        "missing barrier",
        "a thread overwrites {array}{at} while another is still reading there{other_at}",
        "put `__syncthreads()` {between}.",
        "barrier",
    ),
    "two-writers": Mistake(
        "two writers",
        "two threads store to the same element of {array}{at}, and nothing says who comes last",
        "let each thread store to elements of its own, or use an atomic operation.",
        "race",
    ),
    "unsynchronised-update": Mistake(
        "unsynchronised update",
        "threads read and store the same element of {array}{at} without waiting for each other",
        "let each thread update elements of its own, or use an atomic operation such as `atomicAdd`.",
        "race",
    ),
    "race-between-blocks": Mistake(
        "race between blocks",
        "threads of different blocks use the same element of {array}{at} and at least one stores there",
        "`__syncthreads()` does not wait for other blocks: give each block elements of its own, use an "
        "atomic operation, or split the kernel in two.",
        "race",
    ),
    "race-inside-warp": Mistake(
        "race inside a warp",
        "two threads of one warp use the same element of {array}{at} and count on running in step",
        "threads of a warp need not run in step: put `__syncwarp()` {between}.",
        "warp",
    ),
    "barrier-divergence": Mistake(
        "barrier not reached by all",
        "some threads of a block wait at `__syncthreads()`{at} and the others never get there",
        "move `__syncthreads()`{at} out of the `if` or the loop that not all threads of the block take, and "
        "let no thread `return` before it.",
        "barrier",
    ),
    "load-out-of-bounds": Mistake(
        "load out of bounds",
        "a thread reads outside {array}{at}",
        "guard the load: read only where every index is inside the array (`&&`, `<`), use 0 elsewhere, and "
        "check that a row is taken to be as long as it is in this array.",
        "boundary",
    ),
    "store-out-of-bounds": Mistake(
        "store out of bounds",
        "a thread writes outside {array}{at}",
        "guard the store: write only where every index is inside the array (`&&`, `<`), and check that a row "
        "is taken to be as long as it is in this array.",
        "boundary",
    ),
    "access-out-of-bounds": Mistake(
        "access out of bounds",
        "a thread goes outside {array}{at}",
        "compare every index with the size of its array before using it.",
        "boundary",
    ),
    "misaligned-access": Mistake(
        "misaligned access",
        "a thread uses {array} at an address that does not fit its type{at}",
        "an address must be a multiple of the size of what is read there: look at casts to wider types.",
        "alignment",
    ),
    "uninitialised-read": Mistake(
        "value never set",
        "a thread reads {array}{at} before anything was stored there",
        "set it first: start sums at 0, and fill every element of a tile, also beyond the edge.",
        "initialisation",
    ),
    "endless": Mistake(
        "endless",
        "the kernel does not come to an end",
        "look at the loops around{around}: whether each condition can become false, whether each step leads "
        "there, and whether one waits for another thread.",
        "loops",
    ),
    "launch-too-large": Mistake(
        "too large to be launched",
        "a device refuses to launch the kernel",
        "choose a smaller {constants}: a block may have at most 1024 threads (32 × 32), and at most 64 "
        "along z.",
        "launch",
    ),
    "launch-too-small": Mistake(
        "too small to be launched",
        "a device refuses to launch the kernel",
        "choose values of at least 1 for {constants}: block and grid are computed from it.",
        "launch",
    ),
    "launch-shared-memory": Mistake(
        "too much shared memory",
        "a device refuses to launch the kernel",
        "use smaller or fewer `__shared__` arrays: a block may use at most 48 KiB.",
        "launch",
    ),
    "fault": Mistake(
        "stopped with a fault",
        "the kernel stopped with a fault{at}",
        "look at pointers and at what may call `trap` or fail an `assert`.",
        "fault",
    ),
}
"""What findings show."""

MISTAKES: dict[str, Mistake] = {**OUTPUT_MISTAKES, **MATMUL_MISTAKES, **FINDING_MISTAKES}
"""All of them, by id."""
