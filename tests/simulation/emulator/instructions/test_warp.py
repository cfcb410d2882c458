"""Joint operations of the lanes of a warp, against loops over the 32 lanes."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, FindingKind
from tests.simulation.emulator.instructions.harness import HEADER, launch

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 64
FULL = 0xFFFFFFFF

KERNEL = """
.visible .entry kernel(.param .u64 values, .param .u64 amounts, .param .u64 result, .param .u64 flag)
{{
    .reg .b32 %i, %lane, %v, %n, %r, %f, %mask; .reg .b64 %p, %o, %w; .reg .pred %q, %s;
    mov.u32 %i, %tid.x; mov.u32 %lane, %laneid;
    mul.wide.u32 %o, %i, 4;
    ld.param.u64 %p, [values]; add.s64 %p, %p, %o; ld.global.u32 %v, [%p];
    ld.param.u64 %p, [amounts]; add.s64 %p, %p, %o; ld.global.u32 %n, [%p];
    mov.u32 %r, 0; mov.u32 %f, 0; setp.ne.u32 %s, %f, 0;
    {body}
    selp.u32 %f, 1, 0, %s;
    ld.param.u64 %p, [result]; add.s64 %p, %p, %o; st.global.u32 [%p], %r;
    ld.param.u64 %p, [flag]; add.s64 %p, %p, %o; st.global.u32 [%p], %f;
    ret;
}}
"""


def _launch(body: str, values: np.ndarray, amounts: np.ndarray, *, sound: bool = True) -> list[list[int]]:
    done = launch(
        HEADER + KERNEL.format(body=body),
        (
            Argument("values", "in", values.astype(np.uint32)),
            Argument("amounts", "in", amounts.astype(np.uint32)),
            Argument("result", "out", np.zeros(len(values), np.uint32)),
            Argument("flag", "out", np.zeros(len(values), np.uint32)),
        ),
        threads=len(values),
    )
    assert not sound or not done.findings, done.findings[0].message
    return [array.tolist() for _, array in done.outputs]


def _warps(values: np.ndarray, of_warp: Callable[[list[int]], list[int]]) -> list[int]:
    """A function of a warp's values for each warp."""
    found: list[int] = []
    for start in range(0, len(values), 32):
        found += of_warp([int(value) for value in values[start : start + 32]])
    return found


def _shuffled(way: str, values: list[int], amounts: list[int], limits: int) -> list[tuple[int, int]]:
    """The pseudocode of section 9.7.9.6, lane by lane."""
    found = []
    clamp, segment = limits & 31, limits >> 8 & 31
    for lane, amount in enumerate(amounts):
        by = amount & 31
        most, least = lane & segment | clamp & ~segment & 31, lane & segment
        source, inside = {
            "up": (lane - by, lane - by >= most),
            "down": (lane + by, lane + by <= most),
            "bfly": (lane ^ by, (lane ^ by) <= most),
            "idx": (least | by & ~segment & 31, (least | by & ~segment & 31) <= most),
        }[way]
        found.append((values[source if inside else lane], int(inside)))
    return found


