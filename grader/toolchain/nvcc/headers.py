"""CUDA's own headers, which nvcc puts before every file: preprocessed once, and left out where not mentioned.

``cuda_runtime.h`` is 36,000 lines. It takes the preprocessor six sevenths of its time, and the compiler most
of its own for a kernel.

The *preamble* is what every compile unit begins with. A unit is preprocessed with the headers' macros in
their place instead, and their text is put before it. Headers of these that the file includes itself are
empty then, as ever: their guards are among the macros. A macro of a system header stays one, for the
preprocessor marks what comes of it. Units in which the exchange might show otherwise are preprocessed as a
whole, and so are units on which any tool reports a message (`Compiler.translate`).

A *pruned* unit is without those declarations of the headers that nothing in it mentions. What stays is what
declares a name that the file mentions, what that mentions in turn, and all that is not understood. Of what is
left out the line breaks stay, or the marker that follows them, so that all else stands where it stood. A name
that is looked up has the very declarations that it has in the whole unit, so that the code is the same.
The compiler's messages might not be: where it has any, the whole unit is compiled
(`Compiler.translate`).

The declarations of headers are determined once for each toolchain, while the first unit is compiled as a
whole, and kept in the folder of builds (`grader.toolchain.nvcc.header_declarations`). An overloaded operator
is looked up without its name: it stays where a type that it is applied to is.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.toolchain.nvcc.cache import builder_digest, read_entry, states_of, write_entry
from grader.toolchain.nvcc.toolchain import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.model import Named
    from grader.toolchain.nvcc.header_declarations import HeaderDeclaration
    from grader.toolchain.nvcc.toolchain import Toolchain
    from grader.toolchain.sandbox import Sandbox

MACROS = f"{UNIT}.macros.h"
_INCLUDED = ("-include", "cuda_runtime.h")
_OWN_TEXT = f'\n# 1 "{UNIT}.cu"'
"""The line marker where the headers end that nvcc itself includes, and the unit's own text begins."""

_SHOWS = re.compile(rb"__COUNTER__|(?:push|pop)_macro|\\[uU]|" + UNIT.encode())
"""Pattern of what counts or remembers macros, names spelled otherwise ([lex.charset]), and files of ours."""

_MARKER = re.compile(r'# \d+ "(?P<file>[^"]*)"(?P<flags>[ \d]*)')
_NO_FILES = ("<built-in>", "<command-line>")
_SYSTEM = "3"
"""The flag of a line marker for text of a system header (GCC manual, "Preprocessor Output")."""


class Preprocessed(NamedTuple):
    """Output of a preprocessor for a unit, and the files that it read."""

    text: str
    files: tuple[str, ...]


class FastPath(NamedTuple):
    """A unit without the headers: the ``command`` that preprocesses it with the file ``macros`` beside it.

    ``headers`` is the text that is put before what comes of it.
    """

    command: tuple[str, ...]
    macros: tuple[str, bytes]
    headers: str


class Preamble(NamedTuple):
    """The text, what defines its macros, and size and time of change of each file that it is made of."""

    text: str
    macros: str
    files: list[tuple[str, int, int]]


def fast_path(
    cache: Path | None, toolchain: Toolchain, sandbox: Sandbox, sources: Named[bytes]
) -> FastPath | None:
    """Path by which a unit of these sources uses the cached preamble; None where it is read whole."""
    command = without_headers(toolchain.preprocess)
    if cache is None or command is None or not may_be_kept(sandbox) or not bears_exchange(sources):
        return None
    preamble = load_preamble(cache, toolchain)
    return preamble and FastPath(command, (MACROS, preamble.macros.encode("latin-1")), preamble.text)


def remember_preamble(
    cache: Path,
    toolchain: Toolchain,
    sandbox: Sandbox,
    preprocess_empty: Callable[[tuple[str, ...]], Preprocessed | None],
) -> None:
    """Keep the preamble of a toolchain, unless it is kept; ``preprocess_empty`` is given commands to run."""
    if not may_be_kept(sandbox) or load_preamble(cache, toolchain) is not None:
        return
    plain = preprocess_empty(toolchain.preprocess)
    defining = preprocess_empty((*toolchain.preprocess, "-dD"))
    if plain and defining:
        store_preamble(cache, toolchain, plain.text, defining.text, plain.files)


