"""A submission on a GPU: the jobs that look at it, side by side where they may, and what they saw.

    the harness: every case, then the timed rounds                         ─▶ Run per case, timing answer
    beside it the tools: memcheck, racecheck, initcheck, synccheck, at once ─▶ ToolReport…

The tools get what the emulator saw end. Where the harness finds that a case of theirs does not end on the
device, they are run again without it.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.toolchain.gpu import RaceJudge, devices, fitness, sanitizer, tools_started_early
from grader.toolchain.gpu.images import Images
from grader.toolchain.gpu.request import LIMITS, STUDENT, Where, helpers_source, run_job
from grader.toolchain.gpu.tool_runs import ToolRuns, for_tools
from grader.toolchain.nvcc import compile_own
from grader.toolchain.sandbox import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grader.model import Build, FindingKind, Named, Run
    from grader.toolchain.gpu.answer import HarnessAnswer
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.request import DeviceCase
    from grader.toolchain.gpu.sanitizer import ToolReport
    from grader.toolchain.gpu.timing_job import TimingJob
    from grader.toolchain.gpu.tools_started_early import PrestartedTools
    from grader.toolchain.nvcc import Tools
    from grader.toolchain.sandbox import Result

ENDED = ("done", "fault")
"""States of cases that are worth a tool's time: a kernel that hangs would hang under it, too."""


@frozen
class GpuPool:
    """Resources for grading on GPUs, the same for all submissions of a batch.

    ``helpers`` holds our own device code as a cubin for each architecture among the ``gpus``; ``python`` is
    the interpreter that has CuPy; ``sanitizer`` is empty where there is none; ``races`` is the judge of
    races. ``trial`` is that of the GPUs while it is under way, as in `grader.toolchain.gpu.fitness`.
    ``prestarted`` are tools that wait for the launches of a submission; it is then the only one.
    """

    gpus: tuple[Gpu, ...]
    python: str
    helpers: Named[bytes]
    sanitizer: str = ""
    races: RaceJudge = RaceJudge.BOTH
    trial: str = ""
    prestarted: PrestartedTools | None = None

    @property
    def devices(self) -> str:
        """Names of its GPUs, each once."""
        return ", ".join(dict.fromkeys(gpu.name for gpu in self.gpus))

    @property
    def architectures(self) -> tuple[str, ...]:
        """Names of the architectures of its GPUs in nvcc, such as ``sm_90``, each once."""
        return tuple(dict.fromkeys(gpu.architecture for gpu in self.gpus))

    def where(self, gpu: Gpu) -> Where:
        """Environment of a job that has one of its GPUs alone."""
        return Where(self.python, dict(self.helpers)[gpu.architecture], gpu.uuid)

    def beside_others(self, gpu: Gpu) -> Where:
        """Environment of a job while others use one of its GPUs, too."""
        slots = tuple(map(str, devices.slot_files(gpu, devices.HARNESS)))
        return replace(self.where(gpu), lock=str(devices.lock_file(gpu)), slots=slots)

    def healthy(self) -> tuple[Gpu, ...]:
        """GPUs that are fit for use, once that is known, each submission beginning with another one.

        Where tools wait on one of them, that is the first.
        """
        gpus = devices.healthy(fitness.fit_for_use(self.gpus, self.trial))
        waiting = self.prestarted
        if waiting:
            return tuple(sorted(gpus, key=lambda gpu: gpu != waiting.gpu))
        first = time.monotonic_ns() // 1000 % max(1, len(gpus))
        return (*gpus[first:], *gpus[:first])


