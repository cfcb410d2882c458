"""`grader check`: a student's own file, on the visible cases."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from grader import pipeline
from grader.cli import setup
from grader.errors import UsageError
from grader.model import Verdict
from grader.reports import text
from grader.submission import lines, read_submissions

if TYPE_CHECKING:
    import argparse

    from grader.model import Grade

_OURS = 3


def run(options: argparse.Namespace) -> int:
    """Check one file and print the feedback; 0 for full marks, 1 below, 3 where we failed."""
    began = time.perf_counter()
    tools = setup.tools(options)
    assignment = setup.assignment(options)
    submissions = read_submissions(options.file)
    if len(submissions) != 1:
        raise UsageError(
            f"{options.file}: holds {len(submissions)} submissions; `check` takes one, `grade` takes a class"
        )
    seed = setup.PUBLIC_SEED if options.seed is None else options.seed
    loaded = time.perf_counter()
    plan = pipeline.make_plan(assignment, seed, tools, visible_only=True)
    planned = time.perf_counter()
    grade = pipeline.grade(plan, submissions[0], tools)
    console = setup.console(width=options.width)
    console.print(
        text.render(
            grade,
            width=console.width,
            source_lines=lines(submissions[0].source),
            ascii_only=setup.ascii_only(),
        ),
        end="",
    )
    _write_files(options, grade)
    if options.timings:
        before = (("load", loaded - began), ("baseline", planned - loaded))
        console.print(_timings(grade, before, time.perf_counter() - began))
    if grade.verdict is Verdict.ERROR:
        return _OURS
    return int(setup.below(grade, options.fail_under))


def _write_files(options: argparse.Namespace, grade: Grade) -> None:
    """What --json and --junit ask for, as a student may see it; loaded only then, to answer sooner."""
    if options.json or options.junit:
        from grader.reports import audience, grade_json, junit  # noqa: PLC0415

        shown = audience.student_view(grade)
        setup.write(options.json, grade_json.dump(grade))
        setup.write(options.junit, junit.render([shown]))


def _timings(grade: Grade, before: tuple[tuple[str, float], ...], total: float) -> str:
    """Where the wall time went; nvcc's steps run side by side, so they add up to more than `build`."""
    rows = [*before, *grade.seconds, ("total", total)]
    return "\ntimings (seconds of wall time)\n" + "\n".join(
        f"  {name:<14}{seconds:7.2f}" for name, seconds in rows
    )
