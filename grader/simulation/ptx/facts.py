"""Structure of a kernel: its instructions and those of the functions that it calls, sorted and counted.

Names in the source play no part. Nothing is executed here; a caller that ran the kernel may pass the executed
instructions. The state space that a load or store names is that of PTX ISA section 9.7.9. Where the compiler
lost track of it (a generic address) the access counts for shared memory if the kernel makes generic addresses
out of shared ones anywhere (`cvta.shared`).

The digest of PTX is the same for two sources which differ in names, comments and layout alone. Registers and
labels are numbered by the compiler. The only parts that stem from the source are symbols (kernels, their
parameters, arrays) and the lines that ``.loc`` and ``.file`` name (PTX ISA, sections 4.4 and 11.5).
"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from grader.model import InstructionUse, Structure
from grader.simulation.ptx.nodes import Symbol, Tuple, leaves

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from grader.simulation.ptx.nodes import Function, Instruction, Module, Operand, Variable

NO_LIBRARY = ("vprintf", "__assertfail", "malloc", "__nv_aligned_device_malloc", "free")
"""Functions of the device's own system: printing, assertions and the heap."""

LIBRARIES = {
    "cub/": "CUB",
    "thrust/": "Thrust",
    "cooperative_groups/details/reduce.h": "cooperative_groups::reduce",
    "cooperative_groups/details/scan.h": "cooperative_groups::scan",
}
"""Headers, by the beginning of their paths, whose templates do a kernel's work when inlined into it."""

SPACES = ("global", "shared", "local", "const", "param")
MOST_LINES = 100


MBARRIER_WAITS = ("test_wait", "try_wait")
"""Forms of `mbarrier` that ask whether a phase is complete."""

COUNTED = {"ld", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "wmma"} | {
    *("bar", "barrier", "mbarrier", "shfl", "redux"),
}
"""Instructions that are counted here: whether they are executed matters."""


def structure(
    module: Module,
    entry: str,
    source: str = "",
    file: str = "",
    executed: Collection[tuple[str, int]] | None = None,
) -> Structure:
    """Structure of the kernel ``entry``.

    ``source`` is the name of the student's file in the PTX, for lines, and ``file`` the one for people;
    ``executed`` holds the instructions that a thread reached, by function and index in it, if that is known.
    Raises KeyError where there is no such kernel.
    """
    facts = _Found(module, source, is_known=executed is not None)
    functions = reachable_functions(module, entry)
    facts.generic_may_be_shared = any(
        _makes_shared_generic(instruction) for f in functions for instruction in f.body
    )
    for function in functions:
        for index, instruction in enumerate(function.body):
            facts.add(instruction, is_executed=executed is None or (function.name, index) in executed)
    return Structure(
        **{sort: facts.use(sort) for sort in SORTS},
        library=tuple((name, facts.use(name)) for name in facts.libraries),
        file=file,
    )


SORTS = ("shared_loads", "shared_stores", "barriers", "atomics", "shuffles", "constant_loads")


