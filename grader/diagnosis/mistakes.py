"""The mistakes that have a name: what each is called, what it did, what to try, and the concept behind it.

Texts may hold ``{output}``, ``{a}``, ``{b}`` (names of arrays), ``{tile}`` (the name of the tile size) and,
for what findings tell, ``{array}``, ``{at}``, ``{other_at}`` (`` on line 18``) and ``{between}``. They hold no
number of a case: an explanation is also told of hidden cases.
"""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """One row of the table."""

    title: str
    explanation: str
    hint: str
    concept: str


MISTAKES: dict[str, Mistake] = {
    # --- what an output shows, whatever the operation ------------------------------------------------
    "no-store": Mistake(
        "nothing stored",
        "no element of `{output}` was ever written",
        "store the result, `{output}[…] = …`, and check that the guard around it lets any thread through.",
        "output",
    ),
    "adds-to-output": Mistake(
        "adds to what was there",
        "every element of `{output}` holds what it held before the launch plus something, or depends on "
        "another value that was never set",
        "store with `=` rather than `+=`, and start every sum at 0: memory is not cleared for you.",
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
        "`{output}` holds the right numbers in the wrong places: its rows were stored with another matrix's width",
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
    # --- matrix multiplication -----------------------------------------------------------------------
    "a-transposed": Mistake(
        "first operand transposed",
        "`{output}` is what you get when `{a}` is read with rows and columns exchanged",
        "the element of `{a}` in row `row` and column `k` lies at `row * (columns of {a}) + k`.",
        "row-major order",
    ),
    "b-transposed": Mistake(
        "second operand transposed",
        "`{output}` is what you get when `{b}` is read with rows and columns exchanged",
        "the element of `{b}` in row `k` and column `col` lies at `k * (columns of {b}) + col`.",
        "row-major order",
    ),
    "both-transposed": Mistake(
        "both operands transposed",
        "`{output}` is what you get when both `{a}` and `{b}` are read with rows and columns exchanged",
        "matrices are stored row by row: element (i, j) lies at `i * columns + j`.",
        "row-major order",
    ),
    "a-leading-dimension": Mistake(
        "first operand with the wrong width",
        "`{output}` is what you get when the rows of `{a}` are taken to be as wide as another matrix's",
        "index `{a}` with its own number of columns: `{a}[row * (columns of {a}) + k]`.",
        "row-major order",
    ),
    "b-leading-dimension": Mistake(
        "second operand with the wrong width",
        "`{output}` is what you get when the rows of `{b}` are taken to be as wide as another matrix's",
        "index `{b}` with its own number of columns: `{b}[k * (columns of {b}) + col]`.",
        "row-major order",
    ),
    "parameter-order": Mistake(
        "sizes in another order",
        "`{output}` is what you get when the kernel takes its sizes in another order than they are passed",
        "compare the order of the size parameters with the one in the assignment.",
        "interface",
    ),
    "operands-swapped": Mistake(
        "operands swapped",
        "`{output}` is the product `{b}` · `{a}` rather than `{a}` · `{b}`",
        "take rows from `{a}` and columns from `{b}`.",
        "matrix product",
    ),
    "elementwise-product": Mistake(
        "element by element",
        "`{output}` is the product of `{a}` and `{b}` element by element",
        "an element of a matrix product is a sum over a whole row of `{a}` and column of `{b}`.",
        "matrix product",
    ),
    "last-tile-dropped": Mistake(
        "last tile dropped",
        "`{output}` lacks the last tile of the sum",
        "let the tile loop run as often as `{tile}` fits into the inner dimension, rounded up: "
        "`(n + {tile} - 1) / {tile}`.",
        "tiling",
    ),
    "first-tile-only": Mistake(
        "first tile only",
        "`{output}` holds the sum over the first tile only",
        "loop over all tiles along the inner dimension before storing.",
        "tiling",
    ),
    "not-accumulated": Mistake(
        "not accumulated",
        "`{output}` holds only the last part of the sum",
        "add with `+=`, and set the sum to 0 once, before the loop over tiles.",
        "accumulation",
    ),
    "inner-loop-short": Mistake(
        "inner loop too short",
        "`{output}` lacks a term of the sum (in each tile, or at its start or end)",
        "let the inner loop run over every `k` from 0 while it is below its limit.",
        "loops",
    ),
    "stale-tile": Mistake(
        "stale tile",
        "`{output}` counts values twice that the last, partial tile left over from the tile before",
        "where a thread is beyond the edge it must store 0 into the tile, not skip the store.",
        "boundary",
    ),
    "padded-with-ones": Mistake(
        "padded with ones",
        "`{output}` is too large by what a tile padded with 1 rather than 0 adds",
        "fill the part of a tile beyond the edge with 0, which adds nothing to a sum.",
        "boundary",
    ),
    "thread-indices-swapped": Mistake(
        "row and column swapped",
        "`{output}` is what you get when `row` is made of `threadIdx.x` and `col` of `threadIdx.y` while the "
        "tiles are loaded the other way round",
        "use `threadIdx.y` for rows and `threadIdx.x` for columns, in the loads as in the store.",
        "thread indices",
    ),
    "integer-inputs": Mistake(
        "inputs rounded to integers",
        "`{output}` is what you get when the inputs or the products lose their fractions",
        "declare tiles and sums as `float`: an `int` drops the fraction.",
        "types",
    ),
    # --- what findings show --------------------------------------------------------------------------
    "barrier-before-reading": Mistake(
        "missing barrier before reading",
        "a thread reads {array}{at} while another is still writing it{other_at}",
        "put `__syncthreads()` {between}.",
        "barrier",
    ),
    "barrier-before-overwriting": Mistake(
        "missing barrier before overwriting",
        "a thread overwrites {array}{at} for the next iteration of the loop while another is still reading "
        "it{other_at}",
        "put a second `__syncthreads()` at the end of the loop body, after the last read{other_at}: all must "
        "have read before the next iteration of the loop overwrites the tile{at}.",
        "barrier",
    ),
    "barrier-between": Mistake(
        "missing barrier",
        "a thread overwrites {array}{at} while another is still reading it{other_at}",
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
        "`__syncthreads()` does not wait for other blocks: give each block elements of its own, use an atomic "
        "operation, or split the kernel in two.",
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
        "move `__syncthreads()` out of the `if` or the loop that not all threads of the block take.",
        "barrier",
    ),
    "load-out-of-bounds": Mistake(
        "load out of bounds",
        "a thread reads outside {array}{at}",
        "guard the load: read only where row and column are both inside the matrix (`&&`, `<`), and use 0 "
        "elsewhere.",
        "boundary",
    ),
    "store-out-of-bounds": Mistake(
        "store out of bounds",
        "a thread writes outside {array}{at}",
        "guard the store: write only where row and column are both inside the matrix (`&&`, `<`).",
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
        "look at the loop's condition and step{at}, and at any loop that waits for another thread.",
        "loops",
    ),
    "fault": Mistake(
        "stopped with a fault",
        "the kernel stopped with a fault{at}",
        "look at pointers and at what may call `trap` or fail an `assert`.",
        "fault",
    ),
}
