"""Examples of the kernel library: cooperative groups, calls by address, flags, copies, tensor cores."""

from __future__ import annotations

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, integers, zeros


def groups_reduce() -> Example:
    """Tiles of 32 and of 8, and the library's own reductions."""
    values = integers(-1000, 1000, 500)
    blocks = np.zeros(512, np.int32)
    blocks[:500] = values
    sums = blocks.reshape(4, 128).sum(axis=1).astype(np.int32)
    tiles = blocks.reshape(64, 8)
    greatest = tiles.max(axis=1)
    ballots = ((tiles == greatest[:, None]) * (1 << np.arange(8))).sum(axis=1).astype(np.uint32)
    out = (sums, greatest, ballots)
    arguments = (values, *(zeros(each) for each in out), np.int32(500))
    return Example(arguments, (1, 2, 3), out, (4, 1, 1), (128, 1, 1))


def groups_scan() -> Example:
    """Inclusive and exclusive."""
    values = draw().integers(0, 1 << 30, 192).astype(np.uint32)
    inclusive = np.cumsum(values.reshape(-1, 16), axis=1, dtype=np.uint32).reshape(-1)
    exclusive = inclusive - values
    out = (inclusive, exclusive)
    return Example((values, zeros(values), zeros(values)), (1, 2), out, (2, 1, 1), (96, 1, 1))


def groups_coalesced() -> Example:
    """The threads of each side of a branch; the order is that of the warps."""
    values = integers(1, 1000, 300)
    even, odd = np.zeros(300, np.int32), np.zeros(300, np.int32)
    chosen = values[values % 2 == 0], values[values % 2 == 1]
    even[: len(chosen[0])], odd[: len(chosen[1])] = chosen
    counts = np.array([len(chosen[0]), len(chosen[1])], np.int32)
    out = (even, odd, counts)
    arguments = (values, *(zeros(each) for each in out), np.int32(300))
    return Example(arguments, (1, 2, 3), out, (2, 1, 1), (64, 1, 1), updated=(3,), unordered=(1, 2))


def groups_partition() -> Example:
    """Groups that are known only at run time."""
    labels = integers(0, 4, 128)
    sizes, ranks = zeros(labels), zeros(labels)
    for start in range(0, 128, 32):
        warp = labels[start : start + 32]
        for lane, label in enumerate(warp):
            sizes[start + lane] = (warp == label).sum()
            ranks[start + lane] = (warp[:lane] == label).sum()
    ranks += 100 * ranks[np.arange(128) ^ 1]
    return Example((labels, zeros(sizes), zeros(ranks)), (1, 2), (sizes, ranks), (2, 1, 1), (64, 1, 1))


def libcu_atomics() -> Example:
    """Relaxed counters, and a maximum by compare and exchange."""
    values = floats(250)
    blocks = np.zeros(256, np.float32)
    blocks[:250] = values
    counts = (blocks.reshape(4, 64) > 0).sum(axis=1).astype(np.uint32)
    out = (np.array([values.max()]), counts, np.array([sum(range(250))], np.uint32))
    arguments = (values, np.full(1, -3, np.float32), zeros(counts), zeros(out[2]), np.int32(250))
    return Example(arguments, (1, 2, 3), out, (4, 1, 1), (64, 1, 1), updated=(1, 3))


def function_pointers() -> Example:
    """Calls through a table; every operation is a single rounding."""
    which, a, b = integers(0, 4, 150), floats(150), floats(150, 8)
    operations = (np.add, np.subtract, np.maximum, np.multiply)
    out = np.zeros((150, 2), np.float32)
    for i in range(150):
        operation = operations[which[i]]
        once = operation(a[i], b[i])
        out[i] = once, operation(once, b[i])
    arguments = (which, a, b, zeros(out), np.int32(150))
    return Example(arguments, (3,), (out,), (3, 1, 1), (64, 1, 1))


def virtual_shapes() -> Example:
    """Calls through tables of functions that the compiler made."""
    sizes, kinds = floats(90), integers(0, 2, 90)
    areas = np.where(kinds, sizes * np.float32(2), np.float32(3) * sizes * sizes).astype(np.float32)
    corners = np.where(kinds, 4, 0).astype(np.int32)
    arguments = (sizes, kinds, zeros(areas), zeros(corners), np.int32(90))
    return Example(arguments, (2, 3), (areas, corners), (2, 1, 1), (64, 1, 1))


def device_heap() -> Example:
    """`malloc` and `free` in a kernel."""
    values = integers(0, 1000, 40 * 5).reshape(40, 5)
    out = values[:, ::-1].copy()
    arguments = (values, zeros(out), np.int32(5), np.int32(40))
    return Example(arguments, (1,), (out,), (2, 1, 1), (32, 1, 1))


def reduce_last_block() -> Example:
    """A fence, a ticket, and the last block; whole numbers, so that every order is exact."""
    values = integers(-50, 50, 1000).astype(np.float32)
    blocks = np.zeros(1024, np.float32)
    blocks[:1000] = values
    parts = blocks.reshape(8, 128).sum(axis=1)
    total = np.array([values.sum()])
    arguments = (values, zeros(parts), zeros(total), np.int32(1000))
    return Example(arguments, (1, 2), (parts, total), (8, 1, 1), (128, 1, 1))


