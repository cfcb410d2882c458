"""A GPU as a backend: the emulator runs a kernel first, then the GPU, and both runs become one.

Nothing is launched on the GPU that did not end on the emulator: a kernel that hangs on a GPU keeps all
others there waiting, and may bring it down.

Outputs are the GPU's, for that is where a kernel has to be right, but for what the emulator proves undefined
(`deciding`). Counters are the emulator's, for only it sees every access. Findings come from all of them, each
reported once with all its witnesses (`witnesses`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.base.errors import OurError, ToolMissing, described_bug
from grader.base.records import frozen
from grader.model import Clause, Finding, FindingKind, Run, Severity
from grader.model.messages import clause
from grader.running.backends import Backend, BothOutputs, CaseRun, Runs
from grader.running.backends.deciding import anew, decided, undefined
from grader.running.backends.emulator import emulated_alone, emulated_one_by_one
from grader.toolchain.gpu import RaceJudge, pool
from grader.toolchain.gpu.request import DeviceCase
from grader.toolchain.gpu.sanitizer import HOW_TO_GET
from grader.toolchain.gpu.witnesses import merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

    from grader.model import Build
    from grader.running.backends import PreparedCase, UndefinedOutputs
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.pool import GpuPool, Observed
    from grader.toolchain.gpu.sanitizer import ToolReport
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.nvcc import Tools


@frozen
class GpuBackend(Backend):
    """The GPUs of a pool, beside the emulator and compute-sanitizer's tools."""

    gpus: GpuPool

    name: ClassVar[str] = "gpu"
    measures_time: ClassVar[bool] = True
    runs_any_ptx: ClassVar[bool] = True

    @property
    def device(self) -> str:
        """Names of its GPUs, each once."""
        return self.gpus.devices

    @property
    def pool(self) -> GpuPool:
        """The GPUs that it uses."""
        return self.gpus

    @classmethod
    def prepare(cls, tools: Tools, gpus: tuple[Gpu, ...], races: RaceJudge) -> Self:
        """Build our device code; raises ToolMissing where only a missing tool judges races."""
        prepared = pool.prepare(tools, gpus, races)
        if not races.asks_emulator and not prepared.sanitizer:
            raise ToolMissing(f"--races {races}: {HOW_TO_GET}")
        return cls(prepared)

    def tried(self, tools: Tools) -> tuple[Self, tuple[str, ...]]:
        """Backend with those of its GPUs on which every tool reports its planted bug."""
        from grader.toolchain.gpu import trial  # noqa: PLC0415 - of a check nothing is on trial

        fit, problems = trial.examine(self.gpus, tools)
        if not fit.gpus:
            reasons = "; ".join(problems)
            raise OurError(f"no GPU here can be trusted with grades: {reasons}; try `grader doctor`")
        return replace(self, gpus=fit), problems

    def awaiting(self, trial: str) -> Self:
        """The backend that uses none of its GPUs before that trial is over."""
        return replace(self, gpus=replace(self.gpus, trial=trial))

    @contextmanager
    def prestarted(self, tools: Tools) -> Iterator[Self]:
        """The backend with compute-sanitizer's tools started, whose contexts take as long as a build."""
        with pool.with_prestarted_tools(self.gpus, tools) as gpus:
            yield replace(self, gpus=gpus)

    def run(
        self,
        built: Build,
        cases: tuple[PreparedCase, ...],
        tools: Tools,
        timing: TimingJob | None,
        meanwhile: Callable[[], object] | None = None,
    ) -> Runs:
        """Run every case on the emulator, then those that ended on a GPU, build by build."""
        runs = tuple(emulated_one_by_one(cases))
        proved = self._proved(cases, runs)  # memory is limited there, which no process may inherit
        if meanwhile is None:
            return self._beside(runs, proved, built, cases, tools, timing)
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(meanwhile)
            observed = self._beside(runs, proved, built, cases, tools, timing)
        done.result()
        return observed

    def _beside(
        self,
        runs: tuple[Run, ...],
        proved: Mapping[int, UndefinedOutputs],
        built: Build,
        cases: tuple[PreparedCase, ...],
        tools: Tools,
        timing: TimingJob | None,
    ) -> Runs:
        """Runs of the cases beside those of the emulator, with what it proves undefined."""
        launches = _launches(cases, runs)
        is_defined = not any(of_case.grave for of_case in proved.values())
        job = timing if len(launches) == len(cases) and is_defined else None
        case_runs = [emulated_alone(run) for run in runs]
        observed, problem = None, ""
        for build in _builds(built, cases):  # `observed` is of the last one, which is timed
            indices = [index for index, case in enumerate(cases) if case.kernel.build is build]
            launched = tuple(launches[index] for index in indices if index in launches)
            observed, problem = None, ""
            if launched:
                file = cases[indices[0]].kernel.file
                observed, problem = self._observed(
                    tools,
                    build,
                    file,
                    launched,
                    job if build is built else None,
                    emulated=_emulated({index: runs[index] for index in indices}),
                )
            for index in indices:
                case_run = self._case_run(index, cases[index], runs[index], observed, proved.get(index))
                case_runs[index] = CaseRun(Run(completed=False, error=problem)) if problem else case_run
        return Runs(
            tuple(case_runs),
            _as_on_device(built, observed),
            observed.gpu.name if observed else self.device,
            timed=observed,
            problem=problem,
            witnesses=observed.witnesses if observed else (),
            seconds=observed.seconds if observed else (),
        )

    def _proved(self, cases: tuple[PreparedCase, ...], runs: tuple[Run, ...]) -> dict[int, UndefinedOutputs]:
        """Outputs that the emulator proves undefined, by the number of the case."""
        proved = (
            (index, undefined(case, run))
            for index, (case, run) in enumerate(zip(cases, runs, strict=True))
            if self._has_say(case, run)
        )
        return {index: of_case for index, of_case in proved if of_case is not None}

    def _has_say(self, case: PreparedCase, run: Run) -> bool:
        """True if the emulator decides where outputs are undefined."""
        return _is_followed(run) and self.gpus.races.asks_emulator and not case.gpu_decides

    def _case_run(
        self,
        index: int,
        case: PreparedCase,
        emulated: Run,
        observed: Observed | None,
        proved: UndefinedOutputs | None,
    ) -> CaseRun:
        """Run by which a case is judged; one that was not launched has a finding with the reason."""
        on_device = dict(observed.runs).get(index) if observed else None
        if on_device is None or observed is None:
            return emulated_alone(emulated)
        merged_run = merge_runs(emulated, on_device, index, observed.reports, self.gpus.races, proved)
        if on_device.error or not self._has_say(case, emulated):
            return merged_run
        return replace(merged_run, both=BothOutputs(emulated.outputs, on_device.outputs, proved))

    def _observed(
        self,
        tools: Tools,
        build: Build,
        file: str,
        launches: tuple[DeviceCase, ...],
        timing: TimingJob | None,
        *,
        emulated: Mapping[int, frozenset[FindingKind]] | None,
    ) -> tuple[Observed | None, str]:
        """Observations on a GPU, or the reason why there are none."""
        try:
            observed = pool.observe(self.gpus, tools, build, file, launches, timing, emulated=emulated)
        except OurError as problem:
            return None, str(problem)
        except Exception as problem:  # noqa: BLE001 - a bug of ours must not become a student's zero
            return None, described_bug("the GPU backend", problem)
        return observed, ""


