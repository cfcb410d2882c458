"""Occupancy: the limits one by one, and all together as the CUDA toolkit computes them."""

from __future__ import annotations

import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.model.messages import text_of
from grader.simulation.analysis.occupancy import LIMITS
from grader.simulation.analysis.subjects import SUBJECTS, AnalysisProblem, study, value
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from collections.abc import Iterable

OCCUPANCY = SUBJECTS["occupancy"]
ASKING = Path(__file__).parent / "occupancy.cpp"
SEED = 20_261


def of(name: str, **numbers: int) -> Fraction:
    """A quantity."""
    return value(OCCUPANCY, numbers, name)


def test_threads_registers_shared_memory_and_blocks_each_limit_what_fits() -> None:
    """At 8.0: 64 warps, 65,536 registers in four partitions, 164 KiB with 1 KiB more a block, 32 blocks."""
    assert of("blocks_per_sm", sm=80, threads=1024, registers=16) == 2
    assert of("blocks_per_sm", sm=80, threads=256, registers=40) == 6
    assert of("blocks_per_sm", sm=80, threads=64, registers=16, shared_bytes=48 * 1024) == 3
    assert of("blocks_per_sm", sm=80, threads=32, registers=16) == 32
    assert of("occupancy", sm=80, threads=256, registers=40) == Fraction(3, 4)


def test_a_block_that_cannot_be_launched_fills_nothing() -> None:
    """More than 1,024 threads (a tile of 64 × 64), too much shared memory, too many registers."""
    for numbers in (
        {"threads": 4096},
        {"threads": 256, "shared_bytes": 164 * 1024},
        {"threads": 1024, "registers": 72},
    ):
        assert of("launchable", sm=80, **numbers) == of("blocks_per_sm", sm=80, **numbers) == 0


def test_limits_of_a_questions_own_are_taken_without_rounding() -> None:
    """With `sm` 0: 1,536 threads, 8 blocks, 32,768 registers, 16 KiB; blocks of 256 threads fit 6 times."""
    own = {"sm": 0, "max_threads": 1536, "max_blocks": 8, "max_registers": 32768, "max_shared_bytes": 16384}
    assert of("blocks_per_sm", threads=256, registers=20, **own) == 6
    assert of("blocks_by_registers", threads=256, registers=33, **own) == 3
    assert of("blocks_per_sm", threads=256, shared_bytes=4096, **own) == 4


def test_the_steps_end_with_the_share_and_name_the_smallest_limit() -> None:
    """A student can follow it to the end."""
    steps = study(OCCUPANCY, {"sm": 80, "threads": 256, "registers": 40}, "occupancy").steps
    assert [text_of(step.name, **dict(step.values)) for step in steps[-2:]] == [
        "the smallest of these limits is 6 blocks",
        "6 · 8 = 48 of 64 warps are active: 48 / 64 = 0.75, or 75 %",
    ]


def test_unknown_devices_and_missing_limits_are_refused() -> None:
    """With what was expected."""
    with pytest.raises(AnalysisProblem, match=r"ten times a compute capability \(61, 70, .*found 42"):
        of("occupancy", sm=42, threads=32)
    with pytest.raises(AnalysisProblem, match="limits must be given: expected `max_threads`, `max_blocks`"):
        of("occupancy", sm=0, threads=32)


def _asked(folder: Path, configurations: Iterable[tuple[int, ...]]) -> list[int]:
    """The blocks that fit, by the toolkit's own calculation."""
    headers = Path(nvcc.compiler()).parents[1] / "include"
    program = folder / "occupancy"
    command = [shutil.which("g++") or "g++", "-w", f"-I{headers}", str(ASKING), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    lines = "".join(f"{' '.join(map(str, each))}\n" for each in configurations)
    output = subprocess.run([str(program)], input=lines, check=True, capture_output=True, text=True).stdout
    found = [tuple(map(int, line.split())) for line in output.splitlines()]
    assert all(status == 0 for status, _ in found)
    return [blocks for _, blocks in found]


def test_blocks_that_fit_are_those_that_the_cuda_toolkit_computes(tmp_path: Path) -> None:
    """2,000 blocks of all sizes on every device of the table."""
    draw = random.Random(SEED)  # noqa: S311 - a sample
    blocks = [
        (
            draw.choice(list(LIMITS)),
            draw.randint(1, 1100),
            draw.randint(1, 255),
            draw.choice((0, draw.randint(1, 110_000))),
        )
        for _ in range(2000)
    ]
    configurations = []
    for sm, *block in blocks:
        limits = LIMITS[sm]
        sizes = (limits.threads, limits.shared_bytes, limits.block_shared_bytes, limits.reserved_bytes)
        configurations.append((sm // 10, sm % 10, *sizes, *block))
    ours = [
        of("blocks_per_sm", sm=sm, threads=threads, registers=registers, shared_bytes=shared)
        for sm, threads, registers, shared in blocks
    ]
    assert ours == _asked(tmp_path, configurations)
