"""Reports of the measured speed of a submission."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import UsageError
from grader.grading import score
from grader.grading.checks.credit import band
from grader.model import (
    Build,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    Ratio,
    Resources,
    Threshold,
    Timing,
    Verdict,
    Visibility,
)
from grader.reports import class_page, class_table, grade_json, html, junit, platforms, record_json, text
from grader.reports.audience import student_view
from grader.reports.class_table import render_class
from tests.grading.checks.judging import judge
from tests.json_rows import json_rows
from tests.reports.pages import content
from tests.reports.sample_grades import ITEMS, compile_error, graded, passing, with_staff_texts
from tests.sealing import resealed

if TYPE_CHECKING:
    from tests.conftest import Golden

TIMED = Timing(
    baseline="naive",
    speedup=Ratio(1.1302, 1.1271, 1.1334),
    control=Ratio(1.0002, 0.9981, 1.0019),
    solution=Ratio(1.5301, 1.5202, 1.5399),
    rounds=42,
    dropped=3,
    milliseconds=(("student", 0.378), ("naive", 0.4272), ("library", 0.0501), ("solution", 0.2792)),
    first_milliseconds=1.2345,
    launches=42,
    verified=8,
    findings=(),
    floor_milliseconds=0.04215,
    gflops=(("naive", 5027.0), ("student", 5681.3), ("solution", 7692.0), ("library", 42864.0)),
    occupancy=0.75,
    details=(("event_overhead_ms", 0.0013), ("clocks", [{"round": 0, "sm_mhz": 1980}])),
    shape=(("M", 1024), ("K", 1024), ("N", 1024)),
)


def timed(timing: Timing = TIMED, name: str = "frances") -> Grade:
    """A right kernel that is a little faster than the naive one, on a GPU."""
    build = Build(ok=True, resources=Resources(38, 2048, 0, 0, 388))
    evidence = Evidence("gpu", build, timing=timing)
    steps = band(Threshold(Fraction(1)), Threshold(of_solution=Fraction(9, 10)))
    item = replace(ITEMS[4], options=(("baseline", "naive"), ("steps", steps)), hint="load in order")
    grade = with_staff_texts(graded(name, (*map(passing, ITEMS[:4]), judge(item, evidence))))
    return replace(
        grade,
        backend="gpu",
        device="NVIDIA H100 80GB HBM3",
        timing=score.timing_of(evidence),
        witnesses=(("emulator", "ok"), ("racecheck", "ok"), ("memcheck", "did not come to its end")),
    )


def hidden() -> Grade:
    """The same where students may not look into the item."""
    grade = timed()
    secret = replace(grade.items[4].result.item, visibility=Visibility.HIDDEN)
    last = replace(grade.items[4], result=replace(grade.items[4].result, item=secret))
    return replace(grade, items=(*grade.items[:4], last))


def test_the_terminal_sets_the_kernels_beside_each_other(golden: Golden) -> None:
    """A line for each, what the device could do, what the kernel takes, and how it was measured."""
    golden("reports/timed.txt", text.render(timed(), width=100).plain)


def test_staff_see_who_looked(golden: Golden) -> None:
    """The tools with what became of them; in ASCII where a terminal has nothing else."""
    page = text.render(timed(), audience="staff", width=80, ascii_only=True).plain
    golden("reports/timed-staff.txt", page)
    assert "memcheck: did not come to its end" in page
    assert "memcheck" not in text.render(timed()).plain


def test_a_page_tells_the_same(golden: Golden) -> None:
    """A table of kernels in the page of a submission."""
    golden("reports/timed.html", content(html.render(timed())))


def test_a_stored_grade_keeps_what_was_timed(golden: Golden) -> None:
    """Every key of it; and read back, the grade is the one that was stored."""
    stored = grade_json.dump(timed())
    golden("reports/timed.json", json_rows(stored, indent=2))
    again = record_json.load(record_json.dump(timed()))
    assert (again.timing, again.witnesses) == (timed().timing, timed().witnesses)
    assert grade_json.dump(again) == stored
    assert text.render(again, audience="staff") == text.render(timed(), audience="staff")


def test_a_finding_keeps_its_witnesses() -> None:
    """They are written where there are any, and read back."""
    seen = Finding(FindingKind.RACE, "a race", witnesses=("emulator", "racecheck"))
    grade = timed()
    item = replace(
        grade.items[3], result=replace(grade.items[3].result, findings=(seen, replace(seen, witnesses=())))
    )
    seen_by_two = replace(grade, items=(*grade.items[:3], item, *grade.items[4:]))
    written = grade_json.as_json(seen_by_two)["items"][3]["findings"]
    assert written[0]["witnesses"] == ["emulator", "racecheck"]
    assert "witnesses" not in written[1]
    stored = record_json.load(record_json.dump(seen_by_two))
    assert stored.items[3].result.findings == item.result.findings


def test_junit_has_the_speedup_as_a_property(golden: Golden) -> None:
    """With its interval and the GPU it was measured on."""
    golden("reports/timed.xml", junit.render([timed()]))


def test_gradescope_keeps_the_speedup_for_staff_who_export_it() -> None:
    """``extra_data`` is passed through; without a timing there is none."""
    results = json.loads(platforms.gradescope(timed()))
    speed = {"median": 1.1302, "low": 1.1271, "high": 1.1334}
    assert results["extra_data"] == {"gpu": "NVIDIA H100 80GB HBM3", "speedup": speed}
    assert "extra_data" not in json.loads(platforms.gradescope(compile_error()))


@pytest.mark.parametrize("width", [80, 140])
def test_a_class_has_a_column_for_the_speed(width: int, golden: Golden) -> None:
    """Empty for who was not timed."""
    table = render_class([timed(), compile_error()], width=width)
    golden(f"reports/timed-class-{width}.txt", table.plain)


def test_the_page_of_a_class_has_it_too() -> None:
    """Only where anything was timed."""
    page = class_page.render([timed(), compile_error()])
    assert 'score</th><th class="n">speed</th><th class="mark" title="Compiles' in page
    assert '<td class="n">1.13×</td>' in page
    assert ">speed</th>" not in class_page.render([compile_error()])


def test_the_gradebook_has_the_measured_speedup_beside_the_points() -> None:
    """In a column of its own name, for an item is often called `speedup`."""
    rows = list(csv.DictReader(io.StringIO(class_table.gradebook([timed(), compile_error()]))))
    assert [(row["measured_speedup"], row["speedup"]) for row in rows] == [("1.1302", "3"), ("", "0")]
    assert "measured_speedup" not in class_table.gradebook([compile_error()])


def test_what_was_timed_is_hidden_with_the_item_that_judges_it() -> None:
    """Its numbers would reveal the result of the item; staff see them."""
    assert student_view(hidden()).timing is None
    assert "naive" not in text.render(hidden()).plain.replace("Faster than the naive kernel", "")
    assert "0.378 ms" in text.render(hidden(), audience="staff").plain
    assert "extra_data" not in json.loads(platforms.gradescope(hidden()))
    assert "speedup.low" not in junit.render([student_view(hidden())])


def test_a_timing_without_a_speedup_tells_nothing() -> None:
    """An error of ours is reported by the item; there are no numbers to show."""
    grade = timed(Timing(error="the GPU has gone"))
    assert grade.items[4].result.verdict is Verdict.ERROR
    shown = text.render(grade).plain
    assert "the GPU has gone" in shown
    assert "GFLOP/s" not in shown
    assert record_json.load(record_json.dump(grade)).timing == grade.timing


def test_what_is_not_known_is_left_out() -> None:
    """No roofline, no resources, no control, no other kernels: what is left is shown."""
    bare = Timing(
        baseline="naive", speedup=Ratio(1.5, 1.49, 1.51), milliseconds=(("student", 0.3),), rounds=20
    )
    evidence = Evidence("gpu", Build(ok=True), timing=bare)
    grade = replace(timed(), device="", timing=score.timing_of(evidence))
    block = text.render(grade).plain.partition("\nSpeed\n")[2]
    assert block == "  this submission  0.300 ms    1.50× (1.49 to 1.51)\n  20 rounds\n"


def test_numbers_that_are_not_finite_do_no_harm() -> None:
    """They are shown as what they are, also when they were stored."""
    odd = replace(TIMED, milliseconds=(("student", float("inf")), ("naive", float("nan"))))
    grade = record_json.load(record_json.dump(timed(odd)))
    assert "inf ms" in text.render(grade).plain


def test_names_in_a_timing_are_harmless() -> None:
    """A stored file may hold anything."""
    nasty = "\x1b[31m<b>"
    odd = replace(TIMED, milliseconds=((nasty, 1.0), ("student", 2.0)), shape=((nasty, 3),))
    grade = replace(timed(odd), device=nasty)
    assert "\x1b" not in text.render(grade, audience="staff").plain
    assert "<b>" not in html.render(grade, audience="staff")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("speedup", {"median": "fast", "low": 1, "high": 2}),
        ("milliseconds", [1, 2]),
        ("rounds", "many"),
        ("resources", {"registers": "all"}),
        ("occupancy", "full"),
    ],
)
def test_a_timing_that_does_not_fit_is_refused(key: str, value: object) -> None:
    """The file is named, and the key."""
    stored: dict[str, Any] = json.loads(record_json.dump(timed()))
    stored["grade"]["timing"][key] = value
    with pytest.raises(UsageError, match=f"timing.*{key}"):
        record_json.load(resealed(stored))


def test_all_of_a_timing_is_in_grade_json() -> None:
    """Each field of the record is a key, and the resources of the build are with it."""
    written = grade_json.as_json(timed())["timing"]
    assert written.keys() == set(asdict(TIMED)) | {"roofline_share"}
    assert written["roofline_share"] == pytest.approx(0.04215 / 0.378)
    assert written["resources"]["registers"] == 38
    assert score.timing_of(Evidence("emulator", Build(ok=True))) is None
    assert grade_json.as_json(compile_error())["timing"] == {}
