"""The kinds of assignments: a kernel, a program, a function, answers. One package each, and one table.

Everything that differs between kinds is behind `kind_of`. A new kind is a package with a module
`stages` and a line in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from grader.errors import OurError
from grader.model import AnswersInterface, Build, FunctionInterface, KernelInterface, ProgramInterface
from grader.nvcc import build_kernels, build_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from grader.backends.backend import Backend
    from grader.kinds.estimate_request import Estimated, EstimateRequest
    from grader.kinds.tracing import TraceRequest
    from grader.model import Assignment, Evidence, Named, Submission
    from grader.model.trace import TraceScene
    from grader.nvcc import MachineCode, Tools
    from grader.plan import Plan


class Stages(Protocol):
    """What the module ``stages`` of a kind's package has."""

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
    """What the module ``estimating`` of a kind's package has, if the kind `is_estimated`."""

    def build_of(self, assignment: Assignment, submission: Submission, tools: Tools) -> Build:
        """The build whose speed is estimated; it is not ``ok`` where there is none."""

    def estimated(
        self, request: EstimateRequest, built: Build, code: Future[MachineCode] | None
    ) -> Estimated:
        """What a build takes whose machine code is, or will be, in ``code``; raises NotEstimatedError."""


class Tracing(Protocol):
    """What the module ``tracing`` of a kind's package has, if submissions of the kind have kernels."""

    def scene(
        self, assignment: Assignment, submission: Submission, tools: Tools, request: TraceRequest
    ) -> TraceScene:
        """The trace of one launch; raises UsageError where there is no such launch or block."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a kind before anything of it is loaded; ``name`` is that of its package."""

    name: str
    compiler: Callable[[Tools, Submission, Any, str], Build] | None = None
    """What builds a submission for the kind's interface and a GPU's architecture; None where nothing is
    compiled, so that neither a compiler nor a GPU is needed."""
    runs_on: str = ""
    """What a grade calls that on which it runs without a GPU; empty where a backend runs it, as kernels."""
    is_estimated: bool = False
    """Whether its speed can be estimated where there is no GPU."""
    has_kernels: bool = False
    """Whether it asks for kernels: only then there are mutants, a backend to run them, traces in reports."""

    @property
    def compiles(self) -> bool:
        """Whether submissions are compiled."""
        return self.compiler is not None

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
        """What a grade calls that on which submissions run."""
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
        """What estimates the speed; raises ModuleNotFoundError for a kind that is not `is_estimated`."""
        return cast("Estimating", import_module(f"grader.kinds.{self.name}.estimating"))

    def tracing(self) -> Tracing:
        """What traces a launch; raises ModuleNotFoundError for a kind that is not compiled."""
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
