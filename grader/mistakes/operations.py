"""The mistakes that only a reduction, a scan, a histogram or a convolution can show."""

from __future__ import annotations

from grader.mistakes.texts import Mistake

REDUCTION_MISTAKES: dict[str, Mistake] = {
    "first-block-of-sum": Mistake(
        "the first block's part only",
        "`{output}` holds what the elements of the first block make, not those of all blocks",
        "let each thread begin at `blockIdx.x * blockDim.x + threadIdx.x`, and combine the parts of all "
        "blocks.",
        "grid",
    ),
    "parts-not-combined": Mistake(
        "parts not combined",
        "`{output}` holds the part of one block: each block has overwritten the part of another",
        "combine the parts of the blocks with `atomicAdd` (or its like), or in a second step.",
        "atomic",
    ),
    "first-warp-of-sum": Mistake(
        "one warp of each block only",
        "`{output}` counts only what the first warp of each block has",
        "combine the parts of all warps of a block, through shared memory, before one thread passes them on.",
        "reduction",
    ),
    "first-thread-of-sum": Mistake(
        "one thread of each block only",
        "`{output}` counts only what the first thread of each block has",
        "the other threads' elements must reach the first one: through shared memory or by shuffles.",
        "reduction",
    ),
    "last-step-missing": Mistake(
        "a step too few",
        "`{output}` lacks one step of the tree or of the doubling distances",
        "write down the distances that your loop goes through: halving ends with 1, and doubling goes on "
        "while the distance is below the size of the block.",
        "reduction",
    ),
    "first-round-only": Mistake(
        "one element for each thread",
        "`{output}` counts only the first element of each thread: there are more elements than threads",
        "let each thread go on in steps of the whole grid, `gridDim.x * blockDim.x`, until the input ends.",
        "coverage",
    ),
    "stride-of-one-block": Mistake(
        "steps of one block",
        "`{output}` counts elements again and again: each block goes on with those of the next",
        "go on in steps of the whole grid, `gridDim.x * blockDim.x`, not of one block.",
        "coverage",
    ),
    "shuffles-up": Mistake(
        "shuffles in the other direction",
        "`{output}` is what the first lane has where sums are passed on to higher lanes",
        "pass sums on to lower lanes, `__shfl_down_sync`, if the first lane is to have the sum.",
        "reduction",
    ),
    "counted-more-than-once": Mistake(
        "counted more than once",
        "`{output}` is too large: something is added more than once",
        "let one thread alone pass on what a block has, once, and let no element go to two threads.",
        "coverage",
    ),
    "tail-not-counted": Mistake(
        "last elements left out",
        "`{output}` lacks the last elements of the input, those that do not fill a block",
        "round the number of blocks up, and guard each element: `if (i < n)`.",
        "boundary",
    ),
}

SCAN_MISTAKES: dict[str, Mistake] = {
    "exclusive-scan": Mistake(
        "exclusive in place of inclusive",
        "`{output}` holds at each place the sum of the elements before it, without its own",
        "an inclusive scan counts the element itself: add it, or store one place earlier.",
        "scan",
    ),
    "inclusive-scan": Mistake(
        "inclusive in place of exclusive",
        "`{output}` holds at each place a sum that counts its own element",
        "an exclusive scan begins with 0 and leaves the element itself out.",
        "scan",
    ),
    "blocks-not-joined": Mistake(
        "each block by itself",
        "`{output}` begins anew in each block, or tile",
        "add to each element the sum of all blocks or tiles before its own: where one block goes from tile "
        "to tile, carry the last sum along.",
        "scan",
    ),
    "first-of-tile-left-out": Mistake(
        "a thread misses a step",
        "`{output}` lacks the first element of a tile where the distance just reaches it",
        "a thread whose place equals the distance takes part in the step: compare with `>=`.",
        "scan",
    ),
    "steps-read-the-input": Mistake(
        "steps do not build on each other",
        "`{output}` holds what one step alone makes: no step reads what the step before has stored",
        "read what the step before has stored: exchange the two buffers after each step.",
        "scan",
    ),
    "last-input-carried": Mistake(
        "an input carried on, not a sum",
        "`{output}` is what you get when a tile is given the last input of the tile before, not its last sum",
        "carry on the last sum of the tile: it is the sum of everything before the next one.",
        "scan",
    ),
    "one-block-joined": Mistake(
        "only the block before",
        "each block of `{output}` counts the block right before it, and none before that",
        "add the sum of all blocks before: scan the sums of the blocks, too.",
        "scan",
    ),
    "rows-run-on": Mistake(
        "rows that run on",
        "each row of `{output}` goes on adding where the row before it ended",
        "start the sum of every row at 0.",
        "scan",
    ),
    "scan-backwards": Mistake(
        "from the wrong end",
        "`{output}` adds up from the last element to the first",
        "the sum at a place counts the elements before it, not those after it.",
        "scan",
    ),
}

