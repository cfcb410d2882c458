"""Examples of the kernel library: reductions, scans, histograms, compaction."""

from __future__ import annotations

import numpy as np

from tests.simulation.emulator.examples import Example, draw, floats, integers, zeros


def reduce_last_warp() -> Example:
    """Two elements a thread, and the last warp without barriers."""
    values = integers(-1000, 1000, 1900)
    padded = np.zeros(2048, np.int32)
    padded[:1900] = values
    out = padded.reshape(4, 512).sum(axis=1).astype(np.int32)
    return Example((values, zeros(out), np.int32(1900)), (1,), (out,), (4, 1, 1), (256, 1, 1))


def reduce_min_max() -> Example:
    """Signed atomics on the bits of floats."""
    values = floats(900)
    keys = values.view(np.int32)
    keys = np.where(keys >= 0, keys, keys ^ 0x7FFFFFFF)
    out = np.array([keys.min(), keys.max()], np.int32)
    start = np.array([2**31 - 1, -(2**31)], np.int32)
    return Example((values, start, np.int32(900)), (1,), (out,), (3, 1, 1), (96, 1, 1), updated=(1,))


def scan_many_blocks() -> Example:
    """Each block adds up what comes before it."""
    values = integers(-100, 100, 700)
    out = np.cumsum(values, dtype=np.int32)
    return Example((values, zeros(out), np.int32(700)), (1,), (out,), (6, 1, 1), (128, 1, 1))


def scan_double_buffer() -> Example:
    """Floats: the order of the sums is that of the steps."""
    values = floats(200)
    level = np.zeros(256, np.float32)
    level[1:201] = values
    level[201:] = 0
    by = 1
    while by < 256:
        level = level + np.concatenate((np.zeros(by, np.float32), level[:-by]))
        by *= 2
    return Example(
        (values, zeros(values), np.int32(200)), (1,), (level[:200],), (1, 1, 1), (256, 1, 1), shared=2048
    )


def compaction_prefix() -> Example:
    """The order is kept, and so is what lies behind."""
    values = integers(-100, 100, 600)
    chosen = values[values % 3 == 0]
    kept = np.zeros(600, np.int32)
    kept[: len(chosen)] = chosen
    count = np.array([len(chosen)], np.int32)
    arguments = (values, zeros(kept), zeros(count), np.int32(600))
    return Example(arguments, (1, 2), (kept, count), (1, 1, 1), (128, 1, 1))


def run_lengths() -> Example:
    """Bytes and short integers in shared memory."""
    data = np.repeat(draw().integers(0, 4, 99), draw(8).integers(1, 6, 99)).astype(np.uint8)[:230]
    heads = np.flatnonzero(np.concatenate(([True], data[1:] != data[:-1])))
    symbols, lengths = np.zeros(256, np.uint8), np.zeros(256, np.uint16)
    symbols[: len(heads)] = data[heads]
    lengths[: len(heads)] = np.diff(np.append(heads, 230))
    runs = np.array([len(heads)], np.int32)
    out = (symbols, lengths, runs)
    arguments = (data, *(zeros(each) for each in out), np.int32(230))
    return Example(arguments, (1, 2, 3), out, (1, 1, 1), (256, 1, 1))


def histogram_privatised() -> Example:
    """uchar4, and a histogram for each warp."""
    data = draw().integers(0, 256, 4 * 900).astype(np.uint8)
    bins = np.bincount(data, minlength=256).astype(np.uint32)
    return Example(
        (data, zeros(bins), np.int32(900)), (1,), (bins,), (2, 1, 1), (128, 1, 1), shared=4096, updated=(1,)
    )


def histogram_matched() -> Example:
    """`match` within warps, the last of which is not full."""
    keys = draw().integers(0, 1 << 16, 500).astype(np.uint16)
    counts = np.bincount(keys & 31, minlength=32).astype(np.uint64)
    arguments = (keys, zeros(counts), np.int32(500))
    return Example(arguments, (1,), (counts,), (4, 1, 1), (128, 1, 1), updated=(1,))


def argmax_packed() -> Example:
    """64-bit maxima."""
    values = floats(1500)
    place = int(values.argmax())
    bits = int(values[place : place + 1].view(np.uint32)[0]) | 0x80000000
    best = np.array([bits << 32 | (0xFFFFFFFF - place)], np.uint64)
    return Example((values, zeros(best), np.int32(1500)), (1,), (best,), (3, 1, 1), (128, 1, 1), updated=(1,))


