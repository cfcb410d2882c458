"""What the student's own text declares, read from the preprocessor's output.

Comments are gone there and macros expanded, so patterns suffice for what PTX does not tell: kernels that
were never instantiated, template parameters, extents of shared arrays. None
of it decides a grade by itself; what the patterns miss is simply not known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.nvcc.constants import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from grader.model import Named

_MARK = re.compile(r'# (?P<line>\d+) "(?P<file>[^"]*)"')
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*+"?|\'(?:\\.|[^\'\\\n]){0,16}\'|(?P<word>[A-Za-z_]\w*)|(?P<open>\{)|(?P<close>\})|;'
)
_NAMESPACE = re.compile(r'(?:inline\s+)?namespace\s+(?P<name>[\w:\s]*)$|extern\s+"C(?:\+\+)?"\s*$')
_ATTRIBUTES = r"(?:__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|[\w:*&\s])*?"
_KERNEL = re.compile(rf"__attribute__\(\(global\)\){_ATTRIBUTES}\b(?P<name>[A-Za-z_]\w*)\s*\($")
_KERNEL_START = "__attribute__((global))"
_TEMPLATE = re.compile(r"template\s*<(?P<parameters>[^;{}]*?)>\s*[^<>]*$")
_SHARED = re.compile(r"__attribute__\(\(shared\)\)(?P<declarators>[^;{}]{1,400});")
_ARRAY = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?P<extents>(?:\[[^\[\]]+\]\s*)+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_EXTENT = re.compile(r"\[([^\[\]]+)\]")
_LONGEST_HEAD = 800
_LONGEST_UNIT = 20_000_000
_LONGEST = 500_000
"""Characters of own text that are looked at. Patterns have bounds, so that no text takes them for ever."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as it is declared. ``template`` holds the parameters of a template, as they are written."""

    name: str
    scopes: tuple[str, ...]
    template: tuple[str, ...]
    line: int
    file: str
    parameters: tuple[str, ...] = ()
    """The names of its parameters as the file has them, empty for one without a name."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """The preprocessed lines of some files, joined; `place` says where an offset into it comes from."""

    text: str
    starts: tuple[int, ...]
    places: tuple[tuple[str, int], ...]

    def place(self, offset: int) -> tuple[str, int]:
        """The file and line of a character."""
        return self.places[max(0, bisect_right(self.starts, offset) - 1)] if self.places else ("", 1)


def own_text(preprocessed: str, source: str, files: Collection[str]) -> OwnText:
    """The lines that come from ``files``, the first of which to be entered is ``source``."""
    begin = preprocessed.find(f'# 1 "{source}"')
    lines: list[str] = []
    starts: list[int] = []
    places: list[tuple[str, int]] = []
    file, number, size = "", 0, 0
    for line in preprocessed[begin : begin + _LONGEST_UNIT].splitlines() if begin >= 0 else ():
        mark = _MARK.match(line)
        if mark:
            file, number = mark["file"], int(mark["line"])
            continue
        if file in files and line.strip() and size < _LONGEST:
            lines.append(line)
            starts.append(size)
            places.append((file, number))
            size += len(line) + 1
        number += 1
    return OwnText("\n".join(lines), tuple(starts), tuple(places))


def included_at(preprocessed: str, path: str) -> tuple[str, int] | None:
    """The file and line whose ``#include`` read ``path`` (GNU cpp manual, "Preprocessor Output")."""
    entered = preprocessed.find(f'\n# 1 "{path}" 1')
    mark = preprocessed.rfind("\n# ", 0, max(0, entered))
    includer = _MARK.match(preprocessed, mark + 1)
    if includer is None:
        return None
    return includer["file"], int(includer["line"]) + preprocessed.count("\n", mark + 1, entered)


