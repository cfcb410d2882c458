"""What a wrong output shows, whatever the operation: what was stored, where, and how far off it is."""

from __future__ import annotations

from grader.mistakes.texts import Mistake

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
    "input-changed": Mistake(
        "an input was changed",
        "the kernel writes into `{output}`, which is an input",
        "store into the output only: declare what is read as a pointer to `const`, and the compiler finds "
        "the line.",
        "interface",
    ),
    "all-zeros": Mistake(
        "all zeros",
        "every element of `{output}` is 0",
        "check that the loop runs at least once for this shape, that what it computes with is not 0 (a "
        "`__constant__` array that nobody fills is), and that its result is what gets stored.",
        "output",
    ),
    "all-the-same": Mistake(
        "the same everywhere",
        "every element of `{output}` is one and the same number",
        "what is stored must depend on the place: let the thread's own indices decide what it reads and "
        "where it stores, and compute with the inputs that are given.",
        "thread indices",
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
    "guard-bounds-swapped": Mistake(
        "bounds of the guard exchanged",
        "`{output}` was stored only where the row is less than the number of columns and the column less "
        "than the number of rows",
        "exchange the bounds in the guard: compare the row with the number of rows of `{output}`, and the "
        "column with its number of columns.",
        "boundary",
    ),
    "rows-and-columns-swapped": Mistake(
        "rows and columns exchanged",
        "`{output}` was stored only where an array with rows and columns exchanged would have an element",
        "compare the row with the number of rows in the guard, the column with the number of columns, and "
        "let `blockIdx.y` choose the row and `blockIdx.x` the column.",
        "boundary",
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
    "first-block-of-vector": Mistake(
        "only the first block",
        "only what the first block stores into `{output}` is right",
        "add the block's own position, `blockIdx.x * blockDim.x`, to the thread's.",
        "grid",
    ),
    "some-blocks-of-vector": Mistake(
        "only some blocks",
        "what whole blocks store into `{output}` is wrong while the rest is right",
        "look at how `blockIdx.x` enters the index.",
        "grid",
    ),
    "tail-not-written": Mistake(
        "end not written",
        "the last elements of `{output}`, which do not fill a block, were never written",
        "round the number of blocks up, and let a thread store where its index is below the length of "
        "`{output}`, and only there.",
        "boundary",
    ),
    "tail-wrong": Mistake(
        "end wrong",
        "only the last elements of `{output}`, which do not fill a block, are wrong",
        "look at what threads beyond the end load, and at what they add: there is no element for them.",
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
