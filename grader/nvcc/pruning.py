"""A compile unit without those declarations of CUDA's own headers that nothing in it mentions.

nvcc puts ``cuda_runtime.h`` before every file: 36,000 lines, which the compiler reads for each build, and
which take most of its time for a kernel. What stays is what declares a name that the file mentions, what that
mentions in turn, and whatever is not understood. Of what is left out the line breaks stay, so that all else
stands where it stood. A name that is looked up finds the very declarations that it finds in the whole unit,
so that the code is the same. What the compiler says might not be: where it says anything, the whole unit is
compiled (`Compiler.translate`).

Which declarations headers have is found out once for each toolchain, while the first unit is compiled as a
whole, and kept in the folder of builds (`grader.nvcc.header_declarations`). An overloaded operator is looked
up without its name: it stays where a type that it is applied to is.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from grader.nvcc.cache import made_by, read_entry, write_entry
from grader.nvcc.preamble import parted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from grader.nvcc.header_declarations import HeaderDeclaration

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_UNIVERSAL_NAME = re.compile(r"\\[uU]")
"""A name spelled otherwise (C++17, [lex.charset]): it would not be seen."""

_IMPLICIT = (
    *("initializer_list", "type_info", "align_val_t", "nothrow_t", "bad_alloc", "size_t", "ptrdiff_t"),
    *("begin", "end"),
    *("dim3", "uint3", "cudaStream_t", "cudaError_t", "cudaConfigureCall", "__cudaPushCallConfiguration"),
)
"""Names that are looked up without being written: by `new` and `typeid`, lists in braces, loops over ranges,
and launches of kernels."""

_BINDING = re.compile(r"\bauto\b[\s&]*\[")
_OF_BINDINGS = ("tuple_size", "tuple_element", "get")
"""A structured binding (C++17, [dcl.struct.bind]), and what is looked up for it."""

_INDEX_LOCK = Lock()
"""Two threads that miss the same index need not both make it."""


class HeaderIndex(NamedTuple):
    """The declarations of a text by their numbers.

    ``pieces`` are where each starts and ends, and the line breaks and markers that stay without it;
    ``by_name`` are those that declare a name, ``needed`` those that each one needs, and ``always`` those that
    stay in any case. ``operators`` are overloaded ones with those that declare what they are applied to.
    """

    pieces: list[tuple[int, int, str]]
    by_name: dict[str, list[int]]
    needed: list[list[int]]
    always: list[int]
    operators: list[tuple[int, list[int]]]

    def required(self, names: Iterable[str]) -> set[int]:
        """The declarations that stay where a text mentions these names."""
        waiting = [*self.always, *(number for name in names for number in self.by_name.get(name, ()))]
        required: set[int] = set()
        while waiting:
            self._require(waiting, required)
            waiting = [
                number
                for number, operands in self.operators
                if number not in required and not required.isdisjoint(operands)
            ]
        return required

    def _require(self, waiting: list[int], required: set[int]) -> None:
        """Add declarations, and what they need in turn."""
        while waiting:
            number = waiting.pop()
            if number not in required:
                required.add(number)
                waiting += self.needed[number]


def pruned(unit: str, folder: Path) -> str | None:
    """The unit without what it does not need, or None where it has to be compiled as it is.

    That is so also before `remember` was called for a unit with the same headers.
    """
    headers, own = _split(unit)
    index = _stored_index(_path(folder, headers)) if headers else None
    if index is None or not index.pieces:
        return None
    bound = _OF_BINDINGS if _BINDING.search(own) else ()
    kept = index.required({*_IMPLICIT, *bound, *_NAME.findall(own)})
    texts: list[str] = []
    end = 0
    for number, (start, stop, blank) in enumerate(index.pieces):
        if number not in kept:
            texts += [headers[end:start], blank]
            end = stop
    return "".join((*texts, headers[end:], own))


def remember(unit: str, folder: Path) -> None:
    """Find out and keep what a unit's headers declare, unless it is kept; that takes about a second."""
    headers, _ = _split(unit)
    if not headers:
        return
    path = _path(folder, headers)
    with _INDEX_LOCK:
        if _stored_index(path) is None:
            write_entry(path, marshal.dumps(tuple(_index_or_nothing(headers))))


def _split(unit: str) -> tuple[str, str]:
    """The headers that nvcc itself includes, and the rest; no headers where nothing may be left out."""
    headers, own = parted(unit)
    if not own or len(own) > len(headers) or _UNIVERSAL_NAME.search(own):
        return "", unit
    return headers, own


def _path(folder: Path, headers: str) -> Path:
    """The file where the index of a text is kept."""
    key = hashlib.sha256(f"{made_by()}\n{sys.version}\n{headers}".encode()).hexdigest()
    return folder / "headers" / f"{key}.index"


def _stored_index(path: Path) -> HeaderIndex | None:
    """The index in a file; None where there is none that is whole."""
    stored = read_entry(path)
    return None if stored is None else HeaderIndex(*marshal.loads(stored))  # noqa: S302 - our own, checked


def _index_or_nothing(headers: str) -> HeaderIndex:
    """The index of a text, one without declarations where the text is not understood."""
    try:
        return index_of(headers)
    except ValueError:
        return HeaderIndex([], {}, [], [], [])


def index_of(headers: str) -> HeaderIndex:
    """The index of a preprocessed text; raises ValueError where its brackets do not match."""
    from grader.nvcc.header_declarations import declarations  # noqa: PLC0415 - usually the index is kept

    all_declarations = declarations(headers)
    by_name: dict[str, list[int]] = {}
    for number, declaration in enumerate(all_declarations):
        for name in declaration.declares or ():
            by_name.setdefault(name, []).append(number)
    operands = [_types_of(d.operands, all_declarations, by_name) for d in all_declarations]
    return HeaderIndex(
        [(d.start, d.end, _blank(headers[d.start : d.end])) for d in all_declarations],
        by_name,
        [sorted({n for name in d.mentions for n in by_name.get(name, ())}) for d in all_declarations],
        [number for number, d in enumerate(all_declarations) if d.declares is None and not operands[number]],
        [(number, sorted(types)) for number, types in enumerate(operands) if types],
    )


def _types_of(
    names: Iterable[str], all_declarations: Sequence[HeaderDeclaration], by_name: Mapping[str, list[int]]
) -> set[int]:
    """The declarations of these names, and of those that an alias or a prototype among them mentions."""
    waiting, seen, types = list(names), set(names), set[int]()
    while waiting:
        for number in by_name.get(waiting.pop(), ()):
            types.add(number)
            further = (
                frozenset() if all_declarations[number].has_body else all_declarations[number].mentions - seen
            )
            seen |= further
            waiting += further
    return types


def _blank(text: str) -> str:
    """What stays of a declaration that is left out: its line breaks, and lines for the preprocessor."""
    return "\n".join(line if line.startswith("#") else "" for line in text.split("\n"))