def kernels(own: OwnText) -> tuple[Kernel, ...]:
    """Every kernel declared at namespace scope, in the order of the text, each name and scope once."""
    found: dict[tuple[str, ...], Kernel] = {}
    for scopes, head, start in _heads(own.text):
        kernel = _KERNEL.search(head)
        if kernel is None or kernel["name"] == "__attribute__":
            continue
        template = _TEMPLATE.search(head[: kernel.start()])
        file, line = own.place(start + kernel.start("name"))
        parameters = _split(template["parameters"]) if template else ()
        named = _parameter_names(own.text, start + len(head) - 1)
        declared = Kernel(kernel["name"], scopes, parameters, line, file, named)
        found.setdefault((*scopes, kernel["name"]), declared)
    return tuple(found.values())


def _parameter_names(text: str, offset: int) -> tuple[str, ...]:
    """The names in the list of parameters whose parenthesis opens at or after ``offset``."""
    opens = text.find("(", offset)
    depth = 0
    for index in range(opens, min(len(text), opens + _LONGEST_HEAD)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if not depth:
            return tuple(_name_of(part) for part in _split(text[opens + 1 : index]))
    return ()


def _name_of(parameter: str) -> str:
    """``float *A`` → ``A``; empty where there is no name to be read."""
    words = _WORD.findall(parameter.partition("=")[0].partition("[")[0])
    return words[-1] if len(words) > 1 else ""


def _heads(text: str) -> Iterator[tuple[tuple[str, ...], str, int]]:
    """For each kernel at namespace scope: its scopes, its text up to the parameters, where that starts."""
    scopes: list[str | None] = []
    begin = 0
    for token in _TOKEN.finditer(text):
        if token["open"]:
            scopes.append(_scope(text[begin : token.start()]))
        elif token["close"] and scopes:
            scopes.pop()
        elif token["word"] and None not in scopes and _opens(text, token.end()):
            start = max(begin, token.end() - _LONGEST_HEAD)
            head = text[start : token.end()] + "("
            if _KERNEL_START in head:
                yield tuple(scope for scope in scopes if scope), head, start
        if token["open"] or token["close"] or token[0] == ";":
            begin = token.end()


def _opens(text: str, offset: int) -> bool:
    """Whether a parenthesis follows, after spaces."""
    return text[offset : offset + 200].lstrip().startswith("(")


def _scope(head: str) -> str | None:
    """What a brace opens: a namespace's name, "" for one that adds no name, None for any other block."""
    match = _NAMESPACE.search(head[-_LONGEST_HEAD:].strip())
    return None if match is None else "".join((match["name"] or "").split())


def _split(parameters: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in parameters.split(",") if part.strip())


def lone_extents(own: OwnText, kernel: Kernel) -> frozenset[str]:
    """Names that alone make an extent of a shared array of the ``kernel``: ``W`` of ``[W][W + 1]``."""
    extents = (
        extent.strip()
        for declaration in _SHARED.finditer(own.text)
        for file, line in (own.place(declaration.start()),)
        if file == kernel.file and line >= kernel.line
        for array in _ARRAY.finditer(declaration["declarators"])
        for extent in _EXTENT.findall(array["extents"])
    )
    return frozenset(extent for extent in extents if extent.isidentifier())


def shared_shapes(
    own: OwnText, constants: Mapping[str, int], kernel: Kernel | None
) -> Named[tuple[int, ...]]:
    """The extents of each shared array; of several with one name the first at or after ``kernel``."""
    first = (kernel.file, kernel.line) if kernel else ("", 0)
    found: list[tuple[bool, str, tuple[int, ...]]] = []
    for declaration in _SHARED.finditer(own.text):
        file, line = own.place(declaration.start())
        elsewhere = file != first[0] or line < first[1]
        for array in _ARRAY.finditer(declaration["declarators"]):
            extents = [number(extent, constants) for extent in _EXTENT.findall(array["extents"])]
            known = tuple(extent for extent in extents if extent is not None and extent > 0)
            found.append((elsewhere, array["name"], known if len(known) == len(extents) else ()))
    shapes: dict[str, tuple[int, ...]] = {}
    for _, name, shape in sorted(found, key=lambda each: each[0]):
        shapes.setdefault(name, shape)
    return tuple((name, shape) for name, shape in shapes.items() if shape)
