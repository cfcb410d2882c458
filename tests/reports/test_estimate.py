"""Reports of a speed that was estimated."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import UsageError
from grader.model import PROBLEMS, Estimate, EstimatedChange, KernelEstimate, LimitShare, Verdict, Visibility
from grader.reports import estimate, grade_json, html, junit, platforms, record_json, text
from grader.reports.audience import student_view
from tests.json_rows import json_rows
from tests.reports.pages import content
from tests.reports.sample_estimates import ESTIMATE, UNKNOWN_OPCODE
from tests.reports.sample_grades import SOURCE, full_marks, with_staff_texts
from tests.reports.test_speed import timed
from tests.sealing import resealed

if TYPE_CHECKING:
    from grader.model import Grade
    from tests.conftest import Golden


def estimated(model: Estimate | None = ESTIMATE) -> Grade:
    """A right kernel, graded without a GPU, with a model's estimate of its speed."""
    return replace(full_marks(), estimate=model)


def block(grade: Grade, **options: Any) -> str:  # noqa: ANN401 - as `render` takes them
    """The part of the terminal's report about the estimate."""
    page = text.render(grade, source_lines=SOURCE, **options).plain
    return page[page.index("Speed,") :]


def limited(*limits: LimitShare) -> Estimate:
    """The estimate of a kernel with these limits."""
    return replace(ESTIMATE, kernels=(("student", KernelEstimate(0.3, limits)),), changes=())


def test_the_terminal_tells_the_ratio_the_limits_and_what_would_help(golden: Golden) -> None:
    """Below what was not judged, with a line for each; what takes little is left out."""
    golden("reports/estimated.txt", text.render(estimated(), source_lines=SOURCE, width=100).plain)
    assert "launch" not in block(estimated())


def test_a_narrow_terminal_wraps_it_behind_its_labels(golden: Golden) -> None:
    """In ASCII, too."""
    golden("reports/estimated-narrow.txt", block(estimated(), width=60, ascii_only=True))


def test_a_page_tells_the_same_with_bars(golden: Golden) -> None:
    """In a section of its own."""
    golden("reports/estimated.html", content(html.render(estimated(), source_lines=SOURCE)))


def test_a_stored_grade_keeps_the_estimate(golden: Golden) -> None:
    """`grade.json` apart from what was timed; and read back, the grade is the one that was stored."""
    stored = grade_json.dump(estimated())
    golden("reports/estimated.json", json_rows(stored, indent=2))
    again = record_json.load(record_json.dump(estimated()))
    assert again.estimate == ESTIMATE
    assert grade_json.dump(again) == stored
    assert record_json.load(record_json.dump(estimated(UNKNOWN_OPCODE))).estimate == UNKNOWN_OPCODE


def test_grade_json_has_an_empty_estimate_where_there_is_none() -> None:
    """As it has of what was timed."""
    assert grade_json.as_json(full_marks())["estimate"] == {}


def test_junit_tells_it_beside_the_item_that_was_skipped(golden: Golden) -> None:
    """And as properties of the suite."""
    golden("reports/estimated.xml", junit.render([estimated()]))


def test_gradescope_tells_it_beside_the_item_that_was_skipped() -> None:
    """On the page, in the test of the item, and for staff who export it."""
    results = json.loads(platforms.gradescope(estimated()))
    ratio = {"median": 1.5203, "low": 1.311, "high": 1.7042}
    assert results["extra_data"] == {"estimated_speedup": {"gpu": "NVIDIA H200", **ratio}}
    assert "1.5 times as fast as the naive kernel (1.3 to 1.7)" in results["output"]
    telling = [test["name"] for test in results["tests"] if "Speed, estimated" in test["output"]]
    assert telling == ["Faster than the naive kernel"]


def test_beside_a_measurement_both_are_shown() -> None:
    """The measured speed first."""
    shown = text.render(replace(timed(), estimate=ESTIMATE)).plain
    assert shown.index("Speed at M = K = N = 1024 on NVIDIA H100") < shown.index("Speed, estimated for an")
    properties = junit.render([replace(timed(), estimate=ESTIMATE)])
    assert 'name="speedup" value="1.1302"' in properties
    assert 'name="estimated.speedup" value="1.5203"' in properties


def test_an_estimate_that_gives_points_does_not_say_that_it_gives_none() -> None:
    """It is still not measured."""
    grade = estimated()
    item = grade.items[4]
    result = replace(item.result, verdict=Verdict.PASS, fraction=Fraction(1), estimated=True)
    judged = with_staff_texts(replace(grade, items=(*grade.items[:4], replace(item, result=result))))
    assert "estimated for an NVIDIA H200 at M = K = N = 1024 (not measured)" in block(judged)
    assert grade_json.as_json(judged)["items"][4]["estimated"] is True


def test_an_estimate_is_hidden_with_the_item_that_judges_the_speed() -> None:
    """Its numbers would reveal the result of the item; staff see them."""
    grade = estimated()
    last = grade.items[4]
    secret = replace(last.result.item, visibility=Visibility.HIDDEN)
    grade = replace(grade, items=(*grade.items[:4], replace(last, result=replace(last.result, item=secret))))
    assert student_view(grade).estimate is None
    assert "estimated" not in text.render(grade).plain
    assert "estimated" not in html.render(grade)
    assert "estimated" not in platforms.gradescope(grade)
    assert "estimated" not in junit.render([student_view(grade)])
    assert "1.5 times as fast" in text.render(grade, audience="staff").plain


