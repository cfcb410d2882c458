"""One instruction, many operands: a kernel around it, run in the emulator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import run
from grader.simulation.ptx import parse
from tests.simulation.emulator.instructions.numbers import FORMATS, WIDTHS, combinations, pattern, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grader.model import Run

THREADS = 128

HEADER = """.version 8.1
.target sm_90
.address_size 64
"""


WATCHERS: list[Callable[[str, tuple[Argument, ...], Launch, Run], None]] = []
"""Functions that get every launch and its result: the comparison with a device adds one."""


@dataclass(frozen=True)
class Case:
    """An instruction and what it should give.

    ``text`` has ``{d}`` (and ``{e}``) for results and ``{a}``, ``{b}``… for operands of the PTX types named.
    ``expected`` takes the operands' values and gives the results'. With ``within`` the result may be
    relatively so far away.
    """

    text: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    expected: Callable[..., Any]
    within: float = 0.0
    values: tuple[tuple[int, ...], ...] = ()
    """Patterns of the operands, a column each, instead of all combinations of edges."""

    @property
    def name(self) -> str:
        """The last instruction without its operands."""
        return self.text.splitlines()[-1].split(" ")[0]

    def columns(self) -> list[np.ndarray[Any, Any]]:
        """The operands' patterns, padded to whole blocks."""
        values = zip(self.values, self.operands, strict=False)
        columns = [np.array(column, f"u{WIDTHS[kind] // 8}") for column, kind in values]
        columns = columns or [*combinations(self.operands)]
        rest = -len(columns[0]) % THREADS
        return [np.concatenate((column, column[:1].repeat(rest))) for column in columns]


def _register(kind: str) -> str:
    if kind in ("pred", "f32", "f64"):
        return kind
    return f"b{max(16, WIDTHS[kind])}"


def assemble(case: Case) -> str:
    """The kernel: load the operands, execute the instruction, store the results."""
    names = dict(zip("abcxyz", case.operands, strict=False)) | dict(zip("de", case.results, strict=False))
    lines = [f"    .reg .{_register(kind)} %{name};" for name, kind in names.items()]
    parameters = [f".param .u64 p_{name}" for name in names]
    lines += ["    .reg .b32 %i, %j, %byte;", "    .reg .b64 %base, %offset;", "    .reg .pred %flag;"]
    lines += [
        "    mov.u32 %i, %ctaid.x;",
        "    mov.u32 %j, %tid.x;",
        f"    mad.lo.u32 %i, %i, {THREADS}, %j;",
    ]
    for name, kind in names.items():
        if name not in "de":
            lines += [*_address(name, kind), *_load(name, kind)]
    text = case.text.format(**{name: f"%{name}" for name in names})
    lines += [f"    {line.strip()}" for line in text.splitlines()]
    for name, kind in names.items():
        if name in "de":
            lines += [*_address(name, kind), *_store(name, kind)]
    body = "\n".join([*lines, "    ret;"])
    return f"{HEADER}\n.visible .entry kernel({', '.join(parameters)})\n{{\n{body}\n}}\n"


def _address(name: str, kind: str) -> list[str]:
    return [
        f"    ld.param.u64 %base, [p_{name}];",
        f"    mul.wide.u32 %offset, %i, {WIDTHS[kind] // 8};",
        "    add.s64 %base, %base, %offset;",
    ]


def _load(name: str, kind: str) -> list[str]:
    if kind == "pred":
        return ["    ld.global.u8 %byte, [%base];", f"    setp.ne.u32 %{name}, %byte, 0;"]
    word = kind if kind in ("f32", "f64") or kind[0] in "su" else f"b{WIDTHS[kind]}"
    return [f"    ld.global.{word} %{name}, [%base];"]


def _store(name: str, kind: str) -> list[str]:
    if kind == "pred":
        return [f"    selp.u32 %byte, 1, 0, %{name};", "    st.global.u8 [%base], %byte;"]
    word = kind if kind in ("f32", "f64") else f"b{WIDTHS[kind]}"
    return [f"    st.global.{word} [%base], %{name};"]


def evaluate(case: Case) -> list[np.ndarray[Any, Any]]:
    """The results' patterns, in the emulator."""
    columns = case.columns()
    arguments = [Argument(f"p_{name}", "in", column) for name, column in zip("abcxyz", columns, strict=False)]
    for name, kind in zip("de", case.results, strict=False):
        empty = np.zeros(len(columns[0]), f"u{WIDTHS[kind] // 8}")
        arguments.append(Argument(f"p_{name}", "out", empty))
    done = launch(assemble(case), tuple(arguments), len(columns[0]) // THREADS, THREADS)
    assert not done.findings, done.findings[0].message
    return [array for _, array in done.outputs]


def launch(text: str, arguments: tuple[Argument, ...], blocks: int = 1, threads: int = 32) -> Run:
    """Run the kernel called ``kernel``."""
    grid = Launch((blocks, 1, 1), (threads, 1, 1))
    done = run(parse(text), "kernel", grid, arguments, detect=True)
    for watcher in WATCHERS:
        watcher(text, arguments, grid, done)
    return done


def check(case: Case) -> None:
    """The emulator gives what the reference gives for every combination of operands."""
    columns, results = case.columns(), evaluate(case)
    for lane in range(len(columns[0])):
        operands = [value_of(int(c[lane]), k) for c, k in zip(columns, case.operands, strict=True)]
        expected = case.expected(*operands)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        for kind, column, number in zip(case.results, results, wanted, strict=True):
            got = int(column[lane])
            assert _agree(case, kind, got, number), (
                f"{case.name} of {operands}: {value_of(got, kind)} ({got:#x}) is not {number}"
            )


def _agree(case: Case, kind: str, got: int, number: float) -> bool:
    if kind in FORMATS and math.isnan(number):
        return math.isnan(value_of(got, kind))
    if case.within:
        value = float(value_of(got, kind))
        return value == number or abs(value - number) <= case.within * max(abs(number), 2.0**-126)
    return got == pattern(number, kind)


def names(cases: Iterable[Case]) -> list[str]:
    """The names of the cases, which pytest uses as ids."""
    return [case.name for case in cases]
