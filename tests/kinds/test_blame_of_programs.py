"""The blame for what a program does by itself: nothing that it has lost comes back to it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.data_files import data_root
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.reports import text
from grader.running.device import protocol
from grader.running.device.requests import Allocate, Fault, Synchronise, Unsupported
from grader.running.device.watched_launches import LaunchLog
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from grader.toolchain.sandbox.bubblewrap import BubblewrapSandbox, trouble
from tests.builds import shared_builds

if TYPE_CHECKING:
    from grader.kinds.plan import Plan
    from grader.model import Build, Grade

YAML = """
id: multiply
title: Multiply
reference: matmul
submission: {kind: program, seconds: 3, emulator_seconds: 5}
cases:
  - {id: plain, arguments: [none]}
rubric:
  - {id: compiles, points: 5, check: compile}
  - {id: says, points: 15, check: text, lines: "0"}
  - {id: races, points: 20, check: races}
  - {id: memory, points: 20, check: memory}
  - {id: host, points: 10, check: host}
  - {id: ends, points: 10, check: exit, status: 0}
  - id: product
    points: 20
    check: kernel-output
    kernel: multiply
    arguments: [A, B, C]
    output: C
    dtype: float32
    shape: {M: 8, K: 8, N: 8}
    inputs: random
"""
PROGRAM = (data_root() / "tests/kernels/blamed.cu").read_text()
GARBAGE = bytes(i * 37 % 256 for i in range(64))


def _message(message: object) -> str:
    return protocol.write(message, 1).hex()  # type: ignore[arg-type]  # any request


WAYS = {
    "garbage": ("bytes", GARBAGE.hex()),
    "half a message": ("bytes", _message(Allocate(64, 0, 0))[:20]),
    "half a message, and a signal": ("bytes and a signal", _message(Allocate(64, 0, 0))[:20]),
    "a message too large": ("bytes", "01000000ffffffff0000000000000000"),
    "messages in no order": ("bytes", _message(Synchronise(0, 0)) * 3),
    "garbage of a child": ("bytes of a child", GARBAGE.hex()),
    "garbage without end": ("bytes without end",),
    "a fault that is none": ("bytes", _message(Fault(8, 1, 0, (1,)))),
    "a forged call": ("bytes", _message(Unsupported("cudaBlameTheGrader"))),
    "a closed connection": ("close",),
    "another connection": ("replace",),
    "another program": ("become another",),
    "an end in the middle of a launch": ("end in a launch",),
    "no descriptors left": ("no descriptors",),
    "a call that is not there": ("a call",),
    "another call that is not there": ("a call of a function that is not there",),
}


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and a sandbox: bubblewrap's where there is one, for the programs mean no good."""
    toolchain = find_toolchain()
    sandbox = LocalSandbox() if trouble() else BubblewrapSandbox(toolchain.roots)
    return Tools(toolchain, sandbox, shared_builds())


