"""The dispatch table, and what `needs` does."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from grader.base.errors import OurError
from grader.grading.checks import CHECKS, run_checks, wording
from grader.model import Build, Finding, FindingKind, Verdict, Visibility

Make = Any
"""A fixture of conftest: it takes what the record takes."""

RACE = Finding(FindingKind.RACE, "a race")


def test_results_come_in_the_order_of_the_rubric_whatever_needs_what(
    item: Make, case: Make, evidence: Make
) -> None:
    """A need may stand below the item that needs it."""
    rubric = (
        item("output", needs=("clean",)),
        item("races", "clean", needs=("compile",)),
        item("compile"),
        item("memory"),
    )
    results = run_checks(rubric, evidence(case("a")))
    assert [result.item for result in results] == list(rubric)
    assert {result.verdict for result in results} == {Verdict.PASS}


def test_what_needs_a_failed_item_fails_unjudged(item: Make, case: Make, evidence: Make) -> None:
    """Through any number of steps; what was seen of the cases is kept."""
    rubric = (
        item("races"),
        item("output", needs=("races",), partial="per-case", hint="staff's"),
        item("memory", needs=("output",)),
    )
    races, output, memory = run_checks(rubric, evidence(case("a", findings=(RACE,))))
    assert races.verdict is Verdict.FAIL
    assert [output.verdict, output.fraction] == [Verdict.FAIL, 0]
    assert output.message == "not judged until “an item” passes"
    assert (output.hint, output.findings) == ("", ())
    assert output.case_verdicts == (("a", Verdict.PASS),)
    assert memory.message == "not judged until “an item” passes"


def test_half_a_need_is_not_met(item: Make, case: Make, comparison: Make, evidence: Make) -> None:
    """A need must have full marks."""
    rubric = (item("output", partial="per-case"), item("memory", needs=("output",)))
    cases = (case("a"), case("b", comparisons=(comparison(1),)))
    assert run_checks(rubric, evidence(*cases))[1].verdict is Verdict.FAIL


def test_what_needs_a_skipped_item_is_skipped(item: Make, case: Make, evidence: Make) -> None:
    """Its points are set apart with those of its need."""
    rubric = (item("speedup"), item("output", needs=("speedup",)))
    result = run_checks(rubric, evidence(case("a")))[1]
    assert [result.verdict, result.fraction] == [Verdict.SKIP, 0]
    assert result.message == "not judged, because “an item” was skipped"


def test_a_skipped_item_stays_skipped_whatever_it_needs(item: Make, case: Make, evidence: Make) -> None:
    """Its points are out of the maximum for every student, or for none."""
    rubric = (item("races"), item("speedup", needs=("races",)))
    result = run_checks(rubric, evidence(case("a", findings=(RACE,))))[1]
    assert result.verdict is Verdict.SKIP
    assert "needs a GPU" in result.message


def test_what_an_unjudged_item_saw_is_kept(item: Make, case: Make, evidence: Make) -> None:
    """The race is often why the result is wrong."""
    rubric = (item("compile"), item("memory"), item("races", needs=("memory",)))
    outside = Finding(FindingKind.OUT_OF_BOUNDS, "reads A[9]")
    result = run_checks(rubric, evidence(case("a", findings=(outside, RACE))))[2]
    assert result.message == "not judged until “an item” passes"
    assert [finding.message for finding in result.findings] == ["a race"]


def test_what_needs_an_item_in_error_is_in_error(item: Make, case: Make, evidence: Make) -> None:
    """Its result is unknown, so no student pays."""
    rubric = (item("output"), item("compile", needs=("output",)))
    result = run_checks(rubric, evidence(case("a", error="no memory")))[1]
    assert result.verdict is Verdict.ERROR
    assert result.message == "not judged, because “an item” could not be judged"


def test_a_failed_need_outranks_one_in_error_and_that_a_skipped_one(
    item: Make, case: Make, evidence: Make
) -> None:
    """No repair of ours could still earn those points."""
    bad = case("bad", tags=("one",), findings=(RACE,))
    ours = case("ours", tags=("two",), error="no memory")
    rubric = (
        item("races", cases=("one",)),
        item("output", cases=("two",)),
        item("speedup"),
        item("compile", "all", needs=("speedup", "output", "races")),
        item("compile", "two", needs=("speedup", "output")),
    )
    results = run_checks(rubric, evidence(bad, ours))
    assert results[3].verdict is Verdict.FAIL
    assert results[4].verdict is Verdict.ERROR


def test_a_submission_that_does_not_compile_fails_every_item_but_the_skipped(
    item: Make, evidence: Make
) -> None:
    """With or without a need."""
    rubric = tuple(item(check.name) for check in CHECKS)
    results = run_checks(rubric, evidence(build=Build(ok=False)))
    expected = dict.fromkeys((check.name for check in CHECKS), Verdict.FAIL) | {"speedup": Verdict.SKIP}
    assert {result.item.check: result.verdict for result in results} == expected
    assert all(result.message for result in results)


@pytest.mark.parametrize("needs", [("b",), ("a",), ("ghost",)])
def test_needs_that_can_never_be_met_are_our_error(needs: Make, item: Make, evidence: Make) -> None:
    """A spec that was accepted has none of these."""
    rubric = (item("compile", "a", needs=needs), item("compile", "b", needs=("a",)))
    with pytest.raises(OurError, match="wait for each other"):
        run_checks(rubric, evidence())


def test_a_check_that_does_not_exist_is_our_error(item: Make, evidence: Make) -> None:
    """The message lists those that do."""
    with pytest.raises(OurError, match="beauty; there are compile, output"):
        run_checks((item("beauty"),), evidence())


@pytest.mark.parametrize("kind", FindingKind)
@pytest.mark.parametrize("hazard", ["", "RAW", "WAR", "WAW", "load", "store"])
@pytest.mark.parametrize("full", [True, False])
def test_every_kind_of_finding_has_a_sentence(kind: FindingKind, hazard: str, full: bool) -> None:  # noqa: FBT001
    """One line that starts in lower case, with its line, whatever else is known."""
    finding = Finding(kind, "", hazard=hazard, line=7)
    if full:
        finding = Finding(
            kind,
            "",
            hazard=hazard,
            line=7,
            other_line=5,
            case="mp3",
            block=(0, 1, 0),
            thread=(2, 3, 0),
            other_thread=(4, 5, 0),
            other_block=(6, 7, 0),
            address="tile[1]",
        )
    text = wording.sentence(finding)
    assert text[0].islower()
    assert "7" in text
    assert "None" not in text
    assert not full or ("case `mp3`" in text and "block (0, 1, 0)" in text)


@pytest.mark.parametrize("visibility", [each for each in Visibility if each is not Visibility.VISIBLE])
def test_whatever_is_not_visible_is_concealed(visibility: Visibility) -> None:
    """Nothing is left that depends on the shape."""
    finding = Finding(
        FindingKind.UNINITIALISED,
        "reads C[12] before anything was written there",
        line=3,
        case="secret",
        block=(8, 9, 0),
        thread=(8, 9, 0),
        address="C[12]",
        count=99,
    )
    shown = wording.displayed_finding(finding, visibility, "secret")
    assert shown.message == "a thread reads `C` before anything was stored there on line 3 (in a hidden case)"
    assert not {"secret", "12", "(8, 9", "99"} & {str(getattr(shown, field.name)) for field in fields(shown)}
    assert (shown.block, shown.thread, shown.count, shown.case) == (None, None, 1, "")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("A_tile[3][5]", "`A_tile[3][5]`"),
        ("local", "a local array"),
        ("shared", "shared memory"),
        ("a local variable", "a local variable"),
        ("0x7f0000", "memory"),
        ("\x1b]0;owned\x07", "memory"),
    ],
)
def test_only_names_are_quoted_as_names(address: str, shown: str) -> None:
    """A bare address, or worse, is left out."""
    assert f"uses {shown} at an address" in wording.sentence(
        Finding(FindingKind.MISALIGNED, "", address=address)
    )


def test_what_waits_for_another_item_is_distinguished_from_a_fail(
    item: Make, case: Make, evidence: Make
) -> None:
    """It earns nothing as long as the other fails, and nothing more is known of it."""
    rubric = (item("races"), item("output", needs=("races",)), item("memory"))
    results = run_checks(rubric, evidence(case("a", findings=(RACE,))))
    assert [(result.verdict, result.judged) for result in results] == [
        (Verdict.FAIL, True),
        (Verdict.FAIL, False),
        (Verdict.PASS, True),
    ]
    unbuilt = run_checks((item("output"),), evidence(build=Build(ok=False)))
    assert [(result.verdict, result.judged) for result in unbuilt] == [(Verdict.FAIL, False)]


def test_each_hidden_finding_is_its_kind_and_array_once(item: Make, case: Make, evidence: Make) -> None:
    """Whatever lines, hazards and arrays a kernel chooses; and nothing beside a visible one of the kind."""
    races = [
        Finding(FindingKind.RACE, "x", hazard, line=line, other_line=3, address=f"{array}[{line}]", count=9)
        for hazard, line, array in (("RAW", 5, "C"), ("WAW", 6, "own6"), ("WAR", 7, "own7"))
    ]
    hidden = case("h", hidden=True, findings=tuple(races))
    seen = replace(evidence(hidden), array_parameters=("A", "C"))
    (result,) = run_checks((item("races"),), seen)
    assert sorted((f.address, f.line, f.hazard, f.count) for f in result.findings) == [
        ("", None, "", 1),
        ("C", None, "", 1),
    ]
    shown = case("v", findings=(replace(RACE, line=4, other_line=3, address="C[1]"),))
    (beside,) = run_checks((item("races"),), replace(seen, cases=(shown, hidden)))
    assert [finding.line for finding in beside.findings] == [4]
    with_lines = replace(item("races"), options=(("hidden_lines", True),))
    (revealed,) = run_checks((with_lines,), seen)
    assert [finding.line for finding in revealed.findings] == [5, 6, 7]


def test_no_error_and_no_mistake_of_a_hidden_case_is_quoted(item: Make, case: Make, evidence: Make) -> None:
    """Its text names instructions and lines that the kernel chose."""
    broken = case("h", hidden=True, error="does not interpret `brkpt` (PTX line 283, from a.cu:22)")
    (result,) = run_checks((item("output"),), evidence(broken))
    assert result.message == (
        "not judged, through no fault of the submission: an error of the grader in a hidden case"
    )
