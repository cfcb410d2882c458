"""The output of the microbenchmarks is read as figures, and what is kept of a GPU has all of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.bench.gpu.microbenchmarks.run import HERE, PROGRAMS, census, figures

if TYPE_CHECKING:
    from pathlib import Path

KEPT = sorted(HERE.glob("*.json"))
_MEASURED = re.compile(r"MEASURE\((\w+)\);")
_LISTING = r"""
		Function : first
        /*0000*/                   LDC R1, c[0x0][0x28] ;   /* 0x00000a00ff017b82 */
        /*0010*/              @!P0 FFMA R1, R2, R3, R4 ;    /* 0x00000a00ff017b82 */
		Function : second
        /*0000*/                   NOP ;                    /* 0x0000000000007918 */
"""


def _program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(0o755)
    return path


def test_a_line_is_a_name_a_value_and_a_unit(tmp_path: Path) -> None:
    """Those before a failure are kept."""
    program = _program(tmp_path / "program", r"printf 'FFMA.latency\t4.16\tcycles\n'; exit 1")
    assert figures(program) == {"cycles": {"FFMA.latency": 4.16}}


def test_a_census_counts_the_opcodes_of_each_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Predicated or not; what is rare is left out, and so is what fills up the end."""
    lines = _LISTING.splitlines(keepends=True)
    (tmp_path / "listing").write_text("".join([*lines[:4], *lines[3:4] * 8, *lines[4:], *lines[-1:] * 20]))
    _program(tmp_path / "cuobjdump", f"cat {tmp_path}/listing")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert census(tmp_path / "program") == {"first": {"FFMA": 9}, "second": {}}


def test_every_program_was_run_on_some_gpu() -> None:
    """The figures of one may be from another than those of the rest."""
    kept = (json.loads(file.read_text("utf-8"))["census"] for file in KEPT)
    assert {name for census in kept for name in census} == set(PROGRAMS)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_what_is_kept_of_a_gpu_is_complete(file: Path) -> None:
    """A throughput and a latency of each instruction, each above zero, and a census of each program."""
    document = json.loads(file.read_text("utf-8"))
    names = _MEASURED.findall((HERE / "instructions.cu").read_text("utf-8"))
    assert len(names) > 30
    for name in names if "instructions" in document["census"] else ():
        assert document["figures"]["cycles/warp instruction/SM"][f"{name}.throughput"] > 0
        assert document["figures"]["cycles/instruction of a chain"][f"{name}.latency"] > 0
    assert set(document["census"]) <= set(PROGRAMS)
    assert {"name", "driver_version", "nvcc", "date"} <= set(document["device"])
