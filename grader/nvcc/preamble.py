"""What every compile unit begins with, preprocessed once: CUDA's own headers as text, and their macros.

nvcc puts ``cuda_runtime.h`` before every file, which takes the preprocessor six sevenths of its time. A unit
is preprocessed with the macros in place of the headers instead, and their text is put before it. Headers of
these that the file includes itself are empty then, as ever: their guards are among the macros.

A macro of a system header stays one, for the preprocessor marks what comes of it. Units in which the exchange
might show otherwise are preprocessed as a whole, and so are those of which any tool says a word
(`Compiler.translate`).
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.nvcc.cache import made_by, read_entry, write_entry
from grader.nvcc.toolchain import UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.model import Named
    from grader.nvcc.toolchain import Toolchain
    from grader.sandbox import Sandbox

MACROS = f"{UNIT}.macros.h"
_INCLUDED = ("-include", "cuda_runtime.h")
_OWN_TEXT = f'\n# 1 "{UNIT}.cu"'
"""The line marker where the headers end that nvcc itself includes, and the unit's own text begins."""

_SHOWS = re.compile(rb"__COUNTER__|(?:push|pop)_macro|\\[uU]|" + UNIT.encode())
"""What counts macros or remembers them, names spelled otherwise ([lex.charset]), and files of ours."""

_MARKER = re.compile(r'# \d+ "(?P<file>[^"]*)"(?P<flags>[ \d]*)')
_NO_FILES = ("<built-in>", "<command-line>")
_SYSTEM = "3"
"""The flag of a line marker for text of a system header (GCC manual, "Preprocessor Output")."""


class Preprocessed(NamedTuple):
    """What a preprocessor makes of a unit, and the files that it read."""

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
    """How to preprocess a unit of these sources with the cached preamble; None where it is read whole."""
    command = without_headers(toolchain.preprocess)
    if cache is None or command is None or not _may_be_kept(sandbox) or not bears_exchange(sources):
        return None
    preamble = load(cache, toolchain)
    return preamble and FastPath(command, (MACROS, preamble.macros.encode("latin-1")), preamble.text)


def remember(
    cache: Path,
    toolchain: Toolchain,
    sandbox: Sandbox,
    preprocess_empty: Callable[[tuple[str, ...]], Preprocessed | None],
) -> None:
    """Keep the preamble of a toolchain, unless it is kept; ``preprocess_empty`` is given commands to run."""
    if not _may_be_kept(sandbox) or load(cache, toolchain) is not None:
        return
    plain = preprocess_empty(toolchain.preprocess)
    defining = preprocess_empty((*toolchain.preprocess, "-dD"))
    if plain and defining:
        store(cache, toolchain, plain.text, defining.text, plain.files)


def _may_be_kept(sandbox: Sandbox) -> bool:
    """Whether the toolchain is this machine's own: of an image's files nobody would see a change."""
    return not sandbox.equipment.nvcc


def parted(unit: str) -> tuple[str, str]:
    """The headers that nvcc itself includes, and the unit's own text from its marker on, if there is one."""
    headers, mark, own = unit.partition(_OWN_TEXT)
    return headers, mark + own


def load(folder: Path, toolchain: Toolchain) -> Preamble | None:
    """The preamble that is kept for a toolchain of this machine; None without one, or where files changed."""
    stored = read_entry(_path(folder, toolchain))
    preamble = Preamble(*marshal.loads(stored)) if stored else None  # noqa: S302 - our own, with its checksum
    return preamble if preamble and preamble.files == states_of(path for path, *_ in preamble.files) else None


def store(folder: Path, toolchain: Toolchain, text: str, with_macros: str, files: Iterable[str]) -> None:
    """Keep what an empty unit is preprocessed to out of ``files``, plainly and with definitions (``-dD``)."""
    macros = "\n".join((*_definitions(with_macros), ""))
    preamble = Preamble(parted(text)[0], macros, states_of(files))
    write_entry(_path(folder, toolchain), marshal.dumps(tuple(preamble)))


def bears_exchange(sources: Named[bytes]) -> bool:
    """Whether nothing in the sources could tell macros from the headers that define them."""
    return not any(_SHOWS.search(text) for _, text in sources)


def without_headers(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command of a preprocessor with the macros in place of the headers; None if it includes others."""
    at = next((n for n, pair in enumerate(pairwise(command)) if pair == _INCLUDED), None)
    if at is None or command.count(_INCLUDED[0]) != 1:
        return None
    return (*command[:at], "-imacros", MACROS, *command[at + 2 :])


def _path(folder: Path, toolchain: Toolchain) -> Path:
    parts = (made_by(), sys.version, toolchain.version, toolchain.host_version, toolchain.preprocess)
    return folder / "headers" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.preamble"


def states_of(files: Iterable[str]) -> list[tuple[str, int, int]]:
    """The size and the time of change of each file; 0 for what is not there."""
    states = []
    for name in files:
        try:
            about = Path(name).stat()
            states.append((name, about.st_size, about.st_mtime_ns))
        except OSError:
            states.append((name, 0, 0))
    return states


def _definitions(text: str) -> Iterator[str]:
    """The directives that define macros, between markers that say which are those of system headers."""
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
