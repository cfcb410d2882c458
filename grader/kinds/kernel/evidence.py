"""From a build to evidence: every case is run, by every witness there is, and its outputs are compared.

Build ─┬─ emulator ─▶ Run ┐
       └─ GPU ──────▶ Run, ToolReports, timing ┴ merge ─▶ CaseEvidence per case, Timing
"""

from __future__ import annotations

import math
import traceback
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from grader import gpu
from grader.assignment import reference_folder
from grader.backends import emulator
from grader.debug import log_swallowed
from grader.diagnosis import agreed
from grader.emulator.by_hand import handwriting
from grader.emulator.hanging import much_work
from grader.errors import OurError
from grader.gpu.merge import Both, merge_runs
from grader.gpu.request import DeviceCase
from grader.kinds.kernel.outputs import Launched, compared
from grader.kinds.kernel.planning import arguments
from grader.kinds.kernel.reordering import with_order
from grader.kinds.kernel.shrinking import with_smallest
from grader.kinds.kernel.speed import read, timing_job
from grader.memory_limit import limited
from grader.model import CaseEvidence, Evidence, Finding, FindingCode, FindingKind, Run, Visibility
from grader.nvcc import build_at
from grader.nvcc.launch import plan_launch
from grader.oracle import are_right, array_types, load_oracle

