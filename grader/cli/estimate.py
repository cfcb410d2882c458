"""`grader estimate`: how fast a model says that a kernel would be on a GPU that is not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.cli import arguments, setup
from grader.grading.submission import lines
from grader.kinds import kind_of, pipeline
from grader.kinds.estimating import estimate_submission
from grader.model.messages import sentences_of, speaking
from grader.reports import estimate as estimate_report
from grader.reports import grade_json

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment, TimingPlan


def run(options: argparse.Namespace) -> int:
    """Estimate one file and print what limits it; 0, or 1 where there is no estimate."""
    assignment = setup.assignment(options)
    timing = _timing(assignment)
    shape = timing.shape
    if options.shape is not None:
        shape = arguments.sizes(options.shape, [name for name, _ in shape])
    submission = setup.only_submission(options.file, assignment, "estimate")
    if submission.problem is not None:
        raise UsageError(f"{options.file}: {submission.problem.message}")
    tools = setup.tools_for_own_file(options, assignment)
    with speaking(sentences_of(assignment.feedback)):
        plan = pipeline.make_plan(assignment, setup.PUBLIC_SEED, tools, visible_only=True)
        device = options.device or timing.estimate_for
        estimate = estimate_submission(plan, submission, tools, device, shape)
        console = setup.console(width=options.width)
        page = estimate_report.render(
            estimate,
            source_lines=lines(submission.source),
            width=console.width,
            ascii_only=setup.ascii_only(),
        )
        console.print(page, end="")
        if options.json:
            setup.write(options.json, grade_json.dump_estimate(estimate))
    return int(estimate.ratio is None)


def _timing(assignment: Assignment) -> TimingPlan:
    """Timing plan of the assignment; raises UsageError where it times nothing, or no kernel."""
    if not kind_of(assignment).is_estimated:
        raise UsageError(f"`{assignment.id}` asks for no kernel: there is nothing to estimate")
    if assignment.timing is None:
        raise UsageError(f"`{assignment.id}` times nothing: it does not say what to compare a kernel with")
    return assignment.timing
