"""The kinds of assignments: a kernel, a whole program, answers to questions. One package each, and one table.

Everything that differs between kinds is behind `kind_of`. A new kind is a package with a module
`stages` and a line in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from grader.model import AnswersInterface, KernelInterface, ProgramInterface

if TYPE_CHECKING:
    from grader.gpu.backend import Station
    from grader.model import Assignment, Build, Evidence, Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan


class Stages(Protocol):
    """What the module ``stages`` of a kind's package has."""

    def plan(
        self,
        assignment: Assignment,
        seed: int,
        tools: Tools | None,
        *,
        visible_only: bool,
        station: Station | None,
    ) -> Plan:
        """Draw the cases and prepare what all submissions share.

        Raises OurError where one of the staff's kernels cannot be run, UsageError where the reference cannot
        tell what is asked.
        """

    def build(self, plan: Plan, submission: Submission, tools: Tools | None) -> Build:
        """Build a submission; a failure of ours is in the record's ``error``."""

    def gather(
        self, plan: Plan, submission: Submission, built: Build, tools: Tools | None
    ) -> tuple[Evidence, Named[float]]:
        """Run a build and compare what comes of it; the seconds that it took by stage."""

    def nothing(self, plan: Plan, built: Build) -> Evidence:
        """The evidence where nothing could be run."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a kind before anything of it is loaded; ``name`` is that of its package."""

    name: str
    backend: str
    """What a grade calls the backend where no GPU is used."""
    compiles: bool = True
    """Whether submissions are compiled: else neither a compiler nor a GPU is needed."""
    has_kernels: bool = False
    """Whether it asks for kernels: only then there are mutants, traces, and an emulator to run them."""

    def stages(self) -> Stages:
        """The kind's stages; loading them takes what running submissions of the kind takes."""
        return cast("Stages", import_module(f"grader.kinds.{self.name}.stages"))


KINDS: dict[type, Kind] = {
    KernelInterface: Kind("kernel", backend="emulator", has_kernels=True),
    ProgramInterface: Kind("program", backend="host"),
    AnswersInterface: Kind("answers", backend="model", compiles=False),
}
"""The kind of an assignment by the type of its ``interface``."""


def kind_of(assignment: Assignment) -> Kind:
    """The kind of an assignment."""
    return KINDS[type(assignment.interface)]
