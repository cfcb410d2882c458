"""The heap, `printf` and assertions of a device: what is kept of them, and what is a mistake."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, FindingKind, Launch, Run
from grader.simulation.emulator.launch import run
from grader.simulation.emulator.printing import MOST_CALLS, MOST_CHARACTERS
from tests.simulation.emulator.nvcc import HAZARDS, compile_one, line_of

if TYPE_CHECKING:
    from grader.simulation.ptx import Module

SOURCES = Path(__file__).parent / "features"


@cache
def _module(file: str) -> Module:
    return compile_one((SOURCES / file).read_text(), HAZARDS, file)


def _run(kernel: str, *values: np.ndarray | np.generic, file: str = "runtime.cu", threads: int = 4) -> Run:
    arguments = tuple(
        Argument(f"a{place}", "inout" if isinstance(value, np.ndarray) else "value", value)
        for place, value in enumerate(values)
    )
    launch = Launch((1, 1, 1), (threads, 1, 1))
    return run(_module(file), kernel, launch, arguments, detect=True, source=file, file=file)


def _ints(count: int = 32) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def test_what_is_printed_is_kept() -> None:
    """Flags, widths and lengths are those of C; `printf` returns how many arguments it took."""
    done = _run("print", np.array([0.5, 2], np.float32), threads=2)
    first, *_ = done.printed.split("\n")
    assert first == ("0|    7|0   |+0.50|text|c|ff|0XFF|-1099511627776|%|1.235e+04|   ab|44|8589934592|-3")
    assert "0x0 0xff\n" in done.printed
    assert done.printed.count("no arguments\n") == 2
    assert done.outputs[0][1].tolist() == [14, 14]


def test_only_the_beginning_of_endless_text_is_kept() -> None:
    """By calls and by characters."""
    printed = _run("print_a_lot", np.int32(400), threads=32).printed
    assert printed.count("\n") <= MOST_CALLS
    assert len(printed) <= MOST_CHARACTERS
    assert printed.startswith("line 0 of thread 0\nline 0 of thread 1\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"%", "%"),
        (b"%n%n%n", "%n%n%n"),
        (b"%s%s%s%s%s%s", None),
        (b"%*d%-*d", None),
        (b"%999999999d", None),
        (b"%.999999999f", None),
        (b"%q %y %-", "%q %y %-"),
        (b"\x1b[31m%s", "?[31mwords"),
        (b"\xff\xfe%s", "��words"),
        (b"%s %d %.1f", "words 5 6.0"),
        (b"%ls", "words"),
        (b"x" * 5000, "x" * 1024),
    ],
)
def test_no_format_does_harm(text: bytes, shown: str | None) -> None:
    """Whatever a student's string asks for: text of a bounded length, and nothing that cannot be shown."""
    done = _run(
        "print_whatever",
        np.frombuffer(text + b"\0", np.uint8),
        np.frombuffer(b"words\0", np.uint8),
        threads=1,
    )
    assert done.completed
    assert len(done.printed) <= 8192
    assert all(each.isprintable() or each in "\n\t" for each in done.printed)
    assert shown is None or done.printed == shown


def test_a_format_that_is_nowhere_prints_nothing() -> None:
    """A null pointer, too."""
    assert _run("print_whatever", np.uint64(0), np.uint64(0), threads=1).printed == ""


@pytest.mark.parametrize(
    ("kernel", "kind", "line", "words"),
    [
        ("past_the_end", FindingKind.OUT_OF_BOUNDS, "block[2] = 1", "heap"),
        ("used_after_free", FindingKind.OUT_OF_BOUNDS, "= block[1];", "freed"),
        ("freed_twice", FindingKind.FAULT, "", "freed before"),
        ("heap_not_set", FindingKind.UNINITIALISED, "((int *)malloc(16))[3]", "heap"),
    ],
)
def test_mistakes_with_memory_of_the_heap_are_found(
    kernel: str, kind: FindingKind, line: str, words: str
) -> None:
    """With the line that made them."""
    (finding,) = _run(kernel, _ints(), threads=1).findings
    assert (finding.kind, words in finding.message) == (kind, True), finding.message
    source = (SOURCES / "runtime.cu").read_text()
    expected = (
        line_of(source, line)
        if line
        else [n for n, x in enumerate(source.split("\n"), 1) if "free(block)" in x][-1]
    )
    assert finding.line == expected


def test_an_assertion_that_fails_is_reported_with_its_condition() -> None:
    """The launch stops, and the thread is named."""
    done = _run("checked", _ints(), threads=32)
    (finding,) = done.findings
    assert "values[threadIdx.x] < 20" in finding.message
    assert finding.thread == (20, 0, 0)
    assert not done.completed


def test_a_trap_stops_the_launch() -> None:
    """At its line."""
    done = _run("trapped", _ints(), threads=32)
    (finding,) = done.findings
    assert finding.kind == FindingKind.FAULT
    assert finding.line == line_of((SOURCES / "runtime.cu").read_text(), "== 20) __trap()")
    assert not done.completed


@pytest.mark.parametrize(("kernel", "values"), [("wild", (np.uint64(64),)), ("another_type", ())])
def test_a_pointer_that_is_no_such_function_is_a_fault(kernel: str, values: tuple[np.generic, ...]) -> None:
    """At the line of the call."""
    (finding,) = _run(kernel, *values, np.zeros(4, np.float32), file="calls.cu").findings
    assert finding.kind == FindingKind.FAULT
    text = {"wild": "pointer(1, 2)", "another_type": "((Operation)single)(1, 2)"}[kernel]
    assert finding.line == line_of((SOURCES / "calls.cu").read_text(), text)
