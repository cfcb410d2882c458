"""A submission on a GPU: the jobs that look at it, side by side where they may, and what they saw.

    the harness: every case, then the timed rounds                         ─▶ Run per case, timing answer
    beside it the tools: memcheck, racecheck, initcheck, synccheck, at once ─▶ ToolReport…

A tool tells launches apart by the names of their kernels. Copies with names of their own are made only where
there is something to tell: by the emulator, or by a run of the tool in which all cases launch one kernel.
The tools get what the emulator saw end. Where the harness finds that a case of theirs does not end on the
device, they are run again without it.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.gpu import RaceJudge, devices, sanitizer
from grader.gpu.answer import HarnessAnswer, read_answer, run_of
from grader.gpu.request import (
    LIMITS,
    STUDENT,
    Image,
    Where,
    has_variables,
    helpers_source,
    launches_of,
    name_for,
    run_job,
    shared_job,
    symbols_of,
    widths,
    with_copies,
)
from grader.gpu.shared_runs import merged, queue_folder, ran_silently
from grader.nvcc import assemble, compile_own
from grader.sandbox import Stage, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grader.gpu.devices import Gpu
    from grader.gpu.request import DeviceCase, JobLaunches, TimingJob
    from grader.gpu.sanitizer import ToolReport
    from grader.model import Build, FindingKind, Named, Run
    from grader.nvcc import Tools
    from grader.sandbox import Job, Result

GRADED = "graded"
"""The image that holds the default build for the tools, beside the -O0 build."""

ENDED = ("done", "fault")
"""States of cases that are worth a tool's time: a kernel that hangs would hang under it, too."""

ALONE_WORK, BESIDE_WORK = 2**22, 2**19
"""Cases are given to the tools, the smallest first, until this much work (the product of their sizes): of
those that a tool alone can judge, and of those that the emulator has judged as well."""


