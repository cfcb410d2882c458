"""`grader trace`: what one block of a student's kernel does, on a visible case or a shape given by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.assignment import expand_cases, reference_folder
from grader.cli import arguments, setup
from grader.emulator.launch import STEPS, Kernel
from grader.emulator.trace.trace import trace
from grader.errors import OurError, UsageError
from grader.kinds import kind_of
from grader.kinds.kernel.planning import arguments as kernel_arguments
from grader.model import Case, Finding, Visibility
from grader.model.trace import TraceScene
from grader.nvcc import build_at, build_kernels
from grader.nvcc.launch import plan_launch
from grader.nvcc.source import readable
from grader.oracle import array_types, load_oracle
from grader.ptx import parse
from grader.reports import trace_files, trace_text

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment, Build, Dim3, Launch, Submission
    from grader.nvcc import Tools

BY_HAND = "by-hand"
"""What a case is called whose shape was typed."""

_EXTENT = re.compile(r"([A-Za-z_]\w*)=(\d{1,9})")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to look into")
    parser.add_argument("--case", metavar="ID", default=None, help="a visible case (default: the first one)")
    parser.add_argument(
        "--shape", metavar="M=8,K=8,…", default=None, help="another shape than the case's, each size once"
    )
    parser.add_argument("--inputs", metavar="KIND", default=None, help="other inputs, such as counting")
    parser.add_argument(
        "--block", metavar="X,Y", default="0,0", help="which block: its blockIdx (default: 0,0)"
    )
    parser.add_argument(
        "--seed", type=int, default=None, help="decides all random inputs (default: as in `check`)"
    )
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the tables")
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=arguments.writable,
        help="also write the trace as JSON",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        type=arguments.writable,
        help="also write a page that plays it",
    )
    parser.add_argument(
        "--sandbox",
        choices=arguments.SANDBOXES,
        default=arguments.default_sandbox(),
        help="what is around the compiler (default: auto, as in `check`)",
    )
    arguments.add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Trace one block and print its intervals; 0, or 1 where the launch went wrong or there is none."""
    tools = setup.tools(options)
    assignment = setup.assignment(options)
    if not kind_of(assignment).has_kernels:
        raise UsageError(f"`{assignment.id}` asks for no kernel: there are no blocks to trace")
    submission = setup.only_submission(options.file, assignment, "trace")
    if submission.problem is not None:
        raise UsageError(f"{options.file}: {submission.problem.message}")
    seed = setup.PUBLIC_SEED if options.seed is None else options.seed
    case = _case(assignment, options, seed)
    built = _built(tools, submission, assignment, case)
    launch = plan_launch(assignment.kernel, built, dict(case.shape))
    if isinstance(launch, Finding):
        raise UsageError(f"{submission.file}: {launch.message}")
    scene = _scene(assignment, submission, case, built, launch, _block(options.block, launch), seed)
    console = setup.console(width=options.width)
    shown = trace_text.render(scene, width=console.width, ascii_only=setup.ascii_only())
    console.print(shown, end="")
    if options.json:
        setup.write(options.json, trace_files.dump(scene))
    if options.html:
        setup.write(options.html, trace_files.render(scene))
    return int(bool(scene.trace.findings) or not scene.trace.completed)


def _case(assignment: Assignment, options: argparse.Namespace, seed: int) -> Case:
    """The case that was asked for; of hidden ones nobody learns that they exist."""
    visible = [c for c in expand_cases(assignment, seed) if c.visibility is Visibility.VISIBLE]
    names = ", ".join(case.id for case in visible)
    if options.case is not None:
        chosen = next((case for case in visible if case.id == options.case), None)
        if chosen is None:
            raise UsageError(f"no visible case `{options.case}`; there are {names or 'none'}")
    elif not visible:
        raise UsageError(f"`{assignment.id}` has no visible case to begin with")
    else:
        chosen = visible[0]
    if options.shape is not None:
        shape = _shape(options.shape, chosen)
        chosen = replace(chosen, id=BY_HAND, shape=shape, seed=seed, offset=0)
    return replace(chosen, inputs=options.inputs) if options.inputs else chosen


def _shape(text: str, like: Case) -> tuple[tuple[str, int], ...]:
    """`M=8,K=8,N=8` as a shape with all the names of the assignment's cases."""
    wanted = [name for name, _ in like.shape]
    matches = [_EXTENT.fullmatch(part.strip()) for part in text.split(",")]
    given = {match[1]: int(match[2]) for match in matches if match}
    if None in matches or len(given) != len(matches) or set(given) != set(wanted) or 0 in given.values():
        example = ",".join(f"{name}=8" for name in wanted)
        raise UsageError(f"--shape {text}: expected each size once, such as {example}")
    return tuple((name, given[name]) for name in wanted)


def _block(text: str, launch: Launch) -> Dim3:
    """`1,0` as ``blockIdx``; what is left out is 0."""
    parts = [part.strip() for part in text.split(",")]
    grid = " × ".join(map(str, launch.grid))
    if len(parts) > len(launch.grid) or not all(re.fullmatch(r"\d{1,9}", part) for part in parts):
        raise UsageError(f"--block {text}: expected blockIdx as x,y or x,y,z, such as 0,0")
    x, y, z = (*(int(part) for part in parts), 0, 0, 0)[:3]
    if not all(index < extent for index, extent in zip((x, y, z), launch.grid, strict=True)):
        raise UsageError(f"--block {text}: the grid is {grid}, and blocks count from 0")
    return x, y, z


def _built(tools: Tools, submission: Submission, assignment: Assignment, case: Case) -> Build:
    """The build with the kernel that the case launches; raises UsageError where it does not compile."""
    interface = assignment.kernel
    if interface.sizes:
        built = build_at(tools, submission, interface, case.kernel or interface.kernel, case.shape)
    else:
        built = build_kernels(tools, submission, interface)
    if case.kernel and built.ok:
        built = dict(built.others).get(case.kernel, built)
    if built.error:
        raise OurError(built.error)
    if not built.ok:
        first = built.findings[0]
        line = f":{first.line}" if first.line else ""
        raise UsageError(
            f"{submission.file}{line}: does not compile: {first.message}; `grader check` says more"
        )
    return built


def _scene(
    assignment: Assignment,
    submission: Submission,
    case: Case,
    built: Build,
    launch: Launch,
    block: Dim3,
    seed: int,
) -> TraceScene:
    source = tuple(readable(submission.source).decode().replace("\r\n", "\n").split("\n"))
    module = parse(built.hazard_ptx)
    kernel = Kernel(module, built.entry, built.source_name, submission.file, built.shared_shapes)
    oracle = load_oracle(reference_folder(assignment), array_types(assignment.kernel))
    given = kernel_arguments(assignment, built, case, oracle)
    return TraceScene(
        trace(kernel, launch, given, block, source, steps=STEPS),
        assignment.id,
        assignment.title,
        submission.file,
        case.kernel or assignment.kernel.kernel,
        case.id,
        case.shape,
        case.inputs,
        seed,
        built.constants,
        source,
    )