if TYPE_CHECKING:
    from grader.emulator.by_hand import Handwriting
    from grader.gpu.backend import Observed, Station
    from grader.gpu.timed import TimingJob
    from grader.model import Argument, Build, Case, Launch, Named, Structure, Submission
    from grader.nvcc import Tools
    from grader.oracle import Oracle
    from grader.plan import Plan


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A case with what it takes to launch it, or why it cannot be; ``kernel`` is the one that it launches."""

    case: Case
    kernel: emulator.Emulated
    launch: Launch | Finding
    arguments: tuple[Argument, ...]


def gather(plan: Plan, submission: Submission, built: Build, tools: Tools) -> tuple[Evidence, Named[float]]:
    """All that can be known of a build, and the seconds that it took by stage.

    A failure of ours is in the records, case by case.
    """
    oracle = load_oracle(reference_folder(plan.assignment), array_types(plan.assignment.kernel))
    text = tuple(submission.source.decode("latin-1").split("\n"))
    # On a device what the emulator does not interpret runs all the same.
    judged_by_hand = plan.station is None and not plan.assignment.kernel.inline_asm
    handed_in = handwriting(submission) if judged_by_hand else None
    kernels = {
        name: emulator.Emulated(
            each, each.source_name, submission.file, plan.steps, text=text, handed_in=handed_in
        )
        for name, each in ((plan.assignment.kernel.kernel, built), *built.others)
    }
    sized = _Sized(plan, submission, tools, text, handed_in) if plan.assignment.kernel.sizes else None
    cases = tuple(_prepared(plan, kernels, case, oracle, sized) for case in plan.cases)
    seconds: Named[float] = ()
    if plan.station is None:
        found = [_emulated_alone(run) for run in _emulated(plan, cases)]
        evidence = Evidence(emulator.NAME, built, device=emulator.DEVICE)
        evidence = _finished(plan, cases, found, oracle, evidence)
    else:
        evidence, seconds = _on_gpu(plan, plan.station, submission, built, tools, cases, oracle)
    return replace(evidence, structures=_structures(kernels)), seconds


def _structures(kernels: dict[str, emulator.Emulated]) -> Named[Structure]:
    """How each kernel is built; nothing where its PTX cannot be read, as every case of it says, too."""
    found = []
    for name, kernel in kernels.items():
        with suppress(OurError):
            found.append((name, kernel.structure()))
    return tuple(found)


def _on_gpu(
    plan: Plan,
    station: Station,
    submission: Submission,
    built: Build,
    tools: Tools,
    cases: tuple[_Prepared, ...],
    oracle: Oracle,
) -> tuple[Evidence, Named[float]]:
    """The emulator first, then the GPU, on which nothing is launched that the emulator never saw end.

    A kernel that hangs on a GPU keeps everybody else there waiting, and may bring it down.
    """
    runs = _emulated(plan, cases)
    launches = {
        index: DeviceCase(index, each.launch, each.arguments)
        for index, (each, run) in enumerate(zip(cases, runs, strict=True))
        if not isinstance(each.launch, Finding) and not _never_ends(run)
    }
    timing = timing_job(plan, built, oracle)
    timed = timing if len(launches) == len(cases) and not isinstance(timing, Finding) else None
    found = [_emulated_alone(run) for run in runs]
    seen, problem = None, ""
    builds = {id(case.kernel.build): case.kernel.build for case in cases} | {id(built): built}
    builds[id(built)] = builds.pop(id(built))
    for each in builds.values():  # the timed one last: `seen` is of it
        own = [index for index, case in enumerate(cases) if case.kernel.build is each]
        wanted = tuple(launches[index] for index in own if index in launches)
        seen, problem = None, ""
        if wanted:
            job = timed if each is built else None
            seen, problem = _observed(station, tools, each, submission.file, wanted, job)
        for index in own:
            found[index] = _both(index, runs[index], seen, problem, station.races)
    evidence = Evidence(
        gpu.NAME,
        _as_on_device(built, seen),
        device=seen.gpu.name if seen else station.devices,
        timing=read(plan, seen, problem, timing, oracle, submission.file),
        witnesses=tuple((report.tool, report.reason or "ok") for report in seen.reports) if seen else (),
    )
    evidence = _finished(plan, cases, found, oracle, evidence)
    return evidence, seen.seconds if seen else ()


def _both(index: int, emulated: Run, seen: Observed | None, problem: str, races: str) -> Both:
    """A case that was launched nowhere is judged by the finding that says why."""
    if problem:
        return Both(Run(completed=False, error=problem))
    on_device = dict(seen.runs).get(index) if seen else None
    if on_device is None or seen is None:
        return _emulated_alone(emulated)
    return merge_runs(emulated, on_device, index, seen.reports, races)


def _emulated_alone(run: Run) -> Both:
    return Both(run, too_much_work=run.too_much_work)


def _as_on_device(built: Build, seen: Observed | None) -> Build:
    """The build with what its kernel takes on this device, which may differ from what ptxas told first."""
    student = seen.answer.resources.get("student") if seen and seen.answer else None
    if student is None or built.resources is None:
        return built
    taken = replace(built.resources, registers=student.registers, shared_bytes=student.shared_bytes)
    return replace(built, resources=taken)


def _never_ends(run: Run) -> bool:
    """Whether the emulator gave a run up: it follows a kernel a hundred times as far as these cases take."""
    return not run.completed and any(finding.kind is FindingKind.TIMEOUT for finding in run.findings)


def _observed(
    station: Station,
    tools: Tools,
    built: Build,
    file: str,
    launches: tuple[DeviceCase, ...],
    timing: TimingJob | None,
) -> tuple[Observed | None, str]:
    """What was observed on a GPU, or what kept us from it."""
    from grader.gpu.backend import observe  # noqa: PLC0415 - on the emulator it is not loaded

    try:
        return observe(station, tools, built, file, launches, timing), ""
    except OurError as problem:
        return None, str(problem)
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        return None, _bug("the GPU backend", problem)


def _bug(what: str, problem: BaseException) -> str:
    where = traceback.extract_tb(problem.__traceback__)[-1]
    place = f"{where.filename.rsplit('/', 1)[-1]}:{where.lineno}"
    return f"{what} failed: {type(problem).__name__}: {problem} ({place})"


@dataclass(slots=True)
class _Sized:
    """Kernels of a file that writes sizes down as macros, each built when it is asked for."""

    plan: Plan
    submission: Submission
    tools: Tools
    text: tuple[str, ...]
    handed_in: Handwriting | None = None
    known: dict[tuple[str, Named[int]], emulator.Emulated] = field(default_factory=dict)

    def kernel(self, case: Case) -> emulator.Emulated:
        """The kernel of a case, built with the case's sizes."""
        interface = self.plan.assignment.kernel
        name = case.kernel or interface.kernel
        if (name, case.shape) not in self.known:
            built = build_at(self.tools, self.submission, interface, name, case.shape)
            self.known[name, case.shape] = emulator.Emulated(
                built,
                built.source_name,
                self.submission.file,
                self.plan.steps,
                text=self.text,
                handed_in=self.handed_in,
            )
        return self.known[name, case.shape]


def _not_built(built: Build, case: Case) -> Finding:
    """Why a case cannot be launched whose sizes do not compile; of a hidden one without what they are."""
    reason = (
        next((f": {f.message}" for f in built.findings), "") if case.visibility is Visibility.VISIBLE else ""
    )
    message = f"with the sizes of this case the file does not compile{reason}"
    return Finding(FindingKind.FAULT, message, code=FindingCode.SIZES_DO_NOT_COMPILE)


