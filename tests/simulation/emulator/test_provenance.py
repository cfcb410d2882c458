"""The variable that an address stems from: claimed where the code leaves no doubt, and nowhere else."""

from __future__ import annotations

import pytest

from grader.simulation.emulator.linking.provenance import Origin, Provenance, provenance_of
from grader.simulation.ptx import parse

_TEXT = """
.version 8.0
.target sm_80
.address_size 64
.global .align 8 .u64 pointers[2] = {taken, 0};
.const .align 4 .b8 table[64];
.func (.param .b64 result) chosen(.param .b64 first, .param .b64 second)
{
    .reg .b64 %rd<3>;
    .reg .pred %p;
    ld.param.u64 %rd0, [first];
    ld.param.u64 %rd1, [second];
    selp.b64 %rd2, %rd0, %rd1, %p;
    st.param.b64 [result], %rd2;
    ld.global.u32 _, [%rd0];
    ret;
}
.func taken(.param .b64 only)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [only];
    st.u32 [%rd0], 1;
    ret;
}
.visible .entry kernel(.param .u64 A, .param .u32 n)
{
    .local .align 8 .b8 __local_depot3[48];
    .reg .b64 %SP, %SPL, %rd<12>;
    .reg .b32 %r<8>;
    .reg .pred %p;
    .shared .align 4 .b8 a[128];
    .shared .align 4 .b8 b[128];
    mov.u64 %SPL, __local_depot3;
    cvta.local.u64 %SP, %SPL;
    ld.param.u64 %rd0, [A];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, a;
    mov.u32 %r2, b;
    ld.shared.u32 %r6, [a+4];
BODY
    ret;
}
"""

A, B, ARGUMENT = Origin("a"), Origin("b"), Origin("A")


def origins(body: str, function: str = "kernel") -> set[Origin] | None:
    """Of the last access in a function."""
    module = parse(_TEXT.replace("BODY", body))
    code = module.function(function)
    accesses = [each for each in code.body if each.opcode in ("ld", "st") and "param" not in each.modifiers]
    found = Provenance(module).of_access(code, accesses[-1])
    return None if found is None else set(found)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("st.shared.u32 [a+8], 1;", {A}),
        ("add.s32 %r3, %r1, %r0; st.shared.u32 [%r3], 1;", {A}),
        ("mad.lo.s32 %r3, %r0, 4, %r2; st.shared.u32 [%r3+4], 1;", {B}),
        ("cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2], 1;", {A}),
        ("selp.b32 %r3, %r1, %r2, %p; st.shared.u32 [%r3], 1;", {A, B}),
        ("@%p mov.u32 %r3, %r1; @!%p mov.u32 %r3, %r2; st.shared.u32 [%r3], 1;", {A, B}),
        ("sub.s32 %r3, %r2, %r1; add.s32 %r4, %r1, %r3; st.shared.u32 [%r4], 1;", {A, B}),
        ("add.s32 %r3, %r1, %r6; st.shared.u32 [%r3], 1;", {A}),
        ("mov.u32 %r3, %r1; $L1: st.shared.u32 [%r3], 1; add.s32 %r3, %r3, 4; bra $L1;", {A}),
        ("cvta.to.global.u64 %rd1, %rd0; st.global.u32 [%rd1+400], 1;", {ARGUMENT}),
        ("mov.u64 %rd1, table; ld.const.u32 %r3, [%rd1];", {Origin("table")}),
        ("st.u32 [%SP+4], 1;", {Origin("__local_depot3", "kernel")}),
        (
            "add.u64 %rd1, %SP, 16; add.s64 %rd2, %rd1, 4; st.u32 [%rd2], 1;",
            {Origin("__local_depot3", "kernel", 16)},
        ),
    ],
)
def test_an_address_stems_from_what_it_was_computed_from(body: str, expected: set[Origin]) -> None:
    """Through copies, conversions, sums, choices and loops; an index adds nothing."""
    assert origins(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "st.shared.u32 [%r6], 1;",
        "selp.b32 %r3, %r1, %r6, %p; st.shared.u32 [%r3], 1;",
        "@%p mov.u32 %r3, %r6; @!%p mov.u32 %r3, %r2; st.shared.u32 [%r3], 1;",
        "ld.global.u64 %rd1, [%rd0]; st.u32 [%rd1], 1;",
        "st.global.u32 [4096], 1;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; st.shared.u32 [%r3], 1;",
    ],
)
def test_nothing_is_claimed_of_an_address_that_may_come_from_anywhere(body: str) -> None:
    """Loaded, or one of two of which one was loaded, or taken from another lane."""
    assert not origins(body)


CALL = """
    cvt.u64.u32 %rd1, %r1;
    cvta.shared.u64 %rd2, %rd1;
    {
    .param .b64 one;
    .param .b64 two;
    .param .b64 back;
    st.param.b64 [one], %rd2;
    st.param.b64 [two], SECOND;
    call.uni (back), chosen, (one, two);
    ld.param.b64 %rd3, [back];
    }
    st.u32 [%rd3], 1;
"""


@pytest.mark.parametrize(
    ("second", "expected"),
    [("%rd2", {A}), ("%rd0", {A, ARGUMENT})],
)
def test_pointers_are_followed_into_functions_and_back(second: str, expected: set[Origin]) -> None:
    """The parameter may be what any call passes; so may the result."""
    body = CALL.replace("SECOND", second)
    assert origins(body) == expected
    assert origins(body, "chosen") == {A}


def test_a_frame_is_not_followed_into_functions() -> None:
    """The callee's frame may be another one of the same function."""
    body = CALL.replace("SECOND", "%SP")
    assert not origins(body)
    assert origins(body, "chosen") == {A}


def test_a_function_whose_address_is_taken_may_be_given_anything() -> None:
    """Though the only call in sight passes a."""
    body = """
    cvt.u64.u32 %rd1, %r1;
    {
    .param .b64 one;
    st.param.b64 [one], %rd1;
    call.uni taken, (one);
    }
    """
    assert not origins(body, "taken")


def test_objects_of_a_frame_end_where_the_next_begins() -> None:
    """The compiler adds the start of each object to the frame in an ``add.u64`` of its own."""
    body = "add.u64 %rd1, %SP, 0; add.u64 %rd2, %SPL, 16; add.s64 %rd3, %rd1, 8; st.u32 [%rd3], 1;"
    module = parse(_TEXT.replace("BODY", body))
    assert Provenance(module).starts == {"kernel": {0, 16}}


def test_it_is_found_out_once_for_a_module() -> None:
    """However many of its kernels are linked; another module, of the same text even, has its own."""
    one, other = parse(_TEXT), parse(_TEXT)
    assert provenance_of(one) is provenance_of(one)
    assert provenance_of(other).module is other
    assert provenance_of(one).module is one
