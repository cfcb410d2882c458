"""The `traffic` check."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from grader.grading.checks import traffic
from grader.model import (
    Counters,
    Finding,
    FindingKind,
    KernelCounters,
    LineCounters,
    ProgramRun,
    Structure,
    Verdict,
)
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""

TENTH = {"metric": "global_load_bytes", "baseline": "naive", "at_most": Fraction(1, 10)}


def test_the_message_states_both_numbers_and_the_ratio(item: Make, case: Make, evidence: Make) -> None:
    """64,704 of 908,160 bytes are 7.1 %."""
    result = judge(item("traffic", options=TENTH), evidence(case("mp3", loads=64_704)))
    assert [result.verdict, result.fraction] == [Verdict.PASS, 1]
    assert result.message == (
        "reads 64,704 bytes of global memory; the naive kernel reads 908,160: 7.1 %, at most 10 % asked"
    )


def test_too_much_traffic_fails_with_a_finding(item: Make, case: Make, evidence: Make) -> None:
    """The naive kernel itself moves 100 %."""
    result = judge(item("traffic", options=TENTH), evidence(case("mp3", loads=908_160)))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, 0]
    assert [finding.kind for finding in result.findings] == [FindingKind.TRAFFIC]


LINES = (
    LineCounters(9, "A", global_load_bytes=600_000),
    LineCounters(9, "B", global_load_bytes=300_000),
    LineCounters(12, "B", global_load_bytes=8_160, global_store_bytes=5),
)


def test_the_lines_that_move_most_of_it_are_named_with_the_array(
    item: Make, case: Make, evidence: Make
) -> None:
    """Each that moves a quarter or more in the case that was looked at line by line."""
    looked = evidence(case("mp1", loads=8), case("mp3", loads=908_160, lines=LINES))
    seen = replace(looked, structures=(("tiled", Structure(file="ada.cu")),))
    result = judge(item("traffic", options=TENTH | {"at_most": Fraction(1, 10)}), seen)
    assert [(f.line, f.file, f.case, f.message) for f in result.findings[1:]] == [
        (9, "ada.cu", "mp3", "reads 600,000 of the 908,160 bytes of global memory from `A` in case `mp3`"),
        (9, "ada.cu", "mp3", "reads 300,000 of the 908,160 bytes of global memory from `B` in case `mp3`"),
    ]


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (TENTH, {"loads": 90_816}),
        ({"at_least": Fraction(2)}, {"loads": 908_160}),
        (TENTH, {"loads": 908_160, "hidden": True}),
        (
            TENTH | {"metric": "barriers"},
            {"counters": Counters(barriers=9), "baselines": (("naive", Counters(barriers=3)),)},
        ),
    ],
)
def test_no_line_is_named_where_too_little_moves_or_the_case_is_hidden_or_uncounted(
    options: Make, fields: Make, item: Make, case: Make, evidence: Make
) -> None:
    """Nor where the item passes."""
    result = judge(item("traffic", options=options), evidence(case("a", lines=LINES, **fields)))
    assert all(finding.line is None for finding in result.findings)


@pytest.mark.parametrize(
    ("own", "options", "verdict"),
    [
        (100, {"at_most": Fraction(1, 10)}, Verdict.PASS),
        (101, {"at_most": Fraction(1, 10)}, Verdict.FAIL),
        (500, {"at_least": Fraction(1, 2)}, Verdict.PASS),
        (499, {"at_least": Fraction(1, 2)}, Verdict.FAIL),
        (300, {"at_least": Fraction(1, 4), "at_most": Fraction(1, 2)}, Verdict.PASS),
    ],
)
def test_limits_are_inclusive_and_exact(
    own: int, options: Make, verdict: Verdict, item: Make, case: Make, evidence: Make
) -> None:
    """A byte over the limit is over the limit."""
    result = judge(item("traffic", options=options), evidence(case("a", loads=own, naive=1000)))
    assert result.verdict is verdict


def test_a_ratio_just_over_the_limit_does_not_look_like_the_limit(
    item: Make, case: Make, evidence: Make
) -> None:
    """As many decimals as that takes."""
    close = case("a", loads=1_000_001, naive=10_000_000)
    message = judge(item("traffic", options=TENTH), evidence(close)).message
    assert "10.00001 %, at most 10 % asked" in message


def test_sums_are_taken_over_the_cases(item: Make, case: Make, evidence: Make) -> None:
    """One ratio of two sums, not a mean of ratios."""
    cases = (case("a", loads=10, naive=1000), case("b", loads=1000, naive=1000))
    result = judge(item("traffic", options={"at_most": Fraction(101, 200)}), evidence(*cases))
    assert result.verdict is Verdict.PASS
    assert result.case_verdicts == (("a", Verdict.PASS), ("b", Verdict.PASS))


def test_a_kernel_that_does_nothing_saves_nothing(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """No byte moved, no answer, no points."""
    idle = case("a", loads=0, comparisons=(comparison(2365, unwritten=2365),))
    result = judge(item("traffic", options=TENTH), evidence(idle))
    assert result.verdict is Verdict.FAIL
    assert result.message.startswith("only counts for a kernel that computes the right answer")


def test_only_cases_with_a_right_answer_are_counted(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Dropping work where the answer is wrong anyway does not help."""
    idle = case("a", loads=0, naive=10**9, comparisons=(comparison(1),))
    result = judge(item("traffic", options=TENTH), evidence(idle, case("b", loads=500, naive=1000)))
    assert result.verdict is Verdict.FAIL
    assert "50.0 %" in result.message


