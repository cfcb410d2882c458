"""Honest programs at the edges of what is allowed: full marks in every sandbox, and nothing against any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.kinds import pipeline
from grader.kinds.program import stages as programs
from grader.model import (
    Assignment,
    CasePlan,
    ProgramInterface,
    ProgramRun,
    RubricItem,
    Submission,
    Verdict,
)
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import read_table
from tests.sandboxed import in_bubblewraps, in_containers

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Named

FOLDER = Path(__file__).parent / "programs"
TABLE: dict[str, dict[str, Any]] = read_table(FOLDER.parent / "programs.yaml")
_KEYS = {
    "arguments", "files", "status", "stderr_bytes", "stderr_matches", "stdin", "stdin_lines", "stdout",
    "stdout_bytes", "stdout_matches",
}  # fmt: skip


def _text(value: str | dict[str, Any]) -> str:
    """A text of the table, or one that is repeated."""
    return value if isinstance(value, str) else str(value["text"]) * int(value["times"])


@dataclass(frozen=True, slots=True)
class Honest:
    """A program, what it is given and what must come of it."""

    name: str
    entry: dict[str, Any]

    @property
    def submission(self) -> Submission:
        """The submission that a student would hand in."""
        return Submission(self.name, f"{self.name}.cu", (FOLDER / f"{self.name}.cu").read_bytes(), "")

    @property
    def assignment(self) -> Assignment:
        """One case, and an item for each thing that an assignment can ask of it."""
        lines = "".join(f"{number}\n" for number in range(1, self.entry.get("stdin_lines", 0) + 1))
        given = CasePlan(
            "only",
            (),
            arguments=tuple(self.entry.get("arguments", ())),
            stdin=lines or _text(self.entry.get("stdin", "")),
        )
        items = [
            RubricItem("compiles", "", Fraction(1), "compile"),
            RubricItem("ends", "", Fraction(1), "exit", options=(("status", self.entry.get("status", 0)),)),
            *self._texts(),
        ]
        return Assignment(
            self.name, self.name, "", ProgramInterface(), (given,), tuple(items), None, FOLDER, self.name
        )

    def _texts(self) -> list[RubricItem]:
        """Return items for the standard output and the files that the table lists."""
        wanted: list[Named[Any]] = []
        if "stdout" in self.entry:
            wanted.append((("of", "stdout"), ("exact", _text(self.entry["stdout"]))))
        wanted.extend((("of", name), ("exact", text)) for name, text in self.entry.get("files", {}).items())
        return [
            RubricItem(f"text-{number}", "", Fraction(1), "text", options=options)
            for number, options in enumerate(wanted)
        ]

    def complaints(self, run: ProgramRun) -> list[str]:
        """Return the deviations of the run itself from the table, where no item can ask for them."""
        found = []
        for stream, content in (("stdout", run.stdout), ("stderr", run.stderr)):
            size, pattern = self.entry.get(f"{stream}_bytes"), self.entry.get(f"{stream}_matches")
            if size is not None and len(content) != size:
                found.append(f"{stream} has {len(content)} bytes")
            if pattern is not None and not re.search(pattern, content.decode(errors="replace")):
                found.append(f"{stream} is {content[:200]!r}")
        return found


PROGRAMS = {name: Honest(name, entry) for name, entry in TABLE.items()}


def _local() -> Tools:
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


SANDBOXES = [
    pytest.param(_local, marks=pytest.mark.slow, id="local"),
    pytest.param(in_bubblewraps, marks=(pytest.mark.docker, pytest.mark.slow), id="bubblewrap"),
    pytest.param(in_containers, marks=(pytest.mark.docker, pytest.mark.slow), id="docker"),
]


@pytest.mark.parametrize("make_tools", SANDBOXES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_honest_program_has_full_marks(name: str, make_tools: Callable[[], Tools]) -> None:
    """It compiles, ends as it should, prints what it should, and has no findings."""
    honest, tools = PROGRAMS[name], make_tools()
    plan = pipeline.make_plan(honest.assignment, 1, tools, visible_only=False)
    built = build_program(tools, honest.submission, honest.assignment.program)
    assert [built.ok, built.error, built.findings, built.calls_device] == [True, "", (), False]
    evidence, _ = programs.gather(plan, honest.submission, built, tools)
    grade = pipeline.judge(plan, honest.submission, evidence)
    messages = [f"{each.result.item.check}: {each.result.message}" for each in grade.items]
    assert (grade.verdict, grade.error) == (Verdict.PASS, ""), messages
    assert grade.score == grade.max_score == len(honest.assignment.rubric)
    assert [finding for each in grade.items for finding in each.result.findings] == []
    (case,) = evidence.cases
    assert case.program is not None
    assert honest.complaints(case.program) == []


def test_every_program_is_in_the_table() -> None:
    """The folder and its table name the same files, and the table lists what must come of each."""
    assert sorted(PROGRAMS) == sorted(path.stem for path in FOLDER.glob("*.cu"))
    for name, entry in TABLE.items():
        assert set(entry) <= _KEYS, name
        assert set(entry) & {"stdout", "stdout_bytes", "stdout_matches"}, name


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_states_what_is_honest_about_it(name: str) -> None:
    """In the comment at its top."""
    assert (FOLDER / f"{name}.cu").read_text("utf-8").startswith("// honest: ")


def test_there_are_at_least_thirty_programs() -> None:
    """As many as were promised."""
    assert len(PROGRAMS) >= 30
