"""Reading the labelled kernels in `races/`: what they are launched with and what should be found.

A comment ``// launch: grid 2 2, block 8 8, shared 0: in float32[4,5], out int32[7] below 8, 15`` holds
for the kernels after it; arguments are arrays (random, ``below 8``, or ``all 0``) or whole numbers. On a line
of code a comment may hold markers, separated by semicolons:

- ``@name`` names the line;
- ``race RAW array @name``: this line's access is the later one of a race with the named line, or with
  ``here`` for itself; ``race warning …`` and ``race info …`` where it is no error;
- another kind of finding, such as ``barrier-divergence``, stands for itself, and ``info barrier-divergence``
  for a remark;
- ``hangs``, on the kernel's first line: on a device it may never end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.model import Argument, FindingKind, Launch
from grader.simulation.emulator.launch import run

if TYPE_CHECKING:
    from grader.model import Dim3, Finding
    from grader.simulation.ptx import Module

_KERNEL = re.compile(r'extern "C" __global__ void (?P<name>\w+)')
_LAUNCH = re.compile(
    r"// launch: grid (?P<grid>[\d ]+), block (?P<block>[\d ]+)(, shared (?P<shared>\d+))?: (?P<rest>.*)"
)
_ARRAY = re.compile(
    r"(?P<direction>inout|in|out) (?P<dtype>\w+)\[(?P<shape>[\d,]+)\]"
    r"(?: below (?P<below>\d+)| all (?P<all>-?\d+))?"
    r"|(?P<number>-?\d+)"
)
_RACE = re.compile(
    r"race (?:(?P<severity>warning|info) )?(?P<hazard>RAW|WAR|WAW) (?P<array>\w+) (?:@(?P<other>\w+)|here)"
)


class Expected(NamedTuple):
    """The identity of a finding: the array is the part of its address before the brackets."""

    kind: str
    hazard: str
    line: int | None
    other_line: int | None
    array: str
    severity: str


@dataclass(frozen=True)
class Kernel:
    """A labelled kernel: its code without comments, how it is launched, and what should be found."""

    name: str
    code: tuple[str, ...]
    launch: Launch
    parameters: str
    expected: frozenset[Expected]
    hangs: bool = False

    def arguments(self, names: list[str]) -> tuple[Argument, ...]:
        """Random arrays and the numbers, by the names of the kernel's parameters."""
        rng = np.random.default_rng(7)
        found = []
        for name, match in zip(names, _ARRAY.finditer(self.parameters), strict=True):
            if match["number"]:
                found.append(Argument(name, "value", np.int32(match["number"])))
                continue
            shape = tuple(map(int, match["shape"].split(",")))
            if match["all"]:
                values = np.full(shape, int(match["all"]), match["dtype"])
            elif match["dtype"].startswith("float"):
                values = rng.standard_normal(shape).astype(match["dtype"])
            else:
                values = rng.integers(0, int(match["below"] or 100), shape).astype(match["dtype"])
            found.append(Argument(name, match["direction"], values))
        return tuple(found)

    def parameter_names(self) -> list[str]:
        """The names in the parameter list."""
        inside = self.code[0].split("(", 1)[1].split(")")[0]
        return [part.split()[-1].lstrip("*") for part in inside.split(",")]


def finding_key(finding: Finding) -> Expected:
    """The identity of a finding that was made."""
    array = finding.address.split("[")[0] if finding.kind is FindingKind.RACE else ""
    return Expected(finding.kind, finding.hazard, finding.line, finding.other_line, array, finding.severity)


def sources() -> dict[str, str]:
    """The files of labelled kernels by name, one per family."""
    return {path.name: path.read_text() for path in sorted((Path(__file__).parent / "races").glob("*.cu"))}


def findings(module: Module, name: str, kernel: Kernel) -> tuple[Finding, ...]:
    """The emulator's findings in one launch of a kernel of the file ``name``."""
    arguments = kernel.arguments(kernel.parameter_names())
    return run(module, kernel.name, kernel.launch, arguments, detect=True, source=name, file=name).findings


def kernels(source: str) -> list[Kernel]:
    """All kernels of a file."""
    lines = source.split("\n")
    launch, begun, found_kernels = None, 0, []
    for number, line in enumerate(lines, 1):
        if match := _LAUNCH.fullmatch(line):
            launch = match
        elif _KERNEL.match(line):
            begun = number
        elif line == "}" and begun:
            assert launch, "no launch comment before the kernel"
            found_kernels.append(_kernel(lines[begun - 1 : number], begun, launch))
            begun = 0
    return found_kernels


def _kernel(lines: list[str], first: int, launch: re.Match[str]) -> Kernel:
    match = _KERNEL.match(lines[0])
    assert match
    code = tuple(line.split("//")[0].strip() for line in lines)
    shape = Launch(_extents(launch["grid"]), _extents(launch["block"]), int(launch["shared"] or 0))
    hangs = lines[0].endswith("// hangs")
    expected = frozenset(_expected([code[0], *lines[1:]], first))
    return Kernel(match["name"], code, shape, launch["rest"], expected, hangs)


def _extents(text: str) -> Dim3:
    x, y, z = [*map(int, text.split()), 1, 1][:3]
    return x, y, z


def _expected(lines: list[str], first: int) -> list[Expected]:
    markers = [
        (number, marker.strip())
        for number, line in enumerate(lines, first)
        if line.split("//")[0].strip() and "//" in line
        for marker in line.split("//", 1)[1].split(";")
    ]
    names = {marker[1:]: number for number, marker in markers if re.fullmatch(r"@\w+", marker)}
    expected = []
    for number, marker in markers:
        if match := _RACE.fullmatch(marker):
            other = names[match["other"]] if match["other"] else number
            severity = match["severity"] or "error"
            expected.append(Expected("race", match["hazard"], number, other, match["array"], severity))
        elif not marker.startswith("@"):
            remark, kind = marker.startswith("info "), FindingKind(marker.removeprefix("info "))
            expected.append(Expected(kind, "", number, None, "", "info" if remark else "error"))
    return expected
