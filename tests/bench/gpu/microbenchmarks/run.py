"""Compiles and runs the microbenchmarks on the GPU at hand, and writes their figures as JSON.

`python -m tests.bench.gpu.microbenchmarks.run FILE [--binaries FOLDER] [--programs NAME ...]`

With ``--programs`` only these are run, and what FILE has of the others stays. Each program prints lines of a
name, a value and a unit. The census of a program counts the instructions of its machine code by kernel, so
that whoever reads a figure can see that the loop holds what its name promises.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.json_rows import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
PROGRAMS = ("instructions", "shared_memory", "global_memory", "whole_gpu", "caches")
_FUNCTION = re.compile(r"\s*Function : (\S+)")
_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\S+ )?([A-Z][A-Z0-9_.]*)")
_FEWEST = 8
"""An opcode that is in a kernel less often than this belongs to what surrounds its loop."""


def build(names: Sequence[str], folder: Path, architecture: str) -> None:
    """Compile programs for an architecture such as ``sm_90``; raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    target = f"arch={architecture.replace('sm', 'compute')},code={architecture}"
    for name in names:
        command = ["nvcc", "-O3", "-gencode", target, str(HERE / f"{name}.cu"), "-o", str(folder / name)]
        subprocess.run(command, check=True)


def census(binary: Path) -> dict[str, dict[str, int]]:
    """The most frequent opcodes of each kernel of a program; nothing where cuobjdump is missing."""
    tool = shutil.which("cuobjdump")
    if tool is None:
        return {}
    counts: dict[str, Counter[str]] = {}
    text = subprocess.run([tool, "-sass", str(binary)], check=True, capture_output=True, text=True).stdout
    kernel: Counter[str] = Counter()
    for line in text.splitlines():
        if function := _FUNCTION.match(line):
            kernel = counts.setdefault(function[1], Counter())
        elif instruction := _INSTRUCTION.match(line):
            kernel[instruction[1]] += 1
    return {
        name: {
            opcode: count for opcode, count in kernel.most_common(6) if count >= _FEWEST and opcode != "NOP"
        }
        for name, kernel in counts.items()
    }


def figures(binary: Path) -> dict[str, dict[str, float]]:
    """The values that a program prints, by unit and name; those before a failure, which is reported."""
    result = subprocess.run([str(binary)], check=False, capture_output=True, text=True)
    if result.returncode != 0:
        sys.stderr.write(f"{binary.name} ended with {result.returncode}: {result.stderr}\n")
    by_unit: dict[str, dict[str, float]] = {}
    for line in result.stdout.splitlines():
        name, value, unit = line.split("\t")
        by_unit.setdefault(unit, {})[name] = float(value)
    return by_unit


def device() -> dict[str, str]:
    """The GPU's name, its clocks at most in MHz, its driver, and the compiler's version."""
    fields = "name,clocks.max.sm,clocks.max.mem,driver_version"
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    values = subprocess.run(query, check=True, capture_output=True, text=True).stdout.split("\n", 1)[0]
    named = dict(zip(fields.split(","), (value.strip() for value in values.split(",")), strict=True))
    question = ["nvcc", "--version"]
    version = subprocess.run(question, check=True, capture_output=True, text=True).stdout
    release = re.search(r"release \S+ V(\S+)", version)
    return named | {"nvcc": release[1] if release else "", "date": datetime.now(UTC).date().isoformat()}


def main() -> None:
    """Build where nothing is built, run all, write after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--binaries", type=Path, default=Path("build/microbenchmarks"))
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    options = parser.parse_args()
    build(
        [name for name in options.programs if not (options.binaries / name).exists()],
        options.binaries,
        options.architecture,
    )
    document: dict[str, Any] = {"figures": {}, "census": {}}
    if len(options.programs) < len(PROGRAMS) and options.file.exists():
        document = json.loads(options.file.read_text("utf-8"))
    document["device"] = device()
    for name in options.programs:
        for unit, values in figures(options.binaries / name).items():
            document["figures"].setdefault(unit, {}).update(values)
        document["census"][name] = census(options.binaries / name)
        options.file.write_text(rows(document) + "\n", "utf-8")


if __name__ == "__main__":
    main()
