"""The whole examination of this machine, what follows from it, and whether a class can be graded here.

Part of it is a kernel with a race that we planted: compiled in a sandbox and run on the emulator, which must
find the race. A class is strangers' files: that it can be graded is tried in the sandbox that `grade` takes.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader.authoring.doctor import Mark, ReportLine, containers, gpus
from grader.base.data_files import package_data
from grader.base.errors import GraderError, OurError, StorageError
from grader.base.records import frozen
from grader.grading.assignment.bundled import IN_A_CLONE
from grader.model import Argument, FindingKind, KernelInterface, Launch, Parameter, Submission
from grader.running import backends
from grader.simulation.emulator.core.library import library
from grader.toolchain import sandbox_choice
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import HOW_TO_GET_NVDISASM, build, find_toolchain
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.nvcc import Toolchain, Tools
    from grader.toolchain.sandbox import Sandbox

_TRIAL = "gpu trial"
_ANOTHER_CACHE = "let yourself write there, or name a folder for caches in XDG_CACHE_HOME"
_HOW_TO_GET_CORE = "with a C++ compiler at hand: python -m grader.toolchain.core_library"

_SANDBOX, _SPACE, _OUT, _STAFF = "sandbox", "space", "out", "staff"


def examine(nvcc: str | None, builds: Path | None) -> Iterator[ReportLine]:
    """A line for each thing that was tried; ``builds`` is where builds are kept, None where they are not."""
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield ReportLine(Mark.OK, "python", system)
    try:
        toolchain = find_toolchain(nvcc)
    except StorageError as problem:
        yield ReportLine(Mark.PROBLEM, _SPACE, "nothing can be tried", str(problem))
        return
    except OurError as problem:
        yield ReportLine(Mark.PROBLEM, "compiler", "no working nvcc", str(problem))
        return
    yield ReportLine(Mark.OK, "compiler", f"nvcc {toolchain.version} at {toolchain.nvcc}")
    yield _disassembler(toolchain)
    yield _line_of_attempt("emulator", lambda: _planted_race(toolchain))
    if library() is None:
        what = "without its native core it takes longer, and no speed is estimated"
        yield ReportLine(Mark.NONE, "emulator", what, _HOW_TO_GET_CORE)
    yield _cache(builds)
    yield from containers.examine()
    yield containers.about_bubblewrap()
    yield from _gpus(nvcc, builds)


def _disassembler(toolchain: Toolchain) -> ReportLine:
    """Report whether an estimate of speed has a tool that reads machine code; all else goes without it."""
    if toolchain.nvdisasm:
        return ReportLine(Mark.OK, "estimate", f"nvdisasm at {toolchain.nvdisasm}")
    state = "no nvdisasm: speed is not estimated, and all else goes without it"
    return ReportLine(Mark.NONE, "estimate", state, HOW_TO_GET_NVDISASM)


def can_grade(lines: Iterable[ReportLine]) -> bool:
    """True if nothing is missing that grading needs."""
    return not any(line.stops for line in lines)


def needs_own_assignment(for_class: Iterable[ReportLine]) -> bool:
    """True if the grader's own assignments are here as students have them: no class is graded on them."""
    return any(line.subject == _STAFF for line in for_class)


def uses_gpu(lines: Iterable[ReportLine]) -> bool:
    """True if a GPU was tried and all is well with it: containers and their images are another matter."""
    others = [line for line in lines if line.subject not in containers.SUBJECTS]
    tried = any(line.subject == _TRIAL and line.mark is Mark.OK for line in others)
    return tried and not any(line.mark is Mark.PROBLEM for line in others)


def _gpus(nvcc: str | None, cache: Path | None) -> Iterator[ReportLine]:
    """Report on GPUs; a driver that does not answer is no reason to stop."""
    try:
        usable = () if devices.missing_libraries() else devices.visible(devices.find_gpus())
        yield from gpus.examine(
            sandbox_choice.tools_for(usable, sandbox_choice.LOCAL, nvcc, cache, strangers=False)
        )
    except GraderError as problem:
        yield ReportLine(Mark.PROBLEM, "gpu", "does not work", str(problem), needed=False)


def _line_of_attempt(name: str, attempt: Callable[[], str]) -> ReportLine:
    try:
        return ReportLine(Mark.OK, name, attempt())
    except (GraderError, OSError) as problem:
        return ReportLine(Mark.PROBLEM, name, "does not work", str(problem))


def _planted_race(toolchain: Toolchain) -> str:
    find_planted_race(toolchain, LocalSandbox())
    return "compiled a kernel, ran it and found its planted race"


def _cache(builds: Path | None) -> ReportLine:
    """Report whether builds are kept; without it all is built anew each time, and that is all."""
    if builds is None:
        return ReportLine(
            Mark.UNKNOWN,
            "cache",
            "not looked for: no build is kept with --no-cache, nor without a home folder",
        )
    try:
        builds.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=builds):
            return ReportLine(Mark.OK, "cache", f"builds are kept in {builds}")
    except OSError as problem:
        state = f"no file can be written in {builds}: {problem.strerror}; each check compiles anew"
        return ReportLine(Mark.PROBLEM, "cache", state, _ANOTHER_CACHE, needed=False)


_PLANTED = b"""
extern "C" __global__ void planted(int *out) {
    __shared__ int cell[64];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[63 - threadIdx.x];
}
"""


