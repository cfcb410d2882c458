"""`grader trace`: what one block of a student's kernel does, on a visible case or a shape given by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.cli import arguments, setup
from grader.grading.assignment import expand_cases
from grader.kinds import TraceRequest, kind_of
from grader.model import Case, Visibility
from grader.model.messages import current, sentences_of, speaking
from grader.reports import trace_files, trace_text

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment
    from grader.model.trace import TraceScene

BY_HAND = "by-hand"
"""Name of a case whose shape was typed."""

_AXES = 3


def run(options: argparse.Namespace) -> int:
    """Trace one block and print its intervals; 0, or 1 where the launch went wrong or there is none."""
    assignment = setup.assignment(options)
    kind = kind_of(assignment)
    if not kind.compiles:
        raise UsageError(f"`{assignment.id}` asks for no kernel: there are no blocks to trace")
    submission = setup.only_submission(options.file, assignment, "trace")
    if submission.problem is not None:
        raise UsageError(f"{options.file}: {submission.problem.message}")
    seed = setup.PUBLIC_SEED if options.seed is None else options.seed
    case = _case(assignment, options, seed)
    request = TraceRequest(case, seed, _block(options.block), options.kernel, options.launch)
    tools = setup.tools_for_own_file(options, assignment)
    with speaking(sentences_of(assignment.feedback)):
        scene = _in_its_words(kind.tracing().scene(assignment, submission, tools, request))
        console = setup.console(width=options.width)
        shown = trace_text.render(scene, width=console.width, ascii_only=setup.ascii_only())
        console.print(shown, end="")
        if options.json:
            setup.write(options.json, trace_files.dump(scene))
        if options.html:
            setup.write(options.html, trace_files.render(scene))
    return int(bool(scene.trace.findings) or not scene.trace.completed)


def _in_its_words(scene: TraceScene) -> TraceScene:
    """The scene with its findings in the course's language."""
    findings = tuple(map(current().worded, scene.trace.findings))
    return replace(scene, trace=replace(scene.trace, findings=findings))


def _case(assignment: Assignment, options: argparse.Namespace, seed: int) -> Case:
    """The case that was asked for; the existence of hidden ones is not revealed."""
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
    names = [name for name, _ in like.shape]
    if not names:
        raise UsageError(f"--shape {text}: case {like.id} has no sizes")
    return arguments.sizes(text, names)


def _block(text: str) -> tuple[int, ...]:
    """`1,0` as ``blockIdx``; what is left out is 0."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > _AXES or not all(re.fullmatch(r"\d{1,9}", part) for part in parts):
        raise UsageError(f"--block {text}: expected blockIdx as x,y or x,y,z, such as 0,0")
    return tuple(map(int, parts))
