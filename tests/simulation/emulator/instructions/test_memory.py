"""Loads and stores: widths, vectors, state spaces, parameters, and what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from grader.model import Argument, FindingKind, Launch
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import parse
from tests.simulation.emulator.instructions.harness import HEADER, Case, check, launch, names
from tests.simulation.emulator.instructions.numbers import WIDTHS

INTEGERS = tuple(f"{sign}{bits}" for sign in "sub" for bits in (8, 16, 32, 64))


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _round_trips() -> list[Case]:
    found = []
    for space in ("shared", "local"):
        for kind in (*INTEGERS, "f32", "f64"):
            register = "%own" if space == "shared" else "buffer"
            text = (
                f".{space} .align 8 .b8 buffer[1024];\n.reg .b64 %own;\nmov.u64 %own, buffer;\n"
                "mul.wide.u32 %offset, %j, 8;\nadd.s64 %own, %own, %offset;\n"
                f"st.{space}.{kind} [{register}], {{a}};\nld.{space}.{kind} {{d}}, [{register}];"
            )
            wide = kind if WIDTHS[kind] > 8 else kind[0] + "16"
            found.append(Case(text, (wide,), (kind,), lambda a: a))
    return found


def _narrow() -> list[Case]:
    """A narrow load into a wide register extends; a narrow store cuts."""
    found = []
    for bits in (8, 16):
        for wide in (32, 64):
            for sign in "su":
                text = f"st.global.u{bits} [%base], {{a}};\nld.global.{sign}{bits} {{d}}, [%base];"
                found.append(
                    Case(
                        ".shared .align 8 .b8 buffer[1024];\nmov.u64 %base, buffer;\n"
                        "mul.wide.u32 %offset, %j, 8;\nadd.s64 %base, %base, %offset;\n"
                        + text.replace("global", "shared"),
                        (f"{sign}{wide}",),
                        (f"u{wide}",),
                        lambda a, n=bits, s=sign: (
                            _signed(low, n) if (low := a & ((1 << n) - 1)) and s == "s" else low
                        ),
                    )
                )
    return found


CASES = [
    *_round_trips(),
    *_narrow(),
    Case(
        ".shared .align 8 .b8 buffer[1024];\nmov.u64 %base, buffer;\nmul.wide.u32 %offset, %j, 8;\n"
        "add.s64 %base, %base, %offset;\nst.shared.u32 [%base], {a};\nld.shared.f32 {d}, [%base];",
        ("b64",),
        ("u32",),
        lambda a: a,
    ),
    Case("prefetch.global.L2 [%base];\nmov.u32 {d}, {a};", ("u32",), ("u32",), lambda a: a),
    Case("prefetchu.L1 [%base];\nmov.u32 {d}, {a};", ("u32",), ("u32",), lambda a: a),
    Case("discard.global.L2 [%base], 128;\nmov.u32 {d}, {a};", ("u32",), ("u32",), lambda a: a),
    Case(
        "applypriority.global.L2::evict_normal [%base], 128;\nmov.u32 {d}, {a};",
        ("u32",),
        ("u32",),
        lambda a: a,
    ),
    Case("nanosleep.u32 100;\nmov.u32 {d}, {a};", ("u32",), ("u32",), lambda a: a),
    Case("pmevent 1;\nmov.u32 {d}, {a};", ("u32",), ("u32",), lambda a: a),
    Case("ldu.global.u32 {d}, [%base];", ("u32",), ("u32",), lambda a: a),
    *(
        Case(f"ld.{words}.u32 {{d}}, [%base];", ("u32",), ("u32",), lambda a: a)
        for words in (
            "global.nc",
            "volatile.global",
            "relaxed.gpu.global",
            "acquire.sys.global",
            "global.ca",
            "global.cg",
            "global.cs",
            "global.L1::no_allocate.L2::128B",
        )
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{place}-{name}" for place, name in enumerate(names(CASES))])
def test_what_was_stored_is_loaded(case: Case) -> None:
    """In every width and state space, extended to the register."""
    check(case)


VECTORS = """
.visible .entry kernel(.param .u64 source, .param .u64 target)
{{
    .reg .b64 %a, %b, %c; .reg .b32 %i, %r<4>; .reg .b16 %h<4>; .reg .f32 %f<4>;
    ld.param.u64 %a, [source];
    ld.param.u64 %b, [target];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %c, %i, 16;
    add.s64 %a, %a, %c;
    add.s64 %b, %b, %c;
    {body}
    ret;
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a]; st.global.v4.u32 [%b], {%r0, %r1, %r2, %r3};",
        "ld.v4.f32 {%f0, %f1, %f2, %f3}, [%a]; st.v4.f32 [%b], {%f0, %f1, %f2, %f3};",
        "ld.global.v2.u64 {%a, %c}, [%a]; st.global.v2.u64 [%b], {%a, %c};",
        """ld.global.v2.u64 {%c, _}, [%a]; st.global.u64 [%b], %c;
        ld.global.v2.u64 {_, %c}, [%a]; st.global.u64 [%b+8], %c;""",
        """ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%a]; st.global.v4.u16 [%b], {%h0, %h1, %h2, %h3};
        ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%a+8]; st.global.v4.u16 [%b+8], {%h0, %h1, %h2, %h3};""",
    ],
)
def test_vectors_travel_whole(body: str) -> None:
    """Each element arrives in its place, also where the address register is a destination."""
    source = np.arange(128, dtype=np.uint32) * 0x01010101
    target = np.zeros_like(source)
    done = launch(
        HEADER + VECTORS.format(body=body),
        (Argument("source", "in", source), Argument("target", "out", target)),
    )
    assert not done.findings
    assert (done.outputs[0][1] == source).all()


