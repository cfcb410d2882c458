"""The emulator's findings and those of the tools side by side, as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.simulation.emulator.labelled import Expected
    from tests.simulation.emulator.sanitizer_log import Report

TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")


@dataclass
class Outcome:
    """The end of a kernel (``ended``, ``hung``, ``failed``, ``not launched``), and a tool's reports on it."""

    state: str = "not launched"
    reports: list[Report] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True)
class Row:
    """A kernel: its labels, the emulator's findings, and the outcome under each tool."""

    file: str
    kernel: str
    expected: list[Expected]
    emulator: list[Expected]
    tools: dict[str, Outcome]

    def reported_by_tools(self) -> bool:
        """Return whether any tool reports anything."""
        return any(outcome.reports for outcome in self.tools.values())


Condition: TypeAlias = "Callable[[Row], bool]"


def markdown(about: Mapping[str, str], rows: Sequence[Row]) -> str:
    """The whole report: who found how many, where they differ, and every kernel."""
    parts = [
        "# Labelled kernels in the emulator and under compute-sanitizer\n",
        *(f"- {name}: {value}" for name, value in about.items()),
        f"- kernels: {len(rows)}\n",
        _summary(rows),
        "## Racy kernels in which no tool reports anything\n",
        _names(row for row in rows if row.expected and not row.reported_by_tools()),
        "## Clean kernels in which a tool reports something\n",
        _names(row for row in rows if not row.expected and row.reported_by_tools()),
        "## Kernels where the emulator differs from the labels\n",
        _names(row for row in rows if set(row.expected) != set(row.emulator)),
        "## Kernels that hung, failed or were not launched\n",
        _names(row for row in rows if any(outcome.state != "ended" for outcome in row.tools.values())),
        "## All kernels\n",
        _all(rows),
    ]
    return "\n".join(parts) + "\n"


def _summary(rows: Sequence[Row]) -> str:
    """Racy kernels found and clean ones accused, by the emulator, each tool and all tools together."""
    racy = [row for row in rows if row.expected]
    clean = [row for row in rows if not row.expected]

    def line(name: str, reported: Condition) -> str:
        found, accused = sum(map(reported, racy)), sum(map(reported, clean))
        return f"| {name} | {found} of {len(racy)} | {accused} of {len(clean)} |"

    def by(tool: str) -> Condition:
        return lambda row: bool(row.tools[tool].reports)

    lines = [
        "| | racy, found | clean, accused |",
        "|---|---|---|",
        line("emulator", lambda row: bool(row.emulator)),
    ]
    lines += [line(tool, by(tool)) for tool in TOOLS]
    return "\n".join([*lines, line("any tool", Row.reported_by_tools), ""])


def _names(rows: Iterable[Row]) -> str:
    return "".join(f"- {row.file}: {row.kernel}\n" for row in rows) or "none\n"


def _all(rows: Sequence[Row]) -> str:
    lines = ["| kernel | label | emulator | " + " | ".join(TOOLS) + " |", "|---" * (3 + len(TOOLS)) + "|"]
    for row in rows:
        cells = [
            _spelt(row.expected),
            "as labelled" if set(row.expected) == set(row.emulator) else _spelt(row.emulator),
        ]
        cells += [tool_verdict(row.tools[tool]) for tool in TOOLS]
        lines.append(f"| {row.file.removesuffix('.cu')}: {row.kernel} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _spelt(findings: Iterable[Expected]) -> str:
    """`race RAW row 12←10`: the later line, then the earlier."""
    return "<br>".join(_finding(each) for each in findings) or "–"


def _finding(each: Expected) -> str:
    lines = f"{each.line}←{each.other_line}" if each.other_line else f"{each.line}"
    severity = f"({each.severity})" if each.severity != "error" else ""
    return " ".join(word for word in (each.kind, each.hazard, each.array, lines, severity) if word)


def tool_verdict(outcome: Outcome) -> str:
    """A tool's reports, each kind and place once; and the end of the kernel, unless it ended in order."""
    parts = [
        f"{report.kind} {report.what} {', '.join(map(str, report.lines))} ×{report.times}".replace("  ", " ")
        for report in outcome.reports
    ]
    if outcome.state != "ended":
        parts.append(f"**{outcome.state}**")
    return "<br>".join(parts).replace("|", "/") or "–"
