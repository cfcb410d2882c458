"""`grader check`: a student's own file, on the visible cases."""

from __future__ import annotations

import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import StorageError
from grader.cli import arguments, progress, setup
from grader.grading.submission import further_lines, lines
from grader.kinds import kind_of
from grader.model import Verdict

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment, Grade, Named, Submission
    from grader.reports.excerpts import Further
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools


def run(options: argparse.Namespace) -> int:
    """Check one file and print the feedback; 0 for full marks, 1 below, 3 where we failed."""
    began = time.perf_counter()
    assignment = setup.assignment(options)
    for_platform = options.format in arguments.PLATFORM_FORMATS
    submission = setup.only_submission(options.file, assignment, "check", for_platform=for_platform)
    seed = setup.seed(options, assignment)
    seed = setup.PUBLIC_SEED if seed is None else seed
    with progress.of_check():
        grade, backend = _graded(options, assignment, submission, seed, began)
    from grader.reports import text, wording  # noqa: PLC0415 - loaded while nvcc ran

    source, further = lines(submission.source), further_lines(submission)
    console = setup.console(width=options.width)
    preliminary = not assignment.interface.asks_questions  # of questions all are asked
    if for_platform:
        _write_files(options, grade, source, further, preliminary=preliminary)
        return setup.print_for_platform(options, grade, source, further)
    if options.format != "text":
        return _annotated(options, grade, source, further, preliminary=preliminary)
    shown = text.render(
        grade,
        width=console.width,
        source_lines=source,
        further=further,
        ascii_only=setup.ascii_only(),
    )
    console.print(shown, end="")
    _write_files(options, grade, source, further, preliminary=preliminary)
    if options.timings:
        console.print(_timings(grade, time.perf_counter() - began))
    if grade.verdict is Verdict.PASS and preliminary:
        console.print(f"\n{wording.of_grade(grade, 'more-shapes')}")
    if grade.verdict is Verdict.ERROR:
        if backend is not None and backend.pool is not None:
            console.print(f"\n{wording.of_grade(grade, 'try-emulator')}")
        return setup.OURS
    return int(setup.below(grade, options.fail_under))


def _annotated(
    options: argparse.Namespace,
    grade: Grade,
    source: list[str],
    further: Further,
    *,
    preliminary: bool,
) -> int:
    """Print what is wrong for a tool; on GitHub the page of the job gets what people read."""
    from grader.reports import annotations, text  # noqa: PLC0415 - a student's terminal does without

    folder = options.file if options.file.is_dir() else options.file.parent
    path = (folder / grade.submission_file).as_posix()
    release = dict(grade.versions).get("grader", "")
    sys.stdout.write(annotations.render(annotations.annotations_of(grade, path), options.format, release))
    _write_files(options, grade, source, further, preliminary=preliminary)
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if options.format == "github" and page:
        shown = text.render(grade, width=100, source_lines=source, further=further).plain
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])  # longer than any in it
        _append(Path(page), f"{fence}text\n{shown}{fence}\n")
    if grade.verdict is Verdict.ERROR:
        return setup.OURS
    return int(setup.below(grade, options.fail_under))


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8", errors="backslashreplace") as page:
            page.write(text)
    except OSError as problem:
        raise StorageError(f"{path}: cannot be written: {problem.strerror}") from None


def _graded(
    options: argparse.Namespace, assignment: Assignment, submission: Submission, seed: int, began: float
) -> tuple[Grade, Backend | None]:
    """The grade, and what it was graded on."""
    if assignment.interface.asks_questions:
        from grader.kinds import pipeline  # noqa: PLC0415 - as below
        from grader.kinds.answers.stages import named_by_itself  # noqa: PLC0415

        plan = pipeline.make_plan(assignment, seed, None, visible_only=True)
        return pipeline.grade(plan, named_by_itself(submission), None), None
    gpus = setup.gpus(options)
    tools = setup.tools_for_own_file(options, assignment, gpus)
    backend = setup.backend(options, tools, gpus)
    loaded = time.perf_counter() - began
    stages = (("load", loaded),)
    traced = options.html is not None
    started = backend.prestarted(tools) if kind_of(assignment).has_kernels else nullcontext(backend)
    with started as ready:
        return _grade(assignment, submission, tools, seed, stages, ready, traced=traced), backend


def _grade(
    assignment: Assignment,
    submission: Submission,
    tools: Tools,
    seed: int,
    before: Named[float],
    backend: Backend,
    *,
    traced: bool,
) -> Grade:
    """Compile in the background, and meanwhile load the emulator and run the baseline."""
    began = time.perf_counter()
    with ThreadPoolExecutor(max_workers=1) as background:
        kind, architecture = kind_of(assignment), backend.architecture
        building = background.submit(kind.build, tools, submission, assignment, architecture)
        # These take long to load, and nvcc runs anyway.
        from grader.kinds import pipeline  # noqa: PLC0415
        from grader.reports import text  # noqa: F401, PLC0415

        plan = pipeline.make_plan(assignment, seed, tools, visible_only=True, backend=backend)
        plan = replace(plan, estimates=True)
        prepared = time.perf_counter() - began
        built = building.result()
    waited = time.perf_counter() - began
    stages = (*before, ("prepare", prepared), ("until built", waited))
    grade = pipeline.grade_built(plan, submission, built, tools, stages)
    return pipeline.with_trace(plan, submission, built, grade) if traced else grade


def _write_files(
    options: argparse.Namespace,
    grade: Grade,
    source: list[str],
    further: Further,
    *,
    preliminary: bool,
) -> None:
    """Write the files of --json, --junit and --html; their modules load only then, to answer sooner."""
    if options.json or options.junit or options.html:
        from grader.reports import audience, grade_json, html, junit, trace_files  # noqa: PLC0415

        shown = audience.student_view(grade)
        setup.write(options.json, grade_json.dump(grade))
        sources = {shown.submission_id: source}
        setup.write(options.junit, junit.render([shown], options.junit_dialect, sources, further))
        trace = trace_files.packed(grade.trace)
        page = html.render(grade, source_lines=source, further=further, trace=trace, preliminary=preliminary)
        setup.write(options.html, page)


def _timings(grade: Grade, total: float) -> str:
    """Parts of the wall time: nvcc's steps run side by side, and `prepare` beside them."""
    rows = [f"  {name:<20}{seconds:6.2f}" for name, seconds in (*grade.seconds, ("total", total))]
    return "\n".join(["", "timings (seconds of wall time)", *rows])