class _Found:
    """Instructions by sort, in the order in which they are met."""

    def __init__(self, module: Module, source: str, *, is_known: bool) -> None:
        self.is_known = is_known
        self.files = dict(module.files)
        self.defined = {function.name for function in module.functions if function.defined}
        self.source = source
        self.generic_may_be_shared = False
        self.libraries: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._executed: Counter[str] = Counter()
        self._lines: dict[str, set[int]] = {}

    def add(self, instruction: Instruction, *, is_executed: bool) -> None:
        """Count an instruction under every sort that it is of."""
        libraries = tuple(self._libraries(instruction))
        self.libraries |= dict.fromkeys(libraries)
        line = _line(instruction, self.files, self.source)
        for sort in (*self._sorts(instruction), *libraries):
            self._counts[sort] += 1
            self._executed[sort] += is_executed
            if line is not None:
                self._lines.setdefault(sort, set()).add(line)

    def use(self, sort: str) -> InstructionUse:
        """Uses of the instructions of a sort."""
        lines = tuple(sorted(self._lines.get(sort, ())))[:MOST_LINES]
        return InstructionUse(self._counts[sort], lines, self._executed[sort] if self.is_known else None)

    def _sorts(self, instruction: Instruction) -> Iterator[str]:
        opcode, modifiers = instruction.opcode, instruction.modifiers
        atomic = opcode in ("atom", "red")
        if self._is_shared(instruction):
            if atomic or opcode in ("ld", "ldmatrix") or modifiers[:1] == ("load",):
                yield "shared_loads"
            if atomic or opcode in ("st", "stmatrix", "cp") or modifiers[:1] == ("store",):
                yield "shared_stores"
        if atomic:
            yield "atomics"
        if opcode == "mbarrier" and modifiers[0] in MBARRIER_WAITS:
            yield "barriers"
        if opcode in ("bar", "barrier") and not {"warp", "arrive", "cluster"} & set(modifiers):
            yield "barriers"
        if opcode in ("shfl", "redux"):
            yield "shuffles"
        if opcode == "ld" and "const" in modifiers:
            yield "constant_loads"

    def _is_shared(self, instruction: Instruction) -> bool:
        if instruction.opcode not in ("ld", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "wmma"):
            return False
        spaces = {modifier.partition("::")[0] for modifier in instruction.modifiers} & set(SPACES)
        return "shared" in spaces or (not spaces and self.generic_may_be_shared)

    def _libraries(self, instruction: Instruction) -> Iterator[str]:
        for name in _callees(instruction):
            if name not in self.defined and name not in NO_LIBRARY:
                yield name
        location = instruction.location
        while location is not None:
            path = self.files.get(location.file, "")
            yield from (name for start, name in LIBRARIES.items() if path.startswith(start))
            location = location.inlined_at


def _line(instruction: Instruction, files: Mapping[int, str], source: str) -> int | None:
    """The line in the student's file; of the call, where a function from elsewhere was inlined."""
    location = instruction.location
    while location is not None:
        if location.line and files.get(location.file, "").rsplit("/", 1)[-1] == source:
            return location.line
        location = location.inlined_at
    return None


def reachable_lines(module: Module, entry: str, source: str) -> frozenset[int]:
    """The lines of the student's file that the kernel's instructions stem from, calls included."""
    files = dict(module.files)
    body = (instruction for function in reachable_functions(module, entry) for instruction in function.body)
    return frozenset(line for instruction in body if (line := _line(instruction, files, source)) is not None)


def reachable_symbols(module: Module, entry: str) -> frozenset[str]:
    """The variables, functions and labels that the kernel's instructions name, calls included."""
    body = (instruction for function in reachable_functions(module, entry) for instruction in function.body)
    return frozenset(
        name for instruction in body for operand in instruction.operands for name in _symbols(operand)
    )


def _symbols(operand: Operand) -> Iterator[str]:
    """The names of variables and functions in an operand."""
    return (leaf.name for leaf in leaves(operand) if isinstance(leaf, Symbol))


def used_locals(function: Function) -> list[Variable]:
    """The local variables of a function that its instructions name: ptxas gives the others no memory."""
    names = {name for ins in function.body for operand in ins.operands for name in _symbols(operand)}
    return [v for v in function.variables if v.space == "local" and v.name in names]


def reachable_functions(module: Module, entry: str) -> list[Function]:
    """The kernel and all that it may call; every function, where it calls one through a pointer."""
    bodies = {function.name: function for function in module.functions if function.defined}
    functions = {entry: bodies[entry]}
    waiting = [bodies[entry]]
    while waiting:
        for instruction in waiting.pop().body:
            if instruction.opcode != "call":
                continue
            names = list(_callees(instruction)) or [
                name for name, function in bodies.items() if not function.is_entry
            ]
            new = {name: bodies[name] for name in names if name in bodies and name not in functions}
            functions |= new
            waiting += new.values()
    return list(functions.values())


