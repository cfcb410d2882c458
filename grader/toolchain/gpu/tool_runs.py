"""Reports of compute-sanitizer's tools on one submission: runs of its own, and runs that others share.

A tool distinguishes launches by the names of their kernels. Copies with names of their own are made only
where there is something to report: by the emulator, or by a run of the tool in which all cases launch one
kernel. Where the emulator saw nothing, several submissions share a run, and only silence counts.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.toolchain.gpu import devices, sanitizer
from grader.toolchain.gpu.request import STUDENT, launches_of, name_for, run_job, shared_job
from grader.toolchain.gpu.tool_batches import merged, queue_folder, ran_silently
from grader.toolchain.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grader.model import FindingKind, Named
    from grader.toolchain.gpu import RaceJudge
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.images import Images
    from grader.toolchain.gpu.request import DeviceCase, Image, JobLaunches, Where
    from grader.toolchain.gpu.sanitizer import ToolReport
    from grader.toolchain.gpu.tools_started_early import PrestartedTools
    from grader.toolchain.nvcc import Tools
    from grader.toolchain.sandbox import Job, Result

GRADED = "graded"
"""The image that holds the default build for the tools, beside the -O0 build."""

ALONE_WORK, BESIDE_WORK = 2**22, 2**19
"""Cases are given to the tools, the smallest first, until this much work (the product of their sizes): of
those that a tool alone can judge, and of those that the emulator has judged as well."""

MOST_BORNE_OUT = 4
"""Most cases in which a tool only confirms what the emulator saw of all of them."""

MOST_OF_RACECHECK, MOST_CLEAN, MOST_ASTRAY = 8, 16, 4
"""Submissions that share a run: fewer under the tool that takes several times as long, and fewer of kernels
that leave their arrays, for one at fault has all of a run looked at by themselves."""


@frozen
class ToolRuns:
    """All tools on one submission, in the sandbox of its ``images``. Every method may raise OurError.

    ``new_stage`` makes a sandbox for a run that several submissions share. ``sanitizer`` is the program,
    empty where there is none. ``emulated`` are the emulator's findings in each case, None where it did not
    see all. ``prestarted`` are tools that wait for launches on this GPU, if there are any.
    """

    where: Where
    gpu: Gpu
    images: Images
    new_stage: Callable[[], AbstractContextManager[Tools]]
    sanitizer: str
    races: RaceJudge
    file: str
    emulated: Mapping[int, frozenset[FindingKind]] | None
    prestarted: PrestartedTools | None = None

    def reports(self, cases: tuple[DeviceCase, ...]) -> tuple[ToolReport, ...]:
        """Reports of the tools on these cases, all tools at once."""
        names = sanitizer.tools_for(self.races) if self.sanitizer and cases else ()
        accusing = tuple(tool for tool in names if self._accuses(tool))
        others = tuple(tool for tool in names if tool not in accusing)
        if self.prestarted:
            self.prestarted.end(besides=others)
        if not names:
            return ()
        with ThreadPoolExecutor(2) as pool:
            named = pool.submit(self._named_reports, accusing, cases)
            silent = pool.submit(self._silent_reports, others, cases)
            reports = dict(named.result()) | dict(silent.result())
        left = tuple(tool for tool in names if tool not in reports)
        reports |= dict(self._named_reports(left, cases))
        return tuple(sanitizer.of_both_builds(reports[tool]) for tool in names)

    def _accuses(self, tool: str) -> bool:
        """True if a tool will have a finding, as far as the emulator has seen."""
        return self.emulated is None or bool(self._accused(tool))

    def _accused(self, tool: str) -> frozenset[int]:
        """The numbers of the cases in which a tool will find something, as far as the emulator has seen."""
        kinds, emulated = sanitizer.accused_by(tool), self.emulated or {}
        return frozenset(index for index in emulated if emulated[index] & kinds)

    def _worthwhile(self, tool: str, cases: tuple[DeviceCase, ...]) -> tuple[DeviceCase, ...]:
        """The cases that a tool gets: a few, where it only is a second witness of what the emulator saw.

        That is so of findings, whose word is enough, and of races, where the tool's word costs nothing.
        """
        if self.emulated is None or (tool in sanitizer.OF_RACES and not self.races.asks_emulator):
            return cases
        numbers = self._accused(tool)
        accused = tuple(case for case in cases if case.index in numbers)
        if not accused and tool not in sanitizer.OF_RACES:
            return cases
        return _spread(accused or cases, MOST_BORNE_OUT)

    def _silent_reports(self, names: tuple[str, ...], cases: tuple[DeviceCase, ...]) -> Named[ToolReport]:
        """Reports of tools that are silent about cases in one kernel of each build; no report of others.

        It takes less than a copy for each launch: a tool rewrites every kernel that is loaded. And others'
        launches may share the run.
        """
        if not names:
            return ()
        images = (
            (STUDENT, self.images.plain(optimised=False)),
            (GRADED, self.images.plain(optimised=True)),
        )

        def report(tool: str) -> Named[ToolReport]:
            launches = _in_both_builds(self._worthwhile(tool, cases))
            is_clear = ran_silently(
                None if self._is_prestarted(tool) else self._queue(tool),
                launches_of(images, launches),
                lambda members: self._is_silent(tool, members),
                self._most(tool),
            )
            return ((tool, sanitizer.silent_report(tool, launches)),) if is_clear else ()

        with ThreadPoolExecutor(len(names)) as pool:
            return tuple(chain.from_iterable(pool.map(report, names)))

    def _is_prestarted(self, tool: str) -> bool:
        return self.prestarted is not None and tool in self.prestarted

    def _queue(self, tool: str) -> Path | None:
        """Folder where launches wait for a run of a tool beside others; None where they share none.

        A kernel that leaves its arrays, or reads unwritten memory, as far as the emulator saw, could change
        what is a neighbour's. Among such kernels the tools still run whose silence decides nothing. A run is
        on any GPU of this model; of racecheck each GPU has its own, for it takes several times as long.
        """
        company = "clean"
        if self._goes_astray():
            if tool not in sanitizer.OF_RACES or not self.races.asks_emulator:
                return None
            company = "astray"
        gpu = self.gpu.uuid if tool == "racecheck" else self.gpu.name
        where = replace(self.where, gpu=gpu, lock="", slots=())
        command = sanitizer.command(tool, self.sanitizer)
        return queue_folder(where, self.images.tools.sandbox.name, command, company)

    def _goes_astray(self) -> bool:
        """True if a kernel leaves its arrays or reads unwritten memory, as far as the emulator has seen."""
        return self._accuses("memcheck") or self._accuses("initcheck")

    def _most(self, tool: str) -> int:
        """Most submissions that may share a run."""
        if self._goes_astray():
            return MOST_ASTRAY
        return MOST_OF_RACECHECK if tool == "racecheck" else MOST_CLEAN

    def _is_silent(self, tool: str, members: Sequence[JobLaunches]) -> bool:
        """True if a tool is silent about several submissions' launches, in a sandbox for them alone."""
        launches = merged(members)
        result = self.prestarted.result(tool, launches) if self.prestarted else None
        if result is None:
            result = self._run(tool, launches, len(members))
        return sanitizer.is_silent(tool, result, (case["name"] for case in launches.cases))

    def _run(self, tool: str, launches: JobLaunches, members: int) -> Result:
        command, files = sanitizer.command(tool, self.sanitizer), sanitizer.files(tool)
        with devices.slot(self.gpu, devices.SHARED), self._stage(members) as tools:
            return tools.sandbox.run(shared_job(self.where, launches, command, files))

    def _stage(self, members: int) -> AbstractContextManager[Tools]:
        """Sandbox of this submission for itself, and one of their own for what several share."""
        return nullcontext(self.images.tools) if members == 1 else self.new_stage()

    def _named_reports(self, names: tuple[str, ...], cases: tuple[DeviceCase, ...]) -> Named[ToolReport]:
        """Reports of the tools on cases in the -O0 and the graded build, each launch under its own name."""
        if not names:
            return ()
        launches = {tool: _in_both_builds(self._worthwhile(tool, cases)) for tool in names}
        copied = tuple({case.index: case for case in chain.from_iterable(launches.values())}.values())
        images = tuple(
            (image, self.images.copies((case for case in copied if case.image == image), optimised=optimised))
            for image, optimised in ((STUDENT, False), (GRADED, True))
        )
        with ThreadPoolExecutor(len(names)) as pool:
            reports = pool.map(lambda tool: self._named_report(tool, images, launches[tool]), names)
            return tuple(zip(names, reports, strict=True))

    def _job(
        self, tool: str, images: Named[Image], cases: tuple[DeviceCase, ...], entries: Named[str] = ()
    ) -> Job:
        return run_job(
            self.where,
            images,
            cases,
            mode="sanitize",
            entries=entries,
            tool=sanitizer.command(tool, self.sanitizer),
            tool_files=sanitizer.files(tool),
        )

    def _named_report(self, tool: str, images: Named[Image], cases: tuple[DeviceCase, ...]) -> ToolReport:
        """A tool's report; the first that comes to nothing is made once more, unless it took all its time."""
        entries = tuple((str(case.index), name_for(case.index)) for case in cases)
        job = self._job(tool, images, cases, entries)
        with devices.slot(self.gpu, devices.TOOLS):
            result = self.images.tools.sandbox.run(job)
            report = sanitizer.read(tool, result, cases, self.file)
            came_to_nothing = report.verdict == sanitizer.INCONCLUSIVE
            if self._accuses(tool) and came_to_nothing and result.outcome.status is not Status.TIME:
                return sanitizer.read(tool, self.images.tools.sandbox.run(job), cases, self.file)
            return report


