"""The builds of one submission: one for each set of sizes that cases give its macros and constants."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.kinds import kind_of
from grader.model import Build, ProgramInterface

if TYPE_CHECKING:
    from grader.model import Case, Named, Submission
    from grader.nvcc import Tools
    from grader.plan import Plan


@dataclass(frozen=True, slots=True)
class Builds:
    """What was built with the assignment's own sizes, and what else is built when a case asks for it.

    ``architecture`` is that of the GPU that runs them, empty for the emulator.
    """

    plan: Plan
    submission: Submission
    tools: Tools
    built: Build
    architecture: str
    _others: dict[Named[int], Build] = field(default_factory=dict)

    def of(self, case: Case) -> Build:
        """The build that a case runs, which may be at fault at its sizes; raises OurError where we are."""
        interface = self.plan.assignment.interface
        if not isinstance(interface, ProgramInterface) or case.sizes == interface.sizes:
            return self.built
        if case.sizes not in self._others:
            sized = replace(self.plan.assignment, interface=replace(interface, sizes=case.sizes))
            build = kind_of(sized).build(self.tools, self.submission, sized, self.architecture)
            self._others[case.sizes] = build
        build = self._others[case.sizes]
        if build.error:
            raise OurError(build.error)
        return build