def dot_bytes() -> Example:
    """dp4a, the sum of absolute differences, and `redux`."""
    a, b = (draw(seed).integers(-128, 128, 4 * 700).astype(np.int8) for seed in (1, 2))
    c = draw(3).integers(0, 256, 4 * 700).astype(np.uint8)
    dots = np.array([(a.astype(int) * b).sum()], np.int32)
    apart = abs(c.reshape(-1, 4).astype(int) - [0x40, 0x30, 0x20, 0x10]).sum()
    sums = np.array([c.astype(int).sum() + apart], np.uint32)
    arguments = (
        a.view(np.int32),
        b.view(np.int32),
        c.view(np.uint32),
        zeros(dots),
        zeros(sums),
        np.int32(700),
    )
    return Example(arguments, (3, 4), (dots, sums), (3, 1, 1), (128, 1, 1), updated=(3, 4))


def bitonic_sort() -> Example:
    """Keys with values; every other block the other way round."""
    keys = draw().permutation(512).astype(np.uint32) * 7919
    values = draw(8).integers(0, 1 << 16, 512).astype(np.uint16)
    order = [np.argsort(keys[:256]), 256 + np.argsort(keys[256:])[::-1]]
    places = np.concatenate(order)
    return Example(
        (keys, values), (0, 1), (keys[places], values[places]), (2, 1, 1), (128, 1, 1), updated=(0, 1)
    )


def odd_even_sort() -> Example:
    """A loop that ends by a vote; a sorted row needs one round."""
    rows = floats(3 * 50).reshape(3, 50)
    rows[1].sort()
    rounds = []
    for row in rows:
        work, count, changed = list(row), 0, True
        while changed:
            changed = False
            for i in (*range(0, 49, 2), *range(1, 49, 2)):
                if work[i] > work[i + 1]:
                    work[i], work[i + 1], changed = work[i + 1], work[i], True
            count += 1
        rounds.append(count)
    out = (np.sort(rows, axis=1), np.array(rounds, np.int32))
    arguments = (rows, zeros(out[1]), np.int32(50))
    return Example(arguments, (0, 1), out, (3, 1, 1), (32, 1, 1), shared=200, updated=(0,))


def radix_sort() -> Example:
    """Twelve bits, one after the other."""
    keys = draw().integers(0, 1 << 12, 256).astype(np.uint32)
    out = np.sort(keys.reshape(2, 128), axis=1).reshape(-1)
    return Example((keys, zeros(keys), np.int32(12)), (1,), (out,), (2, 1, 1), (128, 1, 1))


def warp_sort() -> Example:
    """Shuffles with lanes that are known only at run time."""
    values, wanted = integers(-500, 500, 128), integers(-600, 600, 128, 8)
    rows = np.sort(values.reshape(4, 32), axis=1)
    places = [np.searchsorted(row, keys) for row, keys in zip(rows, wanted.reshape(4, 32), strict=True)]
    out = (rows.reshape(-1), np.concatenate(places).astype(np.int32))
    return Example((values, zeros(values), wanted, zeros(wanted)), (1, 3), out, (2, 1, 1), (64, 1, 1))


def hash_table() -> Example:
    """A hash table, with slots in any order: the slot of a key depends on which thread comes first."""
    keys = (draw().integers(0, 150, 400)).astype(np.uint32)
    slots = np.full(512, 0xFFFFFFFF, np.uint32)
    table = slots.copy()
    distinct = np.unique(keys)
    table[: len(distinct)] = distinct
    counts = np.bincount(keys, minlength=150).astype(np.uint32)
    arguments = (keys, slots, zeros(counts), np.int32(400))
    return Example(arguments, (1, 2), (table, counts), (4, 1, 1), (128, 1, 1), updated=(1, 2), unordered=(1,))


EXAMPLES = (
    reduce_last_warp,
    reduce_min_max,
    scan_many_blocks,
    scan_double_buffer,
    compaction_prefix,
    run_lengths,
    histogram_privatised,
    histogram_matched,
    argmax_packed,
    dot_bytes,
    bitonic_sort,
    odd_even_sort,
    radix_sort,
    warp_sort,
    hash_table,
)
