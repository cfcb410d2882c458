"""Running what was built, case by case: on an emulated device, on a GPU, or on the host alone.

    Task ─given▶ sandbox ─▶ ProgramRun ─judged by the Task▶ CaseEvidence

What a run is given, and what its results are compared with, is the `Task`'s to say.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol, cast

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.base.steps import Step, begin
from grader.grading.checks.array import KernelOutputCheck
from grader.grading.checks.program_cases import (
    ended_by_itself,
    kind_of_ending,
    name_of_ending,
    why_it_stopped,
)
from grader.grading.checks.traffic import TrafficCheck
from grader.kinds import kind_of, not_built
from grader.kinds.host_runs.builds import Builds, Ran, Trials, repaired
from grader.kinds.host_runs.limits import THREADS, cpu_seconds, limits_of, shorter, with_launches
from grader.kinds.host_runs.merging import WATCHED, decided, is_undefined, merged
from grader.kinds.host_runs.on_emulator import EmulatedDevice, sums
from grader.kinds.host_runs.too_large import STEPS_A_SECOND
from grader.kinds.plan import size
from grader.model import (
    NO_MORE_TIME,
    Build,
    CaseEvidence,
    Clause,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    OutputJudge,
    ProgramRun,
)
from grader.model.messages import clause, text_of
from grader.running.device.observation import Observation
from grader.running.device.service import run_beside
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc.program import LIMITS as BUILD_LIMITS
from grader.toolchain.nvcc.runtime import call_lines
from grader.toolchain.nvcc.units import label_of
from grader.toolchain.sandbox import Job, Stage, Status
from grader.toolchain.sandbox.channel import channel
from grader.toolchain.sandbox.local import check_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.kinds.plan import Plan
    from grader.model import Case, Named, Submission
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.pool import GpuPool
    from grader.toolchain.nvcc import Tools
    from grader.toolchain.sandbox import Limits, Result, Sandbox

NAME, DEVICE = "host", "no GPU"
"""Names in grades of the place where a program ran without a GPU, and of its device."""

PROGRAM = "program"
"""The executable's name in a run's folder; a program may print it (``argv[0]``)."""

_WATCHING = ("races", "memory", "host", "kernel-output", "streams", "structure", "traffic")
"""The checks that judge it."""

_HANGS, _MOST_HANGS = 2, 8
"""Cases that did not end after which others get less time at first, and after which they get no more.

