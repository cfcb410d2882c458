"""What is said of right numbers in wrong places, and of threads that did nothing."""

from __future__ import annotations

from grader.mistakes.texts import Mistake

PLACE_MISTAKES: dict[str, Mistake] = {
    "index-formula": Mistake(
        "index of a thread",
        "what was stored in `{output}` is right, but the threads do not get to every element: the index is "
        "made of the block's and the thread's place by another formula",
        "a thread's index along x is `blockIdx.x * blockDim.x + threadIdx.x`, and likewise along y: look at "
        "each of its three parts.",
        "thread indices",
    ),
    "first-element-left-out": Mistake(
        "first element left out",
        "all of `{output}` is right but its first element, which nobody stored",
        "the first element has the index 0: look at where your indices begin.",
        "thread indices",
    ),
    "last-element-left-out": Mistake(
        "last element left out",
        "all of `{output}` is right but its last element, which nobody stored",
        "the last element has the index `n - 1`, which is below `n`: look at the bound in the guard.",
        "boundary",
    ),
    "part-of-each-tile": Mistake(
        "part of each tile",
        "of each tile of `{output}` only as much is right as the block has threads along one side",
        "the tile is larger than the block: let each thread go on, in steps of the block, until all of the "
        "tile is loaded, and all of it stored.",
        "coverage",
    ),
    "tiles-stay": Mistake(
        "tiles in their old places",
        "each tile of `{output}` is turned inside, but lies where it came from",
        "exchange `blockIdx.x` and `blockIdx.y` where the tile is stored: the tile in row r and column c "
        "goes to row c and column r.",
        "grid",
    ),
    "first-tile-of-rows": Mistake(
        "first tile of each row",
        "each row of `{output}` is right as far as a block reaches, and wrong from there on",
        "let the block go on along the row, tile by tile, until it has come to the end.",
        "coverage",
    ),
    "output-shifted": Mistake(
        "off by one",
        "the elements of `{output}` are the right ones, one place too early or too late",
        "compare the index that you store with the one that you read: one of them has a 1 too many, or wants "
        "one.",
        "thread indices",
    ),
    "output-reversed": Mistake(
        "in the opposite order",
        "`{output}` holds the right numbers from the last to the first",
        "look for an index that counts down: `n - 1 - i`.",
        "thread indices",
    ),
    "input-copied": Mistake(
        "an input, unchanged",
        "`{output}` holds just what one of the inputs holds",
        "look at what is stored: the result of the computation, at its own place, not the element that was "
        "read.",
        "operation",
    ),
    "tiles-turned": Mistake(
        "tiles not transposed inside",
        "each tile of `{output}` is in its place, but has its rows and columns exchanged inside",
        "exchange `threadIdx.x` and `threadIdx.y` once: either where the tile is stored into shared memory "
        "or where it is read from there.",
        "shared memory",
    ),
    "first-row-only": Mistake(
        "only the first row",
        "only the first row of `{output}` was written, and it is right",
        "let the row enter every index, of what is read and of what is stored: an element lies at the row "
        "times the length of a row, plus the column.",
        "row-major order",
    ),
    "first-warp-only": Mistake(
        "only one warp",
        "only what the first warp of each block stores into `{output}` is right",
        "look at what the other warps of a block do: a warp has 32 threads, and a block as many warps as it "
        "was launched with.",
        "warp",
    ),
    "first-thread-only": Mistake(
        "only one thread of a block",
        "only what the first thread of each block stores into `{output}` is right",
        "let `threadIdx.x` enter the index, and look for an `if (threadIdx.x == 0)` around too much.",
        "thread indices",
    ),
    "every-second": Mistake(
        "every second element",
        "every second element of `{output}` is right and every other one is wrong",
        "look for an index or a step of a loop with a factor of 2.",
        "thread indices",
    ),
    "integer-overflow": Mistake(
        "number too large for its type",
        "the elements of `{output}` are the right ones as far as a smaller integer type can hold them",
        "use a type that holds the largest sum or count: an `unsigned char` ends at 255.",
        "types",
    ),
}
