"""`grader export-gradescope`: an autograder for Gradescope, which grades there without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import draw_seed
from grader.cli import arguments, setup
from grader.gradescope.archive import archive

if TYPE_CHECKING:
    import argparse

RESERVE_SECONDS = 60
"""What is left of the time that Gradescope allows when grading is ended: results have to be fetched, too."""

MOST_MINUTES = 24 * 60


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=arguments.writable,
        required=True,
        help="the zip to write, for Gradescope's `Configure Autograder`",
    )
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=None,
        help="decides all inputs, the same for everybody (default: drawn, and recorded in the zip)",
    )
    parser.add_argument(
        "--minutes",
        type=arguments.positive,
        default=10,
        help="Gradescope's time limit; grading ends a minute before (default: 10)",
    )
    parser.set_defaults(no_cache=False)


def run(options: argparse.Namespace) -> int:
    """Write the zip, and say what to do with it."""
    assignment = setup.staff_assignment(options)
    seed = draw_seed() if options.seed is None else options.seed
    minutes = min(options.minutes, MOST_MINUTES)
    content = archive(assignment, seed, max(RESERVE_SECONDS / 2, 60 * minutes - RESERVE_SECONDS))
    setup.write_bytes(options.out, content)
    console = setup.console()
    console.print(f"{options.out}: {len(content) / 2**20:.1f} MiB, seed {seed}", soft_wrap=True)
    console.print(
        "It holds hidden cases and solutions: for staff only. In Gradescope, upload it under Configure "
        "Autograder, choose a base image of Ubuntu and a container with 1 CPU or more."
    )
    return 0
