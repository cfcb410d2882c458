"""grade.json: nothing is lost on the way there and back, and foreign files are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.errors import UsageError
from grader.reports import gradebook, junit, text
from grader.reports.class_table import render_class
from grader.reports.grade_json import FORMAT_VERSION, as_json, dump, dump_all, load
from tests.reports.sample_grades import GRADES, SOURCE, hostile, partial_credit

if TYPE_CHECKING:
    from grader.model import Grade

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


@pytest.mark.parametrize("name", GRADES)
def test_a_stored_grade_renders_as_the_grade_did(name: str) -> None:
    """Every report of a grade read back is the report of the grade itself."""
    grade = GRADES[name]()
    stored = load(dump(grade))
    assert dump(stored) == dump(load(dump(stored)))
    assert gradebook.render([stored]) == gradebook.render([grade])
    assert render_class([stored]).plain == render_class([grade]).plain
    if name != "hostile":  # what JSON cannot hold is spelt out, so long messages are cut elsewhere
        assert text.render(stored, source_lines=SOURCE) == text.render(grade, source_lines=SOURCE)
        assert junit.render([stored]) == junit.render([grade])
        assert stored == _without_options(grade)


def _without_options(grade: Grade) -> Grade:
    """What a check alone knows of its item is not stored."""
    items = tuple(
        replace(item, result=replace(item.result, item=replace(item.result.item, options=())))
        for item in grade.items
    )
    return replace(grade, items=items)


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
    assert load(dump(partial_credit())).items[2].points == Fraction(25, 3)


def test_numbers_that_are_not_finite_are_text() -> None:
    """JSON has no infinity: strict readers accept the file, and the value comes back."""
    stored = dump(partial_credit())
    assert json.loads(stored, parse_constant=pytest.fail)["cases"][1]["max_error"] == "inf"
    assert load(stored).cases[1].max_error == float("inf")


def test_a_class_is_an_array_of_grades() -> None:
    """Several grades in one file are a list of what each would be alone."""
    grades = [make() for make in GRADES.values()]
    assert json.loads(dump_all(grades)) == [json.loads(dump(grade)) for grade in grades]


def test_numpy_scalars_are_numbers() -> None:
    """What a backend measured may still be NumPy's."""
    grade = replace(partial_credit(), timing=(("ratio", np.float32(1.5)), ("runs", np.int64(7))))
    assert json.loads(dump(grade))["timing"] == {"ratio": 1.5, "runs": 7}


def test_a_measurement_that_json_cannot_hold_is_refused() -> None:
    """A record that cannot be stored is our mistake, and is not stored in part."""
    with pytest.raises(TypeError, match="a set cannot be stored"):
        dump(replace(partial_credit(), timing=(("ratios", {1, 2}),)))


def test_the_text_is_utf_8_whatever_a_file_is_called() -> None:
    """A name that is not UTF-8 does not make the whole file unreadable."""
    assert json.loads(dump(hostile()).encode())["submission"]["file"].endswith(".cu")


def _changed(path: str, value: object) -> str:
    stored: Any = as_json(partial_credit())
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place = stored
    for key in parents:
        place = place[key]
    place[last] = value
    return json.dumps(stored)


@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "null",
        "[]",
        "{}",
        "not json",
        "[" * 100_000,
        '{"format_version": 1, "seed": ' + "9" * 5000 + "}",
        dump(partial_credit())[:-200],
        _changed("format_version", 2),
        _changed("items", "none"),
        _changed("items.0.verdict", "excellent"),
        _changed("items.0.points_exact", "1e999999999"),
        _changed("items.0.points_exact", "1/0"),
        _changed("items.0.points_exact", 10),
        _changed("items.2.findings.0.block", [1, 2]),
        _changed("cases.0.counters", {"flops": "many"}),
    ],
    ids=range(16),
)
def test_foreign_and_truncated_files_are_refused_by_name(foreign: str) -> None:
    """What is no stored grade is said so, with the file and the first thing that does not fit."""
    with pytest.raises(
        UsageError, match=r"^out/ada/grade\.json is not a stored grade of format version 1 \("
    ):
        load(foreign, "out/ada/grade.json")


def test_keys_of_later_versions_are_passed_over() -> None:
    """A file with additions is still read."""
    assert load(_changed("cases.0.warp_size", 32)) == load(dump(partial_credit()))
