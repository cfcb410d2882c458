"""Whether a class, which is strangers' files, can be graded here: tried in the sandbox that `grade` takes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader import backends, sandbox_choice
from grader.doctor import gpus
from grader.doctor.examination import find_planted_race
from grader.doctor.report_line import Mark, ReportLine
from grader.errors import GraderError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.gpu.devices import Gpu
    from grader.nvcc import Tools

LEAST_BYTES = 2**30
"""Free space below which a class may fill a disk: the reports of a submission take some 200 KB."""

_WITHOUT_GPU = "grade with --backend emulator, and no GPU is asked"

_SANDBOX, _SPACE, _OUT = "sandbox", "space", "out"


@dataclass(frozen=True, slots=True)
class ClassWishes:
    """How a class would be graded: as `grade` understands its options of these names."""

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


def _about_gpus(tools: Tools, usable: tuple[Gpu, ...]) -> Iterator[ReportLine]:
    """A trial of each in the sandbox of a class, as before a batch, which is refused where none is well."""
    lines = list(gpus.trials(tools, usable))
    yield from lines
    if not any(line.mark is Mark.OK for line in lines):
        yield ReportLine(
            Mark.PROBLEM, "gpu", "none was well in its trial, so a class is refused", _WITHOUT_GPU
        )


def _about_sandbox(tools: Tools, *, trusted: bool, gpu: bool) -> ReportLine:
    """What is around a class; a kernel is compiled in it."""
    find_planted_race(tools.toolchain, tools.sandbox)
    if tools.sandbox.shuts_in:
        return ReportLine(Mark.OK, _SANDBOX, f"{tools.sandbox.name}: a kernel was compiled in it")
    state = f"{tools.sandbox.name}: nothing shuts strangers' files in"
    if trusted:
        return ReportLine(Mark.NONE, _SANDBOX, f"{state}; GRADER_TRUST=1 says that all files are trusted")
    fix = f"`grader doctor --build-image gpu`; or {_WITHOUT_GPU}" if gpu else sandbox_choice.HOW_TO_TRUST
    return ReportLine(Mark.PROBLEM, _SANDBOX, f"{state}, so a class is refused", fix)


def _about_space(folder: Path, what: str) -> ReportLine:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as problem:
        return ReportLine(Mark.PROBLEM, _SPACE, f"{folder}, for {what}: {problem.strerror}")
    state = f"{free / 2**30:,.1f} GiB free in {folder}, for {what}"
    if free < LEAST_BYTES:
        return ReportLine(Mark.PROBLEM, _SPACE, state, "make room: less than 1 GiB may not last for a class")
    return ReportLine(Mark.OK, _SPACE, state)


def _about_out(out: Path | None) -> Iterator[ReportLine]:
    """Whether grades can be written and their folder be locked; nothing is made there that stays."""
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
    made = "" if out.is_dir() else f", where {out.name} will be made"
    yield ReportLine(Mark.OK, _OUT, f"a file was written and locked in {folder}{made}")
    yield _about_space(folder, "grades")
