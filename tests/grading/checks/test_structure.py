"""The `structure` check, and what run_checks adds to it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from grader.grading.checks import run_checks
from grader.model import (
    Build,
    Evidence,
    FindingKind,
    InstructionUse,
    Resources,
    RubricItem,
    Structure,
    Verdict,
)
from tests.grading.checks.judging import judge

TILED = Structure(
    shared_loads=InstructionUse(32, (17, 18)),
    shared_stores=InstructionUse(2, (12,)),
    barriers=InstructionUse(2, (13, 19)),
    file="mine.cu",
)
"""The structure of a tiled kernel."""

BUILD = Build(ok=True, resources=Resources(registers=40, shared_bytes=2048))


def looked_at(found: Structure | None = TILED, build: Build = BUILD) -> Evidence:
    """Evidence of a kernel with this structure."""
    return Evidence("emulator", build, structures=() if found is None else (("tiledMatMul", found),))


def item(kernel: str = "", **require: Any) -> RubricItem:  # noqa: ANN401 - numbers, and whether
    """An item that requires this."""
    options: tuple[tuple[str, Any], ...] = (("require", tuple(require.items())),)
    named = (("kernel", kernel),) if kernel else ()
    return RubricItem(
        "built", "built", Fraction(5), "structure", hint="use a tile", options=(*named, *options)
    )


@pytest.mark.parametrize(
    "met",
    [
        {"uses_shared_memory": True, "uses_barriers": True},
        {"uses_atomics": False, "uses_shuffles": False, "uses_constant_memory": False},
        {"no_library_calls": True},
        {"max_registers": 40, "max_shared_bytes": 2048},
    ],
)
def test_what_is_required_and_there_earns_everything(met: dict[str, Any]) -> None:
    """A limit is inclusive, and `false` asks for the opposite."""
    result = judge(item(**met), looked_at())
    assert [result.verdict, result.fraction, result.findings] == [Verdict.PASS, 1, ()]


@pytest.mark.parametrize(
    ("required", "message", "line"),
    [
        ({"uses_shared_memory": False}, "uses shared memory on lines 12, 17 and 18, and must not", 12),
        ({"uses_shuffles": True}, "uses no warp shuffles, which is asked for", None),
        ({"uses_barriers": False}, "uses barriers (`__syncthreads()`) on lines 13 and 19, and must not", 13),
        ({"max_registers": 39}, "takes 40 registers per thread; at most 39 are asked for", None),
        ({"max_shared_bytes": 1024}, "takes 2,048 bytes of shared memory per block; at most 1,024 are", None),
        ({"no_library_calls": False}, "uses no library, which is asked for", None),
    ],
)
def test_what_is_missing_or_too_much_is_named_with_its_line(
    required: dict[str, Any], message: str, line: int | None
) -> None:
    """All or nothing, with the staff's hint and a finding for each requirement."""
    result = judge(item(**required), looked_at())
    assert [result.verdict, result.fraction, result.hint] == [Verdict.FAIL, 0, "use a tile"]
    assert result.message.startswith(f"the kernel {message}")
    (finding,) = result.findings
    assert (finding.kind, finding.file, finding.line) == (FindingKind.STRUCTURE, "mine.cu", line)


@pytest.mark.parametrize(
    ("required", "structure_", "message"),
    [
        (
            {"uses_shuffles": True},
            replace(TILED, shuffles=InstructionUse(2, (5, 7), 0)),
            "has warp shuffles on lines 5 and 7, but no case executes them; its use is asked for",
        ),
        (
            {"uses_shared_memory": True},
            replace(TILED, shared_loads=InstructionUse(1, (5,), 0), shared_stores=InstructionUse(1, (4,), 1)),
            (
                "has shared memory on lines 4 and 5, but no case stores there and loads it again; "
                "its use is asked for"
            ),
        ),
    ],
)
def test_what_no_case_executes_does_not_count(
    required: dict[str, Any], structure_: Structure, message: str
) -> None:
    """The instructions are there, and no thread comes to them."""
    result = judge(item(**required), looked_at(structure_))
    assert [result.verdict, result.fraction, result.message] == [Verdict.FAIL, 0, f"the kernel {message}"]


