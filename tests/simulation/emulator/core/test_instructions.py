"""Single instructions on the native core give the bits of the interpreter, over the edges of their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.simulation.emulator.core import NativeKernel
from grader.simulation.emulator.launch import STEPS, Kernel
from grader.simulation.emulator.memory.layout import lay_out
from grader.simulation.ptx import parse
from grader.simulation.ptx.nodes import TYPE_BYTES
from tests.simulation.emulator.core.instructions import CASES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.simulation.emulator.core.instructions import Case

LAUNCH = Launch((4, 1, 1), (128, 1, 1))
COUNT = 512

KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_a, .param .u64 k_b, .param .u64 k_c, .param .u64 k_out)
{{
    .reg .b16 %h<8>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .reg .pred %p<8>;
    .reg .b64 %at<5>;
    {declared}
    mov.u32 %r14, %tid.x;
    mov.u32 %r15, %ctaid.x;
    mad.lo.u32 %r15, %r15, 128, %r14;
    {loads}
    {body}
    ld.param.u64 %at3, [k_out];
    mad.wide.u32 %at3, %r15, 8, %at3;
    {store}
    ret;
}}
"""


class _Register(NamedTuple):
    name: str
    bits: int


def _register(letter: str, kind: str) -> _Register:
    bits = 1 if kind == "pred" else max(16, 8 * TYPE_BYTES[kind])
    return _Register(f"%{letter}", bits)


def kernel(case: Case) -> str:
    """A kernel that loads the operands, executes the case, and stores the result."""
    registers = [_register(letter, kind) for letter, kind in zip("abc", case.operands, strict=False)]
    result = _register("d", case.result)
    declared = " ".join(
        f".reg .{'pred' if bits == 1 else f'b{bits}'} {name};" for name, bits in (*registers, result)
    )
    loads = []
    for at, (name, bits) in enumerate(registers):
        loads += [f"ld.param.u64 %at{at}, [k_{'abc'[at]}];", f"mad.wide.u32 %at{at}, %r15, 8, %at{at};"]
        if bits == 1:
            loads += [
                f"ld.global.u32 %r13, [%at{at}];",
                "and.b32 %r13, %r13, 1;",
                f"setp.ne.u32 {name}, %r13, 0;",
            ]
        else:
            loads.append(f"ld.global.b{bits} {name}, [%at{at}];")
    store = f"st.global.b{result.bits} [%at3], %d;"
    if case.result == "pred":
        store = "selp.u32 %r13, 1, 0, %d; st.global.u32 [%at3], %r13;"
    return KERNEL.format(declared=declared, loads="\n    ".join(loads), body=case.text, store=store)


_INTEGERS = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF]
_INTEGERS += [
    0x10000,
    0x7FFFFF,
    0x800000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    2**63 - 1,
    2**63,
    2**64 - 1,
]
_FLOATS = [
    0.0,
    0.25,
    0.5,
    1.0,
    1.5,
    2.5,
    3.0,
    100.0,
    127.5,
    255.5,
    65504.0,
    65520.0,
    1e-5,
    6e-8,
    2.0**-126,
    1e-40,
]
_FLOATS += [3e38, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 1 / 3, np.inf]


def values(kind: str, rng: np.random.Generator) -> NDArray[np.uint64]:
    """Numbers of a type in words of 64 bits: its edges, and any."""
    bits = 8 * TYPE_BYTES[kind] if kind != "pred" else 1
    if kind in ("f32", "f64"):
        wide = np.array([*_FLOATS, *(-x for x in _FLOATS), np.nan]).astype(f"f{bits // 8}")
        edges = wide.view(f"u{bits // 8}").astype(np.uint64)
        some = (rng.standard_normal(64) * 2.0 ** rng.integers(-20, 20, 64)).astype(f"f{bits // 8}")
        edges = np.concatenate((edges, some.view(f"u{bits // 8}").astype(np.uint64)))
    else:
        edges = np.array([number & (1 << bits) - 1 for number in _INTEGERS], np.uint64)
    any_bits = rng.integers(0, 2**64, COUNT, np.uint64) & np.uint64((1 << bits) - 1)
    if kind in ("f16x2", "bf16x2"):
        halves = [values(kind[:-2], rng) for _ in range(2)]
        return halves[0] | halves[1] << np.uint64(16)
    return np.where(rng.random(COUNT) < 0.75, rng.choice(edges, COUNT), any_bits)


def arguments(case: Case) -> tuple[Argument, ...]:
    """The operands, and room for the result."""
    rng = np.random.default_rng(7)
    kinds = [*case.operands, "u32", "u32", "u32"][:3]
    given = [Argument(f"k_{name}", "in", values(kind, rng)) for name, kind in zip("abc", kinds, strict=True)]
    return (*given, Argument("k_out", "inout", np.zeros(COUNT, np.uint64)))


@pytest.mark.parametrize("detect", [False, True], ids=["counted", "hazards"])
@pytest.mark.parametrize("case", CASES, ids=[case.text for case in CASES])
def test_an_instruction_gives_the_bits_of_the_interpreter(case: Case, *, detect: bool) -> None:
    """And is executed by the core to its end, with the same counters."""
    module, given = parse(kernel(case)), arguments(case)
    layout = lay_out(module, module.function("k"), LAUNCH, given, track=detect)
    got = NativeKernel(module, "k").attempt(LAUNCH, layout, detect=detect, steps=STEPS)
    assert got.clean, got.reason
    kernels = (Kernel(module, "k", interpreted=by) for by in (False, True))
    ours, theirs = (one.run(LAUNCH, given, detect=detect) for one in kernels)
    assert not theirs.findings
    mine, wanted = ours.outputs[0][1], theirs.outputs[0][1]
    (wrong,) = np.nonzero(mine.view(np.uint64) != wanted.view(np.uint64))
    assert not wrong.size, [
        [hex(int(column[lane])) for column in (*(np.asarray(a.value) for a in given[:3]), mine, wanted)]
        for lane in wrong[:4]
    ]
    assert ours.counters == theirs.counters
    assert ours.executed == theirs.executed
