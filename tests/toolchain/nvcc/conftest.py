"""Building small sources with the real compiler, each once per test session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from grader.base import arithmetic
from grader.model import Build, Constant, KernelInterface, Parameter, Submission
from grader.toolchain.nvcc import LIMITS, build, find_toolchain
from grader.toolchain.sandbox import Limits, LocalSandbox
from tests.builds import shared_builds

FILE = "homework.cu"
PARAMETERS = "(const float *A, float *C, int N)"
BODY = "{ C[threadIdx.x] = 2 * A[N]; }"
KERNEL = f"__global__ void scale{PARAMETERS} {BODY}\n"

INTERFACE = KernelInterface(
    kernel="scale",
    parameters=(
        Parameter("A", "in", "float32"),
        Parameter("C", "out", "float32"),
        Parameter("N", "value", "int32"),
    ),
    constants=(Constant("TILE_SIZE", 16, ("TILE_WIDTH", "BLOCK_SIZE")),),
    block=(arithmetic.parse("TILE_SIZE"), arithmetic.parse("TILE_SIZE")),
    grid=(arithmetic.parse("ceil(N / TILE_SIZE)"),),
)
QUICK = replace(LIMITS, cpu_seconds=1, memory_bytes=2**30)
"""Limits for what is meant to be stopped."""


class BuildSource(Protocol):
    """Build a source as a student's ``homework.cu``."""

    def __call__(
        self,
        source: str | bytes,
        interface: KernelInterface = INTERFACE,
        headers: tuple[tuple[str, bytes], ...] = (),
        limits: Limits = LIMITS,
    ) -> Build:
        """The build; the same for the same arguments."""


@pytest.fixture(scope="session")
def build_source() -> BuildSource:
    """Build with the real nvcc, in the local sandbox, as a student's second check does."""
    made: dict[object, Build] = {}

    def once(
        source: str | bytes,
        interface: KernelInterface = INTERFACE,
        headers: tuple[tuple[str, bytes], ...] = (),
        limits: Limits = LIMITS,
    ) -> Build:
        text = source.encode() if isinstance(source, str) else source
        key = (text, interface, headers, limits)
        if key not in made:
            submission = Submission("ada", FILE, text, "digest", headers=headers)
            made[key] = build(
                submission,
                interface,
                sandbox=LocalSandbox(),
                toolchain=find_toolchain(),
                cache=shared_builds(),
                limits=limits,
            )
        return made[key]

    return once


def places(built: Build) -> list[tuple[str, int | None]]:
    """Return the file and line of each finding of a build."""
    return [(finding.file, finding.line) for finding in built.findings]


def only_message(built: Build) -> str:
    """The message of a build's one finding."""
    assert not built.ok
    assert len(built.findings) == 1, [finding.message for finding in built.findings]
    return built.findings[0].message


def path_is_shown(built: Build) -> bool:
    """Return whether anything in a build reveals the folder that it was made in."""
    texts = [built.ptx, built.hazard_ptx, built.log, *(f.message for f in built.findings + built.warnings)]
    return any(part in text for text in texts for part in ("/grader-", str(Path.cwd())))