@pytest.mark.parametrize("problem", PROBLEMS)
def test_why_there_is_no_estimate_is_reported_with_one_hint(problem: str) -> None:
    """In a line each; of wrong results the items tell."""
    grade = estimated(replace(UNKNOWN_OPCODE, problem=problem))
    lines = text.render(grade, width=200).plain.splitlines()
    if problem == "wrong":
        assert not any("Speed" in line for line in lines)
        return
    at = lines.index("Speed, not estimated")
    assert len(lines) == at + 3
    assert lines[at + 2].startswith("  try: ")
    assert "Speed, not estimated" in html.render(grade)
    assert grade_json.as_json(grade)["estimate"]["message"] == lines[at + 1].strip()


def test_an_instruction_that_the_model_does_not_know_is_named() -> None:
    """Harmlessly: a stored grade may hold anything."""
    assert "the model does not know the machine instruction `HGMMA`" in block(estimated(UNKNOWN_OPCODE))
    nasty = replace(UNKNOWN_OPCODE, details=(("opcode", "\x1b[31m<b>"),))
    assert "\x1b" not in text.render(estimated(nasty)).plain
    assert "<b>" not in html.render(estimated(nasty))
    assert "`?`" in block(estimated(replace(UNKNOWN_OPCODE, details=())))


def test_lines_are_named_where_few_of_them_have_half_of_a_limit() -> None:
    """One, or as many as it takes; none where it would take too many."""
    scattered = tuple((line, 0.02) for line in range(1, 31))
    limits = (
        LimitShare("shared", 0.4, ((20, 0.3), (21, 0.1))),
        LimitShare("l2", 0.3, ((9, 0.1), (7, 0.1), (8, 0.1))),
        LimitShare("issue", 0.2, scattered),
    )
    rows = block(estimated(limited(*limits)))
    assert "shared-memory bandwidth: 40 % of the time, most on line 20\n" in rows
    assert "L2 bandwidth: 30 % of the time, most on lines 7, 9\n" in rows
    assert "issuing instructions: 20 % of the time\n" in rows


def test_no_more_than_three_limits_are_shown_and_none_that_takes_little() -> None:
    """`grader estimate` shows all of them, but for those that would read 0 %."""
    codes = ("shared", "issue", "l1", "l2", "launch", "barrier")
    model = limited(
        *(
            LimitShare(code, share)
            for code, share in zip(codes, (0.4, 0.3, 0.2, 0.1, 0.05, 0.004), strict=True)
        )
    )
    assert "L1 bandwidth" in block(estimated(model))
    assert "L2 bandwidth" not in block(estimated(model))
    whole = estimate.render(model).plain
    assert "   5 %  what every launch takes" in whole
    assert "barriers" not in whole
    assert "limited by" not in block(estimated(limited(LimitShare("launch", 0.05))))


def test_a_change_has_as_many_decimals_as_tell_it_from_what_is_there() -> None:
    """1.54 beside 1.52 is not 1.5 beside 1.5."""
    near = replace(ESTIMATE, changes=(EstimatedChange("coalesced", 1.54),))
    assert "estimated 1.54 times" in block(estimated(near), width=200)
    assert "estimated 2.6 times" in block(estimated(), width=200)


def test_what_a_later_version_has_beyond_this_one_is_reported_by_its_code() -> None:
    """A stored grade may hold limits, changes and problems that are not known here."""
    later = limited(LimitShare("cluster", 0.5))
    later = replace(later, changes=(EstimatedChange("tma", 3.0),))
    assert "cluster: 50 % of the time" in block(estimated(later))
    assert "tma: estimated 3.0 times" in block(estimated(later))
    assert "no-luck" in block(estimated(Estimate("h300", problem="no-luck")))


def test_names_in_an_estimate_are_harmless() -> None:
    """As those of a timing."""
    nasty = "\x1b[31m<b>"
    odd = replace(ESTIMATE, device_name=nasty, baseline=nasty, shape=((nasty, 3),))
    assert "\x1b" not in text.render(estimated(odd)).plain
    assert "<b>" not in html.render(estimated(odd))
    assert "\x1b" not in junit.render([estimated(odd)])


def test_an_estimate_that_does_not_fit_is_refused() -> None:
    """The file is named, and the key."""
    stored: dict[str, Any] = json.loads(record_json.dump(estimated()))
    stored["grade"]["estimate"]["error_bound"] = "small"
    with pytest.raises(UsageError, match=r"estimate.*error_bound"):
        record_json.load(resealed(stored))


def test_a_whole_estimate_quotes_the_lines_of_the_file(golden: Golden) -> None:
    """All limits of both kernels; no line of the baseline, whose file is the staff's."""
    golden("reports/whole-estimate.txt", estimate.render(ESTIMATE, source_lines=SOURCE, width=100).plain)