Most programs that hang do so in all of their cases: these fail, and are no question to staff."""


@frozen
class Given:
    """Inputs of a run: arguments, standard input, files by name; and the files it is to leave."""

    arguments: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...] = ()
    wanted: tuple[str, ...] = ()
    stdin: bytes = b""


class Task(Protocol):
    """Purpose of the runs of one submission: their inputs, and what their results are compared with."""

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """Inputs of a case's run, on an emulated device if there is one; raises OurError."""

    def judged(
        self, case: Case, run: ProgramRun, findings: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """A run as evidence, beside what was ``seen`` of it on an emulated device; raises OurError."""


def run(plan: Plan, submission: Submission, built: Build, tools: Tools, task: Task) -> Evidence:
    """All that can be known of what was built; a failure of ours is in the records, case by case."""
    if not built.calls_device:
        ran = run_cases(plan, submission, built, tools, task)
        return Evidence(NAME, built, ran.cases, device=DEVICE)
    backend, pool = plan.backend, plan.backend.pool
    if pool is None:
        ran = run_cases(plan, submission, built, tools, task)
        evidence = Evidence(backend.name, built, ran.cases, device=backend.device)
        return _with_structures(plan, evidence, ran)
    gpu = next(iter(pool.healthy()), None)
    if gpu is None:
        cases = _all_failed(plan.cases, "no GPU is fit for use; try `grader doctor`")
        return Evidence(
            backend.name, built, cases, device=backend.device, measures_time=backend.measures_time
        )
    ran = run_cases(plan, submission, built, tools, task, gpu)
    evidence = Evidence(backend.name, built, ran.cases, device=gpu.name, measures_time=backend.measures_time)
    watching = any(item.check in _WATCHING for item in plan.assignment.rubric)
    return _watched(plan, submission, tools, evidence, task) if watching else evidence


def _watched(plan: Plan, submission: Submission, tools: Tools, evidence: Evidence, task: Task) -> Evidence:
    """Evidence of a run on a GPU, with the emulator's findings in the same file: hazards, bounds, calls."""
    emulated = kind_of(plan.assignment).build(tools, submission, plan.assignment)
    if emulated.ok:
        ran = run_cases(plan, submission, emulated, tools, task)
    else:
        reason = emulated.error or "the program does not build for the emulator"
        ran = Ran(_all_failed(plan.cases, reason), submission.file)
    looked_at = frozenset(check.compared_as for check in KernelOutputCheck.in_rubric(plan.assignment.rubric))
    gpu_decides = plan.assignment.undefined_outputs is OutputJudge.GPU
    cases = tuple(
        merged(on_gpu, emulated, looked_at)
        if gpu_decides or not is_undefined(emulated)
        else decided(on_gpu, emulated)
        for on_gpu, emulated in zip(evidence.cases, ran.cases, strict=True)
    )
    return _with_structures(plan, replace(evidence, cases=cases), ran)


def _with_structures(plan: Plan, evidence: Evidence, ran: Ran) -> Evidence:
    """The evidence with how the kernels that ran are built, if an item asks for it."""
    if all(item.check != "structure" for item in plan.assignment.rubric):
        return evidence
    visibly = ran.structures(ran.visibly) if plan.has_hidden_cases else None
    return replace(evidence, structures=ran.structures(ran.executed), visible_structures=visibly)


def nothing(plan: Plan, built: Build) -> Evidence:
    """The evidence where no program could be run."""
    backend = plan.backend
    if backend.pool is None:
        return Evidence(NAME, built, device=DEVICE)
    return Evidence(backend.name, built, device=backend.device, measures_time=backend.measures_time)


def run_cases(
    plan: Plan,
    submission: Submission,
    built: Build,
    tools: Tools,
    task: Task,
    gpu: Gpu | None = None,
    *,
    observation: Observation | None = None,
    graded_seconds: float = 0.0,
) -> Ran:
    """Run every case, one after the other, in one stage of the sandbox; on ``gpu``, if there is one.

    Visible cases are run first: what they come to must not depend on how long hidden ones took, or failed.
    ``observation`` is what is wanted of launches, if that does not follow from the plan. With
    ``graded_seconds`` a process is told the processor time of a graded run, so that it cannot know a trial.
    """
    limits = limits_of(plan.assignment.program, on_gpu=gpu is not None, emulated=bool(built.ptx))
    limits = replace(limits, cpu_seconds=max(limits.cpu_seconds, cpu_seconds(graded_seconds)))
    order = sorted(range(len(plan.cases)), key=lambda number: not plan.cases[number].is_visible)
    ordered = [plan.cases[number] for number in order]
    cases: list[CaseEvidence] = []
    executed: dict[str, frozenset[tuple[str, int]]] = {}
    visibly: Mapping[str, frozenset[tuple[str, int]]] = executed
    trials, baselines = Trials(), dict(plan.baselines)
    first: Build | None = None
    try:
        with ExitStack() as stack:
            builds = Builds(plan, submission, tools, built, plan.backend.architecture if gpu else "")
            first = builds.of(ordered[0]) if ordered else built
            folder = stack.enter_context(channel()) if built.ptx or first.ptx else None
            stage = Stage(limits, gpu.uuid if gpu else "", channel=str(folder or ""))
            sandbox = stack.enter_context(tools.sandbox.stage(stage))
            runner = _Runner(
                plan, submission, first, tools, sandbox, task, gpu, folder, executed, trials, observation
            )
            for number, case in enumerate(ordered, start=1):
                if not case.is_visible and visibly is executed:
                    visibly = dict(executed)
                begin(Step("case", case.id, number, len(plan.cases)))
                hangs = sum(map(_never_ended, cases))
                evidence = runner.with_build(builds, case).evidence_in_time(case, limits, hangs)
                cases.append(replace(evidence, baselines=baselines.get(case.id, ())))
    except OurError as problem:
        cases += _all_failed(ordered[len(cases) :], str(problem))
    shown = repaired(tuple(cases), first or built, submission, trials)
    in_order = tuple(case for _, case in sorted(zip(order, shown, strict=True), key=itemgetter(0)))
    return Ran(in_order, submission.file, first, executed, visibly)


def _never_ended(case: CaseEvidence) -> bool:
    """True if the program itself, and not its launches, did not come to its end in a case."""
    return case.program is not None and case.program.ending == Status.TIME and not case.too_much_work


def _given_up(evidence: CaseEvidence, less: Limits, limits: Limits, hangs: int) -> CaseEvidence:
    """The evidence of a case of which it is unknown whether it would have ended."""
    seconds = (("less", f"{less.wall_seconds:g}"), ("count", hangs), ("all", f"{limits.wall_seconds:g}"))
    reason = Clause(NO_MORE_TIME, seconds)
    return replace(evidence, findings=(), too_much_work=reason, undecided=_undecided(reason))


def _undecided(reason: Clause) -> Named[str]:
    """Questions that stay open about a case that is given up."""
    return tuple((str(kind), clause(reason)) for kind in (*WATCHED, FindingKind.WRONG_OUTPUT))


def _all_failed(cases: Iterable[Case], reason: str) -> tuple[CaseEvidence, ...]:
    return tuple(CaseEvidence(case, completed=False, error=reason) for case in cases)


@frozen
class _Runner:
    """One submission's program, to be run case by case."""

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    sandbox: Sandbox
    task: Task
    gpu: Gpu | None
    channel: Path | None = None
    """Channel through which programs reach an emulated device."""
    executed: dict[str, frozenset[tuple[str, int]]] = field(default_factory=dict)
    """See `Ran`; it grows case by case."""
    trials: Trials = field(default_factory=Trials)
    """Launches that repairs are tried on; it grows, too."""
    observation: Observation | None = None
    """See `run_cases`."""

    def with_build(self, builds: Builds, case: Case) -> _Runner:
        """The runner of what a case runs; what another build executes says nothing of this one's kernels."""
        built = builds.of(case)
        return self if built is self.built else replace(self, built=built, executed={}, trials=Trials())

    def evidence_in_time(self, case: Case, limits: Limits, hangs: int) -> CaseEvidence:
        """Evidence of a case after a number of ``hangs``, each of which costs all of its time.

        A program that hangs mostly does so in several cases. After _HANGS a case gets less at first, and all
        of it where it does not end then: it may be slow, and right. After _MOST_HANGS it gets no more, and is
        not judged.
        """
        less = shorter(self.plan.assignment.program, limits) if hangs >= _HANGS else limits
        evidence = self.evidence(case, less)
        if less == limits or not _never_ended(evidence):
            return evidence
        if hangs < _MOST_HANGS:
            return self.evidence(case, limits)
        return _given_up(evidence, less, limits, hangs)

    def evidence(self, case: Case, limits: Limits) -> CaseEvidence:
        """Evidence of a case; any failure on our side is in its ``error``."""
        if not self.built.ok:
            return CaseEvidence(case, completed=False, findings=(not_built(self.built, case),))
        try:
            shown = self._shown(case, limits)
            check_room(self.sandbox)
        except OurError as problem:
            return CaseEvidence(case, completed=False, error=str(problem))
        return shown

    def _shown(self, case: Case, limits: Limits) -> CaseEvidence:
        """See `evidence`; raises OurError where a run fails on our side."""
        if self.channel and self.built.ptx:
            return self._on_emulator(case, limits)
        run = program_run(self._ran(self._job(case, limits, None)), limits)
        judged = self.task.judged(case, run, (), None)
        return judged if self.built.calls_device else replace(judged, launches=0, streams=0, staged_streams=0)

    def _job(self, case: Case, limits: Limits, device: EmulatedDevice | None) -> Job:
        given = self.task.given(case, device)
        return Job(
            argv=(f"./{PROGRAM}", *given.arguments),
            files=((PROGRAM, self.built.program), *given.files),
            wanted=given.wanted,
            limits=limits,
            environment=THREADS,
            gpu=self.gpu.uuid if self.gpu else "",
            stdin=given.stdin,
        )

    def _on_emulator(self, case: Case, limits: Limits) -> CaseEvidence:
        """A run against an emulated device, and what it showed; raises OurError where that cannot follow."""
        text = self.submission.source.decode(errors="replace")
        interface = self.plan.assignment.program
        work = int(interface.emulator_seconds * STEPS_A_SECOND)
        further = tuple((n, t.decode(errors="replace")) for n, t in self.submission.headers)
        arguments = (self.built, self.submission.file, text, interface.device_bytes, work)
        with closing(EmulatedDevice(*arguments, self._observation(case), further)) as device:
            device.device.has_libraries = self.plan.assignment.interface.called_function is None
            return self._against(device, case, limits)

    def _against(self, device: EmulatedDevice, case: Case, limits: Limits) -> CaseEvidence:
        """See `_on_emulator`."""
        interface = self.plan.assignment.program
        seconds = limits.wall_seconds
        longer = with_launches(limits, interface)
        job = self._job(case, longer, device)
        result = run_beside(device.device, cast("Path", self.channel), self.sandbox, job)
        for kernel, instructions in device.executed:
            self.executed[kernel] = self.executed.get(kernel, frozenset()) | instructions
        device.look_up_lines(self._lines_of)
        run = program_run(result, longer)
        in_time = run.ending != Status.TIME
        reason = None if in_time else device.why_host_was_stopped(seconds)
        run = replace(run, reason=reason, failed_call=device.failed_call(run), work_left=device.work_left())
        too_much = device.too_much_work(run.seconds, interface.seconds, in_time=in_time)
        undecided = _undecided(too_much) if too_much else ()
        if too_much and not in_time:
            return CaseEvidence(
                case,
                completed=False,
                question=device.unsupported,
                too_much_work=too_much,
                undecided=undecided,
                program=run,
            )
        succeeded = run.ending == Status.EXIT and run.returncode == 0
        findings = [
            f
            for f in device.findings(case, succeeded=succeeded)
            if not too_much or f.kind is not FindingKind.HOST or f.code is FindingCode.HOST_FORGED_MESSAGE
        ]
        judged = self.task.judged(case, run, tuple(findings), device)
        return replace(
            judged,
            question=device.unsupported,
            too_much_work=too_much,
            undecided=undecided,
            uncounted="",
            counters=sums(kernel.counters for kernel in device.kernels),
            kernels=device.kernels,
            launches=device.device.launched,
            streams=device.device.order.overlapping,
            staged_streams=device.device.order.staged,
        )

    def _observation(self, case: Case) -> Observation:
        """Observations that are wanted of the launches of a case."""
        if self.observation is not None:
            return self.observation
        watched = frozenset(
            check.kernel for check in KernelOutputCheck.in_rubric(self.plan.assignment.rubric)
        )
        if not self.plan.feedback or not case.is_visible:
            return Observation(watched)
        return Observation(watched, self.trials.keep, profile=case is self._looked_at_by_line())

    def _looked_at_by_line(self) -> Case | None:
        """The visible case, the largest, in which it is counted what each line moves, if an item asks."""
        checks = list(TrafficCheck.in_rubric(self.plan.assignment.rubric))
        visible = [c for c in self.plan.cases if c.is_visible]
        chosen = [case for case in visible if any(check.item.looks_at(case) for check in checks)]
        return max(chosen, key=size, default=None)

    def _lines_of(self, addresses: Iterable[int]) -> Mapping[int, tuple[str, int]]:
        """The student's files and lines of some addresses in the program."""
        files = {self.built.source_name: self.submission.file}
        files |= {label_of(number): name for number, (name, _) in enumerate(self.built.others, 1)}
        with self.tools.sandbox.stage(Stage(BUILD_LIMITS)) as sandbox:
            places = call_lines(sandbox, self.built.program, files, addresses)
        return {address: (files[label], line) for address, (label, line) in places.items()}

    def _ran(self, job: Job) -> Result:
        """A run; on a GPU a second one, alone, where the first did not end: it may have been kept waiting."""
        if self.gpu is None:
            return self.sandbox.run(job)
        with devices.slot(self.gpu, devices.HARNESS):
            result = self.sandbox.run(job)
        if result.outcome.status is not Status.TIME:
            return result
        with devices.alone(self.gpu):
            result = self.sandbox.run(job)
        if result.outcome.status is Status.TIME and (pool := self.plan.backend.pool):
            _check(pool, self.tools, self.gpu)
        return result


def _check(pool: GpuPool, tools: Tools, gpu: Gpu) -> None:
    """Raise OurError, and take the GPU out of use, where it is not well after a program that hung."""
    from grader.toolchain.gpu import trial  # noqa: PLC0415 - hardly ever needed

    faults = trial.faults(replace(pool, sanitizer=""), tools, gpu)
    if faults:
        devices.mark_sick(gpu, faults[0])
        raise OurError(f"the GPU did not recover from a program that had to be stopped: {faults[0]}")


def program_run(result: Result, limits: Limits) -> ProgramRun:
    """Program run that a job's result describes.

    A positive status is the program's own: no limit ended it, whatever its last words are. A stream that is
    as long as it may be was cut, even if the program was done before that was seen.
    """
    outcome = result.outcome
    ending = Status.EXIT if outcome.returncode > 0 else outcome.status
    if ending is Status.EXIT and max(len(outcome.stdout), len(outcome.stderr)) >= limits.output_bytes:
        ending = Status.OUTPUT
    return ProgramRun(
        str(ending), outcome.returncode, outcome.stdout, outcome.stderr, result.files, outcome.seconds
    )


def ending(case: Case, run: ProgramRun, *, reason_alone: bool = False) -> tuple[Finding, ...]:
    """The finding for a program that did not come to its end, which ``reason_alone`` does not say again."""
    if ended_by_itself(run):
        return ()
    reason = why_it_stopped(run)
    message = reason if reason_alone else text_of("program-cut-short-because", reason=reason)
    return (Finding(kind_of_ending(run), message, name_of_ending(run), case=case.id),)
