"""The attacks that need no more than device code: cheats for the assignment tiled-matmul.

Their table says what each loses on the emulator and on a GPU. They attack grades, not machines.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import yaml

from attacks.battery import Tried
from attacks.table import FOLDER
from grader.classroom.course.download import read_download
from grader.grading.assignment import find_assignment, load_assignment
from grader.kinds import pipeline
from grader.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.model import Grade
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

_SEED = 20


def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "attacks.yaml").read_text("utf-8"))
    return {name.removesuffix(".cu"): entry for name, entry in table.items()}


def names() -> set[str]:
    """The names of all attacks of device code."""
    return set(_table())


def select(
    names: Collection[str], *, with_device_code: bool
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Those to try, in the table's order, and what is left out with the reason."""
    table = tuple(_table())
    named = {name.removesuffix(".cu") for name in names}
    if named:
        return tuple(name for name in table if name in named), ()
    if with_device_code:
        return table, ()
    return (), (
        (f"{len(table)} of device code", "no GPU is used here; --device-code tries them on the emulator"),
    )


def run(chosen: tuple[str, ...], tools: Tools, backend: Backend) -> Iterator[Tried]:
    """Grade each, and hold what it loses against the table."""
    table = _table()
    assignment = load_assignment(find_assignment("tiled-matmul"))
    plan = pipeline.make_plan(assignment, _SEED, tools, visible_only=False, backend=backend)
    for name in chosen:
        began = time.monotonic()
        (submission,) = read_download(FOLDER / f"{name}.cu").submissions
        grade = pipeline.grade(plan, submission, tools)
        expected = table[name][backend.name]
        complaints = tuple(_complaints(grade, expected))
        yield Tried(name, grade.verdict.value, time.monotonic() - began, complaints)


def _complaints(grade: Grade, expected: dict[str, list[str]]) -> Iterator[str]:
    if grade.error:
        yield f"an error of ours: {grade.error}"
        return
    lost = {outcome.result.item.id for outcome in grade.items if outcome.result.verdict is Verdict.FAIL}
    must, may = set(expected.get("loses", ())), set(expected.get("may_lose", ()))
    yield from (f"keeps the points for {item}" for item in sorted(must - lost))
    yield from (f"loses the points for {item}" for item in sorted(lost - must - may))
