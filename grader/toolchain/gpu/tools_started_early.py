"""Tools that are started for a submission before there is anything of it to run.

    GPU known ─begun()▶ each tool makes its context, and waits    (meanwhile: nvcc, plan, emulator)
    emulator done ─result()▶ its launches lie beside it ─▶ Result

A context under compute-sanitizer takes a second to make, half of what a check takes, and nothing of the
submission goes into it. A run that is not wanted, because the file does not compile or the emulator has seen
what the tool would find, is ended.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from grader.base import processors
from grader.base.errors import OurError
from grader.base.records import frozen
from grader.toolchain.gpu import devices, sanitizer
from grader.toolchain.gpu.request import SECONDS, TOOL_SECONDS, JobLaunches, shared_job
from grader.toolchain.gpu.tool_batches import packed
from grader.toolchain.sandbox.channel import channel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.request import Where
    from grader.toolchain.nvcc import Tools
    from grader.toolchain.sandbox import Result

PROCESSORS_FOR_ONE = 4
"""Processors of a machine for each tool that is started: the compiler keeps as many busy meanwhile."""

_NOTHING = JobLaunches({}, [], ())


@frozen
class PrestartedTools:
    """Runs of tools on one GPU that wait for launches, which each of them gets once, from any thread."""

    gpu: Gpu
    _folder: Path
    _runs: dict[str, Future[Result | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __contains__(self, tool: str) -> bool:
        """True if a tool still waits for its launches."""
        with self._lock:
            return tool in self._runs and not self._runs[tool].done()

    def result(self, tool: str, launches: JobLaunches) -> Result | None:
        """Result of these launches under a tool; None where it does not wait for any (more).

        They have as long as in a run of their own.
        """
        with self._lock:
            run = self._runs.pop(tool, None)
        if run is None or run.done():
            return None
        try:
            _deliver(launches, _archive(self._folder, tool))
            if wait((run,), TOOL_SECONDS).not_done:
                _stop(self._folder, tool)
            return run.result()
        except (OurError, OSError):  # a run that begins now may do better, or says why it cannot
            _stop(self._folder, tool)
            return None

    def end(self, besides: Collection[str] = ()) -> None:
        """End the runs that wait, ``besides`` some, without waiting for their end."""
        with self._lock:
            for tool in self._runs.keys() - set(besides):
                del self._runs[tool]
                _stop(self._folder, tool)


@contextmanager
def started_tools(
    names: tuple[str, ...],
    where: Where,
    gpu: Gpu,
    program: str,
    new_stage: Callable[[Path], AbstractContextManager[Tools]],
) -> Iterator[PrestartedTools]:
    """The tools ``names`` of compute-sanitizer, which is ``program``, started for as long as the block lasts.

    ``new_stage`` makes a sandbox whose jobs see a folder. Where the machine's slots for tools are taken, or
    its processors are few, the others are not started, and begin when they have something to do; racecheck
    takes longest and is first. Raises OurError or OSError where none can be started.
    """
    with channel() as folder, ThreadPoolExecutor(max(1, len(names))) as threads:

        def run(tool: str, slot: ExitStack) -> Result | None:
            archive, stop_file = _archive(folder, tool), _stop_file(folder, tool)
            command, files = sanitizer.command(tool, program), sanitizer.files(tool)
            job = shared_job(where, _NOTHING, command, files, awaits=str(archive))
            limits = replace(job.limits, wall_seconds=job.limits.wall_seconds + SECONDS["await"])
            with slot:
                if stop_file.exists():
                    return None
                with new_stage(folder) as tools:
                    return tools.sandbox.run(replace(job, limits=limits, stop_file=str(stop_file)))

        runs: dict[str, Future[Result | None]] = {}
        prestarted = PrestartedTools(gpu, folder, runs)
        in_turn = sorted(names, key=lambda tool: tool != "racecheck")
        most = processors.available() // PROCESSORS_FOR_ONE
        try:
            for tool in in_turn[:most]:
                with ExitStack() as stack:
                    if stack.enter_context(devices.slot_if_free(gpu, devices.SHARED)):
                        runs[tool] = threads.submit(run, tool, stack.pop_all())
            yield prestarted
        finally:
            prestarted.end()


def _deliver(launches: JobLaunches, archive: Path) -> None:
    """Put launches where a run waits for them: whole as soon as they are there."""
    beginning = archive.with_suffix(".new")
    beginning.write_bytes(packed(launches))
    beginning.chmod(0o644)  # jobs of a container run as another user
    beginning.rename(archive)


def _stop(folder: Path, tool: str) -> None:
    with suppress(OSError):  # the disk is full: the run ends by itself after the time that it waits
        _stop_file(folder, tool).touch()


def _archive(folder: Path, tool: str) -> Path:
    return folder / f"{tool}.zip"


def _stop_file(folder: Path, tool: str) -> Path:
    return folder / f"{tool}.over"
