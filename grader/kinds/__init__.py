"""The kinds of assignments: a kernel, a program, a function, answers. One package each, and one table.

Everything that differs between kinds is behind `kind_of`. A new kind is a package with a module
`stages` and a line in `KINDS`.

What kinds share is here as well. Builds beside the submission's own are of the staff's files, and with the
sizes of one case. The staff's own kernels, functions and programs are built to be compared with, and what
fails there is our error; each function calls the file by a ``noun`` in what it raises. A submission that does
not compile with the sizes of one case gets a finding of that case. A trace is asked for in the same way,
whatever is handed in: which case, which launch, which block.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from grader.base.errors import OurError, UsageError
from grader.base.records import frozen
from grader.model import (
    AnswersInterface,
    Build,
    Clause,
    Finding,
    FindingCode,
    FindingKind,
    FunctionInterface,
    KernelInterface,
    ProgramInterface,
    Submission,
    Visibility,
)
from grader.model.messages import current, worded
from grader.toolchain.nvcc import build_kernels, build_program
from grader.toolchain.nvcc.source import readable

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from grader.kinds.estimate_request import Estimated, EstimateRequest
    from grader.kinds.plan import Plan
    from grader.model import Assignment, Case, Dim3, Evidence, Launch, Named
    from grader.model.trace import TraceScene
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import MachineCode, Tools


class Stages(Protocol):
    """Interface of the module ``stages`` of a kind's package."""

    def plan(self, drawn: Plan, tools: Tools) -> Plan:
        """The plan whose cases are drawn, with what else all submissions share.

        Raises OurError where one of the staff's kernels cannot be run, UsageError where the reference cannot
        tell what is asked.
        """

    def gather(
        self, plan: Plan, submission: Submission, built: Build, tools: Tools
    ) -> tuple[Evidence, Named[float]]:
        """Run a build and compare what comes of it; the seconds that it took by stage."""

    def nothing(self, plan: Plan, built: Build) -> Evidence:
        """The evidence where nothing could be run."""


class Estimating(Protocol):
    """Interface of the module ``estimating`` of a kind's package, if the kind `is_estimated`."""

    def build_of(self, assignment: Assignment, submission: Submission, tools: Tools) -> Build:
        """The build whose speed is estimated; it is not ``ok`` where there is none."""

    def estimated(
        self,
        request: EstimateRequest,
        built: Build,
        code: Future[MachineCode] | None,
        *,
        compares: bool = False,
    ) -> Estimated:
        """Estimate for a build whose machine code is, or will be, in ``code``; raises NotEstimatedError.

        Where it ``compares`` the launch's results with the expected ones, a wrong result has no estimate.
        """


class Tracing(Protocol):
    """Interface of the module ``tracing`` of a kind's package, if submissions of the kind have kernels."""

    def scene(
        self, assignment: Assignment, submission: Submission, tools: Tools, request: TraceRequest
    ) -> TraceScene:
        """The trace of one launch; raises UsageError where there is no such launch or block."""


@frozen
class Kind:
    """Properties of a kind that are known before its package is loaded; ``name`` is the package's name."""

    name: str
    compiler: Callable[[Tools, Submission, Any, str], Build] | None = None
    """Function that builds a submission for the kind's interface and a GPU's architecture.

    None where nothing is compiled, so that neither a compiler nor a GPU is needed.
    """
    runs_on: str = ""
    """Name in grades of the environment of a run without a GPU; empty where a backend runs kernels."""
    is_estimated: bool = False
    """True if the kind's speed can be estimated where there is no GPU."""
    has_kernels: bool = False
    """True if it asks for kernels: only then are there a backend to run them and traces in reports."""

    @property
    def compiles(self) -> bool:
        """True if submissions are compiled."""
        return self.compiler is not None

    @property
    def runs_host_code(self) -> bool:
        """True if host code of a submission is run; beside kernels there may be host code that never runs."""
        return self.compiles and not self.has_kernels

    def build(
        self, tools: Tools | None, submission: Submission, assignment: Assignment, architecture: str = ""
    ) -> Build:
        """Build a submission; a failure of ours is in the record's ``error`` instead of raised.

        ``architecture`` is that of the GPU which a program is built for, empty where there is none.
        """
        if self.compiler is None:
            return Build(ok=True)  # there is nothing to build
        if tools is None:
            return Build(ok=False, error="there is no compiler to build it with")
        return self.compiler(tools, submission, assignment.interface, architecture)

    def backend_name(self, backend: Backend) -> str:
        """Name in grades of the environment on which submissions run."""
        return self.runs_on if self.runs_on and backend.pool is None else backend.name

    def plan(self, drawn: Plan, tools: Tools | None) -> Plan:
        """`Stages.plan`; raises OurError without a compiler, where one is needed."""
        if self.compiles and tools is None:
            raise OurError(f"the assignment {drawn.assignment.id} cannot be prepared without a compiler")
        return self.stages().plan(drawn, cast("Tools", tools))  # who compiles nothing does not look at them

    def gather(
        self, plan: Plan, submission: Submission, built: Build, tools: Tools | None
    ) -> tuple[Evidence, Named[float]]:
        """`Stages.gather` for what is built; the evidence says so where that, or a compiler, is not there."""
        if not built.ok:
            return self.stages().nothing(plan, built), ()
        if self.compiles and tools is None:
            return self.stages().nothing(plan, Build(ok=False, error="there is no compiler")), ()
        return self.stages().gather(plan, submission, built, cast("Tools", tools))  # as above

    def stages(self) -> Stages:
        """The kind's stages; loading them takes what running submissions of the kind takes."""
        return cast("Stages", import_module(f"grader.kinds.{self.name}.stages"))

    def estimating(self) -> Estimating:
        """Module that estimates speed; raises ModuleNotFoundError for a kind that is not `is_estimated`."""
        return cast("Estimating", import_module(f"grader.kinds.{self.name}.estimating"))

    def tracing(self) -> Tracing:
        """Module that traces a launch; raises ModuleNotFoundError for a kind that is not compiled."""
        return cast("Tracing", import_module(f"grader.kinds.{self.name}.tracing"))