HISTOGRAM_MISTAKES: dict[str, Mistake] = {
    "values-not-counted": Mistake(
        "values left out",
        "no element of `{output}` is too large and some are too small: not every value was counted",
        "follow the first and the last value: whether some thread comes to each (in steps of the whole grid, "
        "where there are more values than threads), and which bin it falls into.",
        "grid",
    ),
    "first-bin-only": Mistake(
        "only the first bin",
        "only the first bin of `{output}` was passed on",
        "let the threads of a block together pass on every bin, not one thread its own.",
        "coverage",
    ),
    "adds-the-value": Mistake(
        "adds the value",
        "each bin of `{output}` holds the sum of its values, not how many they are",
        "add 1 for each value.",
        "operation",
    ),
    "another-rule-for-bins": Mistake(
        "bins computed by another rule",
        "`{output}` is what you get when the bin of a value is computed by another rule than the hand-out's",
        "work the bins of the smallest value, the largest and those at the edges out on paper: mind the "
        "order of multiplication and division, the number of values, and whether the type is signed.",
        "operation",
    ),
    "bins-beyond-threads": Mistake(
        "more bins than threads",
        "only the first bins of `{output}` are right, as many as a block has threads",
        "where each thread empties one bin or passes one on, let it go on in steps of `blockDim.x`: there "
        "may be more bins than threads.",
        "thread indices",
    ),
    "updates-lost": Mistake(
        "counts missing",
        "no element of `{output}` is too large and some are too small: updates get lost when threads count "
        "in the same place at once",
        "count with `atomicAdd`: `bins[i]++` is a load, an add and a store, and another thread may come "
        "between.",
        "atomic",
    ),
}

CONVOLUTION_MISTAKES: dict[str, Mistake] = {
    "filter-flipped": Mistake(
        "filter the other way round",
        "`{output}` is what you get when the filter is turned by half a turn",
        "compare the direction of the filter's indices with the definition in the hand-out: convolution "
        "turns the filter, correlation does not.",
        "operation",
    ),
    "filter-transposed": Mistake(
        "filter transposed",
        "`{output}` is what you get when the filter is read with rows and columns exchanged",
        "the filter's rows go with the rows of the image, its columns with the columns.",
        "row-major order",
    ),
    "filter-part-missing": Mistake(
        "a row or column of the filter missing",
        "`{output}` is what you get without the first or the last row (or column) of the filter",
        "look at where the loops over the filter begin and end: they go from `-radius` to `+radius`, both "
        "included.",
        "operation",
    ),
    "filter-not-centred": Mistake(
        "filter not centred",
        "`{output}` is what you get when the filter begins at the element rather than around it",
        "subtract the radius from row and column: the middle of the filter belongs on the element.",
        "operation",
    ),
    "halo-wrong": Mistake(
        "another rule at the border",
        "`{output}` is what you get when elements beyond the border of the image are taken to be others than "
        "the hand-out says (zeros, the nearest element, or those of the opposite side)",
        "look at what a thread uses where the row or the column lies outside the image.",
        "boundary",
    ),
    "halo-missing": Mistake(
        "halo not loaded",
        "`{output}` is what you get when each tile takes what lies beyond its own border to be 0",
        "load the halo as well: a tile needs the radius of the filter more on each side, from the "
        "neighbouring tiles.",
        "halo",
    ),
}

ELEMENTWISE_MISTAKES: dict[str, Mistake] = {
    "operand-twice": Mistake(
        "one operand twice",
        "`{output}` is what one of `{a}` and `{b}` gives with itself: the other one is never used",
        "use an element of `{a}` and one of `{b}`: look at which arrays are read.",
        "operation",
    ),
    "another-operator": Mistake(
        "another operator",
        "`{output}` is what `{a}` and `{b}` give with another operator",
        "compare the operator with the one in the hand-out.",
        "operation",
    ),
}

OPERATION_MISTAKES: dict[str, Mistake] = {
    **REDUCTION_MISTAKES,
    **SCAN_MISTAKES,
    **HISTOGRAM_MISTAKES,
    **CONVOLUTION_MISTAKES,
    **ELEMENTWISE_MISTAKES,
}
