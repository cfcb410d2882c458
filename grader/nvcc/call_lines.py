"""Which lines of the student's file a program's addresses belong to, from its debug information."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.sandbox import Job, Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grader.sandbox import Sandbox

PROGRAM = "program"
MOST_ADDRESSES = 5000

_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10, output_bytes=64 << 20)
_CALL = re.compile(r"\scall\s+[0-9a-f]+ <_*cuda\w+>\n\s*(?P<next>[0-9a-f]+):")
_ADDRESS = re.compile(r"0x([0-9a-f]+)")
_PLACE = re.compile(r"(?P<file>.*):(?P<line>\d+)(?: \(discriminator \d+\))?")


def call_lines(
    sandbox: Sandbox, program: bytes, sources: Collection[str], return_addresses: Iterable[int]
) -> Mapping[int, tuple[str, int]]:
    """Which of the ``sources`` and which line of it each address belongs to that its code returns to.

    Other addresses are left out. A call returns to the next instruction, so the byte before is looked up.
    Code that was inlined from a header belongs to the line that it was inlined into. An address may be
    anything: a program gives it.
    """
    addresses = sorted(set(return_addresses))[:MOST_ADDRESSES]
    if not addresses:
        return {}
    argv = ("addr2line", "-a", "-i", "-e", PROGRAM, *(hex(max(0, address - 1)) for address in addresses))
    result = sandbox.run(Job(argv, ((PROGRAM, program),), limits=_LIMITS))
    chains = dict(_chains(result.outcome.stdout.decode(errors="replace")))
    lines = {address: _line(chains.get(max(0, address - 1), ()), sources) for address in addresses}
    return {address: line for address, line in lines.items() if line is not None}


def calls_of_runtime(sandbox: Sandbox, program: bytes) -> tuple[int, ...]:
    """The addresses to which calls of the CUDA runtime return in a linked program."""
    argv = ("objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", PROGRAM)
    result = sandbox.run(Job(argv, ((PROGRAM, program),), limits=_LIMITS))
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