def test_hidden_cases_show_no_number_at_all(item: Make, case: Make, evidence: Make) -> None:
    """A sum of bytes is a shape, and so is a ratio to which a hidden case belongs."""
    cases = (case("a", loads=64_704), case("secret", hidden=True, loads=64_704))
    check = item("traffic", options=TENTH)
    assert judge(check, evidence(*cases)).message == (
        "reads 64,704 bytes of global memory in the visible cases; the naive kernel reads 908,160: 7.1 %, "
        "and with the hidden cases at most the 10 % asked"
    )
    assert judge(check, evidence(case("secret", hidden=True, loads=264_704))).message == (
        "reads more than the 10 % asked of the bytes of global memory that the naive kernel reads"
    )


BAND = tuple(
    (Fraction(1, 2) - Fraction(tenth, 10) * Fraction(2, 5), Fraction(tenth, 10)) for tenth in range(1, 11)
)
"""`none_above: 0.5`, `full_at: 0.1`."""


@pytest.mark.parametrize(
    ("own", "credit"),
    [
        (500, 0),
        (461, 0),
        (460, "1/10"),
        (300, "1/2"),
        (299, "1/2"),
        (141, "8/10"),
        (101, "9/10"),
        (100, 1),
        (0, 1),
    ],
)
def test_a_linear_band_gives_tenths(
    own: int, credit: Fraction | int | str, item: Make, case: Make, evidence: Make
) -> None:
    """Each tenth of the way from 50 % to 10 % is worth a tenth, to the byte."""
    band = item("traffic", options={"baseline": "naive", "steps": BAND})
    result = judge(band, evidence(case("a", loads=own, naive=1000)))
    assert result.fraction == Fraction(credit)
    assert (result.verdict is Verdict.PASS) == (result.fraction == 1)


def test_steps_tell_the_next_one_and_the_last(item: Make, case: Make, evidence: Make) -> None:
    """The message names the step that would earn more, and the one that would earn all."""
    steps = tuple(
        (Fraction(limit), Fraction(credit))
        for limit, credit in [("1/2", "1/4"), ("1/4", "1/2"), ("1/10", "1")]
    )
    check = item("traffic", options={"baseline": "naive", "steps": steps})
    result = judge(check, evidence(case("a", loads=400, naive=1000)))
    assert result.fraction == Fraction(1, 4)
    assert result.message == (
        "reads 400 bytes of global memory; the naive kernel reads 1,000: 40.0 %, "
        "at most 25 % for 50 % of the points, at most 10 % for full credit asked"
    )


def test_less_than_at_least_earns_nothing_of_a_band(item: Make, case: Make, evidence: Make) -> None:
    """A kernel that moves suspiciously little does not earn the most."""
    options = {"baseline": "naive", "steps": BAND, "at_least": Fraction(1, 20)}
    result = judge(item("traffic", options=options), evidence(case("a", loads=49, naive=1000)))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, 0]


@pytest.mark.parametrize(
    "given",
    [{}, {"loads": 0, "naive": 0}, {"loads": 1, "error": "no memory"}],
    ids=["no baseline", "a baseline of nothing", "our error"],
)
def test_without_a_number_to_compare_with_it_is_an_error(
    given: Make, item: Make, case: Make, evidence: Make
) -> None:
    """The staff's kernel is ours to run."""
    result = judge(item("traffic", options=TENTH), evidence(case("a", **given)))
    assert result.verdict is Verdict.ERROR


def test_counters_that_are_missing_are_our_error(item: Make, case: Make, evidence: Make) -> None:
    """Zero bytes would be the best kernel of all."""
    uncounted = case("b", loads=0, uncounted="the emulator does not interpret `wgmma` yet")
    result = judge(item("traffic", options=TENTH), evidence(case("a", loads=64_704), uncounted))
    assert result.verdict is Verdict.ERROR
    assert result.message == (
        "not judged, through no fault of the submission: the kernel's memory traffic was not counted: "
        "the emulator does not interpret `wgmma` yet"
    )


