"""Barriers: what they order, what they count, who is missing."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import Argument, Finding, FindingKind
from tests.simulation.emulator.instructions.harness import HEADER, launch

THREADS = 128

KERNEL = """
.visible .entry kernel(.param .u64 result)
{{
    .shared .align 4 .b8 tile[512];
    .reg .b32 %i, %r, %n, %other; .reg .b64 %p, %o; .reg .pred %q, %s;
    mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; mov.u32 %r, 0;
    {body}
    ld.param.u64 %p, [result]; add.s64 %p, %p, %o; st.global.u32 [%p], %r;
    ret;
}}
"""

EXCHANGE = """
    shl.b32 %n, %i, 2; st.shared.u32 [%n], %i;
    {barrier}
    xor.b32 %other, %i, {partner}; shl.b32 %n, %other, 2; ld.shared.u32 %r, [%n];
"""


def _run(body: str, blocks: int = 2) -> tuple[list[int], tuple[Finding, ...]]:
    done = launch(
        HEADER + KERNEL.format(body=body),
        (Argument("result", "out", np.zeros(THREADS, np.uint32)),),
        1,
        THREADS,
    )
    del blocks
    return done.outputs[0][1].tolist(), done.findings


@pytest.mark.parametrize(
    "barrier",
    ["bar.sync 0;", "bar.sync 3, 128;", "barrier.sync 1;", "barrier.sync.aligned 0;", "bar.cta.sync 0;"],
)
def test_a_barrier_orders_the_threads_of_a_block(barrier: str) -> None:
    """Each thread reads after the barrier what another one wrote before it, and nothing is reported."""
    got, findings = _run(EXCHANGE.format(barrier=barrier, partner=127))
    assert not findings
    assert got == [thread ^ 127 for thread in range(THREADS)]


def test_without_a_barrier_the_exchange_is_a_race() -> None:
    """The same exchange with only a fence between."""
    _, findings = _run(EXCHANGE.format(barrier="membar.cta; fence.acq_rel.cta;", partner=127))
    assert [finding.kind for finding in findings] == [FindingKind.RACE]


def test_a_warp_barrier_orders_the_lanes_of_a_warp() -> None:
    """`bar.warp.sync` is enough within a warp, and not between two."""
    within = EXCHANGE.format(barrier="bar.warp.sync -1;", partner=31)
    assert _run(within) == ([thread ^ 31 for thread in range(THREADS)], ())
    between = EXCHANGE.format(barrier="bar.warp.sync -1;", partner=32)
    assert [finding.kind for finding in _run(between)[1]] == [FindingKind.RACE]


VOTE = "rem.u32 %n, %i, 3; setp.eq.u32 %q, %n, 0;"
VOTED = sum(thread % 3 == 0 for thread in range(THREADS))


@pytest.mark.parametrize("opcode", ["bar.red", "barrier.red", "bar.cta.red"])
def test_a_barrier_counts_votes(opcode: str) -> None:
    """`popc` counts the votes; `and` and `or` give whether all or any of them were true."""
    assert _run(f"{VOTE} {opcode}.popc.u32 %r, 0, %q;") == ([VOTED] * THREADS, ())
    assert _run(f"{VOTE} {opcode}.popc.u32 %r, 2, 128, !%q;") == ([THREADS - VOTED] * THREADS, ())
    for way, expected in (("and", 0), ("or", 1)):
        text = f"{VOTE} {opcode}.{way}.pred %s, 0, %q; selp.u32 %r, 1, 0, %s;"
        assert _run(text) == ([expected] * THREADS, ())


def test_votes_of_lanes_that_come_apart_are_counted_together() -> None:
    """Warps that reach the barrier one after the other, twice in a loop."""
    body = (
        "mov.u32 %other, 0;"
        "$LOOP: setp.lt.u32 %q, %i, 50; @%q bra $SKIP; add.u32 %r, %r, 100; $SKIP:"
        "bar.red.popc.u32 %n, 0, %q; add.u32 %r, %r, %n;"
        "add.u32 %other, %other, 1; setp.lt.u32 %s, %other, 2; @%s bra $LOOP;"
    )
    assert _run(body) == ([100] * 50 + [300] * 78, ())


def test_a_barrier_also_orders_memory_when_it_counts() -> None:
    """`bar.red` is a barrier."""
    barrier = "setp.eq.u32 %q, %i, 0; bar.red.or.pred %s, 0, %q;"
    got, findings = _run(EXCHANGE.format(barrier=barrier, partner=127))
    assert (got, findings) == ([thread ^ 127 for thread in range(THREADS)], ())


def test_threads_that_have_exited_are_reported_as_missing() -> None:
    """The others go on without them."""
    _, findings = _run("setp.lt.u32 %q, %i, 5; @%q ret; bar.sync 0;")
    assert [finding.kind for finding in findings] == [FindingKind.BARRIER_DIVERGENCE]
    assert "5 of the block's 128" in findings[0].message


def test_arriving_is_counted_and_waits_for_no_thread() -> None:
    """Half of the threads only arrive; the other half pass when those have."""
    _, findings = _run(
        "setp.lt.u32 %q, %i, 64; @%q bar.arrive 3, 128; @%q bra over; bar.sync 3, 128; over: bar.sync 0;"
    )
    assert findings == ()


def test_who_waits_for_threads_that_never_arrive_is_reported() -> None:
    """128 are expected, 64 come."""
    _, findings = _run("setp.lt.u32 %q, %i, 64; @%q bra over; bar.sync 3, 128; over: bar.sync 0;")
    assert {finding.kind for finding in findings} == {FindingKind.BARRIER_DIVERGENCE}
