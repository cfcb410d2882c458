"""Arrays that a case of a program draws: the files that the program finds, and what is compared then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.errors import SpecError, UsageError
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.kinds.comparing.arrays import as_npy, as_raw
from grader.model import Build, Submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.program_assignments import built_on_host

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment, Grade

YAML = """
id: double
title: Double
reference: doubling
submission: {kind: program, seconds: 2}
cases:
  - {id: raw, shape: {N: 5}, files: {x.raw: x}, arguments: [x.raw]}
  - {id: again, shape: {N: 3}, files: {x.raw: x}, arguments: [x.raw], visibility: hidden}
rubric:
  - {id: right, points: 10, check: array, of: y.npy, output: y, dtype: float32, partial: per-case}
"""
ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.standard_normal(shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (2.0 * inputs["x"].astype(np.float64), np.zeros(shape["N"]))}
"""
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
int main(int, char **words) {
    std::FILE *in = std::fopen(words[1], "r"), *out = std::fopen("y.npy", "wb");
    int n;
    if (!in || std::fscanf(in, "%d", &n) != 1) return 1;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(n) + ",)}";
    header.resize(117, ' ');
    header += '\n';
    std::fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, out);
    std::fwrite(header.data(), 1, header.size(), out);
    for (int i = 0; i < n; ++i) {
        float x;
        if (std::fscanf(in, "%f", &x) != 1) return 2;
        x *= FACTOR;
        std::fwrite(&x, 4, 1, out);
    }
}
"""


def written(folder: Path, text: str = YAML) -> Assignment:
    """An assignment whose cases draw."""
    (folder / "assignments/double").mkdir(parents=True)
    (folder / "reference/doubling").mkdir(parents=True)
    (folder / "reference/doubling/oracle.py").write_text(ORACLE)
    (folder / "assignments/double/assignment.yaml").write_text(text)
    return load_assignment(folder / "assignments/double")


def graded(folder: Path, factor: str) -> Grade:
    """The grade of the program that multiplies by ``factor``."""
    assignment, source = written(folder), folder / "double.cpp"
    source.write_text(PROGRAM.replace("FACTOR", factor))
    built: Build = built_on_host(source, folder)
    tools = Tools(find_toolchain(), LocalSandbox(), folder / "cache")
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    return pipeline.grade_built(plan, Submission("ada", "double.cu", source.read_bytes(), ""), built, tools)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array([[1.5, -2.0], [0.0, 1e-20]], np.float32), "2 2\n1.5 -2\n0 0.00000000000000000001\n"),
        (np.array([3, -7], np.int32), "2\n3\n-7\n"),
        (np.array([0.1], np.float32), "1\n0.1\n"),
        (np.zeros((3, 0), np.float32), "3 0\n"),
    ],
)
def test_an_array_in_the_format_of_libwb_begins_with_its_extents(
    array: np.ndarray[tuple[int, ...], np.dtype[np.float32]], text: str
) -> None:
    """Then comes a line for each row, or for each element of a vector."""
    assert as_raw(array).decode() == text


def test_every_number_is_read_as_it_was(tmp_path: Path) -> None:
    """In both formats, the smallest and the largest among them."""
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 5000, np.uint64).astype(np.uint32)
    array = bits.view(np.float32)
    array = array[np.isfinite(array)]
    words = as_raw(array).split()[1:]
    assert np.array_equal(np.array([float(word) for word in words]).astype(np.float32), array)
    (tmp_path / "x.npy").write_bytes(as_npy(array))
    assert np.array_equal(np.load(tmp_path / "x.npy"), array)


def test_a_program_is_compared_with_what_its_own_case_drew(tmp_path: Path) -> None:
    """Each case has its own numbers and its own extent."""
    assert graded(tmp_path, "2").score == 10


def test_the_message_about_a_wrong_program_names_the_element_and_the_shape(tmp_path: Path) -> None:
    """Of the visible case; of the hidden one neither."""
    message = graded(tmp_path, "3").items[0].result.message
    assert message.startswith("none of 2 cases is right. 1 hidden case fails as well. In case `raw` (N=5, ")
    assert "`y[0]` should be" in message


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("shape: {N: 5}, files", "files", "cases[0].files: expected a key `shape`"),
        (
            "x.raw: x}, arguments: [x.raw]}",
            "x.txt: x}, arguments: [x.raw]}",
            "expected the name of a .raw or .npy",
        ),
        ("{x.raw: x}, arguments: [x.raw]}", "{y.npy: x}}", "`y.npy` is what the program is to write"),
        ("files: {x.raw: x}, arguments: [x.raw]}", "}", ""),
        ("dtype: float32,", "dtype: float32, shape: {N: 5},", "expected `inputs`, too"),
        (
            "dtype: float32,",
            "dtype: float32, shape: {N: 5}, inputs: random,",
            "case `raw` has a shape of its own",
        ),
        ("shape: {N: 5}, files: {x.raw: x}, ", "", "expected `shape` and `inputs`, here or in case `raw`"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """With the place in the file; a case may have a shape and no files."""
    assert old in YAML
    if not problem:
        assert written(tmp_path, YAML.replace(old, new, 1)).cases[0].files == ()
        return
    with pytest.raises(SpecError) as raised:
        written(tmp_path, YAML.replace(old, new, 1))
    assert problem in str(raised.value)


def test_an_array_that_the_oracle_does_not_draw_is_reported_before_grading(tmp_path: Path) -> None:
    """With the case and what there is."""
    assignment = written(tmp_path, YAML.replace("x.raw: x}, arguments: [x.raw]}", "x.raw: z}}", 1))
    tools = Tools(find_toolchain(), LocalSandbox())
    with pytest.raises(UsageError, match=r"case raw: `x\.raw` is to hold `z`, and the oracle draws only x"):
        pipeline.make_plan(assignment, 1, tools, visible_only=False)


@pytest.mark.parametrize("elements", ["object", "complex64"])
def test_an_array_of_what_no_file_can_hold_is_reported_before_grading(tmp_path: Path, elements: str) -> None:
    """Complex numbers would lose a part, and objects are no numbers at all."""
    assignment = written(tmp_path)
    oracle = ORACLE.replace(
        ".astype(np.float32)}", f".astype(np.{elements}{'_' * (elements == 'object')})}}", 1
    )
    (tmp_path / "reference/doubling/oracle.py").write_text(oracle)
    tools = Tools(find_toolchain(), LocalSandbox())
    with pytest.raises(UsageError, match=f"case `raw`: .*`inputs` gives no numbers for `x`, but {elements}"):
        pipeline.make_plan(assignment, 1, tools, visible_only=False)