@dataclass(frozen=True, slots=True)
class GpuPool:
    """What grading on GPUs needs, the same for all submissions of a batch.

    ``helpers`` holds our own device code as a cubin for each architecture among the ``gpus``; ``python`` is
    the interpreter that has CuPy; ``sanitizer`` is empty where there is none; ``races`` says who judges them.
    """

    gpus: tuple[Gpu, ...]
    python: str
    helpers: Named[bytes]
    sanitizer: str = ""
    races: RaceJudge = RaceJudge.BOTH

    @property
    def devices(self) -> str:
        """What its GPUs are called, each name once."""
        return ", ".join(dict.fromkeys(gpu.name for gpu in self.gpus))

    @property
    def architectures(self) -> tuple[str, ...]:
        """What nvcc calls its GPUs, such as ``sm_90``, each once."""
        return tuple(dict.fromkeys(gpu.architecture for gpu in self.gpus))

    def healthy(self) -> tuple[Gpu, ...]:
        """Its GPUs that are fit for use, each submission beginning with another one."""
        gpus = devices.healthy(self.gpus)
        first = time.monotonic_ns() // 1000 % max(1, len(gpus))
        return (*gpus[first:], *gpus[:first])


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen of one submission: runs by the number of the case, and what each tool says."""

    gpu: Gpu
    runs: tuple[tuple[int, Run], ...]
    reports: tuple[ToolReport, ...] = ()
    answer: HarnessAnswer | None = None
    result: Result | None = None
    seconds: Named[float] = ()

    @property
    def witnesses(self) -> Named[str]:
        """Whether each tool came to an end: ``ok``, or what went wrong."""
        return tuple((report.tool, report.reason or "ok") for report in self.reports)


def prepare(tools: Tools, gpus: tuple[Gpu, ...], races: RaceJudge) -> GpuPool:
    """A pool of these GPUs, with this interpreter; raises OurError if our device code does not build."""
    source = helpers_source()
    names = dict.fromkeys(gpu.architecture for gpu in gpus)
    helpers = tuple((architecture, compile_own(tools, source, architecture)) for architecture in names)
    inside = tools.sandbox.equipment
    if inside.python:
        return GpuPool(gpus, inside.python, helpers, inside.sanitizer, races)
    path = sanitizer.find_sanitizer(None)
    return GpuPool(gpus, sys.executable, helpers, str(path) if path else "", races)


class SickGpuError(OurError):
    """A GPU did not recover from what ran on it."""


def observe(
    pool: GpuPool,
    tools: Tools,
    built: Build,
    file: str,
    cases: tuple[DeviceCase, ...],
    timing: TimingJob | None,
    *,
    emulated: frozenset[FindingKind] | None = None,
) -> Observed:
    """Run a submission's cases on a GPU; on another one where the first turns out to be sick.

    ``emulated`` is what the emulator found; None where it did not see all. Raises OurError where no GPU is
    well, or none could do it.
    """
    last: OurError | None = None
    for gpu in pool.healthy():
        try:
            with stage_on(gpu, tools) as inside:
                job_parts = (built, file, cases, timing)
                return _Attempt(gpu, pool, tools, inside, *job_parts, emulated=emulated).observed()
        except SickGpuError as problem:
            devices.mark_sick(gpu, str(problem))
            last = problem
    raise last or OurError(f"no GPU is fit for use: {_why(pool.gpus)}; try `grader doctor`")


@contextmanager
def stage_on(gpu: Gpu, tools: Tools) -> Iterator[Tools]:
    """The tools in a sandbox for all that looks at one submission on a GPU."""
    stage = Stage(LIMITS, gpu.uuid, str(devices.lock_file(gpu)), processors=1 + len(sanitizer.TOOLS))
    with tools.sandbox.stage(stage) as sandbox:
        yield replace(tools, sandbox=sandbox)


def _why(gpus: tuple[Gpu, ...]) -> str:
    return "; ".join(f"{gpu.name} {gpu.uuid[:12]}: {devices.is_sick(gpu)}" for gpu in gpus) or "there is none"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One submission on one GPU, with the ``tools`` in its sandbox. Every method may raise OurError."""

    gpu: Gpu
    pool: GpuPool
    machine: Tools
    tools: Tools
    built: Build
    file: str
    cases: tuple[DeviceCase, ...]
    timing: TimingJob | None
    emulated: frozenset[FindingKind] | None

    def observed(self) -> Observed:
        """The harness, and beside it the tools."""
        began = time.perf_counter()
        chosen = for_tools(self.cases, self.pool.races)
        with ThreadPoolExecutor(1) as beside:
            reporting = beside.submit(self._reports, chosen)
            result, answer = self._ran()
            ran = time.perf_counter()
            reports = reporting.result()
        answered = {case.name: case for case in answer.cases}
        runs = tuple((c.index, run_of(c, answered.get(str(c.index)), result, self.file)) for c in self.cases)
        ended = (c for c in self.cases if str(c.index) in answered and answered[str(c.index)].state in ENDED)
        worthwhile = for_tools(tuple(ended), self.pool.races)
        if worthwhile != chosen:
            reports = self._reports(worthwhile)
        seconds = (
            ("gpu", ran - began),
            *((f"gpu: {name}", amount) for name, amount in answer.seconds.items()),
            ("sanitizer, after that", time.perf_counter() - ran),
        )
        return Observed(self.gpu, runs, reports, answer, result, seconds)

    def _ran(self) -> tuple[Result, HarnessAnswer]:
        """The harness's job and its answer; a second time, alone, where a kernel did not end.

        It may have been kept waiting by what others ran: nobody is accused before it ran alone. A run
        that is not alone ends with the first kernel that does not.
        """
        lock = str(devices.lock_file(self.gpu))
        with devices.slot(self.gpu, devices.HARNESS):
            result, answer = self._harness(lock)
        if not _hung(answer):
            return result, answer
        with devices.alone(self.gpu):
            return self._harness("")

    def _harness(self, lock: str) -> tuple[Result, HarnessAnswer]:
        architecture = self.gpu.architecture
        student = self._plain(self.built.ptx, optimised=True)
        images = ((STUDENT, student), *(self.timing.images(architecture) if self.timing else ()))
        timing = self.timing.request(architecture, lock) if self.timing else None
        result = self.tools.sandbox.run(run_job(self._where(lock), images, self.cases, timing))
        return result, _answer(result)

    def _where(self, lock: str = "") -> Where:
        helpers = dict(self.pool.helpers)[self.gpu.architecture]
        return Where(self.pool.python, helpers, self.gpu.uuid, lock)

    def _where_watched(self) -> Where:
        """The same for what a tool watches, which gives way to what is timed."""
        return self._where(str(devices.lock_file(self.gpu)))

    def _widths(self) -> Named[str]:
        return widths(self.cases[0].arguments if self.cases else (), self.built.parameter_bytes)

    def _symbols(self, ptx: str) -> Named[str]:
        return symbols_of(self.cases[0].arguments if self.cases else (), ptx)

    def _reports(self, cases: tuple[DeviceCase, ...]) -> tuple[ToolReport, ...]:
        """What the tools say of these cases, all tools at once."""
        names = sanitizer.tools_for(self.pool.races) if self.pool.sanitizer else ()
        if not cases or not names:
            return ()
        graded = tuple(
            replace(case, index=case.index + sanitizer.OF_GRADED_BUILD, image=GRADED) for case in cases
        )
        accusing = tuple(tool for tool in names if self._accuses(tool))
        others = tuple(tool for tool in names if tool not in accusing)
        with ThreadPoolExecutor(2) as pool:
            named = pool.submit(self._named_reports, accusing, cases, graded)
            silent = pool.submit(self._silent_reports, others, (*cases, *graded))
            reports = dict(named.result()) | dict(silent.result())
        left = tuple(tool for tool in names if tool not in reports)
        reports |= dict(self._named_reports(left, cases, graded))
        return tuple(sanitizer.of_both_builds(reports[tool]) for tool in names)

    def _accuses(self, tool: str) -> bool:
        """Whether a tool will find something, as far as the emulator has seen."""
        return self.emulated is None or bool(self.emulated & sanitizer.accused_by(tool))

    def _silent_reports(self, names: tuple[str, ...], launches: tuple[DeviceCase, ...]) -> Named[ToolReport]:
        """What tools say that are silent about launches of one kernel of each build; nothing of findings.

        It takes less than a copy for each launch: a tool rewrites every kernel that is loaded. And others'
        launches may share the run.
        """
        if not names:
            return ()
        images = (
            (STUDENT, self._plain(self.built.hazard_ptx, optimised=False)),
            (GRADED, self._plain(self.built.ptx, optimised=True)),
        )
        own = launches_of(images, launches)

        def report(tool: str) -> Named[ToolReport]:
            command = sanitizer.command(tool, self.pool.sanitizer)
            is_clear = ran_silently(
                self._queue(tool, command), own, lambda members: self._is_silent(tool, members)
            )
            return ((tool, sanitizer.silent_report(tool, launches)),) if is_clear else ()

        with ThreadPoolExecutor(len(names)) as pool:
            return tuple(chain.from_iterable(pool.map(report, names)))

    def _queue(self, tool: str, command: tuple[str, ...]) -> Path | None:
        """Where launches wait for a run of a tool in the company of others; None where they share none.

        A kernel that leaves its arrays, or reads what nobody wrote, as far as the emulator saw, could change
        what is a neighbour's. Among such kernels the tools still run whose silence decides nothing. A run is
        on any GPU of this model; of racecheck each GPU has its own, for it takes several times as long.
        """
        company = "clean"
        if self._accuses("memcheck") or self._accuses("initcheck"):
            if tool not in sanitizer.OF_RACES or not self.pool.races.asks_emulator:
                return None
            company = "astray"
        gpu = self.gpu.uuid if tool == "racecheck" else self.gpu.name
        where = replace(self._where(), gpu=gpu)
        return queue_folder(where, self.tools.sandbox.name, command, company)

    def _is_silent(self, tool: str, members: Sequence[JobLaunches]) -> bool:
        """Whether nothing came of several submissions' launches under a tool, in a sandbox for them alone."""
        launches = merged(members)
        where = self._where_watched()
        job = shared_job(where, launches, sanitizer.command(tool, self.pool.sanitizer), sanitizer.files(tool))
        with devices.slot(self.gpu, devices.TOOLS), self._stage(len(members)) as tools:
            result = tools.sandbox.run(job)
        return sanitizer.is_silent(tool, result, (case["name"] for case in launches.cases))

    def _stage(self, members: int) -> AbstractContextManager[Tools]:
        """This submission's sandbox for itself, and one of their own for what several share."""
        return nullcontext(self.tools) if members == 1 else stage_on(self.gpu, self.machine)

    def _named_reports(
        self, names: tuple[str, ...], cases: tuple[DeviceCase, ...], graded: tuple[DeviceCase, ...]
    ) -> Named[ToolReport]:
        """What the tools say of cases in the -O0 and the graded build, each launch with a name of its own."""
        if not names:
            return ()
        images = (
            (STUDENT, self._copies(self.built.hazard_ptx, cases, optimised=False)),
            (GRADED, self._copies(self.built.ptx, graded, optimised=True)),
        )
        launches = (*cases, *graded)
        with ThreadPoolExecutor(len(names)) as pool:
            reports = pool.map(lambda tool: self._named_report(tool, images, launches), names)
            return tuple(zip(names, reports, strict=True))

    def _job(
        self, tool: str, images: Named[Image], cases: tuple[DeviceCase, ...], entries: Named[str] = ()
    ) -> Job:
        return run_job(
            self._where_watched(),
            images,
            cases,
            mode="sanitize",
            entries=entries,
            tool=sanitizer.command(tool, self.pool.sanitizer),
            tool_files=sanitizer.files(tool),
        )

    def _copies(self, ptx: str, cases: tuple[DeviceCase, ...], *, optimised: bool) -> Image:
        """The kernel of one of the two builds, under a name of its own for each case."""
        text = with_copies(ptx, self.built.entry, (name_for(case.index) for case in cases))
        cubin = assemble(self.tools, text, self.gpu.architecture, optimised=optimised)
        return self._image(ptx, cubin)

    def _image(self, ptx: str, cubin: bytes) -> Image:
        """What the harness has to know of a build whose kernels are in a cubin."""
        return Image(
            cubin, self.built.entry, self._widths(), self._symbols(ptx), variables=has_variables(ptx)
        )

    def _plain(self, ptx: str, *, optimised: bool) -> Image:
        """One of the two builds as it is."""
        return self._image(ptx, assemble(self.tools, ptx, self.gpu.architecture, optimised=optimised))

    def _named_report(self, tool: str, images: Named[Image], cases: tuple[DeviceCase, ...]) -> ToolReport:
        """A tool's report; the first that comes to nothing is made once more, unless it took all its time."""
        entries = tuple((str(case.index), name_for(case.index)) for case in cases)
        job = self._job(tool, images, cases, entries)
        with devices.slot(self.gpu, devices.TOOLS):
            result = self.tools.sandbox.run(job)
            report = sanitizer.read(tool, result, cases, self.file)
            came_to_nothing = report.verdict == sanitizer.INCONCLUSIVE
            if self._accuses(tool) and came_to_nothing and result.outcome.status is not Status.TIME:
                return sanitizer.read(tool, self.tools.sandbox.run(job), cases, self.file)
            return report


