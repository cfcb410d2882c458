"""The builds of one submission, and how the kernels that ran in its cases are built.

There is a build for each set of sizes that cases give a submission's macros and constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.kinds import kind_of
from grader.nvcc.signature import read_name
from grader.ptx import parse
from grader.ptx.facts import structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Build, Case, CaseEvidence, Named, Structure, Submission
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
        assignment = self.plan.assignment
        if case.sizes == assignment.interface.built_with:
            return self.built
        if case.sizes not in self._others:
            sized = replace(assignment, interface=replace(assignment.program, sizes=case.sizes))
            build = kind_of(sized).build(self.tools, self.submission, sized, self.architecture)
            self._others[case.sizes] = build
        build = self._others[case.sizes]
        if build.error:
            raise OurError(build.error)
        return build


@dataclass(frozen=True, slots=True)
class Ran:
    """What the cases of a submission showed; ``executed`` holds the instructions that threads came to.

    By the names of kernels in the PTX, each by function and place in it.
    """

    cases: tuple[CaseEvidence, ...]
    file: str
    built: Build | None = None
    """What the first case ran, whose instructions they are."""
    executed: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def structures(self) -> Named[Structure]:
        """How the kernels that ran are built, by the names that they have in the student's file."""
        if not self.executed or self.built is None:
            return ()
        structures = dict[str, "Structure"]()
        for file, build in ((self.file, self.built), *self.built.others):
            if not build.ptx:
                continue
            module = parse(build.ptx)
            entries = {function.name for function in module.functions if function.is_entry}
            for entry in sorted(self.executed.keys() & entries):
                of_entry = structure(module, entry, build.source_name, file, self.executed[entry])
                structures.setdefault(read_name(entry).name, of_entry)
        return tuple(structures.items())
