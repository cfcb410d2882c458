"""Listings and cubins that no tool has made end in an error of ours, never in another exception."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.base.errors import GraderError, OurError
from grader.simulation.sass.cubin import constant_banks
from grader.simulation.sass.interpreter import run
from grader.simulation.sass.linking import link
from grader.simulation.sass.listing import read_listing
from tests.simulation.emulator.nvcc import compiler
from tests.simulation.sass.rows import BASE, machine

if TYPE_CHECKING:
    from random import Random

FOLDER = Path(__file__).parent / "listings"
TEXT = (FOLDER / "forms.sm_90.txt").read_text("utf-8")
LINES = TEXT.splitlines()
PIECES = (
    *(
        "R255",
        "R300",
        "UR63",
        "RZ",
        "P9",
        "PT",
        "B0",
        "B99",
        "@P0",
        "-0x1",
        "0xffffffffffffffffff",
        "1e400",
        "",
    ),
    *(
        "[R1+R2]",
        "c[0x3][0x0]",
        "c[0x9][R3]",
        "`(.L_x_1)",
        "`(nowhere)",
        "|R1|",
        "desc[UR4][R2.64]",
        "SR_TID.X",
    ),
    *(
        ".X",
        ".64",
        "LDS",
        "IADD3",
        "BAR.SYNC",
        "RET.REL",
        "BSSY",
        "SHFL.IDX",
        "F2I",
        "ATOMS.ADD",
        "R2UR",
        "BMOV.32",
    ),
)


def broken(random: Random, lines: list[str], times: int) -> str:
    """Lines with some of them lost, doubled, swapped, or with other words in them."""
    lines = list(lines)
    for _ in range(times):
        at, other = random.randrange(len(lines)), random.randrange(len(lines))
        words = lines[at].split(" ")
        place = random.randrange(len(words))
        match random.randrange(5):
            case 0:
                del lines[at : at + random.randrange(1, 40)]
                lines = lines or [""]
            case 1:
                lines[at] = lines[other]
            case 2:
                words[place] = random.choice(PIECES)
                lines[at] = " ".join(words)
            case 3:
                words[place] += random.choice(PIECES)
                lines[at] = " ".join(words)
            case _:
                lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
    return "\n".join(lines)


@settings(max_examples=60, deadline=None)
@given(random=st.randoms(use_true_random=False), times=st.integers(1, 30))
def test_a_listing_that_was_changed_ends_in_an_error_of_ours_or_not_at_all(
    random: Random, times: int
) -> None:
    """Whatever is lost, doubled or put elsewhere; addresses are those of what is there."""
    bank = bytearray(1024)
    for at in (0x210, 0x218, 0x220):
        bank[at : at + 8] = BASE.to_bytes(8, "little")
    bank[0x228] = 4
    with suppress(GraderError, OurError):
        program = link(read_listing(broken(random, LINES, times), "forms"), {0: bytes(bank), 3: bytes(16)})
        run(program, machine(threads=64, shared=2048), 400)


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The cubin that ptxas makes of a file with constants and variables."""
    folder = tmp_path_factory.mktemp("cubin")
    source = folder / "k.cu"
    source.write_text(
        "__constant__ float c[3]; __device__ int v[5];\n"
        'extern "C" __global__ void k(float* out) { out[0] = c[1] + v[2]; }\n'
    )
    subprocess.run([compiler(), "-cubin", "-arch=sm_80", "k.cu", "-o", "k.cubin"], cwd=folder, check=True)
    return (folder / "k.cubin").read_bytes()


def test_a_cubin_has_the_places_of_variables(cubin: bytes) -> None:
    """Constants in bank 3, and the addresses of others in bank 4."""
    banks = constant_banks(cubin, "k")
    assert banks.variables == (("c", 0, 12),)
    assert banks.addresses == ((0, "v"),)
    assert len(banks.contents[3]) == 12
    assert set(banks.contents) == {0, 3, 4}


@settings(max_examples=150, deadline=None)
@given(random=st.randoms(use_true_random=False), times=st.integers(1, 20), cut=st.booleans())
def test_a_cubin_that_was_changed_ends_in_an_error_of_ours_or_not_at_all(
    cubin: bytes, random: Random, times: int, *, cut: bool
) -> None:
    """Bytes are others, or the end is missing."""
    content = bytearray(cubin)
    for _ in range(times):
        content[random.randrange(len(content))] = random.randrange(256)
    content = content[: random.randrange(len(content))] if cut else content
    with suppress(OurError):
        constant_banks(bytes(content), "k")