def _hung(answer: HarnessAnswer) -> bool:
    """Whether a kernel did not end in its time, in a case or while it was timed."""
    timed = str((answer.timing or {}).get("fault", ""))
    return any(case.state == "timeout" for case in answer.cases) or timed.startswith("timeout")


def _answer(result: Result) -> HarnessAnswer:
    """The harness's answer, or the exception that says why nothing can be believed."""
    try:
        answer = read_answer(result.file("result.json"))
    except OurError as problem:
        words = " ".join(result.outcome.stderr.decode(errors="replace").split())[-300:]
        raise OurError(f"{problem} ({result.outcome.status}, {words})") from None
    if answer.health != "ok":
        raise SickGpuError(f"the GPU did not recover: {answer.health}")
    if answer.error and not answer.cases:
        raise OurError(f"the harness on the GPU failed: {answer.error}")
    return answer


def for_tools(cases: tuple[DeviceCase, ...], races: RaceJudge) -> tuple[DeviceCase, ...]:
    """The cases for the tools, which slow a kernel down a hundredfold, in their order.

    Where the emulator has followed a launch, and its word counts, a tool is a second witness.
    """
    beside = [case for case in cases if case.followed and races.asks_emulator]
    alone = [case for case in cases if not (case.followed and races.asks_emulator)]
    chosen = _smallest(alone, ALONE_WORK) | _smallest(beside, BESIDE_WORK)
    return tuple(case for case in cases if case.index in chosen)


def _smallest(cases: list[DeviceCase], most: int) -> set[int]:
    """The numbers of the smallest cases with so much work at most, but of one at least."""
    chosen: set[int] = set()
    work = 0
    for case in sorted(cases, key=_work):
        work += _work(case)
        if chosen and work > most:
            break
        chosen.add(case.index)
    return chosen


def _work(case: DeviceCase) -> int:
    """How large a case is: its threads times the elements of its largest array's longest side."""
    grid, block = case.launch.grid, case.launch.block
    threads = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]
    shapes = [getattr(argument.value, "shape", ()) for argument in case.arguments]
    return threads * max((max(shape, default=1) for shape in shapes), default=1)


__all__ = ["GpuPool", "Observed", "SickGpuError", "for_tools", "observe", "prepare", "stage_on"]
