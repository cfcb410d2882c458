"""Branches, calls, returns, and what ends a launch."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.errors import UnsupportedPtx
from grader.model import Argument, Finding, FindingKind
from tests.simulation.emulator.instructions.harness import HEADER, launch

THREADS = 64

KERNEL = """
{functions}
.visible .entry kernel(.param .u64 result)
{{
    .reg .b32 %i, %r, %n; .reg .b64 %p, %o, %w; .reg .pred %q, %s;
    mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; mov.u32 %r, 0;
    {body}
    ld.param.u64 %p, [result]; add.s64 %p, %p, %o; st.global.u32 [%p], %r;
    {last}
}}
"""


def _run(body: str, functions: str = "", last: str = "ret;") -> tuple[list[int], tuple[Finding, ...], bool]:
    text = HEADER + KERNEL.format(body=body, functions=functions, last=last)
    done = launch(text, (Argument("result", "out", np.zeros(THREADS, np.uint32)),), 1, THREADS)
    return done.outputs[0][1].tolist(), done.findings, done.completed


def test_lanes_part_and_meet_again() -> None:
    """Both sides of a branch are taken, and the code after it by all together."""
    body = (
        "and.b32 %n, %i, 1; setp.eq.u32 %q, %n, 0;"
        "@%q bra $EVEN; mov.u32 %r, 100; bra.uni $END; $EVEN: mov.u32 %r, 200; $END: add.u32 %r, %r, %i;"
    )
    assert _run(body) == ([(200, 100)[t % 2] + t for t in range(THREADS)], (), True)


def test_every_lane_loops_as_often_as_it_wants() -> None:
    """A loop whose trip count differs from lane to lane, with a negated guard."""
    body = "$L: setp.ge.u32 %q, %r, %i; @!%q add.u32 %r, %r, 1; @!%q bra $L;"
    assert _run(body)[0] == list(range(THREADS))


@pytest.mark.parametrize("end", ["ret;", "exit;"])
def test_a_guarded_return_ends_some_lanes(end: str) -> None:
    """The others go on."""
    got, findings, completed = _run(f"mov.u32 %r, 7; setp.lt.u32 %q, %i, 20; @%q {end}", last=end)
    assert (got, findings, completed) == ([0] * 20 + [7] * 44, (), True)


def test_a_table_of_labels_is_jumped_through() -> None:
    """`brx.idx`: lanes part, and meet again."""
    body = (
        "rem.u32 %n, %i, 3;"
        "targets: .branchtargets $A, $B, $C; brx.idx %n, targets;"
        "$A: mov.u32 %r, 10; bra $END; $B: mov.u32 %r, 20; bra $END; $C: mov.u32 %r, 30;"
        "$END: add.u32 %r, %r, 1;"
    )
    assert _run(body)[0] == [(11, 21, 31)[i % 3] for i in range(THREADS)]


FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .b32 %n, %m, %r; .reg .pred %p;
    ld.param.u32 %n, [n];
    mov.u32 %r, 1;
    setp.lt.u32 %p, %n, 2;
    @%p bra $DONE;
    sub.u32 %m, %n, 1;
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %m;
      call.uni (b), factorial, (a);
      ld.param.b32 %r, [b]; }
    mul.lo.u32 %r, %r, %n;
$DONE:
    st.param.b32 [result], %r;
    ret;
}
"""


def test_functions_call_themselves() -> None:
    """Lanes go to different depths, and each comes back with its own result."""
    body = (
        "and.b32 %n, %i, 7; { .param .b32 x; .param .b32 y; st.param.b32 [x], %n;"
        "call.uni (y), factorial, (x); ld.param.b32 %r, [y]; }"
    )
    table = [1, 1, 2, 6, 24, 120, 720, 5040]
    assert _run(body, FACTORIAL) == ([table[t % 8] for t in range(THREADS)], (), True)


def test_recursion_without_end_is_a_fault() -> None:
    """The stack is full: a finding, not a traceback."""
    endless = FACTORIAL.replace("@%p bra $DONE;", "")
    body = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %i; call.uni (y), factorial, (x); }"
    _, findings, _ = _run(body, endless)
    assert [finding.kind for finding in findings] == [FindingKind.FAULT]


def test_a_trap_stops_the_launch() -> None:
    """One lane is enough."""
    _, findings, completed = _run("setp.eq.u32 %q, %i, 33; @%q trap;")
    assert [finding.kind for finding in findings] == [FindingKind.FAULT]
    assert findings[0].thread == (33, 0, 0)
    assert not completed


PRINTF = """
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);
.global .align 1 .b8 text[3] = {104, 105, 0};
"""


def test_what_a_kernel_prints_is_dropped() -> None:
    """`printf` returns, and nothing else happens."""
    body = (
        "mov.u64 %w, text; cvta.global.u64 %w, %w; { .param .b64 a; .param .b64 b; .param .b32 c;"
        "st.param.b64 [a], %w; st.param.b64 [b], 0; call.uni (c), vprintf, (a, b); ld.param.b32 %n, [c]; }"
        "mov.u32 %r, 5;"
    )
    assert _run(body, PRINTF) == ([5] * THREADS, (), True)


ASSERT = """
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 text[6] = {105, 32, 60, 27, 110, 0};
"""


def test_a_failed_assertion_is_a_fault_with_its_text() -> None:
    """Characters that cannot be shown are replaced."""
    body = (
        "setp.ne.u32 %q, %i, 12; @%q bra $GOOD;"
        "mov.u64 %w, text; cvta.global.u64 %w, %w;"
        "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;"
        "st.param.b64 [a], %w; st.param.b64 [b], %w; st.param.b32 [c], 3; st.param.b64 [d], %w;"
        "st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); } $GOOD:"
    )
    _, findings, completed = _run(body, ASSERT)
    assert [finding.kind for finding in findings] == [FindingKind.FAULT]
    assert "`i <?n`" in findings[0].message
    assert findings[0].thread == (12, 0, 0)
    assert not completed


def test_an_unknown_function_is_our_limit() -> None:
    """It is named in the refusal."""
    with pytest.raises(UnsupportedPtx, match="somewhere"):
        _run("call.uni somewhere, ();", ".extern .func somewhere();")
