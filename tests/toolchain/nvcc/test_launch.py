"""The launch configuration of a case, as a device would take or refuse it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.base import arithmetic
from grader.model import Build, Constant, Finding, FindingKind, KernelInterface, Launch, Resources
from grader.toolchain.nvcc.launch import plan_launch

INTERFACE = KernelInterface(
    kernel="tiledMatMul",
    parameters=(),
    constants=(Constant("TILE_SIZE", 16),),
    block=(arithmetic.parse("TILE_SIZE"), arithmetic.parse("TILE_SIZE")),
    grid=(arithmetic.parse("ceil(N / TILE_SIZE)"), arithmetic.parse("ceil(M / TILE_SIZE)")),
)


def refusal(tile: int, interface: KernelInterface = INTERFACE, **shape: int) -> str:
    """The message for a tile size that cannot be launched."""
    planned = plan_launch(
        interface, Build(ok=True, constants=(("TILE_SIZE", tile),)), shape or {"M": 1, "N": 1}
    )
    assert isinstance(planned, Finding)
    assert planned.kind is FindingKind.FAULT
    return planned.message


def test_block_and_grid_come_from_the_students_constants() -> None:
    """1000×1200 elements in 16×16 tiles are 75×63 blocks."""
    build = Build(ok=True, constants=(("TILE_SIZE", 16),))
    launch = plan_launch(INTERFACE, build, {"M": 1000, "N": 1200})
    assert launch == Launch(grid=(75, 63, 1), block=(16, 16, 1))


def test_dynamic_shared_memory_is_computed() -> None:
    """The bytes of `extern __shared__` follow from the shape and the constants."""
    interface = replace(INTERFACE, shared=arithmetic.parse("8 * TILE_SIZE * TILE_SIZE"))
    launch = plan_launch(interface, Build(ok=True, constants=(("TILE_SIZE", 8),)), {"M": 1, "N": 1})
    assert launch == Launch((1, 1, 1), (8, 8, 1), 512)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        (0, "no launch configuration can be computed: `N / TILE_SIZE` divides by zero"),
        (-4, "a block of -4 × -4 × 1 cannot be launched: its x must be at least 1"),
        (33, "a block of 33 × 33 × 1 has 1089 threads; a block may have at most 1024"),
        (64, "a block of 64 × 64 × 1 has 4096 threads; a block may have at most 1024"),
        (2000, "a block of 2000 × 2000 × 1 cannot be launched: its x may be at most 1024"),
    ],
)
def test_a_tile_size_that_cannot_be_launched_is_named(tile: int, message: str) -> None:
    """The finding names the constant, its value and the limit."""
    assert refusal(tile) == f"with this file's constants (`TILE_SIZE` is {tile}) {message}"


def test_a_grid_that_is_too_tall_is_refused() -> None:
    """Y and z of a grid end at 65535."""
    assert "its y may be at most 65535" in refusal(1, M=65536, N=1)


def test_a_block_that_is_too_deep_is_refused() -> None:
    """Z of a block ends at 64."""
    deep = replace(INTERFACE, block=tuple(map(arithmetic.parse, ("1", "1", "65"))))
    assert "a block of 1 × 1 × 65 cannot be launched: its z may be at most 64" in refusal(16, deep)


def test_static_and_dynamic_shared_memory_count_together() -> None:
    """Both come out of the same 48 KiB."""
    interface = replace(INTERFACE, shared=arithmetic.parse("40000"))
    build = Build(ok=True, constants=(("TILE_SIZE", 16),), resources=Resources(shared_bytes=9152))
    assert isinstance(plan_launch(interface, build, {"M": 1, "N": 1}), Launch)
    planned = plan_launch(interface, replace(build, resources=Resources(shared_bytes=9153)), {"M": 1, "N": 1})
    assert isinstance(planned, Finding)
    assert "49153 bytes of shared memory (9153 static and 40000 dynamic)" in planned.message


def test_negative_shared_memory_is_refused() -> None:
    """An expression that comes out below zero is no launch."""
    assert "-1 bytes of dynamic shared memory" in refusal(
        16, replace(INTERFACE, shared=arithmetic.parse("-1"))
    )


def test_constants_that_decide_nothing_are_not_blamed() -> None:
    """A launch that does not use the constants is refused without naming them."""
    fixed = replace(INTERFACE, block=(arithmetic.parse("2048"),), grid=(arithmetic.parse("1"),))
    assert refusal(16, fixed) == "a block of 2048 × 1 × 1 cannot be launched: its x may be at most 1024"
