"""`docs/estimate.md` names the model's constants with their values, and the figures that they are from."""

from __future__ import annotations

import json
import operator
import re

import pytest

from grader.running.estimate import ERROR_BOUND
from grader.running.estimate.devices import H100
from grader.running.estimate.kernel_time import SIMULATED
from grader.running.estimate.sampling import MOST_STEPS
from tests.bench.estimate.corpus import ROOT
from tests.bench.gpu.microbenchmarks.run import HERE

PAGE = (ROOT / "docs/estimate.md").read_text("utf-8")
ROWS = re.findall(r"^\| `([\w.]+)` \| ([\d.]+) \| (.+) \|$", PAGE, re.MULTILINE)


def test_there_is_a_table_of_constants() -> None:
    """Of most of them."""
    assert len(ROWS) >= 20


@pytest.mark.parametrize(("name", "value", "source"), ROWS, ids=[row[0] for row in ROWS])
def test_a_constant_has_the_value_that_the_page_states_and_a_figure_behind_it(
    name: str, value: str, source: str
) -> None:
    """The figure is one of the microbenchmarks'."""
    assert operator.attrgetter(name)(H100) == float(value)
    kept = (json.loads(file.read_text("utf-8"))["figures"] for file in HERE.glob("*.json"))
    figures = {figure for document in kept for values in document.values() for figure in values}
    named = re.findall(r"`([\w.]+)`", source)
    assert named
    for figure in named:
        assert figure in figures or any(each.startswith(figure + ".") for each in figures)


def test_the_page_states_what_is_run_and_simulated_and_how_wide_an_interval_is() -> None:
    """By the constants of the code."""
    text = " ".join(PAGE.split())
    assert f"{MOST_STEPS:,} steps" in text
    assert f"{SIMULATED:,} instructions" in text
    assert f"a factor of {1 + ERROR_BOUND:g}" in text
    assert f"a launch takes {H100.launch_us:g} µs of its own" in text