def _spread(cases: tuple[DeviceCase, ...], most: int) -> tuple[DeviceCase, ...]:
    """At most ``most`` cases, the first among them, and the others at equal distances."""
    return cases[:: -(-len(cases) // most)]


def _in_both_builds(cases: tuple[DeviceCase, ...]) -> tuple[DeviceCase, ...]:
    """Launches of the -O0 build, which the student's image holds, and then of the graded build."""
    graded = (replace(c, index=c.index + sanitizer.OF_GRADED_BUILD, image=GRADED) for c in cases)
    return (*cases, *graded)


def for_tools(cases: tuple[DeviceCase, ...], races: RaceJudge) -> tuple[DeviceCase, ...]:
    """The cases for the tools, which slow a kernel down a hundredfold, in their order.

    Where the emulator has followed a launch, and its word counts, a tool is a second witness.
    """
    beside = [case for case in cases if case.followed and races.asks_emulator]
    alone = [case for case in cases if not (case.followed and races.asks_emulator)]
    chosen = _smallest(alone, ALONE_WORK) | _smallest(beside, BESIDE_WORK)
    return tuple(case for case in cases if case.index in chosen)


def _smallest(cases: list[DeviceCase], most: int) -> set[int]:
    """Numbers of the smallest cases with at most ``most`` work together, but of one at least."""
    chosen: set[int] = set()
    work = 0
    for case in sorted(cases, key=_work):
        work += _work(case)
        if chosen and work > most:
            break
        chosen.add(case.index)
    return chosen


def _work(case: DeviceCase) -> int:
    """Size of a case: its threads times the elements of its largest array's longest side."""
    grid, block = case.launch.grid, case.launch.block
    threads = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]
    shapes = [getattr(argument.value, "shape", ()) for argument in case.arguments]
    return threads * max((max(shape, default=1) for shape in shapes), default=1)
