"""A trace of one launch of a program, or of a function, with what it is a trace of.

The case is run as when it is graded; the launch is kept with device memory as it found it, and run again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import OurError, UsageError
from grader.base.records import mutable
from grader.base.text import count
from grader.kinds import kind_of, require_compiled, source_lines
from grader.kinds.host_runs.running import run_cases
from grader.kinds.plan import Plan
from grader.model import Argument, Severity
from grader.model.messages import current
from grader.model.trace import TracedLaunch, TraceScene
from grader.running.backends.emulator import EMULATOR
from grader.running.device.observation import Observation
from grader.simulation.emulator.launch import Kernel
from grader.simulation.emulator.trace.trace import trace
from grader.simulation.ptx import parse
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.kinds import TraceRequest
    from grader.kinds.host_runs.running import Task
    from grader.model import Assignment, Build, CaseEvidence, Submission
    from grader.running.device.observation import EndedLaunch
    from grader.toolchain.nvcc import Tools


def scene_of(
    assignment: Assignment,
    submission: Submission,
    tools: Tools,
    request: TraceRequest,
    task: Callable[[Plan, Build], Task],
) -> TraceScene:
    """The trace of a launch in a run of a task; raises UsageError where there is no such launch."""
    built = kind_of(assignment).build(tools, submission, assignment)
    require_compiled(built, submission)
    if not built.calls_device:
        raise UsageError(f"{submission.file}: calls no CUDA, so there is no launch to trace")
    plan = Plan(assignment, request.seed, (request.case,), (), EMULATOR, feedback=False)
    choice = _Choice(request)
    observation = Observation(after=choice.look)
    ran = run_cases(plan, submission, built, tools, task(plan, built), observation=observation)
    ended = choice.launch(ran.cases[0])
    launch, image, source = ended.ran.launch, ended.image, source_lines(submission)
    kernel = Kernel(
        parse(built.hazard_ptx), ended.ran.kernel, built.source_name, submission.file, lay_out=image.lay_out
    )
    case = request.case
    return TraceScene(
        trace(kernel, launch, ended.trial.arguments, request.block_in(launch), source, arrays=_arrays(ended)),
        assignment.id,
        assignment.title,
        submission.file,
        read_name(ended.ran.kernel).name,
        case.id,
        case.shape,
        case.inputs if case.shape else "",
        request.seed,
        built.constants,
        source,
        TracedLaunch(choice.number, choice.matching, dict(built.call_lines).get(ended.ran.caller)),
        case.arguments,
    )


@mutable
class _Choice:
    """The launch that was asked for, as soon as it was seen."""

    request: TraceRequest
    number: int = 0
    matching: int = 0
    """Number of launches among those that are counted."""
    counts: Counter[str] = field(default_factory=Counter)
    """All launches, by the names of kernels."""
    chosen: EndedLaunch | None = None

    def look(self, ended: EndedLaunch) -> None:
        """Keep a launch if it is the one that was asked for."""
        name = read_name(ended.ran.kernel).name
        self.counts[name] += 1
        if self.request.kernel not in ("", name):
            return
        self.matching += 1
        if self._is_better(ended):
            self.number = self.matching
            self.chosen = replace(ended, image=ended.image.kept())

    def _is_better(self, ended: EndedLaunch) -> bool:
        if self.request.launch:
            return self.matching == self.request.launch
        return self.chosen is None or (_is_wrong(ended) and not _is_wrong(self.chosen))

    def launch(self, case: CaseEvidence) -> EndedLaunch:
        """The launch that was chosen; raises UsageError or OurError that says what there was instead."""
        if self.chosen is not None:
            return self.chosen
        if case.error:
            raise OurError(case.error)
        if not self.counts:
            texts = [current().worded(finding).message for finding in case.findings]
            why = current().clause(case.too_much_work) if case.too_much_work else next(iter(texts), "")
            raise UsageError(f"no kernel ran in case {case.case.id}{f': {why}' if why else ''}")
        launches = ", ".join(f"{number} of `{name}`" for name, number in self.counts.items())
        asked = f"--launch {self.request.launch}: " if self.request.launch else ""
        asked = f"--kernel {self.request.kernel}: " if self.request.kernel and not self.matching else asked
        raise UsageError(
            f"{asked}case {case.case.id} had {count(self.counts.total(), 'launch', 'launches')}: {launches}"
        )


def _is_wrong(ended: EndedLaunch) -> bool:
    return any(finding.severity is not Severity.INFO for finding in ended.ran.run.findings)


def _arrays(ended: EndedLaunch) -> Iterator[Argument]:
    """The arrays of a launch before it ran, masked where never written; plain bytes if no type is known."""
    image = ended.image
    for array in image.arrays:
        dtype = image.types.get(array.start, np.dtype("V1"))
        content = image.bytes[array.start : array.end].view(dtype)
        missing = image.written[array.start : array.end].reshape(-1, dtype.itemsize).min(axis=1) == 0
        yield Argument(array.name, "inout", np.ma.masked_array(content, mask=missing))
