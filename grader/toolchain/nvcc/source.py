"""The student's file as the compiler gets it: under a neutral name, in an encoding that it reads.

Text that no compiler takes, though its meaning is clear, is read as meant, with a remark: a notebook's
command in the first line, blanks that are none (from a PDF or a web page), and blanks inside the brackets of
an ``#include``. Lines and columns stay as they are.

Where an assignment sets sizes that a file writes down as macros or constants, only the value changes:
``#define WIDTH 1024`` becomes ``#define WIDTH 34``, in its place. Definitions are matched by patterns, for
macros around one may hide from a parser what the compiler sees.

A submission has lost its folders, or lies in one that its paths leave: `../common/book.h` is then the
`common/book.h` or the `book.h` that came along, and such lines get the path of that file.

An error in it for which the compiler has no message is a `problem`: a code of ours with its data.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from itertools import islice
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from grader.base.cpp import CppText
from grader.base.data_files import headers_folder
from grader.base.text import sentence
from grader.model import (
    Clause,
    Finding,
    FindingCode,
    FindingKind,
    KernelInterface,
    ProgramInterface,
    Severity,
)
from grader.model.messages import worded
from grader.toolchain.nvcc.library_names import LIBRARIES
from grader.toolchain.nvcc.toolchain import UNIT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grader.model import Build, Detail, FunctionInterface, Named, Submission

SOURCE_NAME = "student_source.cu"
"""Name of every submission while it is compiled, so that no file name reaches a command line."""

_END_OF_FILE = "\x1a"
"""Ctrl-Z, which DOS's `copy` puts at the end of a text, and which compilers of Windows read as the end."""

_HEADER_NAME = re.compile(r"(?:[\w+-][\w.+ -]*/){0,4}[\w+-][\w.+ -]{0,80}")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def remarks(submission: Submission) -> tuple[Finding, ...]:
    """Remarks on what of the files was read as it was meant, and not as it stands there (`repaired`)."""
    texts = ((submission.file, submission.source), *submission.headers)
    return tuple(
        remark for name, text in texts for remark in repair_remarks(readable(text).decode(), harmless(name))
    )


def with_remarks(build: Build, remarks: tuple[Finding, ...]) -> Build:
    """The build with remarks: before its warnings, or after what keeps it from being one."""
    if build.ok:
        return replace(build, warnings=(*remarks, *build.warnings))
    return replace(build, findings=(*build.findings, *remarks))


def compilable(source: bytes) -> bytes:
    """``source`` as a compiler gets it: `readable`, and as its author meant it."""
    return repaired(readable(source).decode()).text.encode()


def readable(source: bytes) -> bytes:
    """``source`` as UTF-8 without a byte order mark, with line ends that compilers know.

    What is neither UTF-8 nor UTF-16 counts as Latin-1: cicc refuses strings that are not UTF-8, and no
    string of a submission decides anything.
    """
    text = _decoded(source).rstrip(_END_OF_FILE)
    return (text if "\n" in text else text.replace("\r", "\n")).encode(errors="replace")


def _decoded(source: bytes) -> str:
    marked = (encoding for mark, encoding in _MARKS if source.startswith(mark))
    encoding = next(marked, None) or _unmarked(source)
    return source.decode(encoding, errors="replace")


def _unmarked(source: bytes) -> str:
    """The encoding of a text without a mark; program text in UTF-16 has a NUL in every other byte."""
    head = source[:200]
    for encoding, nuls in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(head) >= 4 and not nuls.strip(b"\0"):  # noqa: PLR2004 - two characters
            return encoding
    try:
        source.decode()
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def line_count(source: bytes) -> int:
    """Number of lines that the student sees, at least 1."""
    text = readable(source)
    return max(1, text.count(b"\n") + (not text.endswith(b"\n")))


PROGRAM_HEADERS = (
    "wb.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_string.h",
    "helper_timer.h",
    "helper_math.h",
    "cuda_profiler_api.h",
    "nvToolsExt.h",
    "nvtx3/nvToolsExt.h",
)
"""Headers that many courses' programs include, of libwb, of NVIDIA's samples and of its profilers.

Programs that come without them get ours, which need no library. Headers of ours that include others stand
before them."""


EMULATED_HEADERS = tuple(LIBRARIES)
"""Headers of libraries that the emulator computes. Programs get them, and functions do not: they are to
compute by themselves."""

EARLIER_CUDA = "before_cuda_13.h"
"""The header that every source begins with where a program calls CUDA as it was before version 13."""

_EARLIER_CALL = re.compile(
    rb"\b(?:cudaThreadSynchronize|cudaThreadExit|cudaMemPrefetchAsync|cudaMemAdvise)\b"
)