def may_be_kept(sandbox: Sandbox) -> bool:
    """True if a change of the toolchain would be noticed: it is this machine's, or of a known image."""
    return not sandbox.equipment.nvcc or bool(sandbox.equipment.image)


def headers_and_own_text(unit: str) -> tuple[str, str]:
    """The headers that nvcc itself includes, and the unit's own text from its marker on, if there is one."""
    headers, mark, own = unit.partition(_OWN_TEXT)
    return headers, mark + own


def load_preamble(folder: Path, toolchain: Toolchain) -> Preamble | None:
    """The preamble that is kept for a toolchain; None without one, or where files changed."""
    stored = stored_entry(_preamble_path(folder, toolchain))
    preamble = None if stored is None else Preamble(*stored)
    return preamble if preamble and preamble.files == states_of(path for path, *_ in preamble.files) else None


def load_newest(folder: Path) -> None:
    """Have what was kept of headers last in memory, where processes that are forked later find it."""
    with suppress(OSError, ValueError, TypeError, EOFError):  # there is none, or it is another version's
        if (stored := newest_entry(folder, "preamble")) is not None:
            load_index(folder, Preamble(*stored).text)


def newest_entry(folder: Path, ending: str) -> tuple[Any, ...] | None:
    """Contents of the entry that was made last; raises ValueError where there is none, and OSError."""
    paths = (folder / "headers").glob(f"*.{ending}")
    return stored_entry(max(paths, key=lambda path: path.stat().st_mtime_ns))


def load_index(folder: Path, text: str) -> None:
    """Have the index of headers in memory, if it is kept."""
    _stored_index(_index_path(folder, text))


def stored_entry(path: Path) -> tuple[Any, ...] | None:
    """Contents of an entry, not to be changed; read once, as long as the file is the same."""
    return _entry_in_state(path, *states_of([str(path)]))


@lru_cache(maxsize=8)
def _entry_in_state(path: Path, _state: tuple[str, int, int]) -> tuple[Any, ...] | None:
    stored = read_entry(path)
    return None if stored is None else marshal.loads(stored)  # noqa: S302 - our own, with its checksum


def store_preamble(
    folder: Path, toolchain: Toolchain, text: str, with_macros: str, files: Iterable[str]
) -> None:
    """Keep what an empty unit is preprocessed to out of ``files``, plainly and with definitions (``-dD``)."""
    preamble = Preamble(headers_and_own_text(text)[0], macros_in(with_macros), states_in(toolchain, files))
    write_entry(_preamble_path(folder, toolchain), marshal.dumps(tuple(preamble)))


def bears_exchange(sources: Named[bytes]) -> bool:
    """True if nothing in the sources could distinguish macros from the headers that define them."""
    return not any(_SHOWS.search(text) for _, text in sources)


