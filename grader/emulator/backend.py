"""The emulator as a backend: both builds of a kernel, run and put together as one `Run` per case."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.emulator.launch import STEPS, Kernel
from grader.model import FindingKind
from grader.ptx import parse

if TYPE_CHECKING:
    from grader.model import Argument, Build, Launch, Run

NAME = "emulator"
DEVICE = "SIMT emulator, compute capability 8.0"

AFTER_A_TIMEOUT = 10
"""A kernel that hung once gets this many times fewer steps in the cases that follow."""


@dataclass(eq=False, slots=True)
class Emulated:
    """A built kernel that is ready to be launched case by case.

    ``source`` is the name that the student's file has in the PTX, ``file`` the one it has in findings.
    """

    build: Build
    source: str
    file: str
    steps: int = STEPS
    _kernels: dict[bool, Kernel] = field(default_factory=dict)

    def launch(self, launch: Launch, arguments: tuple[Argument, ...], *, count_only: bool = False) -> Run:
        """Run one case: hazards from the -O0 build, outputs and counters from the default one.

        With ``count_only`` the hazard run is left out (the staff's own kernels).
        Raises UnsupportedPtx for an instruction that the emulator does not interpret.
        """
        if count_only:
            return self._kernel(detect=False).run(launch, arguments, detect=False, steps=self.steps)
        hazards = self._kernel(detect=True).run(launch, arguments, detect=True, steps=self.steps)
        if not hazards.completed:
            if any(finding.kind is FindingKind.TIMEOUT for finding in hazards.findings):
                self.steps = max(1, STEPS // AFTER_A_TIMEOUT)
            return hazards
        plain = self._kernel(detect=False).run(launch, arguments, detect=False, steps=self.steps)
        return _together(hazards, plain)

    def _kernel(self, *, detect: bool) -> Kernel:
        """The kernel of one of the two builds, parsed when first needed."""
        if detect not in self._kernels:
            module = parse(self.build.hazard_ptx if detect else self.build.ptx)
            shapes = self.build.shared_shapes
            self._kernels[detect] = Kernel(module, self.build.entry, self.source, self.file, shapes)
        return self._kernels[detect]


def _together(hazards: Run, plain: Run) -> Run:
    """Outputs and counters of the default build; the findings of both, each kind and line once."""
    known = {(finding.kind, finding.line) for finding in hazards.findings}
    more = [finding for finding in plain.findings if (finding.kind, finding.line) not in known]
    told = {finding.kind for finding in hazards.findings}
    # The optimiser moves lines about: what the -O0 build already told of a kind is not told again.
    more = [f for f in more if f.kind not in told or f.kind is FindingKind.TIMEOUT]
    # And it computes ahead with what is not set yet, to throw it away: only the -O0 build tells of that.
    more = [f for f in more if f.kind is not FindingKind.UNINITIALISED]
    return replace(
        plain,
        findings=(*hazards.findings, *more),
        changed_inputs=tuple(dict.fromkeys((*plain.changed_inputs, *hazards.changed_inputs))),
        seconds=hazards.seconds + plain.seconds,
    )