@frozen
class Observed:
    """Observations of one submission: runs by the number of the case, and the report of each tool."""

    gpu: Gpu
    runs: tuple[tuple[int, Run], ...]
    reports: tuple[ToolReport, ...] = ()
    answer: HarnessAnswer | None = None
    result: Result | None = None
    seconds: Named[float] = ()

    @property
    def witnesses(self) -> Named[str]:
        """Outcome of each tool: ``ok`` if it came to an end, or what went wrong."""
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
    emulated: Mapping[int, frozenset[FindingKind]] | None = None,
) -> Observed:
    """Run a submission's cases on a GPU; on another one where the first turns out to be sick.

    ``emulated`` are the kinds of the emulator's findings in each case; None where it did not see all. Raises
    OurError where no GPU is well, or none could do it.
    """
    last: OurError | None = None
    for gpu in pool.healthy():
        try:
            with stage_on(gpu, tools) as inside:
                images = Images(inside, gpu.architecture, built, cases[0].arguments if cases else ())
                attempt = _Attempt(gpu, pool, images, file, cases, timing)
                return attempt.observed(attempt.tool_runs(partial(stage_on, gpu, tools), emulated))
        except SickGpuError as problem:
            devices.mark_sick(gpu, str(problem))
            last = problem
    raise last or OurError(f"no GPU is fit for use: {_why(pool.gpus)}; try `grader doctor`")


@contextmanager
def with_prestarted_tools(pool: GpuPool, tools: Tools) -> Iterator[GpuPool]:
    """The pool with all of compute-sanitizer's tools started on one of its GPUs, for a single submission.

    Without them where there is no such program, no GPU is well, or none can be started: the reason is
    reported when one is needed. In containers nothing is started early: each tool would need one of its own,
    and a file that does not compile would wait until they are removed.
    """
    can_start = pool.sanitizer and not tools.sandbox.shuts_in
    gpu = next(iter(pool.healthy()), None) if can_start else None
    with ExitStack() as stack:
        if gpu is not None:
            with suppress(OurError, OSError):
                names, new_stage = sanitizer.tools_for(pool.races), partial(stage_on, gpu, tools)
                begun = tools_started_early.started_tools(
                    names, pool.beside_others(gpu), gpu, pool.sanitizer, new_stage
                )
                pool = replace(pool, prestarted=stack.enter_context(begun))
        yield pool


@contextmanager
def stage_on(gpu: Gpu, tools: Tools, channel: Path | None = None) -> Iterator[Tools]:
    """The tools in a sandbox for all that looks at one submission on a GPU, which may see a folder, too."""
    locks = (devices.lock_file(gpu), *devices.slot_files(gpu, devices.HARNESS))
    processors = 1 + len(sanitizer.TOOLS)
    stage = Stage(LIMITS, gpu.uuid, tuple(map(str, locks)), processors, str(channel or ""))
    with tools.sandbox.stage(stage) as sandbox:
        yield replace(tools, sandbox=sandbox)


def _why(gpus: tuple[Gpu, ...]) -> str:
    return "; ".join(f"{gpu.name} {gpu.uuid[:12]}: {devices.is_sick(gpu)}" for gpu in gpus) or "there is none"


