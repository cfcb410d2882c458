"""What findings show: races, bad accesses, launches that are refused."""

from __future__ import annotations

from grader.mistakes.texts import Mistake

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
    "barrier-between-stores": Mistake(
        "missing barrier between stores",
        "a thread stores to {array}{at} although another may not have stored there yet{other_at}",
        "let each thread store to elements of its own; or if the later store is to replace the earlier one, "
        "put `__syncthreads()` {between}.",
        "barrier",
    ),
    "update-in-place": Mistake(
        "update in place",
        "a thread reads an element of {array}{at} that another one is changing",
        "read into a variable, wait at `__syncthreads()`, store, and wait again; or read from one array and "
        "store to another.",
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
    "lanes-and-mask": Mistake(
        "lanes and mask differ",
        "the lanes of a warp that do this together{at} are not those that its mask names",
        "a shuffle, vote or `__syncwarp`{at} must be executed by exactly the lanes that its mask names. With "
        "the mask `0xffffffff` these are all 32: take it out of an `if` or a loop that some of them skip.",
        "warp",
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
    "load-beyond-vector": Mistake(
        "load beyond the end",
        "a thread reads outside {array}{at}",
        "guard the load: read only where the index is inside the array (`i < n`), and use 0 elsewhere.",
        "boundary",
    ),
    "store-beyond-vector": Mistake(
        "store beyond the end",
        "a thread writes outside {array}{at}",
        "guard the store: write only where the index is inside the array (`i < n`).",
        "boundary",
    ),
    "load-beyond-own-array": Mistake(
        "beyond an array of the kernel's own",
        "a thread reads outside {array}{at}",
        "compare the size in the declaration of {array} with the largest index that a thread uses there: a "
        "halo, or a tile that is loaded in several steps, needs more elements than the block has threads, "
        "and an `extern` array has what the launch gives it.",
        "shared memory",
    ),
    "store-beyond-own-array": Mistake(
        "beyond an array of the kernel's own",
        "a thread writes outside {array}{at}",
        "compare the size in the declaration of {array} with the largest index that a thread uses there: a "
        "halo, or a tile that is loaded in several steps, needs more elements than the block has threads, "
        "and an `extern` array has what the launch gives it.",
        "shared memory",
    ),
    "shared-arrays-overlap": Mistake(
        "several names of one shared memory",
        "{array}{at} begin at the same address: a block has one dynamic shared memory, and every "
        "`extern __shared__` array is another name of its beginning",
        "declare one `extern __shared__` array, and take the next one as a pointer behind its last element: "
        "`float *second = first + count;`.",
        "shared memory",
    ),
    "loop-stepped-twice": Mistake(
        "loop variable changed twice",
        "the loop changes {array} twice in each round: in its header{other_at} and in its body{at}",
        "leave one of the two: where {array} is to double or to halve, write that in the header of the loop "
        "(`stride *= 2`), and take it out of the body.",
        "loops",
    ),
    "sizes-exchanged": Mistake(
        "sizes exchanged",
        "a thread goes outside {array}{at}",
        "take the sizes in the order of the hand-out first: guards that compare with the wrong one keep "
        "nobody out.",
        "boundary",
    ),
    "row-length-of-load": Mistake(
        "rows of another length",
        "a thread reads outside {array}{at}",
        "look at the length of a row first: the element in row `r` and column `c` of {array} lies at "
        "`r * columns + c`, with the columns of that very array. Where a guard is missing as well, read only "
        "what is inside, and use 0 elsewhere.",
        "row-major order",
    ),
    "row-length-of-store": Mistake(
        "rows of another length",
        "a thread writes outside {array}{at}",
        "look at the length of a row first: the element in row `r` and column `c` of {array} lies at "
        "`r * columns + c`, with the columns of that very array. Where a guard is missing as well, write "
        "only what is inside.",
        "row-major order",
    ),
    "guard-exchanged": Mistake(
        "bounds of the guard exchanged",
        "threads beyond the edge of {array} go past the guard{at}",
        "look at the bounds in the guard around{around}: the row has to be below the number of rows, and the "
        "column below the number of columns.",
        "boundary",
    ),
    "store-into-next-row": Mistake(
        "store into the next row",
        "a store beyond the end of a row of {array}{at} lands in the next one, which has an owner",
        "look at the guard of the store{at} first: a thread may store where its row and its column are both "
        "inside {array}, and a row must be taken to be as long as it is there.",
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
    "local-without-value": Mistake(
        "variable without a value",
        "a thread uses a local variable{at} that was never given a value",
        "give it one where it is declared, such as `float sum = 0.0f;`.",
        "initialisation",
    ),
    "stack-overflow": Mistake(
        "calls without end",
        "a function calls itself{at} until the thread's stack is full",
        "give the recursion an end that every call comes to, or write it as a loop.",
        "loops",
    ),
    "uninitialised-read": Mistake(
        "value never set",
        "a thread reads {array}{at} before anything was stored there",
        "give {array} a value before it is read: start sums at 0, and fill every element of a tile, also "
        "beyond the edge.",
        "initialisation",
    ),
    "endless": Mistake(
        "endless",
        "the kernel does not come to an end",
        "look at the loops around{around}: whether each condition can become false, whether each step leads "
        "there, whether one waits for another thread, and whether a few threads do the work of all.",
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
    "constant-not-allowed": Mistake(
        "constant not allowed",
        "the value of {constants} is none that the assignment allows",
        "choose another value for {constants}: the hand-out says which ones the kernel may count on.",
        "launch",
    ),
    "launch-shared-memory": Mistake(
        "too much shared memory",
        "a device refuses to launch the kernel",
        "use smaller or fewer `__shared__` arrays: a block may use at most 48 KiB.",
        "launch",
    ),
    "written-by-hand": Mistake(
        "instruction written by hand",
        "the kernel uses an instruction{at} that the grader does not run",
        "use CUDA C++ instead of `asm` or a built-in function of the compiler{at}: all that nvcc makes of "
        "C++ is run, of what is written by hand only the common part.",
        "instructions",
    ),
    "texture-fetch": Mistake(
        "texture or surface",
        "the kernel reads or writes a texture or a surface{at}, and is given none",
        "read and write the arrays that the kernel is given by their subscripts{at}, instead of calling "
        "`tex2D` or a function like it: the host makes textures and surfaces, and the hand-out has none.",
        "interface",
    ),
    "fault": Mistake(
        "stopped with a fault",
        "the kernel stopped with a fault{at}",
        "look at pointers and at what may call `trap` or fail an `assert`.",
        "fault",
    ),
    "program-endless": Mistake(
        "program without an end",
        "the program does not come to an end",
        "look at its loops: whether each condition can become false, and whether the program waits for input "
        "that nobody gives.",
        "loops",
    ),
    "program-memory": Mistake(
        "too much memory",
        "the program takes more memory than it may",
        "look at what is allocated, and how often: in a loop, or in a function that calls itself.",
        "loops",
    ),
    "program-flood": Mistake(
        "too much output",
        "the program prints or writes more than it may",
        "look at the loops that print or write: whether their conditions can become false, and whether they "
        "do so only where something is asked for.",
        "loops",
    ),
    "program-crash": Mistake(
        "the program crashed",
        "host code of the program did something that ends it",
        "look at pointers and indices of the host code: whether memory is there before it is used, whether "
        "each index stays inside its array, and what the functions called return where they fail.",
        "loops",
    ),
}
"""What findings show."""