def compile_files(
    submission: Submission, interface: KernelInterface | ProgramInterface | FunctionInterface
) -> Named[bytes]:
    """The submission, its headers and the assignment's, by the names they are compiled under.

    The assignment's header wins over a student's copy. A student's header whose name is not a plain one
    is left out; the compiler then says that it is missing. A program that includes one of PROGRAM_HEADERS and
    has none gets ours, and EARLIER_CUDA comes with what it is for.
    """
    handed_in = {n: compilable(content) for n, content in submission.headers if is_header_name(n)}
    ours = {name: text.encode() for name, text in interface.include}
    files = {**handed_in, **ours, SOURCE_NAME: compilable(submission.source)}
    if interface.runs_host_code:
        libraries = EMULATED_HEADERS if interface.called_function is None else ()
        files = _with_program_headers(files, (*PROGRAM_HEADERS, *libraries))
    files = with_values(dict(interface.built_with), files)
    return tuple(with_reached_includes(files, SOURCE_NAME).items())


def _with_program_headers(files: Mapping[str, bytes], headers: Iterable[str]) -> dict[str, bytes]:
    """Files with those of the ``headers`` that are missing, and with EARLIER_CUDA where it is needed."""
    complete = dict(files)
    for name in headers:
        if name not in complete and any(_includes(name, text) for text in complete.values()):
            complete[name] = (headers_folder() / name).read_bytes()
    if any(map(_EARLIER_CALL.search, complete.values())):
        complete[EARLIER_CUDA] = (headers_folder() / EARLIER_CUDA).read_bytes()
    return complete


def _includes(header: str, text: bytes) -> bool:
    name = re.escape(header.encode())
    path = rb"<%s>|\"(?:[^\"\n]{0,200}/)?%s\"" % (name, name)
    return bool(re.search(rb"^[ \t]*#[ \t]*include[ \t]*(?:%s)" % path, text, re.MULTILINE))


def is_header_name(name: str) -> bool:
    """True if a file may be written under ``name``: letters, blanks, folders below, no name of ours."""
    ours = name in (SOURCE_NAME, "cuda_runtime.h") or name.startswith(f"{UNIT}.")
    return bool(_HEADER_NAME.fullmatch(name)) and not ours


_QUOTED_INCLUDE = re.compile(
    rb"^(?P<start>[ \t]*#[ \t]*include[ \t]*\")(?P<path>[^\"\n]{1,200})(?=\")", re.MULTILINE
)


def with_reached_includes(files: Mapping[str, bytes], source: str) -> dict[str, bytes]:
    """The files with each quoted include of one of them by the path that it has; ``source`` is no header."""
    headers = [name for name in files if name != source]
    return (
        {name: _with_reached_includes(name, text, headers) for name, text in files.items()}
        if headers
        else dict(files)
    )


def _with_reached_includes(name: str, text: bytes, headers: Collection[str]) -> bytes:
    def read(match: re.Match[bytes]) -> bytes:
        written = match["path"].decode(errors="replace")
        path = normpath(join(dirname(name), written.replace("\\", "/")))
        meant = path if path in headers and "\\" in written else _header_at(path, headers)
        return match["start"] + (meant.encode() if meant else match["path"])

    return _QUOTED_INCLUDE.sub(read, text)


def _header_at(path: str, headers: Collection[str]) -> str:
    """Header that a path from the top leads to, but for folders before it; empty if the path exists."""
    if path in headers:
        return ""
    while path.startswith("../"):
        path = path.removeprefix("../")
    alike = [header for header in headers if header == path or header.endswith(f"/{path}")]
    last = path.rsplit("/", 1)[-1]
    alike = alike or [header for header in headers if header.rsplit("/", 1)[-1] == last]
    return alike[0] if len(alike) == 1 else ""


_VALUE = r"(?:[^;,{}()\n]|\((?:[^()\n]|\([^()\n]*\))*\))+"
"""An expression up to what ends it; what is in parentheses belongs to it."""


def _definition(name: str) -> re.Pattern[str]:
    """A macro without parameters, a constant or an enumerator; its value is the one group that matches."""
    word = rf"(?<![*&])(?<![*&] )\b{re.escape(name)}"
    macro = rf"^[ \t]*#[ \t]*define[ \t]+{word}[ \t]+(?P<value>[^\s/](?:[^\n/]|/(?![/*]))*)"
    constant = (
        rf"\b(?:const|constexpr)\b[^;(){{}}\n]{{1,100}}?{word}[ \t]*(?:=(?!=)|\{{)[ \t]*(?P<given>{_VALUE})"
    )
    listed = rf"\benum\b[^;{{}}]{{0,100}}\{{[^{{}}]{{0,2000}}?{word}\s*=\s*(?P<listed>{_VALUE})"
    return re.compile(f"{macro}|{constant}|{listed}", re.MULTILINE)


def undefined_sizes(sizes: Named[tuple[str, ...]], texts: Iterable[bytes]) -> tuple[str, ...]:
    """The names of the first size that no text defines under any of them; empty where all are defined.

    ``sizes`` are names, each with others by which it may go.
    """
    sources = [_without_comments(text.decode(errors="replace")) for text in texts] if sizes else []
    for name, aliases in sizes:
        names = (name, *aliases)
        if not any(_definition(size_name).search(source) for size_name in names for source in sources):
            return names
    return ()


