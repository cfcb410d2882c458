"""A compile unit without host code, for files whose kernel is asked for and whose host code does not compile.

Nothing of a file's host code runs here, so that an error in it does not concern the kernel. Left out are
definitions of functions for the host and, of what else stands outside device code, what does not compile.
The text is that of the preprocessor, where macros are expanded and conditions decided. Line numbers stay.
Braces are matched by token: what does not compile need not parse, and a parser that goes on after an error
might take a kernel for a part of the function before it.

Headers that are not there are left out first. What the kernel needs of either is then missing, and the file
is refused with the errors of the first try. The kernel is never changed.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.model import Clause, Severity
from grader.model.messages import remarked
from grader.toolchain.nvcc import diagnostics
from grader.toolchain.nvcc.constants import probing_unit
from grader.toolchain.nvcc.diagnostics import END_OF_UNIT, CompileRefused, SourceLine
from grader.toolchain.nvcc.source import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from grader.model import Build, Finding
    from grader.toolchain.nvcc.compiler import Compiler

_MARK = re.compile(r'# (?P<line>\d+) "(?P<file>[^"]*)"')
_TOKEN = re.compile(
    r'R"(?P<delimiter>[^()\\\s]{0,16})\(.{0,1000}?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*+"?|\'(?:\\.|[^\'\\\n]){0,16}\''
    r"|(?P<number>\d[\w'.]*)|(?P<word>[A-Za-z_]\w*)|(?P<sign>[{}()\[\];=])",
    re.DOTALL,
)
_ON_DEVICE = re.compile(
    r"__attribute__\s*\(\(\s*(?:global|device|constant|shared|managed)\b|\bconst(?:expr|eval)\b"
)
_ATTRIBUTE = re.compile(r"(?:__attribute__\s*\(|alignas\s*)\((?:[^()]|\([^()]*\))*\)\)?")
_OPERATOR = re.compile(r"\boperator\s*[^\s\w(]+")
_NAMESPACE = re.compile(r'(?:inline\s+)?namespace\b[\w:\s]*$|extern\s+"C(?:\+\+)?"\s*$')
_CONDITION = ("static_assert", "_Static_assert")
_LONGEST = 500_000
"""Characters that are looked at, of own text and before its braces; what is more is left as it is."""
_LONGEST_HEAD = 2000
_NESTING = {"(": 1, "[": 1, ")": -1, "]": -1}


@frozen
class DeviceUnit:
    """A unit without host code, and the lines that something was left out of.

    `END_OF_UNIT` is among them where a declaration that was left out is not closed.
    """

    text: str
    places: frozenset[SourceLine]


@frozen
class _Declaration:
    """One declaration at namespace scope: where it stands in the own text, and what it is."""

    start: int
    end: int
    defines_function: bool
    closed: bool = True


def without_host_code(unit: str, files: Collection[str], broken: Collection[SourceLine]) -> DeviceUnit:
    """The unit without functions for the host in ``files``, and without ``broken`` declarations for the host.

    What has an attribute of the device anywhere, what is `constexpr`, and a `static_assert` stay.
    """
    lines = unit.split("\n")
    student_lines = list(_own_lines(lines, files))
    text = "\n".join("" if lines[index].startswith("#") else lines[index] for index, _ in student_lines)
    if len(text) > _LONGEST:
        return DeviceUnit(unit, frozenset())
    begins = [0, *(match.end() for match in re.finditer("\n", text))]
    kept: list[str] = []
    end = 0
    gone: set[int] = set()
    places: set[SourceLine] = set()
    for declaration in _declarations(text):
        content = text[declaration.start : declaration.end]
        first = bisect_right(begins, declaration.end - len(content.lstrip()))
        numbers = range(first - 1, bisect_right(begins, declaration.end - 1))
        declared_lines = {student_lines[number][1] for number in numbers} | (
            set() if declaration.closed else {END_OF_UNIT}
        )
        drops = declaration.defines_function or not declared_lines.isdisjoint(broken)
        if drops and not _ON_DEVICE.search(content) and not content.lstrip().startswith(_CONDITION):
            kept += [text[end : declaration.start], re.sub(r"[^\n]", " ", content)]
            end = declaration.end
            gone.update(numbers)
            places |= declared_lines
    changed = "".join((*kept, text[end:])).split("\n")
    for number, (index, _) in enumerate(student_lines):
        if number in gone or not lines[index].startswith("#"):
            lines[index] = changed[number]
    return DeviceUnit("\n".join(lines), frozenset(places))


def _own_lines(lines: list[str], files: Collection[str]) -> Iterator[tuple[int, SourceLine]]:
    """The unit's lines that come from ``files``: their index, and where they come from."""
    file, number = "", 0
    for index, line in enumerate(lines):
        mark = _MARK.match(line)
        if mark:
            file, number = os.path.normpath(mark["file"]), int(mark["line"])
            continue
        if file in files:
            yield index, (file, number)
        number += 1


