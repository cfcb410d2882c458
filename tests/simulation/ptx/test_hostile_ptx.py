"""Text that is no PTX, or broken PTX: it is refused with its line, never more."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grader.base.errors import PtxSyntaxError
from grader.simulation.ptx import parse
from grader.simulation.ptx.tokens import tokens
from tests.simulation.ptx.test_parser import HEADER

SAMPLE = (
    HEADER
    + """.extern .shared .align 16 .b8 pool[];
.global .u32 table[2] = {1, generic(pool)};
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }
.visible .entry k(.param .u64 p)
.maxntid 32, 1, 1
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .loc 1 5 3, function_name $L__info, inlined_at 1 9 1
$L__BB0:
    @!%p1 bra.uni $L__BB0;
    setp.lt.and.s32 %p0|%p1, 3, -4, !%p1;
    ld.global.v2.f32 {%f1, _}, [%rd1+-8];
    { // callseq 0
    .param .b32 param0;
    call.uni (retval0), f, (param0);
    }
    mov.f32 %f2, 0f3F800000;
    ret;
}
.file 1 "a.cu"
.section .debug { .b8 1 }
"""
)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (HEADER + "\n\n`", 6, "unexpected character"),
        (HEADER + "nonsense", 4, "a function or a variable"),
        (HEADER + ".global .what x;", 4, "a type"),
        (HEADER + ".entry k() {\nadd.s32 %r1, ;\n}", 5, "a number"),
        (HEADER + ".entry k() {\nadd.s32 %r1 %r2;\n}", 5, "`;`"),
        (HEADER + ".entry k() {\n.reg .b32 %r<x>;\n}", 5, "a whole number"),
        (HEADER + ".entry k() {\nld.u32 %r1, [%r2;\n}", 5, "`]`"),
        (HEADER + ".entry k() {\n, ret;\n}", 5, "an instruction"),
    ],
)
def test_a_syntax_error_names_the_ptx_line_and_what_was_expected(text: str, line: int, expected: str) -> None:
    """One sentence to find it by."""
    with pytest.raises(PtxSyntaxError, match=f"PTX line {line}: .*{expected}"):
        parse(text)


def test_a_text_that_ends_too_early_is_reported_as_such() -> None:
    """There is no line to name then."""
    with pytest.raises(PtxSyntaxError, match="the PTX ends where"):
        parse(HEADER + ".entry k() { ret;")


def test_truncated_ptx_is_parsed_or_refused() -> None:
    """Cut anywhere: PtxSyntaxError, or a shorter module; never another exception, never for ever."""
    for end in range(len(SAMPLE)):
        _parse_or_refuse(SAMPLE[:end])


def test_the_sample_itself_is_sound() -> None:
    """The sample that is cut up and scrambled here parses as it stands."""
    assert [f.name for f in parse(SAMPLE).functions] == ["f", "k"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=200))
@example(".version")
@example(".target")
@example(".target sm_80")
@example(".file")
@example(".file x y")
@example(".entry")
@example(".entry k(.param")
@example(".global .u32 x[")
@example(".global x;")
@example(".global .u32 x = ")
@example(".global .u32 x = 08;")
@example(".entry k() { .loc }")
@example(".entry k() { .loc a b c\n }")
@example(".entry k() { .loc 1 2 3 inlined_at\n }")
@example(".entry k() { .reg }")
@example(".entry k() { .reg .b32 %r<-3>; }")
@example(".entry k() { mov.u32 %r, 09; }")
@example(".entry k() { mov.u32 %r<99999999999>; }")
@example(".entry k() { .reg .b32 %r<99999999999>; }")
@example("/*")
@example('"')
@example(".global .u32 x[99999999999999999999];")
def test_garbage_is_refused(text: str) -> None:
    """Any text at all: PtxSyntaxError or a module."""
    _parse_or_refuse(text)


_WORDS = [*sorted({token.text for token in tokens(SAMPLE)}), "\n"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(_WORDS), max_size=40), st.integers(0, len(SAMPLE)))
def test_scrambled_ptx_is_refused(words: list[str], at: int) -> None:
    """PTX words in any order, put into PTX anywhere: PtxSyntaxError or a module."""
    _parse_or_refuse(SAMPLE[:at] + " ".join(words) + SAMPLE[at:])
    _parse_or_refuse(f"{HEADER}.entry k() {{ {' '.join(words)} }}")


@pytest.mark.parametrize("opening", ["{", "[", "(", "mov.u32 {"])
def test_deep_nesting_is_refused(opening: str) -> None:
    """Thousands of braces do not exhaust the stack of the interpreter."""
    _parse_or_refuse(HEADER + ".entry k() {" + opening * 20_000)
    _parse_or_refuse(HEADER + ".global .u32 x[1] = " + opening * 20_000)


def _parse_or_refuse(text: str) -> None:
    try:
        parse(text)
    except PtxSyntaxError as refused:
        assert "PTX" in str(refused)  # noqa: PT017 - refusing is one of two right outcomes