@frozen
class _Attempt:
    """One submission on one GPU, in the sandbox of its ``images``. Every method may raise OurError."""

    gpu: Gpu
    pool: GpuPool
    images: Images
    file: str
    cases: tuple[DeviceCase, ...]
    timing: TimingJob | None

    def tool_runs(
        self,
        new_stage: Callable[[], AbstractContextManager[Tools]],
        emulated: Mapping[int, frozenset[FindingKind]] | None,
    ) -> ToolRuns:
        """Runs under compute-sanitizer's tools, which give way to what is timed."""
        waiting = self.pool.prestarted
        if waiting and waiting.gpu != self.gpu:
            waiting.end()  # that GPU is not used any more, and slots are the machine's
            waiting = None
        parts = (new_stage, self.pool.sanitizer, self.pool.races, self.file, emulated, waiting)
        return ToolRuns(self.pool.beside_others(self.gpu), self.gpu, self.images, *parts)

    def observed(self, tool_runs: ToolRuns) -> Observed:
        """The harness, and beside it the tools."""
        began = time.perf_counter()
        chosen = for_tools(self.cases, self.pool.races)
        with ThreadPoolExecutor(1) as beside:
            reporting = beside.submit(tool_runs.reports, chosen)
            result, answer = self._ran()
            ran = time.perf_counter()
            from grader.toolchain.gpu.answer import run_of  # noqa: PLC0415 - pydantic is loaded while tools run

            reports = reporting.result()
        answered = {case.name: case for case in answer.cases}
        runs = tuple((c.index, run_of(c, answered.get(str(c.index)), result, self.file)) for c in self.cases)
        ended = (c for c in self.cases if str(c.index) in answered and answered[str(c.index)].state in ENDED)
        worthwhile = for_tools(tuple(ended), self.pool.races)
        if worthwhile != chosen:
            reports = tool_runs.reports(worthwhile)
        seconds = (
            ("gpu", ran - began),
            *((f"gpu: {name}", amount) for name, amount in answer.seconds.items()),
            ("sanitizer, after that", time.perf_counter() - ran),
        )
        return Observed(self.gpu, runs, reports, answer, result, seconds)

    def _ran(self) -> tuple[Result, HarnessAnswer]:
        """The harness's job and its answer; a second time, alone, where others there may be to blame.

        A kernel that does not end may have been kept waiting by what others ran: no kernel is accused before
        it ran alone, and a run that is not alone ends with the first kernel that does not. What fails on our
        side is tried once more in the same way before it is an error.
        """
        with suppress(_Retried):
            return self._beside_others()
        with devices.alone(self.gpu):
            return self._harness(self.pool.where(self.gpu))

    def _beside_others(self) -> tuple[Result, HarnessAnswer]:
        """The job and its answer while others use the GPU; raises _Retried where they may be to blame."""
        try:
            result, answer = self._harness(self.pool.beside_others(self.gpu))
        except SickGpuError:
            raise
        except OurError as problem:
            raise _Retried from problem
        if _hung(answer) or _failed_on_us(answer):
            raise _Retried
        return result, answer

    def _harness(self, where: Where) -> tuple[Result, HarnessAnswer]:
        architecture = self.gpu.architecture
        student = self.images.plain(optimised=True)
        images = ((STUDENT, student), *(self.timing.images(architecture) if self.timing else ()))
        timing = self.timing.request(architecture, where.lock) if self.timing else None
        job = run_job(where, images, self.cases, timing)
        result = self.images.tools.sandbox.run(job)
        return result, _answer(result)


class _Retried(Exception):  # noqa: N818 - no error before it happened twice
    """Signal that a job is to be done again, with no other on the GPU."""


_NO_MEMORY = "cudaErrorMemoryAllocation"
"""Error of a launch where others hold the memory of the GPU, or where it wants too much itself."""


def _failed_on_us(answer: HarnessAnswer) -> bool:
    """True if something failed that was not the student's kernel, and that kernel did not fail besides.

    Where it did, the run counts as it is: a second one shall hide nothing.
    """
    stops = [case for case in answer.cases if case.state in ("fault", "refused")]
    if any(case.error != _NO_MEMORY for case in stops):
        return False
    timing = answer.timing or {}
    ours = timing.get("stopped") == "fault" and not str(timing.get("fault", "")).startswith(f"{STUDENT}: ")
    return ours or bool(stops) or any(case.state == "lost" for case in answer.cases)


def _hung(answer: HarnessAnswer) -> bool:
    """True if a kernel did not end in its time, in a case or while it was timed."""
    timed = str((answer.timing or {}).get("fault", ""))
    return any(case.state == "timeout" for case in answer.cases) or timed.startswith("timeout")


def _answer(result: Result) -> HarnessAnswer:
    """Answer of the harness; raises an exception with the reason where nothing can be believed."""
    from grader.toolchain.gpu.answer import read_answer  # noqa: PLC0415 - as above

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


__all__ = ["GpuPool", "Observed", "SickGpuError", "observe", "prepare", "stage_on"]