@pytest.fixture(scope="module")
def plan(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """The assignment."""
    folder = tmp_path_factory.mktemp("blame") / "assignments" / "multiply"
    folder.mkdir(parents=True)
    (folder / "assignment.yaml").write_text(YAML)
    return pipeline.make_plan(load_assignment(folder), 1, tools, visible_only=False)


def _submission(first: str) -> Submission:
    return Submission("eve", "multiply.cu", (first + PROGRAM).encode(), "0" * 8)


WRONG, RIGHT = _submission("#define WRONG\n#define EXTRA 7\n"), _submission("#define EXTRA 0\n")
STORED = _submission("#define STORED\n#define EXTRA 0\n")


@pytest.fixture(scope="module")
def builds(tools: Tools, plan: Plan) -> dict[str, Build]:
    """The programs, each compiled once."""
    program = plan.assignment.program
    return {s.source.decode(): build_program(tools, s, program) for s in (WRONG, RIGHT, STORED)}


def _graded(
    submission: Submission, way: tuple[str, ...], plan: Plan, tools: Tools, builds: dict[str, Build]
) -> Grade:
    cases = (replace(plan.cases[0], arguments=way),)
    built = builds[submission.source.decode()]
    return pipeline.grade_built(replace(plan, cases=cases), submission, built, tools)


def _lost(grade: Grade) -> set[str]:
    return {item.result.item.id for item in grade.items if item.result.verdict is Verdict.FAIL}


def test_a_program_that_takes_more_memory_than_there_is_is_not_judged(
    plan: Plan, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a question to staff, and no error of ours."""

    def lacking(_: LaunchLog) -> None:
        raise MemoryError

    monkeypatch.setattr(LaunchLog, "host_wrote", lacking)
    grade = pipeline.grade(plan, RIGHT, tools)
    results = {item.result.item.id: item.result for item in grade.items}
    assert grade.error == ""
    assert results["product"].verdict is Verdict.SKIP
    assert "it takes more memory than there is" in results["product"].message


@pytest.mark.parametrize("name", WAYS)
def test_what_a_program_does_by_itself_gives_no_lost_points_back(
    name: str, plan: Plan, tools: Tools, builds: dict[str, Build]
) -> None:
    """A wrong and racing program that writes outside loses what it loses else, of as many points."""
    grade = _graded(WRONG, WAYS[name], plan, tools, builds)
    assert {"races", "memory", "product"} <= _lost(grade)
    assert (grade.verdict, grade.max_score) == (Verdict.FAIL, Fraction(100))
    assert grade.score <= 25
    shown = text.render(grade).plain
    assert "no fault" not in shown
    assert "grader's fault" not in shown


def test_garbage_is_reported_as_what_the_program_does(
    plan: Plan, tools: Tools, builds: dict[str, Build]
) -> None:
    """A right program loses the item about its host, and nothing else but what it does not come to."""
    grade = _graded(RIGHT, WAYS["garbage"], plan, tools, builds)
    assert _lost(grade) == {"host", "ends"}
    host = next(item.result for item in grade.items if item.result.item.id == "host")
    assert "writes to the connection with its device by itself" in host.message
    assert (grade.score, grade.max_score) == (Fraction(80), Fraction(100))


@pytest.mark.parametrize("name", ["a call that is not there", "a forged call"])
def test_a_call_that_is_not_followed_gives_no_result_of_the_host_back(
    name: str, plan: Plan, tools: Tools, builds: dict[str, Build]
) -> None:
    """A kernel that stores what the host has computed fails, whatever the program asks for afterwards."""
    grade = _graded(STORED, WAYS[name], plan, tools, builds)
    product = next(item.result for item in grade.items if item.result.item.id == "product")
    assert product.verdict is Verdict.FAIL
    assert grade.max_score == Fraction(100)


@pytest.mark.parametrize("name", ["a call that is not there", "a forged call"])
def test_what_a_call_keeps_from_being_judged_is_a_question_to_staff(
    name: str, plan: Plan, tools: Tools, builds: dict[str, Build]
) -> None:
    """Earlier right items have their points; the rest has none, stays in the maximum, and is no fail."""
    grade = _graded(RIGHT, WAYS[name], plan, tools, builds)
    verdicts = {item.result.item.id: item.result.verdict for item in grade.items}
    open_items = {name for name, verdict in verdicts.items() if verdict is Verdict.ERROR}
    assert open_items >= {"races", "memory", "host"}
    assert verdicts["product"] is verdicts["says"] is Verdict.PASS
    assert (grade.verdict, grade.max_score, grade.is_question) == (Verdict.ERROR, Fraction(100), True)
    assert "not supported here: `cuda" in grade.error


def test_a_right_program_that_does_nothing_by_itself_has_everything(
    plan: Plan, tools: Tools, builds: dict[str, Build]
) -> None:
    """The other half of the comparison."""
    grade = _graded(RIGHT, ("none",), plan, tools, builds)
    assert (grade.score, grade.verdict) == (Fraction(100), Verdict.PASS)
