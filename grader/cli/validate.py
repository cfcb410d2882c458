"""`grader validate`: an assignment proves itself, before students see it."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader.authoring.validation import Effort, mistake_sources, reports, validate
from grader.base import steps
from grader.base.errors import UsageError
from grader.base.text import suggestion
from grader.cli import interruption, setup
from grader.cli.progress import in_words
from grader.grading.assignment import staff_folder

if TYPE_CHECKING:
    import argparse

    from grader.base.steps import Step
    from grader.model import Assignment
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools
from grader.authoring.validation import Report

_TELLINGS = 10
"""Number of progress messages where there is no terminal to draw a bar on."""


def run(options: argparse.Namespace) -> int:
    """Validate an assignment and report; 0 sound, 1 not sound, 2 unreadable, 3 undecided or our failure."""
    if options.show is not None:
        return _print_mistake(setup.staff_assignment(options), options.show)
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


def _print_mistake(assignment: Assignment, name: str) -> int:
    """Print a mistake, whether it is a file or edits of one, as it would be handed in."""
    sources = mistake_sources(staff_folder(assignment))
    if name not in sources:
        hint = suggestion(name, sources)
        raise UsageError(f"the assignment `{assignment.id}` has no mistake `{name}`; {hint}")
    sys.stdout.flush()
    sys.stdout.buffer.write(sources[name])
    sys.stdout.buffer.flush()
    return 0


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
            interruption.raise_if_stopped()

        def notice(sentence: str) -> None:
            console.print(sentence, highlight=False, markup=False)

        def hear(step: Step) -> None:
            if step.stage == "staff-code":
                notice(in_words(step))

        with steps.reporting_to(hear):
            return validate(assignment, tools, effort, backend=backend, progress=progress, notice=notice)
