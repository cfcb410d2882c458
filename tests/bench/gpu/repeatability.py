"""Check that a submission gets the same score every time, near a threshold and on a busy machine too.

`python -m tests.bench.gpu.repeatability FOLDER [--quick] [--part same|ratios|busy]`

Every run is a submission of its own to `grader grade`: its own process on the GPU, its own rounds. The
assignment has one small case and no sanitizer runs, so that a run is little but its timing; `same` also runs
full gradings.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tests.bench.gpu import grading
from tests.bench.gpu.assignments import timing_only
from tests.bench.gpu.grading import MATMUL, stored, students
from tests.bench.gpu.load import KINDS, busy
from tests.bench.gpu.options import parse
from tests.bench.gpu.padding import fitted, padded
from tests.bench.gpu.repeated import THRESHOLD, compact, control_table, ratios_table, scores_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.bench.gpu.padding import Line

PARTS = ("same", "ratios", "busy")
SHARES = (0.95, 0.97, 0.99, 1.01, 1.03, 1.05)
BUSY_SHARES = (0.97, 1.03)
FIRST_LENGTHS = (0, 200, 400, 600)
JOBS = ("--jobs", "4")
"""Submissions at a time: others are compiled and looked at while one is timed, as in a class."""


def runs_of(folder: Path, name: str, assignment: str, sources: Mapping[str, str], times: int) -> Any:  # noqa: ANN401
    """Each source graded a number of times: compact grades by the source's name."""
    given = folder / name
    for each, source in sources.items():
        grading.put(given, students(source, (f"{each}-{number:03}" for number in range(times))))
    out, tools = folder / f"out-{name}", assignment == grading.ASSIGNMENT
    batch = grading.grade(assignment, given, out, *JOBS, cache=folder / "cache", tools=tools)
    return {
        each: [compact(g) for student, g in batch.grades.items() if student.rpartition("-")[0] == each]
        for each in sources
    }


def same(folder: Path, *, quick: bool) -> str:
    """The model solution and the naive kernel again and again, and the sample's best in full gradings."""
    times, whole = (3, 2) if quick else (100, 10)
    sources = {name: (MATMUL / f"{name}.cu").read_text("utf-8") for name in ("solution", "naive")}
    assignment = timing_only(folder / "timing-only")
    timed = stored(
        folder / "same.json",
        lambda: runs_of(folder, "same", assignment, {"solution": sources["solution"]}, times),
    )
    slow = stored(
        folder / "naive.json",
        lambda: runs_of(folder, "naive", assignment, {"naive": sources["naive"]}, whole),
    )
    full = stored(
        folder / "full.json",
        lambda: runs_of(folder, "full", grading.ASSIGNMENT, {"solution": sources["solution"]}, whole),
    )
    rows = {"solution": timed["solution"], "naive": slow["naive"], "solution, all checks": full["solution"]}
    return f"## The same submission\n\n{scores_table(rows)}\n{control_table(rows)}\n"


def calibrated(folder: Path, *, quick: bool) -> dict[str, int]:
    """Lengths of the loop by share of the threshold: a coarse line, then a finer one around the threshold."""
    assignment = timing_only(folder / "timing-only")
    line = _measured_line(folder, "coarse", assignment, FIRST_LENGTHS, 1 if quick else 3)
    around = sorted({line.rounds(THRESHOLD * share) for share in SHARES})
    line = _measured_line(folder, "fine", assignment, around, 1 if quick else 5)
    return {f"{share:.2f}": line.rounds(THRESHOLD * share) for share in SHARES}


def _measured_line(folder: Path, name: str, assignment: str, lengths: Sequence[int], times: int) -> Line:
    sources = {f"{name}-{rounds}": padded(rounds) for rounds in lengths}
    runs = stored(folder / f"{name}.json", lambda: runs_of(folder, name, assignment, sources, times))
    speedups = {
        rounds: [run["speedup"] for run in runs[f"{name}-{rounds}"] if run["speedup"] is not None]
        for rounds in lengths
    }
    return fitted(speedups)


def _near_threshold(folder: Path, name: str, shares: Sequence[float], times: int, *, quick: bool) -> Any:  # noqa: ANN401
    lengths = stored(folder / "lengths.json", lambda: calibrated(folder, quick=quick))
    assignment = timing_only(folder / "threshold", none_below=THRESHOLD, full_at=THRESHOLD)
    sources = {f"{share:.2f}": padded(lengths[f"{share:.2f}"]) for share in shares}
    return runs_of(folder, name, assignment, sources, times)


def ratios(folder: Path, *, quick: bool) -> str:
    """Kernels a little slower and a little faster than a threshold of 1.25, which is all or nothing."""
    times = 2 if quick else 20
    runs = stored(
        folder / "ratios.json", lambda: _near_threshold(folder, "ratios", SHARES, times, quick=quick)
    )
    every = [run for each in runs.values() for run in each]
    title = f"## Near a threshold of {THRESHOLD}"
    return f"{title}\n\n{ratios_table(runs)}\n{control_table({'near a threshold': every})}\n"


def busy_machine(folder: Path, *, quick: bool) -> str:
    """The model solution, and kernels at 0.97 and 1.03 of the threshold, while something else runs."""
    times = 2 if quick else 10
    sections = []
    for kind in KINDS:
        runs = stored(folder / f"{_slug(kind)}.json", partial(_while, folder, kind, times, quick=quick))
        every = [run for each in runs.values() for run in each]
        near = {name: each for name, each in runs.items() if name != "solution"}
        scores, control = scores_table({"solution": runs["solution"]}), control_table({kind: every})
        sections.append(f"### {kind}\n\n{scores}\n{ratios_table(near)}\n{control}\n")
    return "## Beside other work\n\n" + "".join(sections)


def _while(folder: Path, kind: str, times: int, *, quick: bool) -> Any:  # noqa: ANN401 - JSON
    stored(
        folder / "lengths.json", lambda: calibrated(folder, quick=quick)
    )  # before anything else is running
    name, source = _slug(kind), (MATMUL / "solution.cu").read_text("utf-8")
    with busy(kind):
        near = _near_threshold(folder, f"{name}-near", BUSY_SHARES, times, quick=quick)
        assignment = timing_only(folder / "timing-only")
        return near | runs_of(folder, f"{name}-same", assignment, {"solution": source}, times)


def _slug(kind: str) -> str:
    return kind.replace(" ", "-")


def main() -> None:
    """Run the parts that were asked for, and print their tables."""
    options = parse(__doc__, PARTS)
    parts = {"same": same, "ratios": ratios, "busy": busy_machine}
    for name in options.parts:
        grading.report(
            options.folder, f"repeatability-{name}", parts[name](options.folder, quick=options.quick)
        )


if __name__ == "__main__":
    main()
