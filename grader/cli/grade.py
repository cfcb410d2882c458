"""`grader grade`: a class in one command, to be interrupted and taken up again at will."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from grader.base.errors import UsageError
from grader.classroom.batch import OutFolder, adjusting, at_once, on_this_machine
from grader.classroom.batch.class_page import PageInProgress, class_files, write_similar
from grader.classroom.batch.folder import IMPORT, load_grade
from grader.classroom.batch.identities import keep as keep_identities
from grader.classroom.batch.identities import require_identities
from grader.classroom.batch.memory import give_back_large_blocks
from grader.classroom.batch.removed_students import remove_others
from grader.classroom.batch.resume import (
    already_done,
    bring_up_to_date,
    digest_of_class,
    others_of_class,
    require_submissions,
    session_for,
    still_right,
    store,
)
from grader.classroom.batch.smaller_grades import Slimming
from grader.classroom.course.adjustments import applying, unadjusted
from grader.classroom.course.anonymous import identified, nameless, pseudonym_of, pseudonymous
from grader.cli import (
    arguments,
    cluster,
    course_file,
    downloads,
    dry_run,
    import_table,
    interruption,
    progress,
    setup,
    stored,
)
from grader.grading.assignment import draw_seed
from grader.grading.assignment.bundled import own_path
from grader.grading.submission import further_lines, lines
from grader.kinds import kind_of, pipeline
from grader.model import Verdict
from grader.reports import class_page, grade_json, junit
from grader.reports.annotations import annotations_of
from grader.reports.annotations import render as render_annotations
from grader.running.backends.emulator import EMULATOR
from grader.toolchain import sandbox_choice

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.classroom.batch import BatchSession, Executor
    from grader.classroom.batch.executor import Graded
    from grader.classroom.course.anonymous import Identities
    from grader.classroom.course.entries import Download
    from grader.model import Assignment, Grade, HandIn, Submission

_ENOUGH_TO_WONDER = 3
_NOT_GRADED = (
    "run the same command again for what was not graded, with a smaller --jobs where this machine was busy"
)
_TO_DECIDE = "look at what is a question to you, and give its points in adjustments.yaml (`score` or `items`)"


def run(options: argparse.Namespace) -> int:
    """Grade what is not graded yet, write the reports; 1 below --fail-under, 3 where some are not judged."""
    if options.out is None and not options.dry_run:
        raise UsageError("-o OUT is missing: where grades and reports go")
    if options.only and options.fresh:
        raise UsageError(
            "--only grades one submission again, and --fresh everything, with a new seed: leave one of them "
            "out"
        )
    course_file.require_from_staff(options.submissions, *filter(None, (options.out,)))
    cluster.require_cluster_options(options)
    assignment = setup.staff_assignment(options)
    if options.shard and setup.seed(options, assignment) is None:
        raise UsageError(f"--shard {options.shard} needs --seed, the same for all {options.shard.of} of them")
    if options.out is not None:
        downloads.must_lie_apart(options.out, options.submissions)
    download = downloads.download(
        options.submissions,
        assignment,
        options.roster,
        only_one=options.format in arguments.PLATFORM_FORMATS,
        out=options.out,
    )
    if len(download.submissions) == 1:
        course_file.require_outside_of_class(options.submissions)
    _say(course_file.in_words())
    if options.dry_run:
        return dry_run.show(options, assignment, download)
    download = dry_run.certain(download, skip=options.skip_unmatched)
    out = OutFolder(options.out)
    with ExitStack() as stack:
        early = bool(options.cluster) and out.path.is_dir()
        if early:  # before jobs wait in a queue
            stack.enter_context(out.locked())
        executor = stack.enter_context(_executor(options, assignment, len(download.submissions)))
        if not early:  # no folder is made where nothing can be graded
            stack.enter_context(out.locked())
        return _grade_class(options, assignment, download, executor, out)


@contextmanager
def _executor(options: argparse.Namespace, assignment: Assignment, number: int) -> Iterator[Executor]:
    """Executor for ``number`` submissions; raises where they cannot be graded here, or not safely."""
    if assignment.interface.asks_questions:
        if options.cluster:
            raise UsageError(f"`{assignment.id}` asks questions, which are graded here: leave out --cluster")
        yield on_this_machine(assignment, None, EMULATOR, options.jobs or at_once(EMULATOR))
        return
    if options.cluster:
        with cluster.executor(options, assignment, number) as executor:
            yield executor
        return
    gpus = setup.gpus(options)
    tools = setup.tools_for_class(options, gpus, number)
    backend = setup.backend(options, tools, gpus)
    jobs, trial = options.jobs or at_once(backend), partial(setup.on_trial, backend, tools)
    try:
        yield on_this_machine(assignment, tools, backend, jobs, trial)
    finally:
        sandbox_choice.sweep(tools.sandbox)


def _annotated(options: argparse.Namespace, grades: Sequence[Grade]) -> str:
    """Annotations of all files, each by its path in the class."""
    notes = [
        note
        for grade in grades
        for note in annotations_of(grade, _path_of(options.submissions, grade).as_posix())
    ]
    return render_annotations(notes, options.format, dict(pipeline.versions())["grader"])


def _path_of(submissions: Path, grade: Grade) -> Path:
    if grade.hand_in is None or submissions.is_file():
        return submissions
    path = submissions / grade.hand_in.file
    return path / grade.submission_file if path.is_dir() else path


def _class_doubt(grades: Sequence[Grade]) -> str:
    """Warning of what all of a class share that makes it doubtful whether it is the right assignment."""
    if len(grades) < _ENOUGH_TO_WONDER:
        return ""
    failed = [
        {
            item.result.item.id
            for item in grade.items
            if item.result.item.check == "compile" and item.result.verdict is Verdict.FAIL
        }
        for grade in grades
    ]
    if item := min(set.intersection(*failed), default=""):
        return f"everybody fails `{item}`"
    return "" if any(unadjusted(grade).score for grade in grades) else "no submission has a point"


def _grade_class(
    options: argparse.Namespace,
    assignment: Assignment,
    download: Download,
    executor: Executor,
    out: OutFolder,
) -> int:
    table = import_table.dump(download, import_table.path_from(out.path, options.submissions))
    whole_class = download.submissions
    download, identities = _pseudonymous(options, _of_shard(options, download), out)
    submissions = download.submissions
    session = session_for(out, executor.setting, assignment, _seed(options, assignment), options.shard)
    require_submissions(submissions, options.only, whole_class, options.shard)
    earlier = out.session()
    is_other = earlier is not None and earlier.assignment != session.assignment
    keeps_others = bool(options.only) and earlier is not None and not is_other
    others = others_of_class(out, submissions) if keeps_others else ()
    if earlier is not None and not options.fresh:
        _say(stored.repair_journal(out))
    earlier_grades = _graded_before(options, session, out, [submission.id for submission in submissions])
    adjustments = adjusting.adjustments_for(out, options.adjustments, assignment.path, anew=is_other)
    hand_ins = _hand_ins(submissions, others, identities)
    elsewhere = [(submission.id, submission.hand_in) for submission in whole_class] if options.shard else []
    _say(adjusting.require_applicable(adjustments, hand_ins, elsewhere, assignment))
    stored_submissions = _as_stored(submissions, identities)
    valid = still_right(tuple(stored_submissions.values()), earlier_grades, out, options.only)
    valid |= {grade.submission_id: grade for grade in others}
    to_grade = [submission for submission in submissions if submission.id not in valid]
    grading = executor.grade(session.seed, to_grade) if to_grade else iter(())
    earlier_marks = adjusting.marked_before(out, adjustments, hand_ins, assignment)
    if not earlier_grades:  # nothing is forgotten where nothing can be graded
        out.begin(session, own_path(assignment))
    ids = sorted(name for name, _ in hand_ins)
    class_digest, graded = digest_of_class(whole_class) if options.shard else "", {}
    out.note_begun(ids, [submission.id for submission in to_grade], class_digest)
    bring_up_to_date(out, valid, earlier_grades)
    adjusting.keep(out, adjustments, given=options.adjustments is not None, anew=is_other)
    _write_import_table(out, download, "" if others else table)
    final = applying(adjustments, hand_ins, earlier_marks)
    if to_grade:
        graded = _grade_all(
            options, assignment, grading, len(to_grade), out, valid.values(), final, stored_submissions
        )
    setup.say_removed(remove_others(out, ids), out.path)
    merged = valid | graded
    grades = adjusting.adjust_class(out, [merged[name] for name in ids], adjustments, identities)
    similar = {} if others else {submission.id: submission.source for submission in submissions}
    _write_class(out, assignment, grades, similar, class_digest)
    return _reported(options, assignment, grades, submissions, out, resumed=len(grades) - len(to_grade))


def _of_shard(options: argparse.Namespace, download: Download) -> Download:
    """The download with the submissions of this shard of the class alone, if it is graded in shards."""
    if not options.shard:
        return download
    return replace(download, submissions=options.shard.of_class(download.submissions))


def _write_import_table(out: OutFolder, download: Download, table: str) -> None:
    """Write the table of who handed in what, unless it is empty; say how many could not be matched."""
    if table:
        out.write_with_names({IMPORT: table})
    if import_table.worth_saying(download):
        _say([import_table.summary(download)])


def _write_class(
    out: OutFolder, assignment: Assignment, grades: Sequence[Grade], sources: Mapping[str, bytes], digest: str
) -> None:
    """Write the files of a class whose grades are stored, those on similar sources if there are ``sources``.

    The note of the class comes last: without it the class counts as unfinished.
    """
    if kind_of(assignment).compiles and sources:
        write_similar(out, assignment, sources)
    out.write(class_files(out, grades))
    out.note_class([grade.submission_id for grade in grades], digest)


def _hand_ins(
    submissions: Sequence[Submission], others: Sequence[Grade], identities: Identities | None
) -> list[tuple[str, HandIn | None]]:
    """Identities by submission: of those to be graded, and of the others of the class."""
    own = [(submission.id, submission.hand_in) for submission in submissions]
    return own + [(grade.submission_id, identified(grade, identities).hand_in) for grade in others]


def _as_stored(submissions: Sequence[Submission], identities: Identities | None) -> dict[str, Submission]:
    """The submissions by id as they are stored: without names where the class is anonymous."""
    return {
        submission.id: replace(submission, hand_in=nameless(submission.hand_in, identities))
        for submission in submissions
    }


def _reported(
    options: argparse.Namespace,
    assignment: Assignment,
    grades: Sequence[Grade],
    submissions: Sequence[Submission],
    out: OutFolder,
    *,
    resumed: int,
) -> int:
    """Write and print what options ask for of a class that is graded; gives the exit code."""
    _write_files(options, grades, out)
    if options.format in arguments.PLATFORM_FORMATS:
        own, further = lines(submissions[0].source), further_lines(submissions[0])
        return setup.print_for_platform(options, load_grade(out, grades[0].submission_id), own, further)
    if options.format == "text":
        setup.print_class(grades, resumed=resumed, out=out.path)
    else:
        sys.stdout.write(_annotated(options, grades))
    return _code(options, assignment, grades, out)


def _code(
    options: argparse.Namespace, assignment: Assignment, grades: Sequence[Grade], out: OutFolder
) -> int:
    """The exit code; a class of which it may not be that of the assignment is a question."""
    in_error = [grade for grade in grades if grade.verdict is Verdict.ERROR]
    if in_error:
        _say([_TO_DECIDE if all(grade.is_question for grade in in_error) else _NOT_GRADED])
        return setup.OURS
    if doubt := _class_doubt(grades):
        question = f"is `{assignment.id}` the assignment that these are for?"
        _say([f"{doubt}: {question} The grades are stored in {out.path}"])
        return setup.ASKS
    return int(options.fail_under is not None and any(setup.below(g, options.fail_under) for g in grades))


def _seed(options: argparse.Namespace, assignment: Assignment) -> int | None:
    """The seed that is asked for; ``None`` leaves it to the batch that is taken up, or to chance."""
    seed = setup.seed(options, assignment)
    return draw_seed() if seed is None and options.fresh else seed


def _pseudonymous(
    options: argparse.Namespace, download: Download, out: OutFolder
) -> tuple[Download, Identities | None]:
    """The download and what is typed after --only with pseudonyms, if the class is to have them."""
    identities = require_identities(out, anonymous=options.anonymous)
    if identities is None:
        return download, None
    download, identities = pseudonymous(download, identities)
    keep_identities(out, identities)
    options.only = [pseudonym_of(name, identities) for name in options.only]
    return download, identities


def _graded_before(
    options: argparse.Namespace, session: BatchSession, out: OutFolder, ids: Sequence[str]
) -> dict[str, Grade]:
    """The grades that an earlier batch vouches for; says why there is none where something changed."""
    if options.fresh:
        return {}
    grades, changed = already_done(out, session, ids, options.jobs)
    if changed and options.only:
        raise UsageError(
            f"--only: this has changed since the class was graded: {changed}; grade all of it again"
        )
    if changed:
        _say([f"everything is graded anew, for this has changed since: {changed}"])
    return grades


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        setup.console(stderr=True).print(note, soft_wrap=True)


def _grade_all(
    options: argparse.Namespace,
    assignment: Assignment,
    grading: Iterable[Graded],
    number: int,
    out: OutFolder,
    earlier_grades: Collection[Grade],
    final: Callable[[Grade], Grade],
    stored_submissions: Mapping[str, Submission],
) -> dict[str, Grade]:
    """Store grades as they are finished; say how far it is, and keep the page of all grades so far.

    ``final`` gives a grade what was decided about it; ``stored_submissions`` are kept with the grades.
    Gives the grades by id, without what fills the memory: their evidence.
    """
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = setup.console(stderr=True)
    log = progress.BatchLog(
        number,
        partial(console.print, soft_wrap=True),
        verbose=options.verbose,
        every=0 if setup.is_watched(console) else progress.MINUTE,
    )
    page = PageInProgress(out, earlier_grades, len(earlier_grades) + number)
    give_back_large_blocks()
    slim, graded = Slimming(), {}
    with log, Progress(*columns, console=console, disable=not setup.is_watched(console)) as bar:
        task = bar.add_task("", total=number)
        for finished in grading:
            submission = stored_submissions[finished.grade.submission_id]
            grade = replace(final(finished.grade), hand_in=submission.hand_in)
            store(out, finished.decided(grade), submission, quoted=kind_of(assignment).compiles)
            graded[submission.id] = slim(grade)
            page.add(graded[submission.id])
            log.add(grade)
            bar.advance(task)
            interruption.raise_if_stopped()
    return graded


def _write_files(options: argparse.Namespace, grades: Sequence[Grade], out: OutFolder) -> None:
    """Write what --json, --junit and --html ask for."""
    setup.write(options.json, grade_json.dump_all(grades))
    setup.write(options.junit, junit.parts(grades, options.junit_dialect))
    if options.html:  # a page of thousands takes seconds
        setup.write(options.html, class_page.render(grades, source_of=out.source_lines))
