"""The builds of one submission: which of them its cases ran, and repairs that are tried in them.

There is a build for each set of sizes that cases give a submission's macros and constants.

Repairs for hazards in launches are tried as for a kernel that is handed in alone. A launch with a hazard is
kept with the contents of device memory before it, and so are a few later ones of the same kernel, which a
repair must not harm. A program without hazards keeps nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError, log_swallowed
from grader.base.memory_limit import limited
from grader.base.records import frozen, mutable
from grader.kinds import kind_of
from grader.model import FindingKind, Severity, Visibility
from grader.running.backends.emulated_kernel import EmulatedKernel, with_repairs
from grader.simulation.emulator.repair import WORK, key
from grader.simulation.ptx import parse
from grader.simulation.ptx.facts import structure
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.kinds.plan import Plan
    from grader.model import Build, Case, CaseEvidence, Named, Structure, Submission
    from grader.running.device.observation import EndedLaunch
    from grader.simulation.emulator.repair import Key, RepairCase
    from grader.toolchain.nvcc import Tools


@frozen
class Builds:
    """Builds: one with the assignment's own sizes, and others that are made when a case asks for them.

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


@frozen
class Ran:
    """Evidence of a submission's cases; ``executed`` holds the instructions that threads came to.

    Both go by the names of kernels in the PTX, each by function and place in it; ``visibly`` holds those of
    visible cases.
    """

    cases: tuple[CaseEvidence, ...]
    file: str
    built: Build | None = None
    """Build that the first case ran, to which the instructions belong."""
    executed: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)
    visibly: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def structures(self, executed: Mapping[str, frozenset[tuple[str, int]]]) -> Named[Structure]:
        """Structures of the kernels that ran, by the names that they have in the student's file."""
        if not executed or self.built is None:
            return ()
        structures = dict[str, "Structure"]()
        for file, build in ((self.file, self.built), *self.built.others):
            if not build.ptx:
                continue
            module = parse(build.ptx)
            entries = {function.name for function in module.functions if function.is_entry}
            for entry in sorted(executed.keys() & entries):
                of_entry = structure(module, entry, build.source_name, file, executed[entry])
                structures.setdefault(read_name(entry).name, of_entry)
        return tuple(structures.items())


MOST_LAUNCHES = 8
"""Launches of one kernel that are kept."""

MOST_BYTES = 64 << 20
"""Device memory that is kept for all launches of a submission together."""

_REPAIRED = (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE)


@mutable
class Trials:
    """The launches to try repairs on, by the names of kernels in the PTX."""

    of_kernel: dict[str, list[RepairCase]] = field(default_factory=dict)
    bytes: int = 0
    """Device memory that they keep."""

    def keep(self, ended: EndedLaunch) -> None:
        """Keep a launch with a hazard, and those after it of its kernel, as far as there is room."""
        name, image = ended.ran.kernel, ended.image
        hazards = any(f.kind in _REPAIRED and f.severity is not Severity.INFO for f in ended.trial.findings)
        if not hazards and name not in self.of_kernel:
            return
        trials = self.of_kernel.setdefault(name, [])
        taken = 2 * len(image.bytes)
        if len(trials) < MOST_LAUNCHES and self.bytes + taken <= MOST_BYTES:
            self.bytes += taken
            with suppress(MemoryError):  # the program runs on all the same
                trials.append(replace(ended.trial, lay_out=image.kept().lay_out))


def repaired(
    cases: tuple[CaseEvidence, ...], built: Build, submission: Submission, trials: Trials
) -> tuple[CaseEvidence, ...]:
    """The cases, with a repair in each finding of a visible one that a barrier in one place removes."""
    if not trials.of_kernel:
        return cases
    try:
        with limited():
            repairs = _repairs(built, submission, trials)
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("trying repairs")
        return cases
    return tuple(with_repairs(c, repairs) if c.case.visibility is Visibility.VISIBLE else c for c in cases)


def _repairs(built: Build, submission: Submission, trials: Trials) -> Mapping[Key, str]:
    """Repair of each hazard; where several kernels have it, instances of a template, one that serves all."""
    text, left = tuple(submission.source.decode("latin-1").split("\n")), WORK
    words: dict[Key, set[str]] = {}
    for entry, of_kernel in trials.of_kernel.items():
        build = replace(built, entry=entry)
        kernel = EmulatedKernel(build, built.source_name, submission.file, text=text)
        workshop = kernel.workshop(of_kernel)
        workshop.left = left
        workshop.is_right = lambda *_: False  # the right result of a launch by itself is unknown
        repairs = workshop.repairs()
        left = workshop.left
        for hazard in {key(finding) for trial in of_kernel for finding in trial.findings}:
            words.setdefault(hazard, set()).add(repairs.get(hazard, ""))
    return {hazard: next(iter(texts)) for hazard, texts in words.items() if len(texts) == 1}
