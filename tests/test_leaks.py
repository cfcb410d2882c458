"""Nothing that a student sees depends on hidden cases: shapes, values, places, counts or times."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader import pipeline
from grader.build import Tools, find_toolchain
from grader.model import CaseGrade, Grade, Submission, Verdict, Visibility
from grader.reports import audience, gradescope, html, junit, text
from grader.sandbox import LocalSandbox
from grader.spec import load_assignment

ROOT = Path(__file__).parent.parent
STAFF = ROOT / "reference/matmul"

HEAD = """\
id: leaky
title: Hidden shapes
reference: matmul
submission:
  kind: kernel
  kernel: tiledMatMul
  parameters:
    {A: "in float32[M, K]", B: "in float32[K, N]", C: "out float32[M, N]", M: int32, K: int32, N: int32}
  constants: {TILE_SIZE: {default: 16, aliases: [TILE_WIDTH, TILE_DIM, TILE, TS]}}
  launch: {block: [TILE_SIZE, TILE_SIZE], grid: [ceil(N / TILE_SIZE), ceil(M / TILE_SIZE)]}
cases:
  - {id: shown, shape: {M: 32, K: 32, N: 32}}
"""
RUBRIC = """\
rubric:
  - {id: compiles, points: 10, check: compile}
  - {id: right, points: 30, check: output, partial: per-case}
  - {id: barriers, points: 20, check: races}
  - {id: memory, points: 20, check: memory}
  - {id: reuse, points: 20, check: traffic, metric: global_load_bytes, baseline: naive, at_most: 0.5}
"""
HIDDEN = (
    (("first-one", 17, 19, 23, "random"), ("second-one", 33, 35, 18, "spikes")),
    (("ein-anderer", 41, 53, 29, "spikes"), ("noch-einer", 50, 37, 21, "random")),
)
"""What two assignments hide: other ids, shapes and inputs, the same number of cases."""

ALWAYS = ["no_store_guard"]
NOW_AND_THEN = [
    "tile_count_rounded_down",
    "no_zero_fill",
    "guard_one_too_far",
    "no_load_guard",
    "pads_with_one",
]


def grade(folder: Path, hidden: tuple[tuple[str, int, int, int, str], ...], file: Path, cache: Path) -> Grade:
    """One submission, graded with these hidden cases."""
    place = folder / "assignments" / "leaky"
    place.mkdir(parents=True)
    shutil.copytree(
        STAFF, folder / "reference/matmul", ignore=shutil.ignore_patterns("mistakes", "__pycache__")
    )
    cases = "".join(
        f"  - {{id: {name}, shape: {{M: {m}, K: {k}, N: {n}}}, inputs: {kind}, visibility: hidden}}\n"
        for name, m, k, n, kind in hidden
    )
    (place / "assignment.yaml").write_text(HEAD + cases + RUBRIC, encoding="utf-8")
    tools = Tools(find_toolchain(), LocalSandbox(), cache)
    plan = pipeline.make_plan(load_assignment(place), 20, tools, visible_only=False)
    return pipeline.grade(plan, Submission("me", file.name, file.read_bytes(), ""), tools)


def reports(graded: Grade, source: list[str]) -> dict[str, str]:
    """All that a student may be shown of a grade."""
    return {
        "text": text.render(graded, source_lines=source, width=100).plain,
        "html": html.render(graded, source_lines=source),
        "junit": junit.render([audience.student_view(graded)]),
        "gradescope": gradescope.render(graded),
    }


@pytest.mark.parametrize("name", [*ALWAYS, *(pytest.param(n, marks=pytest.mark.slow) for n in NOW_AND_THEN)])
def test_two_assignments_that_hide_other_cases_say_the_same(tmp_path: Path, name: str) -> None:
    """The kernel is right in the visible case and wrong in every hidden one, in the same way in both."""
    file = STAFF / "mistakes" / f"{name}.cu"
    source = file.read_text(encoding="utf-8").splitlines()
    both = [grade(tmp_path / str(n), hidden, file, tmp_path / "c") for n, hidden in enumerate(HIDDEN)]
    for graded in both:
        shown = {case.case.visibility: case.verdict for case in graded.cases}
        assert shown == {Visibility.VISIBLE: Verdict.PASS, Visibility.HIDDEN: Verdict.FAIL}
        assert not graded.error
    # What differs from run to run anyway: how long it took, and which assignment it was.
    first, second = (
        reports(replace(graded, seconds=(), assignment_digest="", cases=_timeless(graded)), source)
        for graded in both
    )
    for kind in first:
        assert first[kind] == second[kind], kind


def _timeless(graded: Grade) -> tuple[CaseGrade, ...]:
    """The cases without the seconds of the visible ones; those of the hidden ones must not show anyway."""
    visible = Visibility.VISIBLE
    return tuple(replace(c, seconds=0.0) if c.case.visibility is visible else c for c in graded.cases)


@pytest.mark.slow
def test_times_of_hidden_cases_and_of_whole_runs_are_not_told(tmp_path: Path) -> None:
    """They would tell how large a hidden case is."""
    file = STAFF / "mistakes/does_not_compile.cu"
    graded = grade(tmp_path, HIDDEN[0], file, tmp_path / "c")
    cases = tuple(
        replace(case, seconds=77.125) if case.case.visibility is Visibility.HIDDEN else case
        for case in graded.cases
    )
    timed = replace(graded, cases=cases, seconds=(("run", 88.125), ("build", 99.125)))
    for kind, told in reports(timed, []).items():
        assert not {"77.1", "88.1", "99.1"} & {told[i : i + 4] for i in range(len(told))}, kind
