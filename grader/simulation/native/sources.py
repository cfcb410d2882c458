"""The sources of the native library, and what they are compiled with; a library has their digest in it.

This file imports nothing of the package: `grader/toolchain/core_library.py` reads it before there is one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent
_GRADER = FOLDER.parents[1]
SOURCES = (
    FOLDER,
    _GRADER / "simulation/emulator/core/native",
    _GRADER / "simulation/sass/native",
    _GRADER / "running/estimate/native",
)
"""The folders of the C++ files; those of the first are included by the others."""

PLAIN, WIDE = FOLDER / "libcore.so", FOLDER / "libcore-wide.so"
"""The library that each processor of the platform executes, and of x86-64 one for those with AVX2."""

OPTIONS = (
    *("-std=c++20", "-O3", "-fPIC", "-fvisibility=hidden"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-fwrapv"),
)
"""Results are the same bits on every machine: no sum is fused with a product, and signed numbers wrap."""

OF_WIDE = ("-march=x86-64-v3",)

_ENDINGS = (".cpp", ".hpp", ".inc")


def files() -> list[Path]:
    """The C++ files, in the order of their folders and names."""
    return [file for folder in SOURCES for file in sorted(folder.iterdir()) if file.suffix in _ENDINGS]


def digest() -> str:
    """The digest of the sources and options, which a library has in it."""
    content = hashlib.sha256(" ".join((*OPTIONS, *OF_WIDE)).encode())
    for file in files():
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()
