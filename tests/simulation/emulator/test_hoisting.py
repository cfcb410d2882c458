"""Instructions that give the same each time are computed once, when a kernel begins; no result differs."""

from __future__ import annotations

import numpy as np
import pytest

from grader.base.errors import UnsupportedPtx
from grader.model import Argument, FindingKind, Launch, Run
from grader.simulation.emulator.launch import Kernel
from grader.simulation.emulator.linking.linker import link_function, link_hoisting
from grader.simulation.emulator.linking.program import Program
from grader.simulation.ptx import Module, parse

ONE_WARP = Launch((2, 1, 1), (32, 1, 1))


def _kernel(body: str) -> Module:
    """A kernel that stores ``%r9`` of each thread in `out`; it may use four predicates and registers."""
    return parse(f"""
.version 9.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out)
{{
    .reg .pred %p<5>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 tile[128];
{body}
STORE:
    mov.u32 %r10, %ctaid.x;
    mov.u32 %r11, %tid.x;
    mad.lo.u32 %r12, %r10, 32, %r11;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r12, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r9;
    ret;
}}
""")


OF_STORE = {"mov.u32", "mad.lo.u32", "mul.wide.u32"}


def _hoisted(module: Module) -> list[str]:
    """The names of the instructions before STORE that are executed when the kernel begins."""
    function = module.function("kernel")
    code = link_hoisting(Program(module, {"tile": 0}, link_hoisting), function)
    end = dict(function.labels)["STORE"]
    assert {function.body[index].name for index in code.hoisted if index >= end} == OF_STORE
    return [function.body[index].name for index in sorted(code.hoisted) if index < end]


def _run(module: Module, *, hoisting: bool) -> Run:
    out = np.zeros(64, np.uint32)
    kernel = Kernel(module, "kernel", linker=link_hoisting if hoisting else link_function, interpreted=True)
    return kernel.run(ONE_WARP, (Argument("out", "out", out),), detect=True)


def _output(module: Module) -> list[int]:
    """The numbers that threads store, which are the same where nothing is hoisted, as are the findings."""
    hoisted, plain = _run(module, hoisting=True), _run(module, hoisting=False)
    assert hoisted.findings == plain.findings
    assert (hoisted.steps, hoisted.work, hoisted.executed) == (plain.steps, plain.work, plain.executed)
    numbers: list[int] = hoisted.outputs[0][1].tolist()
    assert numbers == plain.outputs[0][1].tolist()
    return numbers


LOOP = """
    mov.u32 %r9, 0;
    mov.u32 %r1, 0;
ROUND:
    mov.u32 %r2, %tid.x;
    shl.b32 %r3, %r2, 2;
    mov.u32 %r4, tile;
    add.s32 %r5, %r4, %r3;
    add.s32 %r6, %r5, %r1;
    add.s32 %r9, %r9, %r6;
    add.s32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra ROUND;
"""


def test_the_address_that_a_loop_computes_anew_is_computed_once() -> None:
    """An instruction that depends on the round is not, nor is one whose register another one writes."""
    module = _kernel(LOOP)
    assert _hoisted(module) == ["mov.u32", "shl.b32", "mov.u32", "add.s32"]
    assert _output(module) == [3 * 4 * thread + 3 for thread in range(32)] * 2


@pytest.mark.parametrize(
    ("why", "body"),
    [
        ("it is read before it is written", "mov.u32 %r9, %r1; mov.u32 %r1, 7;"),
        ("it is read behind a label", "mov.u32 %r1, 7; NEXT: mov.u32 %r9, %r1;"),
        ("it is read behind a barrier", "mov.u32 %r1, 7; bar.sync 0; mov.u32 %r9, %r1;"),
        ("two write it", "mov.u32 %r1, 7; mov.u32 %r1, 8; mov.u32 %r9, %r1;"),
        ("some lanes write it", "setp.lt.u32 %p1, %tid.x, 40; @%p1 mov.u32 %r1, 7; mov.u32 %r9, %r1;"),
        ("a comparison reads it", "mov.u32 %r1, 7; setp.lt.u32 %p1, %r1, 9; selp.u32 %r9, 1, 2, %p1;"),
        ("it is a clock", "mov.u32 %r1, %clock; sub.s32 %r9, %r1, %r1;"),
        ("it is loaded", "ld.param.u32 %r1, [out]; xor.b32 %r9, %r1, %r1;"),
        ("it carries", "add.cc.u32 %r1, 1, 2; addc.u32 %r2, 1, 1; mov.u32 %r9, %r2;"),
    ],
)
def test_what_may_differ_or_be_missed_stays_where_it_is(why: str, body: str) -> None:
    """A read of a register that is not set is found, and no lane sees a number too early or too late."""
    module = _kernel(body)
    assert _hoisted(module) == [], why
    _output(module)


def test_a_register_that_is_not_set_is_still_found() -> None:
    """The loop reads it before the round sets it."""
    module = _kernel("mov.u32 %r1, 0; ROUND: add.s32 %r9, %r2, 1; mov.u32 %r2, 7; add.s32 %r1, %r1, 1;"
                     "setp.lt.u32 %p1, %r1, 2; @%p1 bra ROUND;")  # fmt: skip
    assert _hoisted(module) == []
    assert FindingKind.UNINITIALISED in {finding.kind for finding in _run(module, hoisting=True).findings}
    _output(module)


def test_lanes_that_part_find_what_was_computed() -> None:
    """It was computed for all lanes, before they parted."""
    body = """
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 5;
    mov.u32 %r9, 1;
    @%p1 bra STORE;
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r2, 3;
    add.s32 %r9, %r3, 1;
"""
    module = _kernel(body)
    assert _hoisted(module) == ["mov.u32", "mul.lo.u32"]
    assert _output(module) == [1 if thread < 5 else 3 * thread + 1 for thread in range(32)] * 2


def test_a_form_that_is_not_interpreted_is_no_error_where_no_lane_comes_to_it() -> None:
    """It would be one if it were executed when the kernel begins."""
    refused = "mov.u32 %r9, 5; bra STORE; add.q7 %r1, 1, 2; mov.u32 %r9, %r1;"
    assert _output(_kernel(refused)) == [5] * 64
    with pytest.raises(UnsupportedPtx):
        _run(_kernel("add.q7 %r1, 1, 2; mov.u32 %r9, %r1;"), hoisting=True)
