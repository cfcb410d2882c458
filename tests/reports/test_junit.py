"""JUnit XML: valid, stable, and each result complete in itself."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from lxml import etree

from grader.base.text import one_line
from grader.model import Verdict
from grader.reports import junit
from grader.reports.audience import student_view
from tests.reports.sample_grades import (
    GRADES,
    SOURCE,
    compile_error,
    full_marks,
    graded,
    hostile,
    missing_barrier,
    our_error,
    partial_credit,
    sample_class,
)

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit.xsd"))
"""The schema that we promise: stricter than that of Jenkins."""

JENKINS = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit-10.xsd"))
"""The schema of Jenkins' xUnit plugin."""


def _parse(text: str) -> etree._Element:
    return etree.fromstring(text.encode())


def _names(text: str) -> list[str]:
    return [str(test.get("name")) for test in _parse(text).iter("testcase")]


@pytest.mark.parametrize("name", GRADES)
def test_every_sample_is_valid(name: str) -> None:
    """Each document follows the schema, hostile names and messages included."""
    SCHEMA.assertValid(_parse(junit.render([GRADES[name]()])))


def test_jenkins_accepts_every_sample() -> None:
    """Each document, and that of a class, follows the schema junit-10 of Jenkins' xUnit plugin."""
    for make in GRADES.values():
        JENKINS.assertValid(_parse(junit.render([make()])))
    JENKINS.assertValid(_parse(junit.render(sample_class())))


def test_a_class_has_one_flat_suite_per_submission() -> None:
    """Suites come in the order of the grades."""
    root = _parse(junit.render(sample_class()))
    SCHEMA.assertValid(root)
    assert [suite.tag for suite in root] == ["testsuite"] * len(GRADES)
    assert root[1].get("name") == "grace"


def test_a_nested_suite_or_a_second_result_would_be_invalid() -> None:
    """The schema that the others rely on refuses what it should."""
    root = _parse(junit.render([compile_error()]))
    next(root.iter("testcase")).insert(0, etree.Element("error", type="x", message="y"))
    assert not SCHEMA.validate(root)


@pytest.mark.parametrize("name", GRADES)
def test_names_and_order_never_depend_on_what_ran(name: str) -> None:
    """A submission that does not compile has the same test cases as one that is perfect."""
    assert _names(junit.render([GRADES[name]()])) == _names(junit.render([full_marks()]))


def test_the_students_failures_and_our_errors_are_kept_apart() -> None:
    """``failure`` is the student's, ``error`` is ours, and a skip is neither."""
    theirs, ours = (_parse(junit.render([grade]))[0] for grade in (missing_barrier(), our_error()))
    assert (theirs.get("failures"), theirs.get("errors"), theirs.get("skipped")) == ("4", "0", "1")
    assert (ours.get("failures"), ours.get("errors"), ours.get("skipped")) == ("0", "8", "1")


def test_an_item_that_waits_for_another_fails_in_every_case() -> None:
    """An item that earned nothing never looks like one that passed, though each of its cases did."""
    grade = full_marks()
    waiting = replace(
        grade.items[3].result, verdict=Verdict.FAIL, fraction=Fraction(0), message="not judged: needs"
    )
    results = (*(item.result for item in grade.items[:3]), waiting)
    root = _parse(junit.render([graded("waits", results)]))
    failed = [test.get("name") for test in root.iter("testcase") if test.find("failure") is not None]
    assert failed == ["barriers: square-64", "barriers: mp3", "barriers: wide", "barriers: dot-product"]


def test_an_error_that_no_item_tells_of_is_still_an_error() -> None:
    """A grade of ours that failed before any item was judged is no suite that passed."""
    root = _parse(junit.render([replace(full_marks(), items=(), error="the disk is full")]))
    SCHEMA.assertValid(root)
    assert root.get("errors") == "1"
    assert "the disk is full" in str(next(root.iter("error")).get("message"))


def test_messages_are_complete_in_themselves() -> None:
    """A message names the item, the case with its shape, and what is wrong there."""
    root = _parse(junit.render([partial_credit()]))
    messages = {test.get("name"): str(test[0].get("message")) for test in root.iter("testcase")}
    assert messages["edges: mp3"].startswith("Right for every other shape: in case `mp3` (M=55, K=48, N=43)")
    assert messages["edges: dot-product"] == (
        "Right for every other shape, case dot-product (M=1, K=57, N=1): "
        "the largest error is inf where at most 2e-05 is allowed"
    )


def test_points_of_test_cases_add_up_to_those_of_the_item() -> None:
    """An item's points are divided among the cases that earned them."""
    for grade in sample_class():
        for item in grade.items:
            mine = [outcome for outcome in junit.outcomes(grade) if outcome.item is item]
            assert sum(outcome.points for outcome in mine) == item.points
            assert sum(outcome.max_points for outcome in mine) == item.max_points


def test_points_are_in_the_properties_of_the_suite_and_the_output_of_tests() -> None:
    """Readers of either find the points."""
    root = _parse(junit.render([partial_credit()]))
    properties = {entry.get("name"): entry.get("value") for entry in root.iter("property")}
    assert (properties["score"], properties["points.edges"], properties["max_points.edges"]) == (
        "58.33",
        "8.33",
        "25",
    )
    wide = next(test for test in root.iter("testcase") if test.get("name") == "edges: wide")
    assert wide.findtext("system-out") == "[[PROPERTY|points=8.33]]\n[[PROPERTY|max_points=8.33]]"


