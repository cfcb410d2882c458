"""PTX → a cubin for one GPU, and our own device code → a cubin; kept by digest like builds.

The PTX is the very text that the emulator runs, so that both backends judge one program.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.nvcc.cache import read_entry, write_entry
from grader.nvcc.compiler import CUBIN, PTX
from grader.sandbox import Job, Limits

if TYPE_CHECKING:
    from grader.nvcc.toolchain import Tools

OWN_SOURCE = "own.cu"
_LIMITS = Limits()
_LAST_WORDS = 300


def assemble(tools: Tools, ptx: str, architecture: str, *, optimised: bool = True) -> bytes:
    """What ptxas makes of a PTX text for an architecture such as ``sm_90``, with source lines.

    Raises OurError where it makes nothing: the same text was assembled for its own architecture before.
    """
    options = ("-lineinfo",) if optimised else ("-lineinfo", "-O0")
    argv = (tools.toolchain.ptxas, f"-arch={architecture}", *options, PTX, "-o", CUBIN)
    return _made(tools, argv, (PTX, ptx.encode()))


def compile_own(tools: Tools, source: bytes, architecture: str, *, optimised: bool = True) -> bytes:
    """A cubin of our own device code, which it calls `OWN_SOURCE`; raises OurError if nvcc refuses it."""
    options = ("-ccbin", tools.toolchain.host_compiler, "-cubin", f"-arch={architecture}", "-lineinfo")
    plain = () if optimised else ("-Xcicc", "-O0", "-Xptxas", "-O0")
    argv = (str(tools.toolchain.nvcc), *options, *plain, OWN_SOURCE, "-o", CUBIN)
    return _made(tools, argv, (OWN_SOURCE, source))


def _made(tools: Tools, argv: tuple[str, ...], file: tuple[str, bytes]) -> bytes:
    """The cubin that a command makes of a file, from the cache where it is known."""
    key = hashlib.sha256(repr((argv, tools.toolchain.version, file)).encode()).hexdigest()
    path = tools.cache / "cubins" / key[:2] / f"{key}.cubin" if tools.cache else None
    stored = read_entry(path) if path else None
    if stored is not None:
        return stored
    result = tools.sandbox.run(Job(argv, (file,), (CUBIN,), _LIMITS))
    cubin = result.file(CUBIN)
    if not result.outcome.ok or not cubin:
        words = " ".join((result.outcome.stdout + result.outcome.stderr).decode(errors="replace").split())
        raise OurError(f"no cubin could be made ({result.outcome.status}): {words[-_LAST_WORDS:]}")
    if path:
        write_entry(path, cubin)
    return cubin
