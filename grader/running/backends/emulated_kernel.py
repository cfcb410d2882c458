"""A built kernel on the emulator: both builds, run and merged into one `Run` per case.

An instruction that is not interpreted was written by hand by the student, or by nvcc. nvcc makes only
instructions that are interpreted of C++ in the student's file. What a student writes as `asm`, or by a
built-in function that is one instruction, is the student's choice: else a kernel that loses could have itself
called an error of ours. So are textures and surfaces, although a header of the toolkit writes what fetches
from them: the host makes them, and no assignment gives a kernel one. What else stems from the toolkit's
headers stays ours: nvcc and the headers produce it for any plain C++.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.base.records import frozen, mutable
from grader.explaining import line_advice, unneeded_barriers
from grader.model import SEVERITIES, Clause, Finding, FindingCode, FindingKind, Run, Severity
from grader.model.messages import remarked, worded
from grader.simulation.emulator.definedness import mattering_reads
from grader.simulation.emulator.instructions import OPCODES
from grader.simulation.emulator.launch import STEPS, Kernel
from grader.simulation.emulator.machine.geometry import WARP
from grader.simulation.emulator.machine.scheduler import may_depend_on_order
from grader.simulation.emulator.memory.layout import lay_out
from grader.simulation.emulator.repair import RepairCase, RepairSearch, between_warps, fitting, key
from grader.simulation.emulator.statement_gaps import Source
from grader.simulation.emulator.undefined_outputs import undefined_outputs
from grader.simulation.ptx import Register, parse
from grader.simulation.ptx.facts import (
    is_inside_asm,
    needs_texture,
    origin,
    reachable_functions,
    renames_lines,
    structure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from grader.model import (
        Advice,
        Argument,
        Build,
        Case,
        CaseEvidence,
        Launch,
        LineCounters,
        Named,
        Structure,
        Submission,
    )
    from grader.simulation.emulator.machine.machine import Observer
    from grader.simulation.emulator.memory.layout import LayOut
    from grader.simulation.emulator.repair import Key
    from grader.simulation.ptx import Instruction, Module


@mutable
class EmulatedKernel:
    """A built kernel that is ready to be launched case by case.

    ``source`` is the name that the student's file has in the PTX, ``file`` the one it has in findings,
    ``text`` its lines. Give `launch` the case that is run, and repairs and advice may be asked for later.
    """

    build: Build
    source: str
    file: str
    steps: int = STEPS
    text: tuple[str, ...] = ()
    lay_out: LayOut = lay_out
    """Puts memory in place before each attempt at a launch."""
    observers: Callable[[], tuple[Observer, ...]] = tuple
    """Observers of the build that counts."""
    time_is_up: Callable[[], bool] = lambda: False
    """True once launches are to be given up, however little work they have done."""
    last_trial: RepairCase | None = None
    """Result of the build for hazards in the last launch."""
    _trials: dict[str, RepairCase] = field(default_factory=dict)
    _profile: tuple[str, tuple[LineCounters, ...]] | None = None
    _kernels: dict[bool, Kernel] = field(default_factory=dict)
    _known_ways: tuple[bool, bool] | None = None
    _executed: frozenset[tuple[str, int]] | None = None
    """Instructions that the default build executed in any case; None where it was never run."""
    _executed_visibly: frozenset[tuple[str, int]] = frozenset()
    """The same in visible cases alone."""
    handed_in: Handwriting | None = None
    """The student's files, where an instruction written by hand that is not interpreted is a finding."""
    _looked_at_hazards: bool = True
    """True if the build for hazards was run last, and not the default one."""

    def launch(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        count_only: bool = False,
        case: Case | None = None,
        profile: bool = False,
        steps: int = 0,
        all_outputs: bool = True,
    ) -> Run:
        """Run one case: outputs and counters of the default build, hazards of both (`two_builds`).

        With ``count_only`` the hazard run is left out (the staff's own kernels), with ``profile`` what each
        line does is counted as well. ``steps`` is the work that each run may take, if less than usual.
        Without ``all_outputs`` the run may lack those of the unoptimised build and of warps one after
        another, which are only compared for a kernel that is handed in by itself.
        Raises UnsupportedPtx for an instruction that the emulator does not interpret, and PtxSyntaxError for
        PTX that is not read, unless it was written by hand in ``handed_in``.
        """
        steps = steps or self.steps
        if count_only:
            return self._kernel(detect=False).run(launch, arguments, detect=False, steps=steps)
        try:
            return self._both(launch, arguments, case, profile=profile, steps=steps, all_outputs=all_outputs)
        except (UnsupportedPtx, PtxSyntaxError) as problem:
            text = self.build.hazard_ptx if self._looked_at_hazards else self.build.ptx
            if self.handed_in is None:
                raise
            finding = written_by_hand(problem, text, self.source, self.file, self.handed_in)
            if finding is None:
                raise
            return Run(findings=(finding,), completed=False)

    def _both(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        case: Case | None,
        *,
        profile: bool,
        steps: int,
        all_outputs: bool,
    ) -> Run:
        """Both builds, run one after the other."""
        hazards = self._kernel(detect=True).run(
            launch, arguments, detect=True, steps=steps, outputs=all_outputs
        )
        if hazards.completed:
            hazards = self._without_idle_reads(hazards, launch, arguments, steps)
        name = case.id if case is not None else ""
        self.last_trial = RepairCase(launch, arguments, hazards.findings, hazards.steps, name)
        if case is not None and case.is_visible:
            self._trials[name] = self.last_trial
        if not hazards.completed:
            return hazards
        graded = self._kernel(detect=False)
        run = graded.run(launch, arguments, detect=False, steps=steps, races=True, profile=profile)
        self._executed = run.executed | (self._executed or frozenset())
        if case is not None and case.is_visible:
            self._executed_visibly |= run.executed
        if profile and case is not None:
            self._profile = (case.id, run.lines)
        steady, may_depend = self._ways()
        merged = merge_runs(hazards, run, steady=steady, file=self.file)
        if all_outputs and run.completed and not _races(merged) and may_depend:
            merged = replace(merged, warp_by_warp=graded.warp_by_warp(launch, arguments, run.work, steps))
        return merged

    def _ways(self) -> tuple[bool, bool]:
        """True if the default build is steady, and True if its values may depend on the threads' order."""
        if self._known_ways is None:
            module = self._kernel(detect=False).module
            self._known_ways = (
                is_steady(module),
                may_depend_on_order(reachable_functions(module, self.build.entry)),
            )
        return self._known_ways

    def _without_idle_reads(
        self, run: Run, launch: Launch, arguments: tuple[Argument, ...], steps: int
    ) -> Run:
        """Run with reads of unset memory as information where nothing depends on their values."""
        if not any(map(_is_of_read, run.findings)):
            return run
        mattering = mattering_reads(self._kernel(detect=True), launch, arguments, steps)
        return replace(run, findings=tuple(_idle(finding, mattering) for finding in run.findings))

    def again(self, launch: Launch, arguments: tuple[Argument, ...], steps: int) -> Run:
        """Outputs alone, of a launch that is followed so far and no further."""
        return self._kernel(detect=False).run(launch, arguments, detect=False, steps=min(steps, self.steps))

    def undefined(
        self, launch: Launch, arguments: tuple[Argument, ...], lines: Collection[int], steps: int = 0
    ) -> Named[NDArray[np.bool_]] | None:
        """Mask of what races on these lines and unset values leave undefined (`undefined_outputs`)."""
        return undefined_outputs(self._kernel(detect=True), launch, arguments, lines, steps or self.steps)

    def repaired(
        self, cases: tuple[CaseEvidence, ...], is_right: Callable[[Case, Run], bool]
    ) -> tuple[CaseEvidence, ...]:
        """The cases with a repair in each finding of a visible one that a barrier in one place removes.

        ``is_right`` is True if a run of a case has the outputs that it should.
        """
        shown = [case for case in cases if case.case.id in self._trials]
        kinds = {finding.kind for case in shown for finding in case.findings}
        if not kinds & {FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE}:
            return cases
        workshop, by_id = self.workshop(self._trials.values()), {case.case.id: case.case for case in shown}
        workshop.is_right = lambda trial, run: is_right(by_id[trial.case], run)
        repairs = workshop.repairs()
        return tuple(with_repairs(c, repairs) if c.case.id in self._trials else c for c in cases)

    def advice(self, cases: tuple[CaseEvidence, ...]) -> tuple[Advice, ...]:
        """Advice on what could be better, where nothing is wrong."""
        if self._profile is None or not all(map(_is_right, cases)):
            return ()
        name, lines = self._profile
        launch = self._trials[name].launch
        blocks, threads = math.prod(launch.grid), math.prod(launch.block)
        unneeded = self.workshop(self._trials.values()).unneeded()
        return (
            *line_advice(lines, blocks * -(-threads // WARP), self.file),
            *unneeded_barriers(unneeded, self.file),
        )

    def structure(self, *, visibly: bool = False) -> Structure:
        """Structure of the kernel in the default build, with what of it was executed in the cases so far.

        With ``visibly`` in the visible ones of them. Raises PtxSyntaxError where the PTX cannot be read.
        """
        module = self._kernel(detect=False).module
        executed = self._executed_visibly if visibly else self._executed
        return structure(module, self.build.entry, self.source, self.file, executed)

    def workshop(self, trials: Collection[RepairCase]) -> RepairSearch:
        """Search that tries repairs, on as many of these launches as the work lasts for."""
        module, shapes = self._kernel(detect=True).module, self.build.shared_shapes
        kernel: Kernel | None = None

        def kernel_of(changed: Module, trial: RepairCase) -> Kernel:
            nonlocal kernel  # linked once for all trials of a change
            if kernel is None or kernel.module is not changed or kernel.lay_out is not trial.lay_out:
                kernel = Kernel(
                    changed, self.build.entry, self.source, self.file, shapes, lay_out=trial.lay_out
                )
            return kernel

        def run(changed: Module, trial: RepairCase, steps: int) -> Run:
            return kernel_of(changed, trial).run(trial.launch, trial.arguments, detect=True, steps=steps)

        def is_clean(changed: Module, trial: RepairCase, steps: int) -> bool | None:
            return kernel_of(changed, trial).is_clean(trial.launch, trial.arguments, steps=steps)

        workshop = RepairSearch(
            module,
            self.build.entry,
            Source(module, self.source, self.text),
            fitting(trials),
            run,
            between_warps=between_warps(trials),
            is_clean=is_clean,
        )
        if self._profile is not None:
            name, lines = self._profile
            workshop.thorough = (self._trials[name],)
            workshop.repeated = _passed_again(self._trials[name].launch, lines)
        return workshop

    def _kernel(self, *, detect: bool) -> Kernel:
        """The kernel of one of the two builds, parsed when first needed."""
        self._looked_at_hazards = detect
        if detect not in self._kernels:
            module = parse(self.build.hazard_ptx if detect else self.build.ptx)
            shapes = self.build.shared_shapes
            self._kernels[detect] = Kernel(
                module,
                self.build.entry,
                self.source,
                self.file,
                shapes,
                lay_out=self.lay_out,
                observers=tuple if detect else self.observers,
                time_is_up=self.time_is_up,
            )
        return self._kernels[detect]


def with_repairs(case: CaseEvidence, repairs: Mapping[Key, str]) -> CaseEvidence:
    """Case whose findings name the repairs that remove them."""
    if not repairs:
        return case
    findings = tuple(replace(finding, repair=repairs.get(key(finding), "")) for finding in case.findings)
    return replace(case, findings=findings)


def _idle(finding: Finding, mattering: set[tuple[int, str]]) -> Finding:
    """Finding, as information if it is a read of unset memory and is not among those that matter."""
    if not _is_of_read(finding) or (finding.line or 0, finding.array) in mattering:
        return finding
    return remarked(replace(finding, severity=Severity.INFO), Clause("nothing-depends"))


def _is_of_read(finding: Finding) -> bool:
    """True if unset memory was read, for any use of the value; in an output it matters."""
    unset = finding.kind is FindingKind.UNINITIALISED
    return unset and finding.code is not FindingCode.UNSET_IN_SOME_THREADS


def _races(run: Run) -> bool:
    """True if a run already shows that threads do not wait for each other."""
    kinds = (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE)
    return not is_clean(finding for finding in run.findings if finding.kind in kinds)


def _is_right(case: CaseEvidence) -> bool:
    """True if a case ran to its end, gave what it should, and nothing is wrong with it."""
    clean = is_clean(case.findings)
    wrong = any(comparison.wrong for comparison in case.comparisons)
    return case.completed and clean and not wrong and not case.changed_inputs and not case.error


def _passed_again(launch: Launch, lines: tuple[LineCounters, ...]) -> set[int]:
    """The lines whose barrier every thread of a launch passed more than once."""
    passes = Counter[int]()
    for counters in lines:
        passes[counters.line] += counters.barriers
    return {line for line, count in passes.items() if count >= 2 * math.prod(launch.grid + launch.block)}


_STRONG = {"volatile", "relaxed", "acquire", "acq_rel", "sc"}
_CLOCKS = ("%clock", "%globaltimer")


def merge_runs(hazards: Run, graded: Run, *, steady: bool, file: str) -> Run:
    """Outputs and counters of the graded run; the findings of both, each kind and line once.

    ``steady`` means that a thread's path does not depend on the order of threads, so both runs must take it.
    """
    hazards = replace(hazards, findings=tuple(_unoptimised_only(hazards.findings, graded)))
    gravest = _gravest_of_kinds(hazards.findings)
    # The optimiser moves lines about: a kind is not repeated, unless it is graver. And it computes ahead
    # with what is not set yet, to throw it away: the -O0 build reports that.
    only_graded = [
        _of_optimised(finding)
        for finding in graded.findings
        if SEVERITIES.index(finding.severity) > gravest.get(finding.kind, -1)
        and finding.kind is not FindingKind.UNINITIALISED
    ]
    findings = (*hazards.findings, *only_graded)
    if steady and graded.completed and is_clean(f for f in findings if not _is_of_unoptimised(f)):
        findings = (*findings, *_differences(hazards, graded, file))
    return replace(
        graded,
        findings=findings,
        changed_inputs=tuple(dict.fromkeys((*graded.changed_inputs, *hazards.changed_inputs))),
        seconds=hazards.seconds + graded.seconds,
        unoptimised=hazards.outputs,
    )


def _gravest_of_kinds(findings: Iterable[Finding]) -> dict[FindingKind, int]:
    """Severity of the gravest finding of each kind, as its place in `SEVERITIES`."""
    gravest: dict[FindingKind, int] = {}
    for finding in findings:
        gravest[finding.kind] = max(gravest.get(finding.kind, 0), SEVERITIES.index(finding.severity))
    return gravest


def is_clean(findings: Iterable[Finding]) -> bool:
    """True if findings are remarks at most, behind which nothing else may hide."""
    return all(finding.severity is Severity.INFO for finding in findings)


def _unoptimised_only(hazards: Iterable[Finding], graded: Run) -> Iterator[Finding]:
    """The unoptimised build's findings; what would end a launch and the graded one never does is a warning.

    That goes for local arrays that are misaligned, for their addresses are up to each build, and for reads
    from nowhere whose value is not used: the graded build, which is what a device runs, has no such access.
    """
    kinds = {finding.kind for finding in graded.findings}
    for finding in hazards:
        if graded.completed and _is_up_to_the_build(finding) and finding.kind not in kinds:
            yield remarked(replace(finding, severity=Severity.WARNING), Clause("when-unoptimised"))
        else:
            yield finding


def _is_up_to_the_build(finding: Finding) -> bool:
    access = finding.access
    if access is None:
        return False
    misaligned = finding.kind is FindingKind.MISALIGNED and access.space == "local"
    return misaligned or (finding.goes_nowhere and access.verb == "read")


def _is_of_unoptimised(finding: Finding) -> bool:
    return _is_up_to_the_build(finding) and finding.severity is Severity.WARNING


def _of_optimised(finding: Finding) -> Finding:
    return remarked(finding, Clause("when-optimised")) if finding.kind is FindingKind.RACE else finding


def _differences(hazards: Run, graded: Run, file: str) -> list[Finding]:
    """Differences that optimisation does not explain: it removes stores, adds none, and keeps barriers."""
    before, after = hazards.counters, graded.counters
    if after.barriers != before.barriers:
        return [_undefined("barriers-differ", after.barriers, before.barriers, file)]
    if after.global_store_bytes > before.global_store_bytes:
        return [_undefined("stores-differ", after.global_store_bytes, before.global_store_bytes, file)]
    return []


def _undefined(difference: str, graded: int, unoptimised: int, file: str) -> Finding:
    part = Clause(difference, (("graded", graded), ("unoptimised", unoptimised)))
    details = (("difference", (part,)),)
    finding = Finding(FindingKind.UNDEFINED, file=file, code=FindingCode.BUILDS_DIFFER, details=details)
    return worded(finding)


def is_steady(module: Module) -> bool:
    """True if no thread's path in a module can depend on which thread comes first, or on time."""
    return not any(_may_vary(instruction) for function in module.functions for instruction in function.body)


def _may_vary(instruction: Instruction) -> bool:
    if instruction.opcode == "ld":
        return not _STRONG.isdisjoint(instruction.modifiers)
    if instruction.opcode == "mov":
        return any(
            isinstance(operand, Register) and operand.name.startswith(_CLOCKS)
            for operand in instruction.operands
        )
    return instruction.opcode in ("atom", "activemask", "mbarrier")


@frozen
class Handwriting:
    """Files handed in beside the source: the names of headers; and if any file renames lines.

    `renames_lines` defines what that means.
    """

    headers: frozenset[str] = frozenset()
    renames_lines: bool = False


def handwriting(submission: Submission) -> Handwriting:
    """Handwriting of a submission."""
    texts = (submission.source, *dict(submission.headers).values())
    names = frozenset(name.rsplit("/", 1)[-1] for name, _ in submission.headers)
    return Handwriting(names, any(map(renames_lines, texts)))


def written_by_hand(
    problem: UnsupportedPtx | PtxSyntaxError,
    ptx: str,
    source: str,
    file: str,
    handed_in: Handwriting = Handwriting(),
) -> Finding | None:
    """The student's finding if the instruction was written by hand in a file of theirs; None if it is ours.

    ``ptx`` is the text in which the problem has its line, ``source`` its name of the student's file. Of
    what lies elsewhere the finding has no line.
    """
    fetch = _of_texture(problem, source, file, handed_in)
    if fetch is not None:
        return fetch
    origin_of_line = origin(ptx, problem.ptx_line)
    in_source = origin_of_line is not None and origin_of_line.file == source
    in_header = origin_of_line is not None and origin_of_line.file in handed_in.headers
    if not (in_source or in_header or handed_in.renames_lines):
        return None
    name = problem.instruction if isinstance(problem, UnsupportedPtx) else ""
    opcode = re.match(r"[a-z]\w*", name)
    never_from_nvcc = (
        opcode is not None and opcode[0] not in OPCODES
    )  # an `asm` may forge the marks around it
    if not (is_inside_asm(ptx, problem.ptx_line) or never_from_nvcc):
        return None
    line = origin_of_line.line if origin_of_line and in_source and not handed_in.renames_lines else None
    return Finding(FindingKind.UNSUPPORTED, hazard=name, file=file, line=line)


def _of_texture(
    problem: UnsupportedPtx | PtxSyntaxError, source: str, file: str, handed_in: Handwriting
) -> Finding | None:
    """The finding for what needs a texture or a surface, with the student's line that calls it."""
    if not isinstance(problem, UnsupportedPtx) or not needs_texture(problem.instruction):
        return None
    lines = (line for name, line in problem.sources if name == source and not handed_in.renames_lines)
    name = problem.instruction
    return Finding(FindingKind.UNSUPPORTED, hazard=name, file=file, line=next(lines, None))
