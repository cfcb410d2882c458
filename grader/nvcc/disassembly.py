"""The machine code that ptxas makes of a PTX text for a device, and what nvdisasm prints of it."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import OurError, ToolMissing
from grader.nvcc.cache import read_entry, write_entry
from grader.nvcc.toolchain import CUBIN, HOW_TO_GET_NVDISASM, PTX
from grader.sandbox import Job, Limits

if TYPE_CHECKING:
    from grader.nvcc.toolchain import Tools

LISTING, LOG = "listing.txt", "assembly.txt"
_LAST_WORDS = 300


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A cubin, what nvdisasm prints of its code, and what ``ptxas -v`` says of its kernels."""

    cubin: bytes
    listing: str
    log: str


def machine_code(tools: Tools, ptx: str, architecture: int) -> MachineCode:
    """The machine code of a PTX text for a compute capability times ten, from the cache where it is known.

    Raises ToolMissing where there is no nvdisasm, and OurError where a tool makes nothing of the text, which
    was assembled for its own architecture before.
    """
    toolchain = tools.toolchain
    if not toolchain.nvdisasm:
        raise ToolMissing(f"nvdisasm was not found; {HOW_TO_GET_NVDISASM}")
    name = f"sm_{architecture}"
    assemble = (toolchain.ptxas, f"-arch={name}", "-lineinfo", "-v", PTX, "-o", CUBIN)
    disassemble = (toolchain.nvdisasm, "-c", "-ndf", "-hex", "-gi", CUBIN)
    command = f"{shlex.join(assemble)} 2>{LOG} && {shlex.join(disassemble)} >{LISTING}"
    text = _for_older(ptx, toolchain.architecture, architecture)
    key = hashlib.sha256(repr((command, toolchain.version, text)).encode()).hexdigest()
    folder = tools.cache / "machine-code" / key[:2] if tools.cache else None
    names = (CUBIN, LISTING, LOG)
    stored = [read_entry(folder / f"{key}.{file}") for file in names] if folder else [None]
    contents = [content for content in stored if content is not None]
    if len(contents) != len(names):
        job = Job(("sh", "-c", command), ((PTX, text.encode()),), names, Limits())
        result = tools.sandbox.run(job)
        outputs = [result.file(file) for file in names]
        contents = [content for content in outputs if content is not None]
        if not result.outcome.ok or len(contents) != len(names):
            printed = b" ".join((outputs[2] or b"", result.outcome.stderr)).decode(errors="replace")
            words = " ".join(printed.split())
            raise OurError(f"no machine code could be made for {name}: {words[-_LAST_WORDS:]}")
        for file, content in zip(names, contents, strict=True):
            if folder:
                write_entry(folder / f"{key}.{file}", content)
    cubin, listing, log = contents
    return MachineCode(cubin, listing.decode(errors="replace"), log.decode(errors="replace"))


def _for_older(ptx: str, made_for: str, architecture: int) -> str:
    """The text as if it were made for an older device, which takes it if it uses nothing newer."""
    if architecture >= int(made_for):
        return ptx
    return ptx.replace(f".target sm_{made_for}", f".target sm_{architecture}", 1)
