"""`grader grade`: a class in one command, to be interrupted and taken up again at will."""

from __future__ import annotations

import os
import secrets
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader import pipeline, sandbox_choice
from grader.backends.emulator import EMULATOR
from grader.batch import OutFolder, Session, grade_class
from grader.batch.folder import is_whole, load_grades
from grader.cli import arguments, interruption, setup
from grader.errors import StorageError, UsageError
from grader.kinds import kind_of
from grader.model import Verdict
from grader.reports import files, grade_json, html, junit

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from grader.backends.backend import Backend
    from grader.model import Assignment, Grade, Submission
    from grader.nvcc import Tools
    from grader.pipeline import Plan

_OURS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        type=Path,
        help="a file, a folder of files, or a folder of one folder per student",
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=Path,
        required=True,
        help="where grades and reports go; run again to resume",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=arguments.positive,
        default=os.cpu_count() or 1,
        help="submissions at a time (default: the number of cores)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="grade everything again, also what is already done"
    )
    parser.add_argument(
        "--i-trust-these-files",
        action="store_true",
        default=os.environ.get("GRADER_TRUST") == "1",
        help="grade a class with nothing around it but limits (or GRADER_TRUST=1)",
    )
    arguments.add_grading(parser)


def run(options: argparse.Namespace) -> int:
    """Grade what is not graded yet and write the reports; 0, 1 below --fail-under, 3 with errors of ours."""
    gpus = setup.gpus(options)
    assignment = setup.staff_assignment(options)
    submissions = setup.submissions(options.submissions, assignment)
    if setup.asks_questions(assignment):
        out = OutFolder(options.out)
        with out.locked():
            return _grade_class(options, assignment, submissions, None, out, EMULATOR)
    tools = setup.tools(options, gpus, strangers=len(submissions) > 1)
    sandbox_choice.must_be_trusted(tools.sandbox, len(submissions), trusted=options.i_trust_these_files)
    if tools.sandbox.name != options.sandbox:  # it was ours to choose
        setup.console(stderr=True).print(f"sandbox: {tools.sandbox.name}")
    backend = setup.on_trial(setup.backend(options, tools, gpus), tools)
    out = OutFolder(options.out)
    try:
        with out.locked():
            return _grade_class(options, assignment, submissions, tools, out, backend)
    finally:
        sandbox_choice.sweep(tools.sandbox)


def _grade_class(
    options: argparse.Namespace,
    assignment: Assignment,
    submissions: tuple[Submission, ...],
    tools: Tools | None,
    out: OutFolder,
    backend: Backend,
) -> int:
    session = _session(options, assignment, tools, out, backend)
    done = _already_done(options, session, out)
    if not done:
        out.begin(session)
    waiting = [s for s in submissions if done.get(s.id) != s.digest]
    plan = pipeline.make_plan(assignment, session.seed, tools, visible_only=False, backend=backend)
    _grade_all(plan, waiting, tools, options.jobs, out)
    ids = [submission.id for submission in submissions]
    out.note_class(ids)
    grades = load_grades(out, ids)
    out.write(files.of_class(grades))
    _write_files(options, grades)
    setup.print_class(grades, resumed=len(submissions) - len(waiting), out=out.path)
    if any(grade.verdict is Verdict.ERROR for grade in grades):
        return _OURS
    return int(options.fail_under is not None and any(setup.below(g, options.fail_under) for g in grades))


def _session(
    options: argparse.Namespace,
    assignment: Assignment,
    tools: Tools | None,
    out: OutFolder,
    backend: Backend,
) -> Session:
    """What this batch is; without --seed it keeps the seed of the batch that it takes up."""
    try:
        earlier = out.session()
    except UsageError as problem:
        raise UsageError(f"{problem}; choose an empty folder with -o") from None
    asked = setup.seed(options, assignment)
    if asked is not None:
        seed = asked
    elif earlier is not None and not options.fresh:
        seed = earlier.seed
    else:
        seed = secrets.randbits(31)
    release = dict(pipeline.versions())["grader"]
    toolkit = tools.toolchain.version if tools else ""
    name, pool = kind_of(assignment).backend_name(backend), backend.pool
    gpus = (pool.devices, pool.races) if pool else ()
    return Session(assignment.id, assignment.digest, name, seed, release, toolkit, *gpus)


def _already_done(options: argparse.Namespace, session: Session, out: OutFolder) -> dict[str, str]:
    """The submissions whose grades still hold, by id; says why none does where something has changed."""
    earlier = out.session()
    if options.fresh or earlier is None:
        return {}
    if earlier == session:
        return {name: digest for name, digest in out.finished().items() if is_whole(out, name)}
    changed = [
        f"{field.name.replace('_', ' ')} ({getattr(earlier, field.name)} → {getattr(session, field.name)})"
        for field in fields(session)
        if getattr(earlier, field.name) != getattr(session, field.name)
    ]
    notice = f"everything is graded anew, for this has changed since: {', '.join(changed)}"
    setup.console(stderr=True).print(notice)
    return {}


def _grade_all(plan: Plan, waiting: list[Submission], tools: Tools | None, jobs: int, out: OutFolder) -> None:
    digests = {submission.id: submission.digest for submission in waiting}
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = setup.console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(waiting))
        for grade in grade_class(plan, waiting, tools, jobs=jobs):
            _store(out, grade, digests[grade.submission_id])
            bar.advance(task)
            interruption.stop_if_asked()


def _store(out: OutFolder, grade: Grade, digest: str) -> None:
    """Write a grade and vouch for it. An error of ours is stored too, but tried again the next time."""
    try:
        out.write(files.of_submission(grade), grade.submission_id)
    except StorageError as problem:
        raise StorageError(
            f"{problem}; what is graded so far is kept, run the same command again to go on"
        ) from None
    if grade.verdict is not Verdict.ERROR:
        out.note(grade.submission_id, digest, grade.verdict)


def _write_files(options: argparse.Namespace, grades: Sequence[Grade]) -> None:
    """Write what --json, --junit and --html ask for."""
    setup.write(options.json, grade_json.dump_all(grades))
    setup.write(options.junit, junit.render(grades))
    setup.write(options.html, html.render_class(grades))
