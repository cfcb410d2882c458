"""Tolerance controls: every order of summation lives, every lower precision dies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.authoring.validation.proof import controls
from grader.base.errors import OurError
from grader.grading.assignment import load_assignment
from tests.authoring.validation import small_assignment
from tests.bundled import bundled

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["tiled-matmul", "tiled-matmul-square"])
def test_the_bound_of_a_product_forgives_orders_and_no_lower_precision(name: str) -> None:
    """With the names of either kind of product."""
    found, missing = controls(bundled(name), 1)
    assert missing == ""
    assert all(control.holds for control in found)
    assert [control.wanted for control in found] == [True] * 6 + [False] * 4
    assert all(control.cases for control in found if not control.wanted)


def test_an_oracle_without_controls_is_reported(tmp_path: Path) -> None:
    """There is no control, and the report states it."""
    home = small_assignment.write(tmp_path)
    oracle = tmp_path / "reference/double/oracle.py"
    oracle.write_text(oracle.read_text().partition("def orders")[0])
    found, missing = controls(load_assignment(home), 1)
    assert found == ()
    assert missing == "no tolerance control: reference/double/oracle.py gives no `orders` and `coarser`"


@pytest.mark.parametrize(
    ("original", "changed", "message"),
    [
        (
            'yield "doubled"',
            'assert False, "no"\n    yield ""',
            "oracle.py:16: the oracle's `orders` failed: A",
        ),
        ('yield "doubled", {"y"', 'yield {"y"', "oracle.py: `orders` gives no pairs of a name and arrays"),
        ('yield "doubled", {"y"', 'yield "doubled", {"z"', "oracle.py: `expected` gives no `z`; it gives y"),
    ],
)
def test_orders_that_fail_are_reported_with_the_file(
    tmp_path: Path, original: str, changed: str, message: str
) -> None:
    """They are the course's own mistake, and not the grader's."""
    home = small_assignment.write(tmp_path)
    oracle = tmp_path / "reference/double/oracle.py"
    oracle.write_text(oracle.read_text().replace(original, changed))
    with pytest.raises(OurError, match=re.escape(message)):
        controls(load_assignment(home), 1)


def test_whole_numbers_need_none(tmp_path: Path) -> None:
    """Nothing is rounded there."""
    assignment = load_assignment(small_assignment.write(tmp_path))
    whole = tuple(replace(parameter, dtype="int32") for parameter in assignment.kernel.parameters)
    interface = replace(assignment.kernel, parameters=whole)
    assert controls(replace(assignment, interface=interface), 1) == ((), "")


def test_a_bound_that_forgives_too_much_is_found(tmp_path: Path) -> None:
    """Half precision stays inside, so the control does not hold."""
    home = small_assignment.write(tmp_path)
    oracle = tmp_path / "reference/double/oracle.py"
    oracle.write_text(oracle.read_text().replace("np.zeros_like(twice)", "np.ones_like(twice)"))
    found, _ = controls(load_assignment(home), 1)
    assert [(control.inside, control.holds) for control in found] == [(True, True), (True, False)]


def test_orders_in_float32_are_no_control_for_another_type() -> None:
    """They would leave the bound of a double, and stay inside that of a half."""
    assignment = bundled("vector-add")
    parameters = tuple(
        replace(each, dtype="float64") if each.direction != "value" else each
        for each in assignment.kernel.parameters
    )
    typed = replace(assignment, interface=replace(assignment.kernel, parameters=parameters))
    file = "reference/vector-add/oracle.py"
    missing = f"no tolerance control: `orders` and `coarser` of {file} are for float32 alone"
    assert controls(typed, 1) == ((), missing)