def test_one_executed_instruction_of_a_sort_is_enough() -> None:
    """All lines are named, for which of them ran may tell what hidden cases are like."""
    found = replace(TILED, shuffles=InstructionUse(3, (5, 7, 9), 1))
    result = judge(item(uses_shuffles=True), looked_at(found))
    assert result.verdict is Verdict.PASS
    assert result.message == "the kernel uses warp shuffles on lines 5, 7 and 9"
    assert judge(item(uses_shuffles=False), looked_at(found)).verdict is Verdict.FAIL


def test_what_must_not_be_used_may_stand_there_unused() -> None:
    """The opposite of a requirement that is not met is met."""
    idle = replace(TILED, atomics=InstructionUse(1, (5,), 0))
    assert judge(item(uses_atomics=False), looked_at(idle)).verdict is Verdict.PASS


def test_shared_memory_that_is_only_written_is_not_used() -> None:
    """Nor one that is only read: nothing was kept there."""
    only = replace(TILED, shared_loads=InstructionUse())
    result = judge(item(uses_shared_memory=True), looked_at(only))
    assert (result.verdict, "loads nothing from there" in result.message) == (Verdict.FAIL, True)


def test_a_library_is_named() -> None:
    """By the header that its code is from, or the function that is called."""
    found = replace(
        TILED, library=(("CUB", InstructionUse(90, (21,))), ("evil\x1b[31m", InstructionUse(1, ())))
    )
    message = judge(item(no_library_calls=True), looked_at(found)).message
    assert message == "the kernel uses `CUB`, `evil\\x1b[31m` of a library on line 21, and must do without"


def test_another_kernel_of_the_file_may_be_asked_about() -> None:
    """With its own registers."""
    other = replace(BUILD, resources=Resources(registers=10))
    evidence = looked_at(build=replace(BUILD, others=(("naive", other),)))
    evidence = replace(evidence, structures=(*evidence.structures, ("naive", Structure())))
    asked = item("naive", uses_shared_memory=False, max_registers=10)
    assert judge(asked, evidence).message == (
        "the kernel `naive` uses no shared memory and takes 10 registers per thread"
    )


def test_nothing_known_is_an_error_of_ours_and_no_build_the_students() -> None:
    """No student loses points because the build could not be examined."""
    asked = item(uses_shared_memory=True)
    assert judge(asked, looked_at(None)).verdict is Verdict.ERROR
    assert judge(asked, looked_at(build=Build(ok=False, error="the disk is full"))).verdict is Verdict.ERROR
    assert judge(asked, looked_at(build=Build(ok=False))).verdict is Verdict.FAIL


def test_the_staffs_words_go_with_the_verdict_and_not_with_what_was_not_judged() -> None:
    """A student is not blamed for what was not examined."""
    words: dict[str, Any] = {"message_pass": "well built", "message_fail": "look at tiles"}
    first = replace(item(uses_shared_memory=True), **words)
    second = replace(item(uses_atomics=True), id="second", needs=("built",), **words)
    shown = [result.message_staff for result in run_checks((first, second), looked_at())]
    assert shown == ["well built", "look at tiles"]
    shown = [result.message_staff for result in run_checks((first, second), looked_at(Structure()))]
    assert shown == ["look at tiles", ""]


def test_a_penalty_costs_nothing_where_nothing_could_be_looked_at() -> None:
    """Neither where the submission does not build nor where a need has failed."""
    first = item(uses_shared_memory=True)
    second = replace(item(uses_atomics=True), id="second", needs=("built",), penalty=True)
    alone = replace(second, needs=())
    assert run_checks((first, second), looked_at())[1].fraction == 0
    assert run_checks((first, second), looked_at(Structure()))[1].fraction == 1
    assert run_checks((alone,), looked_at(build=Build(ok=False)))[0].fraction == 1
