"""Output of ptxas and nvdisasm for a PTX text, as findings, resources and a listing; cubins for a GPU."""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import TYPE_CHECKING

from grader.base.errors import OurError, ToolMissing
from grader.base.records import frozen
from grader.model import Finding, FindingCode, Resources
from grader.toolchain.nvcc.cache import read_entry, write_entry
from grader.toolchain.nvcc.signature import read_name
from grader.toolchain.nvcc.source import harmless, part, problem
from grader.toolchain.nvcc.toolchain import CUBIN, HOW_TO_GET_NVDISASM, PTX
from grader.toolchain.sandbox import COMPILING, Job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.toolchain.nvcc.toolchain import Tools

OWN_SOURCE = "own.cu"
_LIMITS = COMPILING
_LAST_WORDS = 300

_TOO_MUCH_SHARED = re.compile(
    r"Entry function '(?P<name>[^']+)' uses too much shared data \(0x(?P<used>[0-9a-f]+) bytes, "
    r"0x(?P<most>[0-9a-f]+) max\)"
)
_AT_LINE = re.compile(r"ptxas \S+, line (?P<line>\d+); (?:error|fatal)\s*: (?P<text>.*)")
_ERROR = re.compile(r"ptxas (?:error|fatal)\s*: (?P<text>.*)")
_ABORTED = "Ptx assembly aborted"
_FUNCTION = re.compile(
    r"ptxas info\s*: (?:Compiling entry function '|Function properties for )(?P<name>[\w$]+)"
)
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"(\d+) (registers|bytes smem|bytes cmem)")
_LOCATION = re.compile(r"\s*\.loc\s+\d+\s+(?P<line>\d+)")


def refusals(log: str, hazard_ptx: str, file: str, lines: Mapping[str, int]) -> tuple[Finding, ...]:
    """A finding for each error of ptxas.

    ``log`` is its output for ``hazard_ptx``, whose ``.loc`` directives give the student's lines;
    ``lines`` are the lines where kernels are declared, by their plain names.
    """
    findings: list[Finding] = []
    ptx = hazard_ptx.splitlines()
    for text in log.splitlines():
        shared, located, refusal = _TOO_MUCH_SHARED.search(text), _AT_LINE.match(text), _ERROR.match(text)
        if shared:
            findings.append(_too_much_shared(shared, file, lines))
        elif located:
            findings.append(_refused(located, ptx, file))
        elif refusal and _ABORTED not in text:
            reason = part("asm-text", text=harmless(refusal["text"]))
            findings.append(problem(FindingCode.ASM_REFUSED, file, what=reason))
    return tuple(dict.fromkeys(findings))


def _too_much_shared(match: re.Match[str], file: str, lines: Mapping[str, int]) -> Finding:
    signature = read_name(match["name"])
    return problem(
        FindingCode.STATIC_SHARED_MEMORY,
        file,
        lines.get(signature.name),
        named=f"`{harmless(str(signature))}`",
        bytes=int(match["used"], 16),
        most=int(match["most"], 16),
    )


def _refused(match: re.Match[str], ptx: list[str], file: str) -> Finding:
    number = int(match["line"])
    above = (_LOCATION.match(line) for line in reversed(ptx[: number - 1]))
    location = next((location_above for location_above in above if location_above), None)
    instruction = ptx[number - 1].strip() if 0 < number <= len(ptx) else ""
    reason = part("asm-instruction", instruction=harmless(instruction), text=harmless(match["text"]))
    return problem(FindingCode.ASM_REFUSED, file, int(location["line"]) if location else None, what=reason)


def resources_of(log: str, entry: str) -> Resources:
    """Resources of the kernel ``entry`` by ``ptxas -v``, in bytes and registers per thread or block."""
    numbers: dict[str, int] = {}
    current = ""
    for line in log.splitlines():
        function = _FUNCTION.search(line)
        if function:
            current = function["name"]
        if current != entry:
            continue
        stack = _STACK.search(line)
        if stack:
            numbers["stack"] = int(stack[1])
            numbers["spill"] = int(stack[2]) + int(stack[3])
        for amount, kind in _USED.findall(line):
            numbers[kind] = numbers.get(kind, 0) + int(amount)
    return Resources(
        registers=numbers.get("registers", 0),
        shared_bytes=numbers.get("bytes smem", 0),
        stack_bytes=numbers.get("stack", 0),
        spill_bytes=numbers.get("spill", 0),
        constant_bytes=numbers.get("bytes cmem", 0),
    )


def assemble(tools: Tools, ptx: str, architecture: str, *, optimised: bool = True) -> bytes:
    """Assemble a PTX text with ptxas for an architecture such as ``sm_90``, with source lines.

    Raises OurError where it makes nothing: the same text was assembled for its own architecture before.
    """
    options = ("-lineinfo",) if optimised else ("-lineinfo", "-O0")
    argv = (tools.toolchain.ptxas, f"-arch={architecture}", *options, PTX, "-o", CUBIN)
    return _cubin(tools, argv, (PTX, ptx.encode()))


def compile_own(tools: Tools, source: bytes, architecture: str, *, optimised: bool = True) -> bytes:
    """A cubin of our own device code, which it calls `OWN_SOURCE`; raises OurError if nvcc refuses it."""
    options = ("-ccbin", tools.toolchain.host_compiler, "-cubin", f"-arch={architecture}", "-lineinfo")
    plain = () if optimised else ("-Xcicc", "-O0", "-Xptxas", "-O0")
    argv = (str(tools.toolchain.nvcc), *options, *plain, OWN_SOURCE, "-o", CUBIN)
    return _cubin(tools, argv, (OWN_SOURCE, source))


def _cubin(tools: Tools, argv: tuple[str, ...], file: tuple[str, bytes]) -> bytes:
    """The cubin that a command makes of a file, from the cache where it is known."""
    key = hashlib.sha256(repr((argv, tools.toolchain.version, file)).encode()).hexdigest()
    path = tools.cache / "cubins" / key[:2] / f"{key}.cubin" if tools.cache else None
    stored = read_entry(path) if path else None
    if stored is not None:
        return stored
    result = tools.sandbox.run(Job(argv, (file,), (CUBIN,), _LIMITS))
    cubin = result.file(CUBIN)
    if not result.outcome.ok or not cubin:
        last_words = " ".join(
            (result.outcome.stdout + result.outcome.stderr).decode(errors="replace").split()
        )
        raise OurError(f"no cubin could be made ({result.outcome.status}): {last_words[-_LAST_WORDS:]}")
    if path:
        write_entry(path, cubin)
    return cubin


LISTING, LOG = "listing.txt", "assembly.txt"


@frozen
class MachineCode:
    """Machine code: a cubin, its listing by nvdisasm, and the output of ``ptxas -v`` on its kernels."""

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
        job = Job(("sh", "-c", command), ((PTX, text.encode()),), names, _LIMITS)
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
