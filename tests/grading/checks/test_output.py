"""The `output` check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model import (
    UNKNOWN_AUTHOR,
    Access,
    Build,
    Case,
    CaseEvidence,
    Comparison,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    RubricItem,
    Verdict,
    Visibility,
)
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""


def test_all_cases_right_earns_all_points(item: Make, case: Make, evidence: Make) -> None:
    """An item without cases looks at all of them."""
    result = judge(item("output"), evidence(case("a"), case("b", hidden=True)))
    assert [result.verdict, result.fraction, result.message] == [
        Verdict.PASS,
        1,
        "all 2 cases are right (in the visible ones 2,365 elements, no error)",
    ]
    assert result.case_verdicts == (("a", Verdict.PASS), ("b", Verdict.PASS))
    assert result.findings == ()


@pytest.mark.parametrize("cases", [("edges",), ("b",), ("edges", "b")])
def test_cases_are_chosen_by_tag_or_id(
    item: Make, case: Make, comparison: Make, evidence: Make, cases: tuple[str, ...]
) -> None:
    """Other cases do not matter to the item."""
    wrong = case("a", tags=("aligned",), comparisons=(comparison(3),))
    result = judge(item("output", cases=cases), evidence(wrong, case("b", tags=("edges",))))
    assert result.verdict is Verdict.PASS
    assert result.message == "the one case is right (2,365 elements, no error)"


@pytest.mark.parametrize(
    ("relative", "words"), [(1.18e-07, "relative error at most 1.18e-07"), (0.01, "off by at most 4e-06")]
)
def test_a_right_answer_tells_how_much_was_compared_and_how_close_it_is(
    item: Make, case: Make, comparison: Make, evidence: Make, relative: float, words: str
) -> None:
    """All elements of visible cases; the relative error only where no sum has cancelled to nearly nothing."""
    close = replace(comparison(), max_error=4e-06, max_relative_error=relative)
    both = case("a", comparisons=(close, comparison()))
    assert judge(item("output"), evidence(both)).message == f"the one case is right (4,730 elements, {words})"


def test_how_close_hidden_cases_are_is_not_reported(item: Make, case: Make, evidence: Make) -> None:
    """The number of their elements would tell their shapes."""
    result = judge(item("output"), evidence(case("a", hidden=True)))
    assert result.message == "the one case is right"


def test_the_first_wrong_element_is_reported_in_full(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Case, shape, element, expected, allowed error, got, how many, and the mistake's name."""
    wrong = comparison(43, explanation="`C` lacks the last tile of the sum", hint="round up.")
    cases = (case("square"), case("mp3", comparisons=(comparison(), wrong)), case("other"))
    result = judge(item("output", hint="See the course notes."), evidence(*cases))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, 0]
    assert result.message == (
        "2 of 3 cases are right. In case `mp3` (M=55, K=48, N=43) `C[54][0]` should be 12.5 (at most 1e-06 "
        "off) but is 3.25 (43 of 2,365 elements are wrong); `C` lacks the last tile of the sum"
    )
    assert result.hint == "Round up."
    assert [finding.kind for finding in result.findings] == [FindingKind.MISTAKE, FindingKind.WRONG_OUTPUT]
    assert result.findings[1].address == "C[54][0]"
    assert result.findings[1].case == "mp3"


