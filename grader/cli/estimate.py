"""`grader estimate`: how fast a model says that a kernel would be on a GPU that is not at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader import pipeline
from grader.cli import arguments, setup
from grader.errors import UsageError
from grader.kinds import kind_of
from grader.kinds.estimating import estimate_submission
from grader.messages import sentences_of, speaking
from grader.model import DEVICES
from grader.reports import estimate as estimate_report
from grader.reports import grade_json
from grader.submission import lines

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment, TimingPlan


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file (or folder) with the kernel")
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default=None,
        help="the GPU to estimate for (default: the one that the assignment names)",
    )
    parser.add_argument(
        "--shape",
        metavar="M=512,K=512,…",
        default=None,
        help="another shape than the assignment times, each size once",
    )
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the text")
    parser.add_argument(
        "--json", metavar="FILE", type=arguments.writable, help="also write the estimate as JSON"
    )
    parser.add_argument(
        "--sandbox",
        choices=arguments.SANDBOXES,
        default=arguments.default_sandbox(),
        help="what is around the compiler (default: auto, as in `check`)",
    )
    arguments.add_toolchain(parser)


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
    tools = setup.tools(options)
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
    """What the assignment times; raises UsageError where that is nothing, or no kernel."""
    if not kind_of(assignment).is_estimated:
        raise UsageError(f"`{assignment.id}` asks for no kernel: there is nothing to estimate")
    if assignment.timing is None:
        raise UsageError(f"`{assignment.id}` times nothing: it does not say what to compare a kernel with")
    return assignment.timing
