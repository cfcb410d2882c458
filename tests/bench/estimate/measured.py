"""The measured times of kernels as a table: a line for each launch, after what is true of all of them.

A line ``# key: JSON`` holds a property of the measurement, such as the device; a line ``[part]`` begins the
launches of a part of the corpus. The columns are a kernel's name, its shape (``M=256,K=64``) and numbers,
named in the line that begins with ``kernel``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

NUMBERS = (
    *("ms", "low_ms", "high_ms", "launches", "error", "registers", "shared_bytes", "local_bytes"),
    *("max_threads", "blocks_per_multiprocessor", "again_ms"),
)
HEAD = ("kernel", "shape", *NUMBERS)

Launches = dict[str, list[dict[str, Any]]]


def written(properties: Mapping[str, object], parts: Mapping[str, Launches]) -> str:
    """The text of a measurement, with the launches of each kernel by part."""
    lines = [f"# {key}: {json.dumps(value)}" for key, value in properties.items()]
    rows = {part: list(_rows(launches)) for part, launches in parts.items()}
    cells = (HEAD, *(row for of_part in rows.values() for row in of_part))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines.append(_aligned(HEAD, widths))
    for part, of_part in rows.items():
        lines.append(f"[{part}]")
        lines.extend(_aligned(row, widths) for row in of_part)
    return "\n".join(lines) + "\n"


def read(file: Path) -> dict[str, Launches]:
    """The launches of each kernel by part; a launch has its ``shape`` and the `NUMBERS`."""
    parts: dict[str, Launches] = {}
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("["):
            part = parts.setdefault(line[1:-1], {})
        elif not line.startswith(("#", "kernel ")):
            name, shape, *numbers = line.split()
            sizes = dict(size.split("=") for size in shape.split(","))
            launch = dict(zip(NUMBERS, map(json.loads, numbers), strict=True))
            part.setdefault(name, []).append({"shape": {key: int(n) for key, n in sizes.items()}} | launch)
    return parts


def _rows(launches: Launches) -> Iterable[tuple[str, ...]]:
    for name, of_kernel in launches.items():
        for launch in of_kernel:
            shape = ",".join(f"{key}={size}" for key, size in launch["shape"].items())
            yield name, shape, *(json.dumps(launch[key]) for key in NUMBERS)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
