"""`grader validate`: an assignment proves itself, before students see it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader import processors, steps
from grader.backends import AUTO, CHOICES
from grader.cli import arguments, interruption, setup
from grader.cli.progress import in_words
from grader.gpu import RaceJudge
from grader.validation import Effort, reports, validate

if TYPE_CHECKING:
    import argparse

    from grader.backends import Backend
    from grader.model import Assignment
    from grader.nvcc import Tools
    from grader.steps import Step
from grader.validation import Report

_TELLINGS = 10
"""How often progress is told where there is no terminal to draw a bar on."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "-j",
        "--jobs",
        type=arguments.positive,
        default=processors.available(),
        help="mutants at a time (default: the number of processors it may use)",
    )
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=1,
        help="the first seed that inputs are drawn from (default: 1)",
    )
    parser.add_argument(
        "--seeds",
        type=arguments.positive,
        default=20,
        help="as many seeds the model solution must pass (default: 20)",
    )
    parser.add_argument(
        "--backend",
        choices=CHOICES,
        default=AUTO,
        help="whether the model solution is tried on a GPU as well (default: auto: where there is one)",
    )
    for option, form in (("--json", "JSON"), ("--report", "markdown")):
        writable = arguments.writable
        parser.add_argument(option, metavar="FILE", type=writable, help=f"also write the report as {form}")
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the report")
    parser.set_defaults(sandbox="local", races=RaceJudge.BOTH)
    arguments.add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Validate an assignment and tell; 0 sound, 1 not sound, 2 unreadable, 3 not decided or our failure."""
    gpus = setup.gpus(options)
    assignment = setup.staff_assignment(options)
    tools = setup.tools(options, gpus)
    with tempfile.TemporaryDirectory() as folder:
        if tools.cache is None:  # mutants and seeds share builds in any case; they are only not kept
            tools = replace(tools, cache=Path(folder))
        report = _validated(options, assignment, tools, setup.backend(options, tools, gpus))
    console = setup.console(width=options.width)
    shown = reports.render(report, width=console.width, ascii_only=setup.ascii_only())
    console.print(shown, end="")
    setup.write(options.json, reports.as_json(report))
    setup.write(options.report, reports.as_markdown(report))
    if report.errors or (report.unjudged and not report.problems):
        return setup.OURS
    return int(not report.sound)


def _validated(options: argparse.Namespace, assignment: Assignment, tools: Tools, backend: Backend) -> Report:
    effort = Effort(seed=options.seed, seeds=options.seeds, jobs=options.jobs)
    columns = (TextColumn("validating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = setup.console(stderr=True)
    with Progress(*columns, console=console, disable=not setup.is_watched(console)) as bar:
        task = bar.add_task("", total=None)

        tenths = [0]

        def progress(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)
            if not setup.is_watched(console) and (now := done * _TELLINGS // max(1, of)) > tenths[0]:
                tenths[0] = now
                console.print(f"{done} of {of} steps done")
            interruption.stop_if_asked()

        def notice(sentence: str) -> None:
            console.print(sentence, highlight=False, markup=False)

        def hear(step: Step) -> None:
            if step.stage == "staff-code":
                notice(in_words(step))

        with steps.heard_by(hear):
            return validate(assignment, tools, effort, backend=backend, progress=progress, notice=notice)