def test_a_wrong_kernel_that_was_not_counted_fails_all_the_same(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Only right cases are counted."""
    wrong = case("a", loads=0, comparisons=(comparison(1),), uncounted="no emulator")
    assert judge(item("traffic", options=TENTH), evidence(wrong)).verdict is Verdict.FAIL


def test_every_counter_can_be_asked_for() -> None:
    """The wording knows them all."""
    names = {field.name for field in fields(Counters)}
    assert set(traffic.METRICS) == names


OF = {"metric": "global_load_bytes", "baseline": None, "of": "4 * M * K", "at_most": Fraction(1)}
"""4 * 55 * 48 bytes are 10,560."""


@pytest.mark.parametrize(("loads", "verdict"), [(10_560, Verdict.PASS), (10_561, Verdict.FAIL)])
def test_an_expression_over_the_sizes_may_stand_for_a_baseline(
    loads: int, verdict: Verdict, item: Make, case: Make, evidence: Make
) -> None:
    """It is evaluated for each case, and quoted."""
    result = judge(item("traffic", options=OF), evidence(case("a", loads=loads)))
    assert result.verdict is verdict
    assert f"reads {loads:,} bytes of global memory; `4 * M * K` is 10,560: " in result.message


def test_of_hidden_cases_an_expression_tells_no_number(item: Make, case: Make, evidence: Make) -> None:
    """Its value there is a shape."""
    result = judge(item("traffic", options=OF), evidence(case("secret", hidden=True, loads=20_000)))
    assert result.message == "reads more than the 100 % asked of `4 * M * K`"


@pytest.mark.parametrize(("of", "reason"), [("M / (K - 48)", "no value"), ("M - 55", "is 0, so there is no")])
def test_an_expression_without_a_value_is_no_mistake_of_the_student(
    of: str, reason: str, item: Make, case: Make, evidence: Make
) -> None:
    """It is the staff's."""
    result = judge(item("traffic", options=OF | {"of": of}), evidence(case("a", loads=5)))
    assert result.verdict is Verdict.ERROR
    assert reason in result.message


def _kernels(**loads: int) -> tuple[KernelCounters, ...]:
    return tuple(
        KernelCounters(name, 1, Counters(global_load_bytes=amount), LINES, "ada.cu")
        for name, amount in loads.items()
    )


def _program(*, returncode: int = 0, **fields: Make) -> dict[str, Make]:
    return {"program": ProgramRun("exit", returncode), "comparisons": (), "launches": 2} | fields


@pytest.mark.parametrize(
    ("kernel", "verdict", "words"),
    [
        (
            "tiled",
            Verdict.PASS,
            "`tiled` reads 64,704 bytes of global memory; the naive kernel reads 908,160",
        ),
        (None, Verdict.FAIL, "reads 972,864 bytes of global memory"),
        ("other", Verdict.FAIL, "no kernel `other` ran"),
    ],
)
def test_the_kernels_of_a_program_count_one_by_one_or_all(
    kernel: str | None, verdict: Verdict, words: str, item: Make, case: Make, evidence: Make
) -> None:
    """One that was never launched earns nothing."""
    naive = Counters(global_load_bytes=908_160)
    of_program = _program(
        kernels=_kernels(naive=908_160, tiled=64_704),
        counters=Counters(global_load_bytes=972_864),
        baselines=(("naive", naive), ("naive:tiled", naive), ("naive:other", naive)),
    )
    result = judge(item("traffic", options=TENTH | {"kernel": kernel}), evidence(case("a", **of_program)))
    assert result.verdict is verdict
    assert words in result.message


def test_lines_are_those_of_the_kernel_that_is_named(item: Make, case: Make, evidence: Make) -> None:
    """With what it is called in front."""
    of_program = _program(kernels=_kernels(tiled=908_160), counters=Counters(global_load_bytes=908_160))
    options = OF | {"kernel": "tiled"}
    findings = judge(item("traffic", options=options), evidence(case("a", **of_program))).findings
    assert [(f.line, f.file) for f in findings[1:]] == [(9, "ada.cu"), (9, "ada.cu")]
    assert findings[1].message.startswith("`tiled` reads 600,000 of the 908,160 bytes")


@pytest.mark.parametrize(
    "fields",
    [
        {"launches": 0},
        {"returncode": 1},
        {"completed": False, "findings": (Finding(FindingKind.FAULT, "it crashed"),)},
        {"findings": (Finding(FindingKind.WRONG_OUTPUT, "no file"),)},
    ],
)
def test_a_program_that_is_not_right_saves_nothing(
    fields: Make, item: Make, case: Make, evidence: Make
) -> None:
    """It launched nothing, failed by its own word or another's, or left no result."""
    kernels = () if fields.get("launches") == 0 else _kernels(tiled=1)
    result = judge(item("traffic", options=OF), evidence(case("a", **_program(kernels=kernels, **fields))))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, 0]


def test_a_program_whose_launches_were_not_counted_is_not_judged(
    item: Make, case: Make, evidence: Make
) -> None:
    """The emulator could not follow them."""
    result = judge(
        item("traffic", options=OF), evidence(case("a", **_program(uncounted="no such thing here")))
    )
    assert result.verdict is Verdict.ERROR
    assert "no such thing here" in result.message
