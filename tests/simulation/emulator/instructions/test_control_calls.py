"""Calls by name and through pointers."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.model import Argument, FindingKind, Launch, Run
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import parse
from tests.simulation.emulator.instructions.harness import HEADER, launch

THREADS = 64

FUNCTIONS = """
.func (.param .b32 result) twice(.param .b32 n)
{ .reg .b32 %n; ld.param.u32 %n, [n]; shl.b32 %n, %n, 1; st.param.b32 [result], %n; ret; }
.func (.param .b32 result) square(.param .b32 n)
{ .reg .b32 %n; ld.param.u32 %n, [n]; mul.lo.u32 %n, %n, %n; st.param.b32 [result], %n; ret; }
.func nothing() { ret; }
.func (.param .b32 result) other(.param .b32 n);
.alias other, square;
.global .align 8 .u64 table[2] = {twice, square};
.global .align 8 .u8 packed[16] = {7, 0, 0, 0, 0, 0, 0, 0, 0xFF(square), 0xFF00(square), 0xFF0000(square),
    0xFF000000(square), 0xFF00000000(square), 0xFF0000000000(square), 0xFF000000000000(square), 0};
"""

KERNEL = """
.visible .entry kernel(.param .u64 result)
{{
    .reg .b32 %i, %r, %n; .reg .b64 %p, %o, %f; .reg .pred %q;
    mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; mov.u32 %r, 0; and.b32 %n, %i, 1;
    {body}
    ld.param.u64 %p, [result]; add.s64 %p, %p, %o; st.global.u32 [%p], %r;
    ret;
}}
"""

THROUGH_POINTER = """
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %i;
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _);
  call (y), %f, (x), prototype_0;
  ld.param.b32 %r, [y]; }
"""


def _run(body: str, declarations: str = "") -> Run:
    return launch(
        HEADER + FUNCTIONS + declarations + KERNEL.format(body=body),
        (Argument("result", "out", np.zeros(THREADS, np.uint32)),),
        threads=THREADS,
    )


def _values(done: Run) -> list[int]:
    assert not done.findings, done.findings[0].message
    return done.outputs[0][1].tolist()  # type: ignore[no-any-return]


def _by_name(name: str) -> str:
    return (
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %i;"
        f"call.uni (y), {name}, (x); ld.param.b32 %r, [y]; }}"
    )


@pytest.mark.parametrize(("name", "power"), [("twice", 1), ("square", 2), ("other", 2)])
def test_a_function_is_called_by_its_name(name: str, power: int) -> None:
    """Or by an alias of it."""
    expected = [2 * i if power == 1 else i * i for i in range(THREADS)]
    assert _values(_run(_by_name(name))) == expected


def test_lanes_call_what_their_pointers_point_to() -> None:
    """A table in global memory, and lanes that differ."""
    body = "mul.wide.u32 %f, %n, 8; mov.u64 %p, table; add.s64 %p, %p, %f; ld.global.u64 %f, [%p];"
    assert _values(_run(body + THROUGH_POINTER)) == [i * i if i % 2 else 2 * i for i in range(THREADS)]


def test_a_pointer_may_be_put_together_from_bytes() -> None:
    """As nvcc initialises a struct in which a pointer follows something narrower."""
    body = f"mov.u64 %p, packed; ld.global.u64 %f, [%p+8];{THROUGH_POINTER}"
    assert _values(_run(body)) == [i * i for i in range(THREADS)]


def test_the_address_of_a_function_is_that_in_the_table() -> None:
    """`mov` of its name."""
    body = "mov.u64 %f, twice; mov.u64 %p, table; ld.global.u64 %p, [%p];"
    body += "setp.eq.u64 %q, %f, %p; selp.u32 %r, 1, 0, %q;"
    assert _values(_run(body)) == [1] * THREADS


@pytest.mark.parametrize("address", ["0", "3735928559"])
def test_a_call_to_nowhere_is_a_fault_of_the_program(address: str) -> None:
    """A pointer that was never set gives a finding with its address, and no traceback."""
    done = _run(f"mov.u64 %f, {address};{THROUGH_POINTER}")
    assert [finding.kind for finding in done.findings] == [FindingKind.FAULT]
    assert hex(int(address)) in done.findings[0].message


def test_a_pointer_to_another_type_is_a_fault_of_the_program() -> None:
    """A function that takes nothing, called with an argument."""
    done = _run(f"mov.u64 %f, nothing;{THROUGH_POINTER}")
    assert [finding.kind for finding in done.findings] == [FindingKind.FAULT]
    assert "`nothing`" in done.findings[0].message


def test_an_initialiser_without_an_address_matters_where_it_is_used() -> None:
    """Our limit, with the line of the variable, and only for kernels that come to it."""
    variable = ".global .u64 pointer = elsewhere;"
    text = HEADER + variable + KERNEL.format(body="mov.u32 %r, 1;")
    arguments = (Argument("result", "out", np.zeros(THREADS, np.uint32)),)
    done = run(parse(text), "kernel", Launch((1, 1, 1), (THREADS, 1, 1)), arguments, detect=True)
    assert _values(done) == [1] * THREADS
    with pytest.raises(UnsupportedPtx, match="pointer = elsewhere"):
        _run("mov.u64 %p, pointer;", variable)


@pytest.mark.parametrize(
    "body", ["mov.u32 %r, {1;", "add.u32;", "mov %r;", "ld.global %r, 5, 6;", "lop3.b32 %r;"]
)
def test_assembly_that_makes_no_sense_is_refused(body: str) -> None:
    """Inline assembly passes nvcc without a look: it is our limit, and no traceback."""
    with pytest.raises((UnsupportedPtx, PtxSyntaxError)):
        _run(body)