def _declarations(text: str) -> Iterator[_Declaration]:
    """Every declaration at namespace scope, in order; those behind too many braces are not handwritten."""
    signs = [match for match in _TOKEN.finditer(text) if match["sign"]]
    partners = _partners(signs)
    start = parentheses = index = looked_at = 0
    while index < len(signs):
        sign, begin, end = signs[index]["sign"], signs[index].start(), signs[index].end()
        parentheses = max(0, parentheses + _NESTING.get(sign, 0))
        if sign == "{":
            head = "" if parentheses else text[max(start, begin - _LONGEST_HEAD) : begin]
            looked_at += len(head)
            if looked_at > _LONGEST:
                return
            if _NAMESPACE.search(head):
                start = end
            elif index not in partners:
                yield _Declaration(start, len(text), _is_function(head), closed=False)
                return
            else:
                index = partners[index]
                if _is_function(head):
                    yield _Declaration(start, signs[index].end(), defines_function=True)
                    start = signs[index].end()
        elif sign == "}":
            start = end
        elif sign == ";" and not parentheses:
            yield _Declaration(start, end, defines_function=False)
            start = end
        index += 1


def _partners(signs: list[re.Match[str]]) -> dict[int, int]:
    """Index of the brace that closes each opening brace, by its index."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, sign in enumerate(signs):
        if sign["sign"] == "{":
            opened.append(index)
        elif sign["sign"] == "}" and opened:
            partners[opened.pop()] = index
    return partners


def _is_function(head: str) -> bool:
    """True if a brace after ``head`` opens the body of a function, and not a class or initial values."""
    plain = _OPERATOR.sub("operator", _ATTRIBUTE.sub(" ", re.sub(r"template\s*<[^;{}()]*>", " ", head)))
    opening = plain.find("(")
    return opening > 0 and "=" not in plain[:opening]


MOST_HEADERS = 12
"""Limit of missing headers that are left out; each takes a run of the preprocessor to be discovered."""
MOST_ROUNDS = 3
"""Most times that the kernel is tried: errors of some declarations show only where others are gone."""

_INCLUDE_LINE = re.compile(rb"[ \t]*#[ \t]*include(?:_next)?\b")


def built_without_host_code(
    compiler: Compiler, refusal: CompileRefused, build: Callable[[Compiler], Build]
) -> Build | None:
    """Build of the kernel alone by ``build``, with a remark for each error of the ``refusal``; or None."""
    findings = refusal.findings
    broken = diagnostics.places(refusal.messages, compiler.files)
    if any(map(diagnostics.missing_header, refusal.messages)):
        complete = _without_missing_headers(compiler, refusal)
        if complete is None:
            return None
        compiler, findings = complete
        broken = frozenset()
    if not refusal.messages or broken is None:
        return None
    kernel_build = _kernel_alone(compiler, build, broken)
    return kernel_build and replace(kernel_build, warnings=(*map(_remark, findings), *kernel_build.warnings))


def _kernel_alone(
    compiler: Compiler, build: Callable[[Compiler], Build], broken: frozenset[SourceLine]
) -> Build | None:
    files = {SOURCE_NAME, *compiler.files.headers}
    for _ in range(MOST_ROUNDS):
        try:
            return build(replace(compiler, edit=partial(_edited, files=files, broken=broken)))
        except CompileRefused as again:
            more = diagnostics.places(again.messages, compiler.files)
            if not more or more <= broken:
                return None
            broken |= more
    return None


def _edited(unit: str, files: Collection[str], broken: frozenset[SourceLine]) -> str:
    """The unit without host code; raises CompileRefused where what is ``broken`` is no host code."""
    without = without_host_code(unit, files, broken)
    if not broken <= without.places:
        raise CompileRefused(())
    return without.text


def _without_missing_headers(
    compiler: Compiler, refusal: CompileRefused
) -> tuple[Compiler, tuple[Finding, ...]] | None:
    """Compiler whose sources include only what is there, and the findings on the rest."""
    findings: list[Finding] = []
    for _ in range(MOST_HEADERS):
        sources = dict(compiler.sources)
        for message in filter(diagnostics.missing_header, refusal.messages):
            name = os.path.normpath(message.file)
            lines = sources.get(name, b"").split(b"\n")
            index = (message.line or 0) - 1
            if not (0 <= index < len(lines) and _INCLUDE_LINE.match(lines[index])):
                return None
            lines[index] = b""
            sources[name] = b"\n".join(lines)
        if sources == dict(compiler.sources):
            return None
        findings += refusal.findings
        compiler = replace(compiler, sources=tuple(sources.items()))
        try:
            compiler.preprocess(probing_unit(()))
        except CompileRefused as again:
            refusal = again
        else:
            return compiler, tuple(findings)
    return None


def _remark(finding: Finding) -> Finding:
    """Finding for what did not compile, as a remark that costs nothing."""
    if finding.severity is not Severity.ERROR:
        return finding
    return remarked(replace(finding, severity=Severity.WARNING), Clause("kernel-alone"))
