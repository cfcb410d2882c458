"""grade.json: what other programs read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from grader.reports.grade_json import FORMAT_VERSION, dump, dump_all
from tests.reports.sample_grades import GRADES, hostile, partial_credit
from tests.reports.test_speed import TIMED

CONTRACT = {
    "format_version",
    "assignment",
    "submission",
    "backend",
    "seed",
    "verdict",
    "score",
    "max_score",
    "items",
    "cases",
    "timing",
    "versions",
}


def test_the_contract_holds_every_key() -> None:
    """Programs that read grade.json find what they were promised."""
    stored = json.loads(dump(partial_credit()))
    assert stored.keys() >= CONTRACT
    assert stored["format_version"] == FORMAT_VERSION == 1
    finding = stored["items"][2]["findings"][0]
    assert finding.keys() >= {"kind", "hazard", "file", "line", "other_line", "case", "block", "thread",
                              "other_thread", "address", "message"}  # fmt: skip
    assert stored["cases"][0]["counters"]["global_load_bytes"] == 64704


def test_points_are_stored_exactly_beside_the_rounded_number() -> None:
    """A third of 25 points is 8.33 to read and 25/3 to reckon with."""
    item = json.loads(dump(partial_credit()))["items"][2]
    assert (item["points"], item["points_exact"]) == (8.33, "25/3")


def test_numbers_that_are_not_finite_are_text() -> None:
    """JSON has no infinity: strict readers accept the file."""
    stored = dump(partial_credit())
    assert json.loads(stored, parse_constant=pytest.fail)["cases"][1]["max_error"] == "inf"


def test_a_class_is_an_array_of_grades() -> None:
    """Several grades in one file are a list of what each would be alone."""
    grades = [make() for make in GRADES.values()]
    written, alone = "".join(dump_all(grades)), [json.loads(dump(grade)) for grade in grades]
    assert json.loads(written) == alone
    assert written.startswith('[\n  {\n    "format_version": 1,\n')
    assert "".join(dump_all([])) == "[]\n"


def test_numpy_scalars_are_numbers() -> None:
    """Values that a backend measured may still be NumPy's."""
    details = (("ratio", np.float32(1.5)), ("runs", np.int64(7)))
    grade = replace(partial_credit(), timing=replace(TIMED, details=details))
    assert json.loads(dump(grade))["timing"]["details"] == {"ratio": 1.5, "runs": 7}


def test_a_measurement_that_json_cannot_hold_is_refused() -> None:
    """A record that cannot be stored is our mistake, and is not stored in part."""
    with pytest.raises(TypeError, match="a set cannot be stored"):
        dump(replace(partial_credit(), timing=replace(TIMED, details=(("ratios", {1, 2}),))))


def test_the_text_is_utf_8_whatever_a_file_is_called() -> None:
    """A name that is not UTF-8 does not make the whole file unreadable."""
    assert json.loads(dump(hostile()).encode())["submission"]["file"].endswith(".cu")