def without_headers(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command of a preprocessor with the macros in place of the headers; None if it includes others."""
    at = next((n for n, pair in enumerate(pairwise(command)) if pair == _INCLUDED), None)
    if at is None or command.count(_INCLUDED[0]) != 1:
        return None
    return (*command[:at], "-imacros", MACROS, *command[at + 2 :])


def toolchain_key(toolchain: Toolchain) -> tuple[str, ...]:
    """Identity of a toolchain's headers, beside their files: versions, and the form they are kept in."""
    return builder_digest(), sys.version, toolchain.version, toolchain.host_version, toolchain.image


def states_in(toolchain: Toolchain, files: Iterable[str]) -> list[tuple[str, int, int]]:
    """Size and time of change of a toolchain's files; none of those of an image, which do not change."""
    return [] if toolchain.image else states_of(files)


def _preamble_path(folder: Path, toolchain: Toolchain) -> Path:
    parts = (*toolchain_key(toolchain), toolchain.preprocess)
    return folder / "headers" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.preamble"


def macros_in(text: str) -> str:
    """The definitions of macros in a text that was preprocessed with them (``-dD``)."""
    return "\n".join((*_definitions(text), ""))


def _definitions(text: str) -> Iterator[str]:
    """The directives that define macros, between markers that say which of them are from system headers."""
    file, system, was_system = "", False, False
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker:
            file, system = marker["file"], _SYSTEM in marker["flags"].split()
        elif line.startswith(("#define ", "#undef ")) and file not in _NO_FILES:
            if system != was_system:
                yield f'# 1 "{MACROS}"' + (f" {_SYSTEM}" if system else "")
                was_system = system
            yield line


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
_BEFORE_A_MARKER = re.compile(r'^# \d+ "[^"\n]*"[ \d]*\n+(?=# \d+ ")', re.MULTILINE)
"""A marker behind which no text stands, but another marker: nearly all are, and take time to be read."""

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

    That is so also before `remember_declarations` was called for a unit with the same headers.
    """
    headers, own = _split(unit)
    less = without_unmentioned(headers, own, folder) if headers else None
    return None if less is None else less + own


def without_unmentioned(headers: str, own: str, folder: Path, implied: Iterable[str] = ()) -> str | None:
    """Headers without the declarations that neither ``own`` text nor the ``implied`` names need.

    None where that is not known: before `remember_index`, and where the headers are not understood.
    """
    index = _stored_index(_index_path(folder, headers))
    if index is None or not index.pieces:
        return None
    bound = _OF_BINDINGS if _BINDING.search(own) else ()
    required = index.required({*_IMPLICIT, *bound, *implied, *_NAME.findall(own)})
    texts: list[str] = []
    end = 0
    for number, (start, stop, blank) in enumerate(index.pieces):
        if number not in required:
            texts += [headers[end:start], blank]
            end = stop
    return _BEFORE_A_MARKER.sub("", "".join((*texts, headers[end:])))


def names_in(text: str) -> set[str]:
    """The names that a text mentions."""
    return set(_NAME.findall(text))


def remember_declarations(unit: str, folder: Path) -> None:
    """Find out and keep what a unit's headers declare, unless it is kept; that takes about a second."""
    headers, _ = _split(unit)
    if headers:
        remember_index(headers, folder)


def remember_index(headers: str, folder: Path) -> None:
    """Find out and keep what headers declare, unless it is kept."""
    path = _index_path(folder, headers)
    with _INDEX_LOCK:
        if _stored_index(path) is None:
            write_entry(path, marshal.dumps(tuple(_index_or_nothing(headers))))


def _split(unit: str) -> tuple[str, str]:
    """The headers that nvcc itself includes, and the rest; no headers where nothing may be left out."""
    headers, own = headers_and_own_text(unit)
    if not own or len(own) > len(headers) or _UNIVERSAL_NAME.search(own):
        return "", unit
    return headers, own


@lru_cache(maxsize=4)
def _index_path(folder: Path, headers: str) -> Path:
    """The file where the index of a text is kept."""
    key = hashlib.sha256(f"{builder_digest()}\n{sys.version}\n{headers}".encode()).hexdigest()
    return folder / "headers" / f"{key}.index"


def _stored_index(path: Path) -> HeaderIndex | None:
    """The index in a file; None where there is none that is whole."""
    stored = stored_entry(path)
    return None if stored is None else HeaderIndex(*stored)


def _index_or_nothing(headers: str) -> HeaderIndex:
    """The index of a text, one without declarations where the text is not understood."""
    try:
        return index_of(headers)
    except ValueError:
        return HeaderIndex([], {}, [], [], [])


def index_of(headers: str) -> HeaderIndex:
    """The index of a preprocessed text; raises ValueError where its brackets do not match."""
    from grader.toolchain.nvcc.header_declarations import declarations  # noqa: PLC0415 - usually the index is kept

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
    waiting, visited, types = list(names), set(names), set[int]()
    while waiting:
        for number in by_name.get(waiting.pop(), ()):
            types.add(number)
            further = (
                frozenset()
                if all_declarations[number].has_body
                else all_declarations[number].mentions - visited
            )
            visited |= further
            waiting += further
    return types


def _blank(text: str) -> str:
    """Remains of a declaration that is left out: its line breaks, and lines for the preprocessor."""
    return "\n".join(line if line.startswith("#") else "" for line in text.split("\n"))
