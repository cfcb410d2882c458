"""The repairs that races and bad accesses suggest."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from grader.explaining import SubmissionContext, advise, explain_findings
from grader.model import (
    Access,
    CheckResult,
    Clause,
    Finding,
    FindingCode,
    FindingKind,
    RubricItem,
    Severity,
    Verdict,
)


def finding_with_code(kind: FindingKind, code: FindingCode, **fields: Any) -> Finding:  # noqa: ANN401
    """A finding whose code shows what it is, and whose message is empty."""
    return Finding(kind, "", code=code, **fields)


def refused(code: FindingCode) -> Finding:
    """A launch that is refused for the constant `TS`."""
    return finding_with_code(FindingKind.FAULT, code, constants=(("TS", 64),))


def race(hazard: str, line: int | None, other: int | None, array: str = "A_tile", **fields: Any) -> Finding:  # noqa: ANN401
    """A race whose second access is on ``line``."""
    return Finding(
        FindingKind.RACE, "", hazard=hazard, line=line, other_line=other, address=f"{array}[3][5]", **fields
    )


def test_a_missing_first_barrier_is_to_go_between_the_loads_and_the_first_read() -> None:
    """Both tiles loaded before the same missing barrier make one suggestion."""
    (found,) = explain_findings([race("RAW", 18, 13), race("RAW", 18, 14, "B_tile")])
    assert found.mistake == "barrier-before-reading"
    assert found.explanation == (
        "a thread reads `A_tile` and `B_tile` on line 18 while another is still writing there "
        "on lines 13 and 14"
    )
    assert found.hint == "put `__syncthreads()` between lines 14 and 18."


def test_a_missing_second_barrier_is_to_go_before_the_next_iteration() -> None:
    """The overwriting line stands above the reading one: the loop comes back."""
    (found,) = explain_findings([race("WAR", 13, 18), race("WAR", 14, 18, "B_tile")])
    assert found.mistake == "barrier-before-overwriting"
    assert (
        "a second `__syncthreads()` at the end of the loop body, after the last read on line 18" in found.hint
    )
    assert "before the next iteration of the loop overwrites the tile on lines 13 and 14" in found.hint


def test_with_no_barrier_at_all_the_first_one_is_suggested_first() -> None:
    """Whatever the order of the findings."""
    found = explain_findings([race("WAR", 13, 18), race("RAW", 18, 13)])
    assert [one.mistake for one in found] == ["barrier-before-reading", "barrier-before-overwriting"]


def test_accesses_across_a_loop_s_end_are_not_joined_with_those_inside() -> None:
    """One barrier would not do for both."""
    found = explain_findings([race("RAW", 18, 13), race("RAW", 11, 20)])
    assert [one.hint for one in found] == [
        "put `__syncthreads()` between lines 13 and 18.",
        "put `__syncthreads()` after line 20, before the loop comes back to line 11.",
    ]


@pytest.mark.parametrize(
    ("finding", "mistake", "words"),
    [
        (race("WAR", 20, 18), "barrier-between", "between lines 18 and 20"),
        (race("WAW", 20, 20), "two-writers", "atomic"),
        (race("WAW", 20, 18), "barrier-between-stores", "put `__syncthreads()` between lines 18 and 20"),
        (race("RAW", 20, 20), "update-in-place", "read into a variable"),
        (race("RAW", 20, 18, block=(0, 0, 0), other_block=(1, 0, 0)), "race-between-blocks", "other blocks"),
        (
            race("RAW", 20, 18, severity=Severity.WARNING),
            "race-inside-warp",
            "`__syncwarp()` between lines 18",
        ),
        (race("RAW", None, None), "barrier-before-reading", "between the two accesses"),
        (
            Finding(FindingKind.OUT_OF_BOUNDS, "", access=Access("read", "global", "A", (9,), 4)),
            "load-out-of-bounds",
            "inside the array",
        ),
        (
            Finding(FindingKind.OUT_OF_BOUNDS, "reads C[9]", access=Access("write", "global", "C", (9,), 4)),
            "store-out-of-bounds",
            "guard the store",
        ),
        (Finding(FindingKind.OUT_OF_BOUNDS, "", hazard="load"), "load-out-of-bounds", "inside the array"),
        (Finding(FindingKind.OUT_OF_BOUNDS, "reads A[9]"), "access-out-of-bounds", "compare every index"),
        (Finding(FindingKind.BARRIER_DIVERGENCE, "", line=7), "barrier-divergence", "out of the `if`"),
        (
            finding_with_code(FindingKind.BARRIER_DIVERGENCE, FindingCode.LANES_MISSING, line=7),
            "lanes-and-mask",
            "exactly the lanes that its mask names",
        ),
        (Finding(FindingKind.MISALIGNED, "", line=7), "misaligned-access", "multiple of the size"),
        (Finding(FindingKind.UNINITIALISED, "", line=7), "uninitialised-read", "start sums at 0"),
        (Finding(FindingKind.TIMEOUT, "", line=7), "endless", "loops around line 7"),
        (
            Finding(FindingKind.BARRIER_DIVERGENCE, "", line=7),
            "barrier-divergence",
            "loop that not all threads",
        ),
        (Finding(FindingKind.FAULT, "", line=7), "fault", "trap"),
        (finding_with_code(FindingKind.FAULT, FindingCode.STACK_OVERFLOW, line=7), "stack-overflow", ""),
        (refused(FindingCode.LAUNCH_TOO_LARGE), "launch-too-large", "a smaller `TS`: a block may have"),
        (refused(FindingCode.LAUNCH_NOT_COMPUTED), "launch-too-small", "values of at least 1 for `TS`"),
        (refused(FindingCode.LAUNCH_TOO_SMALL), "launch-too-small", "values of at least 1 for `TS`"),
        (refused(FindingCode.LAUNCH_SHARED_MEMORY), "launch-shared-memory", "48 KiB"),
        (
            finding_with_code(FindingKind.FAULT, FindingCode.VARIABLE_TOO_SMALL),
            "variable-too-small",
            "its type and its",
        ),
        (Finding(FindingKind.FAULT, "the GPU stopped the kernel: launch failure"), "fault", "trap"),
    ],
)
def test_each_kind_of_finding_suggests_its_repair(finding: Finding, mistake: str, words: str) -> None:
    """By kind, hazard, severity and lines."""
    (found,) = explain_findings([finding])
    assert found.mistake == mistake
    assert words in found.hint


def test_an_update_that_others_store_to_as_well_wants_an_atomic() -> None:
    """Not where each thread stores to its own element and reads that of another."""
    context = SubmissionContext(rewritten=frozenset({("A_tile", 20)}))
    (found,) = explain_findings([race("RAW", 20, 20)], (), context)
    assert (found.mistake, "atomicAdd" in found.hint) == ("unsynchronised-update", True)
    (found,) = explain_findings([race("WAR", 21, 21)], (), context)
    assert (found.mistake, "atomic" in found.hint) == ("update-in-place", False)


def test_no_barrier_of_a_warp_helps_where_its_lanes_store_to_one_element() -> None:
    """Counting with `bins[i]++`: what two lanes do on one line needs an atomic operation."""
    context = SubmissionContext(rewritten=frozenset({("h", 20)}))
    races = [race(hazard, 20, 20, "h", severity=Severity.WARNING) for hazard in ("WAW", "RAW", "WAR")]
    assert [d.mistake for d in explain_findings(races, context=context)] == ["unsynchronised-update"]
    assert [d.mistake for d in explain_findings(races[:1])] == ["two-writers"]
    assert [d.mistake for d in explain_findings(races[1:2])] == ["race-inside-warp"]


def test_an_update_that_races_is_reported_once() -> None:
    """`bins[i]++` loads and stores: two writers, and a reader between them."""
    context = SubmissionContext(rewritten=frozenset({("A_tile", 20)}))
    found = explain_findings([race("WAW", 20, 20), race("RAW", 20, 20)], (), context)
    assert [each.mistake for each in found] == ["unsynchronised-update"]


def test_memory_without_a_name_is_called_by_its_kind() -> None:
    """Shared memory behind all arrays, a local array, the second of two allocations on one line."""

    def outside(address: str, space: str, kind: FindingKind = FindingKind.OUT_OF_BOUNDS) -> str:
        access = Access("read", space, address.partition("[")[0], (9,), 4)
        (found,) = explain_findings([Finding(kind, "", line=7, address=address, access=access)])
        return found.explanation

    assert outside("shared[1226]", "shared") == "a thread reads outside shared memory on line 7"
    assert outside("data#2[9]", "global") == "a thread reads outside `data` on line 7"
    assert outside("a local variable", "local", FindingKind.UNINITIALISED) == (
        "a thread uses a local variable on line 7 that was never given a value"
    )


def test_a_local_variable_without_a_value_is_repaired_first() -> None:
    """A sum that begins with rubbish ruins everything else."""
    unset = finding_with_code(FindingKind.UNINITIALISED, FindingCode.UNSET_VARIABLE, line=7)
    first, *_ = explain_findings([outside("read", "A", 14), unset])
    assert first.mistake == "local-without-value"
    assert "float sum = 0.0f" in first.hint


def outside(verb: str, array: str, line: int) -> Finding:
    """An access beyond an array."""
    access = Access(verb, "global", array, (99,), 4)
    return Finding(FindingKind.OUT_OF_BOUNDS, "", line=line, address=f"{array}[99]", access=access)


def test_a_vector_has_no_rows() -> None:
    """One index, one comparison; a matrix beside it keeps its rows."""
    context = SubmissionContext(vectors=frozenset({"x"}))
    for way in ("read", "write"):
        (found,) = explain_findings([outside(way, "x", 3)], (), context)
        assert "row" not in found.hint
        assert "(`i < n`)" in found.hint
        (found,) = explain_findings([outside(way, "A", 3)], (), context)
        assert "row" in found.hint


def test_where_the_length_of_a_row_explains_the_output_it_comes_before_the_guard() -> None:
    """For the array in question, and no other."""
    context = SubmissionContext(shown="a-leading-dimension", misread="A")
    (found,) = explain_findings([outside("read", "A", 14)], (), context)
    assert found.hint.startswith("look at the length of a row first: ")
    (found,) = explain_findings([outside("read", "B", 14)], (), context)
    assert found.hint.startswith("guard the load")


def test_where_the_bounds_of_the_guard_are_exchanged_every_hint_names_them() -> None:
    """Of loads and stores outside, and of the races of those stores: neither grid nor atomics."""
    context = SubmissionContext(shown="guard-bounds-swapped", spilled=frozenset({("C", 12)}))
    collision = race("WAW", 12, 12, "C", block=(0, 0, 0), other_block=(2, 0, 0))
    for findings in ([outside("read", "B", 10), outside("write", "C", 12)], [collision]):
        (found,) = explain_findings(findings, (), context)
        assert found.hint.startswith("look at the bounds in the guard around line")
        assert "atomic" not in found.advice.lower()


def test_a_race_of_a_store_that_leaves_its_array_is_the_guard_s() -> None:
    """Another race of the same array is not."""
    context = SubmissionContext(spilled=frozenset({("C", 12)}))
    blocks = {"block": (0, 0, 0), "other_block": (2, 0, 0)}
    (found,) = explain_findings([race("WAW", 12, 12, "C", **blocks)], (), context)
    assert found.hint.startswith("look at the guard of the store on line 12 first")
    (found,) = explain_findings([race("WAW", 20, 20, "C", **blocks)], (), context)
    assert found.mistake == "race-between-blocks"


def test_findings_about_outputs_and_compilers_suggest_nothing() -> None:
    """Those have messages of their own."""
    kinds = (FindingKind.COMPILE, FindingKind.WRONG_OUTPUT, FindingKind.TRAFFIC, FindingKind.MISTAKE)
    assert explain_findings(Finding(kind, "x") for kind in kinds) == ()


@pytest.mark.parametrize("address", ["0x7f00", "local", "shared[3]", "\x1b[2J", ""])
def test_only_names_are_named(address: str) -> None:
    """Anything else is memory."""
    stray = Finding(FindingKind.OUT_OF_BOUNDS, "", line=3, address=address, access=Access("read"))
    (found,) = explain_findings([stray])
    assert found.explanation == "a thread reads outside memory on line 3"


STAFF_HINT = "See chapter 5."


def result(verdict: Verdict, hint: str, *findings: Finding) -> CheckResult:
    """A result with findings."""
    item = RubricItem("barriers", "barriers", Fraction(1), "races", hint=STAFF_HINT)
    return CheckResult(item, verdict, Fraction(0), "because", hint=hint, findings=findings)


def test_advice_replaces_the_staff_s_hint() -> None:
    """One repair at a time; advising twice changes nothing."""
    findings = (race("RAW", 18, 13), race("WAR", 13, 18), race("WAW", 9, 9))
    once = advise([result(Verdict.FAIL, STAFF_HINT, *findings)])
    assert once[0].hint.startswith("Put `__syncthreads()` between lines 13 and 18. To read: ")
    assert once[0].hint.count("To read: ") == 1
    assert STAFF_HINT not in once[0].hint
    assert "atomic" not in once[0].hint
    assert advise(once) == once


def test_only_failures_get_advice() -> None:
    """A pass with findings that cost nothing is left alone."""
    passed = result(Verdict.PASS, "", race("RAW", 18, 13))
    plain = result(Verdict.FAIL, STAFF_HINT)
    assert advise([passed, plain]) == (passed, plain)


def test_the_hint_of_a_named_mistake_stays() -> None:
    """An explanation of the output is worth more than one of what stopped a run."""
    named = result(Verdict.FAIL, "Round up.", Finding(FindingKind.TIMEOUT, "", line=7))
    assert advise([named]) == (named,)


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("extended character “ is not valid in an identifier", "Replace typographic quotes"),
        ("‘::main’ must return ‘int’", ""),
        ('identifier "__syncthread" is undefined', "Did you mean `__syncthreads` "),
        ('identifier "threadidx" is undefined', "Did you mean `threadIdx` "),
        ('identifier "blockdim" is undefined', "Did you mean `blockDim` "),
        ('identifier "__shared" is undefined', "Did you mean `__shared__` "),
        ('identifier "cols" is undefined', ""),
        ('calling a constexpr __host__ function("ceil(double)") from', "That function exists on the host"),
        ('calling a __host__ function("mine(int)") from', "A kernel can only call functions of the device"),
        ('zero-sized variable "tile" is not allowed in device code', "An array needs at least one element"),
        ('expected a ";"', "Put a `;` where the statement before ends"),
        ("expected a declaration", ""),
    ],
)
def test_a_compiler_s_message_gets_its_hint(message: str, hint: str) -> None:
    """A message of a known pattern gets its hint; for any other the staff's hint stays."""
    (advised,) = advise([result(Verdict.FAIL, STAFF_HINT, Finding(FindingKind.COMPILE, message))])
    assert advised.hint.startswith(hint or STAFF_HINT)