def _callees(instruction: Instruction) -> Iterator[str]:
    """The function that a call names; nothing for a call through a pointer."""
    if instruction.opcode == "call":
        callee = next((operand for operand in instruction.operands if not isinstance(operand, Tuple)), None)
        if isinstance(callee, Symbol):
            yield callee.name


def _makes_shared_generic(instruction: Instruction) -> bool:
    return instruction.opcode == "cvta" and instruction.modifiers[:1] == ("shared",)


_FILE = re.compile(r'^[ \t]*\.file[ \t]+(?P<number>\d+) "(?:[^"]*/)?(?P<name>[^"/]*)"', re.MULTILINE)
_PLACE = re.compile(r"\s*\.loc\s+(?P<file>\d+)\s+(?P<line>\d+)")
_BODY = re.compile(r"\s*(?:\.visible |\.weak )*\.(?:func|entry)\b")
_LINE_DIRECTIVE = re.compile(
    r"(?:^|\*/)[ \t\f\v\r]*(?:#|%:|\?\?=)[ \t\f\v\r]*(?:line\b|\d|/\*)", re.MULTILINE
)
"""A directive, also behind the end of a comment. What a comment hides behind the sign counts as one."""

_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\f\v\0]*\r?\n")
"""Splice of a line with the next one; gcc takes blanks before the end of the line."""

_ASM = re.compile(r"\s*// (?P<end>begin|end) inline asm\s*$")
_OF_TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})


class SourceLine(NamedTuple):
    """A file, by its name without folders, and a line in it."""

    file: str
    line: int


def origin(ptx: str, number: int) -> SourceLine | None:
    """Source line that line ``number`` of a PTX text stems from; None where the text does not say."""
    lines = ptx.splitlines()
    if not 0 < number <= len(lines):
        return None
    directive = _location_at(lines, number)
    if directive is None:
        return None
    names = {match["number"]: match["name"] for match in _FILE.finditer(ptx)}
    return SourceLine(names.get(directive["file"], ""), int(directive["line"]))


def is_inside_asm(ptx: str, number: int) -> bool:
    """True if a line is one of those that nvcc copied from an `asm`."""
    marks = filter(None, (_ASM.match(text) for text in reversed(ptx.splitlines()[:number])))
    last = next(marks, None)
    return last is not None and last["end"] == "begin"


def needs_texture(instruction: str) -> bool:
    """True if an instruction, by its full name, needs a texture or a surface."""
    return instruction.partition(".")[0] in _OF_TEXTURES


def renames_lines(source: bytes) -> bool:
    """True if a file of the student's renames its lines.

    After `#line` they may be said to be of any file, one of the toolkit's as well.
    """
    return _LINE_DIRECTIVE.search(_SPLICE.sub("", source.decode("latin-1"))) is not None


def _location_at(lines: list[str], number: int) -> re.Match[str] | None:
    """The `.loc` of nvcc that holds at a line of a function, none from an `asm`; None where it has none."""
    latest = None
    inside_asm = False
    for text in lines[:number]:
        if mark := _ASM.match(text):
            inside_asm = mark["end"] == "begin"
        elif inside_asm:
            continue
        elif _BODY.match(text):
            latest = None
        elif match := _PLACE.match(text):
            latest = match
    return latest


_PASSED_OVER = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*\.(?:loc|file)\b[^\n]*|^[ \t]*\.section\b[^}]*\}", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"(?<![.%$\w])[A-Za-z_][\w$]*(?![.$\w])")
"""A symbol, or an opcode without modifiers: either is given a number by its first occurrence."""


def digest(ptx: str) -> str:
    """The digest, in hexadecimal; empty where there is no PTX."""
    if not ptx:
        return ""
    numbers = count()
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        if match[0] not in names:
            names[match[0]] = f"${next(numbers)}"
        return names[match[0]]

    code = _WORD.sub(renamed, _PASSED_OVER.sub("", ptx))
    return sha256(" ".join(code.split()).encode()).hexdigest()