def with_values(values: Mapping[str, int], texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The texts with the macros and constants of these names set to the values, line for line."""
    return {file: _with_values(text, values) for file, text in texts.items()} if values else dict(texts)


def _with_values(text: bytes, values: Mapping[str, int]) -> bytes:
    source = text.decode(errors="replace")
    for name, value in values.items():
        matches = list(_definition(name).finditer(_without_comments(source)))
        for match in reversed(matches):
            group = str(match.lastgroup)
            end = match.start(group) + len(match[group].rstrip())
            source = f"{source[: match.start(group)]}{value}{source[end:]}"
    return source.encode()


def _without_comments(source: str) -> str:
    """The text with blanks for comments and strings; as it is where it cannot be parsed in time."""
    return CppText(source).without_comments or source


_COMMAND = re.compile(r"\s*(?P<command>%%[A-Za-z]\w*)[^\n]*")
_BLANK = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_BRACKETED_INCLUDE = re.compile(
    r"^(?P<start>[ \t]*#[ \t]*include[ \t]*)"
    r"<(?P<before>[ \t]{0,20})(?P<name>[^<>\s][^<>\n]{0,200}?)(?P<after>[ \t]{0,20})>",
    re.MULTILINE,
)

_MOST_REMARKS = 20
"""Most repairs of one kind that are reported of a file: more add nothing new."""

_LONGEST_LINE = 2000
"""Limit of lines' length; longer ones are not handwritten, and looking for quotes in them may take long."""


class Repaired(NamedTuple):
    """A text as it was meant, and for each repair its first line and a sentence."""

    text: str
    remarks: tuple[tuple[int, Finding], ...]


def repaired(text: str) -> Repaired:
    """The text as its author meant it; the same text where a compiler takes it."""
    text, command = _without_command(text)
    text, blanks = _with_plain_blanks(text)
    text, includes = _with_tight_brackets(text)
    return Repaired(text, (*command, *blanks, *includes))


def repair_remarks(text: str, file: str) -> Iterator[Finding]:
    """A remark, which costs nothing, for each repair of a file's text."""
    for line, remark in repaired(text).remarks:
        yield replace(remark, file=file, line=line, severity=Severity.WARNING)


def _without_command(text: str) -> tuple[str, list[tuple[int, Finding]]]:
    match = _COMMAND.match(text)
    if match is None:
        return text, []
    start = match.start("command")
    remark = problem(FindingCode.NOTEBOOK_COMMAND, command=harmless(match["command"]))
    return text[:start] + text[match.end() :], [(text.count("\n", 0, start) + 1, remark)]


def _with_plain_blanks(text: str) -> tuple[str, list[tuple[int, Finding]]]:
    """Blanks instead of characters that look like them, outside strings: those are printed as they are."""
    if not _BLANK.search(text):
        return text, []
    lines = text.split("\n")
    plain = [_outside_quotes(line) if len(line) < _LONGEST_LINE else line for line in lines]
    changed = [number for number, line in enumerate(lines, 1) if plain[number - 1] != line]
    if not changed:
        return text, []
    blank = next(filter(None, map(_BLANK.search, (lines[number - 1] for number in changed))))
    more = len(changed) - 1
    others = part("on-other-lines", count=more) if more else ()
    remark = problem(FindingCode.ODD_BLANKS, others=others, character=f"{ord(blank[0]):04X}")
    return "\n".join(plain), [(changed[0], remark)]


def _outside_quotes(line: str) -> str:
    kept, begin = [], 0
    for quoted in _QUOTED.finditer(line):
        kept += [_BLANK.sub(" ", line[begin : quoted.start()]), quoted[0]]
        begin = quoted.end()
    return "".join((*kept, _BLANK.sub(" ", line[begin:])))


def _with_tight_brackets(text: str) -> tuple[str, list[tuple[int, Finding]]]:
    loose = (
        include for include in _BRACKETED_INCLUDE.finditer(text) if include["before"] or include["after"]
    )
    remarks = [
        (
            text.count("\n", 0, match.start("name")) + 1,
            problem(FindingCode.LOOSE_BRACKETS, name=harmless(match["name"])),
        )
        for match in islice(loose, _MOST_REMARKS)
    ]
    return _BRACKETED_INCLUDE.sub(r"\g<start>\g<before><\g<name>>\g<after>", text), remarks


LONGEST = 400
"""Characters of a compiler's sentence that are kept."""

_FOLDERS = re.compile(r"(?<![\w.<>/])(?:/[^\s\"'`<>():;,/]+)*/(?=[^\s\"'`<>():;,/]+)")


def harmless(text: str) -> str:
    """One line without control characters and without absolute folders, cut at `LONGEST`."""
    return sentence(_FOLDERS.sub("", " ".join(text.split())), LONGEST)


def problem(code: FindingCode, file: str = "", line: int | None = None, **details: Detail) -> Finding:
    """Finding of a code, with its sentence; a caller that knows its place may add it."""
    finding = Finding(FindingKind.COMPILE, file=file, line=line, code=code, details=tuple(details.items()))
    return worded(finding)


def part(name: str, /, **values: Detail) -> tuple[Clause, ...]:
    """A part of a sentence, as the data of a finding hold it."""
    return (Clause(name, tuple(values.items())),)