def test_a_vector_is_one_request() -> None:
    """A warp that loads 16 bytes a lane moves 16 sectors, and each only once."""
    body = "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a]; st.global.v4.u32 [%b], {%r0, %r1, %r2, %r3};"
    source = np.arange(128, dtype=np.uint32)
    arguments = (Argument("source", "in", source), Argument("target", "out", np.zeros_like(source)))
    module = parse(HEADER + VECTORS.format(body=body))
    done = run(module, "kernel", Launch((1, 1, 1), (32, 1, 1)), arguments, detect=False)
    assert done.counters.global_load_bytes == done.counters.global_store_bytes == 512
    assert done.counters.global_load_sectors == done.counters.global_store_sectors == 16


def test_a_vector_must_be_aligned_as_a_whole() -> None:
    """A float4 at an address that is only a multiple of 4 is reported."""
    body = "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%a+4]; st.global.u32 [%b], %r1;"
    source = np.arange(132, dtype=np.uint32)
    arguments = (Argument("source", "in", source), Argument("target", "out", np.zeros(128, np.uint32)))
    done = launch(HEADER + VECTORS.format(body=body), arguments)
    assert [finding.kind for finding in done.findings] == [FindingKind.MISALIGNED]
    assert "16 bytes" in done.findings[0].message


MIXED = """
.visible .entry kernel(.param .u64 target)
{
    .shared .align 4 .b8 tile[128]; .local .align 4 .b8 depot[4];
    .reg .b64 %a, %s, %l, %p; .reg .b32 %i, %r, %three; .reg .pred %q, %w;
    ld.param.u64 %a, [target];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %p, %i, 4;
    add.s64 %a, %a, %p;
    mov.u64 %s, tile; cvta.shared.u64 %s, %s; add.s64 %s, %s, %p;
    mov.u64 %l, depot; cvta.local.u64 %l, %l;
    rem.u32 %three, %i, 3;
    setp.eq.u32 %q, %three, 0; setp.eq.u32 %w, %three, 1;
    selp.b64 %p, %s, %l, %q;
    selp.b64 %p, %a, %p, %w;
    st.u32 [%p], %i;
    ld.u32 %r, [%p];
    add.u32 %r, %r, 1000;
    st.global.u32 [%a], %r;
    ret;
}
"""


def test_lanes_may_name_different_state_spaces_at_once() -> None:
    """A generic store and load whose lanes point to shared, local and global memory."""
    done = launch(HEADER + MIXED, (Argument("target", "out", np.zeros(32, np.uint32)),))
    assert not done.findings
    assert (done.outputs[0][1] == np.arange(32) + 1000).all()


STRUCTURE = """
.visible .entry kernel(.param .u64 target, .param .align 8 .b8 point[16])
{
    .reg .b64 %a, %w; .reg .b32 %r<3>; .reg .b16 %h;
    ld.param.u64 %a, [target];
    ld.param.u32 %r0, [point];
    ld.param.v2.u32 {%r1, %r2}, [point+8];
    ld.param.u64 %w, [point+8];
    ld.param.u8 %h, [point+5];
    st.global.u32 [%a], %r0;
    st.global.u32 [%a+4], %r1;
    st.global.u32 [%a+8], %r2;
    st.global.u16 [%a+12], %h;
    st.global.u64 [%a+16], %w;
    ret;
}
"""


def test_a_structure_passed_by_value_is_read_in_any_pieces() -> None:
    """The pieces need not be the fields."""
    point = np.array((1, 0xAABBCCDD, 3, 4), [(name, "u4") for name in "xyzw"])[()]
    arguments = (Argument("target", "out", np.zeros(6, np.uint32)), Argument("point", "value", point))
    done = launch(HEADER + STRUCTURE, arguments, threads=1)
    assert done.outputs[0][1].tolist() == [1, 3, 4, 0xCC, 3, 4]


def test_a_load_from_nowhere_gives_all_ones_and_a_finding() -> None:
    """Out of bounds is reported, and the others go on."""
    body = "ld.global.u32 %r0, [%a+256]; st.global.u32 [%b], %r0;"
    source = np.arange(128, dtype=np.uint32)
    done = launch(
        HEADER + VECTORS.format(body=body),
        (Argument("source", "in", source), Argument("target", "out", np.zeros_like(source))),
    )
    assert [finding.kind for finding in done.findings] == [FindingKind.OUT_OF_BOUNDS]
    got = done.outputs[0][1].reshape(-1, 4)[:, 0]
    assert got.tolist() == [*range(64, 128, 4), *[0xFFFFFFFF] * 16]