def _launches(cases: tuple[PreparedCase, ...], runs: tuple[Run, ...]) -> dict[int, DeviceCase]:
    """Launches on the GPU, by the case's number: all that can be made, and that ended on the emulator."""
    return {
        index: DeviceCase(index, case.launch, case.arguments, followed=_is_followed(run))
        for index, (case, run) in enumerate(zip(cases, runs, strict=True))
        if not isinstance(case.launch, Finding) and not _never_ends(run)
    }


def _builds(built: Build, cases: tuple[PreparedCase, ...]) -> tuple[Build, ...]:
    """The builds that the cases launch, each once; that of the assignment's own kernel comes last."""
    others = {id(case.kernel.build): case.kernel.build for case in cases}
    others.pop(id(built), None)
    return (*others.values(), built)


def _as_on_device(built: Build, observed: Observed | None) -> Build:
    """Build with its kernel's resources on this device, which may differ from those that ptxas reports."""
    student = observed.answer.resources.get("student") if observed and observed.answer else None
    if student is None or built.resources is None:
        return built
    taken = replace(built.resources, registers=student.registers, shared_bytes=student.shared_bytes)
    return replace(built, resources=taken)


def _is_followed(run: Run) -> bool:
    """True if the emulator followed a launch as a whole."""
    return run.completed and not (run.error or run.question or run.too_much_work)


def _emulated(runs: Mapping[int, Run]) -> Mapping[int, frozenset[FindingKind]] | None:
    """Kinds of the emulator's findings in each case; None where it did not follow every launch to its end."""
    if not all(map(_is_followed, runs.values())):
        return None
    return {
        index: frozenset(finding.kind for finding in run.findings if finding.severity is not Severity.INFO)
        for index, run in runs.items()
    }


def _never_ends(run: Run) -> bool:
    """True if the emulator gave a run up: it follows a kernel a hundred times as far as these cases take."""
    return not run.completed and any(finding.kind is FindingKind.TIMEOUT for finding in run.findings)


def merge_runs(
    emulated: Run,
    on_device: Run,
    index: int,
    reports: tuple[ToolReport, ...],
    races: RaceJudge,
    proved: UndefinedOutputs | None = None,
) -> CaseRun:
    """One run out of two; ``index`` is the case's number, ``races`` as in `GpuPool`.

    ``proved`` is what of it is undefined. Where the GPU failed us there is nothing to judge. Where the
    emulator did, the GPU's run stands alone.
    """
    if on_device.error:
        return CaseRun(on_device)
    failure = emulated.error or emulated.question
    too_much = None if failure else _too_much_work(emulated, on_device)
    gave_up = failure or clause(too_much)
    findings, undecided = merged(
        emulated=None if gave_up else emulated,
        emulator_error=gave_up,
        device=on_device.findings,
        reports=reports,
        index=index,
        mode=races,
        remark=anew if proved and proved.elements is None and on_device.launched else None,
    )
    run = replace(decided(emulated, on_device, proved), findings=findings)
    if gave_up:
        return CaseRun(run, uncounted=gave_up, undecided=undecided, too_much_work=too_much)
    run = replace(
        run,
        counters=emulated.counters,
        lines=emulated.lines,
        printed=emulated.printed,
        unoptimised=emulated.unoptimised,
        warp_by_warp=emulated.warp_by_warp,
        steps=emulated.steps,
        completed=run.completed and emulated.completed,
        changed_inputs=tuple(dict.fromkeys((*run.changed_inputs, *emulated.changed_inputs))),
    )
    followed = emulated.completed and on_device.launched and races.asks_emulator
    return CaseRun(run, undecided=undecided, followed=followed and not run.completed)


def _too_much_work(emulated: Run, on_device: Run) -> Clause | None:
    """Reason why the emulator does not decide in this case: its budget ended, and the GPU's run did not."""
    if emulated.too_much_work is not None:
        return emulated.too_much_work
    timed_out = any(finding.kind is FindingKind.TIMEOUT for finding in emulated.findings)
    if timed_out and not emulated.completed and on_device.completed:
        return Clause("more-steps")
    return None
