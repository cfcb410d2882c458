"""Barriers in shared memory: arrivals, phases, the result of a wait, and the order that it makes."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.errors import UnsupportedPtx
from grader.model import Argument, Finding, FindingKind
from grader.simulation.emulator.instructions.barrier import arrived
from tests.simulation.emulator.instructions.harness import HEADER, launch

THREADS = 64

KERNEL = """
.visible .entry kernel(.param .u64 result)
{{
    .shared .align 8 .b64 all;
    .shared .align 4 .b8 tile[256];
    .reg .b32 %i, %r, %n, %other, %place; .reg .b64 %p, %o, %state; .reg .pred %q, %s;
    mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; mov.u32 %r, 0; mov.u32 %place, tile;
    setp.eq.u32 %q, %i, 0; @%q mbarrier.init.shared.b64 [all], {expected};
    bar.sync 0;
    {body}
    ld.param.u64 %p, [result]; add.s64 %p, %p, %o; st.global.u32 [%p], %r;
    ret;
}}
"""

SET = "shl.b32 %n, %i, 2; add.u32 %n, %n, %place; st.shared.u32 [%n], %i;"
READ = "xor.b32 %other, %i, 63; shl.b32 %n, %other, 2; add.u32 %n, %n, %place; ld.shared.u32 %r, [%n];"
WAIT = "$WAIT: mbarrier.test_wait.shared.b64 %s, [all], %state; @!%s bra $WAIT;"
ARRIVE = "mbarrier.arrive.shared.b64 %state, [all];"


def _run(body: str, expected: int = THREADS, threads: int = THREADS) -> tuple[list[int], tuple[Finding, ...]]:
    done = launch(
        HEADER + KERNEL.format(body=body, expected=expected),
        (Argument("result", "out", np.zeros(threads, np.uint32)),),
        1,
        threads,
    )
    return done.outputs[0][1].tolist(), done.findings


def test_the_last_arrival_begins_the_next_phase() -> None:
    """Three arrivals make a phase; who drops out is not waited for later."""
    word = 3 << 20 | 3
    for pending in (2, 1):
        word = arrived(word, 1)
        assert (word & 0xFFFFF, word >> 40) == (pending, 0)
    word = arrived(word, 1)
    assert (word & 0xFFFFF, word >> 40) == (3, 1)
    word = arrived(arrived(word, 1, 1), 2)
    assert (word & 0xFFFFF, word >> 40) == (2, 2)


@pytest.mark.parametrize(
    "wait",
    [
        WAIT,
        WAIT.replace("test_wait", "try_wait"),
        WAIT.replace("test_wait.shared", "test_wait.acquire.cta.shared::cta"),
        WAIT.replace("test_wait", "test_wait.parity").replace("%state", "0"),
    ],
)
def test_a_wait_orders_what_came_before_the_arrivals(wait: str) -> None:
    """The exchange is right, and nothing is reported."""
    assert _run(SET + ARRIVE + wait + READ) == ([thread ^ 63 for thread in range(THREADS)], ())


def test_arrivals_alone_order_nothing() -> None:
    """No thread waits: a race."""
    _, findings = _run(SET + ARRIVE + READ)
    assert [finding.kind for finding in findings] == [FindingKind.RACE]


def test_a_wait_in_vain_orders_nothing() -> None:
    """The phase is still under way, and the result of the wait is not heeded."""
    body = SET + ARRIVE + "mbarrier.test_wait.shared.b64 %s, [all], %state;" + READ
    _, findings = _run(body, expected=THREADS + 1)
    assert [finding.kind for finding in findings] == [FindingKind.RACE]


def test_what_comes_after_an_arrival_is_not_ordered_by_its_phase() -> None:
    """The store stands between the arrival and the wait."""
    _, findings = _run(ARRIVE + SET + WAIT + READ)
    assert [finding.kind for finding in findings] == [FindingKind.RACE]


def test_a_later_phase_does_not_order_threads_that_waited_for_the_one_before() -> None:
    """Every thread arrives twice, stores in between, and waits for the first phase only."""
    body = ARRIVE + WAIT + SET + "mbarrier.arrive.shared.b64 _, [all];"
    _, findings = _run(body + WAIT.replace("$WAIT", "$AGAIN") + READ)
    assert [finding.kind for finding in findings] == [FindingKind.RACE]


def test_a_barrier_is_used_phase_after_phase() -> None:
    """Three phases, each by its parity; every thread sees what the one before left."""
    body = "mov.u32 %r, %i;"
    for phase in range(3):
        body += f"""
            shl.b32 %n, %i, 2; add.u32 %n, %n, %place; st.shared.u32 [%n], %r;
            mbarrier.arrive.shared.b64 _, [all];
            $A{phase}: mbarrier.test_wait.parity.shared.b64 %s, [all], {2 * phase % 2}; @!%s bra $A{phase};
            xor.b32 %other, %i, {1 << phase}; shl.b32 %n, %other, 2; add.u32 %n, %n, %place;
            ld.shared.u32 %other, [%n]; add.u32 %r, %r, %other;
            mbarrier.arrive.shared.b64 _, [all];
            $B{phase}: mbarrier.test_wait.parity.shared.b64 %s, [all], 1; @!%s bra $B{phase};
        """
    got, findings = _run(body)
    assert findings == ()
    assert got == [sum(range(thread // 8 * 8, thread // 8 * 8 + 8)) for thread in range(THREADS)]


def test_who_drops_out_is_not_waited_for() -> None:
    """Half of the threads leave after the first phase."""
    body = (
        "setp.lt.u32 %q, %i, 32; @%q bra $STAY; mbarrier.arrive_drop.shared.b64 _, [all]; bra $OVER;"
        "$STAY: mbarrier.arrive.shared.b64 %state, [all];"
        + WAIT
        + "mbarrier.arrive.noComplete.shared.b64 %state, [all], 1;"
        + WAIT.replace("$WAIT", "$AGAIN")
        + "mov.u32 %r, 1; $OVER:"
    )
    assert _run(body) == ([1] * 32 + [0] * 32, ())


def test_a_state_shows_how_many_arrivals_were_pending() -> None:
    """Threads arrive in the order of their numbers."""
    got, findings = _run(ARRIVE + "mbarrier.pending_count.b64 %r, %state;")
    assert (sorted(got), findings) == ([*range(1, THREADS + 1)], ())


def test_a_barrier_that_no_thread_set_up_is_uninitialised() -> None:
    """Its word was never written."""
    done = launch(
        HEADER
        + KERNEL.format(body=ARRIVE, expected=1)
        .replace("@%q mbarrier.init", "@!%q mbarrier.inval")
        .replace("[all], 1;", "[all];")
        .replace("setp.eq.u32 %q, %i, 0;", "setp.ge.u32 %q, %i, 0;"),
        (Argument("result", "out", np.zeros(THREADS, np.uint32)),),
        1,
        THREADS,
    )
    assert FindingKind.UNINITIALISED in {finding.kind for finding in done.findings}


def test_copies_arrive_at_a_barrier() -> None:
    """`cp.async.mbarrier.arrive.noinc` counts, and whoever waits sees the copied bytes."""
    body = (
        "ld.param.u64 %p, [result]; add.s64 %p, %p, %o; shl.b32 %n, %i, 2; add.u32 %n, %n, %place;"
        "cp.async.ca.shared.global [%n], [%p], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [all];"
        + WAIT.replace("test_wait", "test_wait.parity").replace("%state", "0")
        + READ
        + "add.u32 %r, %r, 5;"
    )
    got, findings = _run(body)
    assert {finding.kind for finding in findings} <= {FindingKind.UNINITIALISED}
    assert len(set(got)) == 1


@pytest.mark.parametrize(
    "form",
    ["mbarrier.arrive.expect_tx.shared.b64 %state, [all], 16;", "mbarrier.expect_tx.shared.b64 [all], 16;"],
)
def test_counts_of_bytes_are_refused(form: str) -> None:
    """They belong to sm_90."""
    with pytest.raises(UnsupportedPtx, match="mbarrier"):
        _run(form)
