"""Instructions on real numbers, conversions and exchanges in a warp, against their definition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.simulation.emulator.instructions import rounding
from tests.simulation.sass.rows import execute, lanes, sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

floats = st.lists(
    st.one_of(st.floats(width=32, allow_nan=True), st.floats(-8, 8, width=32)), min_size=32, max_size=32
)
doubles = st.lists(st.floats(-1e9, 1e9).map(lambda x: x if abs(x) > 1e-60 else 0.0), min_size=32, max_size=32)
"""None whose products have errors below the smallest number."""
f = np.float32


def words(values: list[float]) -> NDArray[np.uint32]:
    """Numbers as the words of a register."""
    return np.array(values, "f4").view("u4")


def pair(values: list[float], first: int) -> dict[int, NDArray[np.uint32]]:
    """Numbers as two registers."""
    halves = np.array(values, "f8").view("u4").reshape(-1, 2)
    return {first: np.ascontiguousarray(halves[:, 0]), first + 1: np.ascontiguousarray(halves[:, 1])}


def of_pair(m: Any, first: int) -> NDArray[np.float64]:  # noqa: ANN401 - a machine
    """The numbers of two registers."""
    return np.stack([lanes(m, first), lanes(m, first + 1)], axis=1).reshape(-1).copy().view("f8")


SINGLE: dict[str, Callable[..., Any]] = {
    "FADD R4, R1, -R2": lambda a, b: a - b,
    "FADD R4, |R1|, R2": lambda a, b: abs(a) + b,
    "FMUL R4, R1, R2": lambda a, b: a * b,
    "FADD.SAT R4, R1, R2": lambda a, b: np.fmin(np.fmax(a + b, f(0)), f(1)),
    "FMNMX R4, R1, R2, PT": np.fmin,
    "FMNMX.NAN R4, R1, R2, !PT": np.maximum,
    "FSEL R4, R1, -R2, P0": lambda _a, b: -b,
    "FSET.BF.GT.AND R4, R1, R2, PT": lambda a, b: f(a > b),
    "FRND.FLOOR R4, R1": np.floor,
    "FRND R4, R1": np.rint,
    "MUFU.SQRT R4, R1": np.sqrt,
}


@pytest.mark.parametrize("row", SINGLE)
@settings(max_examples=6, deadline=None)
@given(a=floats, b=floats)
def test_a_float_is_what_its_definition_gives(row: str, a: list[float], b: list[float]) -> None:
    """With signs, zeros, infinities and what is no number."""
    m = execute(row, registers={1: words(a), 2: words(b)})
    with np.errstate(all="ignore"):
        function = SINGLE[row]
        count = sources(row)
        wanted = [function(*(f(x), f(y))[:count]) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(lanes(m, 4).view("f4"), np.array(wanted, "f4"))


@pytest.mark.parametrize("direction", ["RN", "RM", "RP", "RZ"])
@settings(max_examples=6, deadline=None)
@given(a=doubles, b=doubles, c=doubles)
def test_sums_and_products_are_rounded_once(
    direction: str, a: list[float], b: list[float], c: list[float]
) -> None:
    """In each direction, for both widths: the number next to the exact one that the direction asks for."""
    suffix = "" if direction == "RN" else f".{direction}"
    narrow = [[float(f(x)) for x in values] for values in (a, b, c)]
    m = execute(
        f"FFMA{suffix} R4, R1, R2, R3",
        f"DFMA{suffix} R16, R10, R12, R14",
        f"DADD{suffix} R18, R10, R14",
        registers={1: words(narrow[0]), 2: words(narrow[1]), 3: words(narrow[2])}
        | pair(a, 10)
        | pair(b, 12)
        | pair(c, 14),
    )
    results = [lanes(m, 4).view("f4"), of_pair(m, 16), of_pair(m, 18)]
    for lane in range(32):
        x, y, z = (Fraction(values[lane]) for values in narrow)
        u, v, w = Fraction(a[lane]), Fraction(b[lane]), Fraction(c[lane])
        for result, exact in zip(results, (x * y + z, u * v + w, u + w), strict=True):
            assert is_rounded(result[lane], exact, direction)


@pytest.mark.parametrize("direction", ["RN", "RM", "RP", "RZ"])
@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (21.0, 1.192092896e-07, 1.1754943508222875e-38),
        (21.0, 1.192092896e-07, -1.1754943508222875e-38),
        (1 + 2.0**-52, 1 + 2.0**-52, 2.0**-200),
        (2.0**53 + 2, 1 + 2.0**-52, -(2.0**-90)),
        (-(2.0**53 + 2), 1 + 2.0**-52, 2.0**53),
        (1 + 2.0**-30, 1 - 2.0**-30, -1.0),
    ],
)
def test_a_tiny_summand_decides_where_a_product_ends_all_but_half_way(
    a: float, b: float, c: float, direction: str
) -> None:
    """DFMA, on both sides of the middle between two numbers, and where all but the errors cancel."""
    suffix = "" if direction == "RN" else f".{direction}"
    given_pairs = pair([a] * 32, 10) | pair([b] * 32, 12) | pair([c] * 32, 14)
    m = execute(f"DFMA{suffix} R16, R10, R12, R14", registers=given_pairs)
    assert is_rounded(of_pair(m, 16)[0], Fraction(a) * Fraction(b) + Fraction(c), direction)


@pytest.mark.parametrize("direction", ["RN", "RM", "RP", "RZ"])
@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        (1e300, 1e300, -math.inf),
        (2.0**-600, 2.0**-600, 0.0),
        (2.0**-600, -(2.0**-600), 0.0),
        (-2.483711767749364e-155, -9.357301816494607e-159, -2.3240840636e-313),
        (2.0**600, 2.0**600, -(2.0**1023)),
    ],
)
def test_products_at_the_ends_of_the_range_are_rounded_once(
    a: float, b: float, c: float, direction: str
) -> None:
    """DFMA and DMUL, where the product's own error is no number of float64: as the emulator rounds it."""
    suffix = "" if direction == "RN" else f".{direction}"
    given_pairs = pair([a] * 32, 10) | pair([b] * 32, 12) | pair([c] * 32, 14)
    m = execute(f"DFMA{suffix} R16, R10, R12, R14", f"DMUL{suffix} R18, R10, R12", registers=given_pairs)
    x, y, z = (np.array([value]) for value in (a, b, c))
    with np.errstate(all="ignore"):
        fused, product = (rounding.fused(x, y, w, direction.lower()) for w in (z, np.array([-0.0])))
    assert of_pair(m, 16)[0].tobytes() == fused[0].tobytes()
    assert of_pair(m, 18)[0] == product[0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("direction", ["RN", "RM", "RP", "RZ"])
def test_a_sum_beyond_all_numbers_is_the_largest_one_where_it_is_rounded_towards_zero(
    direction: str, sign: float
) -> None:
    """DFMA of a product that is a number: infinite only to the nearest, and away from zero."""
    largest = float(np.finfo(np.float64).max)
    suffix = "" if direction == "RN" else f".{direction}"
    given_pairs = pair([sign * largest] * 32, 10) | pair([1.0] * 32, 12) | pair([sign * largest] * 32, 14)
    with np.errstate(all="ignore"):
        m = execute(f"DFMA{suffix} R16, R10, R12, R14", registers=given_pairs)
    away = direction in ("RN", "RP" if sign > 0 else "RM")
    assert of_pair(m, 16)[0] == sign * (math.inf if away else largest)


def is_rounded(value: Any, exact: Fraction, direction: str) -> bool:  # noqa: ANN401 - a NumPy scalar
    """Return whether a number is the exact one rounded; of two that are equally near, either is right."""
    below, above = np.nextafter(value, type(value)(-np.inf)), np.nextafter(value, type(value)(np.inf))
    number = Fraction(float(value))
    if direction == "RN":
        return abs(number - exact) <= min(abs(Fraction(float(other)) - exact) for other in (below, above))
    down = direction == "RM" or (direction == "RZ" and exact > 0)
    if down:
        return number <= exact < Fraction(float(above))
    return Fraction(float(below)) < exact <= number


@settings(max_examples=10, deadline=None)
@given(a=floats, b=floats)
def test_comparisons_know_what_is_no_number(a: list[float], b: list[float]) -> None:
    """FSETP, and the two predicates of a minimum of doubles."""
    m = execute(
        "FSETP.LT.AND P0, P1, R1, R2, PT",
        "FSETP.GEU.AND P2, PT, R1, R2, PT",
        "FSETP.NAN.AND P3, PT, R1, R2, PT",
        "DSETP.MIN.AND P4, P5, R10, R12, PT",
        registers={1: words(a), 2: words(b)} | pair(a, 10) | pair(b, 12),
    )
    for lane, (x, y) in enumerate(zip(a, b, strict=True)):
        no_number = math.isnan(x) or math.isnan(y)
        wanted = [x < y, not x < y, not x < y, no_number]
        assert [bool(np.broadcast_to(m.predicates[p], 32)[lane]) for p in range(4)] == wanted
        first, neither = (bool(np.broadcast_to(m.predicates[p], 32)[lane]) for p in (4, 5))
        assert neither == (math.isnan(x) and math.isnan(y))
        if not neither:
            assert (x if first else y) == min(value for value in (x, y) if not math.isnan(value))


CONVERSIONS: dict[str, tuple[list[float], list[float]]] = {
    "F2I.TRUNC.NTZ R4, R1": ([2.9, -2.9, math.nan, 3e9, -math.inf], [2, -2, 0, 2**31 - 1, -(2**31)]),
    "F2I.U32.FLOOR.NTZ R4, R1": ([2.9, -2.9, math.nan, 5e9, 3e9], [2, 0, 0, 2**32 - 1, 3_000_000_000]),
    "F2I.NTZ R4, R1": ([2.5, 3.5, -2.5, 0.4, 1e-40], [2, 4, -2, 0, 0]),
    "F2I.S8.NTZ R4, R1": ([200.0, -200.0, 5.0, -5.0, 0.0], [127, -128, 5, -5, 0]),
}


@pytest.mark.parametrize("row", CONVERSIONS)
def test_a_real_number_becomes_the_nearest_integer_that_there_is(row: str) -> None:
    """Also where it is beyond all, or no number."""
    given_values, wanted = CONVERSIONS[row]
    m = execute(row, registers={1: np.resize(words(given_values), 32)})
    kind = "u4" if "U32" in row else "i4"
    assert lanes(m, 4).view(kind)[:5].tolist() == wanted


def test_integers_become_real_numbers_in_each_direction() -> None:
    """Of words, their parts, and pairs; 2³¹ + 1 lies between two float32."""
    m = execute(
        "I2F.U32.RP R4, R1",
        "I2F.U32.RM R5, R1",
        "I2FP.F32.S32 R6, R1",
        "I2F.S8 R7, R1.B3",
        "I2F.F64.U32 R8, R1",
        "I2F.U64.RZ R10, R12",
        registers={
            1: np.full(32, 0x8000_0001, "u4"),
            12: np.full(32, 0xFFFF_FFFF, "u4"),
            13: np.full(32, 1, "u4"),
        },
    )
    values = [float(lanes(m, register).view("f4")[0]) for register in (4, 5, 6, 7, 10)]
    assert values == [2.0**31 + 256, 2.0**31, -(2.0**31), -128.0, 2.0**33 - 512]
    assert of_pair(m, 8)[0] == 2**31 + 1


@settings(max_examples=10, deadline=None)
@given(a=floats, b=floats)
def test_halves_are_computed_in_pairs(a: list[float], b: list[float]) -> None:
    """Packed, added and multiplied, compared, and widened again."""
    with np.errstate(all="ignore"):
        x, y = np.array(a, "f4").astype("f2"), np.array(b, "f4").astype("f2")
        sums, products = (x + y).astype("f2"), (x.astype("f8") * x + y).astype("f2")
    m = execute(
        "F2FP.F16.F32.PACK_AB R3, R1, R2",
        "HADD2 R4, R3.H1_H1, R3.H0_H0",
        "HFMA2 R5, R3, R3.H1_H1, R3.H0_H0",
        "HADD2.F32 R6, -RZ, R3.H1_H1",
        "HSETP2.GT.AND P0, P1, R3, R3.H0_H0, PT",
        "HFMA2.MMA R7, -RZ, RZ, 1.875, 2",
        registers={1: words(a), 2: words(b)},
    )
    np.testing.assert_array_equal(lanes(m, 4).astype("u2").view("f2"), sums)
    np.testing.assert_array_equal((lanes(m, 5) >> 16).astype("u2").view("f2"), products)
    np.testing.assert_array_equal(lanes(m, 6).view("f4"), x.astype("f4"))
    assert np.broadcast_to(m.predicates[0], 32).tolist() == [False] * 32
    assert np.broadcast_to(m.predicates[1], 32).tolist() == (x > y).tolist()
    assert int(lanes(m, 7)[0]) == 0x3F80_4000


@pytest.mark.parametrize(
    ("a", "b", "slow"),
    [
        (1, 3, False), (1e30, 1e-20, True), (1e-38, 1e20, True), (1, 0, True),
        (math.inf, 1, True), (1, 1e-40, True), (0, 5, False), (1e10, 1e10, False),
    ],
)  # fmt: skip
def test_a_division_that_the_usual_way_does_not_reach_is_noticed(a: float, b: float, *, slow: bool) -> None:
    """FCHK: zero divisors, subnormal ones, quotients beyond the range."""
    m = execute("FCHK P0, R1, R2", registers={1: words([a] * 32), 2: words([b] * 32)})
    assert bool(m.predicates[0].all()) is slow


SHUFFLES: dict[str, Callable[[int], int]] = {
    "SHFL.IDX P0, R4, R1, 0x5, 0x1f": lambda _: 5,
    "SHFL.DOWN P0, R4, R1, 0x3, 0x1f": lambda lane: lane + 3,
    "SHFL.UP P0, R4, R1, 0x3, RZ": lambda lane: lane - 3,
    "SHFL.BFLY P0, R4, R1, 0x11, 0x1f": lambda lane: lane ^ 17,
    "SHFL.DOWN P0, R4, R1, 0x3, 0x181f": lambda lane: lane + 3 if lane % 8 < 5 else -1,
    "SHFL.IDX P0, R4, R1, 0x9, 0x181f": lambda lane: lane // 8 * 8 + 1,
}


@pytest.mark.parametrize("row", SHUFFLES)
def test_lanes_read_from_each_other(row: str) -> None:
    """In the whole warp or in segments; a lane without a source keeps its own."""
    m = execute(row, registers={1: np.arange(100, 132, dtype="u4")})
    sources = [SHUFFLES[row](lane) for lane in range(32)]
    valid = [0 <= source < 32 for source in sources]
    assert np.broadcast_to(m.predicates[0], 32).tolist() == valid
    wanted = [
        100 + (source if ok else lane) for lane, (source, ok) in enumerate(zip(sources, valid, strict=True))
    ]
    assert lanes(m, 4).tolist() == wanted


def test_lanes_vote_match_and_add_up() -> None:
    """VOTE, MATCH and REDUX, of the active lanes."""
    lane = np.arange(32, dtype="u4")
    m = execute(
        "@P1 EXIT",
        "VOTE.ANY R4, P2, P0",
        "VOTE.ALL R5, P3, P0",
        "MATCH.ANY R6, R2",
        "MATCH.ALL P4, R7, R3",
        "REDUX.SUM UR4, R1",
        "REDUX.MAX.S32 UR5, R1",
        "IMAD.U32 R8, RZ, RZ, UR4",
        "IMAD.U32 R9, RZ, RZ, UR5",
        registers={1: lane, 2: lane % 3, 3: np.full(32, 9, "u4")},
        predicates={0: lane % 2 == 0, 1: lane >= 16},
    )
    assert int(lanes(m, 4)[0]) == 0x5555
    assert [bool(np.broadcast_to(m.predicates[p], 32)[0]) for p in (2, 3, 4)] == [True, False, True]
    assert int(lanes(m, 6)[1]) == sum(1 << n for n in range(16) if n % 3 == 1)
    assert int(lanes(m, 7)[0]) == 0xFFFF
    assert [int(lanes(m, register)[0]) for register in (8, 9)] == [120, 15]