@pytest.mark.parametrize(
    ("code", "details", "hint"),
    [
        (FindingCode.NO_KERNEL, (), "Put `__global__` before `void scan`"),
        (FindingCode.OTHER_KERNELS, (), "Name your kernel `scan`"),
        (FindingCode.OTHER_KERNELS, ("beside",), "Write a kernel `scan` as well"),
        (FindingCode.OTHER_KERNELS, ("beside", "rename"), "Name your kernel `scan`"),
        (FindingCode.FILE_EMPTY, (), "Save the file in your editor"),
        (FindingCode.KERNEL_WITHOUT_BODY, (), STAFF_HINT),
    ],
)
def test_a_problem_with_a_code_gets_the_hint_of_its_code(
    code: FindingCode, details: tuple[str, ...], hint: str
) -> None:
    """The sentence, which a course may word otherwise, does not matter."""
    parts = tuple((name, (Clause("rename", (("name", "x"),)),)) for name in details)
    finding = Finding(FindingKind.COMPILE, "x", code=code, details=(("named", "`scan`"), *parts))
    (advised,) = advise([result(Verdict.FAIL, STAFF_HINT, finding)])
    assert advised.hint.startswith(hint)


def test_what_was_tried_takes_the_place_of_the_usual_hint() -> None:
    """One sentence for two races that one barrier ends; a race without a repair keeps its hint."""
    repair = "add `__syncthreads()` between lines 14 and 16: tried, and the race is gone"
    first = race("RAW", 18, 13, repair=repair)
    second = race("RAW", 18, 14, "B_tile", repair=repair)
    (diagnosis,) = explain_findings([first, second])
    assert diagnosis.mistake == "barrier-before-reading"
    assert diagnosis.hint == f"A{repair[1:]}."
    (usual,) = explain_findings([replace(first, repair="")])
    assert usual.hint == "put `__syncthreads()` between lines 13 and 18."


@pytest.mark.parametrize("runs_host_code", [True, False])
def test_no_guard_helps_a_pointer_without_memory(*, runs_host_code: bool) -> None:
    """A submission that allocates and launches itself is sent to its allocation."""
    nowhere = Finding(
        FindingKind.OUT_OF_BOUNDS, "", hazard="store", line=12, address="0x0", code=FindingCode.NULL_POINTER
    )
    context = SubmissionContext(allocates=runs_host_code)
    (diagnosis,) = explain_findings([nowhere], (), context)
    expected = "pointer-without-memory" if runs_host_code else "store-out-of-bounds"
    assert diagnosis.mistake == expected


def test_of_very_many_lines_the_first_ones_are_named() -> None:
    """A sentence with eight hundred numbers is not read."""
    (suggested,) = explain_findings([race("WAW", line, line + 1) for line in range(1, 801)])
    assert " lines 1, 2, 3, 4, 5, 6, 7 and others" in suggested.explanation
    assert "800" not in suggested.explanation + suggested.hint
