"""Grades of programs in every report: arguments, differences and endings, and nothing of hidden cases."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from grader.grading import score
from grader.grading.assignment import expand_cases
from grader.grading.checks import results_for_student, run_checks
from grader.model import Build, CaseEvidence, Evidence, Grade, ProgramRun, StudentResults, Visibility
from grader.reports import class_table, grade_json, html, junit, platforms, record_json, text
from grader.reports.class_table import render_class
from tests.bundled import bundled
from tests.json_rows import json_rows
from tests.reports.pages import content

if TYPE_CHECKING:
    from tests.conftest import Golden

SAMPLE = """\
=== Tiled MatMul Simulation ===
Matrix size: 4x4, Tile size: 2
Number of tile phases: 2

Phase 1 (t=0): Load columns 0-1
A_tile = [[1,2],[5,6]]
B_tile = [[1,2],[5,6]]
Partial sums computed for C[0][0..3] and C[1][0..3]

Phase 2 (t=1): Load columns 2-3
A_tile = [[3,4],[7,8]]
B_tile = [[9,10],[13,14]]
Add to partial sums

Final C[0][0] = 1*1+2*5 + 3*9+4*13 = 11 + 79 = 90
Global reads (naive): 32 per element, 512 total
Global reads (tiled): 4 per element, 64 total
Memory savings: 8.00x <script>alert(1)</script>\x1b[2J
"""


def graded() -> Grade:
    """A program that prints the sample that contradicts itself, and crashes for one of the hidden sizes."""
    assignment = bundled("tile-phases")
    first, second, third = expand_cases(assignment, 5)
    first = replace(first, arguments=("4", "2 <b>"), stdin="x\n")
    crash = ProgramRun("signal", -11, b"secret 77", b"secret 78", seconds=0.25)
    evidence = Evidence(
        "host",
        Build(ok=True, toolkit="nvcc 13.0.88"),
        (
            CaseEvidence(first, program=ProgramRun("exit", 0, SAMPLE.encode(), seconds=0.5)),
            CaseEvidence(second, program=ProgramRun("exit", 0, SAMPLE.encode(), seconds=0.5)),
            CaseEvidence(third, program=crash),
        ),
    )
    results = run_checks(assignment.rubric, evidence)
    total = score.total(results)
    return Grade(
        assignment_id=assignment.id,
        assignment_title=assignment.title,
        assignment_digest="a1" * 32,
        submission_id="grace",
        submission_file="grace.cu",
        submission_digest="5b" * 32,
        backend=evidence.backend,
        device="no GPU",
        toolkit="nvcc 13.0.88",
        seed=5,
        verdict=total.verdict,
        score=total.score,
        max_score=total.max_score,
        skipped_points=total.skipped_points,
        items=total.items,
        cases=score.case_grades(evidence, results, (first, second, third)),
        versions=(("grader", "0.2.0"),),
        for_student=StudentResults(results_for_student(assignment.rubric, evidence)),
    )


def test_text_for_students(golden: Golden) -> None:
    """The terminal shows the difference line by line."""
    golden("reports/program.txt", text.render(graded(), width=100).plain)


def test_text_for_staff(golden: Golden) -> None:
    """Staff see each case with its arguments."""
    golden("reports/program-staff.txt", text.render(graded(), audience="staff", width=100).plain)


def test_page_for_students(golden: Golden) -> None:
    """The difference stands in a block of its own, and what the program printed is text.

    This golden page is the one that is whole: the others are without the style sheet, which is the same.
    """
    page = html.render(graded())
    golden("reports/program.html", page)
    assert "<script>alert" not in page
    blocks = etree.fromstring(page.encode(), etree.HTMLParser(encoding="utf-8")).findall(".//pre")
    caret = next(block.text or "" for block in blocks if "^" in (block.text or "")).split("\n")
    at = next(number for number, line in enumerate(caret) if line.strip() == "^")
    expected, got = (row.split(":", 1)[1].lstrip() for row in caret[at - 2 : at])
    place = caret[at].index("^") - caret[at - 1].index(got)
    assert (expected[:place], expected[place]) == (got[:place], ".")
    assert got[place] == "]"


def test_junit(golden: Golden) -> None:
    """A message is one line, and the output of a test case has the difference."""
    golden("reports/program.xml", junit.render([graded()]))


def test_other_reports_take_a_line() -> None:
    """The gradebook has the points, the class a note on one line, Gradescope the lines as they are."""
    grade = graded()
    row = next(csv.DictReader(io.StringIO(class_table.gradebook([grade]))))
    assert (row["phases"], row["ends-well"], row["reads"]) == ("20", "0", "6")
    assert "after `Global reads (naive):`" not in render_class([grade]).plain
    assert "2 of 5 numbers are right\n" in render_class([grade], width=140).plain
    results = json.loads(platforms.gradescope(grade))
    layout = next(
        test["output"] for test in results["tests"] if test["name"].startswith("Prints line by line")
    )
    assert "\n    expected: Partial sums computed for C[0..1][0..1]\n    got:" in layout


def test_a_stored_grade_comes_back(golden: Golden) -> None:
    """With what the program was given and how it ended; a kernel's cases have no such key."""
    written = grade_json.dump(graded())
    golden("reports/program.json", json_rows(written, indent=2))
    assert grade_json.dump(record_json.load(record_json.dump(graded()))) == written
    cases = json.loads(written)["cases"]
    assert cases[0]["shape"] == {}
    assert cases[0]["program"] == {
        "arguments": ["4", "2 <b>"],
        "stdin": "x\n",
        "ending": "exit",
        "returncode": 0,
    }
    assert cases[2]["program"]["ending"] == "signal"


def test_students_see_nothing_of_hidden_cases() -> None:
    """Neither what they were given, nor what was printed, nor how large anything is."""
    grade = graded()
    hidden = [case.case for case in grade.cases if case.case.visibility is not Visibility.VISIBLE]
    assert [case.arguments for case in hidden] == [("8", "4"), ("6", "2")]
    shown = [
        text.render(grade).plain,
        content(html.render(grade)),
        platforms.gradescope(grade),
    ]
    for page in shown:
        for secret in ("secret", "77", "78", "1380", "441", "6 2", "8 4", *(case.id for case in hidden)):
            assert secret not in page