@pytest.mark.parametrize("limits", [0x1F, 0, 0x181F, 0x1800, 0x1C07, 0x100F])
@pytest.mark.parametrize("way", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("sync", [".sync", ""])
def test_shfl_reads_another_lane_within_its_segment(way: str, limits: int, sync: str) -> None:
    """Distances have every size, and the predicate shows whether the source lane was inside the segment."""
    draw = np.random.default_rng(limits)
    values, amounts = draw.integers(1 << 32, size=THREADS), draw.integers(40, size=THREADS)
    mask = ", -1" if sync else ""
    got = _launch(f"shfl{sync}.{way}.b32 %r|%s, %v, %n, {limits}{mask};", values, amounts)
    expected = [
        pair
        for start in (0, 32)
        for pair in _shuffled(
            way, values[start : start + 32].tolist(), amounts[start : start + 32].tolist(), limits
        )
    ]
    assert got == [[value for value, _ in expected], [flag for _, flag in expected]]


def test_shfl_adds_up_a_warp() -> None:
    """The usual reduction: five butterfly steps leave the sum in every lane."""
    steps = "".join(
        f"shfl.sync.bfly.b32 %f, %v, {by}, 31, -1; add.s32 %v, %v, %f;" for by in (16, 8, 4, 2, 1)
    )
    values = np.arange(THREADS)
    got = _launch(steps + "mov.b32 %r, %v;", values, values)
    assert got[0] == _warps(values, lambda warp: [sum(warp)] * 32)


VOTES: dict[str, Callable[[list[bool]], int]] = {
    "all": lambda yes: int(all(yes)),
    "any": lambda yes: int(any(yes)),
    "uni": lambda yes: int(all(yes) or not any(yes)),
}


@pytest.mark.parametrize("sync", [".sync", ""])
@pytest.mark.parametrize("pattern", [0, FULL, 0xF0F0, 1 << 31])
@pytest.mark.parametrize("way", VOTES)
def test_vote_asks_every_lane(way: str, pattern: int, sync: str) -> None:
    """`all`, `any` and `uni`, with a predicate that is negated in the second half of the lanes."""
    values = np.array([pattern >> lane & 1 for lane in range(32)] * 2)
    mask = ", -1" if sync else ""
    got = _launch(f"setp.ne.u32 %q, %v, 0; vote{sync}.{way}.pred %s, %q{mask};", values, values)
    assert got[1] == _warps(values, lambda warp: [VOTES[way]([bool(v) for v in warp])] * 32)


def test_a_ballot_counts_only_the_lanes_of_its_mask() -> None:
    """Two halves of a warp that vote at once, each with its own mask, do not see each other."""
    values = np.arange(THREADS) % 3
    body = (
        "setp.lt.u32 %q, %lane, 16; selp.u32 %mask, 0xFFFF, 0xFFFF0000, %q;"
        "setp.ne.u32 %q, %v, 0; vote.sync.ballot.b32 %r, %q, %mask;"
    )

    def ballots(warp: list[int]) -> list[int]:
        bits = sum((value != 0) << lane for lane, value in enumerate(warp))
        return [bits & (0xFFFF if lane < 16 else 0xFFFF0000) for lane in range(32)]

    assert _launch(body, values, values)[0] == _warps(values, ballots)


def test_match_finds_the_lanes_with_the_same_value() -> None:
    """`any` gives each lane those with its value, `all` gives all lanes or none."""
    values = np.concatenate((np.arange(32) % 5, np.full(32, 7)))

    def alike(warp: list[int]) -> list[int]:
        return [sum((other == value) << lane for lane, other in enumerate(warp)) for value in warp]

    assert _launch("match.any.sync.b32 %r, %v, -1;", values, values)[0] == _warps(values, alike)
    got = _launch("match.all.sync.b32 %r|%s, %v, -1;", values, values)
    assert got == [[0] * 32 + [FULL] * 32, [0] * 32 + [1] * 32]
    wide = "mul.wide.u32 %w, %v, 0x10001; shl.b64 %w, %w, 20; match.any.sync.b64 %r, %w, -1;"
    assert _launch(wide, values, values)[0] == _warps(values, alike)


REDUCTIONS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b & FULL,
    "min.u32": min,
    "max.u32": max,
    "add.s32": lambda a, b: a + b & FULL,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("form", REDUCTIONS)
def test_redux_combines_the_lanes_of_its_mask(form: str) -> None:
    """Lanes with different masks get different results."""
    values = np.random.default_rng(1).integers(1 << 32, size=THREADS)
    body = f"setp.lt.u32 %q, %lane, 8; selp.u32 %mask, 0xFF, 0xFFFFFF00, %q;redux.sync.{form} %r, %v, %mask;"

    def reduced(warp: list[int]) -> list[int]:
        return [reduce(REDUCTIONS[form], warp[:8])] * 8 + [reduce(REDUCTIONS[form], warp[8:])] * 24

    assert _launch(body, values, values)[0] == _warps(values, reduced)


def test_redux_of_signed_numbers_compares_them_as_such() -> None:
    """`min.s32` of -5 and 3 is -5."""
    values = np.where(np.arange(THREADS) % 2, 3, -5 & FULL)
    assert _launch("redux.sync.min.s32 %r, %v, -1;", values, values)[0] == [-5 & FULL] * THREADS
    assert _launch("redux.sync.max.s32 %r, %v, -1;", values, values)[0] == [3] * THREADS


BRANCH = "setp.lt.u32 %q, %lane, 10; @%q bra $LOW; {high} bra.uni $END; $LOW: {low} $END:"


def test_activemask_names_the_lanes_that_went_this_way() -> None:
    """On both sides of a branch."""
    values = np.arange(THREADS)
    body = BRANCH.format(low="activemask.b32 %r;", high="activemask.b32 %r;")
    assert _launch(body, values, values)[0] == ([0x3FF] * 10 + [0xFFFFFC00] * 22) * 2


def test_elect_chooses_the_lowest_lane() -> None:
    """One leader among the lanes of the mask."""
    values = np.arange(THREADS)
    body = BRANCH.format(low="", high="elect.sync %r|%s, 0xFFFFFC00;")
    got = _launch(body, values, values)
    assert got == [([0] * 10 + [10] * 22) * 2, ([0] * 10 + [1] + [0] * 21) * 2]


def test_lanes_that_come_late_are_waited_for() -> None:
    """Lanes that loop thousands of times before a shuffle still take part in it."""
    body = (
        "mul.lo.u32 %n, %lane, 600; mov.u32 %f, 0;"
        "$AGAIN: setp.ge.u32 %q, %f, %n; @%q bra $OUT; add.u32 %f, %f, 1; bra.uni $AGAIN; $OUT:"
        "shfl.sync.idx.b32 %r, %v, 31, 31, -1;"
    )
    values = np.arange(THREADS)
    assert _launch(body, values, values)[0] == [31] * 32 + [63] * 32


def test_lanes_of_the_mask_that_never_come_are_reported() -> None:
    """A shuffle on one side of a branch whose mask names the whole warp."""
    low = "shfl.sync.down.b32 %r, %v, 1, 31, -1;"
    done = launch(
        HEADER + KERNEL.format(body=BRANCH.format(low=low + "bar.sync 0;", high="bar.sync 0;")),
        tuple(
            Argument(name, way, np.zeros(32, np.uint32))
            for name, way in (("values", "in"), ("amounts", "in"), ("result", "out"), ("flag", "out"))
        ),
    )
    assert [finding.kind for finding in done.findings] == [FindingKind.BARRIER_DIVERGENCE]
    assert "mask" in done.findings[0].message


def test_lanes_that_have_exited_are_not_waited_for() -> None:
    """Half a warp returns early; the rest may name it in its mask."""
    body = "setp.lt.u32 %q, %lane, 10; @%q ret; shfl.sync.bfly.b32 %r, %v, 1, 31, -1;"
    values = np.arange(THREADS)
    got = _launch(body, values, values)[0]
    assert got == ([0] * 10 + [lane ^ 1 for lane in range(10, 32)]) + [0] * 10 + [
        lane ^ 1 for lane in range(42, 64)
    ]
