"""Whether the chain of tools sees anything at all: a planted bug for each must come back as a finding.

A driver that a tool does not know, a container that hides a library: then a tool ends well and reports
nothing, and everybody would pass. `missed` says so before anybody is graded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.gpu.entries import name_for
from grader.gpu.request import DeviceCase
from grader.gpu.sanitizer import KINDS, TOOLS
from grader.model import Argument, FindingKind, Launch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.gpu.sanitizer import ToolReport
    from grader.model import Named

NAME = "planted.cu"
"""What the planted bugs' file is called in findings."""

THREADS = 64
RIGHT = 0
"""The number of the case whose kernel has no bug."""

_ORDER = ("racecheck", "initcheck", "synccheck", "memcheck")
"""Whose bugs the next cases are; a launch that memcheck stops comes last, whatever it leaves behind."""

_MARK = re.compile(r"// planted: (\w+)$")


class Planted(NamedTuple):
    """A tool's bug: the number of its case, the finding to come of it, and the lines that may be named.

    Of two barriers that do not meet either may be the one that is told.
    """

    tool: str
    case: int
    kind: FindingKind
    lines: tuple[int, ...]


@lru_cache(maxsize=1)
def source() -> str:
    """The planted bugs, to be compiled without optimisation and with lines, under any name."""
    return Path(__file__).with_name(NAME).read_text("utf-8")


def planted(tool: str) -> Planted:
    """The bug that ``tool`` must find."""
    marks = ((line, _MARK.search(text)) for line, text in enumerate(source().splitlines(), 1))
    lines = tuple(line for line, mark in marks if mark is not None and mark[1] == tool)
    return Planted(tool, RIGHT + 1 + _ORDER.index(tool), KINDS[tool], lines)


def cases() -> tuple[DeviceCase, ...]:
    """All launches, for every tool: the kernel that is right, then those with bugs.

    The ``out`` array is not written before the launch when the harness runs under a tool.
    """
    given = Argument("in", "in", np.arange(1, THREADS + 1, dtype=np.float32))
    left = Argument("out", "out", np.full(THREADS, np.nan, np.float32))
    launch = Launch((1, 1, 1), (THREADS, 1, 1))
    return tuple(DeviceCase(index, launch, (given, left)) for index in range(len(_ORDER) + 1))


def entries() -> Named[str]:
    """The kernel of each case, by its number, as `run_job` takes them."""
    return tuple((str(case.index), name_for(case.index)) for case in cases())


def missed(reports: tuple[ToolReport, ...], tools: Iterable[str] = TOOLS) -> tuple[str, ...]:
    """A sentence for each of ``tools`` that misses its bug, or accuses the kernel that is right."""
    told = {report.tool: report for report in reports}
    return tuple(said for tool in tools if (said := _missed(planted(tool), told.get(tool))))


def _missed(bug: Planted, report: ToolReport | None) -> str:
    if report is None:
        return f"{bug.tool} was not run"
    found = [f for f in report.of(str(bug.case)) if f.kind is bug.kind and f.line in bug.lines]
    if not found:
        why = f": {report.reason}" if report.reason else ""
        where = " or ".join(map(str, bug.lines))
        return f"{bug.tool} did not find the planted {bug.kind} on line {where} of {NAME}{why}"
    if report.of(str(RIGHT)):
        return f"{bug.tool} accuses the kernel of {NAME} that has no bug: {report.of(str(RIGHT))[0].message}"
    if report.doubt(str(RIGHT)):
        return f"{bug.tool} could not clear the kernel of {NAME} that has no bug: {report.doubt(str(RIGHT))}"
    return ""
