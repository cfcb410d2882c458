"""``cuda_runtime.h`` for one program: what nvcc includes before every file, without what the file needs not.

nvcc has every file of a program preprocessed twice, for the host and for the device, and compiled by three
compilers, each of which reads the 36,000 lines of that header: for a short program they take five sixths of
the time. nvcc includes it by its plain name, and for that the preprocessor looks into the folder of the job
before any other (GCC manual, ``-include``). So a job gets a header of that name which has, for each of both
*sides*, the declarations that are needed (`grader.toolchain.nvcc.headers`), and the definitions of macros.

Names that a file mentions are known from its text, preprocessed with the macros in place of the header. What
nvcc puts behind a file to launch its kernels mentions more: these names are kept with the texts.

A program that is refused is compiled again with the whole header, for the messages, and so are programs in
which the exchange might show otherwise (`headers.bears_exchange`).
"""

from __future__ import annotations

import hashlib
import marshal
import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from grader.toolchain.nvcc import driver, headers
from grader.toolchain.nvcc.cache import entry_lock, states_of, write_entry
from grader.toolchain.nvcc.source import SOURCE_NAME
from grader.toolchain.nvcc.toolchain import UNIT, planned
from grader.toolchain.sandbox import Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from grader.model import Named
    from grader.toolchain.nvcc.toolchain import Toolchain
    from grader.toolchain.sandbox import Limits, Result

HEADER = "cuda_runtime.h"

_STEM = SOURCE_NAME.removesuffix(".cu")
_OWN_TEXT = f'\n# 1 "{SOURCE_NAME}"'
_KERNEL = b"__global__ void kernel() {}\n"
_ADDED = f'"{_STEM}.cudafe1.stub.c"'
"""The file that nvcc adds to each file for the host, in a marker of the preprocessor."""

_ON_THE_HOST = ("exit", "cudaLaunchKernel")
"""Functions that the host calls in place of one for the device, and of a kernel that is a template."""

_NESTED = re.compile(r'^(# \d+ "[^"\n]*")( [12])', re.MULTILINE)
"""A marker with a flag that says where a file begins or ends: those that stay are no pairs."""

_OWN_TEXTS = ("host.ii", "device.ii")

READ = f"{UNIT}.d"
NOTED = ("SUNPRO_DEPENDENCIES", READ)
"""Variable for the file to which preprocessors add what they read (GCC manual, "Environment Variables")."""


class HeaderSide(NamedTuple):
    """The header as the host's or the device's half of a program has it.

    ``command`` preprocesses a file with ``macros`` in place of the header, which is ``text``.
    """

    command: tuple[str, ...]
    text: str
    macros: str


class RuntimeHeader(NamedTuple):
    """``cuda_runtime.h`` of a toolchain, preprocessed; ``implied`` are names that nvcc itself mentions."""

    host: HeaderSide
    device: HeaderSide
    implied: list[str]
    files: list[tuple[str, int, int]]
    """Size and time of change of each file that it is made of."""


class Invocation(NamedTuple):
    """Command by which nvcc compiles a file: itself, and its options without the file."""

    nvcc: tuple[str, ...]
    options: tuple[str, ...]


def may_be_reduced(sources: Named[bytes]) -> bool:
    """True if nothing in these sources could tell the reduced header from the whole one."""
    return headers.bears_exchange(sources) and not any(HEADER in name for name, _ in sources)


def load(folder: Path, toolchain: Toolchain, call: Invocation) -> RuntimeHeader | None:
    """The header that is kept for this call; None without one, or where a file of it has changed."""
    stored = headers.stored_entry(_path(folder, toolchain, call))
    if stored is None:
        return None
    host, device, implied, files = stored
    header = RuntimeHeader(HeaderSide(*host), HeaderSide(*device), implied, files)
    return header if header.files == states_of(path for path, *_ in header.files) else None


def load_newest(folder: Path) -> None:
    """Have what was kept last in memory, where processes that are forked later find it."""
    with suppress(OSError, ValueError, TypeError, EOFError):  # there is none, or it is another version's
        if (stored := headers.newest_entry(folder, "runtime")) is not None:
            host, device, _, _ = stored
            for side in (HeaderSide(*host), HeaderSide(*device)):
                headers.load_index(folder, side.text)


def own_text_job(header: RuntimeHeader, sources: Named[bytes], limits: Limits) -> Job:
    """The job that preprocesses a file of a program for both sides; `reduced` takes its result."""
    sides = (("host", header.host), ("device", header.device))
    argv = _one_after_another(_written(side.command, f"{name}.ii", name) for name, side in sides)
    macros = tuple((_macros_of(name), side.macros.encode("latin-1")) for name, side in sides)
    return Job(argv, (*sources, *macros), _OWN_TEXTS, limits)