def _prepared(
    plan: Plan,
    kernels: dict[str, emulator.Emulated],
    case: Case,
    oracle: Oracle,
    sized: _Sized | None = None,
) -> _Prepared:
    kernel = sized.kernel(case) if sized else kernels[case.kernel or plan.assignment.kernel.kernel]
    if not kernel.build.ok:
        if kernel.build.error:
            raise OurError(kernel.build.error)
        return _Prepared(case, kernel, _not_built(kernel.build, case), ())
    launch = plan_launch(plan.assignment.kernel, kernel.build, dict(case.shape))
    if isinstance(launch, Finding):
        return _Prepared(case, kernel, launch, ())
    return _Prepared(case, kernel, launch, arguments(plan.assignment, kernel.build, case, oracle))


def _emulated(plan: Plan, cases: tuple[_Prepared, ...]) -> list[Run]:
    largest = _largest(plan) if plan.feedback else None
    return [_one_emulated(each, profile=each.case is largest, work=plan.work_of(each.case)) for each in cases]


def _largest(plan: Plan) -> Case | None:
    """The visible case with the most in it: what a line does in the long run shows there."""
    main = ("", plan.assignment.kernel.kernel)
    visible = [c for c in plan.cases if c.visibility is Visibility.VISIBLE and c.kernel in main]
    return max(visible, key=lambda case: math.prod(size for _, size in case.shape), default=None)


def _one_emulated(prepared: _Prepared, *, profile: bool, work: int) -> Run:
    """A run on the emulator, of at most so much work; whatever fails on our side is in its ``error``."""
    if isinstance(prepared.launch, Finding):
        return Run(findings=(prepared.launch,), completed=False, launched=False)
    try:
        with limited():
            return prepared.kernel.launch(
                prepared.launch, prepared.arguments, case=prepared.case, profile=profile, steps=work
            )
    except OurError as problem:
        return Run(completed=False, error=str(problem))
    except MemoryError:
        return Run(completed=False, too_much_work=much_work("it takes more memory than there is"))
    except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
        return Run(completed=False, error=_bug("the emulator", problem))


def _finished(
    plan: Plan, cases: tuple[_Prepared, ...], found: list[Both], oracle: Oracle, evidence: Evidence
) -> Evidence:
    """The evidence with its cases, each compared and with what was tried to repair it."""
    baselines = dict(plan.baselines)
    shown = tuple(
        replace(_judged(plan, each, both, oracle), baselines=baselines.get(each.case.id, ()))
        for each, both in zip(cases, found, strict=True)
    )
    if not plan.feedback:
        return replace(evidence, cases=shown)
    launches = [(each.kernel, each.launch, each.arguments) for each in cases]
    try:
        with limited():
            shown = with_order(plan.assignment.kernel.parameters, oracle, shown, launches)
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("running threads in another order")
    shown = agreed(plan.assignment, evidence.build, shown)
    if not plan.assignment.kernel.sizes:  # a smaller shape would be another build
        shown = with_smallest(plan.assignment, oracle, shown, [each.kernel for each in cases])
    kernels = tuple({id(each.kernel): each.kernel for each in cases}.values())
    try:
        with limited():
            for kernel in kernels:
                shown = kernel.repaired(shown, partial(_is_right, cases, oracle))
            advised = kernels if plan.assignment.advice else ()
            advice = dict.fromkeys(each for kernel in advised for each in kernel.advice(shown))
        return replace(evidence, cases=shown, advice=tuple(advice))
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("trying repairs")
        return replace(evidence, cases=shown)


def _is_right(cases: tuple[_Prepared, ...], oracle: Oracle, case: Case, run: Run) -> bool:
    """Whether a run of one of the cases left the outputs that the oracle expects."""
    given = next(each.arguments for each in cases if each.case.id == case.id)
    return run.completed and are_right(oracle, given, dict(case.shape), run.outputs)


def _judged(plan: Plan, prepared: _Prepared, both: Both, oracle: Oracle) -> CaseEvidence:
    """Evidence of a run: its outputs against the oracle."""
    if both.run.error:
        return CaseEvidence(prepared.case, completed=False, error=both.run.error)
    launch = None if isinstance(prepared.launch, Finding) else prepared.launch
    launched = Launched(prepared.case, prepared.arguments, prepared.kernel.build.constants, both, launch)
    return compared(launched, oracle, plan.assignment if plan.feedback else None)
