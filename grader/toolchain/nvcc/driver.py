"""Programs that nvcc drives: their outcomes, the files they read, messages of assembler and linker.

The object file has the host code's line numbers (`-g1`), so that the linker names them (ld(1)).
It is ELF for 64 bits, little-endian (System V ABI, chapters 4 "Sections" and "Symbol Table").
"""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from grader.base.errors import NotDoneHereError, ToolMissing
from grader.model import Clause, Finding, FindingCode
from grader.toolchain.nvcc.diagnostics import Message
from grader.toolchain.nvcc.source import SOURCE_NAME, harmless, part, problem
from grader.toolchain.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from grader.toolchain.sandbox import Outcome

_DIED = re.compile(
    r"^\S{0,200}g\+\+\S{0,40}: (?:fatal|internal compiler) error: "
    r"(?P<reason>[A-Z][\w ]*) signal terminated program \w+\n"
    r"(?:compilation terminated\.\n|Please submit a full bug report,\s[^\n<]*\n(?:[^\n<]*\n)?"
    r"See <\S*> for instructions\.\n)?\Z",
    re.MULTILINE,
)
"""The last words of g++ where what it started was ended. A source may speak so, but never last."""

_OWN_WORDS = re.compile(r"^nvcc (?:error|fatal|warning)\s*:.*$", re.MULTILINE)
_FATAL = re.compile(r"nvcc fatal\s*: (?P<text>.*)")
_ASSEMBLER = re.compile(
    r"^(?P<file>[^:\n]+):(?:(?P<line>\d+):)? (?:Error|Fatal error): |^[^:\n]+: Assembler messages:",
    re.MULTILINE,
)
_STEM = re.escape(SOURCE_NAME.removesuffix(".cu"))
_TEMPORARY = re.compile(
    rf"(?:[^\s]*/)?(?:tmpxft_[0-9a-f_]+-\d+_{_STEM}\.[\w.]+|cc\w{{6}}\.s)"
    rf"|{_STEM}(?:_\d+)?\.(?:cudafe1\.cpp|cudafe1\.stub\.c|fatbin\.c)"  # where nvcc is asked to keep them
)
_PREPROCESSOR = re.compile(r"^[^\n]+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
_TARGET, _PASSES = SOURCE_NAME.removesuffix(".cu") + ".o", 2
_LIMITS = {24: Status.TIME, 25: Status.OUTPUT}  # SIGXCPU, SIGXFSZ
_NUMBERS = {"Segmentation fault": 11, "Aborted": 6, "Bus error": 7, "Killed": 9}
_SIGNALLED = 128
"""Exit statuses of nvcc, as of a shell, above this contain the signal that ended what it started."""


def revealed(outcome: Outcome) -> Outcome:
    """The outcome of the program that nvcc or g++ started, where a signal ended that one."""
    if outcome.status is not Status.EXIT or outcome.returncode == 0:
        return outcome
    died = _DIED.search(outcome.stderr.decode(errors="replace"))
    number = _NUMBERS.get(died["reason"], 0) if died else max(0, outcome.returncode - _SIGNALLED)
    if not number:
        return outcome
    return replace(outcome, status=_LIMITS.get(number, Status.SIGNAL), returncode=-number)


def fatal(log: str) -> str:
    """Text of nvcc's own failure (an option, a file), where it says no more than that; empty elsewhere."""
    match = _FATAL.fullmatch(log.strip())
    return match["text"] if match else ""


def without_own_words(log: str) -> str:
    """Output of the programs that nvcc started, without what nvcc adds."""
    return _OWN_WORDS.sub("", log)


def assembler_messages(log: str) -> tuple[Message, ...]:
    """An error for each line of the student's that the assembler refuses, or one for the file.

    Never its words: ``.include`` in an `asm` may point at anything, and the assembler quotes what it reads.
    """
    refusals = list(_ASSEMBLER.finditer(log))
    lines = {int(m["line"]) for m in refusals if m["file"] == SOURCE_NAME and m["line"]}
    if lines:
        return tuple(problem_message(_refused_assembly(), SOURCE_NAME, line) for line in sorted(lines))
    return (problem_message(_refused_assembly()),) if refusals else ()


def is_preprocessed(dependencies: str, log: str) -> bool:
    """True if every preprocessor that ran came to its end, and so noted all that it read.

    nvcc preprocesses and compiles for the host, then for the device; what fails first is the last to speak.
    """
    passes = sum(rule.startswith(f"{_TARGET}:") for rule in _rules(dependencies))
    return passes >= _PASSES or (passes > 0 and not _PREPROCESSOR.search(log))


def files_read(dependencies: Iterable[str]) -> tuple[str, ...]:
    """The files in lists of dependencies (as for make), each once, without the compilers' temporary files."""
    paths = (path for text in dependencies for rule in _rules(text) for path in paths_of(rule))
    return tuple(dict.fromkeys(path for path in paths if not _TEMPORARY.fullmatch(path)))


def paths_of(rule: str) -> list[str]:
    """The files that a target depends on, from a rule as `make` reads it."""
    words = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " ").partition(": ")[2])
    return [word.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$") for word in words if word]


def _rules(dependencies: str) -> Iterator[str]:
    return (line for line in dependencies.replace("\\\n", " ").splitlines() if line.strip())


_UNRESOLVED = re.compile(r"(?P<kind>undefined reference to|multiple definition of) [`'](?P<name>.+?)'(?:;|$)")
_LINKED_PLACE = re.compile(r"(?P<path>[^\s:]+):(?P<line>\d+):(?:\(\S+?\):)? $")
_ABSENT = re.compile(r"cannot find (?P<name>[^\s:]+)")
_TOO_FAR = re.compile(r"relocation truncated to fit|failed to convert GOTPCREL relocation")
_OURS = re.compile(r"^.*(?:\bld(?:\.\w+)?|collect2): (?P<text>.*)$")
_LONGEST_LINE = 4000
_DRIVER = "libcuda"
_OF_DRIVER = (
    "Array|Ctx|Device|Driver|Event|Func|Get|Graph|Init|Kernel|Launch|Library|Link|Mem|Module|Stream|Tex"
)
"""Words after `cu` in the names of the driver's functions (cuda.h); others are a student's own."""

_LIBRARIES = (
    (re.compile(rf"cu(?:{_OF_DRIVER})\w*"), _DRIVER),
    (re.compile(r"cublas\w+"), "cuBLAS"),
    (re.compile(r"cufft\w+"), "cuFFT"),
    (re.compile(r"curand[A-Z]\w*"), "cuRAND"),
    (re.compile(r"cusolver\w+"), "cuSOLVER"),
    (re.compile(r"cusparse\w+"), "cuSPARSE"),
    (re.compile(r"omp_\w+|GOMP_\w+"), "OpenMP"),
    (re.compile(r"cudnn[A-Z]\w*"), "cuDNN"),
    (re.compile(r"nccl[A-Z]\w*"), "NCCL"),
    (re.compile(r"cl[A-Z]\w*"), "OpenCL"),
    (re.compile(r"gl[A-Z]\w*|glut\w+"), "OpenGL"),
    (re.compile(r"cv::.*"), "OpenCV"),
    (re.compile(r"MPI_\w+"), "MPI"),
)
"""Functions of libraries that programs are not linked with, by their names."""

_COMMON_PREFIXES = frozenset(("OpenCL", "OpenGL"))
"""Libraries whose functions are called like many others, such as a student's own that is nowhere defined."""


def linker_messages(log: str, headers: Iterable[str]) -> tuple[Message, ...]:
    """An error for each name that is defined nowhere or twice, in order; one error for what else is wrong.

    Raises ToolMissing where a library is missing that every program is linked with.
    """
    lines = [line[:_LONGEST_LINE] for line in log.splitlines()]
    unresolved = [(line, match) for line in lines if (match := _UNRESOLVED.search(line))]
    absent = next(filter(None, map(_ABSENT.search, lines)), None)
    if absent and not unresolved:  # libraries come first: this is no name of the student's
        raise ToolMissing(
            f"no program can be linked here: {harmless(absent['name'])} is missing; "
            "`grader doctor` says what is installed"
        )
    if too_large(log):
        return (problem_message(problem(FindingCode.ARRAYS_TOO_LARGE)),)
    student_files = (SOURCE_NAME, *headers)
    firsts = {_library(match["name"]): match for _, match in reversed(unresolved)}
    messages = [
        _linker_message(line, match, student_files)
        for line, match in unresolved
        if firsts.get(library := _library(match["name"])) is match or not library
    ]
    return tuple(dict.fromkeys(messages)) or (_linker_refusal(lines),)


def require_libraries(messages: Collection[Message]) -> None:
    """Raise NotDoneHereError where the only thing wrong is that programs are not linked with libraries.

    Not where a name may be a student's own.
    """
    problems = [message.problem for message in messages]
    names = [str(dict(one.details).get("name", "")) for one in problems if one is not None]
    libraries = [_library(name) for name in names]
    if libraries and len(names) == len(problems) and all(libraries) and not _COMMON_PREFIXES & {*libraries}:
        line = next((f", line {message.line}" for message in messages if message.line), "")
        raise NotDoneHereError(
            f"not supported here: {libraries[0]}, which programs are not linked with: `{names[0]}`{line}"
        )


def too_large(log: str) -> bool:
    """True if addresses do not reach over the program's arrays; the linker says so once for each use."""
    return bool(_TOO_FAR.search(log))


def _linker_message(line: str, match: re.Match[str], student_files: tuple[str, ...]) -> Message:
    name = match["name"]
    if name == "main" and match["kind"].startswith("undefined"):
        return problem_message(problem(FindingCode.NO_MAIN))
    location = _LINKED_PLACE.search(line[: match.start()])
    path = location["path"] if location else ""
    file = next((name for name in student_files if path == name or path.endswith(f"/{name}")), "")
    number = int(location["line"]) if location and file else None
    if match["kind"].startswith("multiple"):
        finding = problem(FindingCode.DEFINED_TWICE, name=harmless(name))
    else:
        finding = problem(FindingCode.DEFINED_NOWHERE, name=harmless(name), hint=_advice(name))
    return problem_message(finding, file, number)


def problem_message(finding: Finding, file: str = "", line: int | None = None) -> Message:
    """Error in our words: the message of a linker or an assembler is of no use to a student."""
    return Message(True, finding.message, file, line, problem=finding)


def _refused_assembly() -> Finding:
    return problem(FindingCode.ASM_REFUSED, what=part("asm-on-host"))


def _library(name: str) -> str:
    """The library that a function belongs to, if programs are not linked with it; empty for none."""
    return next((library for names, library in _LIBRARIES if names.fullmatch(name)), "")


def _advice(name: str) -> tuple[Clause, ...]:
    library = _library(name)
    if library == _DRIVER:
        return part("of-library", library=part("driver-library"))
    return part("of-library", library=library) if library else part("define-it")


def _linker_refusal(lines: list[str]) -> Message:
    reasons = [match["text"] for line in lines if (match := _OURS.match(line))]
    reason = part("because", text=harmless(reasons[0])) if reasons else part("without-saying-why")
    return problem_message(problem(FindingCode.LINKER_REFUSES, reason=reason))


_MAGIC = b"\x7fELF\x02\x01"
_SECTION_TABLE = struct.Struct("<40xQ10xHH")
"""Fields of the file's header: position of the sections' headers, size of each, and their number."""

_SECTION = struct.Struct("<4xI16xQQI20x")
"""A section's header: its type, where it is, how long, and the section that belongs to it."""

_SYMBOL = struct.Struct("<IBxH16x")
"""A symbol: where its name begins, its binding and type, and the section that defines it."""

_SYMBOL_TABLE, _NOWHERE, _LOCAL, _FUNCTION = 2, 0, 0, 2


def undefined_names(code: bytes) -> frozenset[str]:
    """The names of the undefined symbols of an object file; raises ValueError where it is none."""
    if not code.startswith(_MAGIC):
        raise ValueError("no ELF file for 64 bits")
    try:
        return frozenset(_undefined(code))
    except (struct.error, OverflowError) as problem:
        raise ValueError(f"no whole object file: {problem}") from None


def defined_functions(code: bytes) -> dict[str, bool]:
    """The functions that an object file defines, and whether other files may call each; raises ValueError."""
    if not code.startswith(_MAGIC):
        raise ValueError("no ELF file for 64 bits")
    try:
        symbols = [symbol for symbol in _symbols(code) if symbol.where != _NOWHERE]
    except (struct.error, OverflowError) as problem:
        raise ValueError(f"no whole object file: {problem}") from None
    return {s.name: s.info >> 4 != _LOCAL for s in symbols if s.info & 15 == _FUNCTION}


def _undefined(code: bytes) -> list[str]:
    return [symbol.name for symbol in _symbols(code) if symbol.where == _NOWHERE]


class _Symbol(NamedTuple):
    """An entry of the symbol table; ``info`` holds binding (upper half) and type, ``where`` its section."""

    name: str
    info: int
    where: int


def _symbols(code: bytes) -> list[_Symbol]:
    first, step, count = _SECTION_TABLE.unpack_from(code)
    if step < _SECTION.size:
        raise ValueError("no headers of sections")
    sections = [_SECTION.unpack_from(code, first + index * step) for index in range(count)]
    table = []
    for kind, offset, size, link in sections:
        if kind != _SYMBOL_TABLE:
            continue
        if size % _SYMBOL.size or link >= count:
            raise ValueError("no table of symbols")
        names = code[sections[link][1] :][: sections[link][2]]
        symbols = _SYMBOL.iter_unpack(code[offset : offset + size])
        table += [_Symbol(_text(names, begin), info, where) for begin, info, where in symbols if begin]
    return table


def _text(names: bytes, begin: int) -> str:
    end = names.find(b"\0", begin)
    return names[begin : end if end >= 0 else len(names)].decode(errors="replace")