KINDS: dict[type, Kind] = {
    KernelInterface: Kind("kernel", build_kernels, is_estimated=True, has_kernels=True),
    ProgramInterface: Kind("program", build_program, runs_on="host"),
    FunctionInterface: Kind("function", build_program, is_estimated=True),
    AnswersInterface: Kind("answers", runs_on="model"),
}
"""The kind of an assignment by the type of its ``interface``."""


def kind_of(assignment: Assignment) -> Kind:
    """The kind of an assignment."""
    return KINDS[type(assignment.interface)]


def staff_submission(path: Path, noun: str) -> Submission:
    """A file of the staff's as if it had been handed in; raises OurError where it cannot be read."""
    try:
        return Submission(path.stem, path.name, path.read_bytes(), "")
    except OSError as problem:
        raise OurError(f"the staff's {noun} {path} cannot be read: {problem.strerror}") from None


def require_built(built: Build, submission: Submission, noun: str) -> Build:
    """The build of a file of the staff's; raises OurError with the reasons where there is none."""
    if not built.ok:
        findings = ((f"line {f.line}: " if f.line else "") + f.message for f in built.findings)
        reasons = "; ".join(findings) or built.error
        raise OurError(f"the staff's {noun} {submission.file} does not build: {reasons}")
    return built


def not_built(built: Build, case: Case) -> Finding:
    """Finding for a case whose sizes do not compile; for a hidden case the sizes are left out."""
    shown = built.findings if case.visibility is Visibility.VISIBLE else ()
    texts = [current().worded(finding).message for finding in shown]
    reason = tuple(Clause("because", (("text", text),)) for text in texts[:1])
    details = (("reason", reason),)
    return worded(Finding(FindingKind.COMPILE, code=FindingCode.SIZES_DO_NOT_COMPILE, details=details))


@frozen
class TraceRequest:
    """One block of one launch.

    ``block`` is its ``blockIdx``, x, y and z as far as they were given. Of a program ``launch`` counts the
    launches of a run from 1, those of ``kernel`` alone if one is named; 0 is the first with a finding, or
    else the first.
    """

    case: Case
    seed: int
    block: tuple[int, ...]
    kernel: str = ""
    launch: int = 0

    def block_in(self, launch: Launch) -> Dim3:
        """The block in a launch; raises UsageError where its grid has no such block."""
        x, y, z = (*self.block, 0, 0, 0)[:3]
        if not all(index < extent for index, extent in zip((x, y, z), launch.grid, strict=True)):
            grid = " × ".join(map(str, launch.grid))
            typed = ",".join(map(str, self.block))
            raise UsageError(f"--block {typed}: the grid is {grid}, and blocks count from 0")
        return x, y, z


def require_compiled(built: Build, submission: Submission) -> None:
    """Raise UsageError where a submission does not compile, OurError where that is ours."""
    if built.error:
        raise OurError(built.error)
    if not built.ok:
        first = built.findings[0]
        line = f":{first.line}" if first.line else ""
        raise UsageError(
            f"{submission.file}{line}: does not compile: {first.message}; `grader check` says more"
        )


def source_lines(submission: Submission) -> tuple[str, ...]:
    """The lines of the submission, as the compiler counts them."""
    return tuple(readable(submission.source).decode().replace("\r\n", "\n").split("\n"))
