"""Rate the hazards found in the labelled kernels: `python -m tests.simulation.emulator.hazard_report`.

- recall: of the racy kernels, those with a finding;
- precision: of the kernels with a finding, the racy ones;
- lines: of the findings that were expected or made in racy kernels, those that were both, with the same kind
  of hazard, both lines, the array and the severity.

Each is printed for every family (file) and overall, and below the table what differs from the labels.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from tests.simulation.emulator import nvcc
from tests.simulation.emulator.labelled import Kernel, finding_key, findings, kernels, sources

if TYPE_CHECKING:
    from grader.simulation.ptx import Module
    from tests.simulation.emulator.labelled import Expected


@dataclass
class Tally:
    """Counts over some kernels; ``lines_right`` of ``lines`` findings are exactly as labelled."""

    racy: int = 0
    racy_found: int = 0
    clean: int = 0
    clean_accused: int = 0
    lines: int = 0
    lines_right: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, label: str, kernel: Kernel, got: frozenset[Expected]) -> None:
        """Count one kernel's findings."""
        if kernel.expected:
            self.racy += 1
            self.racy_found += bool(got)
            self.lines += len(kernel.expected | got)
            self.lines_right += len(kernel.expected & got)
        else:
            self.clean += 1
            self.clean_accused += bool(got)
        self.differences += [
            f"{label}: not finding_key: {_spelt(each)}" for each in sorted(kernel.expected - got, key=str)
        ]
        self.differences += [
            f"{label}: not expected: {_spelt(each)}" for each in sorted(got - kernel.expected, key=str)
        ]

    def __add__(self, other: Tally) -> Tally:
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return Tally(*(one + two for one, two in pairs))

    @property
    def recall(self) -> float:
        """Of the racy kernels, those with a finding."""
        return _share(self.racy_found, self.racy)

    @property
    def precision(self) -> float:
        """Of the kernels with a finding, the racy ones."""
        return _share(self.racy_found, self.racy_found + self.clean_accused)

    @property
    def line_accuracy(self) -> float:
        """Of the findings expected or made in racy kernels, those that are both."""
        return _share(self.lines_right, self.lines)

    def row(self, name: str) -> str:
        """A line of the table."""
        shares = (self.recall, self.precision, self.line_accuracy)
        return f"{name:<24}{self.racy:>6}{self.clean:>7}" + "".join(f"{share:>11.1%}" for share in shares)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _spelt(each: Expected) -> str:
    return " ".join(str(word) for word in each if word not in ("", None))


def tally(name: str, source: str, module: Module) -> Tally:
    """Run all kernels of one file; what we cannot run counts as not found."""
    total = Tally()
    for kernel in kernels(source):
        label = f"{name}:{kernel.name}"
        try:
            got = frozenset(finding_key(each) for each in findings(module, name, kernel))
        except OurError as ours:
            got = frozenset()
            total.differences.append(f"{label}: {ours}")
        total.add(label, kernel, got)
    return total


def report(chosen: dict[str, str]) -> tuple[str, Tally]:
    """The table for some files, and the overall tally."""
    modules = nvcc.compile_all(chosen, nvcc.HAZARDS)
    families = {name: tally(name, source, modules[name]) for name, source in chosen.items()}
    overall = sum(families.values(), Tally())
    head = f"{'family':<24}{'racy':>6}{'clean':>7}{'recall':>11}{'precision':>11}{'lines':>11}"
    rows = [each.row(name.removesuffix(".cu")) for name, each in families.items()]
    return "\n".join([head, *rows, overall.row("overall"), "", *overall.differences]).rstrip(), overall


def main(names: list[str]) -> int:
    """Print the report, of all files or the named ones; 0 if everything is as labelled."""
    text, overall = report({name: text for name, text in sources().items() if not names or name in names})
    sys.stdout.write(text + "\n")
    return 1 if overall.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
