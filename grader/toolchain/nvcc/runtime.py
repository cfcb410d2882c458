"""The CUDA runtime of a program: the stand-in that it is linked with, and the lines that call the runtime.

The stand-in is ``sandbox/runtime`` as one object file, made once per toolkit and kept. A program that is
linked with it needs no libcudart: it asks its device over a socket (`grader.running.device`), and reports the
return address of each call. Its debug information gives the line of the student's file.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING

from grader.base.data_files import data_root, headers_folder
from grader.base.errors import OurError
from grader.toolchain.nvcc.cache import entry_lock, read_entry, write_entry
from grader.toolchain.nvcc.source import EMULATED_HEADERS
from grader.toolchain.sandbox import Job, Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grader.model import Named
    from grader.toolchain.nvcc.toolchain import Tools
    from grader.toolchain.sandbox import Sandbox

OBJECT = "standin.o"
_OPTIONS = ("-std=c++17", "-O1", "-fPIC", "-r", "-nostdlib")
_TOGETHER = "standin.cpp"
_APART = "unsupported.cpp"
"""It declares the functions of the runtime without their parameters, which no other file may see."""
_LIMITS = Limits(wall_seconds=300.0, cpu_seconds=120)


@cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """The files of the stand-in, by their names."""
    folder = data_root() / "sandbox" / "runtime"
    headers = (headers_folder() / name for name in EMULATED_HEADERS)
    files = (*(file for file in sorted(folder.iterdir()) if file.is_file()), *headers)
    return tuple((file.name, file.read_bytes()) for file in files)


def stand_in(tools: Tools) -> bytes:
    """The object file to link a program with; raises OurError where it cannot be compiled.

    Its files are compiled as one, for the headers of C++ take longer than all of them.
    """
    units = (name for name, _ in sources() if name.endswith(".cpp") and name != _APART)
    together = "".join(f'#include "{name}"\n' for name in units)
    files = (*sources(), (_TOGETHER, together.encode()))
    return own_object(tools, "standin", (*_OPTIONS, _TOGETHER, _APART), files, OBJECT)


def own_object(tools: Tools, what: str, options: tuple[str, ...], files: Named[bytes], output: str) -> bytes:
    """An object file of our own, compiled once for each toolkit and kept in the cache's folder ``what``.

    Raises:
        OurError: it does not compile.

    """
    argv = (tools.toolchain.host_compiler, *options, f"-I{tools.toolchain.roots[0]}/include", "-o", output)
    parts = (tools.toolchain.version, tools.toolchain.host_version, options, files)
    key = hashlib.sha256(repr(parts).encode()).hexdigest()
    if tools.cache is None:
        return _compiled(tools, argv, files, output)
    path = tools.cache / what / key
    if (stored := read_entry(path)) is not None:
        return stored
    with entry_lock(path):
        if (stored := read_entry(path)) is not None:
            return stored
        compiled = _compiled(tools, argv, files, output)
        write_entry(path, compiled)
    return compiled


def _compiled(tools: Tools, argv: tuple[str, ...], files: Named[bytes], output: str) -> bytes:
    """Output file of a compiler of ours; raises OurError where it writes nothing."""
    result = tools.sandbox.run(Job(argv, files, (output,), _LIMITS))
    compiled = result.file(output)
    if not result.outcome.ok or compiled is None:
        lines = result.outcome.stderr.decode(errors="replace").strip().splitlines()
        reason = next((line for line in lines if "error" in line), "".join(lines[:1])) or "no reason given"
        raise OurError(f"{output}, a part of the grader, does not compile: {reason}")
    return compiled


PROGRAM = "program"
MOST_ADDRESSES = 5000

_LOOK_UP_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10, output_bytes=64 << 20)
_CALL = re.compile(r"\s(?:call|bl)\s+[0-9a-f]+ <_*cu(?:da|blas|rand)\w+>\n\s*(?P<next>[0-9a-f]+):")
_ADDRESS = re.compile(r"0x([0-9a-f]+)")
_PLACE = re.compile(r"(?P<file>.*):(?P<line>\d+)(?: \(discriminator \d+\))?")


def call_lines(
    sandbox: Sandbox, program: bytes, sources: Collection[str], return_addresses: Iterable[int]
) -> Mapping[int, tuple[str, int]]:
    """Source among ``sources`` and line of each address to which a call in its code returns.

    Other addresses are left out. A call returns to the next instruction, so the byte before is looked up.
    Code that was inlined from a header belongs to the line that it was inlined into. An address may be
    anything: a program gives it.
    """
    addresses = sorted(set(return_addresses))[:MOST_ADDRESSES]
    if not addresses:
        return {}
    argv = ("addr2line", "-a", "-i", "-e", PROGRAM, *(hex(max(0, address - 1)) for address in addresses))
    result = sandbox.run(Job(argv, ((PROGRAM, program),), limits=_LOOK_UP_LIMITS))
    chains = dict(_chains(result.outcome.stdout.decode(errors="replace")))
    lines = {address: _line(chains.get(max(0, address - 1), ()), sources) for address in addresses}
    return {address: line for address, line in lines.items() if line is not None}


def calls_of_runtime(sandbox: Sandbox, program: bytes) -> tuple[int, ...]:
    """The addresses to which calls of the CUDA runtime return in a linked program."""
    argv = ("objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", PROGRAM)
    result = sandbox.run(Job(argv, ((PROGRAM, program),), limits=_LOOK_UP_LIMITS))
    return tuple(
        int(match["next"], 16) for match in _CALL.finditer(result.outcome.stdout.decode(errors="replace"))
    )


def _chains(listing: str) -> Iterator[tuple[int, list[str]]]:
    """Each address with its places, the innermost first."""
    places: list[str] = []
    for text in listing.splitlines():
        address = _ADDRESS.fullmatch(text)
        if address:
            places = []
            yield int(address[1], 16), places
        else:
            places.append(text)


def _line(places: Iterable[str], sources: Collection[str]) -> tuple[str, int] | None:
    """The innermost line of the student's files."""
    for text in places:
        located = _PLACE.fullmatch(text)
        name = located["file"].rsplit("/", 1)[-1] if located else ""
        if located and name in sources:
            return name, int(located["line"])
    return None
