"""The mistake that explains all wrong outputs, and the finding that explains all others."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from grader.explaining import (
    StillPossible,
    SubmissionContext,
    WrongOutput,
    agree_on_mistakes,
    can_tell_mistakes_apart,
    first_cause,
)
from grader.explaining.agreement import common_mistakes, without_opposites
from grader.model import (
    Access,
    Assignment,
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Comparison,
    Evidence,
    Finding,
    FindingKind,
    RubricItem,
    Severity,
    Verdict,
    Visibility,
)
from tests.bundled import bundled

ASSIGNMENT = bundled("tiled-matmul")
CONSTANTS = (("TILE_SIZE", 16),)


def wrong(*fitting: str, telling: bool = True) -> Comparison:
    """A wrong output that all of these mistakes would have produced."""
    return Comparison("C", 100, 9, 0, 1.0, 0.0, fitting=fitting, telling=telling)


def case(name: str, compared: Comparison, *findings: Finding, hidden: bool = False) -> CaseEvidence:
    """A case that the item about edges looks at."""
    visibility = Visibility.HIDDEN if hidden else Visibility.VISIBLE
    what = Case(name, (("M", 5),), ("non-aligned",), visibility, "random", 1)
    of_case = tuple(replace(finding, case=name) for finding in findings)
    return CaseEvidence(what, comparisons=(compared,), findings=of_case)


def common_mistake(wrong: list[Comparison]) -> str:
    """The first mistake that all of these agree on."""
    return next(iter(without_opposites(common_mistakes(wrong))), "")


def named(*cases: CaseEvidence) -> list[str]:
    """The mistake of each case."""
    return [
        each.comparisons[0].mistake
        for each in agree_on_mistakes(ASSIGNMENT, Build(ok=True, constants=CONSTANTS), cases)
    ]


def test_a_mistake_fits_every_failing_case() -> None:
    """A mistake that only some of the failing cases suggest is not named."""
    assert common_mistake([wrong("a", "b"), wrong("b", "c")]) == "b"
    assert common_mistake([wrong("a"), wrong("b")]) == ""
    assert common_mistake([wrong("a"), wrong()]) == ""


def test_cases_that_look_like_everything_choose_among_what_is_left() -> None:
    """They neither rule out what the others agree on nor bring in something of their own."""
    assert common_mistake([wrong("a", "b"), wrong("c", "b", telling=False)]) == "b"
    assert common_mistake([wrong("a"), wrong("c", telling=False)]) == "a"
    assert common_mistake([wrong("c", telling=False)]) == "c"


def test_two_mistakes_that_exclude_each_other_tell_nothing() -> None:
    """Sums of numbers of both signs may be wrong because of either."""
    both = wrong("counted-more-than-once", "values-not-counted", "imprecise")
    assert common_mistake([both]) == "imprecise"
    assert common_mistake([both, wrong("values-not-counted")]) == "values-not-counted"
    mixed = wrong("counted-more-than-once", "values-not-counted")
    first_round = replace(wrong("first-round-only", *mixed.fitting), total=64)
    aligned = case("b", first_round)
    aligned = replace(aligned, case=replace(aligned.case, tags=("aligned",)))
    assert named(case("a", mixed), aligned) == ["", ""]


def test_hidden_cases_do_not_vote_where_visible_ones_fail() -> None:
    """A message must not reveal anything about them."""
    first, second = case("a", wrong("a-transposed")), case("b", wrong("b-transposed"), hidden=True)
    assert named(first, second) == ["a-transposed", "a-transposed"]
    assert named(second) == ["b-transposed"]


def test_a_right_output_rules_out_what_threads_do_whatever_the_shape() -> None:
    """A kernel that stores nothing of 9 elements, and all of 100, does not leave out the store."""
    right, small = (
        Comparison("C", 100, 0, 0, 0.0, 0.0),
        replace(wrong("no-store", "edge-not-written"), total=9),
    )
    assert named(case("a", small), case("b", right)) == ["edge-not-written", ""]
    assert named(case("a", small), case("b", replace(right, total=4))) == ["no-store", ""]
    assert named(case("a", small)) == ["no-store"]
    assert named(case("a", small), case("b", right, hidden=True)) == ["no-store", ""]


def test_only_what_fits_the_clear_cases_of_an_item_is_still_possible() -> None:
    """So that no change of a formula is tried again that one output has ruled out."""
    possible, edge = StillPossible(ASSIGNMENT), case("a", wrong()).case
    assert possible.in_output(edge, "C") is None
    for unclear in (
        wrong("b", telling=False),
        replace(wrong("b"), total=2),
        wrong("imprecise"),
        Comparison("C", 100, 0, 0, 0.0, 0.0),
    ):
        possible.judged(edge, unclear)
    possible.judged(case("h", wrong(), hidden=True).case, wrong("b"))
    assert possible.in_output(edge, "C") is None
    possible.judged(edge, wrong("a", "b"))
    possible.judged(edge, wrong("b", "c"))
    assert possible.in_output(replace(edge, id="z"), "C") == frozenset({"b"})
    assert possible.in_output(edge, "D") is None
    assert possible.in_output(replace(edge, kernel="another"), "C") is None
    assert possible.in_output(replace(edge, tags=("aligned",)), "C") is None


FORMULAS = ("sign-in-formula", "number-in-formula", "part-of-formula")
OTHERS = ("imprecise", "partial-blocks-wrong", "edge-not-written")
TAGS = ("a", "b", "c")


def overlapping(chance: random.Random) -> Assignment:
    """An assignment whose items look at the outputs of cases that have some tags, several at the same."""
    (item, *_) = (item for item in ASSIGNMENT.rubric if item.check == "output")
    items = [
        replace(item, id=f"item-{i}", cases=tuple(chance.sample(TAGS, chance.randint(1, 2))))
        for i in range(3)
    ]
    return replace(ASSIGNMENT, rubric=tuple(items))


def random_case(chance: random.Random, name: str) -> CaseEvidence:
    """A case with an output that some mistakes fit; some outputs are unclear, right or hidden."""
    share = dict.fromkeys(FORMULAS, chance.choice((0.0, 0.9, 0.9))) | dict.fromkeys(OTHERS, 0.1)
    fitting = [mistake for mistake, often in share.items() if chance.random() < often]
    one = wrong(*fitting, telling=chance.random() < 0.9)
    one = replace(one, wrong=chance.choice((0, *(9,) * 7)), total=chance.choice((8, 400, *(100,) * 6)))
    about = Case(
        name,
        (("M", 5),),
        tuple(chance.sample(TAGS, chance.randint(0, 2))),
        chance.choice((Visibility.HIDDEN, *(Visibility.VISIBLE,) * 5)),
        "random",
        1,
    )
    return CaseEvidence(about, comparisons=(one,))


def limited(possible: StillPossible, judged: CaseEvidence) -> CaseEvidence:
    """The case as it is where only what is still possible was looked for among formulas."""
    (one,) = judged.comparisons
    only = possible.in_output(judged.case, one.array)
    fitting = tuple(m for m in one.fitting if m not in FORMULAS or only is None or m in only)
    one = replace(one, fitting=fitting)
    if one.wrong:
        possible.judged(judged.case, one)
    return replace(judged, comparisons=(one,))


def test_a_mistake_that_all_show_is_named_though_not_everything_is_looked_for() -> None:
    """Whatever the items look at; where errors are small one may be named that was not before."""
    chance, changed, all_named = random.Random(5), 0, 0  # noqa: S311 - cases, no secret
    for _ in range(3000):
        assignment = overlapping(chance)
        cases = tuple(random_case(chance, f"case-{i}") for i in range(chance.randint(1, 5)))
        possible = StillPossible(assignment)
        shorter = tuple(limited(possible, each) for each in cases)
        build = Build(ok=True, constants=CONSTANTS)
        for before, after in zip(
            agree_on_mistakes(assignment, build, cases),
            agree_on_mistakes(assignment, build, shorter),
            strict=True,
        ):
            full, short = before.comparisons[0].mistake, after.comparisons[0].mistake
            assert short == full or (not full and any("imprecise" in c.comparisons[0].fitting for c in cases))
            changed += before.comparisons[0].fitting != after.comparisons[0].fitting
            all_named += full in FORMULAS
    assert changed > 100
    assert all_named > 100


@pytest.mark.parametrize("name", ["tiled-matmul", "matmul-function"])
def test_a_mistake_is_explained_with_the_arrays_that_are_read(name: str) -> None:
    """By their names in the file, of a function that is called as of a kernel that is launched."""
    assignment = bundled(name)
    (judged,) = agree_on_mistakes(assignment, Build(ok=True), (case("a", wrong("a-transposed")),))
    compared = judged.comparisons[0]
    assert "A" in re.findall(r"\w+", compared.explanation + compared.hint)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.arange(64.0).reshape(8, 8), True),
        (np.ones((8, 8)), False),
        (np.arange(64.0).reshape(1, 64), False),
        (np.arange(9.0).reshape(3, 3), False),
    ],
)
def test_one_row_one_number_and_few_elements_tell_nothing(array: Any, *, expected: bool) -> None:  # noqa: ANN401
    """Everything looks like everything there."""
    got = np.zeros_like(array)
    output = WrongOutput("C", got, array, 0.0, np.zeros(got.shape, np.bool_), inputs=(("A", array),))
    assert can_tell_mistakes_apart(output) is expected


def test_a_location_displaces_no_cause() -> None:
    """Also where it fits the cases that cannot tell mistakes apart, and the other does not."""
    large, line = wrong("a-leading-dimension", "some-rows-wrong"), wrong("some-rows-wrong", telling=False)
    assert common_mistake([large, line]) == "a-leading-dimension"
    assert common_mistake([wrong("some-rows-wrong"), line]) == "some-rows-wrong"
    edge = wrong("edge-wrong", "partial-blocks-wrong")
    assert common_mistake([edge, wrong("partial-blocks-wrong", telling=False)]) == "partial-blocks-wrong"


@pytest.mark.parametrize(
    ("value", "unwritten", "reads_unset", "expected"),
    [
        (np.nan, False, False, False),
        (np.inf, False, False, False),
        (np.nan, True, False, True),
        (np.nan, False, True, True),
        (np.nan, False, None, True),
    ],
)
def test_nothing_but_what_comes_of_a_division_by_0_tells_nothing(
    value: float, *, unwritten: bool, reads_unset: bool | None, expected: bool
) -> None:
    """A kernel that stores nothing, or reads unset memory, has NaN for that reason."""
    array, got = np.arange(64.0).reshape(8, 8), np.full((8, 8), value)
    given, mask = (("A", array),), np.full(got.shape, unwritten)
    output = WrongOutput("C", got, array, 0.0, mask, inputs=given, reads_unset=reads_unset)
    assert can_tell_mistakes_apart(output) is expected


def item(check: str, name: str, visibility: Visibility = Visibility.VISIBLE) -> CheckResult:
    """An item that fails."""
    return CheckResult(
        RubricItem(name, name, Fraction(1), check, visibility=visibility), Verdict.FAIL, Fraction(0), "no"
    )


def first(*cases: CaseEvidence, warnings: tuple[Finding, ...] = (), results: Any = None) -> str:  # noqa: ANN401
    """The code of the cause, empty for none."""
    build = Build(ok=True, constants=CONSTANTS, warnings=warnings)
    evidence = Evidence("emulator", build, agree_on_mistakes(ASSIGNMENT, build, cases))
    shown = (item("output", "edges"), item("races", "barriers")) if results is None else results
    context = SubmissionContext(arrays=frozenset("ABC"))
    cause = first_cause(ASSIGNMENT, evidence, shown, context)
    return "" if cause is None else cause.code


OUTSIDE = Finding(
    FindingKind.OUT_OF_BOUNDS,
    "reads A[9], 1 past its end",
    line=4,
    address="A[9]",
    access=Access("read", "global", "A", (9,), 4),
)
MISSING = Finding(FindingKind.BARRIER_DIVERGENCE, "", line=5)
RACE = Finding(FindingKind.RACE, "", hazard="RAW", line=8, other_line=6, address="tile[0]")
UNSET = Finding(FindingKind.UNINITIALISED, "", line=7, address="tile[0]")
CONSTANT = Finding(
    FindingKind.COMPILE,
    "`TILE_SIZE` is 64; …",
    hazard="constant",
    address="TILE_SIZE",
    severity=Severity.WARNING,
)


def test_findings_explain_others_in_one_order() -> None:
    """A constant, a bad access, a missing thread, a race, what was never written, and only then numbers."""
    numbers = wrong("a-leading-dimension")
    order = [
        (OUTSIDE, "load-out-of-bounds"),
        (MISSING, "barrier-divergence"),
        (RACE, "barrier-before-reading"),
        (UNSET, "uninitialised-read"),
    ]
    for place, (_, code) in enumerate(order):
        findings = [finding for finding, _ in order[place:]]
        assert first(case("a", numbers, *findings)) == code
    assert first(case("a", numbers, OUTSIDE), warnings=(CONSTANT,)) == "constant-not-allowed"
    assert first(case("a", numbers)) == "a-leading-dimension"
    assert first(case("a", wrong())) == ""


def test_a_warning_is_not_reported_before_an_error() -> None:
    """Lanes that count on running in step explain no element that was never written."""
    in_warp = replace(RACE, severity=Severity.WARNING)
    assert first(case("a", wrong(), in_warp, UNSET)) == "uninitialised-read"
    assert first(case("a", wrong(), in_warp)) == "race-inside-warp"


def test_a_finding_of_some_wrong_cases_gives_way_to_a_mistake_of_all() -> None:
    """It does not explain the others."""
    cases = case("a", wrong("tiles-turned"), UNSET), case("b", wrong("tiles-turned"))
    assert first(*cases) == "tiles-turned"
    assert first(case("a", wrong("partly-unwritten"), UNSET), case("b", wrong("partly-unwritten"))) == (
        "uninitialised-read"
    )


def test_an_output_that_is_read_before_it_is_written_is_added_to() -> None:
    """It is not taken for a tile that no thread filled."""
    assert first(case("a", wrong(), replace(UNSET, address="C[0][0]"))) == "adds-to-output"


def test_no_cause_is_given_for_items_that_are_hidden_or_fail_for_other_reasons() -> None:
    """The cause belongs to what a student sees."""
    cases = (case("a", wrong("a-transposed"), RACE),)
    assert first(*cases, results=(item("output", "edges", Visibility.HIDDEN),)) == ""
    assert first(*cases, results=(item("traffic", "reuse"),)) == ""


def test_a_few_numbers_do_not_contradict_a_case_that_has_more() -> None:
    """A sum of one block looks like nothing; where all cases are like that, they decide all the same."""
    alone = replace(wrong(), total=1)
    assert common_mistake([wrong("last-step-missing"), alone]) == "last-step-missing"
    assert common_mistake([replace(wrong("last-step-missing"), total=1), alone]) == ""


@pytest.mark.parametrize("options", [(("output", "y"),), (("output", "y"), ("kernel", "scale"))])
def test_the_cause_of_an_array_item_is_about_its_own_array(options: Any) -> None:  # noqa: ANN401
    """Another one may belong to an item that is hidden, and be wrong for another reason."""
    kernel = dict(options).get("kernel", "")
    own = f"{kernel}.y" if kernel else "y"
    ours, other = (
        replace(wrong(mistake), array=array, kernel=kernel)
        for mistake, array in (("edge-wrong", own), ("sign-flipped", "z"))
    )
    both = replace(case("a", ours), comparisons=(other, ours))
    result = item("kernel-output" if kernel else "array", "kernel")
    shown = (replace(result, item=replace(result.item, options=options)),)
    assert first(both, results=shown) == "edge-wrong"
    assert first(replace(both, comparisons=(other,)), results=shown) == ""


def total_of(compared: Comparison, total: int) -> Comparison:
    """The same for an output of another size."""
    return replace(compared, total=total)


def test_one_number_everywhere_in_one_case_only_is_no_mistake() -> None:
    """Another formula gives it there, and something else elsewhere."""
    same = wrong("all-the-same")
    assert named(case("one", same), case("two", same)) == ["all-the-same", "all-the-same"]
    assert named(case("one", same), case("two", wrong())) == ["", ""]


def test_partial_blocks_are_blamed_only_where_whole_ones_are_right() -> None:
    """In a larger case that is right, or in the rest of one that is wrong."""
    small, right = total_of(wrong("partial-blocks-wrong"), 37), Comparison("C", 256, 0, 0, 0.0, 0.0)
    partly = total_of(wrong("tail-wrong", "partial-blocks-wrong"), 170)
    assert named(case("small", small)) == [""]
    assert "partial-blocks-wrong" in named(case("small", small), case("large", right))
    assert named(case("small", small), case("partly", partly)) == ["partial-blocks-wrong"] * 2
