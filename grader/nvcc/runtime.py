"""The stand-in for the CUDA runtime: ``sandbox/runtime`` as one object file, made once per toolkit and kept.

A program that is linked with it needs no libcudart: it asks its device over a socket (`grader.device`).
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

from grader.data_files import data_root
from grader.errors import OurError
from grader.nvcc.cache import made_by_one, read_entry, write_entry
from grader.sandbox import Job, Limits

if TYPE_CHECKING:
    from grader.model import Named
    from grader.nvcc.toolchain import Tools

OBJECT = "standin.o"
_OPTIONS = ("-std=c++17", "-O2", "-fPIC", "-r", "-nostdlib")
_LIMITS = Limits(wall_seconds=300.0, cpu_seconds=120)


@cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """The files of the stand-in, by their names."""
    folder = data_root() / "sandbox" / "runtime"
    return tuple((file.name, file.read_bytes()) for file in sorted(folder.iterdir()) if file.is_file())


def stand_in(tools: Tools) -> bytes:
    """The object file to link a program with; raises OurError where it cannot be compiled."""
    units = tuple(name for name, _ in sources() if name.endswith(".cpp"))
    return own_object(tools, "standin", (*_OPTIONS, *units), sources(), OBJECT)


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
    with made_by_one(path):
        if (stored := read_entry(path)) is not None:
            return stored
        compiled = _compiled(tools, argv, files, output)
        write_entry(path, compiled)
    return compiled


def _compiled(tools: Tools, argv: tuple[str, ...], files: Named[bytes], output: str) -> bytes:
    """What a compiler of ours writes; raises OurError where it writes nothing."""
    result = tools.sandbox.run(Job(argv, files, (output,), _LIMITS))
    compiled = result.file(output)
    if not result.outcome.ok or compiled is None:
        words = result.outcome.stderr.decode(errors="replace").strip().splitlines()
        reason = words[0] if words else "no reason given"
        raise OurError(f"{output}, a part of the grader, does not compile: {reason}")
    return compiled