def test_what_was_not_judged_has_no_points_at_all() -> None:
    """An error of ours and a skip are not zeros."""
    text = junit.render([our_error()])
    names = {entry.get("name") for entry in _parse(text).iter("property")}
    assert not names & {"score", "points.barriers", "points.speedup"}
    assert "max_points.barriers" in names
    assert "points=0]]" not in text


def test_oversized_messages_are_cut() -> None:
    """A compiler that floods does not flood the report."""
    assert len(junit.render([hostile()])) < 100_000


def test_a_students_view_tells_nothing_hidden() -> None:
    """Rendered from a student's view, hidden cases are one test case of an item."""
    text = junit.render([student_view(partial_credit())])
    assert "dot-product" not in text
    assert "K=57" not in text
    assert "edges: hidden cases" in text


def test_every_test_case_has_its_share_of_the_time() -> None:
    """The seconds of a case are divided among its test cases, so that those of the suite add up."""
    grade = missing_barrier()
    timed = replace(grade, cases=tuple(replace(case, seconds=1.5) for case in grade.cases))
    (suite,) = _parse(junit.render([timed]))
    times = [float(str(test.get("time"))) for test in suite.iter("testcase")]
    assert sum(times) == pytest.approx(1.5 * len(grade.cases), abs=0.01)
    assert suite.get("time") == f"{1.5 * len(grade.cases):.3f}"
    endless = replace(grade, cases=tuple(replace(case, seconds=float("inf")) for case in grade.cases))
    SCHEMA.assertValid(_parse(junit.render([endless])))


def test_a_test_case_speaks_of_its_own_case() -> None:
    """The body of one case's failure quotes no finding of another; a repeated text is referred to."""
    (suite,) = _parse(junit.render([missing_barrier()]))
    bodies = {str(test.get("name")): str(test.findtext("failure")) for test in suite.iter("testcase")}
    assert "`A_tile[3][5]`" in bodies["barriers: mp3"]
    other = bodies["barriers: square-64"]
    assert "what is wrong is said of case `mp3`" in other
    assert "A_tile" not in other.split("\n", 1)[0]


def test_a_body_quotes_the_lines_that_it_speaks_of() -> None:
    """The lines are marked in the margin, in the test case that they are about."""
    grade = missing_barrier()
    document = _parse(junit.render([grade], sources={grade.submission_id: SOURCE}))
    JENKINS.assertValid(document)
    bodies = {str(test.get("name")): str(test.findtext("failure")) for test in document.iter("testcase")}
    assert "\n  >  9 |         A_tile[threadIdx.y][threadIdx.x] = row < M" in bodies["barriers: mp3"]
    assert ">  9 |" not in bodies["edges: mp3"]
    marked = [line.replace("A_tile", "[[ATTACHMENT|x]]") for line in SOURCE]
    assert "[[ATTACHMENT" not in junit.render([grade], sources={grade.submission_id: marked})


def test_the_extended_dialect_has_file_and_line() -> None:
    """As GitLab and annotating actions read them; a test case that passes has no line."""
    (suite,) = _parse(junit.render([missing_barrier()], "extended"))
    tests = {str(test.get("name")): test for test in suite.iter("testcase")}
    assert {test.get("file") for test in tests.values()} == {"grace.cu"}
    assert tests["barriers: mp3"].get("line") == "9"
    assert tests["compiles"].get("line") is None


@pytest.mark.parametrize("name", GRADES)
def test_one_test_case_for_each_item_where_tests_are_counted(name: str) -> None:
    """Their names are the items', whatever happened; points are the items' own."""
    grade = GRADES[name]()
    document = _parse(junit.render([grade], "items"))
    SCHEMA.assertValid(document)
    names = [str(test.get("name")) for test in document.iter("testcase")]
    items = [one_line(item.result.item.id) for item in grade.items]
    assert names[: len(items)] == items
    assert names[len(items) :] in ([], ["grading"])


RESULTS = ("failure", "error", "skipped")


@pytest.mark.parametrize("dialect", junit.DIALECTS)
@pytest.mark.parametrize("name", GRADES)
def test_each_dialect_keeps_to_what_its_readers_use(name: str, dialect: str) -> None:
    """The document has the form that dorny/test-reporter, GitLab, Artemis and Jenkins read.

    Flat suites with a name; no second test case of one name, which GitLab drops; one result at most, of which
    Artemis shows the ``message``; a time without an exponent.
    """
    root = _parse(junit.render([GRADES[name]()], dialect, {GRADES[name]().submission_id: SOURCE}))
    assert [suite.tag for suite in root] == ["testsuite"]
    assert root[0].get("name")
    tests = list(root.iter("testcase"))
    assert len(tests) == int(str(root.get("tests"))) == int(str(root[0].get("tests")))
    assert len({(test.get("classname"), test.get("name")) for test in tests}) == len(tests)
    for test in tests:
        results = [child for child in test if child.tag in RESULTS]
        assert len(results) <= 1
        assert all(result.get("message") for result in results)
        assert re.fullmatch(r"\d+\.\d{3}", str(test.get("time")))


@pytest.mark.parametrize("name", GRADES)
def test_the_extended_dialect_is_the_strict_one_with_places(name: str) -> None:
    """Without ``file`` and ``line`` it is valid; action-junit-report wants whole numbers from 1 on."""
    root = _parse(junit.render([GRADES[name]()], "extended"))
    for test in root.iter("testcase"):
        assert test.attrib.pop("file") or not GRADES[name]().submission_file
        assert int(str(test.attrib.pop("line", "1"))) >= 1
    SCHEMA.assertValid(root)
    assert etree.tostring(root) == etree.tostring(_parse(junit.render([GRADES[name]()])))