def scan_chained() -> Example:
    """Blocks that wait for each other."""
    values = integers(-100, 100, 400)
    out = np.cumsum(values, dtype=np.int32)
    padded = np.zeros(448, np.int32)
    padded[:400] = values
    sums = np.cumsum(padded.reshape(7, 64).sum(axis=1), dtype=np.int32)
    flags, tickets = np.ones(7, np.int32), np.array([7], np.int32)
    arguments = (values, zeros(out), zeros(sums), zeros(flags), zeros(tickets), np.int32(400))
    expected = (out, sums, flags, tickets)
    return Example(arguments, (1, 2, 3, 4), expected, (7, 1, 1), (64, 1, 1), updated=(3, 4))


def spin_lock() -> Example:
    """A critical section."""
    values = integers(-1000, 1000, 190)
    padded = np.full(192, -(2**31) + 1, np.int64)
    padded[:190] = values
    best = padded.reshape(6, 32).max(axis=1)
    state = np.array([best.max(), best.sum()], np.int32)
    start = np.array([-5000, 0], np.int32)
    return Example((values, start, np.int32(190)), (1,), (state,), (6, 1, 1), (32, 1, 1), updated=(1,))


def pipe_release_acquire() -> Example:
    """One slot, handed over back and forth."""
    values = integers(-1000, 1000, 24)
    return Example((values, zeros(values), np.int32(12)), (1,), (values * 2 + 1,), (2, 1, 1), (64, 1, 1))


def producer_consumer() -> Example:
    """Barriers that some threads only announce themselves at."""
    values = integers(-1000, 1000, 5 * 64).reshape(5, 64)
    out = values[:, ::-1] * 3
    return Example((values, zeros(values), np.int32(5)), (1,), (out,), (1, 1, 1), (128, 1, 1))


def _whole(*shape: int, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return draw(seed).integers(-8, 9, shape).astype(np.float32)


def matmul_pipelined() -> Example:
    """Asynchronous copies of four bytes, double buffered."""
    a, b = _whole(32, 48, seed=1), _whole(48, 32, seed=2)
    out = a @ b
    arguments = (a, b, zeros(out), np.int32(48), np.int32(32))
    return Example(arguments, (2,), (out,), (2, 2, 1), (16, 16, 1))


def stage_vectors() -> Example:
    """Three groups of asynchronous copies of sixteen bytes; what lies behind the end is filled with zeros."""
    values = integers(-1000, 1000, 4 * 350).reshape(350, 4)
    padded = np.zeros((384, 4), np.int32)
    padded[:350] = values
    out = padded.reshape(6, 64, 4)[:, ::-1, ::-1].reshape(384, 4)[:350].copy()
    return Example((values, zeros(out), np.int32(350)), (1,), (out,), (2, 1, 1), (64, 1, 1))


def groups_copy() -> Example:
    """The group's own asynchronous copy."""
    values = floats(3 * 100).reshape(3, 100)
    out = values[:, ::-1] + np.roll(values, -1, axis=1)
    return Example((values, zeros(out), np.int32(100)), (1,), (out,), (3, 1, 1), (64, 1, 1), shared=400)


def matmul_wmma() -> Example:
    """Fragments; products of small whole numbers, so that the order of the sums does not matter."""
    a, b = _whole(32, 48, seed=1), _whole(48, 64, seed=2)
    out = a @ b * np.float32(0.5)
    arguments = (a.astype(np.float16), b.astype(np.float16), zeros(out), np.int32(48), np.int32(64))
    return Example(arguments, (2,), (out,), (2, 2, 1), (32, 2, 1))


def matmul_mma() -> Example:
    """`ldmatrix` and `mma.sync` by hand."""
    a, b = _whole(32, 48, seed=1), _whole(48, 24, seed=2)
    out = a @ b
    arguments = (a.astype(np.float16), b.astype(np.float16), zeros(out), np.int32(48), np.int32(24))
    return Example(arguments, (2,), (out,), (3, 2, 1), (32, 1, 1))


def matmul_int8() -> Example:
    """Signed bytes."""
    a, b = (draw(seed).integers(-128, 128, (32, 48)).astype(np.int8) for seed in (1, 2))
    out = (a.astype(np.int32) @ b.T.astype(np.int32) + 3).astype(np.int32)
    arguments = (a, b, zeros(out), np.int32(48), np.int32(32))
    return Example(arguments, (2,), (out,), (2, 2, 1), (32, 1, 1))


EXAMPLES = (
    groups_reduce,
    groups_scan,
    groups_coalesced,
    groups_partition,
    libcu_atomics,
    function_pointers,
    virtual_shapes,
    device_heap,
    reduce_last_block,
    scan_chained,
    spin_lock,
    pipe_release_acquire,
    producer_consumer,
    matmul_pipelined,
    stage_vectors,
    groups_copy,
    matmul_wmma,
    matmul_mma,
    matmul_int8,
)
