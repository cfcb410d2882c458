"""A second try for files whose host code does not compile here: the kernel alone, with remarks.

Headers that are not there are left out, then host code (`grader.nvcc.host_code`). What the kernel needs of
either is then missing, and the file is refused with the errors of the first try. The kernel is never changed.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.messages import remarked
from grader.model import Clause, Severity
from grader.nvcc import diagnostics
from grader.nvcc.compiler import Refused
from grader.nvcc.constants import probing_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Build, Finding
    from grader.nvcc.compiler import Compiler
    from grader.nvcc.host_code import Place

MOST_HEADERS = 12
"""So many headers that are not there are left out; each takes a run of the preprocessor to be found."""
MOST_ROUNDS = 3
"""So often the kernel is tried: errors of some declarations show only where others are gone."""

_INCLUDE = re.compile(rb"[ \t]*#[ \t]*include(?:_next)?\b")


def built_without_host_code(
    compiler: Compiler, refusal: Refused, build: Callable[[Compiler], Build]
) -> Build | None:
    """What ``build`` makes of the kernel alone, with a remark for each error of the ``refusal``; or None."""
    told = refusal.findings
    broken = diagnostics.places(refusal.messages, compiler.files)
    if any(map(diagnostics.missing_header, refusal.messages)):
        complete = _without_missing_headers(compiler, refusal)
        if complete is None:
            return None
        compiler, told = complete
        broken = frozenset()
    if not refusal.messages or broken is None:
        return None
    made = _kernel_alone(compiler, build, broken)
    return made and replace(made, warnings=(*map(_remark, told), *made.warnings))


def _kernel_alone(
    compiler: Compiler, build: Callable[[Compiler], Build], broken: frozenset[Place]
) -> Build | None:
    for _ in range(MOST_ROUNDS):
        try:
            return build(replace(compiler, broken=broken))
        except Refused as again:
            more = diagnostics.places(again.messages, compiler.files)
            if not more or more <= broken:
                return None
            broken |= more
    return None


def _without_missing_headers(
    compiler: Compiler, refusal: Refused
) -> tuple[Compiler, tuple[Finding, ...]] | None:
    """A compiler whose sources include only what is there, and what was said of the rest."""
    told: list[Finding] = []
    for _ in range(MOST_HEADERS):
        sources = dict(compiler.sources)
        for message in filter(diagnostics.missing_header, refusal.messages):
            name = os.path.normpath(message.file)
            lines = sources.get(name, b"").split(b"\n")
            index = (message.line or 0) - 1
            if not (0 <= index < len(lines) and _INCLUDE.match(lines[index])):
                return None
            lines[index] = b""
            sources[name] = b"\n".join(lines)
        if sources == dict(compiler.sources):
            return None
        told += refusal.findings
        compiler = replace(compiler, sources=tuple(sources.items()))
        try:
            compiler.preprocess(probing_unit(()))
        except Refused as again:
            refusal = again
        else:
            return compiler, tuple(told)
    return None


def _remark(finding: Finding) -> Finding:
    """What did not compile, as something that costs nothing."""
    if finding.severity is not Severity.ERROR:
        return finding
    return remarked(replace(finding, severity=Severity.WARNING), Clause("kernel-alone"))