def find_planted_race(toolchain: Toolchain, sandbox: Sandbox) -> None:
    """Raise OurError unless the kernel compiles in the sandbox and its race is reported where it is."""
    import numpy as np  # noqa: PLC0415 - takes long to load

    from grader.running.backends.emulated_kernel import EmulatedKernel  # noqa: PLC0415 - the same

    interface = KernelInterface("planted", (Parameter("out", "out", "int32"),), (), (), ())
    submission = Submission("planted", "planted.cu", _PLANTED, "")
    built = build(submission, interface, sandbox=sandbox, toolchain=toolchain, cache=None)
    if not built.ok:
        reasons = "; ".join(finding.message for finding in built.findings) or built.error
        raise OurError(f"a known-good kernel does not compile: {reasons}")
    kernel = EmulatedKernel(built, built.source_name, "planted.cu")
    argument = Argument("out", "out", np.zeros(64, np.int32))
    result = kernel.launch(Launch((1, 1, 1), (64, 1, 1)), (argument,))
    races = [finding for finding in result.findings if finding.kind is FindingKind.RACE]
    if len(races) != 1 or (races[0].line, races[0].other_line) != (5, 4):
        raise OurError("a planted race was not found where it is; do not grade with this installation")


LEAST_BYTES = 2**30
"""Free space below which a class may fill a disk: the reports of a submission take some 200 KB."""

_FOR_STUDENTS = "hidden cases and solutions are not installed: students have the same"
_STAFF_FILES = f"name one of your own by its folder, or {IN_A_CLONE}"
_WITHOUT_GPU = "grade with --backend emulator, and no GPU is asked"


@frozen
class ClassWishes:
    """Settings for grading a class: as `grade` understands its options of these names."""

    sandbox: str
    trusted: bool
    nvcc: str | None
    builds: Path | None
    out: Path | None


def examine_class(wishes: ClassWishes) -> Iterator[ReportLine]:
    """A line for each thing that a class needs beyond one's own file; there must be a compiler."""
    try:
        usable, _ = backends.usable_gpus(backends.AUTO)
        tools = sandbox_choice.tools_for(usable, wishes.sandbox, wishes.nvcc, wishes.builds, strangers=True)
        yield _about_sandbox(tools, trusted=wishes.trusted, gpu=bool(usable))
        if usable:
            yield from _about_gpus(tools, usable)
    except GraderError as problem:
        yield ReportLine(Mark.PROBLEM, _SANDBOX, f"{wishes.sandbox}: does not work", str(problem))
    yield _about_space(Path(tempfile.gettempdir()), "temporary files")
    yield from _about_out(wishes.out)
    if package_data().is_dir():
        yield ReportLine(Mark.NONE, _STAFF, _FOR_STUDENTS, _STAFF_FILES)


def _about_gpus(tools: Tools, usable: tuple[Gpu, ...]) -> Iterator[ReportLine]:
    """A trial of each in the sandbox of a class, as before a batch, which is refused where none is well."""
    lines = list(gpus.trials(tools, usable))
    yield from lines
    if not any(line.mark is Mark.OK for line in lines):
        yield ReportLine(
            Mark.PROBLEM, "gpu", "none was well in its trial, so a class is refused", _WITHOUT_GPU
        )


def _about_sandbox(tools: Tools, *, trusted: bool, gpu: bool) -> ReportLine:
    """Report on the sandbox around a class; a kernel is compiled in it."""
    find_planted_race(tools.toolchain, tools.sandbox)
    if tools.sandbox.shuts_in:
        return ReportLine(Mark.OK, _SANDBOX, f"{tools.sandbox.name}: a kernel was compiled in it")
    state = f"{tools.sandbox.name}: nothing shuts strangers' files in"
    if trusted:
        return ReportLine(Mark.NONE, _SANDBOX, f"{state}; GRADER_TRUST=1 says that all files are trusted")
    fix = f"`grader doctor --build-image gpu`; or {_WITHOUT_GPU}" if gpu else sandbox_choice.HOW_TO_TRUST
    return ReportLine(Mark.PROBLEM, _SANDBOX, f"{state}, so a class is refused", fix)


def _about_space(folder: Path, purpose: str) -> ReportLine:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as problem:
        return ReportLine(Mark.PROBLEM, _SPACE, f"{folder}, for {purpose}: {problem.strerror}")
    state = f"{free / 2**30:,.1f} GiB free in {folder}, for {purpose}"
    if free < LEAST_BYTES:
        return ReportLine(Mark.PROBLEM, _SPACE, state, "make room: less than 1 GiB may not last for a class")
    return ReportLine(Mark.OK, _SPACE, state)


def _about_out(out: Path | None) -> Iterator[ReportLine]:
    """Report whether grades can be written and their folder locked; nothing is made there that stays."""
    if out is None:
        yield ReportLine(
            Mark.UNKNOWN, _OUT, "not looked for: where grades go was not said", "name the folder with -o OUT"
        )
        return
    folder = next(path for path in (out.absolute(), *out.absolute().parents) if os.path.lexists(path))
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        state = f"no file can be written and locked in {folder}: {problem.strerror}"
        yield ReportLine(Mark.PROBLEM, _OUT, state, "choose another folder with -o")
        return
    remark = "" if out.is_dir() else f", where {out.name} will be made"
    yield ReportLine(Mark.OK, _OUT, f"a file was written and locked in {folder}{remark}")
    yield _about_space(folder, "grades")
