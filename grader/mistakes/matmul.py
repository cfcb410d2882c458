"""The mistakes that only a matrix product can show."""

from __future__ import annotations

from grader.mistakes.texts import Mistake

MATMUL_MISTAKES: dict[str, Mistake] = {
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
    "both-leading-dimensions": Mistake(
        "both operands with the wrong width",
        "`{output}` is what you get when the rows of `{a}` and of `{b}` are taken to be of another length",
        "the element in row `r` and column `c` of a matrix lies at `r * columns + c`, with the columns of "
        "that very matrix: those of `{a}` in `{a}`, those of `{b}` in `{b}`.",
        "row-major order",
    ),
    "tile-loop-bound": Mistake(
        "loop bounded by another size",
        "`{output}` holds sums over as many terms as another size of the matrices says",
        "the sum runs over the columns of `{a}`, which are the rows of `{b}`: bound the loop by that size.",
        "loops",
    ),
    "tile-index-missing": Mistake(
        "the same tile again and again",
        "`{output}` holds the product of the first tiles, as many times as there are tiles",
        "let the number of the phase enter what is loaded: the column in `{a}` and the row in `{b}`.",
        "tiling",
    ),
    "sum-for-product": Mistake(
        "sum in place of product",
        "`{output}` holds sums of elements of `{a}` and `{b}` where products are to be added up",
        "multiply the two elements, then add the product to the sum.",
        "matrix product",
    ),
    "sum-not-reset": Mistake(
        "sum not set back",
        "each element of `{output}` holds the sums of those before it as well",
        "set the sum to 0 before the loop over the terms of each element, not once for all of them.",
        "initialisation",
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
    "tile-transposed": Mistake(
        "tile read transposed",
        "`{output}` is what you get when one of the tiles is read with rows and columns exchanged",
        "read along a row of the tile of `{a}` and down a column of the tile of `{b}`, as they were stored.",
        "shared memory",
    ),
    "integer-inputs": Mistake(
        "inputs rounded to integers",
        "`{output}` is what you get when the inputs or the products lose their fractions",
        "declare tiles and sums as `float`: an `int` drops the fraction.",
        "types",
    ),
}
