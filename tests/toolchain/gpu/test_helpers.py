"""Our own device code, compiled by nvcc and run on the emulator, does what the harness takes it to do."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.simulation.emulator.launch import run
from tests.simulation.emulator.launching import Compiled, default_build
from tests.toolchain.gpu.fake_clock import digest_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOURCE = Path(__file__).parents[3] / "sandbox" / "gpu_harness" / "helpers.cu"
SEED = 0x0123456789ABCDEF
GRID, BLOCK = (3, 1, 1), (64, 1, 1)
U64, U32 = np.uint64, np.uint32


@cache
def _helpers() -> Compiled:
    return default_build(SOURCE.read_text(encoding="utf-8"))


def _run(kernel: str, *values: NDArray[Any] | np.generic) -> dict[str, NDArray[Any]]:
    """The arrays after a launch."""
    result = _helpers().run(kernel, GRID, BLOCK, *values)
    assert result.completed, result.error
    assert not result.findings
    return dict(result.outputs)


def _bytes(count: int) -> NDArray[np.uint8]:
    return np.random.default_rng(count).integers(0, 256, count, dtype=np.uint8)


def _digest(content: NDArray[np.uint8], seed: int = SEED, before: int = 0) -> int:
    left = _run("digest", content, U64(content.size), U64(seed), np.array([before], U64))
    return int(left["D"][0])


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1024, 4099])
def test_the_digest_is_the_sum_that_is_documented(size: int) -> None:
    """For whole words and for a rest of bytes; it is added to what was there."""
    content = _bytes(size)
    assert _digest(content, before=5) == (digest_of(content, SEED) + 5) % 2**64


def test_the_digest_sees_every_byte_and_every_place() -> None:
    """One bit, two words exchanged, another seed: another digest."""
    content = _bytes(64)
    flipped, exchanged = content.copy(), content.copy()
    flipped[63] ^= 1
    exchanged[:4], exchanged[4:8] = content[4:8], content[:4]
    digests = {_digest(content), _digest(flipped), _digest(exchanged), _digest(content, SEED + 1)}
    assert len(digests) == 4


def test_the_digest_of_an_array_does_not_depend_on_where_it_begins() -> None:
    """Arrays of bytes may begin anywhere; their words are put together then."""
    content = _bytes(41)
    arguments = (
        Argument("start", "in", content, offset=3),
        Argument("bytes", "value", U64(content.size)),
        Argument("seed", "value", U64(SEED)),
        Argument("result", "inout", np.zeros(1, U64)),
    )
    result = run(_helpers().module, "digest", Launch(GRID, BLOCK), arguments, detect=False)
    assert int(dict(result.outputs)["result"][0]) == digest_of(content, SEED)


@pytest.mark.parametrize(
    ("size", "poison"), [(1, 0xED), (2, 0x7ED1), (4, 0x7FD15EA5), (8, 0x7FFD15EA5ED15EA5)]
)
def test_unwritten_elements_of_any_size_are_counted(size: int, poison: int) -> None:
    """Those that hold the poison bit for bit."""
    values = np.arange(300, dtype=f"u{size}")
    values[[0, 7, 299]] = poison
    expected = np.count_nonzero(values == poison)
    pattern = int.from_bytes(poison.to_bytes(size, "little") * (8 // size), "little")
    left = _run("unwritten", values, U64(values.size), U32(size), U64(pattern), np.zeros(1, U64))
    assert left["E"][0] == expected


def test_poison_fills_all_of_it() -> None:
    """And nothing else."""
    assert (_run("poison", np.zeros(500, U64), U64(499), U64(SEED))["A"] == [SEED] * 499 + [0]).all()


def test_the_probe_counts_in_threes() -> None:
    """The probe writes the numbers that the harness expects of a healthy device."""
    assert (_run("probe", np.zeros(500, U32), U64(500))["A"] == np.arange(500) * 3 + 1).all()


def test_bandwidth_is_measured_by_copying_and_reading_everything() -> None:
    """A copy is one, and reading stores nothing."""
    words = _bytes(16 * 200).view(U32)
    assert (_run("copy_words", np.zeros(800, U32), words, U64(200))["A"] == words).all()
    assert _run("read_words", words, U64(200), np.zeros(1, U32))["C"][0] == 0


def test_the_peak_is_measured_without_storing_anything() -> None:
    """Its result is used, or the compiler would leave it out, and never stored."""
    left = _run("fma_peak", np.zeros(1, np.float32), np.int32(48), np.float32(1), np.float32(0))
    assert left["A"][0] == 0