def reduced(header: RuntimeHeader, own: Result, folder: Path) -> bytes | None:
    """The header for the program whose ``own`` texts a job left; None where it has to be whole."""
    if not own.outcome.ok or any(own.file(name) is None for name in _OWN_TEXTS):
        return None
    host, device = header.host, header.device
    of_host = headers.without_unmentioned(host.text, _text(own, "host.ii"), folder, header.implied)
    of_device = headers.without_unmentioned(device.text, _text(own, "device.ii"), folder)
    if of_host is None or of_device is None:
        return None
    parts = (
        "#ifndef __CUDA_RUNTIME_H__\n#ifdef __CUDA_ARCH__",
        _NESTED.sub(r"\1", of_device),
        device.macros,
        "#else",
        _NESTED.sub(r"\1", of_host),
        host.macros,
        "#endif\n#endif\n",
    )
    return "\n".join(parts).encode("latin-1")


def remember(folder: Path, toolchain: Toolchain, call: Invocation, run: Callable[[Job], Result]) -> None:
    """Keep the header of a toolchain, unless it is kept; ``run`` runs a job. That takes a few seconds."""
    path = _path(folder, toolchain, call)
    with entry_lock(path):
        if load(folder, toolchain, call) is not None:
            return
        header = _read(toolchain, call, run)
        if header is None:
            return
        for side in (header.host, header.device):
            headers.remember_index(side.text, folder)
        write_entry(path, marshal.dumps((tuple(header.host), tuple(header.device), *header[2:])))


def _path(folder: Path, toolchain: Toolchain, call: Invocation) -> Path:
    parts = (*headers.toolchain_key(toolchain), call)
    return folder / "headers" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.runtime"


def _read(toolchain: Toolchain, call: Invocation, run: Callable[[Job], Result]) -> RuntimeHeader | None:
    """The header as nvcc reads it; None where a command fails, or the plan is none of those that we know."""
    compiling = (*call.nvcc, *call.options, "--keep")
    dry = run(Job((*compiling, "--dryrun"))).outcome
    _, commands = planned((dry.stderr + dry.stdout).decode(errors="replace"))
    preprocessing = sorted((command for command in commands if "-E" in command), key=_is_for_device)
    if not dry.ok or list(map(_is_for_device, preprocessing)) != [False, True] or "-E" in commands[-1]:
        return None
    host, device = (_side(command, run) for command in preprocessing)
    behind, read = _text_behind_a_kernel(compiling, commands[-1], run)
    if not (host and device and behind):
        return None
    implied = sorted(headers.names_in(behind).union(_ON_THE_HOST))
    files = headers.states_in(toolchain, (path for path in read if path.startswith("/")))
    return RuntimeHeader(host, device, implied, files)


def _side(command: tuple[str, ...], run: Callable[[Job], Result]) -> HeaderSide | None:
    """One side of the header, from an empty file."""
    exchanged = headers.without_headers(command)
    steps = (_written(command, "text.ii"), _written((*command, "-dD"), "macros.ii"))
    job = Job(_one_after_another(steps), ((SOURCE_NAME, b""),), ("text.ii", "macros.ii"))
    if exchanged is None or not (result := run(job)).outcome.ok:
        return None
    text, macros = _text(result, "text.ii"), _text(result, "macros.ii")
    return HeaderSide(exchanged, text.partition(_OWN_TEXT)[0], headers.macros_in(macros))


def _text_behind_a_kernel(
    compiling: tuple[str, ...], last: tuple[str, ...], run: Callable[[Job], Result]
) -> tuple[str, tuple[str, ...]]:
    """Text that nvcc puts behind a file with a kernel, preprocessed, and the files read; no text if it fails.

    ``last`` is the command by which the host's compiler gets it.
    """
    preprocess = tuple("-E" if word == "-c" else word for word in last)
    argv = _one_after_another((compiling, _written(preprocess, "behind.ii")))
    job = Job(argv, ((SOURCE_NAME, _KERNEL),), ("behind.ii", READ), environment=(NOTED,))
    result = run(job)
    text = _text(result, "behind.ii").partition(_ADDED)[2]
    return text if result.outcome.ok else "", driver.files_read((_text(result, READ),))


def _text(result: Result, name: str) -> str:
    return (result.file(name) or b"").decode("latin-1")


def _is_for_device(command: tuple[str, ...]) -> bool:
    return any(word.startswith("-D__CUDA_ARCH__=") for word in command)


def _macros_of(side: str) -> str:
    return f"{side}.{headers.MACROS}"


def _written(command: tuple[str, ...], output: str, side: str = "") -> tuple[str, ...]:
    """A command that writes to ``output``, with the macros of a side in their own file."""
    at = command.index("-o") + 1 if "-o" in command else len(command)
    words = (*command[:at], *(() if "-o" in command else ("-o",)), output, *command[at + 1 :])
    return tuple(_macros_of(side) if word == headers.MACROS else word for word in words)


def _one_after_another(commands: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return ("sh", "-c", " && ".join(map(shlex.join, commands)))
