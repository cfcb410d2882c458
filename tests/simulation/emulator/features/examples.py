"""Expected results of the kernels beside this file: calls, accesses and warps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator.examples import Example, draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

I = np.arange(32)  # noqa: E741 - the index of a thread, as the kernels call it
FLOATS = (I * 0.5 - 3).astype(np.float32)
MIXED = draw(3).integers(0, 20, 32).astype(np.int32)
"""Small numbers with repetitions."""

_ROWS = np.dtype([("value", np.float32, 16), ("count", np.int32)])
_PARTICLE = np.dtype(
    {
        "names": ["kind", "flag", "mass", "energy"],
        "formats": [np.int16, np.int8, np.float32, np.float64],
        "offsets": [0, 2, 4, 8],
        "itemsize": 16,
    }
)


def one_block(*arguments: Any, expected: Any, out: int = -1, within: float = 0.0, shared: int = 0) -> Example:  # noqa: ANN401
    """A launch of 32 threads whose output is one of the arguments, the last one by default."""
    place = out % len(arguments)
    wanted = np.asarray(expected).astype(arguments[place].dtype)
    return Example(arguments, (place,), (wanted,), (1, 1, 1), (32, 1, 1), shared, within)


def empty(dtype: str, count: int = 32) -> NDArray[Any]:
    """An output, not written yet."""
    return np.zeros(count, dtype)


def _rows(count: int) -> Any:  # noqa: ANN401 - a structure as a scalar
    rows = np.zeros((), _ROWS)
    rows["value"], rows["count"] = np.arange(16) * 1.5, count
    return rows[()]


def _deep(n: int, thread: int) -> int:
    rows = (n, n * 2, n * 3)
    return rows[thread % 3] if n <= 0 else _deep(n - 1, thread) + rows[n % 3]


def calls() -> dict[str, Example]:
    """`calls.cu`."""
    which, a, b = (I % 3).astype(np.int32), FLOATS, (I * 2).astype(np.float32)
    added, multiplied, larger = a + b, a * b, np.maximum(a, b)
    odd = which & 1 == 1
    through_table = np.choose(which, [added, multiplied, larger])
    cases = np.arange(32) % 9
    values = (I * 7 - 50).astype(np.int32)
    switched = [
        values * 3,
        values + 17,
        values - 5,
        values ^ 99,
        values << 3,
        ~values,
        -values,
        values * values,
    ]
    return {
        "pointers": one_block(
            which,
            a,
            b,
            empty("f4"),
            expected=(through_table + np.where(odd, added, multiplied) + np.where(odd, multiplied, added))
            + np.where(odd, ord("m"), ord("a")),
        ),
        "local_pointers": one_block(
            empty("i4"),
            expected=np.where(I % 2, np.choose(I % 3, [I + 7, I * 7, np.maximum(I, 7)]), np.maximum(I, 7)),
        ),
        "virtual_functions": one_block(
            (I % 2).astype(np.int32), a, empty("f4"), expected=np.where(I % 2, 3 * a * a, a * a + 4)
        ),
        "lambdas": one_block(np.float32(2.5), a, expected=a * 2.5 + 1),
        "indexed_parameter": one_block(_rows(5), empty("f4"), expected=I % 5 * 1.5),
        "constant_parameter": one_block(_rows(7), empty("f4"), expected=I % 7 * 1.5),
        "structs_by_value": one_block(empty("f4"), expected=(I * 3 % 16) * I + (I * 3 % 16 == 3) + I),
        "recursion": one_block(empty("i4"), expected=[_deep(n % 10, n) for n in range(32)]),
        "mutual_recursion": one_block(empty("i4"), expected=I % 2),
        "references": one_block(empty("f4"), expected=(I + 1) * 100 + I * 2),
        "many_cases": one_block(
            cases.astype(np.int32), values, expected=np.choose(cases, [*switched, np.full(32, -1)])
        ),
    }


def runtime() -> dict[str, Example]:
    """`runtime.cu`: the kernels without mistakes."""
    return {
        "heap": one_block(np.int32(5), empty("f4"), expected=10 + 5 * I),
        "heap_in_a_loop": one_block(np.int32(300), empty("i4"), expected=I * 0),
        "heap_that_is_full": one_block(empty("i4"), expected=I * 0 + 1),
    }


def _shapes() -> list[NDArray[Any]]:
    return [
        np.arange(128).astype(np.float32),
        np.arange(64).astype(np.int32) * 3,
        (np.arange(128) - 64).astype(np.int8),
        (np.arange(128) * 100).astype(np.int16),
        np.arange(64) * 0.25,
        np.arange(64).astype(np.int64),
        (np.arange(32) * 7).astype(np.uint8),
    ]


def _particles() -> tuple[NDArray[Any], NDArray[Any]]:
    """Structs, and what the kernel makes of them: changed, and in reverse order."""
    particles = np.zeros(32, _PARTICLE)
    particles["kind"], particles["flag"], particles["mass"], particles["energy"] = I, 5, I * 0.5, I * 0.25
    changed = particles.copy()
    changed["kind"] += 1
    changed["flag"] -= 2
    changed["mass"] *= 3
    changed["energy"] += changed["kind"]
    turned = np.zeros(32, _PARTICLE)
    for name in ("kind", "flag", "mass", "energy"):
        turned[name] = changed[name][::-1]
    return particles, turned


def _special_registers() -> NDArray[np.uint32]:
    """The registers of the lanes of one warp, one row for each register."""
    bit = np.uint32(1) << I.astype(np.uint32)
    lower, zero = bit - np.uint32(1), I * 0
    rows = [I, lower, ~lower, bit, zero, zero + 1, zero, lower | bit, ~(lower | bit), zero + 1, zero + 32]
    return np.concatenate(rows).astype(np.uint32)


def accesses() -> dict[str, Example]:
    """`accesses.cu`."""
    a, b, c, d, e, f, g = _shapes()
    particles, turned = _particles()
    four, two, bytes_, shorts = a.reshape(-1, 4), b.reshape(-1, 2), c.reshape(-1, 4), d.reshape(-1, 4)
    total = (
        four @ [2, 2, 1, 1]
        + two @ [1, -1]
        + bytes_.astype(np.int32) @ [1, 0, 0, 2]
        + shorts @ [0, 1, -1, 0]
        + e[::2] * e[1::2]
        + f[::2]
        + f[1::2]
        + g
    )
    odd = I & 1
    filled = np.array([[1, 2], [3, 0], [0, 0], [0, 0]])[I & 3, odd]
    variables = (I & 7) + 1 + filled + np.where(odd, ord("d"), ord("b"))
    variables = variables + np.where(odd, 3 + 4 + ord("y"), 1 + 3 + ord("x"))
    variables[31] = 8
    bytes_in = np.arange(32 * 8 + 8).astype(np.int8)
    copied = np.stack([[*bytes_in[8 * i : 8 * i + 8], 7, 7, 7, 7] for i in range(32)]).reshape(-1)
    wide = [(1 << 70) * n * 3 + 5 for n in range(32)]
    return {
        "hints": one_block(
            a, b, c, d, e, f, g, empty("f4", 128), expected=np.concatenate([total + n for n in range(4)]),
            within=1e-6,
        ),
        "structs": one_block(
            particles.view(np.uint8), empty("u1", 512), expected=turned.view(np.uint8)
        ),
        "variables": one_block(empty("f4"), expected=variables),
        "spaces": one_block(
            empty("i4", 64), expected=np.concatenate([I * 0 + (1 | 2 | 4 | 8 | 64), I])
        ),
        "dynamic_shared": one_block(empty("f4"), expected=(31 - I) * 3, shared=32 * 12),
        "clocks": one_block(empty("i4"), expected=I * 0 + 1),
        "registers": one_block(empty("u4", 32 * 11), expected=_special_registers()),
        "wide_integers": one_block(
            np.arange(32), expected=[(n >> 70) + (n & (1 << 64) - 1) for n in wide]
        ),
        "copies": one_block(bytes_in, empty("i1", 384), np.int32(8), expected=copied, out=1),
    }  # fmt: skip


def _mask(holds: Any) -> int:  # noqa: ANN401
    return sum(1 << lane for lane in range(32) if holds[lane])


def warps() -> dict[str, Example]:
    """`warps.cu`."""
    a, b = MIXED, MIXED * 1.5
    long = a.astype(np.int64) << 33
    shuffled = [
        a[I ^ 3],
        a[I // 8 * 8 + 2],
        np.where(I >= 3, a[I - 3], a),
        np.where(I % 4 >= 1, a[I - 1], a),
        np.where(I % 16 + 5 < 16, a[np.minimum(I + 5, 31)], a),
        a[I ^ 9],
        b[I ^ 1].astype(np.int64),
        np.where(I < 31, long[np.minimum(I + 1, 31)], long) >> 30,
    ]
    all_lanes = (1 << 32) - 1
    uniform = len(set((a & 2) != 0)) == 1
    voted = [
        I * 0 + _mask(a & 1),
        I * 0 + int((a == 5).any()) * 4 + int((a < 100).all()) * 2 + int(uniform),
        np.array([_mask(a % 5 == a[i] % 5) for i in I]),
        I * 0 + all_lanes + 1,
        np.array([_mask(a % 3 == a[i] % 3) for i in I]),
        np.where(I % 2, 0xAAAAAAAA, 1),
        np.where(I % 2, _mask(((a & 4) != 0) & (I % 2 == 1)), a[4]),
    ]
    counted = (a & 1).sum() * 100 + int((a < 64).all()) * 10 + int((a == 3).any())
    halves = (np.arange(64) * 0.25).astype(np.float16)
    pairs = halves.reshape(-1, 2)
    added = pairs[I ^ 1] + np.where(I[:, None] < 30, pairs[np.minimum(I + 2, 31)], pairs)
    bits = [np.bitwise_and.reduce(a | 256), np.bitwise_or.reduce(a), np.bitwise_xor.reduce(a)]
    reduced = [a.sum(), a.min(), a.max(), *bits]
    return {
        "shuffles": one_block(a, b, empty("i8", 256), expected=np.concatenate(shuffled)),
        "votes": one_block(
            a, empty("u4", 224), expected=np.concatenate(voted).astype(np.int64).astype(np.uint32)
        ),
        "counting_barriers": one_block(a, empty("i4"), expected=I * 0 + counted),
        "half_shuffles": one_block(halves, empty("f2", 64), expected=added.reshape(-1)),
        "reductions": one_block(a, empty("u4", 192), expected=np.repeat(reduced, 32)),
        "elected": one_block(empty("i4"), expected=np.where(I < 4, 0, 40 + (I == 4))),
    }