def test_the_mistake_that_most_elements_show_is_the_one_to_tell(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Small cases may look like another; the first that shows it is quoted."""
    cases = [
        case(name, comparisons=(comparison(wrong, explanation=explanation, hint=f"about {name}."),))
        for name, wrong, explanation in (
            ("tiny", 3, "`C` is 0"),
            ("small", 5, "`C` is 0"),
            ("b", 7, "`C` lacks a tile"),
            ("c", 2, "`C` lacks a tile"),
        )
    ]
    hidden = case("d", hidden=True, comparisons=(comparison(3, explanation="`C` is 0"),))
    result = judge(item("output"), evidence(*cases, hidden, hidden))
    assert "In case `b`" in result.message
    assert result.message.endswith("`C` lacks a tile. 2 hidden cases fail as well")
    assert result.hint == "About b."


def test_an_element_that_was_never_written_is_reported_as_such(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Not as NaN, which is the poison and nothing that the student computed."""
    result = judge(item("output"), evidence(case("a", comparisons=(comparison(5, unwritten=5),))))
    assert (
        "but is still what it was before the launch (5 of 2,365 elements are wrong, 5 as before the launch)"
        in result.message
    )
    assert result.message.startswith("the one case is wrong. In case `a`")


def test_an_output_that_was_added_to_is_reported_as_such(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """NaN is kept by `+=`; that the kernel read the output before it stored there is how we know."""
    wrong = comparison(5, unwritten=5)
    added = Finding(FindingKind.UNINITIALISED, "reads C[54][0]", address="C[54][0]", line=9)
    result = judge(item("output"), evidence(case("a", comparisons=(wrong,), findings=(added,))))
    assert "but is NaN, because `C` held NaN before the launch and `+=` keeps it" in result.message
    assert "as before the launch" not in result.message


def test_a_launch_that_a_device_refuses_is_reported_once(item: Make, case: Make, evidence: Make) -> None:
    """Not once for each case: the constants are to blame, and no shape."""
    refused = Finding(FindingKind.FAULT, "a block of 64 × 64 × 1 has 4096 threads")
    fields = {"completed": False, "launched": False, "findings": (refused,), "comparisons": ()}
    result = judge(item("output"), evidence(case("a", **fields), case("b", **fields)))
    assert result.message == (
        "none of 2 cases is right. The kernel cannot be launched: a block of 64 × 64 × 1 has 4096 threads"
    )
    assert [(finding.kind, finding.case) for finding in result.findings] == [(FindingKind.FAULT, "a")]
    hidden = judge(item("output"), evidence(case("a", hidden=True, **fields)))
    assert hidden.message == "the one case is wrong. 1 hidden case fails: the kernel cannot be launched"


def test_per_case_credit_is_an_exact_share(item: Make, case: Make, comparison: Make, evidence: Make) -> None:
    """Two of three cases are two thirds, and still no pass."""
    cases = (case("a"), case("b"), case("c", comparisons=(comparison(1),)))
    result = judge(item("output", partial="per-case"), evidence(*cases))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, Fraction(2, 3)]


def test_a_kernel_that_writes_into_an_input_fails_the_case(item: Make, case: Make, evidence: Make) -> None:
    """However right the output is."""
    result = judge(item("output"), evidence(case("a", changed_inputs=("A", "B"))))
    assert result.verdict is Verdict.FAIL
    assert "In case `a` (M=55, K=48, N=43) the kernel wrote into its input `A`, `B`" in result.message


def test_a_run_that_did_not_end_fails_the_case_with_a_reason(item: Make, case: Make, evidence: Make) -> None:
    """Even where what it had stored by then is right."""
    endless = Finding(FindingKind.TIMEOUT, "was stopped after 10 steps", line=9)
    result = judge(item("output"), evidence(case("a", completed=False, findings=(endless,))))
    assert result.verdict is Verdict.FAIL
    assert (
        "did not come to its end: the kernel did not come to an end; it was last seen on line 9"
        in result.message
    )
    assert FindingKind.TIMEOUT in {finding.kind for finding in result.findings}


def test_a_case_that_could_not_be_launched_fails_with_the_reason(
    item: Make, case: Make, evidence: Make
) -> None:
    """A visible one; of a hidden one only that it could not."""
    reason = Finding(FindingKind.COMPILE, "a grid of 0 blocks cannot be launched")
    fields = {"completed": False, "findings": (reason,), "comparisons": ()}
    shown = judge(item("output"), evidence(case("a", **fields)))
    assert shown.verdict is Verdict.FAIL
    assert "a grid of 0 blocks cannot be launched" in shown.message
    hidden = judge(item("output"), evidence(case("a", hidden=True, **fields)))
    assert (
        "1 hidden case fails: the run did not come to its end: the kernel could not be run" in hidden.message
    )


@pytest.mark.parametrize(
    "fields",
    [{"error": "no memory left"}, {"comparisons": ()}, {"completed": False}],
    ids=["our error", "nothing compared", "stopped without a finding"],
)
def test_a_case_that_failed_on_us_makes_the_item_an_error(
    item: Make, case: Make, evidence: Make, fields: dict[str, Any]
) -> None:
    """No other case is wrong, and the case verdicts show which one is the error."""
    cases = (case("a"), case("b", **fields))
    result = judge(item("output", partial="per-case"), evidence(*cases))
    assert [result.verdict, result.fraction] == [Verdict.ERROR, 0]
    assert result.message.startswith("not judged, through no fault of the submission: ")
    assert result.case_verdicts == (("a", Verdict.PASS), ("b", Verdict.ERROR))


def test_hidden_cases_show_neither_shape_nor_values(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Only that they fail, the mistake's name, and the lines of what stopped them."""
    stop = Finding(
        FindingKind.OUT_OF_BOUNDS,
        "reads A[2640], 1 past its end: A has 55 x 48 elements",
        line=13,
        case="secret-id",
        block=(3, 3, 0),
        thread=(7, 8, 0),
        address="A[2640]",
        count=77,
        code=FindingCode.BEYOND_ARRAY,
        access=Access("read", "global", "A", (2640,), 4),
    )
    cases = (
        case("visible-id"),
        case("secret-id", hidden=True, comparisons=(comparison(9, explanation="`C` lacks a tile"),)),
        case("secret-two", hidden=True, completed=False, findings=(stop,), comparisons=()),
    )
    result = judge(item("output"), evidence(*cases))
    assert result.message == "1 of 3 cases is right. 2 hidden cases fail: `C` lacks a tile"
    text = repr(result.findings) + result.message + result.hint
    for secret in ("secret", "55", "2640", "12.5", "3.25", "C[", "(3, 3", "(7, 8", "77"):
        assert secret not in text
    assert "a thread reads outside `A` on line 13 (in a hidden case)" in text
    assert result.case_verdicts[1:] == (("secret-id", Verdict.FAIL), ("secret-two", Verdict.FAIL))


def test_a_visible_case_is_quoted_before_a_hidden_one(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """The student gets what may be shown, whatever the order of the cases."""
    wrong = (comparison(1, explanation="`C` is transposed"),)
    cases = (case("secret", hidden=True, comparisons=wrong), case("open", comparisons=wrong))
    result = judge(item("output"), evidence(*cases))
    assert "In case `open`" in result.message
    assert result.message.endswith("1 hidden case fails as well")
    mistakes = [finding for finding in result.findings if finding.kind is FindingKind.MISTAKE]
    assert [(one.message, one.case) for one in mistakes] == [("`C` is transposed", "open")]


@pytest.mark.parametrize(
    ("build", "verdict"),
    [(Build(ok=False), Verdict.FAIL), (Build(ok=False, error="no disk"), Verdict.ERROR)],
)
def test_without_a_build_there_is_nothing_to_run(
    item: Make, evidence: Make, build: Build, verdict: Verdict
) -> None:
    """The student's fault is a fail, ours an error."""
    assert judge(item("output"), evidence(build=build)).verdict is verdict


def test_an_item_whose_cases_were_not_run_is_skipped(item: Make, case: Make, evidence: Make) -> None:
    """A self-check leaves hidden cases out: neither pass nor fail."""
    result = judge(item("output", cases=("hidden-edges",)), evidence(case("a")))
    assert result.verdict is Verdict.SKIP


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.sampled_from(["", "per-case"]))
def test_full_marks_mean_that_every_case_is_right(right: list[bool], partial: str) -> None:
    """The fraction is between 0 and 1, and 1 exactly on a pass."""
    cases = tuple(
        CaseEvidence(
            Case(str(i), (), (), Visibility.VISIBLE, "random", i),
            (Comparison("C", 4, 0 if good else 1, 0, 0.0, 0.0),),
        )
        for i, good in enumerate(right)
    )
    item = RubricItem("o", "outputs", Fraction(7), "output", partial=partial)
    result = judge(item, Evidence("emulator", Build(ok=True), cases))
    assert (result.verdict is Verdict.PASS) == all(right) == (result.fraction == 1)
    assert result.fraction == (Fraction(sum(right), len(right)) if partial else Fraction(all(right)))


def test_a_wrong_output_outweighs_an_error_of_ours_in_another_case(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """Nothing that the other case could have shown makes up for it; with shares, the judged cases share."""
    broken, wrong = case("a", error="no memory"), case("b", comparisons=(comparison(3),))
    result = judge(item("output"), evidence(broken, wrong))
    assert (result.verdict, result.fraction) == (Verdict.FAIL, Fraction())
    shares = judge(item("output", partial="per-case"), evidence(broken, wrong, case("c")))
    assert (shares.verdict, shares.fraction) == (Verdict.FAIL, Fraction(1, 2))
    assert judge(item("output"), evidence(broken, case("c"))).verdict is Verdict.ERROR


def test_cases_that_are_not_judged_are_not_counted_as_right(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """They stand beside the right ones in the message."""
    unknown = case("b", computed_by=UNKNOWN_AUTHOR)
    cases = case("a", comparisons=(comparison(3),)), unknown, case("c")
    message = judge(item("output"), evidence(*cases)).message
    assert message.startswith("1 of 3 cases is right, 1 is not judged. ")


@pytest.mark.parametrize("hidden", [False, True])
def test_a_question_about_who_computed_a_case_has_its_reason(
    item: Make, case: Make, evidence: Make, *, hidden: bool
) -> None:
    """Of a hidden case, too: the program chooses no word of it."""
    result = judge(item("output"), evidence(case("a", hidden=hidden, computed_by=UNKNOWN_AUTHOR)))
    assert (result.verdict, result.is_question) == (Verdict.ERROR, True)
    assert "staff should look at the file" in result.message


def test_a_case_is_spelt_alike_in_all_findings(
    item: Make, case: Make, comparison: Make, evidence: Make
) -> None:
    """A capital begins a sentence and no finding."""
    result = judge(item("output"), evidence(case("a", comparisons=(comparison(5),))))
    assert "one case is wrong. In case `a` " in result.message
    assert result.findings[-1].message.startswith("in case `a` ")
